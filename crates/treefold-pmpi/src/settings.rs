//! What the environment says.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::task::Op;

/// The variable that says what is done with the program's reductions.
const MODE_VARIABLE: &str = "TREEFOLD_PMPI";

/// The variable that lists the operators.
const OPS_VARIABLE: &str = "TREEFOLD_PMPI_OPS";

/// The variable that says where the report goes.
const STATS_VARIABLE: &str = "TREEFOLD_PMPI_STATS";

/// What is done with the program's reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They are treefold's.
    On,
    /// They are the library's.
    Off,
    /// They are the library's, and compared with treefold's.
    Check,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Check => "check",
        }
    }
}

/// Where the report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stats {
    /// As text to standard error.
    Stderr,
    /// As JSON to a file.
    File(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) mode: Mode,
    pub(crate) stats: Option<Stats>,
    ops: [bool; Op::ALL.len()],
    /// What is wrong with the variables, in lines.
    pub(crate) complaints: Vec<String>,
}

impl Settings {
    /// Those of this process, which are read once.
    #[inline]
    pub(crate) fn get() -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| {
            let value = |name| env::var(name).ok().filter(|value| !value.is_empty());
            let (mode, ops) = (value(MODE_VARIABLE), value(OPS_VARIABLE));
            Self::parse(
                mode.as_deref(),
                ops.as_deref(),
                value(STATS_VARIABLE).as_deref(),
            )
        })
    }

    /// A value that is wrong is as good as none, and complained of.
    fn parse(mode: Option<&str>, ops: Option<&str>, stats: Option<&str>) -> Self {
        let mut complaints = Vec::new();
        let mode = match mode {
            None | Some("on") => Mode::On,
            Some("off") => Mode::Off,
            Some("check") => Mode::Check,
            Some(wrong) => {
                complaints.push(format!(
                    "{MODE_VARIABLE}={wrong} is none of `on`, `off` and `check`: taken as `on`"
                ));
                Mode::On
            }
        };
        let by_default = [true, true, false, false];
        let ops = match ops.map(parse_ops) {
            None => by_default,
            Some(Ok(ops)) => ops,
            Some(Err(wrong)) => {
                complaints.push(format!(
                    "{OPS_VARIABLE} has `{wrong}`, which is none of `sum`, `prod`, `min` and `max`: taken as `sum,prod`"
                ));
                by_default
            }
        };
        let stats = match stats {
            Some("stderr") => Some(Stats::Stderr),
            Some(file) => Some(Stats::File(file.into())),
            // A check is for its report.
            None => (mode == Mode::Check).then_some(Stats::Stderr),
        };
        Self {
            mode,
            stats: stats.filter(|_| mode != Mode::Off),
            ops,
            complaints,
        }
    }

    /// Whether reductions by this operator are taken over.
    pub(crate) fn takes(&self, op: Op) -> bool {
        self.ops[op as usize]
    }
}

/// The operators of a list with commas, or the word that is none.
fn parse_ops(list: &str) -> Result<[bool; Op::ALL.len()], &str> {
    let mut ops = [false; Op::ALL.len()];
    for word in list.split(',').map(str::trim) {
        let op = Op::ALL.into_iter().find(|op| op.name() == word);
        ops[op.ok_or(word)? as usize] = true;
    }
    Ok(ops)
}

#[cfg(test)]
mod tests {
    use super::{Mode, Settings, Stats};
    use crate::task::Op;

    #[test]
    fn wrong_values_are_complained_of() {
        let settings = Settings::parse(Some("ON"), Some("sum,add"), None);
        assert_eq!(settings.mode, Mode::On);
        assert!(settings.takes(Op::Prod) && !settings.takes(Op::Max));
        assert!(settings.complaints[0].contains("TREEFOLD_PMPI=ON"));
        assert!(settings.complaints[1].contains("`add`"));
    }

    #[test]
    fn a_check_reports() {
        let stats = |mode, stats| Settings::parse(mode, None, stats).stats;
        assert_eq!(stats(Some("check"), None), Some(Stats::Stderr));
        assert_eq!(
            stats(None, Some("a.json")),
            Some(Stats::File("a.json".into()))
        );
        assert_eq!(stats(None, None), None);
        assert_eq!(stats(Some("off"), Some("stderr")), None);
    }

    #[test]
    fn operators_are_listed() {
        let settings = Settings::parse(None, Some("min, max"), None);
        assert!(settings.takes(Op::Min) && settings.takes(Op::Max) && !settings.takes(Op::Sum));
        assert_eq!(settings.complaints, [""; 0]);
    }
}
