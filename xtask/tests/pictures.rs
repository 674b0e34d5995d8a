//! Checks that measured pictures in `docs/` equal newly drawn ones, and that their alternative texts on pages equal their titles. Also checks
//! that the page of schedules in `docs/` equals the output of `cargo xtask schedules`.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{fresh_folder, said, xtask};
use harness::plot::Record;
use papers::{Exhibit, exhibits};
use xtask::draw::records;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

#[test]
fn recorded_pictures_are_up_to_date() {
    let folder = fresh_folder("drawn");
    let records = records(&docs()).unwrap();
    println!("{} records", records.len());
    assert!(records.len() > 5);
    for kept in records {
        let file = folder.join(kept.file_name().unwrap());
        fs::copy(&kept, &file).unwrap();
        let output = xtask("draw", &[file.to_str().unwrap()]);
        said(output, 0);
        for (drawn, kept) in [
            (file.clone(), kept.clone()),
            (file.with_extension("svg"), kept.with_extension("svg")),
        ] {
            let is_same = fs::read(drawn).unwrap() == fs::read(&kept).unwrap();
            assert!(is_same, "{} is old: cargo xtask draw", kept.display());
        }
    }
}

/// Every axis of a picture names its unit, or what is counted; otherwise, readers would have to guess.
#[test]
fn axes_have_units() {
    for path in records(&docs()).unwrap() {
        let plot = Record::read(&path).unwrap().plot;
        for axis in [plot.x, plot.y] {
            let unit = axis.name.split_once(", ").map_or("", |(_, unit)| unit);
            assert!(!unit.is_empty(), "{}: {}", path.display(), axis.name);
        }
    }
}

/// A measured picture's alternative text on its paper's page equals the title above the picture.
#[test]
fn pages_of_measured_pictures_say_what_they_show() {
    let papers = docs().join("papers");
    for record in records(&papers).unwrap() {
        let words = Record::read(&record).unwrap().plot.words();
        let file = record.with_extension("svg");
        let file = file.file_name().unwrap().display();
        let picture = format!("![{words}]({file})\n");
        let is_shown = |exhibit: &Exhibit| {
            let page = fs::read_to_string(papers.join(exhibit.paper.page()));
            page.unwrap().contains(&picture)
        };
        assert!(exhibits().iter().any(is_shown), "{picture}");
    }
}

#[test]
fn sums_are_drawn_over_the_numbers_of_ranks() {
    let folder = fresh_folder("spread");
    let (input, picture) = (folder.join("items.f64"), folder.join("spread.svg"));
    let items = (0..1000_u32).map(|item| (f64::from(item)).sin());
    let bytes: Vec<u8> = items.flat_map(f64::to_le_bytes).collect();
    fs::write(&input, bytes).unwrap();
    let run = |picture: &Path| {
        let words = ["--input", input.to_str().unwrap(), "--ranks", "1,2,5,7"];
        let plot = ["--plot", picture.to_str().unwrap()];
        xtask("repro-check", &[&words[..], &plot].concat())
    };
    let output = run(&picture);
    said(output, 0);
    let record = Record::read(&picture.with_extension("json")).unwrap();
    let [tree, exact, plain] = &record.plot.lines[..] else {
        panic!("{record:?}");
    };
    let flat = |distance| [1.0, 2.0, 5.0, 7.0].map(|ranks| (ranks, distance));
    assert_eq!(tree.points, flat(tree.points[0].1));
    assert_eq!(exact.points, flat(0.0));
    assert_eq!(plain.points.len(), 4);
    assert!(picture.exists());

    let output = run(&folder.join("spread.png"));
    let errors = said(output, 2);
    assert!(errors.starts_with("error: --plot: "), "{errors}");
}

#[test]
fn files_that_are_no_records_are_an_error_of_one_line() {
    let folder = fresh_folder("no-records");
    let broken = folder.join("broken.json");
    fs::write(&broken, "{\"source\": \"nobody\"}\n").unwrap();
    for (file, expected) in [
        (broken.as_path(), "broken.json: missing field"),
        (Path::new("/nowhere/record.json"), "/nowhere/record.json: "),
    ] {
        let output = xtask("draw", &[file.to_str().unwrap()]);
        let errors = said(output, 2);
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.contains(expected), "{errors}");
    }
    assert!(!broken.with_extension("svg").exists());
}

#[test]
fn the_page_of_schedules_is_up_to_date() {
    let (docs, folder) = (docs(), fresh_folder("page"));
    let output = xtask("schedules", &["--output", folder.to_str().unwrap()]);
    said(output, 0);
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
