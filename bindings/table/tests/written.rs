//! The files of the bindings hold what the table writes, and those that hold nothing else are marked as generated.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::path::Path;

#[test]
fn the_files_are_what_the_table_writes() {
    let files = table::files(&table::bindings()).unwrap();
    assert_eq!(files.len(), 12);
    for file in files {
        let is = fs::read_to_string(&file.path).unwrap_or_default();
        let same = is == file.text;
        assert!(
            same,
            "{} differs: run `cargo run -p table`",
            file.path.display()
        );
    }
}

#[test]
fn whole_files_are_marked_as_generated() {
    let bindings = table::bindings();
    let marks = fs::read_to_string(bindings.join("../.gitattributes")).unwrap();
    let marked = |path: &Path| {
        let path = path.strip_prefix(&bindings).unwrap().display();
        let mark = format!("/bindings/{path} linguist-generated");
        marks.lines().any(|line| line == mark)
    };
    for file in table::files(&bindings).unwrap() {
        let is_whole = file
            .path
            .extension()
            .is_some_and(|extension| extension == "rs");
        assert_eq!(marked(&file.path), is_whole, "{}", file.path.display());
    }
}
