//! A reduction: the call, the elements, the operator and the sizes that a program passes.

use std::fmt;

use treefold::Operation;

/// The MPI functions that treefold replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Allreduce,
    Reduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
}

impl Call {
    /// The C name of a form of the function, without `MPI_`.
    pub(crate) fn name(self, form: Form) -> &'static str {
        let [blocking, non_blocking, persistent] = match self {
            Self::Allreduce => ["Allreduce", "Iallreduce", "Allreduce_init"],
            Self::Reduce => ["Reduce", "Ireduce", "Reduce_init"],
            Self::ReduceScatter => ["Reduce_scatter", "Ireduce_scatter", "Reduce_scatter_init"],
            Self::ReduceScatterBlock => [
                "Reduce_scatter_block",
                "Ireduce_scatter_block",
                "Reduce_scatter_block_init",
            ],
            Self::Scan => ["Scan", "Iscan", "Scan_init"],
            Self::Exscan => ["Exscan", "Iexscan", "Exscan_init"],
        };
        match form {
            Form::Blocking => blocking,
            Form::NonBlocking => non_blocking,
            Form::Persistent => persistent,
        }
    }

    pub(crate) fn operation(self) -> Operation {
        match self {
            Self::Allreduce => Operation::Allreduce,
            Self::Reduce => Operation::Reduce,
            Self::ReduceScatter | Self::ReduceScatterBlock => Operation::ReduceScatter,
            Self::Scan => Operation::Scan,
            Self::Exscan => Operation::Exscan,
        }
    }
}

/// The form of a call, which says when the reduction is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// When the call returns.
    Blocking,
    /// When a later call completes the request.
    NonBlocking,
    /// When a later call completes the request, once per start.
    Persistent,
}

/// The type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Element {
    F32,
    F64,
    C32,
    C64,
}

impl Element {
    /// The type with this number of parts and this size in bytes; a complex number has two parts.
    pub(crate) fn of(parts: usize, bytes: usize) -> Option<Self> {
        match (parts, bytes) {
            (1, 4) => Some(Self::F32),
            (1, 8) => Some(Self::F64),
            (2, 8) => Some(Self::C32),
            (2, 16) => Some(Self::C64),
            _ => None,
        }
    }

    /// The name in C.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::F32 => "float",
            Self::F64 => "double",
            Self::C32 => "complex float",
            Self::C64 => "complex double",
        }
    }

    /// The size of an element, in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 | Self::C32 => 8,
            Self::C64 => 16,
        }
    }

    /// The alignment of an element in bytes; a complex number has its parts' alignment.
    pub(crate) fn align_bytes(self) -> usize {
        match self {
            Self::F32 | Self::C32 => align_of::<f32>(),
            Self::F64 | Self::C64 => align_of::<f64>(),
        }
    }

    /// A digest of a result's bits, in which all NaNs count as equal.
    pub(crate) fn digest(self, seed: u64, result: &[u8]) -> u64 {
        let parts = result.chunks_exact(self.part_bytes());
        parts.fold(seed.wrapping_mul(FACTOR), |digest, part| {
            let mut bits = [0_u8; 8];
            if is_nan(part) {
                bits = [u8::MAX; 8];
            } else {
                bits[..part.len()].copy_from_slice(part);
            }
            let mixed = (digest ^ u64::from_ne_bytes(bits)).wrapping_mul(FACTOR);
            mixed ^ mixed >> 29
        })
    }

    /// The size of a number in bytes; a complex element consists of two numbers.
    fn part_bytes(self) -> usize {
        match self {
            Self::F32 | Self::C32 => 4,
            Self::F64 | Self::C64 => 8,
        }
    }

    /// The number of elements whose bits differ. All NaNs count as equal, since MPI does not specify which NaN results.
    pub(crate) fn differing(self, left: &[u8], right: &[u8]) -> u64 {
        let part_bytes = self.part_bytes();
        let lefts = left.chunks_exact(self.bytes());
        let elements = lefts.zip(right.chunks_exact(self.bytes()));
        let differs = |(left, right): &(&[u8], &[u8])| {
            let lefts = left.chunks_exact(part_bytes);
            let mut parts = lefts.zip(right.chunks_exact(part_bytes));
            left != right && parts.any(|(a, b)| a != b && !(is_nan(a) && is_nan(b)))
        };
        elements.filter(differs).count() as u64
    }
}

/// The factor of digests: 2^64 divided by the golden ratio, an odd number that mixes bits.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Whether a float of 4 or 8 bytes is a NaN.
fn is_nan(bytes: &[u8]) -> bool {
    match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
        (Ok(bytes), _) => f32::from_ne_bytes(bytes).is_nan(),
        (_, Ok(bytes)) => f64::from_ne_bytes(bytes).is_nan(),
        _ => false,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Sum,
    Prod,
    Min,
    Max,
}

impl Op {
    /// All operators, in the order of their handles in `boundary`.
    pub(crate) const ALL: [Self; 4] = [Self::Sum, Self::Prod, Self::Min, Self::Max];

    /// The name in `TREEFOLD_PMPI_OPS`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// A reduction as one rank sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Task {
    pub(crate) call: Call,
    pub(crate) form: Form,
    pub(crate) element: Element,
    pub(crate) op: Op,
    /// The rank that gets the result of a reduce; 0 for other calls.
    pub(crate) root: usize,
    /// The number of elements that each rank contributes.
    pub(crate) width: usize,
    /// The first of the elements that this rank gets, and their number: all elements, except in a reduce-scatter.
    pub(crate) first: usize,
    pub(crate) length: usize,
    /// Whether a reduce-scatter gives each rank as many columns as a plan does.
    pub(crate) is_even: bool,
}

/// Shows the fields that are equal on all ranks of a correct program.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (call, op) = (self.name(), self.op.name());
        let (width, element) = (self.width, self.element.name());
        write!(f, "MPI_{call} of {width} {element}, {op}")?;
        match self.call {
            Call::Reduce => write!(f, ", to rank {}", self.root),
            _ => Ok(()),
        }
    }
}

impl Task {
    /// The C name of the function that the program called, without `MPI_`.
    pub(crate) fn name(&self) -> &'static str {
        self.call.name(self.form)
    }

    /// The task without the fields that differ between ranks.
    pub(crate) fn asked(&self) -> Self {
        Self {
            first: 0,
            length: 0,
            is_even: false,
            ..*self
        }
    }

    pub(crate) fn width_bytes(&self) -> usize {
        self.width * self.element.bytes()
    }

    /// The bytes that this rank gets.
    pub(crate) fn length_bytes(&self) -> usize {
        self.length * self.element.bytes()
    }
}

/// Whether the ranks get the columns that a plan would give them: equal numbers of columns, with one more on the first ranks if needed.
pub(crate) fn is_even(width: usize, counts: impl ExactSizeIterator<Item = usize>) -> bool {
    let ranks = counts.len();
    let mut counts = counts.enumerate();
    counts.all(|(rank, count)| count == width / ranks + usize::from(rank < width % ranks))
}

#[cfg(test)]
impl Task {
    /// A blocking sum of doubles whose whole result this rank gets.
    pub(crate) fn sum(call: Call, width: usize) -> Self {
        Self {
            call,
            form: Form::Blocking,
            element: Element::F64,
            op: Op::Sum,
            root: 0,
            width,
            first: 0,
            length: width,
            is_even: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, is_even};

    #[test]
    fn bits_differ_unless_both_are_no_numbers() {
        let bytes = |values: [f64; 4]| values.map(f64::to_ne_bytes).concat();
        let left = bytes([1.0, 0.0, f64::NAN, 2.0]);
        let right = bytes([1.0, -0.0, -f64::NAN, 2.5]);
        assert_eq!(Element::F64.differing(&left, &right), 2);
        assert_eq!(Element::C64.differing(&left, &right), 2);
        assert_eq!(Element::F64.differing(&left, &left), 0);
    }

    #[test]
    fn even_columns_are_those_of_a_plan() {
        assert!(is_even(7, [3, 2, 2].into_iter()));
        assert!(is_even(2, [1, 1, 0].into_iter()));
        assert!(!is_even(7, [2, 3, 2].into_iter()));
    }
}
