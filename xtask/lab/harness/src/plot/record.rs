//! The numbers of a measured picture, beside it: how it looks can change without measuring again.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Plot;
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
        let read: Self = serde_json::from_str(&text).map_err(|error| Error::file(path, error))?;
        Ok(Self::new(read.source, read.plot))
    }

    /// Writes the picture to `path`, which ends in `.svg`, and the record beside it.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let kept = path.with_extension("json");
        let text = self.text().map_err(|error| Error::file(&kept, error))?;
        fs::write(&kept, text).map_err(|error| Error::file(&kept, error))?;
        self.plot.write(path)
    }

    /// JSON with a line of text for each line of the plot.
    fn text(&self) -> Result<String, serde_json::Error> {
        let mut head = self.clone();
        let lines: Result<Vec<String>, _> = head
            .plot
            .lines
            .drain(..)
            .map(|line| serde_json::to_string(&line))
            .collect();
        let lines = format!("\"lines\": [\n{}\n  ]", lines?.join(",\n"));
        let head = serde_json::to_string_pretty(&head)?;
        Ok(head.replace("\"lines\": []", &lines) + "\n")
    }
}

fn rounded(value: f64) -> f64 {
    if value.fract().abs() > 0.0 {
        return format!("{value:.4e}").parse().unwrap_or(value);
    }
    value
}
