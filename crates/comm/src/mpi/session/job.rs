//! Runs a program from `MPI_Init_thread` to `MPI_Finalize`, or to `MPI_Abort`.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use mpi_library::{Choice, Library, MPI_SUCCESS};

use crate::communicator::Communicator;
use crate::error::Error;
use crate::mpi::calls::communicator::{self, RawCommunicator};
use crate::mpi::calls::failure::{Failure, check};
use crate::mpi::calls::library::{ALONE_VARIABLE, LIBRARY_VARIABLE, is_meant_to_be_alone, library};
use crate::mpi::calls::misdirected::WorldReturnsErrors;
use crate::mpi::channels::lifetime;
use crate::mpi::communicator::MpiCommunicator;
use crate::setting;
use crate::text::tell;
use crate::threads::panic_message;

/// A leaving rank polls the barrier this many times before it pauses between polls.
const POLLS_BEFORE_PAUSE: u32 = 1000;

/// How long a leaving rank pauses between polls.
const LEAVING_PAUSE: Duration = Duration::from_millis(1);

/// How long the launcher has to read a rank's last line.
const LAST_WORDS_PAUSE: Duration = Duration::from_millis(50);

/// The exit code after a panic, as in Rust.
const PANIC_EXIT_CODE: i32 = 101;

/// Why [`run`] failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// This process has initialised MPI, which is possible only once.
    #[error(
        "MPI is already initialised: pass an existing communicator to MpiCommunicator::duplicate"
    )]
    AlreadyInitialised,
    /// The MPI library was built without thread support.
    #[error("this MPI library does not support MPI_THREAD_FUNNELED: {library}")]
    NoThreadSupport {
        /// The library.
        library: Choice,
    },
    /// The launcher does not belong to the program's MPI library. It has started several ranks, each of which would run as if it were
    /// alone. See [`ALONE_VARIABLE`].
    #[error(
        "the launcher has started {started} ranks ({variable}={started}), but this process' MPI library knows only one: {library}. Start the program with that library's launcher, or name the launcher's library in {LIBRARY_VARIABLE}; if {variable} is left over from another job, set {ALONE_VARIABLE}=on"
    )]
    ForeignLauncher {
        /// The number of ranks that the launcher has started.
        started: usize,
        /// The environment variable that contains this number.
        variable: &'static str,
        /// The library.
        library: Choice,
    },
    /// The other ranks did not end within the silence limit. MPI is not finalised, so the launcher will end them.
    #[error("rank {rank}: the other ranks have not ended within {after:?}")]
    NotEnded {
        /// This rank.
        rank: usize,
        /// The silence limit.
        after: Duration,
    },
    /// A call failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Initialises MPI, runs `body` with a duplicate of its world communicator, waits for the other ranks and finalises MPI.
///
/// A panic of `body` ends all processes by `MPI_Abort`, after one line that names the rank: other ranks cannot detect the panic.
/// The program's panic hook runs first, as always.
///
/// # Errors
/// There is no MPI library; MPI is already initialised, does not support `MPI_THREAD_FUNNELED`, was started by another library's launcher, or
/// fails; an environment variable has an invalid value; or the other ranks do not end.
pub fn run<R>(body: impl FnOnce(MpiCommunicator) -> R) -> Result<R, RunError> {
    let library = library()?;
    let stay = Stay::begin(library)?;
    let world = MpiCommunicator::world()?;
    if world.size() == 1
        && !is_meant_to_be_alone()?
        && let Some((variable, started)) = started_by_launcher()
    {
        return Err(RunError::ForeignLauncher {
            started,
            variable,
            library: library.choice().clone(),
        });
    }
    let (rank, silence_limit) = (world.rank(), Rc::clone(&world.silence_limit));
    // Nothing that the body has touched is used after a panic.
    let result = match panic::catch_unwind(AssertUnwindSafe(|| body(world))) {
        Ok(result) => result,
        Err(payload) => {
            let message = panic_message(payload.as_ref());
            abort(PANIC_EXIT_CODE, &format!("rank {rank} panicked: {message}"));
            panic::resume_unwind(payload);
        }
    };
    let after = silence_limit.get();
    match await_the_others(after) {
        Ending::Together => drop(stay),
        // Finalising is collective: it might wait for lost ranks (Open MPI 5.0.11 does, in one run of four).
        Ending::WithoutOthers => std::mem::forget(stay),
        Ending::NotInTime => {
            // Finalising might wait for the ranks that have not ended.
            std::mem::forget(stay);
            return Err(RunError::NotEnded { rank, after });
        }
    }
    Ok(result)
}

/// The time between `MPI_Init_thread` and `MPI_Finalize`. Dropping this value calls `MPI_Finalize`.
struct Stay {
    mpi: &'static Library,
}

impl Stay {
    fn begin(mpi: &'static Library) -> Result<Self, RunError> {
        let mut is_initialised = 0;
        // SAFETY: the function may always be called (MPI 4.1, 11.4.1); `is_initialised` is a live int.
        let code = unsafe { mpi.MPI_Initialized(&raw mut is_initialised) };
        if code != MPI_SUCCESS || is_initialised != 0 {
            return Err(RunError::AlreadyInitialised);
        }
        let required = mpi.constants.MPI_THREAD_FUNNELED;
        let mut provided = mpi.constants.MPI_THREAD_SINGLE;
        let none = ptr::null_mut();
        // SAFETY: MPI was not initialised before, and accepts NULL for the arguments (MPI 4.1, 11.2.1); `provided` is a live int.
        let code = unsafe { mpi.MPI_Init_thread(none, none.cast(), required, &raw mut provided) };
        check("MPI_Init_thread", code).map_err(|failure| failure.on(0))?;
        let this = Self { mpi };
        if provided >= required {
            Ok(this)
        } else {
            Err(RunError::NoThreadSupport {
                library: mpi.choice().clone(),
            })
        }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        // SAFETY: MPI is initialised, and nothing uses it afterwards: this call frees what is left.
        unsafe { self.mpi.MPI_Finalize() };
    }
}

/// Which ranks have reached the end of the program.
enum Ending {
    Together,
    /// All ranks that are not lost; some are lost.
    WithoutOthers,
    NotInTime,
}

/// Whether environment variables say that an MPI launcher has started this process. If so, a program that otherwise runs on threads can
/// call [`run`]. `false` if [`ALONE_VARIABLE`] is on.
pub fn is_launched() -> bool {
    let is_alone = is_meant_to_be_alone() == Ok(true);
    let is_set = |variable| setting::value(variable).is_some();
    !is_alone && STARTED_VARIABLES.into_iter().any(is_set)
}

/// The variables in which launchers say how many ranks they have started: Open MPI's, the MPICH family's, and Slurm's.
const STARTED_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// The variable that says that a launcher has started several ranks, and their number.
fn started_by_launcher() -> Option<(&'static str, usize)> {
    let started = |variable| {
        let number = setting::value(variable)?.to_str()?.parse().ok()?;
        (number > 1).then_some((variable, number))
    };
    STARTED_VARIABLES.into_iter().find_map(started)
}

/// Ends the processes of all ranks by `MPI_Abort`, after a line on standard error that says why, [printable](crate::text::printable).
///
/// The line is written in one piece, and the launcher gets some time to read it: MPICH's launcher drops unread output of a rank that aborts.
pub fn abort(exit_code: i32, reason: &str) {
    tell(reason);
    thread::sleep(LAST_WORDS_PAUSE);
    communicator::abort(exit_code);
}

/// Waits for every rank that is not lost to reach this point before MPI is finalised.
///
/// A rank that is in `MPI_Finalize` while another one aborts can make Open MPI's `mpirun` hang forever (in 4.1.4 with PMIx 4.2.2, whose
/// server waits for a lock of the unfinished fence). A rank in a barrier cannot.
fn await_the_others(silence_limit: Duration) -> Ending {
    let ranks = match (lifetime::has_lost(), lifetime::survivors()) {
        (true, None) => return Ending::WithoutOthers,
        (true, Some(survivors)) => survivors,
        (false, _) => RawCommunicator::world(),
    };
    // A loss is an error of `MPI_COMM_WORLD`, whose handler would end the program.
    let _returns = WorldReturnsErrors::always();
    let ending = |outcome: Result<(), Failure>| match outcome {
        Err(failure) if failure.is_loss => Ending::WithoutOthers,
        _ if lifetime::has_lost() => Ending::WithoutOthers,
        // If the barrier fails for another reason, MPI_Finalize is all that is left to do.
        _ => Ending::Together,
    };
    let mut barrier = match ranks.start_barrier() {
        Ok(barrier) => barrier,
        Err(failure) => return ending(Err(failure)),
    };
    let begin = Instant::now();
    let mut polls = 0_u32;
    loop {
        match barrier.test() {
            Ok(true) => return ending(Ok(())),
            Err(failure) => return ending(Err(failure)),
            Ok(false) => {}
        }
        polls = polls.saturating_add(1);
        if polls < POLLS_BEFORE_PAUSE {
            thread::yield_now();
        } else if begin.elapsed() < silence_limit {
            thread::sleep(LEAVING_PAUSE);
        } else {
            return Ending::NotInTime;
        }
    }
}
