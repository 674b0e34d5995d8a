//! The MPI library that the program has loaded: its handles, its constants, and the functions that this library replaces.

pub(crate) mod counts;
pub(crate) mod fortran;
pub(crate) mod loaded;
pub(crate) mod next;
pub(crate) mod said;
