//! Extends DuckDB, through its C API, by exact aggregates, each rounded once, and by sums of lists in treefold's tree order.
//!
//! The crates `exact-sum` and `simd-kernels` do all arithmetic. After a LIMIT, an error or an interrupt, DuckDB drops the states of groups
//! without calling their destructor. To keep this leak small, a state owns memory only if its items do not fit into the state itself.

mod boundary;
mod functions;
