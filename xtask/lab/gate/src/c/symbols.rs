//! Checks the symbols of shared libraries. Each library exports exactly the functions that its headers declare, all with the interface's
//! version. Its soname has that version, too, and it links no MPI library.

use std::collections::BTreeSet;
use std::path::Path;

use checkout::files::read;
use checkout::headers::functions;
use checkout::workspace::workspace;

use crate::{Result, Steps, command, output};

/// The libraries, and the headers that declare what each exports.
const LIBRARIES: [(&str, &str); 2] = [
    (
        "libtreefold",
        "c/include/treefold.h c-mpi/include/treefold_mpi.h c/include/treefold_aggregates.h",
    ),
    (
        "libtreefold_reprored",
        "c-mpi/include/binary_tree_summation.h",
    ),
];

/// The prefix of the functions that `libtreefold_reprored` calls; no header declares them.
const OF_REPRORED: &str = "treefold_reprored_";

/// Checks the libraries of a prefix.
pub(super) fn check(steps: &mut Steps, prefix: &Path) -> Result {
    let folder = prefix.join("lib");
    for (name, headers) in LIBRARIES {
        let library = folder.join(format!("{name}.so"));
        let step = format!("{name}.so exports what its headers declare");
        steps.check(step, || {
            let mut declared = BTreeSet::new();
            for header in headers.split(' ') {
                let text = read(&workspace().join("bindings").join(header))?;
                declared.extend(functions(&text));
            }
            let version = format!("TREEFOLD_{}", interface());
            let mut exported = BTreeSet::new();
            for symbol in versioned(&library)? {
                match symbol.split_once("@@") {
                    Some((name, found)) if found == version => exported.insert(name.to_owned()),
                    _ => return Err(format!("{symbol} is not of version {version}").into()),
                };
            }
            exported.retain(|name| !name.starts_with(OF_REPRORED));
            same(&declared, &exported)
        })?;
        steps.check(format!("{name}.so names itself and what it loads"), || {
            let dynamic = output(command!("readelf --dynamic", library))?;
            let expected = format!("{name}.so.{}", interface());
            if !dynamic.contains(&format!("Library soname: [{expected}]")) {
                return Err(format!("its soname is not {expected}:\n{dynamic}").into());
            }
            if dynamic.contains("Shared library: [libmpi") {
                return Err(format!("it loads an MPI library:\n{dynamic}").into());
            }
            Ok(expected)
        })?;
    }
    // A program may link the library by two names, but a process must load it only once, so that handles are valid everywhere.
    steps.check("libtreefold_mpi is libtreefold", || {
        for extension in ["so", "a"] {
            let file = |name| folder.join(format!("{name}.{extension}")).canonicalize();
            let files = [file("libtreefold")?, file("libtreefold_mpi")?];
            if files[0] != files[1] {
                return Err(format!("{files:?}").into());
            }
        }
        Ok("one file".to_owned())
    })
}

/// The version of the interface. Before 1.0, each minor version is a new interface.
fn interface() -> String {
    match env!("CARGO_PKG_VERSION_MAJOR") {
        "0" => format!("0.{}", env!("CARGO_PKG_VERSION_MINOR")),
        major => major.to_owned(),
    }
}

/// The number of functions if both sets are equal, or else an error with their differences.
fn same(declared: &BTreeSet<String>, exported: &BTreeSet<String>) -> Result<String> {
    if declared.is_empty() {
        return Err("the headers declare nothing".into());
    }
    if declared == exported {
        return Ok(format!("{} functions", declared.len()));
    }
    let missing: Vec<&String> = declared.difference(exported).collect();
    let other: Vec<&String> = exported.difference(declared).collect();
    Err(format!("declared only: {missing:?}; exported only: {other:?}").into())
}

/// The symbols that a shared library defines.
pub(crate) fn exported(library: &Path) -> Result<BTreeSet<String>> {
    let symbols = versioned(library)?.into_iter();
    let name = |symbol: String| symbol.split('@').next().unwrap_or_default().to_owned();
    Ok(symbols.map(name).collect())
}

/// The symbols that a shared library defines, with their versions, as in `treefold_sum_f64@@TREEFOLD_0.1`.
fn versioned(library: &Path) -> Result<Vec<String>> {
    let lines = output(command!("nm --dynamic --defined-only", library))?;
    let words = lines.lines().map(|line| line.split_whitespace());
    let symbols = words.filter_map(|mut words| match words.nth(1)? {
        // Skips the symbol that stands for the version itself.
        "A" => None,
        _ => words.next().map(str::to_owned),
    });
    Ok(symbols.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{LIBRARIES, functions, read, same, workspace};

    /// The most functions that the headers for programs may declare, so that users can know them all.
    const MOST_FUNCTIONS: usize = 120;

    /// The most functions that the header for databases may declare.
    const MOST_OF_AGGREGATES: usize = 12;

    #[test]
    fn headers_declare_few_functions() {
        let (_, headers) = LIBRARIES[0];
        let counts = headers.split(' ').map(|header| {
            let text = read(&workspace().join("bindings").join(header)).unwrap();
            functions(&text).len()
        });
        let counts: Vec<usize> = counts.collect();
        let [program, ranks, aggregates] = counts[..] else {
            panic!("{counts:?}")
        };
        assert!(program.min(ranks) > 40 && aggregates > 9, "{counts:?}");
        assert!(program + ranks <= MOST_FUNCTIONS, "{counts:?}");
        assert!(aggregates <= MOST_OF_AGGREGATES, "{counts:?}");
    }

    #[test]
    fn differences_are_differences() {
        let set = |names: &str| -> BTreeSet<String> {
            names.split_whitespace().map(str::to_owned).collect()
        };
        assert!(same(&set("a b"), &set("b a")).is_ok());
        for (declared, exported) in [("a b", "b c"), ("a", "a b"), ("", "")] {
            assert!(same(&set(declared), &set(exported)).is_err());
        }
    }
}
