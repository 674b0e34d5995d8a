//! Reductions that are under way: what the library gathers for each, by the handle of the library's own request.
//!
//! The program holds that request. Once a call of the program's has completed it, and before that call returns, what was gathered is
//! combined into the program's buffer: the library keeps the progress of all requests, and nothing can wait here.

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

use crate::boundary::calls::count::{count_more, count_site, elapsed_ns};
use crate::boundary::check::compared::{Check, Repeat};
use crate::boundary::library::loaded;
use crate::boundary::process::control::DefaultEnvironment;
use crate::engine::fold;
use crate::settings::Settings;
use crate::statistics::Counts;
use crate::task::{Form, Task};

/// What processes leave with where a completion was missed.
const MISSED: i32 = 3;

/// A reduction whose contributions the library gathers.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) task: Task,
    /// Rows of one contribution or of a part of it, one for each rank: where the library gathers them.
    pub(crate) rows: Vec<u64>,
    /// The elements of a row.
    pub(crate) width: usize,
    /// The first rows, which are combined.
    pub(crate) combined: usize,
    /// Where the program wants them, if it does.
    pub(crate) result: Option<*mut c_void>,
    /// What the library reads until the request is complete: counts and begins of what ranks send and receive.
    pub(crate) counts: Vec<c_int>,
    /// In a check, the program's request is of the library's own reduction, and this is what is compared with it.
    pub(crate) check: Option<Check>,
    /// In a check of a persistent one: what each start gathers anew, and what the last one has under way.
    pub(crate) repeat: Option<Box<Repeat>>,
    pub(crate) child: Option<Box<Flight>>,
    /// Whether it was started, and no call has completed it.
    pub(crate) is_under_way: bool,
    /// Whether the result is there, although no call has completed it.
    pub(crate) is_there: bool,
}

// SAFETY: the result's address is used by the thread that completes the request, to which the program lends the buffer until then.
unsafe impl Send for Flight {}

/// By the words of their requests' handles.
pub(crate) type Flights = HashMap<usize, Box<Flight>, BuildHasherDefault<WordHasher>>;

/// All that are known.
static TABLE: Mutex<Flights> = Mutex::new(HashMap::with_hasher(BuildHasherDefault::new()));

/// Those that a thread keeps for its next reductions, and the most that one of them may hold.
const SPARE_MAX: usize = 4;
const SPARE_MAX_BYTES: usize = 4 << 20;

/// Their boxes serve again, too.
#[allow(clippy::vec_box, reason = "a box is what is kept")]
type Spare = Vec<Box<Flight>>;

thread_local! {
    static SPARE: RefCell<Spare> = const { RefCell::new(Vec::new()) };
}

/// How many there are, and how many of these are under way: no more is looked at by calls that do not concern them. A thread that has a request
/// knows of its start, so it reads a number that counts it.
static KNOWN: AtomicUsize = AtomicUsize::new(0);
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Whether none is under way, but for those in the hands of calls that complete them.
#[inline]
pub(crate) fn is_idle() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) == 0
}

/// Whether no request is known.
#[inline]
pub(crate) fn is_empty() -> bool {
    KNOWN.load(Ordering::Relaxed) == 0
}

pub(crate) type Table = MutexGuard<'static, Flights>;

pub(crate) fn lock() -> Table {
    // Nothing panics while it is held.
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
        missed(&before.task, "the MPI library has used its request again");
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

/// Ends the job: the program has used a result that was not there.
#[cold]
fn missed(task: &Task, how: &str) {
    let (rank, name) = (loaded::world().rank(), task.name());
    let reason = format!(
        "treefold-pmpi: rank {rank}: an MPI_{name} was completed by a call that treefold does not know, or not at all: {how}"
    );
    treefold::mpi::abort(MISSED, &reason);
}

/// MPI_Finalize has begun, before which a program completes what it has started.
pub(crate) fn end() {
    let table = lock();
    let left = table.values().find(|flight| flight.is_under_way);
    if let Some(left) = left {
        missed(&left.task, "MPI_Finalize has found it");
    }
}

/// What the program asks of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    No,
    /// Not under way.
    Inactive,
    UnderWay,
}

/// What is known of a request.
pub(crate) fn known(word: usize) -> Known {
    match lock().get(&word) {
        None => Known::No,
        Some(flight) if flight.is_under_way => Known::UnderWay,
        Some(_) => Known::Inactive,
    }
}

/// The program was told that a request is complete, which it still has. What that takes is done while the table is locked: whoever else asks waits
/// for the result.
pub(crate) fn observe(word: usize) {
    let mut table = lock();
    if let Some(flight) = table.get_mut(&word)
        && flight.is_under_way
    {
        flight.arrive(false);
        flight.is_there = true;
    }
}

/// What a request's reduction is, if it is one of these.
pub(crate) fn task_of(word: usize) -> Option<Task> {
    lock().get(&word).map(|flight| flight.task)
}

/// A persistent request is started, if it is one of these.
pub(crate) fn set_under_way(word: usize, is_under_way: bool) {
    let mut table = lock();
    if let Some(mut flight) = remove(&mut table, word) {
        flight.is_under_way = is_under_way;
        flight.is_there = false;
        put(&mut table, word, flight);
    }
}

/// A persistent request is about to be freed: the library may use its handle again at once.
pub(crate) fn forget(word: usize) -> Option<Box<Flight>> {
    remove(&mut lock(), word)
}

/// The library has not freed it.
pub(crate) fn put_back(word: usize, flight: Box<Flight>) {
    put(&mut lock(), word, flight);
}

impl Flight {
    /// One whose rows have so many bytes, which are whatever they are.
    pub(crate) fn new(task: Task, combined: usize, rows_bytes: usize) -> Box<Self> {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
        let words = rows_bytes.div_ceil(size_of::<u64>());
        let flight = |rows: Vec<u64>| Self {
            width: task.length,
            task,
            // New ones are zeros without being written.
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

    /// It is complete, and its memory may serve another one.
    pub(crate) fn spare(self: Box<Self>) {
        let bytes = self.rows.len() * size_of::<u64>();
        // A thread that ends has none.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARE_MAX && bytes <= SPARE_MAX_BYTES {
                spare.push(self);
            }
        });
    }

    /// The library has started it, or made it ready to be started, as this request.
    pub(crate) fn launch(mut self: Box<Self>, request: Request) {
        self.is_under_way = self.task.form == Form::NonBlocking;
        put(&mut lock(), request.word(), self);
    }

    /// What a call has completed: combines what was gathered, into the program's buffer, or keeps the library's result.
    /// After a failure nothing is compared.
    pub(crate) fn arrive(&mut self, has_failed: bool) {
        let is_compared = self.check.is_some() || self.repeat.is_some();
        if has_failed && is_compared && !self.is_there {
            let counts = Counts {
                failed: 1,
                ..Counts::default()
            };
            count_more(&self.task, counts);
            return;
        }
        if self.repeat.is_some() {
            // Without one, nothing is compared this time.
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
        // SAFETY: the program has promised a buffer of so many elements, and not to use it before this call has returned.
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

    /// Combines what was gathered, in the default environment.
    fn combine(&self, result: &mut [u8]) {
        let Task { element, op, .. } = self.task;
        let rows: &[u8] = bytemuck::cast_slice(&self.rows);
        let rows = &rows[..self.combined * self.row_bytes()];
        let outcome = fold(element, op, rows, self.width, result);
        outcome.expect("rows are whole, and the environment is the default one");
    }

    /// Compares the library's result with what was gathered.
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
