//! One wait for several runs, of any types.

use super::AnyPending;
use crate::error::RunError;

/// Why one of several runs failed; see [`wait_all`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("run {position}: {error}")]
pub struct WaitAllError {
    /// The first run that failed, by its place in the list, counted from 0.
    pub position: usize,
    /// The error, which the run's own `wait` also returns.
    pub error: RunError,
}

/// Waits until all of these runs are over; the runs may be of different calls and types. Results are kept: each run's own `wait` returns its
/// result, and no longer blocks.
///
/// ```
/// use reduce::{Plan, exact, threads, wait_all};
///
/// threads::run(2, |world| {
///     let residual = Plan::builder(world).local_items(1).build::<f64>().unwrap();
///     let mass = Plan::builder(world).build_exact::<exact::Sum<f64>>().unwrap();
///     let residual = residual.start_allreduce(&[0.5]).unwrap();
///     let mass = mass.start_allreduce(&exact::Sum::of(&[0.1, 0.2])).unwrap();
///     // Other work goes here.
///     wait_all(&[&residual, &mass]).unwrap();
///     assert_eq!(residual.wait(), Ok(1.0));
///     assert_eq!(mass.wait().unwrap().value(), 0.6000000000000001);
/// })?;
/// # Ok::<(), threads::RunError>(())
/// ```
///
/// # Errors
/// The error of the first run in the list that failed. The other runs are over nevertheless, unless an
/// operator [makes the call](RunError::Nested).
pub fn wait_all(runs: &[&AnyPending]) -> Result<(), WaitAllError> {
    let mut outcome = Ok(());
    for (position, run) in runs.iter().enumerate() {
        let waited = run.wait_until_over();
        let waited = waited.map_err(|error| WaitAllError { position, error });
        outcome = outcome.and(waited);
    }
    outcome
}
