//! The operands of a call on one rank, as bytes.

use std::any::Any;

use crate::error::RunError;

/// The operands of a call on one rank. Slices of items are aligned for their type.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Operands<'r> {
    /// The rank's items, in ownership order; none for a broadcast.
    Items(&'r [u8]),
    /// Two slices of items, whose products are reduced; for rows, element by element.
    Pair([&'r [u8]; 2]),
    /// Pairs of slices of items, whose products are reduced: a column for each pair.
    Pairs(&'r [[&'r [u8]; 2]]),
    /// Values computed elsewhere from the rank's items (folds of its own nodes, or words of exact sums), or the reason why there are none.
    Nodes(Result<&'r [u8], &'r str>),
    /// Slots by key, such as `Keyed<Sum<f64>>`.
    State(&'r dyn Any),
}

impl<'r> Operands<'r> {
    /// The items; none if the operands are of another kind.
    pub(crate) fn items(self) -> &'r [u8] {
        match self {
            Self::Items(items) => items,
            _ => &[],
        }
    }
}

/// The error for operands that this kind of plan does not accept. Only bindings of other languages can pass such operands.
pub(crate) fn not_taken(rank: usize) -> RunError {
    RunError::NotFolded {
        rank,
        reason: "the plan does not accept such operands".to_owned(),
    }
}

/// Checks that the slices of a pair have the same number of items.
pub(crate) fn check_pair(rank: usize, first: usize, second: usize) -> Result<(), RunError> {
    if first == second {
        return Ok(());
    }
    let [first, second] = [first, second].map(|length| length as u64);
    Err(RunError::Lengths {
        rank,
        first,
        second,
    })
}

/// Checks that a result has as many elements as it should.
pub(crate) fn check_result(rank: usize, expected: usize, given: usize) -> Result<(), RunError> {
    if expected == given {
        return Ok(());
    }
    Err(RunError::WrongResultLength {
        rank,
        expected,
        given,
    })
}
