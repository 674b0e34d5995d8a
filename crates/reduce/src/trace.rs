//! Spans of crate `tracing`, at level TRACE, with feature `tracing`; without it, nothing at all.
//!
//! `plan` covers the collective building of a plan, `local work` a rank's own folds, `waiting` the
//! time until a message has arrived; `message` is an event for each message sent.

/// Opens a span that lasts to the end of the block.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)*) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::trace_span!($name $(, $field = $value)*).entered();
    };
}

/// Notes a message sent.
macro_rules! message {
    ($to:expr, $length_bytes:expr) => {
        #[cfg(feature = "tracing")]
        tracing::trace!(to = $to, length_bytes = $length_bytes, "message");
    };
}

pub(crate) use {message, span};
