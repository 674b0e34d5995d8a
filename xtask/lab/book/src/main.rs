//! `cargo xtask book`: builds `docs/` as HTML in `target/book` with mdBook's library, and the crates' rustdoc pages in `target/book/api`.
//! `mdbook build docs` builds the book without the Python package's docstrings and without links to rustdoc's pages and to the repository.

#![expect(clippy::print_stdout, reason = "it prints where the book is")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use checkout::files;
use checkout::workspace::{REPOSITORY, cargo, target, workspace};
use clap::Parser;
use mdbook_driver::MDBook;
use mdbook_driver::book::BookItem;
use mdbook_driver::errors::{Error, Result};

/// Placeholders on pages, which the book replaces by a link to the crates' documentation, and by the Python package's docstrings.
const OF_RUST: &str = "<!-- rustdoc -->";
const OF_PYTHON: &str = "<!-- python -->";

/// The program that prints the docstrings as a page.
const DOCSTRINGS: &str = "bindings/python/reference.py";

/// The folder of the crates' documentation, inside the book's folder.
const CRATES: &str = "api";

/// The arguments of `cargo doc`: the crates that programs depend on, and the features to document.
const DOCUMENTED: &str = "doc --no-deps --package treefold --package treefold-tree-index \
    --package treefold-simd-kernels --package treefold-exact-sum --package treefold-distribution \
    --package treefold-schedule --package treefold-mpi-library --package treefold-comm --package treefold-reduce \
    --package treefold-cuda --features treefold/cuda,treefold/mpi,treefold/num-complex,treefold/par,treefold/tracing";

/// Builds the book from `docs/` as HTML
#[derive(Parser)]
#[command(name = "cargo xtask book", version)]
struct Cli {}

fn main() -> ExitCode {
    match checkout::parsed::<Cli>() {
        // `{:#}` appends the causes to the error.
        Ok(Cli {}) => checkout::ended(build().map_err(|error| format!("{error:#}"))),
        Err(status) => status,
    }
}

/// Builds the book and the crates' pages, and prints where the book is.
fn build() -> Result<bool> {
    let (pages_count, first) = render()?;
    // rustdoc gets a separate target folder, so that its search finds only these crates.
    let folder = target()?.join(CRATES);
    let mut doc = cargo();
    doc.args(DOCUMENTED.split_whitespace());
    let status = doc.arg("--target-dir").arg(&folder).status();
    let status = status.map_err(|error| Error::new(error).context("could not start cargo"))?;
    if !status.success() {
        return Err(Error::msg("cargo doc failed"));
    }
    copy_folder(&folder.join("doc"), &target()?.join("book").join(CRATES))?;
    println!("{pages_count} pages: {}", first.display());
    Ok(true)
}

/// Renders `docs/`. Returns the number of pages, and the first page.
fn render() -> Result<(usize, PathBuf)> {
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
    // The path is printed below, so it should contain no `..`.
    let folder = book.build_dir_for("html").canonicalize()?;
    Ok((pages.count(), folder.join("index.html")))
}

/// The docstrings of the Python package, as a page.
fn docstrings() -> Result<String> {
    let mut python = Command::new("python3");
    let output = python.arg(workspace().join(DOCSTRINGS)).output();
    let output = output.map_err(|error| {
        Error::new(error).context("install python3, which reads docstrings; it could not start")
    })?;
    let errors = String::from_utf8_lossy(&output.stderr);
    match errors.lines().last() {
        Some(line) if !output.status.success() => Err(Error::msg(format!("{DOCSTRINGS}: {line}"))),
        _ => Ok(String::from_utf8(output.stdout)?),
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    files::make(to)?;
    for entry in files::listed(from)? {
        if entry.is_dir() {
            copy_folder(&entry, &to.join(files::name(&entry)))?;
        } else {
            files::copy(&entry, to)?;
        }
    }
    Ok(())
}
