//! The measured loops: everything that is compared is measured in one run, turn by turn.

pub mod cold;
pub mod exact;
pub mod kernels;
pub mod lookup;
pub mod parallel;
pub mod plot;
pub mod record;
pub mod reduce;
pub mod schedules;
pub mod sums;
pub mod timing;

use serde::{Deserialize, Serialize};

/// One variant against one reference: one line of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `kernels`, `parallel`, `exact`, `python`, `lookup` or `reduce`.
    pub bench: String,
    /// What was measured.
    pub variant: String,
    /// The number of items, N; for `lookup` the number of ranks that are looked up, for `exact` the number of keys,
    /// or the items of a window.
    pub n: u64,
    /// The number of ranks, p.
    pub ranks: usize,
    /// `threads` or `mpi`, or `python` for what the package for Python does.
    pub backend: String,
    /// How the items are spread, where there are ranks.
    pub distribution: Option<String>,
    /// The median time of one call, in nanoseconds; for `exact`, of an item, or over ranks of a key.
    pub median_ns: f64,
    /// The rate at which items are read, in 10^9 bytes a second; null where none are.
    pub gbps: Option<f64>,
    /// For `kernels`, `parallel` and `lookup` a speed (the reference's time over this one's); for `reduce`, `exact` and
    /// `python` a time (this one's over the reference's).
    pub ratio: f64,
    /// What it is compared with.
    pub reference: String,
    /// `warm`, where calls follow each other; `cold`, where other work lies between them, `cold-after-barrier`, where a barrier follows
    /// that, and `warm-items`, where each rank also reads its items before the barrier.
    #[serde(default = "warm")]
    pub state: String,
}

/// Whether the ratio of a bench's rows is one of times, and not of speeds.
#[must_use]
pub fn has_ratio_of_times(bench: &str) -> bool {
    ["reduce", "exact", "python"].contains(&bench)
}

/// The state of most measurements.
pub(crate) fn warm() -> String {
    "warm".to_owned()
}
