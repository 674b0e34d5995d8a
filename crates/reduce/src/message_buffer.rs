//! How [`Algorithm1`](crate::Algorithm::Algorithm1) buffers its messages.

/// When the message buffer of [`Algorithm1`](crate::Algorithm::Algorithm1) is sent. It is also sent before a value for another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageBuffer {
    /// The most values in a message: a buffer with this many values is sent. From 1 to [`VALUES_MAX`](Self::VALUES_MAX).
    pub values: usize,
    /// The buffer is sent before work begins on a subtree of more leaves than this, so that a finished value does not wait for long.
    pub flush_leaves: u64,
}

impl MessageBuffer {
    /// The largest allowed number of values: no rank has this many values for one other rank.
    pub const VALUES_MAX: usize = 128;

    /// Every value is sent separately.
    pub(crate) const UNBUFFERED: Self = Self {
        values: 1,
        flush_leaves: u64::MAX,
    };
}

/// As published: 4 values, and 64 leaves.
impl Default for MessageBuffer {
    fn default() -> Self {
        Self {
            values: 4,
            flush_leaves: 64,
        }
    }
}
