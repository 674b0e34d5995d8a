//! Spans and events at level TRACE, and warnings, for crate `tracing`. Without feature `tracing`, the macros do nothing.
//!
//! The span `plan` covers the collective building of a plan. The span `local work` covers a rank's own folds. The span `waiting` ends when
//! a message has arrived. The event `message` is recorded for each message sent. Building a plan logs a warning if scattered items make its
//! messages long.

/// Opens a span that lasts to the end of the block.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)*) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::trace_span!($name $(, $field = $value)*).entered();
    };
}

/// Records that a message was sent.
macro_rules! message {
    ($to:expr, $length_bytes:expr) => {
        #[cfg(feature = "tracing")]
        tracing::trace!(to = $to, length_bytes = $length_bytes, "message");
    };
}

/// Logs `$warning`, unless it is `None`.
macro_rules! warning {
    ($warning:expr) => {
        #[cfg(feature = "tracing")]
        if let Some(warning) = $warning {
            tracing::warn!("{warning}");
        }
    };
}

pub(crate) use {message, span, warning};
