//! Dereferences pointers and calls MPI: the only module of this crate with `unsafe`.
//!
//! A program promises what the MPI standard requires: a buffer is valid for its count and datatype, and handles are valid. Calls with other
//! arguments that the standard allows are passed on to the MPI library before any pointer is dereferenced.
//!
//! Nothing here is linked to an MPI library. The first call finds the library that the program has loaded, whatever its family. The MPI
//! library's functions are called through the table of crate `mpi_library`, by their `PMPI_` names, which bypass this library and other
//! tools. A call that is passed on goes to the next `MPI_` function that the dynamic linker finds, so other tools see it, too. A C++
//! exception that the program throws in an operator or an error handler propagates through such a call as if this library were not there.
//!
//! This library exports the functions of all MPI families. If the program's library lacks a function, the call returns an MPI error. But if
//! only the form with large counts is missing, the counts are passed on as `int`s if they fit.

#![expect(
    unsafe_code,
    reason = "MPI is a C library, to which programs pass pointers; each block says who promises what"
)]

mod calls;
mod check;
mod library;
mod process;
mod requests;
