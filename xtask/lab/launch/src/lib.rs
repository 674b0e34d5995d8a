//! The MPI libraries of a machine, and how to start ranks with them. This crate contains nothing about reductions, because the gate needs
//! it before anything else is built.

mod installation;
pub mod installed;
mod launcher;
mod options;

pub use checkout::Error;
pub use installation::{
    Installation, LAUNCHER_VARIABLE, LIBRARIES, LIBRARY_VARIABLE, Library, Source, first_of,
};
pub use launcher::Launcher;
pub use options::MpiOptions;
