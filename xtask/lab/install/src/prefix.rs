//! A prefix: the folder that the libraries are installed in. Files are written atomically.

use std::cell::RefCell;
use std::fs;
use std::io::{self, ErrorKind};
use std::iter;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use checkout::{Error, files};

use crate::manifest::{self, Entry, Manifest, content_hash};

/// A prefix that files are being installed in.
pub(super) struct Prefix {
    folder: PathBuf,
    /// treefold's files in the folder, including those of earlier installations.
    manifest: RefCell<Manifest>,
    /// The option of `strip` for shared libraries.
    stripped: &'static str,
}

/// The mode of a file.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    Program,
    SharedLibrary,
    StaticLibrary,
}

impl Prefix {
    /// Opens a prefix. Creates its folder if it does not exist.
    ///
    /// # Errors
    /// The prefix is a file, or it or one of the folders `below` it is not writable.
    pub(super) fn open(folder: &Path, below: &[&str], strip: bool) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
        let whole = folder.canonicalize();
        let folder = whole.map_err(|error| refused(folder, &error))?;
        let manifest = Manifest::read(&folder)?.unwrap_or_default();
        let more = strip.then_some("--strip-unneeded");
        let prefix = Self {
            folder,
            manifest: RefCell::new(manifest),
            stripped: more.unwrap_or(LINE_NUMBERS),
        };
        // Only an attempt to write shows whether a folder is writable.
        let below = below.iter().map(|name| prefix.folder.join(name));
        for folder in iter::once(prefix.folder.clone()).chain(below) {
            if folder.is_dir() {
                let probe = prefix.beside(&folder.join("treefold"));
                let written = fs::write(&probe, []).and_then(|()| fs::remove_file(&probe));
                written.map_err(|error| refused(&folder, &error))?;
            }
        }
        Ok(prefix)
    }

    /// Writes a file below the prefix.
    pub(super) fn write(&self, path: &str, content: &[u8], kind: Kind) -> Result<(), Error> {
        self.place(path, |new| {
            fs::write(new, content)?;
            let (mode, stripped) = match kind {
                Kind::Text => (0o644, None),
                Kind::Program => (0o755, None),
                Kind::SharedLibrary => (0o755, Some(self.stripped)),
                Kind::StaticLibrary => (0o644, Some(LINE_NUMBERS)),
            };
            if let Some(what) = stripped {
                strip(new, what);
            }
            fs::set_permissions(new, fs::Permissions::from_mode(mode))?;
            Ok(Entry::File(content_hash(&fs::read(new)?)))
        })
    }

    /// Creates a link to a file in the same folder.
    pub(super) fn link(&self, path: &str, target: &str) -> Result<(), Error> {
        self.place(path, |new| {
            // A link cannot be created where a killed run left a temporary file.
            let _ = fs::remove_file(new);
            symlink(target, new)?;
            Ok(Entry::Link(target.to_owned()))
        })
    }

    /// Writes the manifest, which uninstalling needs.
    pub(super) fn write_manifest(&self) -> Result<(), Error> {
        let path = self.folder.join(manifest::PATH);
        let folder = path.parent().unwrap_or(&self.folder);
        files::named(&path, self.make_folders(folder))?;
        files::write(&path, self.manifest.borrow().text())
    }

    /// Creates a file next to its destination and moves it there when complete.
    fn place(
        &self,
        path: &str,
        make: impl FnOnce(&Path) -> io::Result<Entry>,
    ) -> Result<(), Error> {
        let place = self.folder.join(path);
        let new = self.beside(&place);
        let folder = place.parent().unwrap_or(&self.folder);
        let placed = self.make_folders(folder).and_then(|()| {
            let entry = make(&new)?;
            // An unchanged file keeps its modification time, so that programs are not relinked.
            if is_same(&new, &place) {
                fs::remove_file(&new)?;
            } else {
                fs::rename(&new, &place)?;
            }
            Ok(entry)
        });
        match placed {
            Ok(entry) => self.manifest.borrow_mut().add(path, entry),
            Err(error) => {
                let _ = fs::remove_file(&new);
                return Err(Error::file(&place, error));
            }
        }
        println!("installed: {}", place.display());
        Ok(())
    }

    /// Creates a folder below the prefix, with its parents.
    fn make_folders(&self, folder: &Path) -> io::Result<()> {
        if folder.is_dir() {
            return Ok(());
        }
        if let Some(above) = folder.parent() {
            self.make_folders(above)?;
        }
        fs::create_dir(folder)?;
        let name = folder.strip_prefix(&self.folder).unwrap_or(folder);
        let name = name.to_string_lossy();
        self.manifest.borrow_mut().add(&name, Entry::Folder);
        Ok(())
    }

    /// A temporary name that no other installation uses.
    fn beside(&self, path: &Path) -> PathBuf {
        path.with_file_name(format!(".{}.{}", files::name(path), process::id()))
    }
}

/// The error of an invalid prefix.
fn refused(folder: &Path, error: &io::Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; use a folder of your own, as in `--prefix ~/treefold`, or install as root"
        }
        _ => "",
    };
    Error::option("--prefix", format!("{}: {error}{advice}", folder.display()))
}

/// Whether two files have the same content, or are links to the same file.
fn is_same(a: &Path, b: &Path) -> bool {
    match (fs::read_link(a), fs::read_link(b)) {
        (Ok(a), Ok(b)) => a == b,
        (Err(_), Err(_)) => {
            let read = |path| Some((fs::metadata(path).ok()?.permissions(), fs::read(path).ok()?));
            read(a).is_some_and(|a| Some(a) == read(b))
        }
        _ => false,
    }
}

/// The option that removes line numbers, which take four fifths of a library's size.
const LINE_NUMBERS: &str = "--strip-debug";

/// Strips a library. If the program `strip` is missing, the library stays as it is, only larger.
fn strip(path: &Path, what: &str) {
    let mut command = Command::new("strip");
    command.arg(what).arg(path);
    let _ = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::{env, process};

    use super::{Kind, Manifest, Prefix};

    fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("treefold-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    /// Installs files and a link.
    fn install(folder: &Path, names: &[&str]) {
        let prefix = Prefix::open(folder, &["lib"], false).unwrap();
        for name in names {
            prefix.write(name, b"content", Kind::Text).unwrap();
        }
        prefix.link("lib/link", "target").unwrap();
        prefix.write_manifest().unwrap();
    }

    fn uninstall(folder: &Path) {
        let manifest = Manifest::read(folder).unwrap();
        manifest.expect("a manifest").remove(folder).unwrap();
    }

    #[test]
    fn what_was_installed_is_removed_with_its_folders() {
        let folder = folder("removed");
        install(&folder, &["lib/a", "share/b c/d"]);
        // Uninstalling removes the files of both installations.
        install(&folder, &["lib64/a"]);
        uninstall(&folder);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert!(Manifest::read(&folder).unwrap().is_none());
        fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn what_is_of_others_stays() {
        let folder = folder("kept");
        fs::create_dir_all(folder.join("include")).unwrap();
        let names = ["lib/changed", "lib/missing", "lib/a", "include/b"];
        install(&folder, &names);
        fs::write(folder.join("lib/changed"), "other").unwrap();
        fs::remove_file(folder.join("lib/missing")).unwrap();
        fs::write(folder.join("lib/foreign"), "").unwrap();
        uninstall(&folder);
        let names = |path: &str| {
            let entries = fs::read_dir(folder.join(path)).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(""), ["include", "lib"]);
        assert_eq!(names("lib"), ["changed", "foreign"]);
        assert_eq!(names("include").len(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_there_already_keeps_its_time() {
        let folder = folder("time");
        let time = || fs::metadata(folder.join("lib/a")).unwrap().modified();
        install(&folder, &["lib/a"]);
        let before = time().unwrap();
        install(&folder, &["lib/a"]);
        assert_eq!(time().unwrap(), before);
        fs::remove_dir_all(&folder).unwrap();
    }
}
