//! Runs the parts of a reduction on the caller's own threads.

use std::ffi::c_void;
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;

use crate::failure::Failure;

/// `treefold_part`.
type Part = unsafe extern "C" fn(job: *mut c_void, part: usize);

/// `treefold_team`.
pub(crate) type Team =
    Option<unsafe extern "C" fn(context: *mut c_void, parts: usize, part: Part, job: *mut c_void)>;

/// The result of each part; empty until the part has run.
type Results<R> = [OnceLock<Result<R, Failure>>];

/// The target of the pointer `job`, which the team receives and passes on to [`run`].
struct Job<'a, R> {
    reduce: &'a (dyn Fn(usize) -> Result<R, Failure> + Sync),
    results: &'a Results<R>,
}

/// Calls `reduce` for each part on the team's threads. Returns the results in the order of the parts.
///
/// # Safety
/// The team calls `part` only with `job` and with part numbers below `parts`, on any threads. The team returns after these calls.
///
/// # Errors
/// The team is NULL or skips a part, or `reduce` fails for a part.
pub(crate) unsafe fn by_team<R: Send + Sync>(
    (team, context): (Team, *mut c_void),
    parts: usize,
    reduce: &(dyn Fn(usize) -> Result<R, Failure> + Sync),
) -> Result<Vec<R>, Failure> {
    let team = team.ok_or_else(|| Failure::null("team"))?;
    let results: Vec<_> = (0..parts).map(|_| OnceLock::new()).collect();
    let job = Job {
        reduce,
        results: &results,
    };
    // SAFETY: the caller promises that the team behaves as required, and the job lives until the team returns.
    unsafe { team(context, parts, run::<R>, (&raw const job).cast_mut().cast()) };
    let parts = results.into_iter().enumerate();
    let found = parts.map(|(part, result)| {
        let left_out = || Failure::argument("team", format_args!("it did not run part {part}"));
        result.into_inner().ok_or_else(left_out)?
    });
    found.collect()
}

/// Reduces a part, unless another thread has already reduced it.
///
/// # Safety
/// `job` is the pointer that [`by_team`] passed to the team, and `by_team` has not returned.
unsafe extern "C" fn run<R>(job: *mut c_void, part: usize) {
    // SAFETY: the caller promises that `job` belongs to a call of `by_team` that has not returned.
    let job = unsafe { &*job.cast::<Job<'_, R>>() };
    if let Some(result) = job.results.get(part) {
        result.get_or_init(|| {
            let reduced = panic::catch_unwind(AssertUnwindSafe(|| (job.reduce)(part)));
            reduced.unwrap_or_else(|payload| Err(Failure::of_panic(payload.as_ref())))
        });
    }
}
