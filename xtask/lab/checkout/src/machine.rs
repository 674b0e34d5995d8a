//! Describes the machine, the checkout and the date for records of measurements.

use std::fmt;
use std::fs;
use std::process::Command;
use std::thread;

use crate::workspace::workspace;

/// This machine, the checkout's commit, and the date.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The processor's name; `unknown processor` if the system does not report it.
    pub processor: String,
    /// The cores that this process may use.
    pub cores: usize,
    /// The date in UTC, such as 2026-01-31; empty if there is no program `date`.
    pub date: String,
    /// The commit of the checkout; empty if git reports none.
    pub commit: String,
}

impl Machine {
    /// Queries the system.
    pub fn here() -> Self {
        let said = |command: &mut Command| {
            let output = command.output().map(|output| output.stdout);
            let output = output.unwrap_or_default();
            String::from_utf8_lossy(&output).trim().to_owned()
        };
        let mut git = Command::new("git");
        git.args(["rev-parse", "--short", "HEAD"]);
        git.current_dir(workspace());
        Self {
            processor: about_processor("model name").unwrap_or("unknown processor".to_owned()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            date: said(Command::new("date").args(["-u", "+%F"])),
            commit: said(&mut git),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} cores", self.processor, self.cores)
    }
}

/// The system's load average over the last minute; `None` if the system reports none.
pub fn load() -> Option<f64> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split(' ').next()?.parse().ok()
}

/// The value of a field of `/proc/cpuinfo` for the first core; `None` if the system has no such field.
pub fn about_processor(name: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let line = lines.find(|(key, _)| key.trim() == name);
    line.map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::Machine;

    #[test]
    fn a_machine_has_a_processor_and_a_date() {
        let machine = Machine::here();
        println!("{machine:?}");
        assert!(!machine.processor.is_empty() && machine.cores > 0);
        assert_eq!(machine.date.split('-').count(), 3, "{machine:?}");
    }
}
