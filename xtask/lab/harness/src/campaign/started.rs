//! MPI's own non-blocking sums, as a program calls them that knows nothing of treefold: by the interposer's functions, which each rank loads.

use std::cell::RefCell;
use std::ffi::c_int;
use std::mem;
use std::time::{Duration, Instant};

use reduce::{Operation, Operator, Sum};

use super::element::{Element, columns, rows};
use super::flight::Polls;
use super::outcome::Outcome;
use super::slot::Slot;
use super::vocabulary::Spec;

pub(super) use interposer::load;
use interposer::{InFlight, Way};

/// How long a request is tested that does not end: far longer than any takes.
const POLLING_LIMIT: Duration = Duration::from_secs(20);

/// There is nothing to build.
pub(super) fn of(spec: &Spec, seed: u64, rank: usize) -> Box<dyn Slot> {
    Box::new(Started {
        spec: spec.clone(),
        seed,
        rank,
        flight: RefCell::default(),
    })
}

struct Started {
    spec: Spec,
    seed: u64,
    rank: usize,
    flight: RefCell<Option<InFlight>>,
}

impl Started {
    fn try_start(&self, operation: Operation, step: usize) -> Result<InFlight, String> {
        let Spec { width, root, .. } = self.spec;
        let ranks = self.spec.extents.len();
        let all = rows::<f64>(self.spec.items(), width, self.seed, step);
        let row = all[self.rank * width..][..width].to_vec();
        let length = match operation {
            Operation::ReduceScatter => columns(width, ranks, self.rank).len(),
            _ => width,
        };
        // What an exclusive scan leaves on rank 0 is what was there.
        let nothing = Operator::<f64>::empty(&Sum).unwrap_or_default();
        let counts = (0..ranks).map(|rank| columns(width, ranks, rank).len());
        let counts: Result<Vec<c_int>, _> = counts.map(c_int::try_from).collect();
        let counts = counts.map_err(|error| error.to_string())?;
        let way = Way::ALL[(step + self.rank) % Way::ALL.len()];
        let has_result = operation != Operation::Reduce || self.rank == root;
        let result = has_result.then(|| vec![nothing; length]);
        InFlight::start(operation, row, result, counts, root, way)
    }

    /// Tests until the run is complete: what is wrong with it, if anything is.
    fn poll(&self) -> Option<Outcome> {
        let begin = Instant::now();
        loop {
            match self.flight.borrow_mut().as_mut().map(InFlight::test)? {
                Ok(true) => return None,
                Ok(false) if begin.elapsed() < POLLING_LIMIT => {}
                Ok(false) => return Some(Outcome::Endless),
                Err(error) => return Some(Outcome::Failed(error)),
            }
        }
    }

    /// Waits, as MPI takes back no collective call.
    fn finish(&self) -> Outcome {
        let Some(mut run) = self.flight.take() else {
            return Outcome::Failed("the run was not started".to_owned());
        };
        let ended = run.wait();
        if ended.is_err() {
            // MPI may write to its rows still.
            mem::forget(run);
            return outcome(ended.map(|()| None));
        }
        outcome(Ok(run.result()))
    }
}

fn outcome(result: Result<Option<Vec<f64>>, String>) -> Outcome {
    match result {
        Ok(Some(values)) => {
            let values: Vec<f64> = values.into_iter().map(Element::canonical).collect();
            Outcome::Value(bytemuck::cast_slice(&values).to_vec())
        }
        Ok(None) => Outcome::Nothing,
        Err(error) => Outcome::Failed(error),
    }
}

impl Slot for Started {
    fn call(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        match self.start(operation, step, surplus) {
            Outcome::Nothing => self.finish(),
            failed => failed,
        }
    }

    fn start(&mut self, operation: Operation, step: usize, _surplus: usize) -> Outcome {
        self.give_up();
        match self.try_start(operation, step) {
            Ok(run) => {
                self.flight.replace(Some(run));
                Outcome::Nothing
            }
            Err(error) => Outcome::Failed(error),
        }
    }

    fn test(&self) -> Outcome {
        match self.flight.borrow_mut().as_mut().map(InFlight::test) {
            Some(Err(error)) => Outcome::Failed(error),
            _ => Outcome::Nothing,
        }
    }

    fn wait(&mut self, polls: Polls) -> Outcome {
        match polls {
            Polls::No => self.finish(),
            _ => self.poll().unwrap_or_else(|| self.finish()),
        }
    }

    fn give_up(&mut self) {
        if self.flight.borrow().is_some() {
            self.finish();
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// The interposer's functions.
#[expect(unsafe_code, reason = "MPI is a C library")]
mod interposer {
    use std::ffi::{CStr, CString, c_int, c_void};
    use std::mem;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr::{self, NonNull};
    use std::sync::OnceLock;

    use reduce::Operation;
    use reduce::mpi::library;
    use reduce::mpi::mpi_library::{Comm, Datatype, Library, MPI_SUCCESS, Op, Request, Status};

    use crate::Error;

    /// A handle of the linker's.
    struct Loaded(NonNull<c_void>);

    // SAFETY: the linker locks what it does.
    unsafe impl Send for Loaded {}
    // SAFETY: as above.
    unsafe impl Sync for Loaded {}

    static LOADED: OnceLock<Loaded> = OnceLock::new();

    /// Loads the interposer, for this process's lifetime.
    pub(in super::super) fn load(path: &Path) -> Result<(), Error> {
        let name = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
        // SAFETY: the name ends with a null character, and the interposer's initialisers ask for nothing.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let failed = || Error::Mpi(format!("{} cannot be loaded", path.display()));
        let handle = NonNull::new(handle).ok_or_else(failed)?;
        LOADED.get_or_init(|| Loaded(handle));
        Ok(())
    }

    fn function(name: &CStr) -> Result<*mut c_void, String> {
        let loaded = LOADED.get().ok_or("no interposer is loaded")?;
        // SAFETY: the library stays loaded, and the name ends with a null character.
        let address = unsafe { libc::dlsym(loaded.0.as_ptr(), name.as_ptr()) };
        if address.is_null() {
            return Err(format!("the interposer has no {}", name.to_string_lossy()));
        }
        Ok(address)
    }

    fn judge(name: &CStr, code: c_int) -> Result<(), String> {
        match code {
            MPI_SUCCESS => Ok(()),
            _ => Err(format!("{} gave code {code}", name.to_string_lossy())),
        }
    }

    type Rows = unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        c_int,
        Datatype,
        Op,
        Comm,
        *mut Request,
    ) -> c_int;
    type Rooted = unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        c_int,
        Datatype,
        Op,
        c_int,
        Comm,
        *mut Request,
    ) -> c_int;
    type Scattered = unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        *const c_int,
        Datatype,
        Op,
        Comm,
        *mut Request,
    ) -> c_int;
    type Wait = unsafe extern "C" fn(*mut Request, *mut Status) -> c_int;
    type Test = unsafe extern "C" fn(*mut Request, *mut c_int, *mut Status) -> c_int;
    type WaitAll = unsafe extern "C" fn(c_int, *mut Request, *mut Status) -> c_int;
    type WaitAny = unsafe extern "C" fn(c_int, *mut Request, *mut c_int, *mut Status) -> c_int;
    type WaitSome =
        unsafe extern "C" fn(c_int, *mut Request, *mut c_int, *mut c_int, *mut Status) -> c_int;

    /// A function of the interposer's, of MPI's type for it.
    macro_rules! get {
        ($name:expr, $type:ty) => {{
            let address = function($name)?;
            // SAFETY: by MPI's standard, the function of this name has this type; handles are words, of which one that takes an int looks at
            // its half.
            unsafe { mem::transmute::<*mut c_void, $type>(address) }
        }};
    }

    /// How a program waits for one request.
    #[derive(Clone, Copy, Debug)]
    pub(super) enum Way {
        One,
        All,
        Any,
        Some,
    }

    impl Way {
        pub(super) const ALL: [Self; 4] = [Self::One, Self::All, Self::Any, Self::Some];
    }

    /// A sum that was started on all processes; it is waited for before its rows go.
    pub(super) struct InFlight {
        request: Box<Request>,
        _row: Vec<f64>,
        result: Option<Vec<f64>>,
        _counts: Vec<c_int>,
        way: Way,
    }

    impl InFlight {
        pub(super) fn start(
            operation: Operation,
            row: Vec<f64>,
            result: Option<Vec<f64>>,
            counts: Vec<c_int>,
            root: usize,
            way: Way,
        ) -> Result<Self, String> {
            let mpi: &Library = library().map_err(|error| error.to_string())?;
            let handles = &mpi.handles;
            let (datatype, op) = (handles.MPI_DOUBLE, handles.MPI_SUM);
            let comm = handles.MPI_COMM_WORLD;
            let int = |number: usize| c_int::try_from(number).map_err(|error| error.to_string());
            let (width, root) = (int(row.len())?, int(root)?);
            let mut run = Self {
                request: Box::new(Request::UNSET),
                _row: row,
                result,
                _counts: counts,
                way,
            };
            let from = run._row.as_ptr().cast();
            let to = run.result.as_mut().map_or(ptr::null_mut(), |result| {
                result.as_mut_ptr().cast::<c_void>()
            });
            let place = &raw mut *run.request;
            let name = match operation {
                Operation::Reduce => c"MPI_Ireduce",
                Operation::ReduceScatter => c"MPI_Ireduce_scatter",
                Operation::Scan => c"MPI_Iscan",
                Operation::Exscan => c"MPI_Iexscan",
                _ => c"MPI_Iallreduce",
            };
            // In each call, the rows have the lengths that MPI asks for, and live until the request is complete.
            let code = match operation {
                Operation::Reduce => {
                    let start = get!(name, Rooted);
                    // SAFETY: as above.
                    unsafe { start(from, to, width, datatype, op, root, comm, place) }
                }
                Operation::ReduceScatter => {
                    let start = get!(name, Scattered);
                    // SAFETY: as above; there is a count for each rank.
                    unsafe { start(from, to, run._counts.as_ptr(), datatype, op, comm, place) }
                }
                _ => {
                    let start = get!(name, Rows);
                    // SAFETY: as above.
                    unsafe { start(from, to, width, datatype, op, comm, place) }
                }
            };
            judge(name, code).map(|()| run)
        }

        /// Whether it is complete.
        pub(super) fn test(&mut self) -> Result<bool, String> {
            let test = get!(c"MPI_Test", Test);
            let (mut flag, mut status) = (0, Status::UNSET);
            // SAFETY: the request is live or null; the rest is room.
            let code = unsafe { test(&raw mut *self.request, &raw mut flag, &raw mut status) };
            judge(c"MPI_Test", code).map(|()| flag != 0)
        }

        /// Waits until it is complete.
        pub(super) fn wait(&mut self) -> Result<(), String> {
            let request = &raw mut *self.request;
            let (mut count, mut index, mut status) = (0, 0, Status::UNSET);
            let (count, index, status) = (&raw mut count, &raw mut index, &raw mut status);
            // In each call, the request is live or null; the rest is room.
            let (name, code) = match self.way {
                Way::One => {
                    let wait = get!(c"MPI_Wait", Wait);
                    // SAFETY: as above.
                    (c"MPI_Wait", unsafe { wait(request, status) })
                }
                Way::All => {
                    let wait = get!(c"MPI_Waitall", WaitAll);
                    // SAFETY: as above.
                    (c"MPI_Waitall", unsafe { wait(1, request, status) })
                }
                Way::Any => {
                    let wait = get!(c"MPI_Waitany", WaitAny);
                    // SAFETY: as above.
                    (c"MPI_Waitany", unsafe { wait(1, request, index, status) })
                }
                Way::Some => {
                    let wait = get!(c"MPI_Waitsome", WaitSome);
                    // SAFETY: as above.
                    let code = unsafe { wait(1, request, count, index, status) };
                    (c"MPI_Waitsome", code)
                }
            };
            judge(name, code)
        }

        /// What this rank gets, if it gets something.
        pub(super) fn result(self) -> Option<Vec<f64>> {
            self.result
        }
    }
}
