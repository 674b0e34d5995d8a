//! The slots that keys can have.

mod each;
mod sums;
