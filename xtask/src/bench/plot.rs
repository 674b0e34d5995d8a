//! Pictures of measurements: the kernels' speed by length, and an allreduce's time by the number of ranks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plotters::prelude::*;

use super::{Row, schedules};
use crate::error::Error;
use crate::mpi::target;

/// Named lines, and what they are.
struct Picture<'r> {
    caption: String,
    x: &'static str,
    y: &'static str,
    lines: BTreeMap<&'r str, Vec<(f64, f64)>>,
}

/// Draws `target/bench-kernels.svg`, speed against the unordered sum by length, and returns where it is.
pub(super) fn kernels(rows: &[Row]) -> Result<PathBuf, Error> {
    let mut lines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        let drawn = row.variant.starts_with("streaming") || row.variant.starts_with("algorithm4");
        if drawn && row.reference == "unordered-simd" {
            let line = lines.entry(&row.variant).or_default();
            line.push(((row.n as f64).log2(), row.ratio));
        }
    }
    let picture = Picture {
        caption: "speed / fastest unordered SIMD sum at the same level".to_owned(),
        x: "log2 N",
        y: "ratio",
        lines,
    };
    picture.draw("bench-kernels.svg")
}

/// Draws `target/bench-reduce-scaling.svg`, the time of the largest allreduce by the number of ranks (thesis, Figure 4.4), and
/// returns where it is.
pub(super) fn scaling(rows: &[Row]) -> Result<PathBuf, Error> {
    let largest = rows.iter().map(|row| row.n).max().unwrap_or(0);
    let drawn = ["plan", "algorithm1", "mpi-native", "unordered"];
    let mut lines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
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
    let picture = Picture {
        caption: format!("strong scaling: allreduce of {largest} doubles"),
        x: "ranks",
        y: "milliseconds",
        lines,
    };
    picture.draw("bench-reduce-scaling.svg")
}

/// Draws `target/bench-schedules.svg`, each schedule's time against the transport's own allreduce by the length of a row (paper 2), and
/// returns where it is.
pub(super) fn schedules(rows: &[schedules::Row]) -> Result<PathBuf, Error> {
    let mut lines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    let ranks = rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    let of_paper_2 =
        |row: &&schedules::Row| (row.paper, row.ranks, row.block_elements) == (2, ranks, None);
    for row in rows.iter().filter(of_paper_2) {
        let line = lines.entry(&row.variant).or_default();
        // One that is slower by far would flatten all others.
        line.push(((row.n as f64).log10(), row.ratio.min(8.0)));
    }
    let picture = Picture {
        caption: format!("allreduce of a row on {ranks} ranks: time / the transport's own"),
        x: "log10 of the row's doubles",
        y: "ratio",
        lines,
    };
    picture.draw("bench-schedules.svg")
}

impl Picture<'_> {
    /// Draws into a file below `target/`.
    fn draw(self, name: &str) -> Result<PathBuf, Error> {
        let path = target()?.join(name);
        let drawn = self.draw_to(&path);
        drawn.map_err(|reason| Error::file(&path, reason))?;
        Ok(path)
    }

    fn draw_to(self, path: &Path) -> Result<(), String> {
        let points = || self.lines.values().flatten();
        let last = points().map(|point| point.0).fold(1.0, f64::max);
        let first = points().map(|point| point.0).fold(last, f64::min);
        let highest = points().map(|point| point.1).fold(0.1, f64::max);

        let failed = |error: DrawingAreaErrorKind<_>| error.to_string();
        let area = SVGBackend::new(path, (960, 600)).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.caption, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(first..last, 0.0..highest * 1.1)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .draw()
            .map_err(failed)?;
        for (index, (name, line)) in self.lines.into_iter().enumerate() {
            let colour = Palette99::pick(index).stroke_width(2);
            chart
                .draw_series(LineSeries::new(line, colour))
                .map_err(failed)?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE)
            .border_style(BLACK)
            .draw()
            .map_err(failed)?;
        area.present().map_err(failed)
    }
}
