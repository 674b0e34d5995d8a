//! A loadable extension of DuckDB, over its C API: aggregates that are exact until they are rounded once, and sums of lists in the order of
//! treefold's tree.
//!
//! All arithmetic is that of `exact-sum` and `simd-kernels`. DuckDB drops the states of groups without a word after LIMIT, errors and
//! interrupts: a state owns memory only if its items do not fit it.

mod boundary;
mod functions;
