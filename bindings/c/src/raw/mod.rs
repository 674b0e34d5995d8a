//! Accesses a caller's arrays, functions and threads through raw pointers, and holds the thread pools.

#![expect(
    unsafe_code,
    reason = "C programs pass pointers; each block says what the caller promises"
)]

mod function;
mod pointers;
mod pool;
mod team;

pub use function::{Combine, Function, ITEM_BYTES_MAX, WORD_BYTES, words_of_item};
pub use pointers::{
    Bytes, check_aligned, disjoint, elements, elements_mut, place, put, text, write, write_bytes,
};
pub(crate) use pool::threads;
pub(crate) use team::{Team, by_team};
