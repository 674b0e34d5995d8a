//! Pictures of measurements: the kernels' speed by length, an allreduce's time by the number of ranks, and that of rows by their length.

use std::collections::BTreeMap;
use std::path::PathBuf;

use simd_kernels::Level;

use super::{Row, schedules};
use crate::Error;
use crate::plot::{Axis, Line, Plot, Record, Size};
use checkout::workspace::target;

/// Numbers of ranks that make a line: two points are a table.
const RANK_COUNTS: usize = 3;

/// Lines by their names.
type Lines<'r> = BTreeMap<&'r str, Vec<(f64, f64)>>;

fn lines(points: Lines<'_>) -> impl Iterator<Item = Line> {
    let points = points.into_iter();
    points.map(|(name, points)| Line::new(name, points))
}

/// Draws into a file below `target/`.
fn draw(name: &str, plot: &Plot) -> Result<PathBuf, Error> {
    let path = target()?.join(name);
    plot.write(&path)?;
    Ok(path)
}

/// Draws `target/bench-kernels.svg`, speed against the unordered sum by length, and returns where it is.
pub fn kernels(rows: &[Row]) -> Result<PathBuf, Error> {
    let mut own = Lines::new();
    for row in rows {
        let drawn = row.variant.starts_with("streaming") || row.variant.starts_with("algorithm4");
        if drawn && row.reference == "unordered-simd" {
            let line = own.entry(&row.variant).or_default();
            line.push((row.n as f64, row.ratio));
        }
    }
    let best = format!("streaming-{}", Level::best());
    let last = own.get(&*best).and_then(|points| points.last());
    let &(items, ratio) = last.unwrap_or(&(0.0, 0.0));
    let title = format!("For {items} items, {best} has {ratio:.2} of the unordered sum's speed");
    let plot = Plot {
        title,
        subtitle: "Speed over that of the fastest unordered SIMD sum at the same level".to_owned(),
        x: Axis::doublings("N, items"),
        y: Axis::linear("ratio of speeds"),
        lines: lines(own)
            .chain([Line::level("the same speed", 1.0)])
            .collect(),
        size: Size::Page,
    };
    draw("bench-kernels.svg", &plot)
}

/// Draws `target/speed.svg` with its numbers beside it: the speed of tree order, of an unordered sum and of a plain loop, for doubles by
/// length. Returns where it is.
pub fn speed(rows: &[Row]) -> Result<PathBuf, Error> {
    let streaming = format!("streaming-{}", Level::best());
    // Shorter sums are over before the clock has ticked.
    let of = |variant: &str, reference: &str| -> Vec<&Row> {
        let suits = |row: &&Row| {
            row.variant == variant
                && row.reference == reference
                && row.n.is_power_of_two()
                && row.n >= 64
        };
        rows.iter().filter(suits).collect()
    };
    let line = |name: &str, rows: Vec<&Row>, is_reference: bool| {
        let point = |row: &&Row| {
            let own = row.gbps.unwrap_or(0.0);
            let gbps = if is_reference { own / row.ratio } else { own };
            (row.n as f64, gbps)
        };
        Line::new(name, rows.iter().map(point).collect())
    };
    let drawn = vec![
        line("treefold", of(&streaming, "unordered-simd"), false),
        line("unordered SIMD sum", of(&streaming, "unordered-simd"), true),
        line(
            "left-to-right loop",
            of("left-to-right", "unordered-simd"),
            false,
        ),
    ];
    let source = format!("cargo xtask bench kernels, doubles, {}", Level::best());
    let path = target()?.join("speed.svg");
    Record::new(source, speed_plot(drawn)).write(&path)?;
    Ok(path)
}

/// Treefold's sum, the unordered one and the plain loop.
fn speed_plot(lines: Vec<Line>) -> Plot {
    let last = |index: usize| {
        lines[index]
            .points
            .last()
            .copied()
            .unwrap_or((0.0, f64::NAN))
    };
    let ((items, own), (_, unordered), (_, plain)) = (last(0), last(1), last(2));
    Plot {
        title: format!(
            "For 2^{:.0} doubles, a fixed order has {:.0} % of an unordered sum's speed, {:.1} times a plain loop's",
            items.log2(),
            100.0 * own / unordered,
            own / plain
        ),
        subtitle: "One core, median".to_owned(),
        x: Axis::doublings("N, doubles"),
        y: Axis::linear("GB/s"),
        lines,
        size: Size::Half,
    }
}

/// Draws `target/bench-reduce-scaling.svg`, the time of the largest allreduce by the number of ranks (thesis, Figure 4.4), and
/// returns where it is; nothing for so few numbers of ranks that a table says as much.
pub fn scaling(rows: &[Row]) -> Result<Option<PathBuf>, Error> {
    let largest = rows.iter().map(|row| row.n).max().unwrap_or(0);
    let drawn = ["plan", "algorithm1", "mpi-native", "unordered"];
    let mut own = Lines::new();
    let of_largest = |row: &&Row| row.n == largest && row.distribution.as_deref() == Some("lower");
    for row in rows.iter().filter(of_largest) {
        let ranks = row.ranks as f64;
        if drawn.contains(&row.variant.as_str()) && row.reference.starts_with("unordered") {
            let line = own.entry(&row.variant).or_default();
            line.push((ranks, row.median_ns / 1e6));
        }
        if row.variant == "plan" && row.reference.starts_with("left-to-right") {
            let line = own.entry(&row.reference).or_default();
            line.push((ranks, row.median_ns / row.ratio / 1e6));
        }
    }
    let Some(&[(first, one), .., (last, all)]) = own.get("plan").map(|points| &points[..]) else {
        return Ok(None);
    };
    if own.values().any(|points| points.len() < RANK_COUNTS) {
        return Ok(None);
    }
    let plot = Plot {
        title: format!(
            "From {first} to {last} ranks, a plan gets {:.1} times as fast",
            one / all
        ),
        subtitle: format!("Median times of an allreduce of {largest} doubles"),
        x: Axis::doublings("ranks"),
        y: Axis::decades("ms"),
        lines: lines(own).collect(),
        size: Size::Page,
    };
    draw("bench-reduce-scaling.svg", &plot).map(Some)
}

/// Draws `target/bench-schedules.svg`, each schedule's time against the transport's own allreduce by the length of a row (paper 2), and
/// returns where it is.
pub fn schedules(rows: &[schedules::Row]) -> Result<PathBuf, Error> {
    let mut own = Lines::new();
    let ranks = rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    let of_paper_2 =
        |row: &&schedules::Row| (row.paper, row.ranks, row.block_elements) == (2, ranks, None);
    for row in rows.iter().filter(of_paper_2) {
        let line = own.entry(&row.variant).or_default();
        line.push((row.n as f64, row.ratio));
    }
    let tuned = own.get("tuned").into_iter().flatten();
    let worst = tuned.fold(0.0, |worst, point| f64::max(worst, point.1));
    let plot = Plot {
        title: format!("A plan takes {worst:.2} of the transport's own time at most"),
        subtitle: format!("Allreduce of a row on {ranks} ranks: time over the transport's own"),
        x: Axis::decades("doubles of a row"),
        y: Axis::decades("ratio of times"),
        lines: lines(own)
            .chain([Line::level("the same time", 1.0)])
            .collect(),
        size: Size::Page,
    };
    draw("bench-schedules.svg", &plot)
}

#[cfg(test)]
mod tests {
    use super::{Line, speed_plot};

    #[test]
    fn the_title_tells_the_longest_sum() {
        let line = |name: &str, last: f64| Line::new(name, vec![(64.0, 1.0), (1024.0, last)]);
        let plot = speed_plot(vec![line("a", 9.0), line("b", 10.0), line("c", 3.0)]);
        let expected = "For 2^10 doubles, a fixed order has 90 % of an unordered sum's speed, 3.0 times a plain loop's";
        assert_eq!(plot.title, expected);
    }
}
