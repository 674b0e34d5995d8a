//! What happened, in numbers that ranks add up.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What reductions are told apart by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// Why they were passed to the library; empty if they were not.
    pub(crate) passed: String,
    /// MPI's name in C, without `MPI_`.
    pub(crate) call: String,
    /// The type of the elements, in words of C; empty if it is not known.
    pub(crate) element: String,
    /// The operator; empty if it is not known.
    pub(crate) op: String,
    /// The least k for which 4^k bytes hold a rank's contribution.
    pub(crate) size_class: u32,
}

/// Sums over calls, of one rank or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    /// Contributed.
    pub(crate) bytes: u64,
    /// In treefold.
    pub(crate) treefold_ns: u64,
    /// In the library's function.
    pub(crate) library_ns: u64,
    /// Calls that left this rank a result of each, which were compared.
    pub(crate) compared: u64,
    /// Of these, those whose results differ.
    pub(crate) differing: u64,
    /// Of these, those by threads whose floating-point environment was not the default one.
    pub(crate) differing_environments: u64,
    /// The elements of the results that were compared.
    pub(crate) elements: u64,
    /// Of these, those whose bits differ.
    pub(crate) differing_elements: u64,
    /// Those that treefold could not do in a check.
    pub(crate) failed: u64,
    /// Calls by threads whose floating-point environment was not the default one.
    pub(crate) environments: u64,
}

/// The number of numbers of [`Counts`].
const NUMBERS: usize = 11;

impl Counts {
    fn numbers(&mut self) -> [&mut u64; NUMBERS] {
        [
            &mut self.calls,
            &mut self.bytes,
            &mut self.treefold_ns,
            &mut self.library_ns,
            &mut self.compared,
            &mut self.differing,
            &mut self.differing_environments,
            &mut self.elements,
            &mut self.differing_elements,
            &mut self.failed,
            &mut self.environments,
        ]
    }

    pub(crate) fn add(&mut self, mut other: Self) {
        for (own, other) in self.numbers().into_iter().zip(other.numbers()) {
            *own = own.saturating_add(*other);
        }
    }
}

/// The numbers of one rank, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics(BTreeMap<Kind, Counts>);

/// This process's.
static OWN: Mutex<Statistics> = Mutex::new(Statistics(BTreeMap::new()));

/// Those of this process so far.
pub(crate) fn own() -> MutexGuard<'static, Statistics> {
    // A panic while it is held leaves numbers.
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The least k for which 4^k is no less.
pub(crate) fn size_class(bytes: u64) -> u32 {
    bytes.max(1).next_power_of_two().ilog2().div_ceil(2)
}

impl Statistics {
    pub(crate) fn count(&mut self, kind: Kind, counts: Counts) {
        self.0.entry(kind).or_default().add(counts);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Kind, &Counts)> {
        self.0.iter()
    }

    /// As text, for another rank: a line for each kind.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for (kind, counts) in &self.0 {
            let Kind {
                passed,
                call,
                element,
                op,
                size_class,
            } = kind;
            let _ = write!(text, "{passed}\t{call}\t{element}\t{op}\t{size_class}");
            let mut counts = *counts;
            for number in counts.numbers() {
                let _ = write!(text, "\t{number}");
            }
            text.push('\n');
        }
        text
    }

    /// Adds what another rank has written; `None` if it is no such text.
    pub(crate) fn add_text(&mut self, text: &str) -> Option<()> {
        for line in text.lines() {
            let mut words = line.split('\t');
            let mut word = || words.next().map(str::to_owned);
            let kind = Kind {
                passed: word()?,
                call: word()?,
                element: word()?,
                op: word()?,
                size_class: word()?.parse().ok()?,
            };
            let mut counts = Counts::default();
            for number in counts.numbers() {
                *number = word()?.parse().ok()?;
            }
            self.count(kind, counts);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Kind, Statistics, size_class};

    #[test]
    fn classes_are_powers_of_four() {
        assert_eq!(
            [0, 1, 2, 4, 5, 16, 17].map(size_class),
            [0, 0, 1, 1, 2, 2, 3]
        );
        assert_eq!(size_class(1 << 20), 10);
    }

    #[test]
    fn ranks_add_what_others_have_written() {
        let kind = Kind {
            passed: String::new(),
            call: "Allreduce".to_owned(),
            element: "complex double".to_owned(),
            op: "sum".to_owned(),
            size_class: 3,
        };
        let counts = Counts {
            calls: 2,
            bytes: 80,
            environments: 1,
            ..Counts::default()
        };
        let mut sums = Statistics::default();
        sums.count(kind, counts);
        let text = sums.to_text();
        assert_eq!(sums.add_text(&text), Some(()));
        let total = sums.iter().next().map(|(_, counts)| *counts);
        let total = total.map(|total| (total.calls, total.bytes, total.environments));
        assert_eq!(total, Some((4, 160, 2)));
        assert_eq!(sums.add_text("a\tb\n"), None);
    }
}
