//! `cargo xtask numbers`: updates the measured numbers on pages from their records, and the book's front page from README.

use std::fs;

use checkout::workspace::workspace;
use harness::Error;
use harness::measured::marks::{Records, filled, front_page, pages};

/// Runs the command.
pub fn run() -> Result<(), Error> {
    let root = workspace();
    let mut records = Records::of(root);
    for path in pages(root)? {
        let page = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
        let (text, count) =
            filled(&page, &mut records).map_err(|reason| Error::file(&path, reason))?;
        if text != page {
            fs::write(&path, &text).map_err(|error| Error::file(&path, error))?;
        }
        if count > 0 {
            println!("{}: {count} numbers from records", path.display());
        }
    }
    let read = |name: &str| {
        let path = root.join(name);
        fs::read_to_string(&path).map_err(|error| Error::file(&path, error))
    };
    let front = root.join("docs/README.md");
    let text = front_page(&read("README.md")?, &read("docs/README.md")?);
    let text =
        text.ok_or_else(|| Error::file(&front, "no `## This book`, or README no `## More`"))?;
    fs::write(&front, text).map_err(|error| Error::file(&front, error))
}
