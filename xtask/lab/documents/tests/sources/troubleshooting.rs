//! docs/troubleshooting.md quotes messages as they are written.

use std::fs;

use super::{page, root, rust_files};

/// Sections whose messages are treefold's; those of compilers and linkers are in the others.
const OURS: [&str; 3] = [
    "A plan is not built",
    "A run fails",
    "MPI is not found, or another one is",
];

/// Shorter pieces of a message are in any source.
const PIECE_LENGTH: usize = 10;

#[test]
fn messages_are_quoted_as_they_are_written() {
    let mut sources: Vec<String> = rust_files(&["crates", "bindings"])
        .iter()
        .map(|file| fs::read_to_string(file).expect("a source"))
        .collect();
    let script = root().join("bindings/interposer/packaging/treefold-run");
    sources.push(fs::read_to_string(script).expect("a script"));
    let page = page("troubleshooting.md");
    let mut pieces_count = 0;
    let sections = page.split("\n## ");
    let is_ours = |section: &&str| OURS.iter().any(|head| section.starts_with(head));
    for section in sections.filter(is_ours) {
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
        for message in rows.filter_map(|row| row.split('`').next()) {
            for piece in message
                .split('…')
                .filter(|piece| piece.len() >= PIECE_LENGTH)
            {
                pieces_count += 1;
                let is_written = sources.iter().any(|source| source.contains(piece));
                assert!(is_written, "no source has `{piece}` of `{message}`");
            }
        }
    }
    assert!(pieces_count > 20, "the page has another form");
}
