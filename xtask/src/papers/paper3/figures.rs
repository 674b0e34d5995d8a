//! Figures 2, 3 and 4: the time of topology-aware reductions over that of flat ones, simulated.

use schedule::{Collective, simulate_unordered};

use super::cluster::{self, FACTORS, aware, flat, machine};
use crate::error::Error;
use crate::papers::page::digits;
use crate::papers::{Comparison, Context, Page};
use crate::plot::{Axis, Line, Plot};

const REDUCE: Collective = Collective::Reduce { root: 0 };

/// The communicators of figures 2 and 3.
const RANKS: [usize; 4] = [8, 64, 512, 2048];

/// The rows of Figure 4, in doubles: 4 Kbytes and 8 Mbytes are published, the two between them are not.
const WIDTHS: [usize; 4] = [512, 32_768, 524_288, 1_048_576];

/// Side by side, dealt out in turn.
const PLACEMENTS: [&str; 2] = ["side by side", "dealt out"];

/// One length of row on one number of ranks.
#[derive(Clone, Copy, Debug)]
struct Point {
    ranks: usize,
    doubles: usize,
    /// The flat schedule's time, of ranks side by side and dealt out.
    flat_ns: [f64; 2],
    /// x2, x4 and x8.
    aware_ns: [f64; 3],
}

impl Point {
    fn of(collective: Collective, ranks: usize, doubles: usize) -> Self {
        let bytes = doubles as f64 * 8.0;
        let time = |schedule, is_dealt| {
            simulate_unordered(&schedule, &machine(ranks, is_dealt), bytes).time_ns
        };
        Self {
            ranks,
            doubles,
            flat_ns: [false, true].map(|is_dealt| time(flat(collective, ranks, doubles), is_dealt)),
            aware_ns: FACTORS.map(|factor| time(aware(collective, ranks, doubles, factor), false)),
        }
    }

    /// The time with so many ranks a node assumed, as a ratio to the flat one's.
    fn ratio(&self, factor: usize, placement: usize) -> f64 {
        self.aware_ns[factor] / self.flat_ns[placement]
    }
}

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

/// Lines of all factors and placements, over some axis.
fn lines(points: &[Point], x: impl Fn(&Point) -> usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (placement, name) in PLACEMENTS.into_iter().enumerate() {
        for (index, factor) in FACTORS.into_iter().enumerate() {
            let points = points
                .iter()
                .map(|point| (x(point) as f64, point.ratio(index, placement)));
            lines.push(Line::new(format!("x{factor}, {name}"), points.collect()));
        }
    }
    lines
}

/// One panel for each number of ranks.
fn by_width(
    context: &Context<'_>,
    page: &mut Page,
    collective: Collective,
) -> Result<Vec<Point>, Error> {
    page.paragraph(cluster::description());
    page.paragraph(cluster::algorithms());
    let mut points = Vec::new();
    for ranks in sizes(&RANKS, context.quick) {
        let of_ranks = widths(context.quick).into_iter();
        let of_ranks = of_ranks.map(|doubles| Point::of(collective, ranks, doubles));
        let of_ranks: Vec<Point> = of_ranks.collect();
        page.plot(
            &ranks.to_string(),
            &Plot {
                caption: format!("time over the flat schedule's, {ranks} ranks"),
                x: Axis::logarithmic("doubles"),
                y: Axis::linear("ratio"),
                lines: lines(&of_ranks, |point| point.doubles),
            },
        )?;
        points.extend(of_ranks);
    }
    Ok(points)
}

/// The least and the greatest of these, or one.
fn span(ratios: impl Iterator<Item = f64>) -> String {
    let ratios: Vec<f64> = ratios.collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    if digits(least) == digits(most) {
        digits(least)
    } else {
        format!("{} to {}", digits(least), digits(most))
    }
}

/// The least row from which on x8 is faster on all numbers of ranks beyond a node.
fn wins_from(points: &[Point], placement: usize) -> String {
    let loses = points
        .iter()
        .filter(|point| point.ranks > cluster::NODE_RANKS && point.ratio(2, placement) >= 1.0);
    let longest = loses.map(|point| point.doubles).max();
    let longer = |&width: &usize| longest.is_none_or(|longest| width > longest);
    let widths: Vec<usize> = points.iter().map(|point| point.doubles).collect();
    let first = widths.into_iter().filter(longer).min();
    first.map_or("never".to_owned(), |first| format!("{first} doubles"))
}

/// Figure 2.
pub(super) fn reduce(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let points = by_width(context, page, REDUCE)?;
    let eight = points.iter().filter(|point| point.ranks == 8);
    let all = |point: &Point| [0, 1, 2].map(|factor| point.ratio(factor, 0));
    let mut comparisons = vec![
        Comparison::simulated("8 ranks, all lengths: ratio", span(eight.flat_map(all)))
            .published("minimal difference")
            .because("two levels of reduce-scatter and gather within one node have more rounds, and move more, than one: x8 alone is the flat schedule"),
    ];
    for (placement, name) in PLACEMENTS.into_iter().enumerate() {
        comparisons.extend(reduce_claims(&points, placement, name));
    }
    page.compare(comparisons);
    reasons(page, &points);
    Ok(())
}

/// What the text says of Figure 2, for one placement of ranks.
fn reduce_claims(points: &[Point], placement: usize, name: &str) -> Vec<Comparison> {
    let beyond_node = || {
        points
            .iter()
            .filter(|point| point.ranks > cluster::NODE_RANKS)
    };
    let at = |doubles| beyond_node().filter(move |point| point.doubles == doubles);
    let speed = |point: &Point| 1.0 / point.ratio(2, placement);
    let most = points.iter().map(|point| point.ranks).max().unwrap_or(0);
    let largest = points.iter().filter(|point| point.ranks == most);
    let best = largest.map(speed).fold(0.0, f64::max);
    vec![
        Comparison::simulated(
            format!("{name}: x8 is faster on all communicators beyond a node from"),
            wins_from(points, placement),
        )
        .published("512 doubles"),
        Comparison::simulated(
            format!("{name}: x8, 32,768 doubles: times faster"),
            span(at(32_768).map(speed)),
        )
        .published("2.5 to 5"),
        Comparison::simulated(format!("{name}: x8, {most} ranks: most times faster"), best)
            .published("up to 4"),
    ]
}

/// Why side by side is different: what the two schedules do is the same, or the flat one is better.
fn reasons(page: &mut Page, points: &[Point]) {
    let short = points
        .iter()
        .filter(|point| point.doubles < 256 && point.ranks > cluster::NODE_RANKS);
    let same = short.clone().filter(|point| {
        let difference = point.ratio(2, 0) - 1.0;
        difference.abs() < 1e-9
    });
    page.paragraph(format!(
        "Of ranks side by side, a binomial tree over ranks goes within nodes first and between them afterwards already: below 2 Kbytes x8 takes the flat schedule's time in {} of {} cases. Flat \
         reduce-scatter halves rows within the node first, so that only an eighth of a row for each rank, one row a node, passes its port; the two-level schedule sends one row a node, too, \
         with one rank at work. So the published advantage of long rows is not one of traffic between nodes, if ranks lie side by side. It comes out if they are dealt out in turn: then every rank of a node sends half of \
         its row to other nodes in the first round, through one port.",
        same.count(),
        short.count()
    ));
}

/// Figure 3.
pub(super) fn allreduce(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let points = by_width(context, page, Collective::Allreduce)?;
    let beyond_node = || {
        points
            .iter()
            .filter(|point| point.ranks > cluster::NODE_RANKS)
    };
    let mut comparisons = Vec::new();
    for (placement, name) in PLACEMENTS.into_iter().enumerate() {
        let ratio = |point: &Point| point.ratio(2, placement);
        let long = || beyond_node().filter(|point| point.doubles >= 512);
        comparisons.push(
            Comparison::simulated(
                format!("{name}: x8, 512 doubles and more, beyond a node: ratio"),
                span(long().map(ratio)),
            )
            .published("around 0.5, independent of the number of ranks"),
        );
        for ranks in sizes(&RANKS, context.quick) {
            if ranks > cluster::NODE_RANKS {
                let of_ranks = long().filter(|point| point.ranks == ranks);
                let what = format!("{name}: x8, 512 doubles and more, {ranks} ranks: ratio");
                comparisons.push(Comparison::simulated(what, span(of_ranks.map(ratio))));
            }
        }
        let is_best = |point: &&Point| {
            let [two, four, eight] = [0, 1, 2].map(|factor| point.ratio(factor, placement));
            eight <= two && eight <= four
        };
        let best = beyond_node().filter(is_best).count();
        comparisons.push(
            Comparison::simulated(
                format!("{name}: x8 is the fastest of x2, x4, x8"),
                format!("in {best} of {} cases", beyond_node().count()),
            )
            .published("in all cases"),
        );
    }
    page.compare(comparisons);
    reasons(page, &points);
    Ok(())
}

/// Figure 4.
pub(super) fn over_ranks(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(cluster::description());
    page.paragraph(cluster::algorithms());
    let all: Vec<usize> = (3..=11).map(|log| 1 << log).collect();
    let mut points = Vec::new();
    for (part, doubles) in ["a", "b", "c", "d"].into_iter().zip(WIDTHS) {
        let of_width = sizes(&all, context.quick).into_iter();
        let of_width = of_width.map(|ranks| Point::of(REDUCE, ranks, doubles));
        let of_width: Vec<Point> = of_width.collect();
        page.plot(
            part,
            &Plot {
                caption: format!("time over the flat schedule's, {doubles} doubles"),
                x: Axis::logarithmic("ranks"),
                y: Axis::linear("ratio"),
                lines: lines(&of_width, |point| point.ranks),
            },
        )?;
        points.extend(of_width);
    }
    let at = |ranks: usize, doubles: usize| {
        points
            .iter()
            .find(|point| (point.ranks, point.doubles) == (ranks, doubles))
    };
    let mut comparisons = Vec::new();
    for (placement, name) in PLACEMENTS.into_iter().enumerate() {
        for (ranks, doubles, published) in [
            (16, 524_288, Some("about 0.65")),
            (1024, 524_288, Some("about 0.35")),
            (16, 512, Some("minimal impact")),
            (1024, 512, Some("minimal impact")),
            (2048, 1_048_576, Some("0.25 in some cases")),
        ] {
            let Some(point) = at(ranks, doubles) else {
                continue;
            };
            let what = format!("{name}: x8, {ranks} ranks, {doubles} doubles: ratio");
            let ours = Comparison::simulated(what, point.ratio(2, placement));
            comparisons.push(match published {
                Some(published) => ours.published(published),
                None => ours,
            });
        }
    }
    page.compare(comparisons);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Point, REDUCE, wins_from};

    #[test]
    fn trees_side_by_side_know_nodes_already() {
        let point = Point::of(REDUCE, 64, 1);
        assert!((point.ratio(2, 0) - 1.0).abs() < 1e-9);
        assert!(point.ratio(2, 1) < 1.0);
    }

    #[test]
    fn winning_is_for_good() {
        let point = |doubles, eight| Point {
            ranks: 16,
            doubles,
            flat_ns: [1.0; 2],
            aware_ns: [1.0, 1.0, eight],
        };
        let points = [point(1, 0.5), point(4, 1.5), point(16, 0.5), point(64, 0.7)];
        assert_eq!(wins_from(&points, 0), "16 doubles");
        assert_eq!(wins_from(&points[..2], 0), "never");
    }
}
