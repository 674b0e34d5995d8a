//! Whether a plan can be run.

/// A plan between its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    /// A run is under way; or an operator panicked in one.
    UnderWay,
    /// A run failed or was abandoned; its messages may still be under way.
    Spent,
}
