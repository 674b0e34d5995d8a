//! What lies behind raw pointers: a caller's arrays and functions, and the pool of threads.

#![expect(
    unsafe_code,
    reason = "C programs pass pointers; each block says what their promise is"
)]

mod function;
mod pointers;
mod pool;

pub use function::{Combine, Function};
pub use pointers::{
    Bytes, bytes, bytes_mut, check_aligned, disjoint, elements, elements_mut, place, text, write,
    write_bytes,
};
pub(crate) use pool::threads;
