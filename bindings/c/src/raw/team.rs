//! The caller's own threads, which share the parts of a reduction.

use std::ffi::c_void;
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;

use crate::failure::Failure;

/// `treefold_part`.
type Part = unsafe extern "C" fn(job: *mut c_void, part: usize);

/// `treefold_team`.
pub(crate) type Team =
    Option<unsafe extern "C" fn(context: *mut c_void, parts: usize, part: Part, job: *mut c_void)>;

/// What each part gives, once it was called.
type Results<R> = [OnceLock<Result<R, Failure>>];

/// What a team is given.
struct Job<'a, R> {
    reduce: &'a (dyn Fn(usize) -> Result<R, Failure> + Sync),
    results: &'a Results<R>,
}

/// What the parts give that the program's threads reduce.
///
/// # Safety
/// The team calls `part` with its job and with numbers below the number of parts, on any threads, and returns when these calls have returned.
///
/// # Errors
/// It is NULL, it leaves a part out, or those of a part.
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
    // SAFETY: the caller promises such a team, and the job lives until it returns.
    unsafe { team(context, parts, run::<R>, (&raw const job).cast_mut().cast()) };
    let parts = results.into_iter().enumerate();
    let found = parts.map(|(part, result)| {
        let left_out = || Failure::argument("team", format_args!("it did not call part {part}"));
        result.into_inner().ok_or_else(left_out)?
    });
    found.collect()
}

/// Reduces a part, unless another thread has.
///
/// # Safety
/// `job` is one of [`by_team`], which waits for this call.
unsafe extern "C" fn run<R>(job: *mut c_void, part: usize) {
    // SAFETY: the caller promises such a job.
    let job = unsafe { &*job.cast::<Job<'_, R>>() };
    if let Some(result) = job.results.get(part) {
        result.get_or_init(|| {
            let reduced = panic::catch_unwind(AssertUnwindSafe(|| (job.reduce)(part)));
            reduced.unwrap_or_else(|payload| Err(Failure::of_panic(payload.as_ref())))
        });
    }
}
