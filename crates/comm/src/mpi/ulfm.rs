//! Going on without processes that have died: the functions of User-Level Failure Mitigation (ULFM), where the library has them.
//!
//! They are not part of MPI 4.1 yet, so programs are not linked to them: they are looked up while the program runs. Open MPI has them from
//! 5.0 on, and they work where `mpirun --with-ft ulfm` has started it. MPICH has functions of these names, but no MPICH that was tried
//! reports that a process has died.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{CStr, c_int, c_void};
use std::mem::{self, MaybeUninit};
use std::sync::OnceLock;

use super::ffi;
use super::misdirected::version;
use super::raw::{Failure, RawCommunicator, check};

/// Open MPI's error classes `MPIX_ERR_PROC_FAILED`, `MPIX_ERR_PROC_FAILED_PENDING` and `MPIX_ERR_REVOKED`.
const LOSS_CLASSES: std::ops::RangeInclusive<c_int> = 75..=77;

/// Open MPI's key of the attribute that says whether processes that die are reported, `MPIX_FT`.
const IS_ON_KEY: c_int = 12;

type Revoke = unsafe extern "C" fn(ffi::MPI_Comm) -> c_int;
type Shrink = unsafe extern "C" fn(ffi::MPI_Comm, *mut ffi::MPI_Comm) -> c_int;
type Agree = unsafe extern "C" fn(ffi::MPI_Comm, *mut c_int) -> c_int;
type GetFailed = unsafe extern "C" fn(ffi::MPI_Comm, *mut ffi::MPI_Group) -> c_int;

/// The functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ulfm {
    revoke: Revoke,
    shrink: Shrink,
    agree: Agree,
    get_failed: GetFailed,
}

/// Why there are none.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    /// The library's name and version.
    pub(super) library: String,
    pub(super) advice: &'static str,
}

impl Ulfm {
    /// The library's, if they work.
    pub(super) fn find() -> Result<Self, Missing> {
        static FOUND: OnceLock<Result<Ulfm, Missing>> = OnceLock::new();
        FOUND.get_or_init(look_up).clone()
    }

    /// Ends a communicator for all ranks: their calls on it fail.
    pub(super) fn revoke(&self, comm: RawCommunicator) -> Result<(), Failure> {
        // SAFETY: the function is the library's and takes a live communicator.
        let code = unsafe { (self.revoke)(comm.handle()) };
        check("MPIX_Comm_revoke", code)
    }

    /// The communicator of the processes that are left, which returns errors. Collective among them.
    pub(super) fn shrink(&self, comm: RawCommunicator) -> Result<RawCommunicator, Failure> {
        let mut shrunk = MaybeUninit::uninit();
        // SAFETY: as above; `shrunk` is room for one handle.
        let code = unsafe { (self.shrink)(comm.handle(), shrunk.as_mut_ptr()) };
        check("MPIX_Comm_shrink", code)?;
        // SAFETY: MPIX_Comm_shrink succeeded, so it has written the handle.
        let shrunk = RawCommunicator::from_handle(unsafe { shrunk.assume_init() });
        shrunk.return_errors()?;
        Ok(shrunk)
    }

    /// The bits that all processes that are left have in their words, and whether no process is lost. Collective among them, and the same
    /// on all of them.
    pub(super) fn agree(
        &self,
        comm: RawCommunicator,
        word: c_int,
    ) -> Result<(c_int, bool), Failure> {
        let mut word = word;
        // SAFETY: as above; `word` is a live int.
        let code = unsafe { (self.agree)(comm.handle(), &raw mut word) };
        match check("MPIX_Comm_agree", code) {
            Ok(()) => Ok((word, true)),
            // The word is agreed on all the same.
            Err(failure) if failure.is_loss => Ok((word, false)),
            Err(failure) => Err(failure),
        }
    }

    /// The ranks of a communicator that this process knows to be lost, in ascending order.
    pub(super) fn lost_ranks(&self, comm: RawCommunicator) -> Result<Vec<usize>, Failure> {
        let mut failed = MaybeUninit::uninit();
        // SAFETY: as above; `failed` is room for one handle.
        let code = unsafe { (self.get_failed)(comm.handle(), failed.as_mut_ptr()) };
        check("MPIX_Comm_get_failed", code)?;
        // SAFETY: MPIX_Comm_get_failed succeeded, so it has written the handle.
        let failed = Group(unsafe { failed.assume_init() });
        let mut lost = failed.ranks_in(&Group::of(comm)?)?;
        lost.sort_unstable();
        Ok(lost)
    }
}

/// Whether an error class of the library's says that a process has died, or that a communicator is revoked.
pub(super) fn is_loss(class: c_int) -> bool {
    LOSS_CLASSES.contains(&class) && Ulfm::find().is_ok()
}

/// The ranks in `before` of the processes of `after`, in their order there.
pub(super) fn ranks_before(
    after: RawCommunicator,
    before: RawCommunicator,
) -> Result<Vec<usize>, Failure> {
    Group::of(after)?.ranks_in(&Group::of(before)?)
}

fn look_up() -> Result<Ulfm, Missing> {
    let version = version().unwrap_or_default();
    let missing = |advice| {
        let name = version.split([',', '\n']).next().unwrap_or_default();
        let words: Vec<&str> = name.split_whitespace().collect();
        let library = match words.is_empty() {
            true => "this MPI library".to_owned(),
            false => words.join(" "),
        };
        Missing { library, advice }
    };
    let other_library = "; Open MPI from 5.0 on does, started by `mpirun --with-ft ulfm`";
    if !version.starts_with("Open MPI") {
        return Err(missing(other_library));
    }
    let functions = || {
        let [revoke, shrink, agree, get_failed] = NAMES.map(address);
        Some(Ulfm {
            // SAFETY: Open MPI's function of this name has this signature (`mpiext_ftmpi_c.h`). It lives as long as the library, which is
            // never unloaded. A function's address and a pointer have the same size.
            revoke: unsafe { mem::transmute::<*mut c_void, Revoke>(revoke?) },
            // SAFETY: as above.
            shrink: unsafe { mem::transmute::<*mut c_void, Shrink>(shrink?) },
            // SAFETY: as above.
            agree: unsafe { mem::transmute::<*mut c_void, Agree>(agree?) },
            // SAFETY: as above.
            get_failed: unsafe { mem::transmute::<*mut c_void, GetFailed>(get_failed?) },
        })
    };
    let Some(functions) = functions() else {
        return Err(missing(other_library));
    };
    match RawCommunicator::world().int_attribute(IS_ON_KEY) {
        Ok(Some(1..)) => Ok(functions),
        _ => Err(missing("; it does, started by `mpirun --with-ft ulfm`")),
    }
}

#[cfg(not(feature = "pmpi"))]
const NAMES: [&CStr; 4] = [
    c"MPIX_Comm_revoke",
    c"MPIX_Comm_shrink",
    c"MPIX_Comm_agree",
    c"MPIX_Comm_get_failed",
];
#[cfg(feature = "pmpi")]
const NAMES: [&CStr; 4] = [
    c"PMPIX_Comm_revoke",
    c"PMPIX_Comm_shrink",
    c"PMPIX_Comm_agree",
    c"PMPIX_Comm_get_failed",
];

/// Where this process has a function, if it has.
#[cfg(unix)]
fn address(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a C string; the handle stands for all libraries of the process.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

#[cfg(not(unix))]
fn address(_name: &CStr) -> Option<*mut c_void> {
    None
}

/// Processes of a communicator; freed when it is dropped.
#[derive(Debug)]
struct Group(ffi::MPI_Group);

impl Group {
    fn of(comm: RawCommunicator) -> Result<Self, Failure> {
        let mut group = MaybeUninit::uninit();
        // SAFETY: the communicator is live, `group` is room for one handle.
        let code = unsafe { ffi::MPI_Comm_group(comm.handle(), group.as_mut_ptr()) };
        check("MPI_Comm_group", code)?;
        // SAFETY: MPI_Comm_group succeeded, so it has written the handle.
        Ok(Self(unsafe { group.assume_init() }))
    }

    /// The ranks that its processes have in another group, which has all of them.
    fn ranks_in(&self, other: &Self) -> Result<Vec<usize>, Failure> {
        let mut size = 0;
        // SAFETY: the group is live, `size` is a live int.
        let code = unsafe { ffi::MPI_Group_size(self.0, &raw mut size) };
        check("MPI_Group_size", code)?;
        let own: Vec<c_int> = (0..size).collect();
        let mut others = own.clone();
        if size == 0 {
            // The group may be the predefined one, of which there is nothing to translate.
            return Ok(Vec::new());
        }
        // SAFETY: both groups are live, and both lists hold `size` numbers.
        let code = unsafe {
            ffi::MPI_Group_translate_ranks(self.0, size, own.as_ptr(), other.0, others.as_mut_ptr())
        };
        check("MPI_Group_translate_ranks", code)?;
        // MPI_UNDEFINED, which is negative, would be no rank of the other group.
        let ranks = others
            .into_iter()
            .filter_map(|rank| usize::try_from(rank).ok());
        Ok(ranks.collect())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // SAFETY: a constant of the library, initialised before main.
        let empty = unsafe { ffi::RSMPI_GROUP_EMPTY };
        if self.0 != empty {
            // SAFETY: the group is ours and live, and is not used afterwards.
            unsafe { ffi::MPI_Group_free(&raw mut self.0) };
        }
    }
}
