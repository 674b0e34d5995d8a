//! The MPI library that the program has loaded: its handles and constants, and the functions that it would have called.

pub(crate) mod fortran;
pub(crate) mod large;
pub(crate) mod loaded;
pub(crate) mod next;
pub(crate) mod said;
