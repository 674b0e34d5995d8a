//! The job of one launch of ranks, and its results. Both are sent as JSON.

use reduce::{Algorithm, Operation};
use serde::{Deserialize, Serialize};

use crate::data::Source;
use crate::{Sharing, Way};

/// The rows that all ranks of a communicator run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The data sets, and how to reduce them.
    pub cases: Vec<Cases>,
    /// The seed of random distributions.
    pub seed: u64,
}

/// One data set with every distribution and algorithm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cases {
    /// The data set.
    pub source: Source,
    /// The distributions.
    pub distributions: Vec<Sharing>,
    /// The algorithms and baselines.
    pub algorithms: Vec<Way>,
}

/// The collective operations to run for an algorithm: an allreduce, and a reduce unless the reduce is just the allreduce's first half.
pub fn operations(way: Way) -> &'static [Operation] {
    let has_own_reduce = match way {
        Way::Tree(algorithm) => match algorithm.scheduled() {
            Some(schedule) => schedule.has_own_reduce(),
            None => algorithm == Algorithm::MpiNative,
        },
        _ => way == Way::Exact,
    };
    let both = &[Operation::Allreduce, Operation::Reduce];
    if has_own_reduce { both } else { &both[..1] }
}

impl Cases {
    /// The algorithms that can reduce items with this distribution.
    pub fn algorithms_for(&self, sharing: Sharing) -> impl Iterator<Item = Way> {
        let algorithms = self.algorithms.iter().copied();
        algorithms.filter(move |&way| sharing.suits(way))
    }

    /// The number of rows of these cases.
    pub fn rows_count(&self) -> usize {
        let sharings = self.distributions.iter();
        sharings
            .flat_map(|&sharing| self.algorithms_for(sharing))
            .flat_map(operations)
            .count()
    }
}

impl Job {
    /// The number of rows of all cases.
    pub fn rows_count(&self) -> usize {
        let rows = self.cases.iter().map(Cases::rows_count);
        rows.fold(0, |total, rows| total + rows)
    }
}

/// The result of one reduction, which is one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The data set's name.
    pub dataset: String,
    /// The number of items, N.
    pub n: u64,
    /// The algorithm's name.
    pub algorithm: String,
    /// The distribution's name.
    pub distribution: String,
    /// `threads` or `mpi`.
    pub backend: String,
    /// The number of ranks, p.
    pub ranks: usize,
    /// The sum's bits on rank 0, in hexadecimal.
    pub bits: String,
    /// The sum; null if it is infinite or not a number.
    pub sum: Option<f64>,
    /// `tree`, `exact`, `left-to-right` or `none`.
    pub order: String,
    /// The number of messages that the backend sent; null if the MPI library does not report it.
    pub messages: Option<u64>,
    /// The greatest number of communicating steps of a rank; null for algorithms without rounds.
    pub rounds: Option<u64>,
    /// The collective operation.
    pub collective: String,
    /// Whether exactly the right ranks got a result (all in an allreduce, only rank 0 in a reduce), and all results have rank 0's bits.
    pub ranks_agree: bool,
}

impl Row {
    /// The sum with these bits.
    pub fn total(&self) -> f64 {
        f64::from_bits(u64::from_str_radix(&self.bits, 16).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::Row;

    /// A row that is read from a rank and written again keeps its sum.
    #[test]
    fn sums_survive_json() {
        let mut random = crate::data::Random::new(1);
        for _ in 0..2000 {
            let sum = f64::from_bits(random.word());
            let row = serde_json::json!({
                "dataset": "data", "n": 1, "algorithm": "algorithm1", "distribution": "lower", "backend": "mpi",
                "ranks": 1, "bits": format!("{:016X}", sum.to_bits()), "sum": sum.is_finite().then_some(sum),
                "order": "tree", "messages": 0, "rounds": null, "collective": "allreduce", "ranks_agree": true,
            });
            let row: Row = serde_json::from_str(&row.to_string()).unwrap();
            let bits = row.sum.map(f64::to_bits);
            assert_eq!(bits, row.total().is_finite().then(|| sum.to_bits()));
        }
    }
}
