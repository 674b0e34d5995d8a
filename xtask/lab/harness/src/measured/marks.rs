//! Rewrites the parts of pages that come from records: those between `<!-- measured: FILE?QUERY -->` and `<!-- end -->`.
//!
//! FILE is a path from the root of the checkout, and [`query`](super::query) describes QUERY. Words stay in the line of the comments. A table
//! gets separate lines.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use checkout::files;

use super::query::Source;
use crate::Error;

const BEGIN: &str = "<!-- measured: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// A cache of records.
#[derive(Debug)]
pub struct Records {
    root: PathBuf,
    known: HashMap<String, Source>,
}

impl Records {
    /// The records below the root of a checkout.
    pub fn of(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            known: HashMap::new(),
        }
    }

    fn answer(&mut self, address: &str) -> Result<String, String> {
        let parts = address.split_once('?');
        let (file, query) = parts.ok_or("has no `?`")?;
        if !self.known.contains_key(file) {
            let text = files::read(&self.root.join(file)).map_err(|error| error.to_string())?;
            self.known.insert(file.to_owned(), Source::parse(&text)?);
        }
        self.known[file].answer(query)
    }
}

/// Rewrites the marked parts of a page. Returns the page, and the number of these parts.
pub fn filled(page: &str, records: &mut Records) -> Result<(String, usize), String> {
    let (mut text, mut rest, mut count) = (String::new(), page, 0);
    while let Some((before, marked)) = rest.split_once(BEGIN) {
        let (address, marked) = marked
            .split_once(CLOSE)
            .ok_or_else(|| format!("`{BEGIN}` without `{CLOSE}`"))?;
        let fault = |reason: String| format!("`{address}`: {reason}");
        let own = marked.split_once(END);
        let own = own.filter(|(old, _)| !old.contains(BEGIN));
        let (_, after) = own.ok_or_else(|| fault(format!("no `{END}`")))?;
        let answer = records.answer(address).map_err(fault)?;
        text += before;
        let is_table = answer.ends_with('\n');
        let mut lines = text.rsplit('\n');
        if !is_table && lines.next().is_none_or(|line| line.trim().is_empty()) {
            // Markdown treats a line that begins with a comment as HTML.
            return Err(fault("words must not begin a line".to_owned()));
        }
        let line_break = if is_table { "\n" } else { "" };
        text += &format!("{BEGIN}{address}{CLOSE}{line_break}{answer}{END}");
        rest = after;
        count += 1;
    }
    Ok((text + rest, count))
}

/// The book's front page: README without its last section, with links relative to `docs/`, and the page's own last section.
pub fn front_page(readme: &str, page: &str) -> Option<String> {
    let (shared, _) = readme.split_once("\n## More\n")?;
    let own = page.find("\n## This book\n")?;
    let shared = shared.replace("](docs/", "](");
    Some(shared.replace("src=\"docs/", "src=\"") + &page[own..])
}

/// The pages of a checkout that may have marks, by name.
pub fn pages(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut pages = files::with_extension(&root.join("docs"), "md")?;
    pages.push(root.join("README.md"));
    pages.sort();
    Ok(pages)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::fs;

    use super::{Records, filled};

    /// Only errors are tested here; tests of crate `documents` compare the pages with records.
    #[test]
    fn marks_that_are_none() {
        let folder = std::env::temp_dir().join(format!("treefold-marks-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let text = r#"{"rows": [{"variant": "a", "n": 1, "ns": 5.0}]}"#;
        fs::write(folder.join("r.json"), text).unwrap();
        let mut records = Records::of(folder);
        for (page, reason) in [
            ("a <!-- measured: r.json", "without ` -->`"),
            ("a <!-- measured: r.json?value=ns -->5", "no `<!-- end -->`"),
            (
                "a <!-- measured: r.json?value=ns --> <!-- measured: r.json?value=ns -->5<!-- end -->",
                "no `<!-- end -->`",
            ),
            ("a <!-- measured: r.json -->5<!-- end -->", "has no `?`"),
            ("a <!-- measured: s.json?about -->5<!-- end -->", "s.json"),
            (
                "a <!-- measured: r.json?value=ns&variant=c -->5<!-- end -->",
                "no row",
            ),
            (
                "- a\n  <!-- measured: r.json?value=ns -->5<!-- end -->",
                "must not begin a line",
            ),
        ] {
            let error = filled(page, &mut records).unwrap_err();
            assert!(error.contains(reason), "{page}: {error}");
        }
    }
}
