//! The files of the bindings hold what the table writes.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;

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
