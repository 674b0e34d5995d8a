//! A page as it grows: text, tables, plots, and what was published beside what came out.

use std::fs;
use std::path::{Path, PathBuf};

use harness::Backend;
use harness::Error;
use harness::machine::Machine;
use harness::markdown;
use harness::plot::{Plot, Record, Style};
use serde::Serialize;

use crate::comparison::{Comparison, How};
use crate::{Context, Exhibit};

/// One line of `--json`.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Row {
    /// A comparison.
    Comparison {
        exhibit: &'static str,
        #[serde(flatten)]
        comparison: Comparison,
    },
    /// A point of a plot.
    Point {
        exhibit: &'static str,
        /// The plot's file.
        plot: String,
        line: String,
        x: f64,
        y: f64,
    },
}

/// An exhibit's page.
#[derive(Debug)]
pub struct Page {
    id: &'static str,
    folder: PathBuf,
    text: String,
    rows: Vec<Row>,
    /// On what its times were measured, if any were.
    machine: Option<String>,
}

impl Page {
    pub(super) fn new(exhibit: &Exhibit, folder: &Path) -> Self {
        let &Exhibit {
            id, paper, title, ..
        } = exhibit;
        let paper = paper.name();
        let text = format!(
            "# {paper}: {title}\n\nWritten by `cargo xtask papers --only {id}`. [All exhibits](README.md).\n"
        );
        Self {
            id,
            folder: folder.to_owned(),
            text,
            rows: Vec::new(),
            machine: None,
        }
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: impl AsRef<str>) {
        self.paragraph(format!("## {}", text.as_ref()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: impl AsRef<str>) {
        self.text += "\n";
        self.text += text.as_ref().trim_end();
        self.text += "\n";
    }

    /// Says on what the times of this page were measured.
    pub fn machine(&mut self, context: &Context<'_>, ranks: &str) {
        let backend = match context.place.backend() {
            Backend::Mpi => "processes under MPI",
            Backend::Threads => "threads of one process",
        };
        let Machine {
            processor,
            cores,
            level,
            ..
        } = Machine::here();
        let machine = format!(
            "Measured on {cores} cores ({processor}, {level}), ranks as {backend}: p = {ranks}."
        );
        self.paragraph(&machine);
        self.machine = Some(machine);
    }

    /// Adds a table, headings first.
    pub fn table<S: Into<String>>(
        &mut self,
        headings: impl IntoIterator<Item = S>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) {
        let mut table = markdown::Table::default();
        table.row(headings.into_iter().map(Into::into));
        for row in rows {
            table.row(row);
        }
        self.paragraph(table.text());
    }

    /// Adds a table of comparisons, which are also rows of JSON.
    pub fn compare(&mut self, comparisons: impl IntoIterator<Item = Comparison>) {
        let comparisons: Vec<Comparison> = comparisons.into_iter().collect();
        let told = |comparison: &Comparison| {
            let how = match comparison.how {
                How::Computed => "",
                How::Simulated => " (simulated)",
                How::Measured => " (measured)",
            };
            vec![
                comparison.what.clone(),
                comparison.published.to_string(),
                format!("{}{how}", comparison.ours),
                comparison.why.clone(),
            ]
        };
        self.table(
            ["what", "published", "ours", "why"],
            comparisons.iter().map(told),
        );
        let exhibit = self.id;
        self.rows
            .extend(comparisons.into_iter().map(|comparison| Row::Comparison {
                exhibit,
                comparison,
            }));
    }

    /// Draws a plot beside the page; `part` distinguishes several plots of a page, and may be empty. A measured plot's numbers stand beside it.
    pub fn plot(&mut self, part: &str, plot: Plot) -> Result<(), Error> {
        let file = match part {
            "" => format!("{}.svg", self.id),
            part => format!("{}-{part}.svg", self.id),
        };
        self.paragraph(format!("![{}]({file})", plot.words()));
        for line in plot.lines.iter().filter(|line| line.style != Style::Level) {
            self.rows
                .extend(line.points.iter().map(|&(x, y)| Row::Point {
                    exhibit: self.id,
                    plot: file.clone(),
                    line: line.name.clone(),
                    x,
                    y,
                }));
        }
        let path = self.folder.join(&file);
        match &self.machine {
            None => plot.write(&path),
            Some(machine) => {
                let source = format!("cargo xtask papers --only {}. {machine}", self.id);
                Record::new(source, plot).write(&path)
            }
        }
    }

    /// Writes the page.
    pub(super) fn finish(self) -> Result<Vec<Row>, Error> {
        let path = self.folder.join(format!("{}.md", self.id));
        fs::write(&path, &self.text).map_err(|error| Error::file(&path, error))?;
        Ok(self.rows)
    }
}
