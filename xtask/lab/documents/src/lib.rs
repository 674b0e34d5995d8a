//! What is written is held against what is built: the pages' programs are doctests of this crate, its tests read links, statements and
//! headers.
//!
//! They are not tests of the crates whose pages they are: a published crate cannot read pages that lie outside it.

#[cfg(doctest)]
mod pages;
