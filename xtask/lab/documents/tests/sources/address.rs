//! The repository's address stands in the root's `Cargo.toml`, as `repository`, and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use super::root;

/// Folders that git does not keep.
const NOT_KEPT: [&str; 4] = [".git", "dist", "target", "__pycache__"];

/// Where packages are found by the name of the project, which is no address of its repository.
const REGISTRIES: [&str; 7] = [
    "anaconda.org",
    "conda.io",
    "crates.io",
    "docs.rs",
    "packages.debian.org",
    "pypi.org",
    "spack.io",
];

/// The last part of the address, whoever owns the repository.
const NAME: &str = "treefold";

#[test]
fn one_file_holds_the_address() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let mut values = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("repository = \""));
    let repository = values.next().expect("the address, or an empty one");
    let repository = repository.trim_end_matches('"');
    assert_eq!(values.next(), None, "one line");
    assert!(
        repository.is_empty() || is_address(repository),
        "{repository}: https://…/{NAME} is expected"
    );

    let mut files = Vec::new();
    add_files(&root(), &mut files);
    let texts = files
        .iter()
        .filter_map(|file| Some((file, fs::read_to_string(file).ok()?)));
    let mut texts_count = 0;
    for (file, text) in texts.filter(|(file, _)| **file != root().join("Cargo.toml")) {
        texts_count += 1;
        let found = text.split(is_end).find(|word| is_address(word));
        let file = file.display();
        assert!(found.is_none(), "{file} spells the address: {found:?}");
    }
    assert!(texts_count > 500, "the files were not found");
}

/// Whether a word leads to a repository of the project's name: `scheme://host/owner/treefold`, with or without more, or
/// `git@host:owner/treefold`.
fn is_address(word: &str) -> bool {
    let after_scheme = word.split_once("://").map(|(_, rest)| rest);
    let Some(place) = after_scheme.or_else(|| word.split_once('@').map(|(_, rest)| rest)) else {
        return false;
    };
    let mut parts = place.split(['/', ':']);
    let host = parts.next().unwrap_or_default();
    let is_registry = REGISTRIES
        .iter()
        .any(|registry| host == *registry || host.ends_with(&format!(".{registry}")));
    let is_host = host.contains('.') && !is_registry;
    is_host && parts.any(|part| part.trim_end_matches('.').trim_end_matches(".git") == NAME)
}

/// What ends an address in a text.
fn is_end(letter: char) -> bool {
    letter.is_whitespace() || "\"'`<>()[]{}|,".contains(letter)
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("its kind");
        let name = entry.file_name();
        let is_kept = !NOT_KEPT.iter().any(|not_kept| name == *not_kept);
        if kind.is_dir() && is_kept {
            add_files(&entry.path(), files);
        } else if kind.is_file() && is_kept {
            files.push(entry.path());
        }
    }
}

#[test]
fn addresses_are_seen() {
    // In pieces, as this file must not spell one.
    for rest in ["treefold", "treefold.git.", "treefold/issues/1"] {
        for host in ["https://forge.example/owner", "git@forge.example:owner"] {
            assert!(is_address(&format!("{host}/{rest}")), "{host}/{rest}");
        }
    }
    for other in [
        "https://crates.io/crates/treefold",
        "https://docs.rs/treefold",
        "https://forge.example/owner/other",
        "@REPOSITORY@/releases/treefold",
        "file:///home/treefold",
        "treefold",
    ] {
        assert!(!is_address(other), "{other}");
    }
}
