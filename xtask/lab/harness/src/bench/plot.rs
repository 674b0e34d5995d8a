//! Pictures of measurements: the kernels' speed by length, the time of an allreduce by the number of ranks, and of rows by their length.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::sums::{Times, WAYS};
use super::{Row, schedules};
use crate::Error;
use crate::machine::Machine;
use crate::plot::{Axis, Line, Plot, Record, Size, extremes};
use checkout::workspace::target;

/// The fewest numbers of ranks for a line: two points fit into a table.
const RANK_COUNTS: usize = 3;

/// Lines by their names.
#[derive(Default)]
struct Lines<'r>(BTreeMap<&'r str, Vec<(f64, f64)>>);

impl<'r> Lines<'r> {
    fn add(&mut self, line: &'r str, point: (f64, f64)) {
        self.0.entry(line).or_default().push(point);
    }

    /// All of these lines, and another one.
    fn with(self, other: Option<Line>) -> Vec<Line> {
        let own = self.0.into_iter();
        let own = own.map(|(name, points)| Line::new(name, points));
        own.chain(other).collect()
    }
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
    let mut own = Lines::default();
    for row in rows.iter().filter(is_drawn) {
        own.add(&row.variant, (row.n as f64, row.ratio));
    }
    let plot = Plot {
        title: "Speed of sums over that of an unordered SIMD sum".to_owned(),
        subtitle: "The fastest unordered sum at the same level; medians".to_owned(),
        x: Axis::doublings("N, items"),
        y: Axis::linear("speed over the unordered sum's, ratio"),
        lines: own.with(Some(Line::level("the same speed", 1.0))),
        size: Size::Page,
    };
    draw("bench-kernels.svg", &plot)
}

/// Writes two pictures of [`sums`](super::sums) with their numbers into a folder, and returns their paths: `speed.svg`, times relative to an
/// unordered sum, and `sum-times.svg`, times per item.
pub fn sums(times: &[Times], folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let machine = Machine::here();
    let source = format!("cargo xtask bench sums --record; {machine}; shared with other programs");
    let pictures = [
        ("speed.svg", speed(times, &machine)),
        ("sum-times.svg", sum_times(times, &machine)),
    ];
    let paths = pictures.into_iter().map(|(name, plot)| {
        let path = folder.join(name);
        Record::new(source.clone(), plot).write(&path)?;
        Ok(path)
    });
    paths.collect()
}

/// The line of a way of summing: a measure of each run's times, by length.
fn way(times: &[Times], way: usize, of: impl Fn(usize, &[f64; WAYS.len()]) -> f64) -> Line {
    let ranges = times
        .iter()
        .map(|times| times.range(|ns| of(times.items, ns)));
    let (middles, bars): (Vec<f64>, Vec<(f64, f64)>) = ranges.unzip();
    let points = times.iter().zip(middles);
    let points = points.map(|(times, middle)| (times.items as f64, middle));
    Line {
        bars,
        ..Line::new(WAYS[way], points.collect())
    }
}

/// The subtitle about the runs.
fn runs_words(times: &[Times], machine: &Machine) -> String {
    let runs = times.first().map_or(0, |times| times.least_ns.len());
    format!(
        "One core, {} ({}); medians of {runs} runs, bars: all of them",
        machine.processor, machine.level
    )
}

fn speed(times: &[Times], machine: &Machine) -> Plot {
    let unordered = WAYS.len() - 1;
    let lines = (0..unordered).map(|own| way(times, own, |_, ns| ns[own] / ns[unordered]));
    let mut lines: Vec<Line> = lines.collect();
    let (least, most) = extremes(lines[0].points.iter().map(|&(_, ratio)| ratio));
    lines.push(Line::level(WAYS[unordered], 1.0));
    Plot {
        title: format!(
            "A sum in tree order takes {least:.1} to {most:.1} times an unordered sum's time"
        ),
        subtitle: runs_words(times, machine),
        x: Axis::doublings("N, doubles"),
        y: Axis::decades("time over the unordered sum's, ratio"),
        lines,
        size: Size::Half,
    }
}

fn sum_times(times: &[Times], machine: &Machine) -> Plot {
    let line = |own: usize| way(times, own, |items, ns| ns[own] / items as f64);
    let lines: Vec<Line> = (0..WAYS.len()).map(line).collect();
    let longest = |line: &Line| line.points.last().map_or(0.0, |&(_, ns)| ns);
    let [tree, unordered] = [&lines[0], &lines[WAYS.len() - 1]].map(longest);
    Plot {
        title: format!(
            "The longest sums take {tree:.2} ns an item in tree order, {unordered:.2} unordered"
        ),
        subtitle: runs_words(times, machine),
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
    let mut own = Lines::default();
    let of_largest = |row: &&Row| row.n == largest && row.distribution.as_deref() == Some("lower");
    for row in rows.iter().filter(of_largest) {
        let ranks = row.ranks as f64;
        if drawn.contains(&row.variant.as_str()) && row.reference.starts_with("unordered") {
            own.add(&row.variant, (ranks, row.median_ns / 1e6));
        }
        if row.variant == "plan" && row.reference.starts_with("left-to-right") {
            own.add(&row.reference, (ranks, row.median_ns / row.ratio / 1e6));
        }
    }
    let Some(&[(first, one), .., (last, all)]) = own.0.get("plan").map(|points| &points[..]) else {
        return Ok(None);
    };
    if own.0.values().any(|points| points.len() < RANK_COUNTS) {
        return Ok(None);
    }
    let plot = Plot {
        title: format!(
            "From {first} to {last} ranks, a plan gets {:.1} times as fast",
            one / all
        ),
        subtitle: format!("Median times of an allreduce of {largest} doubles"),
        x: Axis::doublings("p, ranks"),
        y: Axis::decades("time, ms"),
        lines: own.with(None),
        size: Size::Page,
    };
    draw("bench-reduce-scaling.svg", &plot).map(Some)
}

/// Draws `target/bench-schedules.svg`, each schedule's time relative to the transport's own allreduce, by the length of a row (paper 2), and
/// returns its path.
pub fn schedules(rows: &[schedules::Row]) -> Result<PathBuf, Error> {
    let mut own = Lines::default();
    let ranks = rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    let of_paper_2 =
        |row: &&schedules::Row| (row.paper, row.ranks, row.block_elements) == (2, ranks, None);
    for row in rows.iter().filter(of_paper_2) {
        own.add(&row.variant, (row.n as f64, row.ratio));
    }
    let tuned = own.0.get("tuned").into_iter().flatten();
    let worst = tuned.fold(0.0, |worst, point| f64::max(worst, point.1));
    let plot = Plot {
        title: format!("A plan takes {worst:.2} of the transport's own time at most"),
        subtitle: format!("Allreduce of a row on {ranks} ranks: time over the transport's own"),
        x: Axis::decades("row, doubles"),
        y: Axis::decades("time over the transport's own, ratio"),
        lines: own.with(Some(Line::level("the same time", 1.0))),
        size: Size::Page,
    };
    draw("bench-schedules.svg", &plot)
}
