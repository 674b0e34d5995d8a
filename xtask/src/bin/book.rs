//! Builds `docs/` as HTML in `target/book`, by mdBook's library; `cargo xtask book` starts this program. `mdbook build docs` does the same,
//! except for the docstrings of the Python package and the links to rustdoc's pages and to the repository.

#![expect(clippy::print_stdout, reason = "it prints where the book is")]

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use checkout::workspace::{REPOSITORY, workspace};
use mdbook_driver::MDBook;
use mdbook_driver::book::BookItem;
use mdbook_driver::errors::{Error, Result};

use xtask::book::{CRATES, LAST_WORD};

/// Comments on pages. In the HTML, a link to the crates' documentation replaces the first, and Python's docstrings replace the second.
const OF_RUST: &str = "<!-- rustdoc -->";
const OF_PYTHON: &str = "<!-- python -->";

/// The program that prints the docstrings as a page.
const DOCSTRINGS: &str = "bindings/python/reference.py";

fn main() -> ExitCode {
    match build() {
        Ok((pages_count, first)) => {
            println!("{pages_count} pages: {}", first.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            // `{:#}` appends the causes to the error.
            let reasons = format!("{error:#}");
            eprintln!(
                "{LAST_WORD}{}",
                reasons.lines().collect::<Vec<_>>().join(" ")
            );
            ExitCode::from(2)
        }
    }
}

/// Builds the book. Returns the number of pages, and the first page.
fn build() -> Result<(usize, PathBuf)> {
    let mut book = MDBook::load(workspace().join("docs"))?;
    let version = env!("CARGO_PKG_VERSION");
    book.config.book.title = Some(format!("treefold {version}"));
    let link =
        format!("The same pages are here: [crate `treefold`]({CRATES}/treefold/index.html).");
    let docstrings = docstrings()?;
    book.book.for_each_mut(|item| {
        if let BookItem::Chapter(chapter) = item {
            let content = chapter.content.replace(OF_RUST, &link);
            chapter.content = content.replace(OF_PYTHON, &docstrings);
        }
    });
    if !REPOSITORY.is_empty() {
        // GitHub and Forgejo use addresses of this form, and GitLab redirects them.
        let edit = format!("{REPOSITORY}/edit/main/docs/{{path}}");
        book.config
            .set("output.html.git-repository-url", REPOSITORY)?;
        book.config.set("output.html.edit-url-template", edit)?;
    }
    book.build()?;
    let pages = book
        .iter()
        .filter(|item| matches!(item, BookItem::Chapter(_)));
    // Without `..`, because the path is printed.
    let folder = book.build_dir_for("html").canonicalize()?;
    Ok((pages.count(), folder.join("index.html")))
}

/// The docstrings of the Python package, as a page.
fn docstrings() -> Result<String> {
    let mut python = Command::new("python3");
    let output = python.arg(workspace().join(DOCSTRINGS)).output();
    let output = output.map_err(|error| {
        Error::new(error).context("python3, which reads docstrings, does not start: install it")
    })?;
    let errors = String::from_utf8_lossy(&output.stderr);
    match errors.lines().last() {
        Some(line) if !output.status.success() => Err(Error::msg(format!("{DOCSTRINGS}: {line}"))),
        _ => Ok(String::from_utf8(output.stdout)?),
    }
}
