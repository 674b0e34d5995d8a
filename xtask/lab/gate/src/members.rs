//! The members of the workspace, and with which features they are built and checked.

/// All members but the one that is built for one MPI library.
pub(super) const MEMBERS: &str = "--workspace --exclude treefold-rsmpi";

/// All features but the book's. Clippy, docs and tests take the same ones, so that they share what they build.
pub(super) const FEATURES: &str =
    "treefold/cuda,treefold/mpi,treefold/tracing,treefold/par,treefold/num-complex";
