//! The programs that use a package: every source in its `examples` and in the folders of its `tests`.

use std::fs;
use std::path::{Path, PathBuf};

use launch::Error;

use crate::steps::Stop;

/// Folders with sources in C, and their extension.
pub(super) const C: [(&str, &str); 2] = [("examples", "c"), ("tests/c", "c")];

/// The same for C++ and Fortran.
pub(super) const CPP_AND_FORTRAN: [(&str, &str); 4] = [
    ("examples", "cpp"),
    ("tests/cpp", "cpp"),
    ("examples", "f90"),
    ("tests/fortran", "f90"),
];

/// A program, and its name in the build folder.
pub(crate) struct Program {
    pub(crate) source: PathBuf,
    pub(crate) name: String,
}

impl Program {
    /// Whether its source has this name, without its extension.
    pub(crate) fn is(&self, stem: &str) -> bool {
        self.source.file_stem().is_some_and(|own| own == stem)
    }
}

/// The programs in these folders of a package. A folder without one is an error, as nothing would be tested.
pub(crate) fn programs(package: &Path, folders: &[(&str, &str)]) -> Result<Vec<Program>, Stop> {
    let mut programs = Vec::new();
    for (folder, extension) in folders {
        let sources = sources(&package.join(folder), extension).map_err(Stop::Error)?;
        for source in sources {
            let file = source.file_name().unwrap_or_default().to_string_lossy();
            // tests/consumer/CMakeLists.txt makes the same name.
            let name = format!("{folder}/{file}").replace(['/', '.'], "-");
            programs.push(Program { source, name });
        }
    }
    Ok(programs)
}

/// The files of a folder with this extension, by name; at least one.
fn sources(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::file(folder, error);
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|found| found == extension) {
            sources.push(path);
        }
    }
    if sources.is_empty() {
        let reason = format!("there is no .{extension} file: nothing would be tested");
        return Err(Error::file(folder, reason));
    }
    sources.sort();
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs;
    use std::process;

    use super::sources;

    #[test]
    fn no_sources_are_an_error() {
        let folder = env::temp_dir().join(format!("treefold-sources-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(sources(&folder, "c").is_err());
        fs::write(folder.join("a.c"), "").unwrap();
        fs::write(folder.join("b.cpp"), "").unwrap();
        let found = sources(&folder, "c").unwrap();
        assert_eq!(found, [folder.join("a.c")]);
        assert!(sources(&folder, "f90").is_err());
        fs::remove_dir_all(&folder).unwrap();
        assert!(sources(&folder, "c").is_err());
    }
}
