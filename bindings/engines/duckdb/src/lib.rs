//! A loadable extension of DuckDB, over its C API: aggregates that are computed exactly and rounded once, and sums of lists in the order of
//! treefold's tree.
//!
//! Crates `exact-sum` and `simd-kernels` do all arithmetic. After LIMIT, errors and interrupts DuckDB drops the states of groups without calling
//! their destructor. So a state owns memory only if its items do not fit it.

mod boundary;
mod functions;
