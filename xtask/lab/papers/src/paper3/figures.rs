//! Figures 2, 3 and 4: the time of topology-aware reductions over that of flat ones, simulated.

use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use schedule::Collective;

use super::cluster::{self, FACTORS, aware, flat};
use super::points::{Point, REDUCE, span, wins_from};
use crate::said::{count, range};
use crate::{Comparison, Context, Page};

/// The communicators of figures 2 and 3.
const RANKS: [usize; 4] = [8, 64, 512, 2048];

/// The rows of Figure 4, in doubles: 4 Kbytes and 8 Mbytes are published, the two between them are not.
const WIDTHS: [usize; 4] = [512, 32_768, 524_288, 1_048_576];

/// Side by side, dealt out in turn.
const PLACEMENTS: [&str; 2] = ["side by side", "dealt out"];

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
    lines.push(Line::level("flat", 1.0));
    lines
}

/// What the plots show.
const RATIO: &str = "time over the flat schedule's, if x2, x4 or x8 ranks a node are known of";

/// What a plot says, of some ranks or rows.
fn title(of: &str, points: &[Point]) -> String {
    let [beside, dealt] = [0, 1].map(|placement| {
        let ratios = points
            .iter()
            .flat_map(|point| (0..FACTORS.len()).map(|factor| point.ratio(factor, placement)));
        range(ratios)
    });
    format!(
        "{of}, knowing the nodes takes {beside} of the time with ranks side by side, {dealt} with ranks dealt out"
    )
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
        let name = match collective {
            Collective::Allreduce => "allreduce",
            _ => "reduce",
        };
        let plot = Plot {
            title: title(&format!("On {ranks} ranks"), &of_ranks),
            subtitle: format!("Simulated {name} on {ranks} ranks: {RATIO}"),
            x: Axis::doublings("row, doubles"),
            y: Axis::linear("time over the flat schedule's, ratio"),
            lines: lines(&of_ranks, |point| point.doubles),
            size: Size::Page,
        };
        page.plot(&ranks.to_string(), plot)?;
        points.extend(of_ranks);
    }
    Ok(points)
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
    traffic(page, REDUCE, &points);
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
    let best = largest.max_by(|a, b| speed(a).total_cmp(&speed(b)));
    let best = best.map_or("–".to_owned(), |point| {
        format!("{}, with {} doubles", digits(speed(point)), point.doubles)
    });
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
    vec![
        Comparison::simulated(
            format!("{name}: x8 is faster on all communicators beyond a node from"),
            wins_from(points, placement),
        )
        .published("512 doubles")
        .because(why_from),
        Comparison::simulated(
            format!("{name}: x8, 32,768 doubles: times faster"),
            span(at(32_768).map(speed)),
        )
        .published("2.5 to 5")
        .because(why_speed),
        Comparison::simulated(format!("{name}: x8, {most} ranks: most times faster"), best)
            .published("up to 4 on 2048 ranks, for long rows")
            .because(why_speed),
    ]
}

/// What goes between nodes, which explains the times.
fn traffic(page: &mut Page, collective: Collective, points: &[Point]) {
    let short = points
        .iter()
        .filter(|point| point.doubles < 256 && point.ranks > cluster::NODE_RANKS);
    let same = short
        .clone()
        .filter(|point| (point.ratio(2, 0) - 1.0).abs() < 1e-9);
    page.heading("Why placement decides");
    let ends = match collective {
        Collective::Allreduce => {
            "Flat recursive doubling, which is for short rows, sends a row for every rank instead, all at once; two levels have a broadcast within nodes to make, which takes longer."
        }
        _ => {
            "A flat tree of ranks side by side goes within nodes first and between them afterwards, as two levels do."
        }
    };
    page.paragraph(format!(
        "The rows that leave the busiest node of 8, on 64 ranks, are below. Flat halving of ranks side by side cuts rows into eighths within the node, and all its ranks share what goes out; of two \
         levels one rank sends as much alone, after more rounds within the node. {ends} Below 256 doubles and beyond a node, x8 takes the flat schedule's time in {} of {} cases, if ranks lie side by \
         side. If they are dealt out in turn, the first rounds, whose messages are the longest, are between nodes. That the published ratios of long rows are below 1 says that ranks lay so, or that \
         something limited the flat schedule that is not simulated.",
        same.count(),
        short.count()
    ));
    let ranks = 64;
    let rows = [("short: 1 double", 1), ("long: 32,768 doubles", 32_768)].map(|(name, doubles)| {
        let flat = flat(collective, ranks, doubles);
        let eight = aware(collective, ranks, doubles, 8);
        vec![
            name.to_owned(),
            digits(cluster::rows_out(&flat, 1, false)),
            digits(cluster::rows_out(&flat, 1, true)),
            digits(cluster::rows_out(&eight, 8, false)),
        ]
    });
    page.table(["row", "flat, side by side", "flat, dealt out", "x8"], rows);
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
        let why = match placement {
            0 => "see below",
            _ => {
                "with x2 and x4, more ranks of a node share the work on long rows between nodes; and behind a node's port the network is without contention here"
            }
        };
        let long = || beyond_node().filter(|point| point.doubles >= 512);
        comparisons.push(
            Comparison::simulated(
                format!("{name}: x8, 512 doubles and more, beyond a node: ratio"),
                span(long().map(ratio)),
            )
            .published("around 0.5, independent of the number of ranks")
            .because(why),
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
            .published("in all cases")
            .because(why),
        );
    }
    page.compare(comparisons);
    traffic(page, Collective::Allreduce, &points);
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
        let plot = Plot {
            title: title(&format!("For {} doubles", count(doubles)), &of_width),
            subtitle: format!("Simulated reduce of {} doubles: {RATIO}", count(doubles)),
            x: Axis::doublings("p, ranks"),
            y: Axis::linear("time over the flat schedule's, ratio"),
            lines: lines(&of_width, |point| point.ranks),
            size: Size::Page,
        };
        page.plot(part, plot)?;
        points.extend(of_width);
    }
    let at = |ranks: usize, doubles: usize| {
        points
            .iter()
            .find(|point| (point.ranks, point.doubles) == (ranks, doubles))
    };
    let mut comparisons = Vec::new();
    for (placement, name) in PLACEMENTS.into_iter().enumerate() {
        let port = "behind a node's port, the simulated network has no contention, so more nodes make no difference to it";
        let nodes_first = "the flat schedule goes within nodes first already (see Figure 2)";
        let claims = [
            (16, 512, "minimal impact", "latencies between nodes"),
            (1024, 512, "minimal impact", "latencies between nodes"),
            (16, 524_288, "about 0.65", ""),
            (1024, 524_288, "about 0.35", port),
            (2048, 1_048_576, "0.25 in some cases", port),
        ];
        for (ranks, doubles, published, why) in claims {
            let Some(point) = at(ranks, doubles) else {
                continue;
            };
            let what = format!("{name}: x8, {ranks} ranks, {doubles} doubles: ratio");
            let ours = Comparison::simulated(what, point.ratio(2, placement));
            let why = if placement == 0 { nodes_first } else { why };
            comparisons.push(ours.published(published).because(why));
        }
    }
    page.compare(comparisons);
    Ok(())
}
