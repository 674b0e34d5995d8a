//! Dereferences pointers and calls MPI: the only module of this crate with `unsafe`.
//!
//! A program promises what the MPI standard requires: a buffer is valid for its count and datatype, and handles are valid. Other arguments
//! that the standard allows are passed on to the library before any pointer is dereferenced.
//!
//! Nothing here is linked to an MPI library: the one that the program has loaded is found by the first call, of whatever family, and its
//! functions are called through the table of crate `mpi_library`, by their `PMPI_` names, so that neither this library nor another tool is
//! called. What is passed on goes to the next `MPI_` function that the dynamic linker finds, so that another tool beside it sees the
//! program's call. An exception of C++ that the program throws in an operator or an error handler goes through what is passed as if
//! nothing were there.
//!
//! The names are those of all families together. What the program's library lacks of them is an error of MPI's, but for large counts, which
//! are passed on as `int`s where these hold them.

#![expect(
    unsafe_code,
    reason = "MPI is a C library, and programs pass it pointers; each block says what is promised"
)]

pub mod calls;
pub mod check;
mod library;
pub mod process;
pub mod requests;
