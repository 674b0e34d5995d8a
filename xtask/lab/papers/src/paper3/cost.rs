//! What one order costs a topology-aware reduction: the rows of fragments, on the same two-level schedule.

use std::ops::Range;

use distribution::{Distribution, Scheme};
use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use schedule::{Collective, Schedule, simulate, simulate_unordered};
use tree_index::Tree;

use super::cluster::{self, NODE_RANKS, aware, machine};
use crate::said::{count, range};
use crate::{Comparison, Context, Page};

/// Rows, in doubles.
const WIDTHS: [usize; 4] = [1, 512, 32_768, 1_048_576];

/// How the items that are reduced lie on ranks.
#[derive(Clone, Copy, Debug)]
struct Spread {
    name: &'static str,
    scheme: Scheme,
    /// The items of a rank.
    share: u64,
}

/// The first of them give each rank a subtree.
const ALIGNED: usize = 2;
const SPREADS: [Spread; 4] = [
    Spread {
        name: "one row a rank",
        scheme: Scheme::Lower,
        share: 1,
    },
    Spread {
        name: "2048 rows a rank",
        scheme: Scheme::Lower,
        share: 2048,
    },
    Spread {
        name: "1972 rows a rank",
        scheme: Scheme::Lower,
        share: 1972,
    },
    Spread {
        name: "1972 rows a rank, optimized",
        scheme: Scheme::Optimized,
        share: 1972,
    },
];

/// What the order costs on one number of ranks.
#[derive(Clone, Copy, Debug)]
struct Cost {
    ratio: f64,
    /// The same of the time with each rank's fold of its own rows before it.
    whole_ratio: f64,
    rows_mean: f64,
    rows_max: u64,
}

impl Spread {
    fn distribution(self, ranks: usize) -> Result<Distribution, Error> {
        let items = self.share * ranks as u64;
        Ok(self.scheme.distribute(items, ranks)?)
    }

    /// The time in one order over that in any, of an allreduce.
    fn cost(self, ranks: usize, doubles: usize) -> Result<Cost, Error> {
        let distribution = self.distribution(ranks)?;
        let tree = Tree::new(distribution.items());
        let rows = |ranks: Range<usize>| {
            let items = distribution.start(ranks.start)..distribution.start(ranks.end);
            u64::from(tree.fragment_len(items))
        };
        let schedule: Schedule = aware(Collective::Allreduce, ranks, doubles, NODE_RANKS);
        let bytes = doubles as f64 * 8.0;
        let machine = machine(ranks, NODE_RANKS, false);
        let ordered = simulate(&schedule, &machine, bytes, &rows);
        let unordered = simulate_unordered(&schedule, &machine, bytes);
        let fold_ns = (self.share - 1) as f64 * bytes * machine.near.combine_byte_ns;
        Ok(Cost {
            whole_ratio: (fold_ns + ordered.time_ns) / (fold_ns + unordered.time_ns),
            ratio: ordered.time_ns / unordered.time_ns,
            rows_mean: ordered.rows_mean,
            rows_max: ordered.rows_max,
        })
    }
}

/// The two-level allreduce, in one order and in any.
pub(super) fn of_order(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(cluster::description());
    page.paragraph(format!(
        "An allreduce by `hierarchical`, told of {NODE_RANKS} ranks a node: what the same bits for every topology cost. An unordered reduction sends one row, whatever it stands for; a tree-ordered one as many as \
         there are subtrees in what its ranks hold. That is one, where each rank has one row (as in all of the paper's runs) or a power of two of them. The plots leave out the fold of a rank's own rows, at γ a byte, which any reduction has; the table has both."
    ));
    let powers = (3..=11).step_by(2).map(|log| 1_usize << log);
    let most = if context.quick { 32 } else { 2048 };
    let sizes: Vec<usize> = powers.filter(|&ranks| ranks <= most).collect();
    let (last, mut comparisons) = (sizes[sizes.len() - 1], Vec::new());
    let mut rows = Vec::new();
    for doubles in WIDTHS {
        let mut lines = Vec::new();
        for spread in SPREADS {
            let mut points = Vec::new();
            for &ranks in &sizes {
                let cost = spread.cost(ranks, doubles)?;
                points.push((ranks as f64, cost.ratio));
                if ranks == last {
                    rows.push(row(doubles, spread, cost));
                    comparisons.extend(compared(ranks, doubles, spread, cost));
                }
            }
            lines.push(Line::new(spread.name, points));
        }
        let of = |spreads: &[Line]| {
            let points = spreads.iter().flat_map(|line| &line.points);
            range(points.map(|point| point.1))
        };
        let (aligned, others) = lines.split_at(ALIGNED);
        page.plot(
            &doubles.to_string(),
            Plot {
                title: format!(
                    "One order takes {} of the time if shares are aligned, {} if they are not",
                    of(aligned),
                    of(others)
                ),
                subtitle: format!(
                    "Simulated allreduce of a row of {} double{}: time in one order over that in any order",
                    count(doubles),
                    if doubles == 1 { "" } else { "s" }
                ),
                x: Axis::doublings("p, ranks"),
                y: Axis::linear("time over any order's, ratio"),
                lines,
                size: Size::Page,
            },
        )?;
    }
    page.heading(format!("On {last} ranks"));
    page.table(
        [
            "doubles",
            "items",
            "time, as a ratio",
            "with the fold of own rows",
            "rows a piece",
            "most",
        ],
        rows,
    );
    page.compare(comparisons);
    Ok(())
}

fn row(doubles: usize, spread: Spread, cost: Cost) -> Vec<String> {
    vec![
        doubles.to_string(),
        spread.name.to_owned(),
        digits(cost.ratio),
        digits(cost.whole_ratio),
        digits(cost.rows_mean),
        cost.rows_max.to_string(),
    ]
}

/// What the paper's own case costs.
fn compared(ranks: usize, doubles: usize, spread: Spread, cost: Cost) -> Option<Comparison> {
    let is_published = spread.share == 1;
    is_published.then(|| {
        Comparison::simulated(
            format!("{ranks} ranks, one row of {doubles} doubles each: time of the reproducible topology-aware allreduce over the other's"),
            cost.ratio,
        )
        .published("the library must do without topology, to give the same bits")
        .because("the order is the items', not the nodes': one row a rank stays one row a message, and the topology may be used")
    })
}
