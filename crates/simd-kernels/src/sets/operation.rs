//! Lists the operations that kernels compute.

/// The operations with vector instructions. All are commutative and round once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// left + right
    Sum,
    /// left * right
    Product,
    /// IEEE 754-2019 `minimum`: NaN propagates, and -0 is less than +0.
    Minimum,
    /// IEEE 754-2019 `maximum`: NaN propagates, and -0 is less than +0.
    Maximum,
}
