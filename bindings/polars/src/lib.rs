#![doc = include_str!("../README.md")]
//!
//! `arrow` reads what Polars lends and makes what it gets; `boundary` is what Polars calls; between them is safe code.

mod arrow;
mod boundary;
mod column;
mod dot;
mod error;
mod figure;
mod function;
mod lists;
mod states;
mod whole;
