//! Checks that all processes have loaded this library with the same settings. Otherwise the first reduction would hang.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use treefold::mpi::mpi_library::Request;

use crate::boundary::check::deferred::{self, End};
use crate::boundary::library::loaded::{self, Mpi, SUCCESS, mpi};
use crate::boundary::library::said::say;
use crate::boundary::process::finish::{SAID_BY_RANK_0, WRONG_SETTING, receive_one, wait_for};
use crate::settings::{Mode, Settings};

/// The tag of the messages on MPI_COMM_WORLD by which ranks exchange their settings if the settings differ.
const TAG: c_int = 32_748;

/// How long a rank waits for the other ranks after its own MPI_Init.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long a rank waits for the settings of the other ranks.
const ANSWER: Duration = Duration::from_secs(3);

/// Compares the ranks' settings once, and ends the job if they differ. All waits in this module are bounded.
pub(crate) fn compare(settings: &Settings) {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    let is_there = || Mpi::find().is_some_and(Mpi::can_be_called);
    if settings.mode == Mode::Off || !is_there() || IS_DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let world = loaded::world();
    let (rank, size) = (world.rank(), world.size());
    if rank == 0 && !settings.unknown.is_empty() {
        say(&format!(
            "treefold-pmpi: these unknown variables have no effect: {}\n",
            settings.unknown.join(", ")
        ));
    }
    let own = settings.shared();
    if size < 2 || are_alike(&own) {
        return;
    }
    let all = exchange(rank, size, &own);
    let came = all.values().flatten();
    if came.min() != Some(&rank) {
        thread::sleep(SAID_BY_RANK_0);
    }
    treefold::mpi::abort(WRONG_SETTING, &explained(&all, size));
}

/// Whether all ranks call this function within [`PATIENCE`] and with the same text.
fn are_alike(text: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let digest = hasher.finish();
    // Both minima equal a rank's own numbers only if all digests are equal, since the complement's minimum shows the largest digest. The
    // buffers are leaked, since the library may use them after this function has given up.
    let own: &[u64; 2] = Box::leak(Box::new([digest, !digest]));
    let minima: &mut [u64; 2] = Box::leak(Box::new([0; 2]));
    let minima = &raw mut *minima;
    let mut request = Request::UNSET;
    let handles = &mpi().handles;
    // SAFETY: both buffers have two numbers of 64 bits and live forever; the request has room for a handle.
    let code = unsafe {
        mpi().MPI_Iallreduce(
            own.as_ptr().cast(),
            minima.cast(),
            2,
            handles.MPI_UINT64_T,
            handles.MPI_MIN,
            loaded::world().0,
            &raw mut request,
        )
    };
    let mut end = End::UnderWay;
    let is_over = || {
        end = deferred::test(&mut request);
        end != End::UnderWay
    };
    // SAFETY: if the reduction is complete, the library has written the minima.
    code == SUCCESS && wait_for(PATIENCE, is_over) && unsafe { *minima } == *own
}

/// Exchanges settings with all ranks for at most [`ANSWER`]. Returns the distinct settings, each with the ranks that have it.
fn exchange(rank: usize, size: usize, own: &str) -> BTreeMap<String, Vec<usize>> {
    // Messages may stay unreceived, since the job ends.
    let text = own.to_owned().leak();
    let length = c_int::try_from(text.len()).unwrap_or(0);
    for other in (0..size).filter(|other| *other != rank) {
        let mut request = Request::UNSET;
        // SAFETY: the text lives forever and has that many bytes; the rank exists; `request` has room for a handle.
        unsafe {
            mpi().MPI_Isend(
                text.as_ptr().cast(),
                length,
                mpi().handles.MPI_BYTE,
                c_int::try_from(other).unwrap_or(0),
                TAG,
                loaded::world().0,
                &raw mut request,
            )
        };
    }
    let mut all = BTreeMap::from([(own.to_owned(), vec![rank])]);
    let mut missing = size - 1;
    wait_for(ANSWER, || {
        while let Some((source, text)) = receive_one(TAG) {
            let source = usize::try_from(source).unwrap_or(0);
            all.entry(text).or_default().push(source);
            missing = missing.saturating_sub(1);
        }
        missing == 0
    });
    for ranks in all.values_mut() {
        ranks.sort_unstable();
    }
    all
}

/// The error text. It names the ranks that are missing or have different settings, and possible reasons.
fn explained(all: &BTreeMap<String, Vec<usize>>, size: usize) -> String {
    let came: Vec<usize> = all.values().flatten().copied().collect();
    let missing: Vec<usize> = (0..size).filter(|rank| !came.contains(rank)).collect();
    if !missing.is_empty() {
        return format!(
            "treefold-pmpi: {} of {size} did not answer within {} s of MPI_Init. Either libtreefold_pmpi.so is not loaded \
             there or TREEFOLD_PMPI is off there. All ranks need the same LD_PRELOAD and TREEFOLD_PMPI; treefold-run passes them on.",
            listed(&missing),
            PATIENCE.as_secs()
        );
    }
    let mut settings: Vec<_> = all.iter().collect();
    settings.sort_by_key(|(_, ranks)| ranks.first());
    let settings = settings.into_iter();
    let settings = settings.map(|(text, ranks)| format!("{}: {text}", listed(ranks)));
    format!(
        "treefold-pmpi: ranks have different settings, with which they would wait for each other forever: {}",
        settings.collect::<Vec<_>>().join("; ")
    )
}

/// Ranks in ascending order: `rank 1`, or `ranks 0, 2-5`.
fn listed(ranks: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &rank in ranks {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => runs.push((rank, rank)),
        }
    }
    let runs = runs.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    });
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}", runs.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::explained;

    #[test]
    fn ranks_that_are_missing_or_differ_are_named() {
        let all = BTreeMap::from([("a".to_owned(), vec![0, 5, 7]), ("b".to_owned(), vec![8])]);
        let explanation = explained(&all, 9);
        let expected = "treefold-pmpi: ranks 1-4, 6 of 9 did not answer within";
        assert!(explanation.starts_with(expected), "{explanation}");
        let all = BTreeMap::from([("a".to_owned(), vec![2]), ("b".to_owned(), vec![0, 1])]);
        let explanation = explained(&all, 3);
        assert!(
            explanation.ends_with(": ranks 0, 1: b; rank 2: a"),
            "{explanation}"
        );
    }
}
