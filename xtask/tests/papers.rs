//! Tests that `cargo xtask papers` writes the computed pages exactly as they are in `docs/papers`, and can make every exhibit.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{fresh_folder, said, xtask};
use papers::{Exhibit, exhibits};
use serde_json::Value;

fn papers(words: &[&str]) -> Output {
    xtask("papers", words)
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/papers")
}

fn files(folder: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Simulations of many ranks, which take minutes.
const LONG: [&str; 3] = ["paper-3-figure-3", "paper-3-figure-4", "report-2-figures"];

#[test]
fn computed_pages_are_up_to_date() {
    check_computed("computed-pages", |id| !LONG.contains(&id));
}

#[test]
#[ignore = "takes minutes: `cargo xtask test --stage product` runs it"]
fn long_computed_pages_are_up_to_date() {
    check_computed("long-computed-pages", |id| LONG.contains(&id));
}

/// Writes the sections and pictures of the chosen computed exhibits, and checks that those in docs/ equal them.
fn check_computed(folder: &str, is_chosen: impl Fn(&str) -> bool) {
    let folder = fresh_folder(folder);
    let book = folder.join("book");
    fs::create_dir(&book).unwrap();
    for file in files(&docs()) {
        fs::copy(docs().join(&file), book.join(&file)).unwrap();
    }
    let all = exhibits();
    let computed = all.iter().filter(|exhibit| !exhibit.is_measured());
    let ids = computed.map(|exhibit| exhibit.id);
    let only: Vec<&str> = ids.filter(|id| is_chosen(id)).collect();
    let (to, book_to) = (folder.to_str().unwrap(), book.to_str().unwrap());
    let words = ["--output", to, "--summary", book_to, "--only"];
    let output = papers(&[&words[..], &[&only.join(",")]].concat());
    said(output, 0);
    assert_eq!(files(&book), files(&docs()));
    for file in files(&book) {
        let [written, kept] = [&book, &docs()].map(|folder| fs::read(folder.join(&file)).unwrap());
        let update = "cargo xtask papers --summary docs/papers";
        assert!(written == kept, "docs/papers/{file} is old: {update}");
    }
    for id in only {
        assert!(folder.join(format!("{id}.md")).exists(), "{id}");
    }
}

/// A few runs suffice, because the test does not check how long they take.
#[test]
fn measured_pages_can_be_made() {
    let folder = fresh_folder("measured-pages");
    let json = folder.join("rows.json");
    let all = exhibits();
    let measured: Vec<_> = all.iter().filter(|exhibit| exhibit.is_measured()).collect();
    let only: Vec<&str> = measured.iter().map(|exhibit| exhibit.id).collect();
    let (to, rows_to) = (folder.to_str().unwrap(), json.to_str().unwrap());
    let words = ["--output", to, "--json", rows_to, "--only", &only.join(",")];
    let quick = ["--quick", "--backend", "threads"];
    let output = papers(&[&quick[..], &words].concat());
    said(output, 0);
    let rows = fs::read_to_string(json).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str(line).unwrap());
    let rows: Vec<Value> = rows.collect();
    for exhibit in measured {
        let own = || rows.iter().filter(|row| row["exhibit"] == exhibit.id);
        for row in own() {
            // JSON has no NaN and no infinities; they would be null.
            let value = if row["what"].is_null() { "y" } else { "ours" };
            assert!(!row[value].is_null(), "{row}");
        }
        let page = fs::read_to_string(folder.join(format!("{}.md", exhibit.id))).unwrap();
        let is_dated = page.contains("Measured on ") || page.contains("p = 1, 17");
        assert!(is_dated, "{page}");
        assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    }
    table_4_2_says_where_its_numbers_are_from(&folder);
}

/// The page of Table 4.2 says which of its numbers are not from the thesis.
#[track_caller]
fn table_4_2_says_where_its_numbers_are_from(folder: &Path) {
    let page = fs::read_to_string(folder.join("table-4.2.md")).unwrap();
    for said in [
        "2.8e-6, is taken for rokasA4",
        "published them with the data",
    ] {
        assert!(page.contains(said), "{page}");
    }
    assert!(!page.contains("sum, bits |"), "{page}");
}

#[test]
fn every_exhibit_has_its_section_and_every_section_its_exhibit() {
    let mut expected = BTreeSet::from(["README.md".to_owned()]);
    for own in exhibits().chunk_by(|one, next| one.paper.name == next.paper.name) {
        let paper = own[0].paper;
        let page = fs::read_to_string(docs().join(paper.page())).unwrap();
        let sections = page.lines().filter(|line| line.starts_with("## ")).count();
        assert_eq!(sections, own.len(), "{}", paper.page());
        let begin = |exhibit: &Exhibit| page.find(&format!("\n\n`{}`. ", exhibit.id));
        let begins: Option<Vec<usize>> = own.iter().map(begin).collect();
        let is_in_order = begins.is_some_and(|begins| begins.is_sorted());
        assert!(is_in_order, "{}", paper.page());
        assert!(paper.pictures.len() <= 2);
        for picture in paper.pictures {
            assert!(page.contains(&format!("]({picture})")), "{picture}");
            expected.insert((*picture).to_owned());
        }
        expected.insert(paper.page());
    }
    let mut kept = files(&docs());
    // The JSON files have the numbers of measured pictures.
    kept.retain(|file| !file.ends_with(".json"));
    assert_eq!(kept, expected);
}

#[test]
fn unknown_exhibits_are_an_error_of_one_line() {
    let folder = fresh_folder("no-pages");
    let to = folder.to_str().unwrap();
    let output = papers(&["--only", "table-3,table-9", "--output", to]);
    let errors = said(output, 2);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    let expected = "error: --only: unknown exhibit `table-9`";
    assert!(errors.starts_with(expected), "{errors}");
    assert_eq!(files(&folder), BTreeSet::new());
}
