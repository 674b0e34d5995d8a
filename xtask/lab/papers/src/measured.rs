//! Schedules in measured time: their lines over the backend's own collective.

use harness::bench::schedules::{Row, of};
use harness::plot::Line;
use reduce::Algorithm;

use crate::said::line;

/// The times of some schedules over those of their reference, over some axis.
pub(super) fn ratio_lines(rows: &[Row], algorithms: &[Algorithm], x: fn(&Row) -> f64) -> Vec<Line> {
    let lines = algorithms.iter().map(|&algorithm| {
        let rows = of(rows, algorithm);
        line(algorithm.name(), rows, |row| (x(row), row.ratio))
    });
    lines.collect()
}
