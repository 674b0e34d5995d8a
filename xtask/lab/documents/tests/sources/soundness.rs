//! docs/soundness.md names every file with unsafe code, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::{page, root, rust_files};

#[test]
fn every_file_with_unsafe_code_is_on_the_page() {
    let root = root();
    let files = rust_files(&["crates", "bindings", "xtask", "benches"]);
    let is_unsafe = |file: &&PathBuf| has_unsafe_code(&fs::read_to_string(file).unwrap());
    let relative = |file: &PathBuf| {
        file.strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    let found: BTreeSet<String> = files.iter().filter(is_unsafe).map(relative).collect();
    assert!(found.len() > 50, "the sources were not found");

    let listed = listed(&page("soundness.md"));
    let missing: Vec<_> = found.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "unsafe code that the page lacks: {missing:#?}"
    );
    let safe: Vec<_> = listed.difference(&found).collect();
    assert!(
        safe.is_empty(),
        "on the page, and without unsafe code: {safe:#?}"
    );
}

/// The files in the first column of the page's tables, below the folder that a table's head names.
fn listed(page: &str) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let mut folder = String::new();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
    for row in rows {
        let first = row.split(" |").next().unwrap_or_default();
        if first.starts_with("files") {
            folder = first
                .split('`')
                .nth(1)
                .map_or_else(String::new, |name| format!("{name}/"));
            continue;
        }
        let names = first.split('`').skip(1).step_by(2);
        files.extend(names.map(|name| format!("{folder}{name}")));
    }
    files
}

/// Whether it has a block, function, trait, block of foreign functions or attribute that is unsafe. Doc examples count, since they compile;
/// functions' types do not, and neither does this file's text.
fn has_unsafe_code(source: &str) -> bool {
    let marks = ["{", "fn", "impl", "extern", "trait"].map(|next| format!("{} {next}", "unsafe"));
    let attribute = format!("#[{}(", "unsafe");
    source.contains(&attribute) || marks.iter().any(|mark| source.contains(mark.as_str()))
}

#[test]
fn unsafe_code_is_seen() {
    let word = "unsafe";
    for code in ["{ call() }", "fn call() {}", "impl Send for T {}"] {
        assert!(has_unsafe_code(&format!("{word} {code}")));
    }
    assert!(has_unsafe_code(&format!("#[{word}(no_mangle)]")));
    assert!(!has_unsafe_code(&format!("#![deny({word}_code)]")));
}

#[test]
fn a_table_names_its_folder() {
    let page = "| files in `a/src` | assume |\n|---|---|\n| `b.rs`, `c.rs` | `d` |\n";
    let expected = ["a/src/b.rs", "a/src/c.rs"].map(str::to_owned);
    assert_eq!(listed(page), BTreeSet::from(expected));
}
