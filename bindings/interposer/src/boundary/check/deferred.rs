//! Comparisons in a check that still wait for the contributions of other ranks. The MPI library has completed its reduction, and other
//! ranks may be waiting for this rank to continue. So nothing here waits before the communicator is freed or MPI_Finalize begins.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{mem, thread};

use treefold::mpi::mpi_library::{Comm, Request};

use crate::boundary::calls::count::count_failed;
use crate::boundary::library::loaded::{SUCCESS, mpi};
use crate::boundary::requests::flight::Flight;

static LEFT: Left = Left(Mutex::new(Pending {
    all: BTreeMap::new(),
    next: 0,
}));

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    UnderWay,
    Complete,
    /// The library failed: the data has not arrived, but the buffer may still be written to.
    Failed,
}

/// Comparisons that are still pending, in order of arrival.
struct Left(Mutex<Pending>);

struct Pending {
    all: BTreeMap<u64, PendingEntry>,
    next: u64,
}

/// A pending comparison. The entry stays in the table while a thread works on its flight, so that other threads see that it is pending.
struct PendingEntry {
    comm: Comm,
    flight: Option<Box<Flight>>,
}

/// A flight that a thread works on. `drop` puts it back even if the program's error handler throws.
struct InHands<'l> {
    left: &'l Left,
    key: u64,
    flight: Option<Box<Flight>>,
}

impl Drop for InHands<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.left.lock().all.get_mut(&self.key) {
            place.flight = self.flight.take();
        }
    }
}

impl Left {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, flight: Box<Flight>) {
        let Some(comm) = flight.check.as_ref().map(|check| check.comm) else {
            return;
        };
        let mut places = self.lock();
        let key = places.next;
        places.next += 1;
        let flight = Some(flight);
        places.all.insert(key, PendingEntry { comm, flight });
    }

    /// Whether any comparison of a communicator is pending.
    fn has(&self, is_of: impl Fn(Comm) -> bool) -> bool {
        self.lock().all.values().any(|place| is_of(place.comm))
    }

    /// The first entry after `last` that no thread works on.
    fn take(&self, last: Option<u64>) -> Option<InHands<'_>> {
        let after = last.map_or(Bound::Unbounded, Bound::Excluded);
        let mut places = self.lock();
        let mut later = places.all.range_mut((after, Bound::Unbounded));
        later.find_map(|(&key, place)| {
            let flight = Some(place.flight.take()?);
            let left = self;
            Some(InHands { left, key, flight })
        })
    }

    /// Calls `ask` for each request, without holding the lock. Removes comparisons whose requests have ended and passes them to `over`.
    fn settle(
        &self,
        mut ask: impl FnMut(Comm, &mut Request) -> End,
        mut over: impl FnMut(Box<Flight>, End),
    ) {
        let mut last = None;
        while let Some(mut held) = self.take(last) {
            last = Some(held.key);
            let flight = held.flight.as_mut();
            let Some(check) = flight.and_then(|flight| flight.check.as_mut()) else {
                continue;
            };
            let end = ask(check.comm, &mut check.request);
            if end == End::UnderWay {
                continue;
            }
            if let Some(flight) = held.flight.take() {
                self.lock().all.remove(&held.key);
                over(flight, end);
            }
        }
    }
}

/// Adds a comparison of a call for which the program already has the MPI library's result.
pub(crate) fn push(flight: Box<Flight>) {
    LEFT.push(flight);
}

/// Makes all comparisons for which the contributions have arrived.
pub(crate) fn poll() {
    LEFT.settle(|_, request| test(request), finish);
}

/// Waits until the pending comparisons of these communicators can be made, and makes them. Other threads continue meanwhile.
pub(crate) fn wait(is_of: impl Fn(Comm) -> bool) {
    loop {
        let ask = |comm, request: &mut Request| {
            if is_of(comm) {
                test(request)
            } else {
                End::UnderWay
            }
        };
        LEFT.settle(ask, finish);
        if !LEFT.has(&is_of) {
            return;
        }
        thread::yield_now();
    }
}

/// Makes the remaining comparisons, except those whose requests `wait` gives up on.
pub(crate) fn end(wait: impl Fn(&mut Request) -> End) {
    LEFT.settle(|_, request| wait(request), finish);
    // The library may still write to the buffers of incomplete reductions.
    mem::forget(mem::take(&mut LEFT.lock().all));
}

/// Tests a request.
pub(crate) fn test(request: &mut Request) -> End {
    let (mut flag, ignored): (c_int, _) = (0, mpi().constants.status_ignore());
    // SAFETY: the request is live: it is tested only until it is complete.
    let code = unsafe { mpi().MPI_Test(request, &raw mut flag, ignored) };
    match (code, flag) {
        (SUCCESS, 0) => End::UnderWay,
        (SUCCESS, _) => End::Complete,
        _ => End::Failed,
    }
}

/// Makes a comparison whose request is complete; counts it as failed if the request has failed.
fn finish(flight: Box<Flight>, end: End) {
    if end == End::Complete {
        flight.compare();
        return;
    }
    count_failed(&flight.task);
    // The library may still write to the flight's buffers.
    mem::forget(flight);
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;

    use treefold::mpi::mpi_library::Comm;

    use super::{BTreeMap, End, Left, Pending};
    use crate::boundary::check::compared::Check;
    use crate::boundary::requests::flight::Flight;
    use crate::task::{Call, Task};

    fn left(count: usize) -> Left {
        let left = Left(Mutex::new(Pending {
            all: BTreeMap::new(),
            next: 0,
        }));
        for _ in 0..count {
            let task = Task::sum(Call::Allreduce, 1);
            let mut flight = Flight::new(task, 2, 16);
            flight.check = Some(Check::new(Comm::UNSET, Vec::new()));
            left.push(flight);
        }
        left
    }

    /// While a thread works on an entry, threads that wait for its communicator still see the entry, and threads may call this module.
    #[test]
    fn what_is_in_hands_is_left() {
        let left = left(3);
        let mut ends = [End::UnderWay, End::Complete, End::Failed].into_iter();
        let mut over = Vec::new();
        let ask = |_, _: &mut _| {
            assert!(left.has(|comm| comm == Comm::UNSET));
            left.settle(|_, _| End::UnderWay, |_, _| {});
            ends.next().unwrap_or(End::UnderWay)
        };
        left.settle(ask, |_, end| over.push(end));
        assert_eq!(over, [End::Complete, End::Failed]);
        assert!(left.has(|_| true));
        left.settle(|_, _| End::Complete, |_, end| over.push(end));
        assert_eq!(over.len(), 3);
        assert!(!left.has(|_| true));
    }

    #[test]
    fn what_throws_is_left() {
        let left = left(2);
        let thrown = catch_unwind(AssertUnwindSafe(|| {
            left.settle(|_, _| panic!("an error handler's"), |_, _| {});
        }));
        assert!(thrown.is_err());
        let mut over = 0;
        left.settle(|_, _| End::Complete, |_, _| over += 1);
        assert_eq!(over, 2);
    }
}
