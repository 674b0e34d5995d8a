//! What a program gives to a call, and which of it a plan takes.

use std::any::Any;

use treefold::{AnyPlan, Operation};
use treefold_c::boundary::treefold_keyed;
use treefold_c::element::ElementType;
use treefold_c::failure::{Code, Failure};
use treefold_c::keyed::{Keys, collected};

/// What a rank gives to a call. Items are as the plan takes them.
#[derive(Clone, Copy)]
pub(crate) enum Given<'a> {
    /// Items; none to a broadcast.
    Items(&'a [u8]),
    /// Two arrays, whose products are reduced, row by row.
    Pair([&'a [u8]; 2]),
    /// Several pairs of arrays, each of which gives an element of the result.
    Pairs(&'a [[&'a [u8]; 2]]),
    /// Items with keys.
    ByKey(Keys<'a>, &'a [u8]),
    /// A state by key, which becomes the result.
    Keyed(*const treefold_keyed),
    /// What a GPU has made of a rank's items, or why it has not: the folds of its own nodes, or the words of their exact sum.
    #[cfg(feature = "cuda")]
    Nodes(Result<&'a [u8], &'a str>),
}

/// What the calls of a plan are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Items in tree order; of sums of floats also pairs.
    InTree,
    /// Items of exact sums and norms,
    Exact,
    /// and pairs of exact dot products.
    ExactPairs,
    /// Items with keys: `F32` or `F64`, and the code of the figure that is made of them.
    ByKey(ElementType, i32),
}

impl Takes {
    /// Whether it has such an operation.
    pub(crate) fn has(self, operation: Operation) -> bool {
        let is_reduction = matches!(operation, Operation::Allreduce | Operation::Reduce);
        match self {
            Self::InTree => true,
            Self::Exact => operation != Operation::Broadcast,
            Self::ExactPairs => is_reduction,
            Self::ByKey(..) => is_reduction || operation == Operation::ReduceScatter,
        }
    }

    /// Whether a plan is given what it takes.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn check(
        self,
        plan: &AnyPlan,
        operation: Operation,
        given: Given<'_>,
    ) -> Result<(), Failure> {
        let no_pairs = "it takes one array of items: it is of no dot products";
        let no_keys = "it takes items without keys: it is not by key";
        let pairs = "it is of dot products, which take two arrays: treefold_allreduce_dot";
        let keys = "it is by key, and takes items with their keys: treefold_allreduce_by_key";
        let unsupported = |message| Err(Failure::new(Code::Unsupported, message));
        let reason = match (self, given) {
            (Self::ByKey(..), Given::ByKey(..) | Given::Keyed(_)) => return Ok(()),
            (Self::ByKey(..), Given::Pair(_) | Given::Pairs(_)) => no_pairs,
            (Self::ByKey(..), _) if !self.has(operation) => {
                return unsupported("plans by key have neither scans nor a broadcast");
            }
            (Self::ByKey(..), _) => keys,
            (_, Given::ByKey(..) | Given::Keyed(_)) => no_keys,
            (Self::Exact | Self::ExactPairs, _) if operation == Operation::Broadcast => {
                return unsupported("plans of exact sums have no broadcast");
            }
            (Self::ExactPairs, Given::Items(_)) => pairs,
            (Self::Exact, Given::Pair(_) | Given::Pairs(_)) => no_pairs,
            (Self::InTree, Given::Pair(_) | Given::Pairs(_)) if !plan.has_products() => no_pairs,
            _ => return Ok(()),
        };
        Err(Failure::argument("plan", reason))
    }

    /// Items, added up by key.
    pub(crate) fn added(
        self,
        keys: usize,
        of_items: Keys<'_>,
        items: &[u8],
    ) -> Result<Box<dyn Any>, Failure> {
        let Self::ByKey(element_type, figure) = self else {
            unreachable!("the call was checked");
        };
        collected(element_type, figure, keys, of_items, items)
    }
}
