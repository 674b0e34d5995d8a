//! The members of the workspace, and with which features they are checked.

/// All members but the one that is built for one MPI library.
pub(super) const MEMBERS: &str = "--workspace --exclude treefold-rsmpi";

/// The lab, which computes much: its tests run optimised, and share what `cargo xtask` itself is built of.
pub(super) const LAB: [&str; 10] = [
    "xtask",
    "front",
    "checkout",
    "fuzz",
    "install",
    "papers",
    "gate",
    "treefold-harness",
    "treefold-cluster",
    "benches",
];

/// The members whose tests check what they compute: all others.
pub(super) fn product() -> String {
    let lab = LAB.map(|member| format!(" --exclude {member}"));
    format!("{MEMBERS}{}", lab.concat())
}

/// All features but the book's. Clippy, docs and tests take the same ones, so that they share what they build.
pub(super) const FEATURES: &str =
    "treefold/cuda,treefold/mpi,treefold/tracing,treefold/par,treefold/num-complex";
