//! A picture of the kernels: speed against the unordered sum, by length.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plotters::prelude::*;

use super::Row;
use crate::error::Error;
use crate::mpi::target;

/// Draws `target/bench-kernels.svg` and returns where it is.
pub(super) fn kernels(rows: &[Row]) -> Result<PathBuf, Error> {
    let path = target()?.join("bench-kernels.svg");
    draw(rows, &path).map_err(|reason| Error::file(&path, reason))?;
    Ok(path)
}

fn draw(rows: &[Row], path: &PathBuf) -> Result<(), String> {
    let mut lines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in rows {
        let drawn = row.variant.starts_with("streaming") || row.variant.starts_with("algorithm4");
        if drawn && row.reference == "unordered-simd" {
            let line = lines.entry(&row.variant).or_default();
            line.push(((row.n as f64).log2(), row.ratio));
        }
    }
    let points = || lines.values().flatten();
    let last = points().map(|point| point.0).fold(1.0, f64::max);
    let first = points().map(|point| point.0).fold(last, f64::min);

    let failed = |error: DrawingAreaErrorKind<_>| error.to_string();
    let area = SVGBackend::new(path, (960, 600)).into_drawing_area();
    area.fill(&WHITE).map_err(failed)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(
            "speed / fastest unordered SIMD sum at the same level",
            ("sans-serif", 18),
        )
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(first..last, 0.0..1.5)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc("log2 N")
        .y_desc("ratio")
        .draw()
        .map_err(failed)?;
    for (index, (name, line)) in lines.into_iter().enumerate() {
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
