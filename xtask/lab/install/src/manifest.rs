//! The manifest: the list of files installed in a prefix, by which exactly these files can be uninstalled.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

use checkout::{Error, files};

/// The manifest's path below the prefix.
pub(super) const PATH: &str = "share/treefold/manifest.txt";

/// The manifest's first line.
const TITLE: &str = "# The files that `cargo xtask install` has written. `--uninstall` removes all that are unchanged.";

/// The kind of an installed entry, and how to recognise it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A folder created by the installation.
    Folder,
    /// A file whose content has this hash.
    File(u64),
    /// A link to this file in the same folder.
    Link(String),
}

/// The installed entries, by path below the prefix.
#[derive(Debug, Default)]
pub(super) struct Manifest(BTreeMap<String, Entry>);

impl Manifest {
    /// The manifest of a prefix; `None` if it has none.
    ///
    /// # Errors
    /// The manifest cannot be read or is invalid.
    pub(super) fn read(prefix: &Path) -> Result<Option<Self>, Error> {
        let path = prefix.join(PATH);
        if !path.exists() {
            return Ok(None);
        }
        let text = files::read(&path)?;
        let mut manifest = Self::default();
        for (line, number) in text.lines().zip(1..) {
            if line.starts_with('#') {
                continue;
            }
            let wrong = || Error::file(&path, format!("line {number} is invalid"));
            let (path, entry) = parse(line).ok_or_else(wrong)?;
            manifest.add(path, entry);
        }
        Ok(Some(manifest))
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, path: &str, entry: Entry) {
        self.0.insert(path.to_owned(), entry);
    }

    /// The manifest as text.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{TITLE}\n");
        for (path, entry) in &self.0 {
            let _ = match entry {
                Entry::Folder => writeln!(text, "folder {path}"),
                Entry::File(hash) => writeln!(text, "file {hash:016x} {path}"),
                Entry::Link(target) => writeln!(text, "link {target} {path}"),
            };
        }
        text
    }

    /// Removes the listed entries and then the manifest. Prints what happened to each entry.
    ///
    /// # Errors
    /// An entry cannot be removed. The manifest remains, so that the removal can be repeated.
    pub(super) fn remove(&self, prefix: &Path) -> Result<(), Error> {
        // Folders come after their contents.
        for (name, entry) in self.0.iter().rev() {
            if *entry != Entry::Folder {
                let path = prefix.join(name);
                let fate = files::named(&path, remove(&path, entry))?;
                println!("{fate}: {}", path.display());
            }
        }
        let own = prefix.join(PATH);
        files::named(&own, fs::remove_file(&own))?;
        for (name, entry) in self.0.iter().rev() {
            // A folder with other contents stays.
            if *entry == Entry::Folder {
                let _ = fs::remove_dir(prefix.join(name));
            }
        }
        Ok(())
    }
}

/// Removes an entry if it is unchanged. Returns what happened.
fn remove(path: &Path, entry: &Entry) -> io::Result<&'static str> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok("missing"),
        Err(error) => return Err(error),
    };
    let is_as_installed = match entry {
        Entry::Folder => found.is_dir(),
        Entry::File(hash) => found.is_file() && content_hash(&fs::read(path)?) == *hash,
        Entry::Link(target) => found.is_symlink() && fs::read_link(path)? == Path::new(target),
    };
    if !is_as_installed {
        return Ok("kept, since it was changed");
    }
    fs::remove_file(path)?;
    Ok("removed")
}

/// Parses a line into path and entry; `None` if it is invalid, or the path leads out of the prefix.
fn parse(line: &str) -> Option<(&str, Entry)> {
    let (kind, rest) = line.split_once(' ')?;
    let (path, entry) = match (kind, rest.split_once(' ')) {
        ("folder", _) => (rest, Entry::Folder),
        ("file", Some((hash, path))) => (path, Entry::File(u64::from_str_radix(hash, 16).ok()?)),
        ("link", Some((target, path))) => (path, Entry::Link(target.to_owned())),
        _ => return None,
    };
    is_below(path).then_some((path, entry))
}

/// Whether a path stays below the folder that it is relative to.
pub(super) fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// The hash FNV-1a, which takes few lines of code. It must detect changed files, but need not resist forgery.
pub(super) fn content_hash(content: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    content.iter().fold(start, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{Entry, content_hash, parse};

    #[test]
    fn lines_of_manifests() {
        let link = Entry::Link("a.so.0".to_owned());
        for (line, expected) in [
            ("folder lib/x y", Some(("lib/x y", Entry::Folder))),
            (
                "file 00000000000000ff a/b c",
                Some(("a/b c", Entry::File(255))),
            ),
            ("link a.so.0 lib/a.so", Some(("lib/a.so", link))),
            ("", None),
            ("folder", None),
            ("folder ../x", None),
            ("folder /etc", None),
            ("file x lib/a", None),
            ("file 0 ../a", None),
            ("socket a", None),
        ] {
            assert_eq!(parse(line), expected, "{line}");
        }
    }

    /// Published values of FNV-1a.
    #[test]
    fn hashes_are_those_of_the_definition() {
        assert_eq!(content_hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(content_hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(content_hash(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
