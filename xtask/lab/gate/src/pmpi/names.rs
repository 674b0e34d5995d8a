//! What the interposer exports: names of MPI, and nothing that could meet a program's own.

use std::path::Path;

use crate::c::symbols::exported;
use crate::steps::{Steps, Stop};

/// Reductions that every MPI library has, in C and in its Fortran.
const REDUCTIONS: [&str; 6] = [
    "Allreduce",
    "Reduce",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scan",
    "Exscan",
];

/// Checks the names that a shared library defines.
pub(super) fn check(steps: &mut Steps, library: &Path) -> Result<(), Stop> {
    let file = library.file_name().unwrap_or_default().display();
    steps.check(&format!("{file} exports MPI's names only"), || {
        let exported: Vec<String> = exported(library)?.into_iter().collect();
        judge(&exported)
    })
}

/// The number of names, or what is wrong with them.
fn judge(names: &[String]) -> Result<String, String> {
    let others = names.iter().filter(|name| !is_of_mpi(name));
    let others: Vec<&str> = others.map(String::as_str).collect();
    if !others.is_empty() {
        return Err(format!("other names: {}", others.join(", ")));
    }
    for reduction in REDUCTIONS {
        let name = format!("MPI_{reduction}");
        if !names.contains(&name) {
            return Err(format!("{name} is missing"));
        }
    }
    Ok(format!("{} names", names.len()))
}

/// In C, and as Fortran compilers spell them; MPIX_ is for what a library has before the standard.
fn is_of_mpi(name: &str) -> bool {
    let prefixes = ["MPI_", "MPIX_", "mpi_", "mpix_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::{REDUCTIONS, judge};

    #[test]
    fn names_are_judged() {
        let mut names = REDUCTIONS.map(|name| format!("MPI_{name}")).to_vec();
        names.push("mpi_allreduce_f08_".to_owned());
        assert_eq!(judge(&names), Ok("7 names".to_owned()));
        names.push("PMPI_Scan".to_owned());
        assert_eq!(judge(&names), Err("other names: PMPI_Scan".to_owned()));
        assert_eq!(judge(&names[1..7]), Err("MPI_Allreduce is missing".into()));
    }
}
