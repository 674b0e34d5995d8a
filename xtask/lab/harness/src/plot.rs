//! Lines over two axes, as SVG: a sentence that says what is seen, and the name of each line at its end.
//!
//! Names stand beside the data, spread so that none is on another, and never over it: no picture has so many lines that it needs a legend.

mod axis;
mod frame;
mod labels;
mod methods;
mod panels;
mod record;
pub mod style;
pub mod svg;
mod traces;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use axis::{Axis, Scale};
pub use record::Record;

use crate::Error;
use frame::Frame;
use panels::Panels;

/// How a row of points is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// One point is joined to the next.
    #[default]
    Joined,
    /// Each by itself.
    Dots,
    /// Joined, thin and grey: a bound, or what would be ideal.
    Guide,
    /// The y of its one point, from edge to edge: a value to compare the others with.
    Level,
}

/// A named row of points, left to right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name, which stands at its end.
    pub name: String,
    /// How it is drawn.
    #[serde(default)]
    pub style: Style,
    /// Points (x, y).
    pub points: Vec<(f64, f64)>,
    /// How far each point may be off: its y from and to; as many as points, or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<(f64, f64)>,
}

impl Line {
    /// Whether it is there to compare the others with.
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

    /// Points that nothing joins.
    pub fn dots(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            style: Style::Dots,
            ..Self::new(name, points)
        }
    }

    /// A bound, or what would be ideal.
    pub fn guide(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            style: Style::Guide,
            ..Self::new(name, points)
        }
    }

    /// A value to compare the others with.
    pub fn level(name: impl Into<String>, y: f64) -> Self {
        Self {
            style: Style::Level,
            ..Self::new(name, vec![(0.0, y)])
        }
    }
}

/// How large a picture is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// As wide as a page.
    #[default]
    Page,
    /// Half as wide: two beside each other.
    Half,
    /// As wide as a page, and a panel for each method: what stands before the comma in the names of lines, which follow each other.
    Panels,
}

/// Lines over two axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// What is seen, as a sentence without its full stop.
    pub title: String,
    /// What is drawn: of what, measured, computed or simulated.
    pub subtitle: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// How large.
    #[serde(default)]
    pub size: Size,
    /// What is drawn; the first above the others.
    pub lines: Vec<Line>,
}

impl Plot {
    /// What it shows, for who cannot see it.
    pub fn words(&self) -> String {
        format!("{}: {}", self.title, self.subtitle)
    }

    /// Writes the picture to a file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        if self.size == Size::Panels {
            let panels = Panels::of(self);
            return svg::write(path, panels.size, &self.title, |area| panels.draw(area));
        }
        let frame = Frame::of(self);
        svg::write(path, frame.size, &self.title, |area| frame.draw(area))
    }
}
