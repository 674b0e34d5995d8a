//! What the columns of a slot hold, and the fields of its bytes.

/// What the columns of a slot hold for each key, if they are sums of floats.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Whether there is the number of items.
    pub(crate) is_counted: bool,
    pub(crate) sums: &'static [Quantity],
    /// Whether there are the sums of the cubes and of the fourth powers of the first column's items.
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

/// A sum of each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// The items of the first column, or of the second.
    X,
    Y,
    /// Rounded products of both columns' items, or squares.
    XY,
    XX,
    YY,
    /// The rounding errors of the products before.
    Errors,
}

/// A field of a key's bytes.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// This number of bytes.
    Bytes(usize),
    /// A number.
    Number,
    /// A number and, if some items are not finite, their counts.
    Entry,
}
