//! Measured numbers on pages are those of the records in the tree, and every record is on a page.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::path::{Path, PathBuf};

use harness::measured::Record;
use harness::measured::marks::{Records, filled, pages};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

#[test]
fn measured_numbers_are_those_of_records() {
    let mut records = Records::of(root());
    let mut numbers_count = 0;
    for path in pages(&root()).unwrap() {
        let page = fs::read_to_string(&path).unwrap();
        let name = path.display();
        let (text, count) =
            filled(&page, &mut records).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(text == page, "{name} is old: cargo xtask numbers");
        numbers_count += count;
    }
    println!("{numbers_count} numbers and tables");
    assert!(numbers_count > 10, "the pages were not found");
}

#[test]
fn every_record_is_whole_and_on_a_page() {
    let pages: Vec<String> = pages(&root())
        .unwrap()
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for entry in fs::read_dir(root().join("docs/measured")).unwrap() {
        let path = entry.unwrap().path();
        let record = Record::read(&path).unwrap();
        assert!(!record.rows.is_empty(), "{}", path.display());
        for said in [
            &record.command,
            &record.machine,
            &record.date,
            &record.commit,
        ] {
            assert!(!said.is_empty(), "{} does not say all", path.display());
        }
        let name = format!("docs/measured/{}", path.file_name().unwrap().display());
        let about = format!("{name}?about");
        assert!(
            pages.iter().any(|page| page.contains(&about)),
            "no page says what {name} was measured on"
        );
    }
}
