//! Defines error messages, which Polars raises as a `ComputeError`.

/// A message without the function's name, which is added when the error is reported.
#[derive(Debug)]
pub(crate) struct Error(pub(crate) String);

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
