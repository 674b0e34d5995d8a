//! The requests that a program passes to a call that may complete them, and the treefold reductions among these.

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Handle, Request};

use crate::boundary::check::deferred;
use crate::boundary::library::loaded;
use crate::boundary::requests::flight::{Flight, lock, put, remove};
use crate::task::Form;

/// A call's requests: an array in C or in Fortran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests {
    pub(crate) count: usize,
    pub(crate) handles: Handles,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Handles {
    C(*const c_void),
    Fortran(*const c_int),
}

impl Requests {
    fn new(count: c_int, handles: Handles) -> Self {
        Self {
            count: usize::try_from(count).unwrap_or(0),
            handles,
        }
    }

    /// An array in C; empty if its address is NULL.
    pub(crate) fn in_c(count: c_int, handles: *const c_void) -> Self {
        let count = if handles.is_null() { 0 } else { count };
        Self::new(count, Handles::C(handles))
    }

    pub(crate) fn in_fortran(count: c_int, numbers: *const c_int) -> Self {
        Self::new(count, Handles::Fortran(numbers))
    }

    /// The handles of all requests, as words.
    ///
    /// # Safety
    /// The requests are where the program's arguments point.
    pub(crate) unsafe fn words(self) -> Vec<usize> {
        let places = 0..self.count;
        // SAFETY: the caller promises requests where the arguments point.
        places.map(|place| unsafe { self.word(place) }).collect()
    }

    /// One of the requests.
    ///
    /// # Safety
    /// The requests are where the program's arguments point, and `place` is less than their number.
    pub(crate) unsafe fn request(self, place: usize) -> Request {
        match self.handles {
            // SAFETY: the caller promises a request at `place`.
            Handles::C(handles) => unsafe { loaded::mpi().family().read(handles, place) },
            Handles::Fortran(numbers) => {
                // SAFETY: the caller promises a request at `place`.
                let number = unsafe { numbers.add(place) };
                // SAFETY: as above.
                unsafe { fortran(number) }
            }
        }
    }

    /// The handle of one of the requests, as a word.
    ///
    /// # Safety
    /// As for [`Self::request`].
    unsafe fn word(self, place: usize) -> usize {
        // SAFETY: the caller promises a request at `place`.
        unsafe { self.request(place) }.word()
    }
}

/// Converts a Fortran request.
///
/// # Safety
/// The address points to a handle, and MPI is initialised.
pub(crate) unsafe fn fortran(number: *const c_int) -> Request {
    let mpi = loaded::mpi();
    // SAFETY: the caller promises the address of a handle.
    let number = unsafe { *number };
    // SAFETY: the program promises that the number is a request's.
    let request = unsafe { mpi.request_from_fortran(number) };
    request.unwrap_or(mpi.handles.MPI_REQUEST_NULL)
}

/// The requests of a call in C or in Fortran. Arguments: the parameter for one request, or the parameters for a number and an array.
macro_rules! requests {
    (c [$request:ident]) => {
        Requests::in_c(1, $request)
    };
    (c [$count:ident, $requests:ident]) => {
        Requests::in_c($count, $requests)
    };
    (fortran [$request:ident]) => {
        Requests::in_fortran(1, $request)
    };
    (fortran [$count:ident, $requests:ident]) => {
        // SAFETY: the address points to an INTEGER.
        Requests::in_fortran(unsafe { integer($count) }, $requests)
    };
}

pub(crate) use requests;

/// One of a call's requests, taken out of the table.
#[derive(Debug)]
struct Held {
    place: usize,
    word: usize,
    flight: Box<Flight>,
}

/// The requests of a call that are treefold's reductions and under way. They are taken out of the table until the call is over: as soon as
/// the library has completed a request, another thread may get the same handle for another request.
#[derive(Debug)]
pub(crate) struct Taken {
    /// Most calls have only one such request, which needs no allocation here.
    first: Option<Held>,
    others: Vec<Held>,
}

impl Taken {
    /// # Safety
    /// The requests are where the program's arguments point.
    pub(crate) unsafe fn of(requests: Requests) -> Self {
        let mut taken = Self {
            first: None,
            others: Vec::new(),
        };
        let mut table = lock();
        for place in 0..requests.count {
            // SAFETY: the caller promises requests where the arguments point.
            let word = unsafe { requests.word(place) };
            if table.get(&word).is_some_and(|flight| flight.is_under_way)
                && let Some(flight) = remove(&mut table, word)
            {
                taken.push(Held {
                    place,
                    word,
                    flight,
                });
            }
        }
        taken
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    fn push(&mut self, held: Held) {
        match self.first {
            None => self.first = Some(held),
            Some(_) => self.others.push(held),
        }
    }

    fn all(&mut self) -> impl Iterator<Item = Held> + use<> {
        let others = std::mem::take(&mut self.others);
        self.first.take().into_iter().chain(others)
    }

    /// After the library's call, handles the complete requests and puts back the others. A request is complete if the library has changed
    /// its handle, or if the request is persistent, keeps its handle, and `is_done` returns true. Open MPI frees persistent requests that
    /// have failed. Requests that a failing call completes are not compared: any of them may have failed.
    ///
    /// # Safety
    /// The requests are where the program's arguments point.
    pub(crate) unsafe fn settle(
        mut self,
        requests: Requests,
        has_failed: bool,
        is_done: &dyn Fn(usize) -> bool,
    ) {
        for mut held in self.all() {
            // SAFETY: the caller promises requests where the arguments point.
            let is_gone = (unsafe { requests.word(held.place) }) != held.word;
            let is_kept = held.flight.task.form == Form::Persistent && !is_gone;
            let is_complete = is_gone || is_kept && is_done(held.place);
            if is_complete {
                held.flight.arrive(has_failed);
                held.flight.is_under_way = false;
                let child = held.flight.child.take();
                child.into_iter().for_each(deferred::push);
            }
            if !is_complete || is_kept {
                self.push(held);
            } else if held.flight.check.is_some() {
                deferred::push(held.flight);
            } else {
                held.flight.spare();
            }
        }
    }
}

/// Puts back the remaining requests, even if the program's error handler throws.
impl Drop for Taken {
    fn drop(&mut self) {
        if self.is_empty() {
            return;
        }
        let mut table = lock();
        for held in self.all() {
            put(&mut table, held.word, held.flight);
        }
    }
}
