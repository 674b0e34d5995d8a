//! The collective operations of plans.

use std::fmt;

/// A collective operation of a [`Plan`](crate::Plan).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// [`Plan::reduce`](crate::Plan::reduce).
    Reduce,
    /// [`Plan::allreduce`](crate::Plan::allreduce).
    Allreduce,
    /// [`Plan::reduce_scatter`](crate::Plan::reduce_scatter).
    ReduceScatter,
    /// [`Plan::scan`](crate::Plan::scan).
    Scan,
    /// [`Plan::exscan`](crate::Plan::exscan).
    Exscan,
    /// [`Plan::broadcast`](crate::Plan::broadcast).
    Broadcast,
}

impl Operation {
    /// All operations, in the order of their declaration.
    pub const ALL: &[Self] = &[
        Self::Reduce,
        Self::Allreduce,
        Self::ReduceScatter,
        Self::Scan,
        Self::Exscan,
        Self::Broadcast,
    ];

    /// The operation's name in printed plans.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::ReduceScatter => "reduce-scatter",
            Self::Scan => "scan",
            Self::Exscan => "exscan",
            Self::Broadcast => "broadcast",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What an operation reduces: the items, or values computed from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// The items, in whatever form a rank gives them.
    Items,
    /// Products of two factors, as in [`Plan::dot`](crate::Plan::dot).
    Products,
    /// Products of the first factor's complex conjugate and the second factor.
    ConjugateProducts,
    /// Squares; the result is the square root of their sum, as in [`Plan::norm2`](crate::Plan::norm2).
    Norm,
}

/// A call on a plan: what a run reduces, and how. All ranks make the same call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Call {
    /// The operation.
    pub operation: Operation,
    /// What the operation reduces.
    pub operand: Operand,
}

impl From<Operation> for Call {
    #[inline]
    fn from(operation: Operation) -> Self {
        operation.of(Operand::Items)
    }
}

impl Operation {
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn of(self, operand: Operand) -> Call {
        Call {
            operation: self,
            operand,
        }
    }
}

/// The calls that reduce values computed from the items. Their kinds follow those of the operations, in this order.
const OTHERS: [Call; 4] = [
    Call {
        operation: Operation::Allreduce,
        operand: Operand::Products,
    },
    Call {
        operation: Operation::Reduce,
        operand: Operand::Products,
    },
    Call {
        operation: Operation::Allreduce,
        operand: Operand::ConjugateProducts,
    },
    Call {
        operation: Operation::Allreduce,
        operand: Operand::Norm,
    },
];

impl Call {
    /// The number that stands for this call in the tags of its messages.
    #[inline]
    pub(crate) fn kind(self) -> u8 {
        const FIRST_OTHER: u8 = Operation::Broadcast as u8 + 1;
        match (self.operand, self.operation) {
            (Operand::Items, operation) => operation as u8,
            (Operand::Products, Operation::Reduce) => FIRST_OTHER + 1,
            (Operand::Products, _) => FIRST_OTHER,
            (Operand::ConjugateProducts, _) => FIRST_OTHER + 2,
            (Operand::Norm, _) => FIRST_OTHER + 3,
        }
    }

    /// The call of this [`kind`](Self::kind); `None` if there is no such call.
    pub(crate) fn of_kind(kind: u8) -> Option<Self> {
        let items = Operation::ALL.iter().map(|&operation| operation.into());
        items.chain(OTHERS).nth(usize::from(kind))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.operand {
            Operand::Items => "",
            Operand::Products => " of products",
            Operand::ConjugateProducts => " of conjugate products",
            Operand::Norm => " of squares for a norm",
        };
        write!(f, "{}{of}", self.operation)
    }
}

#[cfg(test)]
mod tests {
    use comm::Tag;

    use super::{Call, OTHERS, Operation};

    #[test]
    fn calls_have_kinds_of_their_own() {
        let all = Operation::ALL
            .iter()
            .map(|&operation| Call::from(operation));
        let mut kinds = 0;
        for (kind, call) in (0..).zip(all.chain(OTHERS)) {
            assert_eq!(call.kind(), kind);
            assert_eq!(Call::of_kind(kind), Some(call));
            kinds = kind + 1;
        }
        assert_eq!(Call::of_kind(kinds), None);
        // Tags of measurements have the last kind.
        assert!(kinds < Tag::KIND_LIMIT);
    }
}
