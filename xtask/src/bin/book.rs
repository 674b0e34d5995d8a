//! What `cargo xtask book` starts: `docs/` as HTML in `target/book`, by mdBook's library. `mdbook build docs` does the same, but for the
//! link to what rustdoc says.

#![expect(clippy::print_stdout, reason = "it prints where the book is")]

use std::path::PathBuf;
use std::process::ExitCode;

use checkout::workspace::workspace;
use mdbook_driver::MDBook;
use mdbook_driver::book::BookItem;
use mdbook_driver::errors::Result;

use xtask::book::{CRATES, LAST_WORD};

/// Where a page speaks of the crates' documentation, which is in the HTML alone.
const MARK: &str = "<!-- rustdoc -->";

fn main() -> ExitCode {
    match build() {
        Ok((pages_count, first)) => {
            println!("{pages_count} pages: {}", first.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            // The causes follow in the same line.
            let reasons = format!("{error:#}");
            eprintln!(
                "{LAST_WORD}{}",
                reasons.lines().collect::<Vec<_>>().join(" ")
            );
            ExitCode::from(2)
        }
    }
}

/// Builds it; the number of its pages, and the first.
fn build() -> Result<(usize, PathBuf)> {
    let mut book = MDBook::load(workspace().join("docs"))?;
    let link = format!("This book has it, too: [crate `treefold`]({CRATES}/treefold/index.html).");
    book.book.for_each_mut(|item| {
        if let BookItem::Chapter(chapter) = item {
            chapter.content = chapter.content.replace(MARK, &link);
        }
    });
    book.build()?;
    let pages = book
        .iter()
        .filter(|item| matches!(item, BookItem::Chapter(_)));
    // Without `..`, as a person would type it.
    let folder = book.build_dir_for("html").canonicalize()?;
    Ok((pages.count(), folder.join("index.html")))
}
