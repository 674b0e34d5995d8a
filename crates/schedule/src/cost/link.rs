//! [`Link`], the cost of a message, and [`Load`], the size of the rows that an allreduce moves.

use std::fmt;

/// The costs of a message between two ranks, and of a combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// alpha: the time of an empty message, in nanoseconds.
    pub latency_ns: f64,
    /// beta: the time that each byte adds, in nanoseconds.
    pub byte_ns: f64,
    /// gamma: the time to combine one byte with another, in nanoseconds.
    pub combine_byte_ns: f64,
}

/// The size of the rows that an allreduce moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// m: the number of bytes of a row.
    pub row_bytes: f64,
    /// The mean number of rows in a fragment of the items of neighbouring ranks.
    pub rows: f64,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (alpha, beta, gamma) = (self.latency_ns, self.byte_ns, self.combine_byte_ns);
        write!(f, "{alpha} ns, {beta} ns/byte and {gamma} ns/combined byte")
    }
}

impl Link {
    /// The time of a message, in nanoseconds.
    #[must_use]
    pub fn message_ns(&self, bytes: f64) -> f64 {
        self.latency_ns + self.byte_ns * bytes
    }
}

/// A number of ranks or blocks as a real number.
#[expect(
    clippy::cast_precision_loss,
    reason = "ranks and blocks are far below 2^53"
)]
pub(crate) fn count(number: usize) -> f64 {
    number as f64
}
