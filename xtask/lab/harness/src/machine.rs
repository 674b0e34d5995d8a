//! The machine and date of a measurement, for records and pages.

use std::fmt;

use checkout::machine;
use simd_kernels::Level;

/// This machine and the date.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The processor's own name, where the system reports it.
    pub processor: String,
    /// The cores that this process may use.
    pub cores: usize,
    /// The best instruction-set level.
    pub level: Level,
    /// In UTC, as 2026-01-31; empty, if there is no `date`.
    pub date: String,
    /// The commit of the checkout; empty, if there is none.
    pub commit: String,
}

impl Machine {
    /// Queries the system.
    pub fn here() -> Self {
        let machine::Machine {
            processor,
            cores,
            date,
            commit,
        } = machine::Machine::here();
        Self {
            processor,
            cores,
            level: Level::best(),
            date,
            commit,
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            processor,
            cores,
            level,
            date,
            commit,
        } = self;
        write!(
            f,
            "{processor}, {cores} cores, {level}; {date}, commit {commit}"
        )
    }
}
