//! Stelz, *Core-Count Independent Reproducible Reduce* (2022): the tree, its messages, distributions and times.

mod distributions;
mod local;
mod reproducibility;
mod runs;
mod scaling;
mod timings;

use distribution::{Distribution, Scheme};
use harness::Error;
use harness::data::TABLE_4_1_ITEMS;
pub use timings::{Job, Times, on_rank};

use crate::page::Page;
use crate::{Context, Exhibit, Paper};

/// The example of section 3.1.2: aa_rokasA8 on p = 256.
const ITEMS: usize = TABLE_4_1_ITEMS[5];
const RANKS: usize = 256;

const PAPER: Paper = Paper {
    name: "Thesis",
    pictures: &["figure-4.1-p2.svg", "figure-4.4-time.svg"],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("figure-2.3", distributions::over_items),
    PAPER.measured("recursive", local::recursive),
    PAPER.computed("buffer-utilisation", reproducibility::buffer),
    PAPER.computed("table-3", distributions::scores),
    PAPER.measured("figure-3.4", runs::even_against_optimized),
    PAPER.computed("figure-3.5", distributions::shares),
    PAPER.measured("figure-3.6", local::rank_of_index),
    PAPER.measured("figure-3.8", local::kernels),
    PAPER.measured("figure-4.1", figure_4_1),
    PAPER.measured("figure-4.2", runs::against_reproblas),
    PAPER.measured("figure-4.3", runs::distribution),
    PAPER.measured("figure-4.4", scaling::strong),
    PAPER.measured("table-4.2", reproducibility::matrix),
    PAPER.computed("optimal-distributions", distributions::models),
    PAPER.measured("optimal-distributions-measured", runs::best_distributions),
    PAPER.measured("figure-b.1", runs::flushing),
    PAPER.measured("figure-b.2", runs::distributions),
    PAPER.measured("figure-b.3", runs::reproducibility),
    PAPER.measured("figure-b.4", runs::algorithm1),
    PAPER.computed("figure-b.5", distributions::shifted),
];

/// Figure 4.1: measured on this machine's ranks, simulated on the thesis' machines.
fn figure_4_1(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 4.1, times of all data sets");
    runs::medians(context, page)?;
    scaling::largest(context, page);
    Ok(())
}

/// The distribution of items by a rule.
fn distribute(scheme: Scheme, items: u64, ranks: usize) -> Distribution {
    let distribution = scheme.distribute(items, ranks);
    distribution.expect("there are ranks")
}

/// The distribution of the example.
fn example(scheme: Scheme) -> Distribution {
    distribute(scheme, ITEMS as u64, RANKS)
}
