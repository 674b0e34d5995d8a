//! Worlds of threads in one process; see [`comm::threads`].

use comm::Error;

use super::World;

pub use comm::threads::RunError;

/// Runs `body` on `ranks` ranks, each a thread, and returns their results in rank order.
///
/// # Errors
/// `ranks` is 0 or too many, a thread could not be started, or a rank panicked. The other ranks' pending and
/// later calls then return an error that names it, and all threads have ended.
pub fn run<R: Send>(ranks: usize, body: impl Fn(&World) -> R + Sync) -> Result<Vec<R>, RunError> {
    comm::threads::run(ranks, |end| body(&World::new(end)))
}

/// Like [`run`], with the interleaving of ranks and messages drawn from `seed`; see [`comm::threads::run_seeded`].
///
/// # Errors
/// As [`run`].
pub fn run_seeded<R: Send>(
    ranks: usize,
    seed: u64,
    body: impl Fn(&World) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    comm::threads::run_seeded(ranks, seed, |end| body(&World::new(end)))
}

/// Like [`run`], with every rank's own outcome: a rank that panics is an error in its place, and the others' results are kept. For
/// programs whose ranks go on without those that are lost; see [`World::shrink`].
///
/// # Errors
/// `ranks` is 0 or too many.
pub fn run_each<R: Send>(
    ranks: usize,
    body: impl Fn(&World) -> R + Sync,
) -> Result<Vec<Result<R, Error>>, RunError> {
    comm::threads::run_each(ranks, |end| body(&World::new(end)))
}

/// Like [`run_each`], until a rank is lost with the interleaving of [`run_seeded`]; see [`comm::threads::run_each_seeded`].
///
/// # Errors
/// As [`run_each`].
pub fn run_each_seeded<R: Send>(
    ranks: usize,
    seed: u64,
    body: impl Fn(&World) -> R + Sync,
) -> Result<Vec<Result<R, Error>>, RunError> {
    comm::threads::run_each_seeded(ranks, seed, |end| body(&World::new(end)))
}
