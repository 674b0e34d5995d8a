//! Measured numbers on pages are those of the records in the tree, and every record is on a page.

use harness::measured::Record;
use harness::measured::marks::{Records, filled, pages};

use super::{files, read, root};

#[test]
fn measured_numbers_are_those_of_records() {
    let mut records = Records::of(root());
    let mut numbers_count = 0;
    for path in pages(&root()).unwrap() {
        let page = read(&path);
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
    let pages = pages(&root()).unwrap();
    let pages: Vec<String> = pages.iter().map(read).collect();
    for name in files(&["docs/measured/*"]) {
        let record = Record::read(&root().join(&name)).unwrap();
        let name = name.display();
        assert!(!record.rows.is_empty(), "{name}");
        for said in [
            &record.command,
            &record.machine,
            &record.date,
            &record.commit,
        ] {
            assert!(!said.is_empty(), "{name} does not say all");
        }
        let about = format!("{name}?about");
        assert!(
            pages.iter().any(|page| page.contains(&about)),
            "no page says what {name} was measured on"
        );
    }
}
