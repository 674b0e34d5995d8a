//! Detects whether this process is a forked child of the process that made a communicator.
//!
//! A child has none of its parent's threads, and MPI does not work in a child. The operating system calls our handler in every child, and
//! the handler counts forks. So a communicator makes no system call before it sends: it only compares two counts.

#![cfg_attr(unix, expect(unsafe_code, reason = "`pthread_atfork` is a C function"))]

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of forks between the first process and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// The process that made a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    forks: u64,
}

impl Process {
    /// The calling process. After this call, `is_current` distinguishes it from its children.
    pub(crate) fn current() -> Self {
        watch();
        Self {
            forks: FORKS.load(Ordering::Relaxed),
        }
    }

    /// Whether the calling process is `self`, not a child of it.
    #[inline]
    pub(crate) fn is_current(self) -> bool {
        FORKS.load(Ordering::Relaxed) == self.forks
    }
}

#[cfg(unix)]
fn watch() {
    use std::sync::Once;

    extern "C" fn count_fork() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // SAFETY: the handler is a function of this program, so it is not unloaded while the program runs. It only adds to an
        // atomic, which is allowed between fork and exec. If the call fails, children are not detected.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    });
}

#[cfg(not(unix))]
fn watch() {}
