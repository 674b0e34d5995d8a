//! A prefix: the folder that programs are built against. Files appear in it whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use harness::Error;

/// The file that says what of the MPI part is installed.
const MPI_PART: &str = "lib/pkgconfig/treefold-mpi.pc";

/// A folder that is written to.
pub(super) struct Prefix {
    folder: PathBuf,
}

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Program,
    SharedLibrary,
    StaticLibrary,
}

/// An MPI part that is there already.
#[derive(Debug, PartialEq, Eq)]
struct MpiPart {
    /// The MPI library that it was built for.
    mpi: String,
    /// Its own version.
    version: String,
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

    /// Fails if what is there already would not fit what is installed: the MPI part for this library, or none, of this version.
    pub(super) fn check(&self, mpi: Option<&str>, version: &str) -> Result<(), Error> {
        let path = self.folder.join(MPI_PART);
        let there = match fs::read_to_string(&path) {
            Ok(text) => MpiPart::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::file(&path, error)),
        };
        let there = there.ok_or_else(|| Error::file(&path, "it does not name an MPI library"))?;
        match there.conflict(mpi, version) {
            None => Ok(()),
            Some(reason) => {
                let folder = self.folder.display();
                Err(Error::option("--prefix", format!("{folder} {reason}")))
            }
        }
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

impl MpiPart {
    /// What the file says that pkg-config reads.
    fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| {
            let found = text.lines().find_map(|line| line.strip_prefix(key));
            found.map(|value| value.trim().to_owned())
        };
        let (mpi, version) = (value("mpi=")?, value("Version:")?);
        Some(Self { mpi, version })
    }

    /// Why the other part, and perhaps another MPI part, cannot be installed beside this one.
    fn conflict(&self, mpi: Option<&str>, version: &str) -> Option<String> {
        let Self {
            mpi: there,
            version: old,
        } = self;
        match mpi {
            Some(asked) if asked != there => Some(format!(
                "holds the MPI part for {there}, and `--mpi {asked}` asks for another one: take another folder"
            )),
            // Its headers and its targets would be of another version than what they need.
            None if old != version => Some(format!(
                "holds the MPI part of version {old}, which does not fit version {version}: renew it, too, by `--mpi {there}`"
            )),
            _ => None,
        }
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

#[cfg(test)]
mod tests {
    use super::super::template::{MPI, Values};
    use super::{MPI_PART, MpiPart};

    fn there() -> MpiPart {
        let values = Values::new("0.1.0", Some("openmpi"));
        assert_eq!(MPI[0].path, MPI_PART);
        MpiPart::parse(&MPI[0].fill(&values)).unwrap()
    }

    #[test]
    fn what_is_installed_is_what_was_written() {
        let (mpi, version) = ("openmpi".to_owned(), "0.1.0".to_owned());
        assert_eq!(there(), MpiPart { mpi, version });
        assert_eq!(MpiPart::parse("Name: treefold-mpi\nVersion: 0.1.0\n"), None);
    }

    #[test]
    fn a_second_family_is_refused() {
        let refusal = there().conflict(Some("mpich"), "0.1.0").unwrap();
        assert!(
            refusal.contains("openmpi") && refusal.contains("`--mpi mpich`"),
            "{refusal}"
        );
        assert!(there().conflict(Some("mpich"), "0.2.0").is_some());
    }

    #[test]
    fn the_same_again_and_a_newer_one_are_fine() {
        assert_eq!(there().conflict(Some("openmpi"), "0.1.0"), None);
        assert_eq!(there().conflict(Some("openmpi"), "0.2.0"), None);
        assert_eq!(there().conflict(None, "0.1.0"), None);
    }

    #[test]
    fn one_part_alone_is_not_renewed() {
        let refusal = there().conflict(None, "0.2.0").unwrap();
        assert!(
            refusal.contains("0.1.0") && refusal.contains("`--mpi openmpi`"),
            "{refusal}"
        );
    }
}
