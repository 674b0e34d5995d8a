//! A table of the reductions under way, by the handle of the request with which the MPI library gathers the contributions.
//!
//! The program holds that request. When a call completes the request, the gathered rows are combined into the program's buffer before the
//! call returns. The library makes progress on all requests, and nothing waits here.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::hash::BuildHasherDefault;
use std::mem;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use comm::hash::WordHasher;
use treefold::mpi::mpi_library::{Handle, Request};

use crate::boundary::calls::count::{count_failed, count_more, count_site, elapsed_ns};
use crate::boundary::check::compared::{Check, Repeat};
use crate::boundary::library::loaded;
use crate::boundary::process::control::DefaultEnvironment;
use crate::engine::fold;
use crate::settings::Settings;
use crate::statistics::Counts;
use crate::task::{Form, Task};

/// The exit status if a completion was missed.
const MISSED: i32 = 3;

/// A non-blocking or persistent reduction, whose contributions the MPI library gathers.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) task: Task,
    /// The gathered rows, one for each rank: that rank's contribution, or a part of the contribution.
    pub(crate) rows: Vec<u64>,
    /// The number of elements in a row.
    pub(crate) width: usize,
    /// The number of rows to combine, from the first on.
    pub(crate) combined: usize,
    /// The program's buffer for the result, if this rank gets one.
    pub(crate) result: Option<*mut c_void>,
    /// The counts and displacements that the library reads until the request is complete.
    pub(crate) counts: Vec<c_int>,
    /// In a check: the data to compare with the library's own reduction, which is the program's request.
    pub(crate) check: Option<Check>,
    /// In a check of a persistent reduction: the arguments of each start's gather, and the gather that the last start began.
    pub(crate) repeat: Option<Box<Repeat>>,
    pub(crate) child: Option<Box<Flight>>,
    /// Whether the reduction was started and no call has completed it.
    pub(crate) is_under_way: bool,
    /// Whether the result has been written, although no call has completed the request.
    pub(crate) is_there: bool,
}

// SAFETY: only the thread that completes the request uses the result's address, and the program lends the buffer until then.
unsafe impl Send for Flight {}

/// Flights by their requests' handles.
pub(crate) type Flights = HashMap<usize, Box<Flight>, BuildHasherDefault<WordHasher>>;

/// All known flights.
static TABLE: Mutex<Flights> = Mutex::new(HashMap::with_hasher(BuildHasherDefault::new()));

/// The number of flights that a thread keeps for its next reductions, and the most bytes that each may hold.
const SPARE_MAX: usize = 4;
const SPARE_MAX_BYTES: usize = 4 << 20;

/// Finished flights, whose boxes and memory are reused.
#[allow(clippy::vec_box, reason = "the boxes are reused, too")]
type Spare = Vec<Box<Flight>>;

thread_local! {
    static SPARE: RefCell<Spare> = const { RefCell::new(Vec::new()) };
}

/// The numbers of known flights and of flights under way. While they are 0, calls read nothing else. A thread that holds a request has seen
/// the request's start, so the number that the thread reads counts the request.
static KNOWN: AtomicUsize = AtomicUsize::new(0);
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Whether no flight is under way, except flights that a call is just completing.
#[inline]
pub(crate) fn is_idle() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) == 0
}

/// Whether no flight is known.
#[inline]
pub(crate) fn is_empty() -> bool {
    KNOWN.load(Ordering::Relaxed) == 0
}

pub(crate) type Table = MutexGuard<'static, Flights>;

pub(crate) fn lock() -> Table {
    // Nothing panics while the lock is held.
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn put(table: &mut Table, word: usize, flight: Box<Flight>) {
    if flight.is_under_way {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
    }
    let before = table.insert(word, flight);
    KNOWN.store(table.len(), Ordering::Relaxed);
    if let Some(before) = before.filter(|before| before.is_under_way) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        missed(&before.task, "the MPI library has reused the request");
    }
}

pub(crate) fn remove(table: &mut Table, word: usize) -> Option<Box<Flight>> {
    let flight = table.remove(&word)?;
    KNOWN.store(table.len(), Ordering::Relaxed);
    if flight.is_under_way {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
    Some(flight)
}

/// Ends the job, since the program may have used a result that was not written.
#[cold]
fn missed(task: &Task, how: &str) {
    let (rank, name) = (loaded::world().rank(), task.name());
    let reason = format!(
        "treefold-pmpi: rank {rank}: the program completed an MPI_{name} by a call that treefold does not know, or did not complete it: {how}"
    );
    treefold::mpi::abort(MISSED, &reason);
}

/// Checks in MPI_Finalize that the program has completed all reductions that it started.
pub(crate) fn end() {
    let table = lock();
    let left = table.values().find(|flight| flight.is_under_way);
    if let Some(left) = left {
        missed(&left.task, "in MPI_Finalize, treefold found it incomplete");
    }
}

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestState {
    No,
    /// The request is not under way.
    Inactive,
    UnderWay,
}

/// The state of a request in the table.
pub(crate) fn known(word: usize) -> RequestState {
    match lock().get(&word) {
        None => RequestState::No,
        Some(flight) if flight.is_under_way => RequestState::UnderWay,
        Some(_) => RequestState::Inactive,
    }
}

/// Delivers the result of a request that a test has reported complete and that the program still holds. The table stays locked: other threads that
/// test the request wait for the result.
pub(crate) fn observe(word: usize) {
    let mut table = lock();
    if let Some(flight) = table.get_mut(&word)
        && flight.is_under_way
    {
        flight.arrive(false);
        flight.is_there = true;
    }
}

/// The task of a request, if the request is a treefold reduction.
pub(crate) fn task_of(word: usize) -> Option<Task> {
    lock().get(&word).map(|flight| flight.task)
}

/// Records whether a persistent request is under way, if it is a treefold reduction.
pub(crate) fn set_under_way(word: usize, is_under_way: bool) {
    let mut table = lock();
    if let Some(mut flight) = remove(&mut table, word) {
        flight.is_under_way = is_under_way;
        flight.is_there = false;
        put(&mut table, word, flight);
    }
}

/// Removes a persistent request that is about to be freed: the library may reuse its handle at once.
pub(crate) fn forget(word: usize) -> Option<Box<Flight>> {
    remove(&mut lock(), word)
}

/// Puts a request back into the table.
pub(crate) fn put_back(word: usize, flight: Box<Flight>) {
    put(&mut lock(), word, flight);
}

impl Flight {
    /// A flight with rows of `rows_bytes` bytes in total, with arbitrary contents.
    pub(crate) fn new(task: Task, combined: usize, rows_bytes: usize) -> Box<Self> {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
        let words = rows_bytes.div_ceil(size_of::<u64>());
        let flight = |rows: Vec<u64>| Self {
            width: task.length,
            task,
            // `vec!` gets zeroed memory without writing to it.
            rows: if rows.len() < words {
                vec![0; words]
            } else {
                rows
            },
            combined,
            result: None,
            counts: Vec::new(),
            check: None,
            repeat: None,
            child: None,
            is_under_way: false,
            is_there: false,
        };
        match spare.ok().flatten() {
            Some(mut spare) => {
                *spare = flight(mem::take(&mut spare.rows));
                spare
            }
            None => Box::new(flight(Vec::new())),
        }
    }

    /// Keeps a completed flight, so that its memory can be reused.
    pub(crate) fn spare(self: Box<Self>) {
        let bytes = self.rows.len() * size_of::<u64>();
        // A thread that is ending keeps no flights.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARE_MAX && bytes <= SPARE_MAX_BYTES {
                spare.push(self);
            }
        });
    }

    /// Registers the request of the gather, which the library has started, or has prepared if it is persistent.
    pub(crate) fn launch(mut self: Box<Self>, request: Request) {
        self.is_under_way = self.task.form == Form::NonBlocking;
        put(&mut lock(), request.word(), self);
    }

    /// Handles the completion of the request: combines the gathered rows into the program's buffer or, in a check, keeps the library's
    /// result. After a failure nothing is compared.
    pub(crate) fn arrive(&mut self, has_failed: bool) {
        let is_compared = self.check.is_some() || self.repeat.is_some();
        if has_failed && is_compared && !self.is_there {
            count_failed(&self.task);
            return;
        }
        if self.repeat.is_some() {
            // If the gather could not be started, nothing is compared this time.
            if let Some(child) = self.child.as_mut().filter(|_| !self.is_there) {
                child.arrive(false);
            }
            return;
        }
        let Some(result) = self.result.filter(|_| !self.is_there) else {
            return;
        };
        let begin = Settings::get().stats.as_ref().map(|_| Instant::now());
        let environment = DefaultEnvironment::enter();
        // SAFETY: the program has promised a buffer of that many elements, and not to use it before this call has returned.
        let result = unsafe { slice::from_raw_parts_mut(result.cast::<u8>(), self.row_bytes()) };
        let element = self.task.element;
        if let Some(check) = &mut self.check {
            check.other_environment = environment.differs();
            check.library = Some(result.to_vec());
            if let Some((digests, call)) = &check.digests {
                digests.end(*call, element, result);
            }
            return;
        }
        let is_aligned = result.as_ptr().addr().is_multiple_of(element.align_bytes());
        if is_aligned {
            self.combine(result);
        } else {
            let mut words = vec![0_u64; result.len().div_ceil(size_of::<u64>())];
            let aligned = &mut bytemuck::cast_slice_mut(&mut words)[..result.len()];
            self.combine(aligned);
            result.copy_from_slice(aligned);
        }
        if let Some(begin) = begin {
            let counts = Counts {
                treefold_ns: elapsed_ns(begin),
                environments: environment.differs().into(),
                ..Counts::default()
            };
            count_more(&self.task, counts);
        }
    }

    fn row_bytes(&self) -> usize {
        self.width * self.task.element.bytes()
    }

    /// Combines the gathered rows, in the default floating-point environment.
    fn combine(&self, result: &mut [u8]) {
        let Task { element, op, .. } = self.task;
        let rows: &[u8] = bytemuck::cast_slice(&self.rows);
        let rows = &rows[..self.combined * self.row_bytes()];
        let outcome = fold(element, op, rows, self.width, result);
        outcome.expect("rows are whole, and the environment is the default one");
    }

    /// Compares the library's result with the reduction of the gathered rows.
    pub(crate) fn compare(&self) {
        let Some(check) = &self.check else {
            return;
        };
        let Some(library) = &check.library else {
            return;
        };
        let begin = Instant::now();
        let mut words = vec![0_u64; self.row_bytes().div_ceil(size_of::<u64>())];
        let own = &mut bytemuck::cast_slice_mut(&mut words)[..self.row_bytes()];
        let environment = DefaultEnvironment::enter();
        self.combine(own);
        drop(environment);
        let mut counts = Counts {
            treefold_ns: elapsed_ns(begin),
            environments: check.other_environment.into(),
            ..Counts::default()
        };
        counts.compare(&self.task, library, own);
        if counts.differing > 0 {
            count_site(self.task.name(), check.site.as_deref());
        }
        count_more(&self.task, counts);
    }
}
