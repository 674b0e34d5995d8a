//! The run that a plan may have in flight, and what a program finds out of it.

use std::time::{Duration, Instant};

use bytemuck::Pod;
use reduce::{AnyPending, Pending, RunError};

use super::outcome::Outcome;

/// How often a run is tested before anything is made of it: far more often than ranks that take turns need.
const POLLS: u32 = 1000;

/// How long a run is tested that does not end: far longer than any takes.
const POLLING_LIMIT: Duration = Duration::from_secs(20);

/// Whether a run is tested before it is waited for, as programs do that have other work meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polls {
    No,
    /// Some times.
    Briefly,
    /// Until it has a result or an error, which it must have.
    UntilItEnds,
}

/// A run, if one is in flight: its result, if this rank gets one.
pub(super) struct Flight<V>(Option<Pending<Option<Vec<V>>>>);

impl<V> Default for Flight<V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<V> Flight<V> {
    /// Gives the former run up for one that was just started.
    pub(super) fn begin(&mut self, started: Result<Pending<Option<Vec<V>>>, RunError>) -> Outcome {
        self.0 = None;
        match started {
            Ok(run) => {
                self.0 = Some(run);
                Outcome::Nothing
            }
            Err(error) => failed(&error),
        }
    }

    pub(super) fn test(&self) -> Outcome {
        match self.0.as_ref().map(|run| run.test()) {
            Some(Err(error)) => failed(&error),
            _ => Outcome::Nothing,
        }
    }

    /// Waits for the run: what `outcome` makes of its result.
    pub(super) fn end(
        &mut self,
        polls: Polls,
        outcome: impl FnOnce(Result<Option<Vec<V>>, RunError>) -> Outcome,
    ) -> Outcome {
        let Some(run) = self.0.take() else {
            return Outcome::Failed("the run was not started".to_owned());
        };
        let must_end = polls == Polls::UntilItEnds;
        let ended = match polls {
            Polls::No => Ok(true),
            _ => poll(&run, must_end),
        };
        match ended {
            Err(error) => failed(&error),
            Ok(false) if must_end => Outcome::Endless,
            Ok(_) => outcome(run.wait()),
        }
    }

    pub(super) fn give_up(&mut self) {
        self.0 = None;
    }
}

/// Tests a run until it has ended, and says whether it has: long if it must, and not for ever.
fn poll(run: &AnyPending, must_end: bool) -> Result<bool, RunError> {
    let begin = Instant::now();
    let mut tests = 0;
    while !run.test()? {
        tests += 1;
        if tests > POLLS && (!must_end || begin.elapsed() > POLLING_LIMIT) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn outcome<T: Pod>(result: Result<Option<Vec<T>>, RunError>) -> Outcome {
    match result {
        Ok(Some(values)) => Outcome::Value(bytemuck::cast_slice(&values).to_vec()),
        Ok(None) => Outcome::Nothing,
        Err(error) => failed(&error),
    }
}

fn failed(error: &RunError) -> Outcome {
    match error {
        RunError::UnderWay { .. } => Outcome::UnderWay,
        RunError::Transport(comm::Error::Deadlock(_)) => Outcome::Deadlock(error.to_string()),
        RunError::Transport(comm::Error::Silent { peers, .. }) => {
            Outcome::Silent(error.to_string(), peers.clone())
        }
        _ => Outcome::Failed(error.to_string()),
    }
}
