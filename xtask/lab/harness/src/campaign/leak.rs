//! Cases that leak memory.

use std::thread;
use std::time::Duration;

use comm::text::counted;

use super::{Case, check_on_threads};

/// A leak shows each time; caches that fill, and memory that an ending thread has yet to free, do not.
const RUNS: usize = 4;

/// How often a thread is waited for that has ended but not freed what is its own.
const LOOKS: usize = 20;

/// What is wrong with a case, if anything is, or that it leaks: `live_bytes` are those that this process holds, in which nothing else may
/// run.
pub(super) fn check_with_leaks(case: &Case, live_bytes: fn() -> usize) -> Option<String> {
    let mut kept_bytes = 0;
    for _ in 0..RUNS {
        let before = live_bytes();
        let wrong = check_on_threads(case);
        if wrong.is_some() {
            return wrong;
        }
        kept_bytes = kept_after(before, live_bytes)?;
    }
    Some(format!(
        "each run leaks: the last one {}",
        counted(kept_bytes, "byte")
    ))
}

/// How many bytes more than these the process goes on to hold; `None` if no more.
fn kept_after(before: usize, live_bytes: fn() -> usize) -> Option<usize> {
    let more = || live_bytes().checked_sub(before).filter(|&kept| kept > 0);
    for _ in 0..LOOKS {
        more()?;
        thread::sleep(Duration::from_millis(1));
    }
    more()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::check_with_leaks;
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
        assert!(check_with_leaks(&case, growing).is_some());
        assert_eq!(check_with_leaks(&case, || 7), None);
    }
}
