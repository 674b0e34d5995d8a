//! Stelz, *Core-Count Independent Reproducible Reduce* (2022): the tree, its messages, distributions and times.

mod algorithm1;
mod distributions;
mod local;
mod messages;
mod model;
mod optimal;
mod ratios;
mod reproducibility;
mod runs;
mod scaling;
mod timings;
mod variants;

use distribution::{Distribution, Scheme};
use harness::Error;
use harness::data::TABLE_4_1_ITEMS;
pub use timings::{Job, Times, on_rank};

use super::{Context, Exhibit, Page, Paper};

/// The example of section 3.1.2: aa_rokasA8 on p = 256.
const ITEMS: usize = TABLE_4_1_ITEMS[5];
const RANKS: usize = 256;

/// Its distribution by a rule.
fn example(scheme: Scheme) -> Distribution {
    let distribution = scheme.distribute(ITEMS as u64, RANKS);
    distribution.expect("there are ranks")
}

/// In the order of the thesis.
pub(super) const EXHIBITS: &[Exhibit] = &[
    Exhibit::computed(
        Paper::Thesis,
        "figure-2.3",
        "Figure 2.3, message counts over N, p = 256",
        messages::over_items,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "recursive",
        "The recursive baseline, N = 2^27",
        local::recursive,
    ),
    Exhibit::computed(
        Paper::Thesis,
        "buffer-utilisation",
        "Section 3.1.1, values a message",
        reproducibility::buffer,
    ),
    Exhibit::computed(
        Paper::Thesis,
        "table-3",
        "Tables 3.1 to 3.3, scores and message counts of distributions",
        distributions::scores,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-3.4",
        "Figure 3.4, even and optimized distribution",
        variants::even_against_optimized,
    ),
    Exhibit::computed(
        Paper::Thesis,
        "figure-3.5",
        "Figure 3.5, items a rank",
        distributions::shares,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-3.6",
        "Figure 3.6, the rank of an item",
        local::rank_of_index,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-3.8",
        "Figure 3.8, the kernel and std::accumulate",
        local::kernels,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-4.1",
        "Figure 4.1, times of all data sets",
        figure_4_1,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-4.2",
        "Figure 4.2, over a left-to-right sum",
        ratios::against_reproblas,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-4.3",
        "Figure 4.3, all runs of the longest data set",
        runs::distribution,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-4.4",
        "Figure 4.4, strong scaling",
        scaling::strong,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "table-4.2",
        "Table 4.2, differences between numbers of ranks",
        reproducibility::matrix,
    ),
    Exhibit::computed(
        Paper::Thesis,
        "optimal-distributions",
        "The best distributions, by score and by critical path",
        optimal::models,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "optimal-distributions-measured",
        "The best distributions, in measured time",
        optimal::measured,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-b.1",
        "Figure B.1, when the message buffer is flushed",
        variants::flushing,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-b.2",
        "Figure B.2, all runs of all data sets",
        runs::distributions,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-b.3",
        "Figure B.3, what reproducibility costs over allreduce",
        ratios::reproducibility,
    ),
    Exhibit::measured(
        Paper::Thesis,
        "figure-b.4",
        "Figure B.4, Algorithm 1 against allreduce",
        ratios::algorithm1,
    ),
    Exhibit::computed(
        Paper::Thesis,
        "figure-b.5",
        "Figure B.5, one item more shifts every boundary",
        messages::shifted,
    ),
];

/// Figure 4.1: measured on the ranks that are here, simulated on the thesis' machines.
fn figure_4_1(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    runs::medians(context, page)?;
    scaling::largest(context, page)
}
