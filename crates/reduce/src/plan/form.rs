//! The forms in which plans reduce what is not items in tree order: encoded items, as of sums in lanes and exact sums, and runs of several stages, as
//! those of sums by key.

use std::cell::Cell;
use std::rc::Rc;

use super::AnyPlan;
use super::operands::Operands;
use super::stages::Staged;
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;

/// How a plan reduces what a call is given.
#[derive(Clone)]
pub(crate) enum Form {
    /// Its items are the engine's.
    Items,
    /// They are encoded before, and the result is decoded.
    Encoded(Rc<dyn Encoding>),
    /// In several stages, of which the plan's engine may make one; and whether a run was started that has neither ended nor been dropped.
    Staged(Rc<dyn Staged>, Rc<Cell<bool>>),
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
