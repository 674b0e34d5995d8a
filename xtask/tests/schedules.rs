//! `cargo xtask schedules`: the page in `docs/` is what it writes.

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
    assert_eq!(files.len(), schedule::Algorithm::ALL.len() + 1);
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

#[test]
fn files_of_times_that_are_none() {
    let folder = fresh_folder("times");
    let output = folder.to_str().unwrap();
    let refused = |times: &Path, expected: &str| {
        let ended = schedules(&["--output", output, "--times", times.to_str().unwrap()]);
        let errors = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.contains(expected), "{errors}");
    };
    refused(Path::new("/nowhere/times.json"), "/nowhere/times.json");
    let broken = folder.join("broken.json");
    fs::write(&broken, "{\"bench\": \"schedules\"\n").unwrap();
    refused(&broken, "broken.json: line 1");
    assert!(!folder.join("schedules.md").exists());
}
