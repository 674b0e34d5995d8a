//! Pictures of measurements: the kernels' speed by length, the time of an allreduce by the number of ranks, and of rows by their length.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::sums::{Times, WAYS};
use super::{Row, schedules};
use crate::Error;
use crate::machine::Machine;
use crate::plot::{Axis, Line, Plot, Record, Size, extremes};
use checkout::workspace::target;
use simd_kernels::Level;

/// The fewest numbers of ranks for a line: two points fit into a table.
const RANK_COUNTS: usize = 3;

/// A line for each name.
fn lines<'r>(points: impl IntoIterator<Item = (&'r str, (f64, f64))>) -> Vec<Line> {
    let mut lines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (name, point) in points {
        lines.entry(name).or_default().push(point);
    }
    let lines = lines.into_iter();
    lines
        .map(|(name, points)| Line::new(name, points))
        .collect()
}

/// Draws into a file below `target/`.
fn draw(name: &str, plot: &Plot) -> Result<PathBuf, Error> {
    let path = target()?.join(name);
    plot.write(&path)?;
    Ok(path)
}

/// Draws `target/bench-kernels.svg`, the speed relative to the unordered sum, by length, and returns its path.
pub fn kernels(rows: &[Row]) -> Result<PathBuf, Error> {
    let is_drawn = |row: &&Row| {
        let variant = &row.variant;
        let is_of_tree = variant.starts_with("streaming") || variant.starts_with("algorithm4");
        is_of_tree && row.reference == "unordered-simd"
    };
    let drawn = rows.iter().filter(is_drawn);
    let mut lines = lines(drawn.map(|row| (&*row.variant, (row.n as f64, row.ratio))));
    lines.push(Line::level("the same speed", 1.0));
    let plot = Plot {
        title: "Speed of sums over that of an unordered SIMD sum".to_owned(),
        subtitle: "The fastest unordered sum at the same level; medians".to_owned(),
        x: Axis::doublings("N, items"),
        y: Axis::linear("speed over the unordered sum's, ratio"),
        lines,
        size: Size::Page,
    };
    draw("bench-kernels.svg", &plot)
}

/// Writes two pictures of [`sums`](super::sums) with their numbers into a folder, and returns their paths: `speed.svg`, times relative to an
/// unordered sum, and `sum-times.svg`, times per item.
pub fn sums(times: &[Times], folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (here, level) = (Machine::here(), Level::best());
    let processor = &here.processor;
    let runs = times.first().map_or(0, |times| times.least_ns.len());
    let about =
        format!("One core, {processor} ({level}); medians of {runs} runs, bars: all of them");
    let source = format!(
        "cargo xtask bench sums --record; {processor}, {} cores, {level}; {}, commit {}; shared with other programs",
        here.cores, here.date, here.commit
    );
    let pictures = [
        ("speed.svg", speed(times)),
        ("sum-times.svg", sum_times(times)),
    ];
    let paths = pictures.into_iter().map(|(name, plot)| {
        let (path, subtitle) = (folder.join(name), about.clone());
        Record::new(source.clone(), Plot { subtitle, ..plot }).write(&path)?;
        Ok(path)
    });
    paths.collect()
}

/// The line of a way of summing: a measure of each run's times, by length.
fn way(times: &[Times], way: usize, of: impl Fn(usize, &[f64; WAYS.len()]) -> f64) -> Line {
    let points = times.iter().map(|times| {
        let (middle, bar) = times.range(|ns| of(times.items, ns));
        ((times.items as f64, middle), bar)
    });
    let (points, bars) = points.unzip();
    Line {
        bars,
        ..Line::new(WAYS[way], points)
    }
}

fn speed(times: &[Times]) -> Plot {
    let unordered = WAYS.len() - 1;
    let lines = (0..unordered).map(|own| way(times, own, |_, ns| ns[own] / ns[unordered]));
    let mut lines: Vec<Line> = lines.collect();
    let (least, most) = extremes(lines[0].points.iter().map(|&(_, ratio)| ratio));
    lines.push(Line::level(WAYS[unordered], 1.0));
    Plot {
        title: format!(
            "A sum in tree order takes {least:.1} to {most:.1} times an unordered sum's time"
        ),
        subtitle: String::new(),
        x: Axis::doublings("N, doubles"),
        y: Axis::decades("time over the unordered sum's, ratio"),
        lines,
        size: Size::Half,
    }
}

fn sum_times(times: &[Times]) -> Plot {
    let line = |own: usize| way(times, own, |items, ns| ns[own] / items as f64);
    let lines: Vec<Line> = (0..WAYS.len()).map(line).collect();
    let longest = |line: &Line| line.points.last().map_or(0.0, |&(_, ns)| ns);
    let [tree, unordered] = [&lines[0], &lines[WAYS.len() - 1]].map(longest);
    Plot {
        title: format!(
            "The longest sums take {tree:.2} ns an item in tree order, {unordered:.2} unordered"
        ),
        subtitle: String::new(),
        x: Axis::doublings("N, doubles"),
        y: Axis::decades("time, ns an item"),
        lines,
        size: Size::Page,
    }
}

/// Draws `target/bench-reduce-scaling.svg`, the time of the largest allreduce by the number of ranks (thesis, Figure 4.4), and
/// returns its path; nothing if there are so few numbers of ranks that a table suffices.
pub fn scaling(rows: &[Row]) -> Result<Option<PathBuf>, Error> {
    let largest = rows.iter().map(|row| row.n).max().unwrap_or(0);
    let drawn = ["plan", "algorithm1", "mpi-native", "unordered"];
    let of_largest = |row: &&Row| row.n == largest && row.distribution.as_deref() == Some("lower");
    let points = rows.iter().filter(of_largest).flat_map(|row| {
        let is_drawn = drawn.contains(&&*row.variant) && row.reference.starts_with("unordered");
        let is_plain = row.variant == "plan" && row.reference.starts_with("left-to-right");
        let own = is_drawn.then_some((&*row.variant, row.median_ns));
        let plain = is_plain.then_some((&*row.reference, row.median_ns / row.ratio));
        let times = own.into_iter().chain(plain);
        times.map(|(name, ns)| (name, (row.ranks as f64, ns / 1e6)))
    });
    let lines = lines(points);
    let plan = lines.iter().find(|line| line.name == "plan");
    let Some(&[(first, one), .., (last, all)]) = plan.map(|line| &line.points[..]) else {
        return Ok(None);
    };
    if lines.iter().any(|line| line.points.len() < RANK_COUNTS) {
        return Ok(None);
    }
    let faster = one / all;
    let plot = Plot {
        title: format!("From {first} to {last} ranks, a plan gets {faster:.1} times as fast"),
        subtitle: format!("Median times of an allreduce of {largest} doubles"),
        x: Axis::doublings("p, ranks"),
        y: Axis::decades("time, ms"),
        lines,
        size: Size::Page,
    };
    draw("bench-reduce-scaling.svg", &plot).map(Some)
}

/// Draws `target/bench-schedules.svg`, each schedule's time relative to the transport's own allreduce, by the length of a row (paper 2), and
/// returns its path.
pub fn schedules(rows: &[schedules::Row]) -> Result<PathBuf, Error> {
    let ranks = rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    let of_paper_2 =
        |row: &&schedules::Row| (row.paper, row.ranks, row.block_elements) == (2, ranks, None);
    let drawn = rows.iter().filter(of_paper_2);
    let tuned = drawn.clone().filter(|row| row.variant == "tuned");
    let worst = tuned.fold(0.0, |worst, row| f64::max(worst, row.ratio));
    let mut lines = lines(drawn.map(|row| (&*row.variant, (row.n as f64, row.ratio))));
    lines.push(Line::level("the same time", 1.0));
    let plot = Plot {
        title: format!("A plan takes {worst:.2} of the transport's own time at most"),
        subtitle: format!("Allreduce of a row on {ranks} ranks: time over the transport's own"),
        x: Axis::decades("row, doubles"),
        y: Axis::decades("time over the transport's own, ratio"),
        lines,
        size: Size::Page,
    };
    draw("bench-schedules.svg", &plot)
}
