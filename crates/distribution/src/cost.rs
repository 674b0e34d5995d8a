//! The scoring model: what one message and one addition cost.

use crate::Error;

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

    /// eq. 3.7. Each of its three roundings is monotone, so more messages or a larger share never
    /// score less, whatever the numbers.
    pub(crate) fn score_ns(&self, messages: u64, share_items_max: u64) -> f64 {
        messages as f64 * self.send_ns + share_items_max as f64 * self.add_ns
    }

    /// An order by cost means something only where costs are numbers, and none is a gain.
    pub(crate) fn checked(&self) -> Result<Self, Error> {
        let is_cost = |ns: f64| ns.is_finite() && ns >= 0.0;
        if is_cost(self.send_ns) && is_cost(self.add_ns) {
            Ok(*self)
        } else {
            Err(Error::Cost { cost: *self })
        }
    }
}
