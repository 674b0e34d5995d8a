//! The numbers of a measured picture, beside it: how it looks can change without measuring again.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Axis, Line, Plot, Size};
use crate::Error;

/// A plot of measurements, and where they are from: `NAME.json` beside `NAME.svg`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What measured, and on what.
    pub source: String,
    /// Everything that is drawn.
    #[serde(flatten)]
    pub plot: Plot,
}

/// A record's file but for its lines, which are a line of text each.
#[derive(Serialize)]
struct Head<'r> {
    source: &'r str,
    title: &'r str,
    subtitle: &'r str,
    x: &'r Axis,
    y: &'r Axis,
    size: Size,
}

impl Record {
    /// A record of these points; what is no whole number has five digits.
    pub fn new(source: String, mut plot: Plot) -> Self {
        let points = plot.lines.iter_mut();
        for (x, y) in points.flat_map(|line| line.points.iter_mut().chain(&mut line.bars)) {
            (*x, *y) = (rounded(*x), rounded(*y));
        }
        Self { source, plot }
    }

    /// Reads `path`, which ends in `.json`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
        serde_json::from_str(&text).map_err(|error| Error::file(path, error))
    }

    /// Writes the picture to `path`, which ends in `.svg`, and the record beside it.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let kept = path.with_extension("json");
        let text = self.text().map_err(|error| Error::file(&kept, error))?;
        fs::write(&kept, text).map_err(|error| Error::file(&kept, error))?;
        self.plot.write(path)
    }

    fn text(&self) -> Result<String, serde_json::Error> {
        let Plot {
            title,
            subtitle,
            x,
            y,
            lines,
            size,
        } = &self.plot;
        let head = serde_json::to_string_pretty(&Head {
            source: &self.source,
            title,
            subtitle,
            x,
            y,
            size: *size,
        })?;
        let lines: Vec<String> = lines
            .iter()
            .map(serde_json::to_string::<Line>)
            .collect::<Result<_, _>>()?;
        let head = head.trim_end_matches("\n}");
        Ok(format!(
            "{head},\n  \"lines\": [\n{}\n  ]\n}}\n",
            lines.join(",\n")
        ))
    }
}

fn rounded(value: f64) -> f64 {
    if value.fract().abs() > 0.0 {
        return format!("{value:.4e}").parse().unwrap_or(value);
    }
    value
}
