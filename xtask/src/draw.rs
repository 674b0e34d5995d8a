//! `cargo xtask draw`: redraws pictures from recorded measurements, so that their style can change without measuring again.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use checkout::workspace::workspace;
use harness::Error;
use harness::plot::Record;

/// Options of `draw`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Records: NAME.json draws NAME.svg [default: all records in docs/ that have a picture]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Error> {
    let files = match &options.files[..] {
        [] => records(&workspace().join("docs"))?,
        files => files.to_vec(),
    };
    for file in files {
        Record::read(&file)?.write(&file.with_extension("svg"))?;
        println!("drawn: {}", file.with_extension("svg").display());
    }
    Ok(())
}

/// All records below a folder that have a picture, sorted by path.
pub fn records(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| Error::file(folder, error))? {
        let path = entry.map_err(|error| Error::file(folder, error))?.path();
        if path.is_dir() {
            records.extend(self::records(&path)?);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && path.with_extension("svg").exists()
        {
            records.push(path);
        }
    }
    records.sort();
    Ok(records)
}
