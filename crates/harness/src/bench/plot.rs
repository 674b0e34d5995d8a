//! Pictures of measurements: the kernels' speed by length, and an allreduce's time by the number of ranks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Row, schedules};
use crate::Error;
use crate::plot::{Axis, Line, Plot};
use crate::workspace::target;

/// Lines by their names.
type Lines<'r> = BTreeMap<&'r str, Vec<(f64, f64)>>;

/// Draws into a file below `target/`.
fn draw(name: &str, caption: String, x: &str, y: &str, lines: Lines<'_>) -> Result<PathBuf, Error> {
    let lines = lines.into_iter();
    let plot = Plot {
        caption,
        x: Axis::linear(x),
        y: Axis::linear(y),
        lines: lines
            .map(|(name, points)| Line::new(name, points))
            .collect(),
    };
    let path = target()?.join(name);
    plot.write(&path)?;
    Ok(path)
}

/// Draws `target/bench-kernels.svg`, speed against the unordered sum by length, and returns where it is.
pub fn kernels(rows: &[Row]) -> Result<PathBuf, Error> {
    let mut lines = Lines::new();
    for row in rows {
        let drawn = row.variant.starts_with("streaming") || row.variant.starts_with("algorithm4");
        if drawn && row.reference == "unordered-simd" {
            let line = lines.entry(&row.variant).or_default();
            line.push(((row.n as f64).log2(), row.ratio));
        }
    }
    draw(
        "bench-kernels.svg",
        "speed / fastest unordered SIMD sum at the same level".to_owned(),
        "log2 N",
        "ratio",
        lines,
    )
}

/// Draws `target/bench-reduce-scaling.svg`, the time of the largest allreduce by the number of ranks (thesis, Figure 4.4), and
/// returns where it is.
pub fn scaling(rows: &[Row]) -> Result<PathBuf, Error> {
    let largest = rows.iter().map(|row| row.n).max().unwrap_or(0);
    let drawn = ["plan", "algorithm1", "mpi-native", "unordered"];
    let mut lines = Lines::new();
    let of_largest = |row: &&Row| row.n == largest && row.distribution.as_deref() == Some("lower");
    for row in rows.iter().filter(of_largest) {
        let ranks = row.ranks as f64;
        if drawn.contains(&row.variant.as_str()) && row.reference.starts_with("unordered") {
            let line = lines.entry(&row.variant).or_default();
            line.push((ranks, row.median_ns / 1e6));
        }
        if row.variant == "plan" && row.reference.starts_with("left-to-right") {
            let line = lines.entry(&row.reference).or_default();
            line.push((ranks, row.median_ns / row.ratio / 1e6));
        }
    }
    draw(
        "bench-reduce-scaling.svg",
        format!("strong scaling: allreduce of {largest} doubles"),
        "ranks",
        "milliseconds",
        lines,
    )
}

/// Draws `target/bench-schedules.svg`, each schedule's time against the transport's own allreduce by the length of a row (paper 2), and
/// returns where it is.
pub fn schedules(rows: &[schedules::Row]) -> Result<PathBuf, Error> {
    let mut lines = Lines::new();
    let ranks = rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    let of_paper_2 =
        |row: &&schedules::Row| (row.paper, row.ranks, row.block_elements) == (2, ranks, None);
    for row in rows.iter().filter(of_paper_2) {
        let line = lines.entry(&row.variant).or_default();
        // One that is slower by far would flatten all others.
        line.push(((row.n as f64).log10(), row.ratio.min(8.0)));
    }
    draw(
        "bench-schedules.svg",
        format!("allreduce of a row on {ranks} ranks: time / the transport's own"),
        "log10 of the row's doubles",
        "ratio",
        lines,
    )
}
