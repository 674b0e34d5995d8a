//! How long a call waits for the transport.

use std::time::{Duration, Instant};

/// How long to wait for messages of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    /// Do not wait.
    None,
    /// Do not wait: the rank waits for another run, and drives this run meanwhile.
    InPassing,
    Until(Instant),
    Unlimited,
}

impl Patience {
    /// Until `timeout` from now; unlimited if the clock cannot represent that time.
    pub(crate) fn of(timeout: Duration) -> Self {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => Patience::Until(deadline),
            None => Patience::Unlimited,
        }
    }

    /// The time that is left; `None` if unlimited.
    pub(crate) fn left(self) -> Option<Duration> {
        match self {
            Patience::None | Patience::InPassing => Some(Duration::ZERO),
            Patience::Until(deadline) => Some(deadline.saturating_duration_since(Instant::now())),
            Patience::Unlimited => None,
        }
    }
}
