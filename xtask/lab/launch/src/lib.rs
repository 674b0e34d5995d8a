//! The MPI libraries of a machine, and programs on their ranks. The gate needs it before anything else is built: it knows nothing of
//! reductions.

mod error;
mod installation;
pub mod installed;
mod launcher;
mod options;

pub use error::Error;
pub use installation::{
    Installation, LAUNCHER_VARIABLE, LIBRARIES, LIBRARY_VARIABLE, Library, Source,
};
pub use launcher::Launcher;
pub use options::MpiOptions;
