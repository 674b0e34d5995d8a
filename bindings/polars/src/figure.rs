//! The figures that there are.

/// What is computed of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Sum,
    Mean,
    Variance,
    Deviation,
    Dot,
    /// The sum in tree order.
    Tree,
}
