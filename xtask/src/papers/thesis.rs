//! Stelz, *Core-Count Independent Reproducible Reduce* (2022): the tree, its messages, distributions and times.

mod distributions;
mod messages;

use super::{Exhibit, Paper};

/// The example of section 3.1.2: aa_rokasA8 on p = 256.
const ITEMS: u64 = 504_850;
const RANKS: usize = 256;

/// In the order of the thesis.
pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit::computed(
        Paper::Thesis,
        "figure-2.3",
        "Figure 2.3, message counts over N, p = 256",
        messages::over_items,
    ),
    Exhibit::computed(
        Paper::Thesis,
        "table-3",
        "Tables 3.1 to 3.3, scores and message counts of distributions",
        distributions::scores,
    ),
    Exhibit::computed(
        Paper::Thesis,
        "figure-3.5",
        "Figure 3.5, items a rank",
        distributions::shares,
    ),
    Exhibit::computed(
        Paper::Thesis,
        "figure-b.5",
        "Figure B.5, one item more shifts every boundary",
        messages::shifted,
    ),
];
