//! `cargo xtask draw`: redraws pictures from recorded measurements, so that their style can change without measuring again.

use std::path::{Path, PathBuf};

use checkout::files::listed;
use checkout::workspace::workspace;
use clap::Args;
use harness::Error;
use harness::plot::Record;

/// Options of `draw`.
#[derive(Args, Clone, Debug)]
pub struct DrawOptions {
    /// The records; the picture of NAME.json is NAME.svg [default: all records in docs/ that have a picture]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(options: &DrawOptions) -> Result<(), Error> {
    let files = match &options.files[..] {
        [] => records(&workspace().join("docs"))?,
        files => files.to_vec(),
    };
    for file in files {
        let picture = file.with_extension("svg");
        Record::read(&file)?.write(&picture)?;
        println!("drawn: {}", picture.display());
    }
    Ok(())
}

/// All records below a folder that have a picture, sorted by path.
pub fn records(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut records = Vec::new();
    for path in listed(folder)? {
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if path.is_dir() {
            records.extend(self::records(&path)?);
        } else if is_json && path.with_extension("svg").exists() {
            records.push(path);
        }
    }
    Ok(records)
}
