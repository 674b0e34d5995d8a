//! Files that are installed unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use checkout::Error;

/// The content of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| Error::file(path, error))
}

/// The files of a folder, by name. A missing folder is an error.
pub(super) fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::file(folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let paths: Result<Vec<PathBuf>, Error> = paths.collect();
    let mut files: Vec<PathBuf> = paths?.into_iter().filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}
