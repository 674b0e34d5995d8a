//! The functions that C programs call, which dereference pointers and call MPI. Besides them, only `handle::owned` has `unsafe` code.
//!
//! As in `treefold_c::boundary`, a C program promises what the header asks for: a pointer with a length n is valid for n elements during
//! the call. Handles are not pointers, so they need no promise.

#![expect(
    unsafe_code,
    reason = "C programs pass pointers, and MPI is a C library; each block says what the caller promises"
)]

mod arrays;
pub mod builders;
pub mod calls;
pub mod communicators;
#[cfg(feature = "cuda")]
mod device;
mod entry;
pub mod exports;
mod handles;
pub mod hashed;
mod library;
pub mod reprored;
