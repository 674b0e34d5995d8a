//! The cost of a fixed order in a topology-aware reduction: the rows of fragments, on the same two-level schedule.

use std::ops::Range;

use distribution::{Distribution, Scheme};
use harness::Error;
use harness::plot::{Axis, Line};
use schedule::{Collective, Schedule, simulate, simulate_unordered};
use tree_index::Tree;

use super::cluster::{self, NODE_RANKS, aware, machine};
use crate::Context;
use crate::page::Page;
use crate::said::{count, heights, line, range};

/// Rows, in doubles.
const WIDTHS: [usize; 4] = [1, 512, 32_768, 1_048_576];

/// The distributions of items: a name, a rule, and the items per rank.
#[derive(Clone, Copy, Debug)]
struct Spread(&'static str, Scheme, u64);

/// The first of them give each rank a subtree; the very first is the paper's.
const ALIGNED: usize = 2;
const SPREADS: [Spread; 4] = [
    Spread("one row per rank", Scheme::Lower, 1),
    Spread("2048 rows per rank", Scheme::Lower, 2048),
    Spread("1972 rows per rank", Scheme::Lower, 1972),
    Spread("1972 rows per rank, optimized", Scheme::Optimized, 1972),
];

impl Spread {
    /// The time in one order over that in any, of an allreduce; the fold of a rank's own rows, which any reduction has, is left out.
    fn cost(self, ranks: usize, doubles: usize) -> Result<f64, Error> {
        let Self(_, scheme, share) = self;
        let distribution: Distribution = scheme.distribute(share * ranks as u64, ranks)?;
        let tree = Tree::new(distribution.items());
        let rows = |ranks: Range<usize>| {
            let items = distribution.start(ranks.start)..distribution.start(ranks.end);
            u64::from(tree.fragment_len(items))
        };
        let schedule: Schedule = aware(Collective::Allreduce, ranks, doubles, NODE_RANKS);
        let bytes = doubles as f64 * 8.0;
        let machine = machine(ranks, NODE_RANKS, false);
        let ordered_ns = simulate(&schedule, &machine, bytes, &rows).time_ns;
        Ok(ordered_ns / simulate_unordered(&schedule, &machine, bytes).time_ns)
    }
}

/// The two-level allreduce, in one order and in any.
pub(super) fn of_order(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Section VI-B, the cost of equal bits in a topology-aware reduction (simulated)");
    cluster::describe(page);
    page.text(
        "An allreduce by `hierarchical`, told of 8 ranks a node: what the same bits for every topology cost. An unordered reduction sends one row, whatever it stands for; a tree-ordered one as many as \
         there are subtrees in what its ranks hold. That is one, where each rank has one row (as in all of the paper's runs) or a power of two of them.",
    );
    let powers = (3..=11).step_by(2).map(|log| 1_usize << log);
    let most = context.quick_or(32, 2048);
    let sizes: Vec<usize> = powers.filter(|&ranks| ranks <= most).collect();
    let mut costs_of_one = Vec::new();
    for doubles in WIDTHS {
        let mut lines: Vec<Line> = Vec::new();
        for spread in SPREADS {
            let costs = sizes.iter().map(|&ranks| spread.cost(ranks, doubles));
            let costs: Vec<f64> = costs.collect::<Result<_, _>>()?;
            let points = sizes.iter().zip(costs);
            lines.push(line(spread.0, points, |(&ranks, cost)| {
                (ranks as f64, cost)
            }));
        }
        costs_of_one.push((doubles, heights(&lines[..1]).last().unwrap_or(f64::NAN)));
        let (aligned, others) = lines.split_at(ALIGNED);
        let title = format!(
            "Tree order takes {} of the unordered time if shares are aligned, {} if they are not",
            range(heights(aligned)),
            range(heights(others))
        );
        page.draw(
            &doubles.to_string(),
            format!(
                "Simulated allreduce of a row of {} doubles: time in tree order over unordered time",
                count(doubles)
            ),
            Axis::doublings("p, ranks"),
            Axis::linear("time over unordered time, ratio"),
            lines,
        );
        page.says(title);
    }
    let ranks = sizes[sizes.len() - 1];
    for (doubles, cost) in costs_of_one {
        page.compare(format!(
            "{ranks} ranks, one row of {doubles} doubles each: time of the reproducible topology-aware allreduce over the unordered one's | the library must do without topology, to give the same bits | {cost} \
             | the order follows the items, not the nodes: with one row per rank, messages have one row, and the schedule may use the topology"
        ));
    }
    Ok(())
}
