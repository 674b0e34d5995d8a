//! Worlds of threads in one process; see [`comm::threads`].

use comm::{Error, collective};

use super::World;

pub use comm::threads::RunError;

/// A second world of the same threads, for a library that must not receive its caller's messages. Messages of one world never match
/// receives of the other. Collective.
///
/// A wait drives only the runs of its own world, so ranks must wait for runs of several worlds in the same order.
///
/// # Errors
/// Those of [`split`].
pub fn duplicate(world: &World) -> Result<World, Error> {
    let duplicate = split(world, Some(0), 0)?;
    Ok(duplicate.expect("every rank has a colour"))
}

/// The world of the threads that pass the same colour, in the order of their keys, and of their ranks if keys are equal; `None` for
/// threads without a colour. It is the equivalent of `MPI_Comm_split` and `MpiCommunicator::duplicate`. Collective.
///
/// All worlds of one [`run`] end together: if a rank is lost, or calls [`World::shrink`], pending and later calls fail in all of them, and
/// each world needs its own [`shrink`](World::shrink). A deadlock is detected even if ranks wait in different worlds; the error names ranks by
/// their numbers in the [`run`].
///
/// ```
/// use reduce::{Plan, threads};
///
/// let sums = threads::run(4, |world| {
///     let parity = world.rank() as u64 % 2;
///     let part = threads::split(world, Some(parity), 0).unwrap().unwrap();
///     let plan = Plan::builder(&part).local_items(1).build::<f64>().unwrap();
///     plan.allreduce(&[world.rank() as f64]).unwrap()
/// })?;
/// assert_eq!(sums, [2.0, 4.0, 2.0, 4.0]);
/// # Ok::<(), threads::RunError>(())
/// ```
///
/// # Errors
/// The transport failed; its ranks are not threads; or an operator [makes the call](Error::Nested).
pub fn split(world: &World, colour: Option<u64>, key: i64) -> Result<Option<World>, Error> {
    let tag = world.fresh_tag()?;
    let transport = world.transport();
    let own = [
        u64::from(colour.is_some()),
        colour.unwrap_or(0),
        key.cast_unsigned(),
    ];
    let all = collective::allgather(transport, tag, bytemuck::bytes_of(&own).to_vec())?;
    let all = all.chunks_exact(size_of_val(&own));
    let all: Vec<[u64; 3]> = all.map(bytemuck::pod_read_unaligned).collect();
    let mut ranks: Vec<usize> = (0..all.len())
        .filter(|&rank| all[rank][..2] == own[..2])
        .collect();
    ranks.sort_unstable_by_key(|&rank| (all[rank][2].cast_signed(), rank));
    if colour.is_none() {
        return Ok(None);
    }
    let part = World::of(transport.split(tag, &ranks)?);
    part.take_after(world);
    Ok(Some(part))
}

/// Runs `body` on `ranks` ranks, each a thread, and returns their results in rank order.
///
/// # Errors
/// `ranks` is 0 or too large, a thread could not be started, or a rank panicked. If a rank panicked, the other ranks' pending and later
/// calls returned an error that names that rank, and all threads have ended.
pub fn run<R: Send>(ranks: usize, body: impl Fn(&World) -> R + Sync) -> Result<Vec<R>, RunError> {
    comm::threads::run(ranks, |end| body(&World::new(end)))
}

/// Like [`run`], with the interleaving of ranks and messages drawn from `seed`; see [`comm::threads::run_seeded`].
///
/// # Errors
/// Those of [`run`].
pub fn run_seeded<R: Send>(
    ranks: usize,
    seed: u64,
    body: impl Fn(&World) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    comm::threads::run_seeded(ranks, seed, |end| body(&World::new(end)))
}

/// Like [`run`], but returns every rank's own outcome: an error for a rank that panicked, and a result for every other rank. This is for
/// programs whose ranks continue without lost ranks; see [`World::shrink`].
///
/// # Errors
/// `ranks` is 0 or too large.
pub fn run_each<R: Send>(
    ranks: usize,
    body: impl Fn(&World) -> R + Sync,
) -> Result<Vec<Result<R, Error>>, RunError> {
    comm::threads::run_each(ranks, |end| body(&World::new(end)))
}

/// Like [`run_each`]. Until a rank is lost, the interleaving is that of [`run_seeded`]; see [`comm::threads::run_each_seeded`].
///
/// # Errors
/// Those of [`run_each`].
pub fn run_each_seeded<R: Send>(
    ranks: usize,
    seed: u64,
    body: impl Fn(&World) -> R + Sync,
) -> Result<Vec<Result<R, Error>>, RunError> {
    comm::threads::run_each_seeded(ranks, seed, |end| body(&World::new(end)))
}
