//! The files by which pkg-config and CMake find the libraries, filled in.

use crate::prefix::Kind;

/// A file that is filled in, and where it goes below the prefix.
pub(super) struct Template {
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    text: &'static str,
}

macro_rules! template {
    ($folder:literal, $name:literal) => {
        Template {
            path: concat!($folder, "/", $name),
            kind: Kind::Text,
            text: include_str!(concat!("../../../../bindings/c/packaging/", $name, ".in")),
        }
    };
}

/// Those of the part for one process.
pub(super) const LOCAL: &[Template] = &[
    template!("lib/pkgconfig", "treefold.pc"),
    template!("lib/cmake/treefold", "treefoldConfigVersion.cmake"),
    template!("lib/cmake/treefold", "treefoldConfig.cmake"),
];

/// Those of the part for ranks.
pub(super) const MPI: &[Template] = &[
    template!("lib/pkgconfig", "treefold-mpi.pc"),
    template!("lib/cmake/treefold", "treefoldMpi.cmake"),
];

/// What starts programs with the interposer.
pub(super) const INTERPOSER: &[Template] = &[Template {
    path: "bin/treefold-run",
    kind: Kind::Program,
    text: include_str!("../../../../bindings/interposer/packaging/treefold-run"),
}];

/// What a program needs that links a static library: what `rustc --print native-static-libs` says on Linux, but for `gcc_s`. That
/// exists as a shared library only; compilers add what unwinds panics by themselves, `gcc_eh` where a program is to be fully static.
const SYSTEM_LIBRARIES: [&str; 6] = ["util", "rt", "pthread", "m", "dl", "c"];

/// The names of all algorithms, which `treefold-run` knows. A test compares them: crate `reduce` would take as long to build as what is
/// installed.
const ALGORITHMS: &[&str] = &[
    "direct",
    "binomial",
    "fibonacci",
    "binary",
    "reduce-broadcast",
    "linear-pipelined",
    "binary-pipelined",
    "linear-doubly-pipelined",
    "binary-doubly-pipelined",
    "dual-root",
    "two-tree",
    "recursive-doubling",
    "reduce-scatter-gather",
    "rabenseifner",
    "pairwise-exchange",
    "dissemination",
    "bruck",
    "ring",
    "circulant",
    "hierarchical",
    "mpi-native",
    "algorithm1",
    "algorithm1-unbuffered",
];

/// What stands for the markers of templates.
pub(super) struct Values {
    version: String,
}

impl Values {
    /// Of a version.
    pub(super) fn new(version: &str) -> Self {
        let version = version.to_owned();
        Self { version }
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The version of the interface, which programs ask for when they start: before 1.0 each minor version is one.
    pub(super) fn interface(&self) -> String {
        let mut numbers = self.version.split('.');
        let (major, minor) = (numbers.next(), numbers.next());
        match (major.unwrap_or_default(), minor.unwrap_or_default()) {
            ("0", minor) => format!("0.{minor}"),
            (major, _) => major.to_owned(),
        }
    }
}

impl Template {
    /// The file's content.
    pub(super) fn fill(&self, values: &Values) -> String {
        let flags = SYSTEM_LIBRARIES.map(|library| format!("-l{library}"));
        let mut text = self.text.to_owned();
        for (marker, value) in [
            ("@VERSION@", values.version()),
            ("@INTERFACE@", &values.interface()),
            ("@SYSTEM_FLAGS@", &flags.join(" ")),
            ("@SYSTEM_LIBRARIES@", &SYSTEM_LIBRARIES.join(";")),
            ("@ALGORITHMS@", &ALGORITHMS.join(" ")),
        ] {
            text = text.replace(marker, value);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{ALGORITHMS, INTERPOSER, LOCAL, MPI, Values};

    #[test]
    fn all_algorithms_are_named() {
        let names: Vec<&str> = reduce::Algorithm::all()
            .map(reduce::Algorithm::name)
            .collect();
        assert_eq!(ALGORITHMS, names);
    }

    /// Whether a text has a marker: capital letters between two `@`.
    fn has_marker(text: &str) -> bool {
        let is_name = |part: &&str| {
            let is_letter = |c: char| c.is_ascii_uppercase() || c == '_';
            !part.is_empty() && part.chars().all(is_letter)
        };
        text.split('@').skip(1).any(|part| is_name(&part))
    }

    #[test]
    fn templates_have_no_marker_left() {
        let values = Values::new("0.1.0");
        for template in [LOCAL, MPI, INTERPOSER].into_iter().flatten() {
            assert!(has_marker(template.text), "{}", template.path);
            let text = template.fill(&values);
            assert!(!has_marker(&text), "{}:\n{text}", template.path);
        }
    }

    #[test]
    fn interfaces_are_minor_versions_before_the_first_major_one() {
        let interface = |version| Values::new(version).interface();
        assert_eq!(interface("0.1.0"), "0.1");
        assert_eq!(interface("0.12.3"), "0.12");
        assert_eq!(interface("1.2.3"), "1");
    }
}
