//! Pages that say what stands in the sources.

use std::fs;
use std::path::{Path, PathBuf};

mod address;
mod environment;
mod soundness;
mod troubleshooting;

/// The root of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A page of `docs/`.
fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).expect("a page")
}

/// The Rust files below some folders of the checkout.
fn rust_files(folders: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders {
        add_rust_files(&root().join(folder), &mut files);
    }
    files
}

fn add_rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                add_rust_files(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
