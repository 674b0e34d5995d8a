//! Checks pages against the code. The pages' programs are doctests of this crate, and this crate's tests check links, statements and
//! headers.
//!
//! These tests are not in the crates that the pages describe, because a published crate cannot read files outside itself.

#[cfg(doctest)]
mod pages;
