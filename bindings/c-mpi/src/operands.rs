//! The input of a call, and the kinds of input that a plan accepts.

use std::any::Any;

use treefold::exact::Statistic;
use treefold::{AnyPlan, Operation};
use treefold_c::boundary::treefold_keyed;
use treefold_c::element::ElementType;
use treefold_c::failure::{Code, Failure};
use treefold_c::keyed::{Keys, collected};
use treefold_c::statistic::Asked;

/// The operations of `treefold_mpi.h` and their names in C, in the order of their codes, the first of which is 1. Some calls accept only
/// the first few operations.
pub(crate) const OPERATIONS: [(Operation, &str); 6] = [
    (Operation::Allreduce, "TREEFOLD_ALLREDUCE"),
    (Operation::Reduce, "TREEFOLD_REDUCE"),
    (Operation::ReduceScatter, "TREEFOLD_REDUCE_SCATTER"),
    (Operation::Scan, "TREEFOLD_SCAN"),
    (Operation::Exscan, "TREEFOLD_EXSCAN"),
    (Operation::Broadcast, "TREEFOLD_BROADCAST"),
];

/// The number of operations that calls for dot products accept.
pub(crate) const OF_DOTS: usize = 2;

/// The number of operations that calls for items with keys accept.
pub(crate) const OF_KEYS: usize = 3;

/// The number of operations that can be started.
pub(crate) const OF_STARTS: usize = 5;

/// The operation with this code, among the first `among` of [`OPERATIONS`].
///
/// # Errors
/// The code is not one of these operations.
pub(crate) fn operation_of_code(code: i32, among: usize) -> Result<Operation, Failure> {
    let known = &OPERATIONS[..among];
    let index = usize::try_from(code).ok();
    let found = index.and_then(|code| known.get(code.checked_sub(1)?));
    found.map(|(operation, _)| *operation).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(_, name)| *name).collect();
        let reason = format_args!("it must be one of {}, not {code}", names.join(", "));
        Failure::argument("operation", reason)
    })
}

/// The error message of a call with keys on a plan that was not built by key.
pub(crate) const NOT_BY_KEY: &str = "this plan was not built by key";

/// The input of a call on a rank. Items are in the plan's layout.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a> {
    /// Items. A broadcast has no items.
    Items(&'a [u8]),
    /// Two arrays, whose products are reduced, row by row.
    Pair([&'a [u8]; 2]),
    /// Several pairs of arrays; each pair gives an element of the result.
    Pairs(&'a [[&'a [u8]; 2]]),
    /// Items with keys.
    ByKey(Keys<'a>, &'a [u8]),
    /// A state by key, which becomes the result.
    Keyed(*const treefold_keyed),
    /// What a GPU computed from a rank's items: the folds of the rank's own nodes, the words of the items' exact sum, or an error.
    #[cfg(feature = "cuda")]
    Nodes(Result<&'a [u8], &'a str>),
}

/// The kind of input that the calls of a plan accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Items in tree order. A plan that sums floats also accepts pairs of arrays.
    InTree,
    /// Items of exact sums and norms.
    Exact,
    /// Pairs of arrays for exact dot products.
    ExactPairs,
    /// Items of sums in lanes.
    InLanes,
    /// Items with keys: `F32` or `F64`, and the statistic that the plan was built for.
    ByKey(ElementType, Asked),
}

impl Takes {
    /// Whether the plan has an operation.
    pub(crate) fn has(self, operation: Operation) -> bool {
        let is_reduction = matches!(operation, Operation::Allreduce | Operation::Reduce);
        match self {
            Self::InTree => true,
            Self::Exact => operation != Operation::Broadcast,
            Self::ExactPairs | Self::InLanes => is_reduction,
            Self::ByKey(..) => is_reduction || operation == Operation::ReduceScatter,
        }
    }

    /// Checks that the plan accepts the input.
    ///
    /// # Errors
    /// The plan does not accept the input.
    pub(crate) fn check(
        self,
        plan: &AnyPlan,
        operation: Operation,
        given: Given<'_>,
    ) -> Result<(), Failure> {
        let no_pairs = "this plan computes no dot products: it takes one array";
        let pairs = "this plan computes dot products: it takes two arrays, x and y";
        let keys = "this plan was built by key: it takes items with their keys";
        let unsupported = |message| Err(Failure::new(Code::Unsupported, message));
        let reason = match (self, given) {
            (Self::ByKey(..), Given::ByKey(..) | Given::Keyed(_)) => return Ok(()),
            (Self::ByKey(..), Given::Pair(_) | Given::Pairs(_)) => no_pairs,
            (Self::ByKey(..), _) if !self.has(operation) => {
                return unsupported("plans by key have neither scans nor a broadcast");
            }
            (Self::ByKey(..), _) => keys,
            (_, Given::ByKey(..) | Given::Keyed(_)) => NOT_BY_KEY,
            (Self::InLanes, _) if !self.has(operation) => {
                return unsupported("plans in lanes have only allreduce and reduce");
            }
            (Self::Exact | Self::ExactPairs, _) if operation == Operation::Broadcast => {
                return unsupported("plans of exact sums have no broadcast");
            }
            (Self::ExactPairs, Given::Items(_)) => pairs,
            (Self::ExactPairs, _) => return Ok(()),
            (_, Given::Pair(_) | Given::Pairs(_)) if !plan.has_products() => no_pairs,
            _ => return Ok(()),
        };
        Err(Failure::argument("plan", reason))
    }

    /// Checks that a plan returns values. Among plans by key, only those of sums and means do; other statistics are computed from states.
    ///
    /// # Errors
    /// The plan is for another statistic.
    pub(crate) fn check_values(self) -> Result<(), Failure> {
        match self {
            Self::ByKey(_, Asked::Of(Statistic::Sum | Statistic::Mean)) => Ok(()),
            Self::ByKey(_, asked) => {
                let message = format!(
                    "this plan is for {}: read it from a state, after treefold_run_keyed or treefold_wait_keyed",
                    asked.name()
                );
                Err(Failure::new(Code::Unsupported, message))
            }
            _ => Ok(()),
        }
    }

    /// Adds up items by key in a new state, and returns the state.
    pub(crate) fn added(
        self,
        keys: usize,
        of_items: Keys<'_>,
        items: &[u8],
    ) -> Result<Box<dyn Any>, Failure> {
        let Self::ByKey(element_type, asked) = self else {
            unreachable!("the call was checked");
        };
        collected(element_type, asked.held(), keys, of_items, items)
    }
}

#[cfg(test)]
mod tests {
    use super::{OF_KEYS, OPERATIONS, operation_of_code};

    #[test]
    fn codes_are_those_of_the_header() {
        let header = include_str!("../include/treefold_mpi.h");
        for (code, (operation, name)) in (1..).zip(OPERATIONS) {
            let line = format!("    {name} = {code}");
            let mut lines = header.lines().map(|line| line.trim_end_matches(','));
            assert!(lines.any(|found| found == line), "{line}");
            for among in 1..=OPERATIONS.len() {
                let found = operation_of_code(code, among).ok();
                let is_known = usize::try_from(code).is_ok_and(|code| code <= among);
                assert_eq!(found, is_known.then_some(operation), "{name} among {among}");
            }
        }
        for code in [i32::MIN, -1, 0, 4, 7, i32::MAX] {
            let failure = operation_of_code(code, OF_KEYS).expect_err("there is none");
            assert_eq!(
                failure.message,
                format!(
                    "`operation`: it must be one of TREEFOLD_ALLREDUCE, TREEFOLD_REDUCE, TREEFOLD_REDUCE_SCATTER, not {code}"
                )
            );
        }
    }
}
