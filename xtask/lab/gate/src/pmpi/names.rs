//! Checks that the interposer exports only names of MPI, which cannot collide with a program's own.

use std::collections::BTreeSet;
use std::path::Path;

use crate::c::symbols::exported;
use crate::commands::Result;
use crate::steps::Steps;

/// Reductions that every MPI library has, in C and in its Fortran.
const REDUCTIONS: [&str; 6] = [
    "Allreduce",
    "Reduce",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scan",
    "Exscan",
];

/// The prefixes of names in C and in Fortran compilers' spellings; MPIX_ is for pre-standard functions.
const OF_MPI: [&str; 4] = ["MPI_", "MPIX_", "mpi_", "mpix_"];

/// Checks the names that the interposer of a prefix defines.
pub(super) fn check(steps: &mut Steps, library: &Path) -> Result {
    let step = "libtreefold_pmpi.so exports MPI's names only";
    steps.check(step, || judge(&exported(library)?))
}

/// The number of names, or an error about them.
fn judge(names: &BTreeSet<String>) -> Result<String> {
    let is_other = |name: &&String| !OF_MPI.iter().any(|begin| name.starts_with(begin));
    let others: Vec<&String> = names.iter().filter(is_other).collect();
    let reductions = REDUCTIONS.map(|name| format!("MPI_{name}"));
    let missing: Vec<&String> = reductions
        .iter()
        .filter(|name| !names.contains(*name))
        .collect();
    if others.is_empty() && missing.is_empty() {
        return Ok(format!("{} names", names.len()));
    }
    Err(format!("other names: {others:?}; missing: {missing:?}").into())
}

#[cfg(test)]
mod tests {
    use super::{REDUCTIONS, judge};

    #[test]
    fn names_are_judged() {
        let mut names = REDUCTIONS.map(|name| format!("MPI_{name}")).into();
        assert!(judge(&names).is_ok());
        names.insert("mpi_allreduce_f08_".to_owned());
        assert!(judge(&names).is_ok());
        names.insert("PMPI_Scan".to_owned());
        assert!(judge(&names).is_err());
        names.remove("PMPI_Scan");
        names.remove("MPI_Scan");
        assert!(judge(&names).is_err());
    }
}
