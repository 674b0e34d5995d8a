//! Where ranks live.

use reduce::Algorithm;

use crate::Error;
use crate::way::Way;

/// Where ranks live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Threads of this process.
    Threads,
    /// Processes under `mpirun`.
    Mpi,
}

impl Backend {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Threads => "threads",
            Backend::Mpi => "mpi",
        }
    }

    /// What its transport's own allreduce is called.
    pub fn allreduce(self) -> &'static str {
        match self {
            Backend::Threads => "allreduce",
            Backend::Mpi => "MPI_Allreduce",
        }
    }

    /// Whether its ranks can reduce in this way.
    pub fn offers(self, way: Way) -> bool {
        self == Backend::Mpi || way != Way::Tree(Algorithm::MpiNative)
    }

    /// One backend by name, or `all`.
    pub fn parse(name: &str) -> Result<Vec<Self>, Error> {
        match name {
            "threads" => Ok(vec![Backend::Threads]),
            "mpi" => Ok(vec![Backend::Mpi]),
            "all" => Ok(vec![Backend::Threads, Backend::Mpi]),
            _ => {
                let reason = format!("unknown backend `{name}`; known: threads, mpi, all");
                Err(Error::option("--backend", reason))
            }
        }
    }
}
