//! Cases that leak memory.

use std::thread;
use std::time::Duration;

use super::{Case, check_on_threads};

/// A leak shows each time; caches that fill, and memory that an ending thread has yet to free, do not.
const RUNS: usize = 4;

/// How often a thread is waited for that has ended but not freed what is its own.
const LOOKS: usize = 20;

/// Tells a leak by the memory that this process holds.
pub(super) struct Leaks {
    live_bytes: fn() -> usize,
}

impl Leaks {
    pub(super) fn of(live_bytes: fn() -> usize) -> Self {
        Self { live_bytes }
    }

    /// What is wrong with a case, if anything is, or that it leaks. Nothing else may run in this process.
    pub(super) fn check(&self, case: &Case) -> Option<String> {
        let mut kept_bytes = 0;
        for _ in 0..RUNS {
            let before = (self.live_bytes)();
            let wrong = check_on_threads(case);
            if wrong.is_some() {
                return wrong;
            }
            kept_bytes = self.above(before)?;
        }
        Some(format!("each run leaks: the last one {kept_bytes} bytes"))
    }

    /// How many bytes more than these the process holds; `None` if no more.
    fn above(&self, before: usize) -> Option<usize> {
        for _ in 0..LOOKS {
            let live = (self.live_bytes)();
            if live <= before {
                return None;
            }
            thread::sleep(Duration::from_millis(1));
        }
        (self.live_bytes)()
            .checked_sub(before)
            .filter(|&kept| kept > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Leaks;
    use crate::Backend;
    use crate::campaign::{FaultKind, Generator};

    /// What a process holds that leaks a byte each time it is asked.
    fn growing() -> usize {
        static LIVE: AtomicUsize = AtomicUsize::new(0);
        LIVE.fetch_add(1, Ordering::Relaxed)
    }

    #[test]
    fn what_grows_with_each_run_is_a_leak() {
        let case = Generator::new(Backend::Threads, Some(3), &[FaultKind::Sleep]).case(1);
        assert!(Leaks::of(growing).check(&case).is_some());
        assert_eq!(Leaks::of(|| 7).check(&case), None);
    }
}
