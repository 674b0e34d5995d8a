//! Describes what the columns of a slot hold, and the fields of the slot's bytes.

/// What the columns of a slot hold for each key, if they are sums of floats.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Whether the items of each key are counted.
    pub(crate) is_counted: bool,
    pub(crate) sums: &'static [Quantity],
    /// Whether there are sums of the cubes and of the fourth powers of the first column's items.
    pub(crate) has_powers: bool,
}

impl Layout {
    pub(crate) const fn of(is_counted: bool, sums: &'static [Quantity]) -> Self {
        Self {
            is_counted,
            sums,
            has_powers: false,
        }
    }
}

/// The quantity that is summed for each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// The items of the first column, or of the second column.
    X,
    Y,
    /// Rounded products of both columns' items, or squares.
    XY,
    XX,
    YY,
    /// The rounding errors of the products in the sum before this one.
    Errors,
}

/// A field of a key's bytes.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// This number of bytes.
    Bytes(usize),
    /// A number.
    Number,
    /// A number, and the counts of items that are not finite, if there are any.
    Entry,
}
