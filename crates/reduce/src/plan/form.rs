//! The forms in which plans reduce what is not items in tree order: encoded items, as of sums in lanes and exact sums, and runs of several steps, as
//! those of sums by key.

use std::any::Any;
use std::rc::Rc;

use super::operands::Operands;
use super::{AnyPending, AnyPlan};
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;
use crate::world::Progress;
use crate::world::patience::Patience;

/// How a plan reduces what a call is given.
#[derive(Clone)]
pub(crate) enum Form {
    /// Its items are the engine's.
    Items,
    /// They are encoded before, and the result is decoded.
    Encoded(Rc<dyn Encoding>),
    /// In several steps, of which the plan's engine makes one.
    Stepwise(Rc<dyn Stepwise>),
}

/// A form whose operands are states, such as sums by key, and whose runs have several steps.
pub(crate) trait Stepwise {
    /// A blocking call, of which `result` gets what the resulting state stands for. Says whether this rank gets one.
    fn run(
        self: Rc<Self>,
        operation: Operation,
        operands: Operands<'_>,
        result: &mut [u8],
    ) -> Result<bool, RunError>;

    /// A blocking call whose operand becomes the result. Says whether this rank gets one.
    fn run_state(
        self: Rc<Self>,
        operation: Operation,
        state: &mut dyn Any,
    ) -> Result<bool, RunError>;

    fn start(
        self: Rc<Self>,
        operation: Operation,
        operands: Operands<'_>,
    ) -> Result<AnyPending, RunError>;

    /// Whether a state is of the type that it reduces.
    fn takes(&self, state: &dyn Any) -> bool;

    /// Takes no part in the next run of an operation, if one can begin.
    fn refuse(&self, operation: Operation);
}

/// A run of several steps. Its callers have entered the world, but for those of [`Progress`].
pub(crate) trait Steps: Progress {
    /// Makes progress, and says whether the run is over. Drives all runs in flight, too, unless only in passing.
    fn drive(&self, patience: Patience) -> bool;

    /// The error of a run that is over.
    fn error(&self) -> Option<RunError>;

    fn awaited_ranks(&self) -> Vec<usize>;

    /// Waits for the run, and leaves in `result` what its state stands for. Says whether this rank gets it.
    fn wait(&self, result: &mut [u8]) -> Result<bool, RunError>;

    /// Waits for the run, and replaces a state by its own. Says whether this rank gets it.
    fn wait_state(&self, state: &mut dyn Any) -> Result<bool, RunError>;

    /// Whether a state is of the run's type.
    fn takes(&self, state: &dyn Any) -> bool;
}

/// How what a rank brings to a call becomes what the plan's engine reduces, and how what the engine returns becomes the result.
pub(crate) trait Encoding {
    /// The operation whose messages this one has.
    fn messages(&self, operation: Operation) -> Operation {
        operation
    }

    /// Makes the engine's operands. `result_bytes` are those of the result, in a blocking call, which must be right.
    fn encode(
        &self,
        plan: &AnyPlan,
        operation: Operation,
        operands: Operands<'_>,
        result_bytes: Option<usize>,
        into: &mut Memory,
    ) -> Result<Encoded, RunError>;

    /// Makes the result of the engine's. `items` are those of a scan.
    fn decode(
        &self,
        rank: usize,
        operation: Operation,
        items: &[u8],
        values: &[u8],
        result: &mut [u8],
    ) -> Result<(), RunError>;
}

/// What the engine gets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Encoded {
    /// The operands as they were.
    AsGiven,
    /// What was made of them: items,
    Items,
    /// or the folds of this rank's own nodes.
    Nodes,
}

impl Encoded {
    pub(super) fn operands<'r>(self, given: Operands<'r>, made: &'r Memory) -> Operands<'r> {
        match self {
            Self::AsGiven => given,
            Self::Items => Operands::Items(made.bytes()),
            Self::Nodes => Operands::Nodes(Ok(made.bytes())),
        }
    }
}

/// How a run ends that was started on what was encoded.
pub(super) struct Ending {
    pub(super) encoding: Rc<dyn Encoding>,
    pub(super) operation: Operation,
    /// Those of a scan: the caller's slice may have changed.
    pub(super) items: Memory,
}
