//! Functions for each of several types.

/// What a function takes and gives, of elements of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An array to a number.
    Array,
    /// An array to a number, in lanes.
    Lanes,
    /// Two arrays of one length to a number.
    Arrays,
    /// An array to two numbers.
    Numbers,
    /// Rows to a row.
    Rows,
    /// Items with keys to a number for each key.
    ByKey,
    /// The same, less degrees of freedom.
    SpreadByKey,
    /// Two arrays of one length, with keys.
    PairsByKey,
    /// Rows with keys to a row for each key.
    RowsByKey,
    /// An array to a number for each window.
    Windows,
    /// The same for windows by an index.
    Ranges,
}

/// A function for each of several types, such as `treefold_dot_f64`, and another for all threads, such as `treefold_par_dot_f64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Typed {
    /// Its name: after `treefold_` and before the type in C, after `treefold_` in Fortran, in namespace `treefold` in C++.
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// The types, as in the names of C's functions.
    pub(crate) types: &'static [&'static str],
    /// What it gives, for the documentation in Rust. `{numbers}` are complex ones for complex types.
    pub(crate) gives: &'static str,
    /// Rust's function. `{by}` is who does the work.
    pub(crate) caller: &'static str,
    /// The same for all threads.
    pub(crate) pool: Option<&'static str>,
    /// What Fortran calls the result.
    pub(crate) result: &'static str,
}

const FLOATS: &[&str] = &["f32", "f64"];

pub(crate) const fn typed(
    name: &'static str,
    shape: Shape,
    gives: &'static str,
    caller: &'static str,
    pool: &'static str,
) -> Typed {
    Typed {
        name,
        shape,
        types: FLOATS,
        gives,
        caller,
        pool: Some(pool),
        result: "total",
    }
}
