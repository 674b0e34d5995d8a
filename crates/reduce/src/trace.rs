//! Spans and events of crate `tracing`, at level TRACE but for warnings, with feature `tracing`. Without the feature, the macros do nothing.
//!
//! `plan` covers the collective building of a plan, `local work` a rank's own folds, `waiting` the
//! time until a message has arrived; `message` is an event for each message sent. A plan for scattered items may warn of what it will
//! send.

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

/// Logs a warning, if `$warning` is one.
macro_rules! warning {
    ($warning:expr) => {
        #[cfg(feature = "tracing")]
        if let Some(warning) = $warning {
            tracing::warn!("{warning}");
        }
    };
}

pub(crate) use {message, span, warning};
