//! The C, C++ and Fortran programs that use a package, and their compilers' options.

use std::mem;
use std::path::{Path, PathBuf};

use checkout::files::{name, with_extension};
use launch::Error;

use crate::{Result, command, output};

/// Folders with sources in C, and their extension.
pub(super) const C: [(&str, &str); 2] = [("examples", "c"), ("tests/c", "c")];

/// Folders with sources in C++ and Fortran, and their extensions.
pub(super) const CPP_AND_FORTRAN: [(&str, &str); 4] = [
    ("examples", "cpp"),
    ("tests/cpp", "cpp"),
    ("examples", "f90"),
    ("tests/fortran", "f90"),
];

/// The options of the C compiler.
pub(crate) const C_FLAGS: &str = "-std=c11 -O2 -Wall -Wextra -Werror";

/// A program's source, and the program's name in the build folder.
pub(crate) struct Program {
    pub(crate) source: PathBuf,
    pub(crate) name: String,
}

impl Program {
    /// Whether the name of the source without its extension is `stem`.
    pub(crate) fn is(&self, stem: &str) -> bool {
        self.source.file_stem().is_some_and(|own| own == stem)
    }
}

/// The programs in these folders of a package. A folder without programs is an error, since nothing would be tested.
pub(crate) fn programs(package: &Path, folders: &[(&str, &str)]) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for (folder, extension) in folders {
        let path = package.join(folder);
        let sources = with_extension(&path, extension)?;
        if sources.is_empty() {
            let reason = format!("it has no .{extension} file, so nothing is tested");
            return Err(Error::file(&path, reason).into());
        }
        for source in sources {
            // tests/consumer/CMakeLists.txt forms the same name.
            let name = format!("{folder}/{}", name(&source)).replace(['/', '.'], "-");
            programs.push(Program { source, name });
        }
    }
    Ok(programs)
}

/// The flags that pkg-config prints for a package in a prefix. For a fully static program, `added` is `--static`.
pub(crate) fn flags(prefix: &Path, name: &str, added: &str) -> Result<Vec<String>> {
    let mut command = command!("pkg-config", added, "--cflags --libs", name);
    command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    Ok(shell_words(&output(command)?))
}

/// Splits a line into words as a shell does: a space after a backslash does not end the word.
fn shell_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut chars) = (Vec::new(), String::new(), text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next()),
            c if c.is_whitespace() => words.push(mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use std::fs;

    use checkout::workspace::target;

    use super::{programs, shell_words};

    #[test]
    fn no_sources_are_an_error() {
        let folder = target().unwrap().join("tmp/sources");
        fs::create_dir_all(folder.join("c")).unwrap();
        fs::write(folder.join("c/a.c"), "").unwrap();
        fs::write(folder.join("c/b.cpp"), "").unwrap();
        let names = |folders: &[(&str, &str)]| {
            let found = programs(&folder, folders).ok()?;
            Some(found.into_iter().map(|one| one.name).collect::<Vec<_>>())
        };
        let found = names(&[("c", "c"), ("c", "cpp")]);
        assert_eq!(
            found.as_deref(),
            Some(&["c-a-c", "c-b-cpp"].map(str::to_owned)[..])
        );
        assert_eq!(names(&[("c", "f90")]), None);
        assert_eq!(names(&[("c", "c"), ("none", "c")]), None);
    }

    #[test]
    fn words_may_have_spaces() {
        let words = shell_words("-I/a\\ b/include  -L/a\\\\b -lx \n");
        assert_eq!(words, ["-I/a b/include", "-L/a\\b", "-lx"]);
    }
}
