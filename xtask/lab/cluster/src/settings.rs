//! The settings of a cluster, their syntax, their encoding for other processes, and the cluster's errors.

use std::ffi::OsStr;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The maximum number of nodes. Each node needs a process, a network and a device.
const NODES_MAX: usize = 64;

/// The maximum number of ranks per node.
const RANKS_PER_NODE_MAX: usize = 1024;

/// The longest delay. With a longer one, TCP would give up connections after several retries.
const DELAY_MAX: Duration = Duration::from_secs(10);

/// An error of a cluster, as opposed to one of its command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option has an invalid value.
    #[error("{option}: {reason}")]
    Option {
        /// The option, as it is typed.
        option: &'static str,
        /// Why the value is invalid.
        reason: String,
    },
    /// This machine or this user cannot run a cluster.
    #[error("{0}")]
    Unsupported(String),
    /// An operation failed.
    #[error("{what}: {reason}")]
    Failed {
        /// The operation.
        what: String,
        /// Why it failed.
        reason: String,
    },
}

impl Error {
    /// An error about an option's value.
    fn option(option: &'static str, reason: String) -> Self {
        Error::Option { option, reason }
    }

    /// For `map_err`: makes an error of the operation `what`.
    pub(crate) fn on<E: ToString>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |reason| Error::Failed {
            what,
            reason: reason.to_string(),
        }
    }
}

/// An order about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Cut off the node: frames from it and to it are lost.
    Cut,
    /// Reconnect the node.
    Heal,
    /// Stop all processes of the node.
    Stop,
    /// Resume all processes of the node.
    Resume,
}

/// The settings of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The number of nodes.
    pub nodes: usize,
    /// Ranks per node; a launcher fills each node before the next one.
    pub ranks_per_node: usize,
    /// The delay of a frame between nodes.
    pub delay: Duration,
    /// The share of frames that are lost.
    pub loss: Loss,
    /// The seed that decides which frames are lost.
    pub seed: u64,
    /// Where the command runs.
    pub place: Place,
}

/// Where the command of a cluster runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// Outside the nodes, on this machine's own network.
    Outside,
    /// On the first node.
    FirstNode,
}

impl Settings {
    /// Fails if a number is out of range.
    ///
    /// # Errors
    /// Names the option with this number.
    pub fn check(&self) -> Result<(), Error> {
        for (option, count, max) in [
            ("--nodes", self.nodes, NODES_MAX),
            ("--ranks-per-node", self.ranks_per_node, RANKS_PER_NODE_MAX),
        ] {
            if !(1..=max).contains(&count) {
                let reason = format!("{count} is not a number from 1 to {max}");
                return Err(Error::option(option, reason));
            }
        }
        Ok(())
    }

    /// These settings as one word, for another process.
    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("numbers are JSON")
    }

    /// Parses a word that `encode` returned.
    pub(crate) fn decode(word: &OsStr) -> Option<Self> {
        serde_json::from_str(word.to_str()?).ok()
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        let nodes = counted(self.nodes, "node");
        let ranks = counted(self.ranks_per_node, "rank");
        let (delay, loss, seed) = (self.delay, self.loss, self.seed);
        write!(
            f,
            "{nodes} with {ranks} each, delay {delay:?}, loss {loss} (seed {seed})"
        )
    }
}

/// Units of time. `s` is last, because the other names also end in `s`.
const UNITS: [(&str, f64); 4] = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// Parses a time such as `1ms`, `50us`, `0.2ms` or `0`.
///
/// # Errors
/// The text is not a time, or the time is longer than 10 s.
pub fn parse_delay(typed: &str) -> Result<Duration, Error> {
    let wrong = |reason: &str| Error::option("--delay", format!("`{typed}` {reason}"));
    let not_a_time = || wrong("is not a time such as 1ms, 50us, 0.2ms or 0");
    if typed == "0" {
        return Ok(Duration::ZERO);
    }
    let of_unit = |(name, seconds)| Some((typed.strip_suffix(name)?, seconds));
    let (number, unit_seconds) = UNITS.into_iter().find_map(of_unit).ok_or_else(not_a_time)?;
    let seconds = unit_seconds * number.parse::<f64>().map_err(|_| not_a_time())?;
    if seconds > DELAY_MAX.as_secs_f64() {
        return Err(wrong("is longer than 10s"));
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| not_a_time())
}

/// The fraction of frames that are lost, from 0 to below 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loss(f64);

impl Loss {
    /// Parses a loss such as `0.5%` or `0`.
    ///
    /// # Errors
    /// The text is not a percentage from 0 to below 100.
    pub fn parse(typed: &str) -> Result<Self, Error> {
        let wrong = |reason: &str| Error::option("--loss", format!("`{typed}` {reason}"));
        let not_a_percentage = || wrong("is not a percentage such as 0.5% or 0");
        if typed == "0" {
            return Ok(Self(0.0));
        }
        let number = typed.strip_suffix('%').ok_or_else(not_a_percentage)?;
        let percent: f64 = number.parse().map_err(|_| not_a_percentage())?;
        match percent {
            0.0..100.0 => Ok(Self(percent / 100.0)),
            _ if percent >= 100.0 => Err(wrong("would leave no frame; it must be below 100%")),
            _ => Err(not_a_percentage()),
        }
    }

    /// The fraction.
    pub fn fraction(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = format!("{:.6}", 100.0 * self.0);
        let percent = percent.trim_end_matches('0').trim_end_matches('.');
        write!(f, "{percent} %")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::time::Duration;

    use super::{Loss, Place, Settings, parse_delay};

    #[test]
    fn delays_have_units() {
        for (typed, nanoseconds) in [
            ("0", 0),
            ("0s", 0),
            ("1ms", 1_000_000),
            ("0.2ms", 200_000),
            ("50us", 50_000),
            ("700ns", 700),
            ("2s", 2_000_000_000),
            ("10s", 10_000_000_000),
        ] {
            let delay = parse_delay(typed).unwrap();
            assert_eq!(delay, Duration::from_nanos(nanoseconds), "{typed}");
        }
        for wrong in [
            "", "1", "ms", "-1ms", "1 h", "nans", "infs", "10.1s", "1e300s",
        ] {
            let error = parse_delay(wrong).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("--delay: `{wrong}` is ")),
                "{error}"
            );
        }
    }

    #[test]
    fn losses_are_percentages_below_all() {
        for (typed, shown) in [
            ("0", "0 %"),
            ("0.5%", "0.5 %"),
            ("99.9%", "99.9 %"),
            ("1e-3%", "0.001 %"),
        ] {
            assert_eq!(Loss::parse(typed).unwrap().to_string(), shown);
        }
        for wrong in ["", "%", "0.5", "-1%", "nan%", "100%", "101%", "inf%"] {
            let error = Loss::parse(wrong).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--loss: `{wrong}` ")), "{error}");
        }
    }

    #[test]
    fn settings_survive_their_way_to_another_process() {
        let settings = Settings {
            nodes: 4,
            ranks_per_node: 2,
            delay: Duration::from_micros(1500),
            loss: Loss::parse("0.3%").unwrap(),
            seed: u64::MAX,
            place: Place::FirstNode,
        };
        let word = settings.encode();
        assert_eq!(Settings::decode(word.as_ref()), Some(settings));
        assert_eq!(Settings::decode("4,2".as_ref()), None);
        assert!(settings.check().is_ok());
    }
}
