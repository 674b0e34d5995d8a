//! Messages on standard error, and which rank prints them.

use std::env;
use std::io::{self, Write};

/// The variables by which launchers pass a process its rank: Open MPI's, the MPICH family's, and Slurm's.
const RANK_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"];

/// Writes a text to standard error in one call.
pub(crate) fn say(text: &str) {
    // If standard error is closed, there is nowhere to report this.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Whether this is rank 0, which prints for all ranks. Also true if no launcher has set a rank.
pub(crate) fn is_first_rank() -> bool {
    let mut ranks = RANK_VARIABLES.iter().filter_map(|name| env::var(name).ok());
    ranks.next().is_none_or(|rank| rank == "0")
}
