//! An extension that DuckDB loads through its C API: exact aggregates, each rounded once, and sums of lists in treefold's tree order.
//!
//! Crates `exact-sum` and `simd-kernels` do all arithmetic. After LIMIT, errors and interrupts, DuckDB drops the states of groups without
//! calling their destructor. To keep this leak small, a state owns memory only if its items do not fit into the state itself.

mod boundary;
mod functions;
