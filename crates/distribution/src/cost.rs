//! The scoring model: what one message and one addition cost.

/// The two constants of the thesis' scoring model (eq. 3.7), in nanoseconds.
///
/// The model knows neither which messages wait for which, nor how far they travel. It orders
/// distributions; it does not predict times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The time to send one item's value to another rank.
    pub send_ns: f64,
    /// The time to combine two values.
    pub add_ns: f64,
}

impl Cost {
    /// As measured for the thesis: `f64` sums on two AMD EPYC 7713 with p = 256 (section 3.1.2).
    pub const THESIS: Self = Self {
        send_ns: 281.0,
        add_ns: 4.15,
    };
}
