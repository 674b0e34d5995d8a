//! Folds rows in tree order, element by element.

pub(crate) mod fold_rows;
pub(crate) mod lanes;
pub(crate) mod narrow;
pub(crate) mod pairs;
pub(crate) mod panel;
pub(crate) mod scratch;
pub(crate) mod tree_rows;
