//! Draws line plots as SVG, with a title that states the result and the name of each line at the line's end.
//!
//! Names are next to the data, and overlap neither each other nor the data. Pictures have few lines, so they need no legend.

mod axis;
mod frame;
mod methods;
pub mod style;
pub mod svg;
mod traces;

use std::mem;
use std::path::Path;

use checkout::files;
use serde::{Deserialize, Serialize};

pub use axis::{Axis, Scale};

use crate::Error;
use frame::Frame;

/// How a row of points is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// One point is joined to the next.
    #[default]
    Joined,
    /// Separate points.
    Dots,
    /// Joined, thin and grey: a bound or an ideal.
    Guide,
    /// A horizontal line at the y of its only point, a value with which other lines are compared.
    Level,
}

/// A named line of points, from left to right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The line's name, drawn at its end.
    pub name: String,
    /// How the line is drawn.
    #[serde(default)]
    pub style: Style,
    /// Points (x, y).
    pub points: Vec<(f64, f64)>,
    /// The least and greatest y of each point's error bar. There are as many bars as points, or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<(f64, f64)>,
}

/// The least and the greatest of some values.
pub fn extremes(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(none, |(least, most), value| {
        (least.min(value), most.max(value))
    })
}

impl Line {
    /// Whether the line is a reference for other lines.
    pub fn is_reference(&self) -> bool {
        matches!(self.style, Style::Guide | Style::Level)
    }

    /// A line without bars.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            style: Style::Joined,
            points,
            bars: Vec::new(),
        }
    }

    fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// A line of separate points.
    pub fn dots(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, points).styled(Style::Dots)
    }

    /// A line for a bound or an ideal.
    pub fn guide(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, points).styled(Style::Guide)
    }

    /// A horizontal line at a value with which other lines are compared.
    pub fn level(name: impl Into<String>, y: f64) -> Self {
        Self::new(name, vec![(0.0, y)]).styled(Style::Level)
    }
}

/// How large a picture is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// As wide as a page.
    #[default]
    Page,
    /// Half as wide as a page, for two pictures side by side.
    Half,
    /// As wide as a page, with a panel for each method. A line's name up to the comma is its method. A method's lines must be consecutive.
    Panels,
}

/// Lines over two axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// The result, as a sentence without a full stop.
    pub title: String,
    /// What the data are, and whether they were measured, computed or simulated.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The size.
    #[serde(default)]
    pub size: Size,
    /// The lines; the first is drawn above the others.
    pub lines: Vec<Line>,
}

impl Plot {
    /// The alternative text.
    pub fn words(&self) -> String {
        format!("{}: {}", self.title, self.subtitle)
    }

    /// Writes the picture to a file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        if self.size == Size::Panels {
            return frame::write_panels(self, path);
        }
        let frame = Frame::of(self);
        svg::write(path, frame.size, &self.title, |area| frame.draw(area))
    }
}

/// A plot of measurements with their source: `NAME.json` next to `NAME.svg`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The command and the machine.
    pub source: String,
    /// The plot.
    #[serde(flatten)]
    pub plot: Plot,
}

impl Record {
    /// A record of these points; fractions are rounded to five digits.
    pub fn new(source: String, mut plot: Plot) -> Self {
        let points = plot.lines.iter_mut();
        for (x, y) in points.flat_map(|line| line.points.iter_mut().chain(&mut line.bars)) {
            (*x, *y) = (rounded(*x), rounded(*y));
        }
        Self { source, plot }
    }

    /// Reads `path`, which ends in `.json`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let read = serde_json::from_str(&files::read(path)?);
        let read: Self = read.map_err(|error| Error::file(path, error))?;
        Ok(Self::new(read.source, read.plot))
    }

    /// Writes the picture to `path`, which ends in `.svg`, and the record next to it.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let kept = path.with_extension("json");
        let text = self.text().map_err(|error| Error::file(&kept, error))?;
        files::write(&kept, text)?;
        self.plot.write(path)
    }

    /// JSON with a line of text for each line of the plot.
    fn text(&self) -> Result<String, serde_json::Error> {
        let mut head = self.clone();
        let lines = mem::take(&mut head.plot.lines);
        with_rows(&head, "lines", &lines)
    }
}

/// The JSON of a record, with a line of text for each row. `name` is that of the list of rows, which is empty in `head`.
pub(crate) fn with_rows<R: Serialize>(
    head: &impl Serialize,
    name: &str,
    rows: &[R],
) -> Result<String, serde_json::Error> {
    let rows: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
    let rows = format!("\"{name}\": [\n{}\n  ]", rows?.join(",\n"));
    let head = serde_json::to_string_pretty(head)?;
    Ok(head.replace(&format!("\"{name}\": []"), &rows) + "\n")
}

fn rounded(value: f64) -> f64 {
    if value.fract().abs() > 0.0 {
        return format!("{value:.4e}").parse().unwrap_or(value);
    }
    value
}
