#![doc = include_str!("../README.md")]
//!
//! `arrow` reads columns from Polars and makes columns for it; `boundary` has the functions that Polars calls; everything else is safe code.

mod arrow;
mod boundary;
mod column;
mod dot;
mod error;
mod figure;
mod function;
mod integers;
mod lists;
mod states;
mod whole;
