//! The loops of exact sums and products, which process blocks of items without rounding errors.

pub(crate) mod decode;
pub(crate) mod exponents;
pub(crate) mod nearest;
pub(crate) mod plain;
pub(crate) mod products;
pub(crate) mod range;
pub(crate) mod split;
pub(crate) mod zeros;
