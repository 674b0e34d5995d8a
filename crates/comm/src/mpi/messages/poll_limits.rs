//! How long calls poll, and how many times they poll before they do something else.

use std::time::Duration;

/// How many times a wait polls before it does something else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollLimits {
    /// The number of polls of MPI's requests before the rank yields its core.
    pub(crate) before_yield: u32,
    /// The number of polls of shared memory before the rank yields its core. Such polls take less time, so their number is greater.
    pub(crate) local_before_yield: u32,
    /// The number of polls of shared memory before `try_send` or `try_receive` fails: 8000 polls take about 5 microseconds.
    pub(crate) before_request: u32,
    /// How long a wait yields its core before it sleeps instead.
    pub(crate) before_nap: Duration,
    /// One in this many polls of shared memory also lets MPI make progress.
    pub(crate) before_progress: u32,
}

impl PollLimits {
    /// Each rank has a core to itself.
    pub(crate) const OWN_CORE: Self = Self {
        before_yield: 1000,
        local_before_yield: 16_000,
        before_request: 8000,
        before_nap: Duration::MAX,
        before_progress: 64,
    };
    /// Ranks share cores: the peer may be waiting for this core.
    pub(crate) const SHARED_CORE: Self = Self {
        before_yield: 1,
        local_before_yield: 1,
        before_request: 1,
        before_nap: Duration::from_micros(100),
        before_progress: 1,
    };
}

/// How long a call polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitLimit {
    /// Once, for a rank that does other work between polls. That time does not count as waiting.
    InPassing,
    /// Once.
    Test,
    /// For at most this time.
    For(Duration),
    /// Until the silence limit.
    Unlimited,
}
