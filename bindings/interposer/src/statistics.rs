//! Counts of calls, which are summed over ranks.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// The key by which reductions are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Kind {
    /// Why the reductions were passed to the MPI library; empty if treefold ran them.
    pub(crate) passed: String,
    /// The function's name in C, without `MPI_`.
    pub(crate) call: String,
    /// The element type, as in C; empty if unknown.
    pub(crate) element: String,
    /// The operator; empty if unknown.
    pub(crate) op: String,
    /// The least k for which 4^k bytes hold a rank's contribution.
    pub(crate) size_class: u32,
    /// For calls passed to the MPI library: whether the order of combining can change their results.
    pub(crate) is_open: bool,
}

/// Numbers that are summed over the calls of one rank or of several ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    /// The bytes that ranks contributed.
    pub(crate) bytes: u64,
    /// The time spent in treefold.
    pub(crate) treefold_ns: u64,
    /// The time spent in the MPI library's function.
    pub(crate) library_ns: u64,
    /// Calls whose results on this rank were compared.
    pub(crate) compared: u64,
    /// Compared calls whose results differ.
    pub(crate) differing: u64,
    /// Compared calls whose results differ, if the calling thread's floating-point environment was not the default.
    pub(crate) differing_environments: u64,
    /// The elements of the results that were compared.
    pub(crate) elements: u64,
    /// Compared elements whose bits differ.
    pub(crate) differing_elements: u64,
    /// Calls that treefold failed to run in a check.
    pub(crate) failed: u64,
    /// Calls by threads whose floating-point environment was not the default.
    pub(crate) environments: u64,
}

impl Counts {
    fn numbers(&mut self) -> [&mut u64; 11] {
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

/// The counts of one rank or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    kinds: BTreeMap<Kind, Counts>,
    /// The number of calls whose results differ or may differ, by the function's name and the place in the program.
    pub(crate) sites: BTreeMap<(String, String), u64>,
    /// A lower bound for the number of calls in which the MPI library gave ranks different bits of the same result.
    pub(crate) disagreements: u64,
    /// For each description of a call that does not match other ranks' calls: the lowest rank that made it, and the number of such ranks.
    pub(crate) mismatched: BTreeMap<String, (usize, usize)>,
}

/// What ranks send each other: the fields of [`Statistics`], with lists in place of maps whose keys are not strings.
type Message = (
    u64,
    Vec<(Kind, Counts)>,
    Vec<((String, String), u64)>,
    BTreeMap<String, (usize, usize)>,
);

static OWN: Mutex<Statistics> = Mutex::new(Statistics {
    kinds: BTreeMap::new(),
    sites: BTreeMap::new(),
    disagreements: 0,
    mismatched: BTreeMap::new(),
});

/// The counts of this process so far.
pub(crate) fn own() -> MutexGuard<'static, Statistics> {
    // After a panic the counts are still usable.
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The least k for which 4^k is at least `bytes`.
pub(crate) fn size_class(bytes: u64) -> u32 {
    bytes.max(1).next_power_of_two().ilog2().div_ceil(2)
}

impl Statistics {
    pub(crate) fn count(&mut self, kind: Kind, counts: Counts) {
        self.kinds.entry(kind).or_default().add(counts);
    }

    /// Counts calls from a place in the program.
    pub(crate) fn count_site(&mut self, call: &str, site: &str, calls: u64) {
        let key = (call.to_owned(), site.to_owned());
        let kept = self.sites.entry(key).or_default();
        *kept = kept.saturating_add(calls);
    }

    /// Counts ranks whose call does not match the calls of other ranks.
    pub(crate) fn count_mismatched(&mut self, asked: &str, first: usize, ranks: usize) {
        let kept = self
            .mismatched
            .entry(asked.to_owned())
            .or_insert((first, 0));
        *kept = (kept.0.min(first), kept.1.saturating_add(ranks));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Kind, &Counts)> {
        self.kinds.iter()
    }

    /// The counts as text, to send to another rank.
    pub(crate) fn to_text(&self) -> String {
        let message: Message = (
            self.disagreements,
            self.kinds.clone().into_iter().collect(),
            self.sites.clone().into_iter().collect(),
            self.mismatched.clone(),
        );
        serde_json::to_string(&message).expect("numbers and strings can be written as JSON")
    }

    /// Adds the counts in another rank's text; `None` if the text is invalid.
    pub(crate) fn add_text(&mut self, text: &str) -> Option<()> {
        let message: Message = serde_json::from_str(text).ok()?;
        let (disagreements, kinds, sites, mismatched) = message;
        self.disagreements = self.disagreements.saturating_add(disagreements);
        for (kind, counts) in kinds {
            self.count(kind, counts);
        }
        for ((call, site), calls) in sites {
            self.count_site(&call, &site, calls);
        }
        for (asked, (first, ranks)) in mismatched {
            self.count_mismatched(&asked, first, ranks);
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
            is_open: false,
        };
        let counts = Counts {
            calls: 2,
            bytes: 80,
            environments: 1,
            ..Counts::default()
        };
        let mut sums = Statistics::default();
        sums.count(kind, counts);
        sums.disagreements = 3;
        sums.count_site("Scan", "step at steps.c:14", 2);
        sums.count_mismatched("MPI_Scan of 1 double, sum", 3, 1);
        let text = sums.to_text();
        sums.mismatched
            .values_mut()
            .for_each(|ranks| *ranks = (5, 2));
        assert_eq!(sums.add_text(&text), Some(()));
        let total = sums.iter().next().map(|(_, counts)| *counts);
        let total = total.map(|total| (total.calls, total.bytes, total.environments));
        assert_eq!(total, Some((4, 160, 2)));
        assert_eq!(sums.disagreements, 6);
        assert_eq!(sums.sites.values().next(), Some(&4));
        assert_eq!(sums.mismatched.values().next(), Some(&(3, 3)));
        assert_eq!(sums.add_text(&text[1..]), None);
    }
}
