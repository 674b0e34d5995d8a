//! The synchronisation primitives of the mailboxes: those of the standard library or, under `--cfg shuttle`, of a scheduler that
//! chooses every step of a test.

#[cfg(not(shuttle))]
mod primitives {
    pub(in crate::threads) use std::hint::spin_loop;
    pub(in crate::threads) use std::sync::atomic::{AtomicBool, AtomicUsize};
    pub(in crate::threads) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(in crate::threads) use std::thread::yield_now;

    /// The number of threads that can run at once.
    pub(in crate::threads) fn cores() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

#[cfg(shuttle)]
mod primitives {
    pub(in crate::threads) use shuttle::hint::spin_loop;
    pub(in crate::threads) use shuttle::sync::atomic::{AtomicBool, AtomicUsize};
    pub(in crate::threads) use shuttle::sync::{Condvar, Mutex, MutexGuard};
    pub(in crate::threads) use shuttle::thread::yield_now;

    /// Returns 1, since spinning would only make the schedules longer.
    pub(in crate::threads) fn cores() -> usize {
        1
    }
}

pub(super) use primitives::{
    AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, cores, spin_loop, yield_now,
};
