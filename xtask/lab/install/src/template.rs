//! Fills in the templates of the files with which pkg-config and CMake find the libraries.

use crate::prefix::Kind;

/// A template and its path below the prefix, which may also contain markers.
pub(super) struct Template {
    path: &'static str,
    pub(super) kind: Kind,
    text: &'static str,
}

macro_rules! template {
    ($folder:literal, $name:literal) => {
        template!($folder, $name, Text, concat!("c/packaging/", $name, ".in"))
    };
    ($folder:literal, $name:literal, $kind:ident) => {
        template!(
            $folder,
            $name,
            $kind,
            concat!("interposer/packaging/", $name)
        )
    };
    ($folder:literal, $name:literal, $kind:ident, $source:expr) => {
        Template {
            path: concat!($folder, "/", $name),
            kind: Kind::$kind,
            text: include_str!(concat!("../../../../bindings/", $source)),
        }
    };
}

/// The templates of the library that programs link.
pub(super) const LIBRARY: &[Template] = &[
    template!("@LIBDIR@/pkgconfig", "treefold.pc"),
    template!("@LIBDIR@/cmake/treefold", "treefoldConfigVersion.cmake"),
    template!("@LIBDIR@/cmake/treefold", "treefoldConfig.cmake"),
    template!("@LIBDIR@/pkgconfig", "treefold-mpi.pc"),
    template!("@LIBDIR@/pkgconfig", "treefold-reprored.pc"),
    template!("@LIBDIR@/cmake/treefold", "treefoldMpi.cmake"),
];

/// `treefold-run` and its manual.
pub(super) const INTERPOSER: &[Template] = &[
    template!("share/man/man1", "treefold-run.1", Text),
    template!("bin", "treefold-run", Program),
];

/// The system's libraries that programs need if they link a static library: the output of `rustc --print native-static-libs` on Linux
/// without `gcc_s`, which exists only as a shared library. Compilers add the unwinder themselves: `gcc_eh` for fully static programs.
pub(super) const SYSTEM_LIBRARIES: [&str; 6] = ["util", "rt", "pthread", "m", "dl", "c"];

/// The values of the templates' markers.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) version: &'a str,
    /// The folder of libraries below the prefix.
    pub(super) libdir: &'a str,
}

impl Values<'_> {
    /// The relative path from the folder of libraries to the prefix.
    fn up(&self) -> String {
        let depth_count = self.libdir.split('/').count();
        vec![".."; depth_count].join("/")
    }

    /// The interface's version, as in the soname: before 1.0, each minor version is a new interface.
    pub(super) fn interface(&self) -> String {
        let mut numbers = self.version.split('.');
        let (major, minor) = (numbers.next(), numbers.next());
        match (major.unwrap_or_default(), minor.unwrap_or_default()) {
            ("0", minor) => format!("0.{minor}"),
            (major, _) => major.to_owned(),
        }
    }

    fn fill(&self, text: &str) -> String {
        let flags = SYSTEM_LIBRARIES.map(|library| format!("-l{library}"));
        let values = [
            ("@VERSION@", self.version),
            ("@INTERFACE@", &self.interface()),
            ("@LIBDIR@", self.libdir),
            ("@UP@", &self.up()),
            ("@SYSTEM_FLAGS@", &flags.join(" ")),
            ("@SYSTEM_LIBRARIES@", &SYSTEM_LIBRARIES.join(";")),
        ];
        let mut text = text.to_owned();
        for (marker, value) in values {
            text = text.replace(marker, value);
        }
        text
    }
}

impl Template {
    /// The file's place below the prefix.
    pub(super) fn path(&self, values: &Values<'_>) -> String {
        values.fill(self.path)
    }

    /// The file's content.
    pub(super) fn fill(&self, values: &Values<'_>) -> String {
        values.fill(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{INTERPOSER, LIBRARY, Values};

    fn values<'a>(version: &'a str, libdir: &'a str) -> Values<'a> {
        Values { version, libdir }
    }

    /// `treefold-run` knows the names of all algorithms. No template value supplies the list, because the installer would have to build
    /// crate `reduce` for it, which takes as long as the rest of the installation.
    #[test]
    fn all_algorithms_are_named() {
        let names = reduce::Algorithm::all().map(reduce::Algorithm::name);
        let names: Vec<&str> = names.collect();
        let line = format!("\nalgorithms='{}'\n", names.join(" "));
        assert!(INTERPOSER[1].text.contains(&line), "{line}");
    }

    #[test]
    fn templates_have_no_marker_left() {
        // Capital letters between two `@`.
        let has_marker = |text: &str| {
            let is_letter = |c: char| c.is_ascii_uppercase() || c == '_';
            let is_name = |part: &str| !part.is_empty() && part.chars().all(is_letter);
            text.split('@').skip(1).any(is_name)
        };
        let values = values("0.1.0", "lib");
        for template in LIBRARY {
            assert!(has_marker(template.text), "{}", template.path);
        }
        for template in [LIBRARY, INTERPOSER].into_iter().flatten() {
            let (path, text) = (template.path(&values), template.fill(&values));
            assert!(!has_marker(&path), "{path}");
            assert!(!has_marker(&text), "{path}:\n{text}");
        }
    }

    #[test]
    fn the_prefix_is_above_the_folder_of_libraries() {
        for (libdir, up) in [("lib", ".."), ("lib/a-b", "../..")] {
            let values = values("0.1.0", libdir);
            let path = format!("{libdir}/pkgconfig/treefold.pc");
            assert_eq!(
                [LIBRARY[0].path(&values), values.up()],
                [path, up.to_owned()]
            );
        }
    }

    /// The manual explains everything that `--help` lists.
    #[test]
    fn the_manual_has_every_option_and_variable() {
        let [manual, program] = INTERPOSER else {
            panic!("a manual and a program");
        };
        let usage = program.text.split("<<'END'\n").nth(1);
        let usage = usage.and_then(|text| text.split("\nEND\n").next());
        let is_name = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '-';
        let words = usage.unwrap().split(|c| !is_name(c));
        let is_option = |word: &str| word.len() > 2 && word.starts_with("--");
        let is_documented = |word: &&str| is_option(word) || word.starts_with("TREEFOLD_");
        let documented: Vec<&str> = words.filter(is_documented).collect();
        assert!(documented.len() > 10, "{documented:?}");
        // In a manual, hyphens in commands have a backslash.
        let manual = manual.text.replace("\\-", "-");
        for word in documented {
            assert!(manual.contains(word), "the manual lacks {word}");
        }
    }

    #[test]
    fn interfaces_are_minor_versions_before_the_first_major_one() {
        for (version, interface) in [("0.1.0", "0.1"), ("0.12.3", "0.12"), ("1.2.3", "1")] {
            assert_eq!(values(version, "lib").interface(), interface);
        }
    }
}
