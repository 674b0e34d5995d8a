//! The forms in which plans reduce what is not items in tree order: encoded items, as of sums in lanes and exact sums, and runs of several stages, as
//! those of sums by key.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use super::AnyPlan;
use super::operands::Operands;
use super::stages::Stages;
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;
use crate::world::World;

/// How a plan reduces what a call is given.
#[derive(Clone)]
pub(crate) enum Form {
    /// Its items are the engine's.
    Items,
    /// They are encoded before, and the result is decoded.
    Encoded(Rc<dyn Encoding>),
    /// In several stages, of which the plan's engine may make one.
    Stepwise(Rc<dyn Stepwise>),
}

/// What a run in stages leaves on a rank, of a type that its form knows. `None` where the rank gets no result.
pub(crate) type Outcome = Option<Box<dyn Any>>;

/// A form whose operands are states, such as sums by key, and whose runs have several stages. An error in place of a state is why this rank takes
/// no part.
pub(crate) trait Stepwise {
    fn world(&self) -> &World;

    /// Whether a run was started, and neither ended nor dropped. The driver of runs sets it.
    fn is_under_way(&self) -> &Cell<bool>;

    /// Whether runs can be started, and not only be waited for at once.
    fn can_start(&self) -> bool;

    /// Begins a run, in a call that has entered the world.
    fn start(
        self: Rc<Self>,
        operation: Operation,
        state: Result<&dyn Any, RunError>,
    ) -> Result<Stages, RunError>;

    /// A blocking run.
    fn run(
        self: Rc<Self>,
        operation: Operation,
        state: Result<&dyn Any, RunError>,
    ) -> Result<Outcome, RunError> {
        let world = self.world().clone();
        let _busy = world.enter()?;
        self.start(operation, state)?.wait()
    }

    /// Checks, before a blocking run, that its values fit a result of so many bytes, if their number is known.
    fn check_result(&self, operation: Operation, bytes: usize) -> Result<(), RunError>;

    /// Writes what an outcome stands for.
    fn write_values(&self, total: Box<dyn Any>, result: &mut [u8]) -> Result<(), RunError>;

    /// The state that an outcome is.
    fn state(&self, total: Box<dyn Any>) -> Result<Box<dyn Any>, RunError>;

    /// Makes a state that it takes this one.
    fn replace(&self, state: &mut dyn Any, total: Box<dyn Any>) -> Result<(), RunError>;

    /// Whether a state is of the type that it reduces.
    fn takes(&self, state: &dyn Any) -> bool;

    /// Takes no part in the next run of an operation.
    fn refuse(&self, operation: Operation);

    /// A run has failed: others may wait for this rank in any of its later stages.
    fn spend(&self);

    /// A run was dropped before its end.
    fn abandon(&self);
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
