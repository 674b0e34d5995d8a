//! Comparisons of a check that wait for what other ranks contribute: the library has completed its own reduction before, and a program that goes on
//! then may be what other ranks wait for. So nothing waits here before the communicator is freed or MPI_Finalize begins.

use std::sync::{Mutex, PoisonError};

use treefold::mpi::mpi_library::{Comm, Request};

use super::flight::Flight;
use super::library::{SUCCESS, mpi};

static LEFT: Mutex<Vec<Flight>> = Mutex::new(Vec::new());

fn take() -> Vec<Flight> {
    std::mem::take(&mut *LEFT.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The program has the library's result.
pub(super) fn push(flight: Flight) {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.push(flight);
}

/// Compares what can be compared.
pub(super) fn poll() {
    settle(|_, request| is_complete(request));
}

/// Waits for what belongs to these communicators, and compares it.
pub(super) fn wait(is_of: impl Fn(Comm) -> bool) {
    settle(|comm, request| {
        let ignored = mpi().constants.status_ignore();
        // SAFETY: the request is live, as it is looked at until it is complete and no longer.
        is_of(comm) && unsafe { mpi().MPI_Wait(request, ignored) } == SUCCESS
    });
}

/// Compares what is left, as long as `wait` waits for a request and does not give up.
pub(super) fn end(wait: impl Fn(&mut Request) -> bool) {
    settle(|_, request| wait(request));
    // The library may use them still.
    std::mem::forget(take());
}

/// Whether a request is complete.
pub(super) fn is_complete(request: &mut Request) -> bool {
    let (mut flag, ignored) = (0, mpi().constants.status_ignore());
    // SAFETY: the request is live, as it is looked at until it is complete and no longer.
    let code = unsafe { mpi().MPI_Test(request, &raw mut flag, ignored) };
    code == SUCCESS && flag != 0
}

fn settle(mut is_done: impl FnMut(Comm, &mut Request) -> bool) {
    for mut flight in take() {
        let check = flight.check.as_mut();
        let is_done = check.is_none_or(|check| is_done(check.comm, &mut check.request));
        if is_done {
            flight.compare();
        } else {
            push(flight);
        }
    }
}
