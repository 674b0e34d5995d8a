//! What one order costs a topology-aware reduction: the rows of fragments, on the same two-level schedule.

use std::ops::Range;

use distribution::{Distribution, Scheme};
use harness::Error;
use harness::plot::Line;
use schedule::{Collective, Schedule, simulate, simulate_unordered};
use tree_index::Tree;

use super::cluster::{self, NODE_RANKS, aware, machine};
use crate::said::{heights, line, range};
use crate::values::cells;
use crate::{Context, Values};

/// Rows, in doubles.
const WIDTHS: [usize; 4] = [1, 512, 32_768, 1_048_576];

/// How the items that are reduced lie on ranks: a name, a rule, and the items of a rank.
#[derive(Clone, Copy, Debug)]
struct Spread(&'static str, Scheme, u64);

/// The first of them give each rank a subtree; the very first is the paper's.
const ALIGNED: usize = 2;
const SPREADS: [Spread; 4] = [
    Spread("one row a rank", Scheme::Lower, 1),
    Spread("2048 rows a rank", Scheme::Lower, 2048),
    Spread("1972 rows a rank", Scheme::Lower, 1972),
    Spread("1972 rows a rank, optimized", Scheme::Optimized, 1972),
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
    /// The time in one order over that in any, of an allreduce.
    fn cost(self, ranks: usize, doubles: usize) -> Result<Cost, Error> {
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
        let ordered = simulate(&schedule, &machine, bytes, &rows);
        let unordered = simulate_unordered(&schedule, &machine, bytes);
        let fold_ns = (share - 1) as f64 * bytes * machine.near.combine_byte_ns;
        Ok(Cost {
            whole_ratio: (fold_ns + ordered.time_ns) / (fold_ns + unordered.time_ns),
            ratio: ordered.time_ns / unordered.time_ns,
            rows_mean: ordered.rows_mean,
            rows_max: ordered.rows_max,
        })
    }
}

/// The two-level allreduce, in one order and in any.
pub(super) fn of_order(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    cluster::describe(page);
    let powers = (3..=11).step_by(2).map(|log| 1_usize << log);
    let most = context.quick_or(32, 2048);
    let sizes: Vec<usize> = powers.filter(|&ranks| ranks <= most).collect();
    page.set("ranks", sizes[sizes.len() - 1]);
    let mut rows = Vec::new();
    for doubles in WIDTHS {
        let mut lines: Vec<Line> = Vec::new();
        for spread in SPREADS {
            let costs = sizes.iter().map(|&ranks| spread.cost(ranks, doubles));
            let costs: Vec<Cost> = costs.collect::<Result<_, _>>()?;
            let points = sizes.iter().zip(&costs);
            lines.push(line(spread.0, points, |(&ranks, cost)| {
                (ranks as f64, cost.ratio)
            }));
            let last = costs[costs.len() - 1];
            rows.push(cells![
                doubles,
                spread.0,
                last.ratio,
                last.whole_ratio,
                last.rows_mean,
                last.rows_max,
            ]);
        }
        let (aligned, others) = lines.split_at(ALIGNED);
        let case = page.case("width");
        case.set("doubles", doubles);
        case.set("double", if doubles == 1 { "double" } else { "doubles" });
        case.set("aligned", range(heights(aligned)));
        case.set("others", range(heights(others)));
        case.set("cost", heights(&lines[..1]).last());
        case.draw(&doubles.to_string(), lines);
    }
    page.rows("costs", rows, |row| row);
    Ok(())
}
