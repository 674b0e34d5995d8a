//! The text of an exhibit's page, and what it is with its holes filled.
//!
//! Empty lines part its blocks. A line that begins with two spaces goes on with the one before.
//!
//! ```text
//! A paragraph with {a value}, with {two decimal places:.2}, and with {commas between thousands:,}.
//!
//! | a table of | {some columns} |
//! {its rows}
//!
//! what | published | simulated | why
//! what is compared | what was published, or – | {ours} | why they differ
//!
//! ![What is seen, as a sentence](part)
//! What is drawn
//! x decades: row, elements
//! y linear: time over the other's, ratio
//! panels
//! ```
//!
//! The last line of a picture, `panels`, is there where the lines of each method have a panel of their own.
//! What stands between the lines `{each case}` and `{end}` is there for each of the cases that have this name.

use harness::plot::{Axis, Plot, Size};
use serde::Serialize;

use crate::values::{Value, Values};

/// A part of a page.
#[derive(Debug)]
pub(super) enum Block {
    /// A heading, a paragraph or a table.
    Text(String),
    /// Rows of a table, which are also rows of JSON.
    Comparisons(Vec<Comparison>),
    /// A picture; its part distinguishes several of a page, and may be empty.
    Plot { part: String, plot: Plot },
}

/// Something that was published, and the same of ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Comparison {
    pub(super) what: String,
    pub(super) published: Value,
    pub(super) ours: Value,
    /// How ours came about: `computed`, the same on every machine; `simulated`, of a machine that is not here; `measured`, here.
    pub(super) how: String,
    /// Why they differ, or what is to be said of it.
    pub(super) why: String,
}

/// The blocks of a text.
pub(super) fn blocks(text: &str, values: &Values) -> Vec<Block> {
    for mark in values.marks() {
        assert!(text.contains(&mark), "the text has no {mark}…");
    }
    let text = text.replace("\n  ", " ");
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    repeat(&lines, &[values], &mut all);
    let blocks = all.split(|words| words.text.is_empty());
    let blocks = blocks.filter(|block| !block.is_empty());
    blocks.map(block).collect()
}

/// A line, and what its holes may stand for: the innermost case's last.
struct Words<'t> {
    text: &'t str,
    scopes: Vec<&'t Values>,
}

/// The lines of a text, those of each case as often as there are cases.
fn repeat<'t>(lines: &[&'t str], scopes: &[&'t Values], all: &mut Vec<Words<'t>>) {
    let mut rest = lines;
    while let [line, after @ ..] = rest {
        rest = after;
        let case = line.strip_prefix("{each ");
        let Some(name) = case.and_then(|name| name.strip_suffix('}')) else {
            let scopes = scopes.to_vec();
            all.push(Words { text: line, scopes });
            continue;
        };
        let (body, beyond) = after.split_at(end_of(after));
        let is_whole = all.last().is_none_or(|words| words.text.is_empty());
        for case in scopes.iter().flat_map(|values| values.each(name)) {
            repeat(body, &[scopes, &[case]].concat(), all);
            if is_whole {
                // Cases of whole blocks are blocks of their own.
                repeat(&[""], scopes, all);
            }
        }
        rest = &beyond[1..];
    }
}

/// How many lines there are before the `{end}` of what has begun.
fn end_of(lines: &[&str]) -> usize {
    let mut begun = 1;
    let is_last = |line: &&str| {
        begun += usize::from(line.starts_with("{each "));
        begun -= usize::from(*line == "{end}");
        begun == 0
    };
    lines
        .iter()
        .position(is_last)
        .expect("every case has an end")
}

fn block(lines: &[Words<'_>]) -> Block {
    let (first, rest) = (&lines[0], &lines[1..]);
    if let Some(how) = first.text.strip_prefix("what | published | ") {
        let how = how.trim_end_matches(" | why");
        let rows = rest.iter().map(|row| row.comparison(how));
        return Block::Comparisons(rows.collect());
    }
    if let Some((title, part)) = picture(first.text) {
        let part = first.fill(part);
        let [subtitle, x, y, size @ ..] = rest else {
            panic!("{title}: a subtitle and two axes");
        };
        let lines = first.scopes.iter().rev();
        let lines = lines.into_iter().find_map(|values| values.lines(&part));
        let plot = Plot {
            title: first.fill(title),
            subtitle: subtitle.fill(subtitle.text),
            x: x.axis("x "),
            y: y.axis("y "),
            lines: lines.unwrap_or_else(|| panic!("{title}: no lines")).clone(),
            size: match size {
                [] => Size::Page,
                [size] if size.text == "panels" => Size::Panels,
                _ => panic!("{title}: a picture has four lines, or panels"),
            },
        };
        return Block::Plot { part, plot };
    }
    let mut lines: Vec<String> = lines.iter().map(|line| line.fill(line.text)).collect();
    if lines[0].starts_with('|') {
        let columns = lines[0].matches(" | ").count() + 1;
        lines.insert(1, format!("|{}", "---|".repeat(columns)));
    }
    Block::Text(lines.join("\n"))
}

/// The title and the part of a picture.
fn picture(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("![")?;
    line.strip_suffix(')')?.rsplit_once("](")
}

impl Words<'_> {
    fn fill(&self, text: &str) -> String {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let (hole, after) = after.split_once('}').expect("every hole has an end");
            let (name, format) = hole.split_once(':').unwrap_or((hole, ""));
            filled += before;
            filled += &self.value(name).shown(format);
            rest = after;
        }
        filled + rest
    }

    fn value(&self, name: &str) -> &Value {
        let mut scopes = self.scopes.iter().rev();
        let value = scopes.find_map(|values| values.value(name));
        value.unwrap_or_else(|| panic!("nothing fills {{{name}}}"))
    }

    /// What a cell says, with the type of the value that fills it.
    fn cell(&self, text: &str) -> Value {
        let hole = text
            .strip_prefix('{')
            .and_then(|hole| hole.strip_suffix('}'));
        match hole {
            Some(name) if !name.contains(['{', ':']) => self.value(name).clone(),
            _ if text.contains('{') => self.fill(text).into(),
            _ => Value::read(text),
        }
    }

    fn comparison(&self, how: &str) -> Comparison {
        let cells: Vec<&str> = self.text.split(" | ").collect();
        let (what, published, ours, why) = match cells[..] {
            [what, published, ours] => (what, published, ours, ""),
            [what, published, ours, why] => (what, published, ours, why),
            _ => panic!("{}: what, published, ours, why", self.text),
        };
        Comparison {
            what: self.fill(what),
            published: self.cell(published),
            ours: self.cell(ours),
            how: how.to_owned(),
            why: self.fill(why),
        }
    }

    fn axis(&self, which: &str) -> Axis {
        let axis = self.text.strip_prefix(which);
        let (scale, name) = axis
            .and_then(|axis| axis.split_once(": "))
            .expect("an axis");
        let new = match scale {
            "linear" => Axis::linear,
            "decades" => Axis::decades,
            "doublings" => Axis::doublings,
            _ => panic!("an axis is not {scale}"),
        };
        new(self.fill(name))
    }
}

#[cfg(test)]
mod tests {
    use harness::plot::{Axis, Line};

    use super::{Block, blocks};
    use crate::values::{Value, Values, cells, row};

    #[test]
    fn holes_are_filled_block_by_block() {
        let text = "\
Of {items:,} items
  {share:.2} each.

{each rank}
## Rank {rank}

| of {rank} | {columns} |
{rows}

{end}
what | published | measured | why
{each rank}
time of {rank} | 2.50 | {time} | as {share}
{end}
ranks | – | {ranks} of them

![{ranks} ranks](part)
Below {items:,}
x doublings: p, ranks
y linear: time, ns";
        let mut values = Values::default();
        values.set("items", 1_000_000_usize).set("share", 0.125);
        values.set("ranks", 2_u64);
        for rank in ["one", "two"] {
            let case = values.case("rank");
            case.set("rank", rank).set("time", 7.25);
            case.cells("columns", ["a", "b"], |name| name);
            let rows = [cells![1_usize, true, 0.5], row("x", [1.5, 2.0])];
            case.rows("rows", rows, |row| row);
        }
        values.draw("part", [Line::new("line", vec![(1.0, 2.0)])]);
        let blocks = blocks(text, &values);
        let texts = blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let table = |of: &str| {
            format!("| of {of} | a | b |\n|---|---|---|\n| 1 | yes | 0.5 |\n| x | 1.5 | 2 |")
        };
        let expected = [
            "Of 10^6 items 0.12 each.",
            "## Rank one",
            &table("one"),
            "## Rank two",
            &table("two"),
        ];
        assert_eq!(texts.collect::<Vec<_>>(), expected);
        let [.., Block::Comparisons(rows), Block::Plot { part, plot }] = &blocks[..] else {
            panic!("{blocks:?}");
        };
        assert_eq!((rows.len(), part.as_str()), (3, "part"));
        assert_eq!(
            (rows[1].what.as_str(), rows[1].why.as_str()),
            ("time of two", "as 0.125")
        );
        assert_eq!(
            (&rows[1].published, &rows[1].ours),
            (&Value::Number(2.5), &Value::Number(7.25))
        );
        assert_eq!(
            (&rows[2].published, &rows[2].ours),
            (&Value::None, &"2 of them".into())
        );
        assert_eq!(plot.words(), "2 ranks: Below 10^6");
        assert_eq!(plot.x, Axis::doublings("p, ranks"));
    }

    #[test]
    #[should_panic(expected = "nothing fills {b}")]
    fn a_hole_is_not_left_empty() {
        blocks("{b}", &Values::default());
    }

    #[test]
    #[should_panic(expected = "the text has no {b")]
    fn no_value_is_left_over() {
        blocks("text", Values::default().set("b", 1_u64));
    }
}
