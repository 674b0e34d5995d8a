//! Helpers for files and folders, whose errors name the file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use launch::Error;

/// Names the file in an error.
fn of<T>(path: &Path, result: io::Result<T>) -> Result<T, Error> {
    result.map_err(|error| Error::file(path, error))
}

pub(crate) fn make(folder: &Path) -> Result<(), Error> {
    of(folder, fs::create_dir_all(folder))
}

/// Removes a folder and its contents, if it exists.
pub(crate) fn remove(folder: &Path) -> Result<(), Error> {
    if folder.exists() {
        of(folder, fs::remove_dir_all(folder))?;
    }
    Ok(())
}

/// Creates an empty folder, or empties an existing one.
pub(crate) fn empty(folder: &Path) -> Result<(), Error> {
    remove(folder)?;
    make(folder)
}

pub(crate) fn read(path: &Path) -> Result<String, Error> {
    of(path, fs::read_to_string(path))
}

/// Writes a file, creating its folder.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    make(path.parent().unwrap_or(path))?;
    of(path, fs::write(path, content))
}

/// Edits the text of a file.
pub(crate) fn edit(path: &Path, change: impl FnOnce(&str) -> String) -> Result<(), Error> {
    write(path, change(&read(path)?))
}

/// Copies a file into a folder.
pub(crate) fn copy(file: &Path, folder: &Path) -> Result<(), Error> {
    let copied = fs::copy(file, folder.join(file.file_name().unwrap_or_default()));
    of(file, copied).map(drop)
}

/// The entries of a folder, sorted by name.
pub(crate) fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let paths =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = of(folder, paths)?;
    paths.sort();
    Ok(paths)
}

/// The entries of a folder with this extension, sorted by name.
pub(crate) fn with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let mut paths = listed(folder)?;
    paths.retain(|path| path.extension().is_some_and(|own| own == extension));
    Ok(paths)
}

/// The only entry of a folder.
pub(crate) fn only(folder: &Path) -> Result<PathBuf, Error> {
    match &listed(folder)?[..] {
        [one] => Ok(one.clone()),
        others => {
            let reason = format!("{} files or folders are there, not one", others.len());
            Err(Error::file(folder, reason))
        }
    }
}

/// The last part of a path.
pub(crate) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
