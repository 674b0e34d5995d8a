//! Builds an exhibit's page: texts, tables, pictures, and comparisons with published values.
//!
//! An exhibit is written in three forms: as a separate page, with pictures; as a section of its paper's page in the book, with only the
//! comparisons and chosen pictures; and as rows of JSON.

use std::fmt::Display;
use std::path::Path;

use checkout::files;
use harness::Error;
use harness::markdown::{digits, table};
use harness::plot::{Axis, Line, Plot, Record, Size, Style};
use serde_json::{Value, json};

use crate::said::joined;
use crate::{Context, Exhibit};

/// A row of a table: a first cell, and cells of another type.
pub(crate) fn row<T: ToString>(first: impl Display, others: impl IntoIterator<Item = T>) -> String {
    format!("{first} | {}", joined(others, " | "))
}

/// Names of columns, one for each item.
pub(crate) fn columns<I, T: ToString>(
    items: impl IntoIterator<Item = I>,
    name: impl FnMut(I) -> T,
) -> String {
    joined(items.into_iter().map(name), " | ")
}

/// A quantity, its published value, our value, and a remark, such as why the values differ; then how our value was obtained.
type Comparison = ([String; 4], &'static str);

/// Reads a line of [`Page::compare`].
fn read(row: &str, how: &'static str) -> Comparison {
    let mut cells: Vec<String> = row.split(" |").map(|cell| cell.trim().to_owned()).collect();
    cells.resize(cells.len().max(4), String::new());
    let cells = cells.try_into();
    let cells = cells.unwrap_or_else(|_| panic!("{row}: what | published | ours | why"));
    (cells, how)
}

/// The content of a cell: a count, a number, nothing, or text.
fn typed(cell: &str) -> Value {
    match (cell, cell.parse::<u64>(), cell.parse::<f64>()) {
        ("–", ..) => Value::Null,
        (_, Ok(count), _) => count.into(),
        (_, _, Ok(number)) => number.into(),
        _ => cell.into(),
    }
}

/// A cell, in which a number that is not an integer has four digits.
fn shown(cell: &str) -> String {
    match (cell.parse::<u64>(), cell.parse()) {
        (Err(_), Ok(number)) => digits(number),
        _ => cell.to_owned(),
    }
}

#[derive(Debug)]
enum Block {
    /// A heading, a paragraph or a table.
    Text(String),
    Comparisons(Vec<Comparison>),
    Picture(String, Plot),
}

/// A page.
#[derive(Debug)]
pub(crate) struct Page {
    exhibit: Exhibit,
    /// The title of the exhibit.
    title: String,
    /// How the next comparisons were obtained.
    pub(crate) how: &'static str,
    /// The machine, if the exhibit was measured.
    machine: Option<String>,
    blocks: Vec<Block>,
}

impl Page {
    pub(crate) fn new(exhibit: Exhibit) -> Self {
        Self {
            exhibit,
            title: String::new(),
            how: exhibit.how,
            machine: None,
            blocks: Vec::new(),
        }
    }

    /// Sets the title of the exhibit.
    pub(crate) fn title(&mut self, title: &str) {
        self.title = title.to_owned();
    }

    /// Adds paragraphs or a heading.
    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// Sets the machine of measurements. The data of the page's pictures is then stored next to the pictures.
    pub(crate) fn measured_on(&mut self, context: &Context<'_>, ranks: &str) {
        let machine = context.machine(ranks);
        self.text(&*machine);
        self.machine = Some(machine);
    }

    /// Adds a table. Bars separate the names of columns, and the cells of a row.
    pub(crate) fn table(&mut self, columns: &str, rows: impl IntoIterator<Item = String>) {
        let head: Vec<String> = columns.split(" | ").map(str::to_owned).collect();
        let rows = rows.into_iter();
        let rows = rows.map(|row| row.split(" | ").map(shown).collect());
        self.text(table([head].into_iter().chain(rows), false).trim_end());
    }

    /// Adds published values next to ours, one per line: `what | published | ours`, and optionally ` | why` they differ.
    pub(crate) fn compare(&mut self, rows: impl AsRef<str>) {
        let how = self.how;
        let rows = rows.as_ref().trim().lines();
        let rows = rows.map(|row| read(row.trim(), how));
        match self.blocks.last_mut() {
            Some(Block::Comparisons(all)) => all.extend(rows),
            _ => self.blocks.push(Block::Comparisons(rows.collect())),
        }
    }

    /// Adds a picture. `part` distinguishes several on a page, and may be empty.
    pub(crate) fn draw(
        &mut self,
        part: &str,
        subtitle: impl Into<String>,
        x: Axis,
        y: Axis,
        lines: impl IntoIterator<Item = Line>,
    ) {
        let between = if part.is_empty() { "" } else { "-" };
        let file = format!("{}{between}{part}.svg", self.exhibit.id);
        let plot = Plot {
            title: self.title.clone(),
            subtitle: subtitle.into(),
            x,
            y,
            size: Size::Page,
            lines: lines.into_iter().collect(),
        };
        self.blocks.push(Block::Picture(file, plot));
    }

    fn last_plot(&mut self) -> &mut Plot {
        match self.blocks.last_mut() {
            Some(Block::Picture(_, plot)) => plot,
            _ => panic!("{}: nothing was drawn", self.exhibit.id),
        }
    }

    /// Sets the title of the last picture, a sentence.
    pub(crate) fn says(&mut self, title: impl Into<String>) {
        self.last_plot().title = title.into();
    }

    /// Draws the last picture with a panel for each method.
    pub(crate) fn in_panels(&mut self) {
        self.last_plot().size = Size::Panels;
    }

    /// Writes the page and its pictures.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        let (id, paper, title) = (self.exhibit.id, self.exhibit.paper.name, &self.title);
        let head = format!("# {paper}: {title}\n\nWritten by `cargo xtask papers --only {id}`.");
        let text = self.put_together(head, folder, |_| true)?;
        Ok(files::write(&folder.join(format!("{id}.md")), text)?)
    }

    /// Writes the section of the paper's page in this folder: the comparisons and the paper's chosen pictures.
    pub(crate) fn summarise(&self, folder: &Path) -> Result<(), Error> {
        let Exhibit { id, paper, how, .. } = self.exhibit;
        let heading = format!("## {}\n", self.title);
        let how = format!("{}{}.", how[..1].to_uppercase(), &how[1..]);
        let head = format!(
            "{heading}\n`{id}`. {}",
            self.machine.as_ref().unwrap_or(&how)
        );
        let section = self.put_together(head, folder, |block| match block {
            Block::Text(_) => false,
            Block::Comparisons(_) => true,
            Block::Picture(file, _) => paper.pictures.contains(&&**file),
        })?;
        let path = folder.join(paper.page());
        let text = if path.exists() {
            files::read(&path)?
        } else {
            format!("# {}\n", paper.name)
        };
        Ok(files::write(
            &path,
            with_section(&text, &heading, &section),
        )?)
    }

    /// Returns a head and the shown blocks as text and draws their pictures to a folder.
    fn put_together(
        &self,
        head: String,
        folder: &Path,
        is_shown: impl Fn(&Block) -> bool,
    ) -> Result<String, Error> {
        let mut text = head;
        for block in self.blocks.iter().filter(|block| is_shown(block)) {
            text += "\n\n";
            match block {
                Block::Text(own) => text += own,
                Block::Comparisons(comparisons) => text += &compared(comparisons),
                Block::Picture(file, plot) => {
                    text += &format!("![{}]({file})", plot.words());
                    let (id, path) = (self.exhibit.id, folder.join(file));
                    let Some(machine) = &self.machine else {
                        plot.write(&path)?;
                        continue;
                    };
                    let source = format!("cargo xtask papers --only {id}. {machine}");
                    Record::new(source, plot.clone()).write(&path)?;
                }
            }
        }
        Ok(text + "\n")
    }

    /// Returns every comparison, and every point of lines that are not references, as JSON.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let exhibit = self.exhibit.id;
        let mut rows = Vec::new();
        for block in &self.blocks {
            match block {
                Block::Text(_) => {}
                Block::Comparisons(all) => {
                    rows.extend(all.iter().map(|([what, published, ours, why], how)| {
                        let (published, ours) = (typed(published), typed(ours));
                        json!({
                            "exhibit": exhibit, "what": what, "published": published, "ours": ours, "how": how, "why": why,
                        })
                    }));
                }
                Block::Picture(plot, Plot { lines, .. }) => {
                    for line in lines.iter().filter(|line| line.style != Style::Level) {
                        rows.extend(line.points.iter().map(|(x, y)| {
                            json!({ "exhibit": exhibit, "plot": plot, "line": line.name, "x": x, "y": y })
                        }));
                    }
                }
            }
        }
        rows
    }
}

/// Returns the page with the section below this heading replaced, or with a new last section.
fn with_section(page: &str, heading: &str, section: &str) -> String {
    match page.split_once(&format!("\n{heading}")) {
        None => format!("{page}\n{section}"),
        Some((before, after)) => match after.find("\n## ") {
            None => format!("{before}\n{section}"),
            Some(end) => format!("{before}\n{section}{}", &after[end..]),
        },
    }
}

fn compared(comparisons: &[Comparison]) -> String {
    let head = ["what", "published", "ours", "why"].map(str::to_owned);
    let rows = comparisons
        .iter()
        .map(|([what, published, ours, why], how)| {
            let how = match *how {
                "computed" => String::new(),
                how => format!(" ({how})"),
            };
            let ours = shown(ours) + &how;
            [what.clone(), shown(published), ours, why.clone()]
        });
    // Columns that mostly contain numbers are aligned to the right.
    let rule = |column: usize| {
        let is_number = |row: &&Comparison| {
            let cell = &row.0[column];
            cell.starts_with(|first: char| first.is_ascii_digit() || first == '–')
        };
        let numbers = comparisons.iter().filter(is_number).count();
        if 2 * numbers > comparisons.len() {
            "--:"
        } else {
            "---"
        }
    };
    let rules = format!("|---|{}|{}|---|", rule(1), rule(2));
    let text = table([head].into_iter().chain(rows), false);
    text.trim_end().replacen("|---|---|---|---|", &rules, 1)
}

#[cfg(test)]
mod tests {
    use super::{shown, typed, with_section};

    #[test]
    fn cells_have_types() {
        let read = ["640", "640.0", "6.4e-12", "–", "9 of 9"].map(typed);
        let expected = serde_json::json!([640, 640.0, 6.4e-12, null, "9 of 9"]);
        assert_eq!(serde_json::Value::from(read.to_vec()), expected);
        let shown = ["21410970", "1083.44", "–", "9 of 9"].map(shown);
        assert_eq!(shown, ["21410970", "1083", "–", "9 of 9"]);
    }

    #[test]
    fn a_section_takes_the_place_of_the_one_before() {
        let page = "# Paper\n\n## A\n\nold\n\n## B\n\nother\n";
        let with = |heading, section| with_section(page, heading, section);
        let new = page.replace("old", "new");
        assert_eq!(with("## A\n", "## A\n\nnew\n"), new);
        assert_eq!(with("## B\n", "## B\n"), "# Paper\n\n## A\n\nold\n\n## B\n");
        assert_eq!(with("## C\n", "## C\n"), format!("{page}\n## C\n"));
    }
}
