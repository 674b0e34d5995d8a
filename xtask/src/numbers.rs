//! `cargo xtask numbers`: updates the measured numbers on pages from their records, and the book's front page from README.

use checkout::files;
use checkout::workspace::workspace;
use harness::Error;
use harness::measured::marks::{Records, filled, front_page, pages};

/// Runs the command.
pub fn run() -> Result<(), Error> {
    let root = workspace();
    let mut records = Records::of(root);
    for path in pages(root)? {
        let page = files::read(&path)?;
        let (text, count) =
            filled(&page, &mut records).map_err(|reason| Error::file(&path, reason))?;
        if text != page {
            files::write(&path, &text)?;
        }
        if count > 0 {
            println!("{}: {count} numbers from records", path.display());
        }
    }
    let front = root.join("docs/README.md");
    let text = front_page(
        &files::read(&root.join("README.md"))?,
        &files::read(&front)?,
    );
    let text =
        text.ok_or_else(|| Error::file(&front, "no `## This book`, or README has no `## More`"))?;
    Ok(files::write(&front, text)?)
}
