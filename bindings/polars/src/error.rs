//! Error messages, which Polars raises as a `ComputeError`.

/// The function's name is added where it is reported.
#[derive(Debug)]
pub(crate) struct Error(pub(crate) String);

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
