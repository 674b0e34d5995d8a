//! Stelz, *Core-Count Independent Reproducible Reduce* (2022): the tree, its messages, distributions and times.

mod algorithm1;
mod distributions;
mod local;
mod messages;
mod reproducibility;
mod runs;
mod scaling;
mod timings;
mod variants;

use distribution::{Distribution, Scheme};
use harness::Error;
use harness::data::TABLE_4_1_ITEMS;
pub use timings::{Job, Times, on_rank};

use crate::{Context, Fill, Values};

/// The example of section 3.1.2: aa_rokasA8 on p = 256.
const ITEMS: usize = TABLE_4_1_ITEMS[5];
const RANKS: usize = 256;

/// What fills the pages.
pub(super) const FILLS: &[(&str, Fill)] = &[
    ("figure-2.3", messages::over_items),
    ("recursive", local::recursive),
    ("buffer-utilisation", reproducibility::buffer),
    ("table-3", distributions::scores),
    ("figure-3.4", variants::even_against_optimized),
    ("figure-3.5", distributions::shares),
    ("figure-3.6", local::rank_of_index),
    ("figure-3.8", local::kernels),
    ("figure-4.1", figure_4_1),
    ("figure-4.2", runs::against_reproblas),
    ("figure-4.3", runs::distribution),
    ("figure-4.4", scaling::strong),
    ("table-4.2", reproducibility::matrix),
    ("optimal-distributions", distributions::models),
    ("optimal-distributions-measured", variants::distributions),
    ("figure-b.1", variants::flushing),
    ("figure-b.2", runs::distributions),
    ("figure-b.3", runs::reproducibility),
    ("figure-b.4", runs::algorithm1),
    ("figure-b.5", messages::shifted),
];

/// Figure 4.1: measured on the ranks that are here, simulated on the thesis' machines.
fn figure_4_1(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    scaling::largest(context, page);
    runs::medians(context, page)
}

/// The distribution of items by a rule.
fn distribute(scheme: Scheme, items: u64, ranks: usize) -> Distribution {
    let distribution = scheme.distribute(items, ranks);
    distribution.expect("there are ranks")
}

/// That of the example.
fn example(scheme: Scheme) -> Distribution {
    distribute(scheme, ITEMS as u64, RANKS)
}
