//! Lines over an axis, as SVG.

use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use crate::Error;
use crate::markdown::trimmed;

/// The size of a picture, in pixels.
const SIZE: (u32, u32) = (960, 600);

/// An axis of a picture.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it measures, and in which unit.
    pub name: String,
    /// Whether equal ratios are equally far apart.
    pub is_logarithmic: bool,
}

impl Axis {
    /// An axis on which equal differences are equally far apart, from 0 if it is upright.
    pub fn linear(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            is_logarithmic: false,
        }
    }

    /// An axis on which equal ratios are equally far apart; values above 0 alone can be drawn.
    pub fn logarithmic(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            is_logarithmic: true,
        }
    }

    /// From the least to the greatest value, with room beyond it.
    fn range(&self, values: impl Iterator<Item = f64> + Clone, from_zero: bool) -> (f64, f64) {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let greatest = values.fold(f64::NEG_INFINITY, f64::max);
        match (least.is_finite(), self.is_logarithmic) {
            (false, _) => (1.0, 2.0),
            (true, true) if from_zero => (least / 1.5, greatest * 1.5),
            (true, false) if from_zero => (least.min(0.0), greatest.max(0.1) * 1.1),
            (true, _) if least < greatest => (least, greatest),
            (true, true) => (least / 2.0, greatest * 2.0),
            (true, false) => (least - 1.0, greatest + 1.0),
        }
    }
}

/// A named row of points, left to right.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Points (x, y).
    pub points: Vec<(f64, f64)>,
    /// How far each point may be off: its y from and to; as many as points, or none.
    pub bars: Vec<(f64, f64)>,
}

impl Line {
    /// A line without bars.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            bars: Vec::new(),
        }
    }
}

/// Lines over two axes.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What is shown.
    pub caption: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// What is drawn, in the order of the legend.
    pub lines: Vec<Line>,
}

impl Plot {
    /// Writes the picture to a file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let drawn = self.draw(path);
        drawn.map_err(|reason| Error::file(path, reason))
    }

    fn draw(&self, path: &Path) -> Result<(), String> {
        let xs = self.lines.iter().flat_map(|line| &line.points);
        let x = self.x.range(xs.map(|point| point.0), false);
        let points = self.lines.iter().flat_map(|line| &line.points);
        let bars = self.lines.iter().flat_map(|line| &line.bars);
        let ys = points.map(|point| point.1);
        let ys = ys.chain(bars.flat_map(|bar| [bar.0, bar.1]));
        let ys = ys.filter(|&y| y > 0.0 || !self.y.is_logarithmic);
        let y = self.y.range(ys, true);
        let area = SVGBackend::new(path, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        match (self.x.is_logarithmic, self.y.is_logarithmic) {
            (false, false) => self.draw_over(&area, x.0..x.1, y.0..y.1),
            (false, true) => self.draw_over(&area, x.0..x.1, (y.0..y.1).log_scale()),
            (true, false) => self.draw_over(&area, (x.0..x.1).log_scale(), y.0..y.1),
            (true, true) => self.draw_over(&area, (x.0..x.1).log_scale(), (y.0..y.1).log_scale()),
        }?;
        area.present().map_err(|error| error.to_string())
    }

    fn draw_over<X, Y>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        x: X,
        y: Y,
    ) -> Result<(), String>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let failed = |error: DrawingAreaErrorKind<_>| error.to_string();
        let mut chart = ChartBuilder::on(area)
            .caption(&self.caption, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d(x, y)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .x_desc(&self.x.name)
            .y_desc(&self.y.name)
            .x_label_formatter(&|value| label(*value))
            .y_label_formatter(&|value| label(*value))
            .draw()
            .map_err(failed)?;
        for (index, line) in self.lines.iter().enumerate() {
            let colour = Palette99::pick(index).stroke_width(2);
            let bars = line.points.iter().zip(&line.bars);
            let bars = bars.map(|(&(x, _), &(low, high))| {
                PathElement::new([(x, low), (x, high)], colour.stroke_width(1))
            });
            chart.draw_series(bars).map_err(failed)?;
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), colour))
                .map_err(failed)?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()
            .map_err(failed)
    }
}

/// What an axis says of a value.
fn label(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 || (size < 1e-3 && size > 0.0) {
        let text = format!("{value:.3e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    trimmed(&format!("{value:.3}")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn labels_have_no_more_places_than_they_need() {
        for (value, text) in [
            (0.0, "0"),
            (100.0, "100"),
            (0.25, "0.25"),
            (1e6, "1e6"),
            (2.5e7, "2.5e7"),
            (1.000_000_000_000_000_2e-14, "1e-14"),
        ] {
            assert_eq!(label(value), text);
        }
    }
}
