//! The forms of plans that do not reduce items in tree order. Sums in lanes and exact sums encode their items; sums by key have runs
//! of several stages.

use std::cell::Cell;
use std::rc::Rc;

use super::AnyPlan;
use super::operands::Operands;
use super::stages::Staged;
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;

/// How a plan reduces the operands of a call.
#[derive(Clone)]
pub(crate) enum Form {
    /// The engine reduces the items as they are.
    Items,
    /// Items are encoded before the engine reduces them, and the engine's result is decoded.
    Encoded(Rc<dyn Encoding>),
    /// A run has several stages; the plan's engine may run one of them. The cell is true while a run that was started has neither ended
    /// nor been dropped.
    Staged(Rc<dyn Staged>, Rc<Cell<bool>>),
}

/// How the operands of a call are encoded for the plan's engine, and how the engine's result is decoded.
pub(crate) trait Encoding {
    /// The engine's operation that carries out `operation`.
    fn messages(&self, operation: Operation) -> Operation {
        operation
    }

    /// Makes the engine's operands. In a blocking call, checks `result_bytes`, the length of the caller's result.
    fn encode(
        &self,
        plan: &AnyPlan,
        operation: Operation,
        operands: Operands<'_>,
        result_bytes: Option<usize>,
        into: &mut Memory,
    ) -> Result<Encoded, RunError>;

    /// Makes the result from the engine's result, `values`. `items` are this rank's items, for a scan.
    fn decode(
        &self,
        rank: usize,
        operation: Operation,
        items: &[u8],
        values: &[u8],
        result: &mut [u8],
    ) -> Result<(), RunError>;
}

/// The operands that the engine gets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Encoded {
    /// The operands of the call, unchanged.
    AsGiven,
    /// Encoded items.
    Items,
    /// The folds of this rank's own nodes.
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

/// What the end of a run needs if its operands were encoded.
pub(super) struct EncodedEnding {
    pub(super) encoding: Rc<dyn Encoding>,
    pub(super) operation: Operation,
    /// A copy of a scan's items, because the caller's slice may have changed.
    pub(super) items: Memory,
}
