//! Draws the pictures of measured sums.

use std::path::{Path, PathBuf};

use super::sums::{Times, WAYS};
use crate::Error;
use crate::machine::Machine;
use crate::plot::{Axis, Line, Plot, Record, Size, extremes};
use simd_kernels::Level;

/// Writes two pictures of [`sums`](super::sums) with their numbers into a folder and returns their paths: `speed.svg`, times relative to an
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

/// The line of one way of summing. For each length, it shows what `of` computes from the times of each run.
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
