//! Worlds of threads in one process; see [`comm::threads`].

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
