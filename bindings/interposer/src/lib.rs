//! Runs the MPI reductions of unchanged programs in the order of treefold's tree.
//!
//! A program that runs with `LD_PRELOAD=libtreefold_pmpi.so` calls this library's `MPI_Allreduce`, `MPI_Reduce`, `MPI_Reduce_scatter`,
//! `MPI_Reduce_scatter_block`, `MPI_Scan` and `MPI_Exscan`, or their non-blocking and persistent forms, instead of the MPI library's.
//! By default, everything but sums and products of floating-point numbers is passed to the MPI library unchanged.
//!
//! `boundary` contains the exported functions; no other module dereferences pointers or calls MPI. `task` describes a reduction, `engine`
//! runs it, `settings` reads the environment, and `statistics` and `report` make the report at the end.

mod boundary;
mod engine;
mod report;
mod settings;
mod statistics;
mod task;
