//! `cargo xtask schedules`: the page in `docs/` equals its output.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{fresh_folder, xtask};

fn schedules(words: &[&str]) -> Output {
    xtask("schedules", words)
}

#[test]
fn the_page_is_up_to_date() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let folder = fresh_folder("page");
    let output = schedules(&["--output", folder.to_str().unwrap()]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    let pictures = fs::read_dir(docs.join("schedules")).unwrap();
    let pictures = pictures.map(|entry| Path::new("schedules").join(entry.unwrap().file_name()));
    let mut files: Vec<PathBuf> = pictures.collect();
    assert_eq!(files.len(), schedule::Algorithm::ALL.len());
    files.push("schedules.md".into());
    for file in files {
        let (kept, written) = (fs::read(docs.join(&file)), fs::read(folder.join(&file)));
        let is_same = kept.unwrap() == written.unwrap();
        assert!(
            is_same,
            "docs/{} is old: cargo xtask schedules",
            file.display()
        );
    }
}
