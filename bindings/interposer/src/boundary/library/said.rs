//! What this library says on standard error, and which rank says it.

use std::env;
use std::io::{self, Write};

/// The variables in which launchers tell a process its rank: Open MPI's, that of MPICH's family, and Slurm's.
const RANK_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"];

/// Writes to standard error in one piece.
pub(crate) fn say(text: &str) {
    // Without a standard error nobody can be told.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Whether the launcher calls this rank 0, or nothing: one rank speaks for all.
pub(crate) fn is_first_rank() -> bool {
    let mut told = RANK_VARIABLES.iter().filter_map(|name| env::var(name).ok());
    told.next().is_none_or(|rank| rank == "0")
}
