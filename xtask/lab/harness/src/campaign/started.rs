//! Sums by MPI's own non-blocking functions. Each rank loads the interposer and calls them there, as a program without treefold would.

pub(super) use interposer::load;
use interposer::{InFlight, Way, int};
use reduce::{Operation, Operator, Sum};

use super::case::Own;
use super::element::{Element, rows};
use super::slot::{Asked, Form, Given, Outcome, Run};
use super::vocabulary::Mode;

/// A form that sums by MPI's functions, for which no plan has to be built.
pub(super) fn form(own: Own) -> Form {
    Box::new(move |asked| {
        let run = start(&own, asked).map_err(Outcome::Failed)?;
        Ok(match asked.mode {
            Mode::Blocking => Given::Now(Box::new(run).wait()),
            Mode::Split => Given::Later(Box::new(run)),
        })
    })
}

fn start(own: &Own, asked: Asked) -> Result<InFlight, String> {
    let (width, rank, root) = (own.spec.width, own.rank, own.spec.root);
    let all = rows::<f64>(own.spec.items(), width, own.seed, asked.step);
    let row = all[rank * width..][..width].to_vec();
    let length = match asked.operation {
        Operation::ReduceScatter => own.columns_of(rank).len(),
        _ => width,
    };
    // An exclusive scan leaves rank 0's buffer unchanged.
    let nothing = Operator::<f64>::empty(&Sum).unwrap_or_default();
    let counts = (0..own.ranks()).map(|rank| int(own.columns_of(rank).len()));
    let counts = counts.collect::<Result<_, _>>()?;
    let way = Way::ALL[(asked.step + rank) % Way::ALL.len()];
    let has_result = asked.operation != Operation::Reduce || rank == root;
    let result = has_result.then(|| vec![nothing; length]);
    InFlight::start(asked.operation, row, result, counts, root, way)
}

impl Run for InFlight {
    fn test(&mut self) -> Result<bool, Outcome> {
        self.is_complete().map_err(Outcome::Failed)
    }

    fn wait(mut self: Box<Self>) -> Outcome {
        match self.complete() {
            Ok(result) => {
                let values = result.map(|row| row.into_iter().map(Element::canonical).collect());
                let bytes = values.map(|row: Vec<f64>| bytemuck::cast_slice(&row).to_vec());
                bytes.into()
            }
            Err(error) => Outcome::Failed(error),
        }
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

    /// The dynamic linker's handle.
    struct Loaded(NonNull<c_void>);

    // SAFETY: the dynamic linker synchronises its functions.
    unsafe impl Send for Loaded {}
    // SAFETY: as above.
    unsafe impl Sync for Loaded {}

    static LOADED: OnceLock<Loaded> = OnceLock::new();

    /// Loads the interposer for the lifetime of this process.
    pub(in super::super) fn load(path: &Path) -> Result<(), Error> {
        let name = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
        // SAFETY: the name ends with a null character, and the interposer's initialisers have no requirements.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let failed = || Error::Mpi(format!("{} could not be loaded", path.display()));
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

    /// MPI's type of counts and ranks.
    pub(super) fn int(number: usize) -> Result<c_int, String> {
        c_int::try_from(number).map_err(|error| error.to_string())
    }

    fn judge(name: &CStr, code: c_int) -> Result<(), String> {
        match code {
            MPI_SUCCESS => Ok(()),
            _ => Err(format!("{} gave code {code}", name.to_string_lossy())),
        }
    }

    /// Calls a function of the interposer.
    macro_rules! call {
        ($name:expr, $($argument:expr => $type:ty),*) => {{
            let address = function($name)?;
            type Function = unsafe extern "C" fn($($type),*) -> c_int;
            // SAFETY: by MPI's standard, the function of this name has this type. Handles are passed as words; a function whose handles
            // are ints uses half of each word.
            let function = unsafe { mem::transmute::<*mut c_void, Function>(address) };
            // SAFETY: rows have the lengths that MPI requires, and live until the request is complete; there is a count for each rank; the
            // request is live or null; other pointers are to memory for results.
            let code = unsafe { function($($argument),*) };
            judge($name, code)
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

    /// A sum that was started on all processes. Dropping this value waits for the sum before freeing the rows.
    pub(super) struct InFlight {
        request: Box<Request>,
        row: Vec<f64>,
        result: Option<Vec<f64>>,
        counts: Vec<c_int>,
        way: Way,
        is_over: bool,
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
            let (width, root) = (int(row.len())?, int(root)?);
            let mut run = Self {
                request: Box::new(Request::UNSET),
                row,
                result,
                counts,
                way,
                is_over: true,
            };
            let from = run.row.as_ptr().cast();
            let to = run.result.as_mut().map_or(ptr::null_mut(), |result| {
                result.as_mut_ptr().cast::<c_void>()
            });
            let place = &raw mut *run.request;
            match operation {
                Operation::Reduce => call!(
                    c"MPI_Ireduce", from => *const c_void, to => *mut c_void, width => c_int,
                    datatype => Datatype, op => Op, root => c_int, comm => Comm, place => *mut Request
                ),
                Operation::ReduceScatter => call!(
                    c"MPI_Ireduce_scatter", from => *const c_void, to => *mut c_void,
                    run.counts.as_ptr() => *const c_int, datatype => Datatype, op => Op, comm => Comm,
                    place => *mut Request
                ),
                _ => {
                    let name = match operation {
                        Operation::Scan => c"MPI_Iscan",
                        Operation::Exscan => c"MPI_Iexscan",
                        _ => c"MPI_Iallreduce",
                    };
                    call!(
                        name, from => *const c_void, to => *mut c_void, width => c_int,
                        datatype => Datatype, op => Op, comm => Comm, place => *mut Request
                    )
                }
            }?;
            run.is_over = false;
            Ok(run)
        }

        /// Whether the sum is complete.
        pub(super) fn is_complete(&mut self) -> Result<bool, String> {
            let (mut flag, mut status) = (0, Status::UNSET);
            let request = &raw mut *self.request;
            call!(
                c"MPI_Test", request => *mut Request, &raw mut flag => *mut c_int,
                &raw mut status => *mut Status
            )?;
            Ok(flag != 0)
        }

        /// Waits until the sum is complete, and returns this rank's result, if any.
        pub(super) fn complete(&mut self) -> Result<Option<Vec<f64>>, String> {
            let ended = self.wait();
            self.is_over = ended.is_ok();
            ended.map(|()| self.result.take())
        }

        /// Waits until the request is complete.
        fn wait(&mut self) -> Result<(), String> {
            let request = &raw mut *self.request;
            let (mut count, mut index, mut status) = (0, 0, Status::UNSET);
            let (count, index, status) = (&raw mut count, &raw mut index, &raw mut status);
            match self.way {
                Way::One => call!(c"MPI_Wait", request => *mut Request, status => *mut Status),
                Way::All => call!(
                    c"MPI_Waitall", 1 => c_int, request => *mut Request, status => *mut Status
                ),
                Way::Any => call!(
                    c"MPI_Waitany", 1 => c_int, request => *mut Request, index => *mut c_int,
                    status => *mut Status
                ),
                Way::Some => call!(
                    c"MPI_Waitsome", 1 => c_int, request => *mut Request, count => *mut c_int,
                    index => *mut c_int, status => *mut Status
                ),
            }
        }
    }

    impl Drop for InFlight {
        /// MPI cannot cancel a collective call. After a failure it may still write to the rows.
        fn drop(&mut self) {
            if !self.is_over && self.wait().is_err() {
                mem::forget((
                    mem::take(&mut self.row),
                    self.result.take(),
                    mem::take(&mut self.counts),
                    mem::replace(&mut self.request, Box::new(Request::UNSET)),
                ));
            }
        }
    }
}
