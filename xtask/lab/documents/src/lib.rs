//! Checks pages against the code: the pages' programs are doctests of this crate, and its tests read links, statements and
//! headers.
//!
//! These are not tests of the crates that the pages describe, since a published crate cannot read files outside it.

#[cfg(doctest)]
mod pages;
