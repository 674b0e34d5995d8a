//! The scoring model: what one message and one addition cost.

/// The two constants of the thesis' scoring model (eq. 3.7), in nanoseconds.
///
/// The model ignores waiting and distances. It ranks distributions, but does not predict times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The time to send one value to another rank.
    pub send_ns: f64,
    /// The time to combine two values.
    pub add_ns: f64,
}

impl Cost {
    /// The costs measured for the thesis, with `f64` sums and p = 256 on two AMD EPYC 7713 processors (section 3.1.2).
    pub const THESIS: Self = Self {
        send_ns: 281.0,
        add_ns: 4.15,
    };

    /// The score by eq. 3.7. The three roundings are monotone, so more messages or a larger share never lower the score.
    pub(crate) fn score_ns(&self, messages: u64, share_items_max: u64) -> f64 {
        messages as f64 * self.send_ns + share_items_max as f64 * self.add_ns
    }

    /// Whether both costs are finite and not negative, so that a distribution with the least cost exists.
    pub(crate) fn is_valid(&self) -> bool {
        let is_cost = |ns: f64| ns.is_finite() && ns >= 0.0;
        is_cost(self.send_ns) && is_cost(self.add_ns)
    }
}
