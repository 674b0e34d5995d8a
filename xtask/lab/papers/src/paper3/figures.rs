//! Figures 2, 3 and 4: the time of topology-aware reductions over that of flat ones, simulated.

use harness::Error;
use harness::markdown::digits;
use harness::plot::Line;
use schedule::{Collective, simulate_unordered};

use super::cluster::{self, FACTORS, NODE_RANKS, aware, flat, machine, rows_out};
use crate::said::{line, range, span};
use crate::values::cells;
use crate::{Context, Values};

/// To the paper's root.
const REDUCE: Collective = Collective::Reduce { root: 0 };

/// One length of row on one number of ranks.
#[derive(Clone, Copy, Debug)]
struct Point {
    ranks: usize,
    doubles: usize,
    /// The time over the flat schedule's of x2, x4 and x8, of ranks side by side and dealt out.
    ratios: [[f64; 3]; 2],
}

impl Point {
    fn of(collective: Collective, ranks: usize, doubles: usize) -> Self {
        let bytes = doubles as f64 * 8.0;
        let time = |schedule, assumed, is_dealt| {
            simulate_unordered(&schedule, &machine(ranks, assumed, is_dealt), bytes).time_ns
        };
        let ratios = |is_dealt| {
            let flat_ns = time(flat(collective, ranks, doubles), 1, is_dealt);
            let aware = |factor| aware(collective, ranks, doubles, factor);
            FACTORS.map(|factor| time(aware(factor), factor, is_dealt) / flat_ns)
        };
        Self {
            ranks,
            doubles,
            ratios: [false, true].map(ratios),
        }
    }

    /// Whether there is more than one node.
    fn is_beyond_node(&self) -> bool {
        self.ranks > NODE_RANKS
    }

    /// The time with x8, as a ratio to the flat one's.
    fn eight(&self, placement: usize) -> f64 {
        self.ratios[placement][2]
    }
}

/// The least row from which on x8 is faster on all numbers of ranks beyond a node.
fn wins_from(points: &[Point], placement: usize) -> String {
    let beyond_node = points.iter().filter(|point| point.is_beyond_node());
    let loses = beyond_node.filter(|point| point.eight(placement) >= 1.0);
    let longest = loses.map(|point| point.doubles).max();
    let widths = points.iter().map(|point| point.doubles);
    let first = widths.filter(|&width| longest.is_none_or(|longest| width > longest));
    first
        .min()
        .map_or("never".to_owned(), |first| format!("{first} doubles"))
}

/// The communicators of figures 2 and 3.
const RANKS: [usize; 4] = [8, 64, 512, 2048];

/// The rows of Figure 4, in doubles: 4 Kbytes and 8 Mbytes are published, the two between them are not.
const WIDTHS: [(&str, usize); 4] = [("a", 512), ("b", 32_768), ("c", 524_288), ("d", 1_048_576)];

/// Side by side, dealt out in turn.
const PLACEMENTS: [(usize, &str); 2] = [(0, "side by side"), (1, "dealt out")];

/// From 1 to 1,048,576 doubles.
fn widths(quick: bool) -> Vec<usize> {
    let all = (0..=20).filter(|log| log % 2 == 0 || [9, 15, 19].contains(log));
    let few = |log: &u32| !quick || [0, 9, 15, 19, 20].contains(log);
    all.filter(few).map(|log| 1 << log).collect()
}

/// Communicators, fewer and smaller ones in a hurry.
fn sizes(all: &[usize], quick: bool) -> Vec<usize> {
    let most = if quick { 64 } else { usize::MAX };
    all.iter().copied().filter(|&ranks| ranks <= most).collect()
}

/// Draws all factors and placements, over some axis.
fn draw(page: &mut Values, part: &str, points: &[Point], x: impl Fn(&Point) -> usize) {
    let mut lines = Vec::new();
    for (placement, name) in PLACEMENTS {
        let ratios = points.iter().flat_map(|point| point.ratios[placement]);
        page.set(name, range(ratios));
        lines.extend((0..FACTORS.len()).map(|factor| {
            line(format!("x{}, {name}", FACTORS[factor]), points, |point| {
                (x(point) as f64, point.ratios[placement][factor])
            })
        }));
    }
    lines.push(Line::level("flat", 1.0));
    page.draw(part, lines);
}

/// One picture for each number of ranks.
fn by_width(context: &Context<'_>, page: &mut Values, collective: Collective) -> Vec<Point> {
    cluster::describe(page);
    cluster::describe_algorithms(page);
    let mut points = Vec::new();
    for ranks in sizes(&RANKS, context.quick) {
        let own = widths(context.quick).into_iter();
        let own = own.map(|doubles| Point::of(collective, ranks, doubles));
        let own: Vec<Point> = own.collect();
        let case = page.case("ranks");
        case.set("ranks", ranks);
        draw(case, &ranks.to_string(), &own, |point| point.doubles);
        points.extend(own);
    }
    traffic(page, collective, &points);
    points
}

/// What goes between nodes, which explains the times.
fn traffic(page: &mut Values, collective: Collective, points: &[Point]) {
    let is_short = |point: &&Point| point.doubles < 256 && point.is_beyond_node();
    let short = points.iter().filter(is_short);
    let same = short
        .clone()
        .filter(|point| (point.eight(0) - 1.0).abs() < 1e-9);
    page.set("same", same.count()).set("short", short.count());
    let rows = [("short: 1 double", 1), ("long: 32,768 doubles", 32_768)];
    page.rows("traffic", rows, |(name, doubles)| {
        let flat = flat(collective, 64, doubles);
        let eight = aware(collective, 64, doubles, 8);
        cells![
            name,
            rows_out(&flat, 1, false),
            rows_out(&flat, 1, true),
            rows_out(&eight, 8, false),
        ]
    });
}

/// Figure 2.
pub(super) fn reduce(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let points = by_width(context, page, REDUCE);
    let node = points.iter().filter(|point| point.ranks == NODE_RANKS);
    page.set("eight", span(node.flat_map(|point| point.ratios[0])));
    let most = points.iter().map(|point| point.ranks).max().unwrap_or(0);
    page.set("most", most);
    for (placement, name) in PLACEMENTS {
        let speed = |point: &&Point| 1.0 / point.eight(placement);
        let is_published = |point: &&Point| point.is_beyond_node() && point.doubles == 32_768;
        let published = points.iter().filter(is_published);
        let largest = points.iter().filter(|point| point.ranks == most);
        let best = largest.max_by(|a, b| speed(a).total_cmp(&speed(b)));
        let best =
            best.map(|point| format!("{}, with {} doubles", digits(speed(&point)), point.doubles));
        let [why_from, why_speed] = match placement {
            0 => [
                "the flat schedule goes within nodes first already, see below",
                "the same",
            ],
            _ => [
                "the latency of links between nodes counts for short rows, too",
                "ports are shared by a node's ranks, but the network behind them, and the node's memory, are without contention here",
            ],
        };
        let case = page.case("placement");
        case.set("placement", name);
        case.set("from", wins_from(&points, placement));
        case.set("speed", span(published.map(|point| speed(&point))));
        case.set("best", best);
        case.set("why from", why_from).set("why speed", why_speed);
    }
    Ok(())
}

/// Figure 3.
pub(super) fn allreduce(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let points = by_width(context, page, Collective::Allreduce);
    let beyond_node = points.iter().filter(|point| point.is_beyond_node());
    for (placement, name) in PLACEMENTS {
        let long = beyond_node.clone().filter(|point| point.doubles >= 512);
        let ratio = |point: &Point| point.eight(placement);
        let is_best = |point: &&Point| {
            let [two, four, eight] = point.ratios[placement];
            eight <= two && eight <= four
        };
        let case = page.case("placement");
        case.set("placement", name);
        case.set("long", span(long.clone().map(ratio)));
        case.set("best", beyond_node.clone().filter(is_best).count());
        case.set("cases", beyond_node.clone().count());
        case.set("why", match placement {
            0 => "see below",
            _ => "with x2 and x4, more ranks of a node share the work on long rows between nodes; and behind a node's port the network is without contention here",
        });
        for ranks in sizes(&RANKS, context.quick) {
            let own = long.clone().filter(|point| point.ranks == ranks);
            if ranks > NODE_RANKS {
                let case = case.case("long");
                case.set("ranks", ranks).set("ratio", span(own.map(ratio)));
            }
        }
    }
    Ok(())
}

/// What the text says of Figure 4: ranks, doubles, the ratio, and why ours is another one if ranks are dealt out.
const CLAIMS: [(usize, usize, &str, &str); 5] = [
    (16, 512, "minimal impact", "latencies between nodes"),
    (1024, 512, "minimal impact", "latencies between nodes"),
    (16, 524_288, "about 0.65", ""),
    (1024, 524_288, "about 0.35", PORT),
    (2048, 1_048_576, "0.25 in some cases", PORT),
];
const PORT: &str = "behind a node's port, the simulated network has no contention, so more nodes make no difference to it";

/// Figure 4.
pub(super) fn over_ranks(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    cluster::describe(page);
    cluster::describe_algorithms(page);
    let all: Vec<usize> = (3..=11).map(|log| 1 << log).collect();
    let mut points = Vec::new();
    for (part, doubles) in WIDTHS {
        let own = sizes(&all, context.quick).into_iter();
        let own = own.map(|ranks| Point::of(REDUCE, ranks, doubles));
        let own: Vec<Point> = own.collect();
        let case = page.case("width");
        case.set("part", part).set("doubles", doubles);
        draw(case, part, &own, |point| point.ranks);
        points.extend(own);
    }
    for (placement, name) in PLACEMENTS {
        for (ranks, doubles, published, why) in CLAIMS {
            let is_it = |point: &&Point| (point.ranks, point.doubles) == (ranks, doubles);
            let Some(point) = points.iter().find(is_it) else {
                continue;
            };
            let why = match placement {
                0 => "the flat schedule goes within nodes first already (see Figure 2)",
                _ => why,
            };
            let case = page.case("claim");
            case.set("placement", name).set("ranks", ranks);
            case.set("doubles", doubles).set("published", published);
            case.set("ratio", point.eight(placement)).set("why", why);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Point, REDUCE, wins_from};

    #[test]
    fn trees_side_by_side_know_nodes_already() {
        let point = Point::of(REDUCE, 64, 1);
        assert!((point.eight(0) - 1.0).abs() < 1e-9);
        assert!(point.eight(1) < 1.0);
    }

    #[test]
    fn winning_is_for_good() {
        let point = |doubles, eight| Point {
            ranks: 16,
            doubles,
            ratios: [[1.0, 1.0, eight]; 2],
        };
        let points = [point(1, 0.5), point(4, 1.5), point(16, 0.5), point(64, 0.7)];
        assert_eq!(wins_from(&points, 0), "16 doubles");
        assert_eq!(wins_from(&points[..2], 0), "never");
    }
}
