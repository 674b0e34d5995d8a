//! The state of each of the program's communicators. It is an MPI attribute of the communicator, which duplicates do not inherit.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use treefold::World;
use treefold::mpi::mpi_library::{Comm, DeleteAttribute, Passed, copy_no_attribute};
use treefold::mpi::{Duplicate, MpiCommunicator};

use crate::boundary::check::digests::Digests;
use crate::boundary::library::loaded::{self, Communicator, SUCCESS, mpi};
use crate::engine::Engine;

/// The maximum number of communicators, besides MPI_COMM_WORLD, whose ranks share memory within nodes. Each such communicator needs a
/// window of the operating system's shared memory.
const WINDOWS_MAX: usize = 8;

/// Counts the events that invalidate what threads remember about communicators: a communicator was freed, or MPI_Finalize has begun.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// The number of communicators whose ranks share memory, not counting MPI_COMM_WORLD.
static WINDOWS: AtomicUsize = AtomicUsize::new(0);

/// Whether all processes of the program have taken part in a reduction by treefold.
static ALL_TOOK_PART: AtomicBool = AtomicBool::new(false);

/// The state of a communicator.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) is_inter: bool,
    /// The digests that a check compares.
    pub(crate) digests: Arc<Digests>,
    inner: Mutex<Inner>,
}

/// The engine, created by the first reduction, and its communicator, which is freed with the program's communicator.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    engine: Option<Engine>,
    duplicate: Option<Duplicate>,
    /// Why the engine could not be created. Creation is not retried, since it might then succeed on only some ranks.
    failure: Option<String>,
}

impl Inner {
    /// The engine, if there is one.
    #[inline]
    pub(crate) fn made_engine(&mut self) -> Option<&mut Engine> {
        self.engine.as_mut()
    }

    /// Makes every later call fail.
    pub(crate) fn fail(&mut self, failure: &str) {
        match &mut self.engine {
            Some(engine) => engine.fail(failure),
            None => self.failure = Some(failure.to_owned()),
        }
    }
}

// SAFETY: an engine's world, plans and buffers hold `Rc`s of each other, and no other object of the process holds one of them: each world
// is created here from its own communicator. So all of them move between threads together, behind the mutex, and no thread uses one without
// its lock. Any thread that may call a reduction may call the MPI functions that an engine uses.
unsafe impl Send for Inner {}

thread_local! {
    /// The communicator that this thread used last, the generation at that time, and the address of its state.
    static LAST: Cell<Option<(Communicator, u64, *const State)>> = const { Cell::new(None) };
}

/// The present generation. What a thread remembers is valid only in the generation in which the thread found it.
#[inline]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// Starts a new generation, so that threads forget the communicators that they remember.
pub(crate) fn outdate() {
    GENERATION.fetch_add(1, Ordering::Release);
}

/// Whether all processes of the program have taken part in a reduction by treefold.
pub(crate) fn all_took_part() -> bool {
    ALL_TOOK_PART.load(Ordering::Relaxed)
}

impl State {
    /// The state of a communicator, created if needed; `None` if MPI fails.
    #[inline]
    pub(crate) fn of(comm: Communicator) -> Option<&'static Self> {
        let generation = generation();
        let state = match LAST.get() {
            Some((last, when, state)) if last == comm && when == generation => state,
            _ => {
                let state = find(comm)?;
                LAST.set(Some((comm, generation, state)));
                state
            }
        };
        // SAFETY: the pointer was found in this generation, or just now.
        Some(unsafe { Self::of_generation(state) })
    }

    /// The state of a communicator, by the pointer that a thread has cached.
    ///
    /// # Safety
    /// The pointer was found in the present generation, and this is a call on its communicator.
    #[inline]
    pub(crate) unsafe fn of_generation(state: *const Self) -> &'static Self {
        // SAFETY: the state lives until its communicator is freed. No thread may free a communicator while another uses it (MPI 4.1,
        // 7.4.3), and freeing starts a new generation. So the state lives at least until the end of this call on the communicator; callers
        // keep the reference no longer, although its type says `'static`.
        unsafe { &*state }
    }

    /// Locks the engine for one call.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        // A call that panicked has already marked its engine as failed.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the engine if there is none. Collective.
    pub(crate) fn engine<'a>(
        &self,
        inner: &'a mut Inner,
        comm: Communicator,
    ) -> Result<&'a mut Engine, String> {
        if inner.engine.is_none() && inner.failure.is_none() {
            let made = self.make(inner, comm);
            inner.failure = made.err();
        }
        match (&mut inner.engine, &inner.failure) {
            (Some(engine), _) => Ok(engine),
            (None, failure) => Err(failure.clone().unwrap_or_default()),
        }
    }

    #[cold]
    fn make(&self, inner: &mut Inner, comm: Communicator) -> Result<(), String> {
        let is_world = comm == loaded::world();
        // Ranks may have counted different numbers of windows, so a communicator gets a window only if all its ranks want one.
        let wants_memory = is_world || WINDOWS.load(Ordering::Relaxed) < WINDOWS_MAX;
        if wants_memory && !is_world {
            WINDOWS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the program passes a live communicator of its library, from a thread that may call MPI; `prepare` has passed
        // intercommunicators on to the library.
        let made = unsafe { MpiCommunicator::duplicate_where(comm.0, wants_memory) };
        let end = made.map_err(|error| error.to_string())?;
        inner.duplicate = Some(end.library_communicator());
        inner.engine = Some(Engine::new(World::new(end)));
        if comm.has_processes_of(loaded::world()) {
            ALL_TOOK_PART.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Returns the state that the communicator's attribute holds. If there is no attribute, creates the state and sets the attribute.
#[cold]
fn find(comm: Communicator) -> Option<*const State> {
    let key = key()?;
    let (mut value, mut is_set) = (ptr::null_mut::<c_void>(), 0);
    // SAFETY: the handle is a communicator, and the key was made here; MPI writes the attribute's value, a pointer, to `value`.
    let code =
        unsafe { mpi().MPI_Comm_get_attr(comm.0, key, (&raw mut value).cast(), &raw mut is_set) };
    if code != SUCCESS {
        return None;
    }
    if is_set != 0 {
        return Some(value.cast_const().cast());
    }
    let state = Box::into_raw(Box::new(State {
        rank: comm.rank(),
        size: comm.size(),
        is_inter: comm.is_inter(),
        digests: Arc::default(),
        inner: Mutex::default(),
    }));
    // SAFETY: as above; the value is a pointer that `delete` accepts.
    let code = unsafe { mpi().MPI_Comm_set_attr(comm.0, key, state.cast()) };
    if code != SUCCESS {
        // SAFETY: the pointer was just made by `Box::into_raw`, and MPI has not kept it.
        drop(unsafe { Box::from_raw(state) });
        return None;
    }
    Some(state)
}

fn key() -> Option<c_int> {
    static KEY: OnceLock<Option<c_int>> = OnceLock::new();
    *KEY.get_or_init(|| create_key(delete))
}

/// Creates a key for attributes that duplicates do not inherit; `None` if MPI fails.
pub(crate) fn create_key(delete: DeleteAttribute) -> Option<c_int> {
    let mut key = 0;
    // SAFETY: both functions have the signatures that MPI requires and live forever; `key` has room for one int.
    let code = unsafe {
        mpi().MPI_Comm_create_keyval(
            Some(copy_no_attribute),
            Some(delete),
            &raw mut key,
            ptr::null_mut(),
        )
    };
    (code == SUCCESS).then_some(key)
}

/// Deletes a communicator's state. MPI calls this function when the program frees the communicator (a collective call), or in MPI_Finalize,
/// after crate `comm` has freed all duplicates.
unsafe extern "C" fn delete(
    _comm: Passed<Comm>,
    _key: c_int,
    value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    outdate();
    // SAFETY: the attribute's value is a state that `find` has made by `Box::into_raw`, and MPI deletes it once.
    let state = unsafe { Box::from_raw(value.cast::<State>()) };
    state.digests.forget();
    let Inner {
        engine, duplicate, ..
    } = state
        .inner
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    // A duplicate that cannot be freed now is freed in MPI_Finalize.
    let _ = panic::catch_unwind(AssertUnwindSafe(move || {
        drop(engine);
        duplicate.map(Duplicate::free)
    }));
    SUCCESS
}
