//! MPI reductions of unchanged programs, by treefold's tree.
//!
//! A program that runs with `LD_PRELOAD=libtreefold_pmpi.so` calls this library's `MPI_Allreduce`, `MPI_Reduce`, `MPI_Reduce_scatter`,
//! `MPI_Reduce_scatter_block`, `MPI_Scan` and `MPI_Exscan`, or their non-blocking and persistent forms, instead of the MPI library's. Each element is combined over ranks 0…p−1 of the
//! communicator by treefold's tree. What is not a sum or product of floating-point numbers is passed to the MPI library as it is.
//!
//! `boundary` has the exported functions: the only room where pointers are followed and MPI is called. `task` is a reduction as a
//! program asks for it, `engine` runs it, `settings` are the environment's, and `statistics` and `report` say at the end what happened.

pub mod boundary;
mod engine;
mod report;
mod settings;
mod statistics;
mod task;
