//! A plan of a case, with its run if one is under way; calls on the plan, and their outcomes.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use comm::text::counted;
use reduce::{AnyPending, BuildError, Operation, Pending, RunError};

use super::vocabulary::Mode;

/// How often a run may be tested. This is far more often than ranks need that run alternately.
const POLLS: u32 = 1000;

/// How long a run may be tested. This is far longer than any run takes.
const POLLING_LIMIT: Duration = Duration::from_secs(20);

/// How often a run is tested before the wait, as in programs that do other work meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polls {
    No,
    /// About [`POLLS`] times.
    Briefly,
    /// Until it has a result or an error.
    UntilItEnds,
}

/// A call on a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) operation: Operation,
    pub(super) mode: Mode,
    /// The step whose items are reduced.
    pub(super) step: usize,
    /// The number of surplus elements.
    pub(super) surplus: usize,
    /// Whether this rank passes factors of products.
    pub(super) is_of_products: bool,
}

impl Asked {
    pub(super) fn new(operation: Operation, mode: Mode, step: usize) -> Self {
        Self {
            operation,
            mode,
            step,
            surplus: 0,
            is_of_products: false,
        }
    }
}

/// Makes a call on a plan of any form.
pub(super) type Form = Box<dyn Fn(Asked) -> Result<Given, Outcome>>;

/// The result of a call.
pub(super) enum Given {
    Now(Outcome),
    /// The run that the call has started. Dropping the run cancels it.
    Later(Box<dyn Run>),
}

/// The result of a call as values; `None` if this rank gets no result.
pub(super) enum CallResult<T> {
    Now(Option<Vec<T>>),
    Later(Pending<Option<Vec<T>>>),
}

impl<T: 'static> CallResult<T> {
    pub(super) fn given<B: Pod>(self, values: impl FnOnce(Vec<T>) -> Vec<B> + 'static) -> Given {
        let bytes = |row| bytemuck::cast_slice(&values(row)).to_vec();
        match self {
            Self::Now(row) => Given::Now(row.map(bytes).into()),
            Self::Later(run) => Given::Later(Box::new(run.map(|row| row.map(bytes)))),
        }
    }
}

/// A run under way.
pub(super) trait Run {
    /// Whether the run is over.
    fn test(&mut self) -> Result<bool, Outcome>;

    fn wait(self: Box<Self>) -> Outcome;
}

impl Run for Pending<Option<Vec<u8>>> {
    fn test(&mut self) -> Result<bool, Outcome> {
        Ok(AnyPending::test(self)?)
    }

    fn wait(self: Box<Self>) -> Outcome {
        Pending::wait(*self).map_or_else(Outcome::from, Outcome::from)
    }
}

/// A plan, and its run under way.
pub(super) struct Slot {
    form: Form,
    run: Option<Box<dyn Run>>,
}

impl Slot {
    pub(super) fn new(form: Form) -> Self {
        Self { form, run: None }
    }

    /// Makes a call. If the call starts a run, cancels the plan's earlier run, if that is still under way.
    pub(super) fn call(&mut self, asked: Asked) -> Outcome {
        let given = (self.form)(asked);
        if asked.mode == Mode::Split {
            self.give_up();
        }
        match given {
            Ok(Given::Now(outcome)) | Err(outcome) => outcome,
            Ok(Given::Later(run)) => {
                self.run = Some(run);
                Outcome::Nothing
            }
        }
    }

    /// Tests the run under way, if there is one.
    pub(super) fn test(&mut self) -> Outcome {
        match self.run.as_mut().map(|run| run.test()) {
            Some(Err(outcome)) => outcome,
            _ => Outcome::Nothing,
        }
    }

    /// Waits for the run under way.
    pub(super) fn wait(&mut self, polls: Polls) -> Outcome {
        let Some(mut run) = self.run.take() else {
            return Outcome::Failed("the run was not started".to_owned());
        };
        let must_end = polls == Polls::UntilItEnds;
        match poll(&mut *run, polls) {
            Err(outcome) => outcome,
            Ok(false) if must_end => Outcome::Endless,
            Ok(_) => run.wait(),
        }
    }

    /// Cancels the run under way, if there is one.
    pub(super) fn give_up(&mut self) {
        self.run = None;
    }
}

/// Tests a run as `polls` says, until the run ends or the limits are reached. Returns whether the run may have ended.
fn poll(run: &mut dyn Run, polls: Polls) -> Result<bool, Outcome> {
    let begin = Instant::now();
    let mut tests = 0;
    while polls != Polls::No && !run.test()? {
        tests += 1;
        if tests > POLLS && (polls == Polls::Briefly || begin.elapsed() > POLLING_LIMIT) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The outcome of a step on a rank.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A result, as bytes.
    Value(Vec<u8>),
    /// Neither a result nor an error: the step gives this rank no result.
    Nothing,
    /// An error.
    Failed(String),
    /// The error that the silence limit was reached, and the silent ranks that it names.
    Silent(String, Range<usize>),
    /// The error that a run of the plan is under way.
    UnderWay,
    /// The error that no rank can continue.
    Deadlock(String),
    /// An endless loop of tests.
    Endless,
}

impl Outcome {
    /// The error's text.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Failed(text) | Self::Silent(text, _) | Self::Deadlock(text) => Some(text),
            _ => None,
        }
    }

    /// The first byte in which two values of equal length differ.
    pub(super) fn difference(&self, other: &Self) -> Option<usize> {
        match (self, other) {
            (Self::Value(left), Self::Value(right)) if left.len() == right.len() => {
                let mut pairs = left.iter().zip(right);
                pairs.position(|(left, right)| left != right)
            }
            _ => None,
        }
    }
}

impl fmt::Debug for Outcome {
    /// Shows bytes in hexadecimal, but of many bytes only the first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Failed(error) | Self::Silent(error, _) | Self::Deadlock(error) => {
                write!(f, "the error `{error}`")
            }
            Self::UnderWay => f.write_str("the error that a run is under way"),
            Self::Endless => f.write_str("tests without end"),
            Self::Value(bytes) => {
                write!(f, "{} ", counted(bytes.len(), "byte"))?;
                let shown = &bytes[..bytes.len().min(SHOWN)];
                shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if bytes.len() > SHOWN { "…" } else { "" })
            }
        }
    }
}

impl From<Option<Vec<u8>>> for Outcome {
    fn from(result: Option<Vec<u8>>) -> Self {
        result.map_or(Self::Nothing, Self::Value)
    }
}

impl From<RunError> for Outcome {
    fn from(error: RunError) -> Self {
        match error {
            RunError::UnderWay { .. } => Self::UnderWay,
            RunError::Transport(comm::Error::Deadlock(_)) => Self::Deadlock(error.to_string()),
            RunError::Transport(comm::Error::Silent { ref peers, .. }) => {
                Self::Silent(error.to_string(), peers.clone())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<BuildError> for Outcome {
    /// If ranks build different plans, they may wait for each other until the silence limit.
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Transport(comm::Error::Silent { ref peers, .. }) => {
                Self::Silent(error.to_string(), peers.clone())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}
