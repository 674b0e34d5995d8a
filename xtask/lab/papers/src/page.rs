//! A page as it is written: its text, its pictures, and both as rows of JSON.

use std::fs;
use std::path::Path;

use harness::Error;
use harness::markdown;
use harness::plot::{Record, Style};
use serde::Serialize;

use crate::Exhibit;
use crate::text::{Block, Comparison, blocks};
use crate::values::Values;

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

/// Writes an exhibit's page and its pictures into a folder. A measured picture's numbers stand beside it.
pub(super) fn write(exhibit: &Exhibit, values: &Values, folder: &Path) -> Result<Vec<Row>, Error> {
    let &Exhibit {
        id, paper, title, ..
    } = exhibit;
    let mut page = vec![
        format!("# {}: {title}", paper.name),
        format!("Written by `cargo xtask papers --only {id}`. [All exhibits](README.md)."),
    ];
    let mut rows = Vec::new();
    for block in blocks(exhibit.text, values) {
        match block {
            Block::Text(text) => page.push(text),
            Block::Comparisons(comparisons) => {
                page.push(table(&comparisons));
                rows.extend(comparisons.into_iter().map(|comparison| Row::Comparison {
                    exhibit: id,
                    comparison,
                }));
            }
            Block::Plot { part, plot } => {
                let file = match &*part {
                    "" => format!("{id}.svg"),
                    part => format!("{id}-{part}.svg"),
                };
                page.push(format!("![{}]({file})", plot.words()));
                for line in plot.lines.iter().filter(|line| line.style != Style::Level) {
                    rows.extend(line.points.iter().map(|&(x, y)| Row::Point {
                        exhibit: id,
                        plot: file.clone(),
                        line: line.name.clone(),
                        x,
                        y,
                    }));
                }
                let path = folder.join(file);
                match values.value("machine") {
                    None => plot.write(&path)?,
                    Some(machine) => {
                        let source = format!("cargo xtask papers --only {id}. {machine}");
                        Record::new(source, plot).write(&path)?;
                    }
                }
            }
        }
    }
    let path = folder.join(format!("{id}.md"));
    let text = page.join("\n\n") + "\n";
    fs::write(&path, text).map_err(|error| Error::file(&path, error))?;
    Ok(rows)
}

/// What was published beside ours.
fn table(comparisons: &[Comparison]) -> String {
    let mut table = markdown::Table::default();
    table.row(["what", "published", "ours", "why"].map(str::to_owned));
    for comparison in comparisons {
        let how = match &*comparison.how {
            "computed" => String::new(),
            how => format!(" ({how})"),
        };
        table.row([
            comparison.what.clone(),
            comparison.published.to_string(),
            format!("{}{how}", comparison.ours),
            comparison.why.clone(),
        ]);
    }
    table.text().trim_end().to_owned()
}
