//! Reads, writes and lists files. Errors name the file or folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;

/// Adds the file's name to an error.
pub fn named<T>(path: &Path, result: io::Result<T>) -> Result<T, Error> {
    result.map_err(|error| Error::file(path, error))
}

/// Creates a folder and its parents, if they do not exist.
pub fn make(folder: &Path) -> Result<(), Error> {
    named(folder, fs::create_dir_all(folder))
}

/// Removes a folder and its contents, if it exists.
pub fn remove(folder: &Path) -> Result<(), Error> {
    if folder.exists() {
        named(folder, fs::remove_dir_all(folder))?;
    }
    Ok(())
}

/// Creates an empty folder, or empties an existing one.
pub fn empty(folder: &Path) -> Result<(), Error> {
    remove(folder)?;
    make(folder)
}

/// A file's text.
pub fn read(path: &Path) -> Result<String, Error> {
    named(path, fs::read_to_string(path))
}

/// A file's bytes.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    named(path, fs::read(path))
}

/// Writes a file and creates its folder.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    make(path.parent().unwrap_or(path))?;
    named(path, fs::write(path, content))
}

/// Edits the text of a file.
pub fn edit(path: &Path, change: impl FnOnce(&str) -> String) -> Result<(), Error> {
    write(path, change(&read(path)?))
}

/// Copies a file into a folder.
pub fn copy(file: &Path, folder: &Path) -> Result<(), Error> {
    named(file, fs::copy(file, folder.join(name(file)))).map(drop)
}

/// The entries of a folder, sorted by name.
pub fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = named(folder, fs::read_dir(folder))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths: Vec<PathBuf> = named(folder, paths)?;
    paths.sort();
    Ok(paths)
}

/// The entries of a folder with this extension, sorted by name.
pub fn with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let mut paths = listed(folder)?;
    paths.retain(|path| path.extension().is_some_and(|own| own == extension));
    Ok(paths)
}

/// The only entry of a folder.
pub fn only(folder: &Path) -> Result<PathBuf, Error> {
    match &listed(folder)?[..] {
        [one] => Ok(one.clone()),
        others => {
            let reason = format!("it has {} entries instead of one", others.len());
            Err(Error::file(folder, reason))
        }
    }
}

/// The last part of a path.
pub fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
