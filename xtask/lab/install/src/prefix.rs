//! A prefix: the folder that programs are built against. Files appear in it whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use checkout::Error;

/// A folder that is written to.
pub(super) struct Prefix {
    folder: PathBuf,
}

/// What a file is.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    Program,
    SharedLibrary,
    StaticLibrary,
}

impl Prefix {
    /// The folder, created if it does not exist.
    ///
    /// # Errors
    /// It is a file, or cannot be written to.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let failed = |error| Error::option("--prefix", format!("{}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
        let folder = folder.canonicalize().map_err(failed)?;
        let prefix = Self { folder };
        // Only writing shows whether it can be written to.
        let probe = prefix.beside(&prefix.folder.join("treefold"));
        fs::write(&probe, [])
            .and_then(|()| fs::remove_file(&probe))
            .map_err(failed)?;
        Ok(prefix)
    }

    /// Writes a file, below the prefix.
    pub(super) fn write(&self, path: &str, content: &[u8], kind: Kind) -> Result<(), Error> {
        self.place(path, |new| {
            fs::write(new, content)?;
            if matches!(kind, Kind::SharedLibrary | Kind::StaticLibrary) {
                strip(new);
            }
            set_mode(new, kind)
        })
    }

    /// Makes a link to a file of the same folder.
    pub(super) fn link(&self, path: &str, target: &str) -> Result<(), Error> {
        self.place(path, |new| symlink(target, new))
    }

    /// Makes something beside its place, and moves it there when it is whole.
    fn place(&self, path: &str, make: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), Error> {
        let path = self.folder.join(path);
        let new = self.beside(&path);
        let folder = path.parent().unwrap_or(&self.folder);
        let made = fs::create_dir_all(folder).and_then(|()| make(&new));
        let placed = made.and_then(|()| fs::rename(&new, &path));
        if let Err(error) = placed {
            let _ = fs::remove_file(&new);
            return Err(Error::file(&path, error));
        }
        println!("installed: {}", path.display());
        Ok(())
    }

    /// A name that nobody looks for, and that no other installation takes.
    fn beside(&self, path: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.with_file_name(format!(".{name}.{}", process::id()))
    }
}

/// Removes the line numbers for debuggers, which are four fifths of a library. Where `strip` is missing, a library is larger, and whole.
fn strip(path: &Path) {
    let mut command = Command::new("strip");
    command.arg("--strip-debug").arg(path);
    let _ = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(unix)]
fn set_mode(path: &Path, kind: Kind) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = match kind {
        Kind::Text | Kind::StaticLibrary => 0o644,
        Kind::SharedLibrary | Kind::Program => 0o755,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _kind: Kind) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn symlink(target: &str, path: &Path) -> io::Result<()> {
    // What a run that was killed has left is in the way of a link.
    let _ = fs::remove_file(path);
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn symlink(_target: &str, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
