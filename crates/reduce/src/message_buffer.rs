//! How [`Algorithm1`](crate::Algorithm::Algorithm1) buffers its messages.

/// When [`Algorithm1`](crate::Algorithm::Algorithm1) sends its message buffer. The buffer is also sent before a value for another rank is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageBuffer {
    /// The number of values at which the buffer is full and is sent: from 1 to [`VALUES_MAX`](Self::VALUES_MAX).
    pub values: usize,
    /// The buffer is sent before work begins on a subtree with more leaves than this, so that finished values do not wait for long.
    pub flush_leaves: u64,
}

impl MessageBuffer {
    /// The largest allowed number of values. No rank ever has this many values for one other rank.
    pub const VALUES_MAX: usize = 128;

    /// Every value is sent separately.
    pub(crate) const UNBUFFERED: Self = Self {
        values: 1,
        flush_leaves: u64::MAX,
    };
}

/// The published numbers: 4 values, and 64 leaves.
impl Default for MessageBuffer {
    fn default() -> Self {
        Self {
            values: 4,
            flush_leaves: 64,
        }
    }
}
