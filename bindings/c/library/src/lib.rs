//! The functions of `treefold.h`, which crate `treefold_c` exports.

pub use treefold_c;
