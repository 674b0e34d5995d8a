//! Contains all code that uses DuckDB's pointers.
#![expect(unsafe_code, reason = "DuckDB's C API passes pointers")]

mod aggregate;
mod entry;
mod numbers;
mod register;
mod scalar;
mod vectors;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::functions::Error;

/// Runs the body of a function that DuckDB called, and catches panics. Returns the error to report.
fn guarded(name: &str, call: impl FnOnce() -> Result<(), Error>) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("{name}: {error}")),
        Err(_) => Err(format!("{name} panicked: this is a bug in treefold")),
    }
}
