//! Detects tools that are loaded before this library and call MPI by its `PMPI_` names, so that no call arrives here.

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;

use crate::boundary::library::said::{is_first_rank, say};
use crate::boundary::process::phase::{has_init, is_registered};
use crate::settings::{Mode, Settings};

/// The file whose reductions the program calls instead of this library's, if another library comes first.
pub(crate) fn ahead() -> Option<String> {
    // SAFETY: the name ends with a null character.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"MPI_Allreduce".as_ptr()) };
    // Compares with another function of this library: even here, the linker resolves MPI_Allreduce to the first library's function.
    let own: extern "C" fn() = at_exit;
    let (first, own) = (object(first)?, object(own as *const c_void)?);
    (first.0 != own.0).then_some(first.1)
}

/// The base address and the name of the object file that contains an address.
fn object(address: *const c_void) -> Option<(*mut c_void, String)> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be queried, and `info` has room for the answer.
    if unsafe { libc::dladdr(address, info.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: the call has succeeded, so it has written the answer.
    let info = unsafe { info.assume_init() };
    // SAFETY: the name is a string of the linker, which lives as long as the object: forever, if the object was loaded at the start.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some((info.dli_fbase, name.to_string_lossy().into_owned()))
}

/// Called when the process ends: a tool that hides the reductions also hides MPI_Init, so there is no other report.
#[cfg(all(target_os = "linux", not(test)))]
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

#[cfg_attr(test, allow(dead_code, reason = "a test is not an MPI program"))]
extern "C" fn at_exit() {
    if is_registered() || Settings::get().mode == Mode::Off || !is_first_rank() {
        return;
    }
    // Without a known MPI library, there is nothing to report.
    let Ok(library) = treefold::mpi::library_beneath() else {
        return;
    };
    let mut is_initialised: c_int = 0;
    // SAFETY: MPI_Initialized may be called at any time, and writes one int (MPI 4.1, 11.4.1).
    unsafe { library.MPI_Initialized(&raw mut is_initialised) };
    if is_initialised == 0 {
        return;
    }
    let why = match ahead() {
        Some(ahead) => format!("calls the reductions of {ahead}, which comes before this library"),
        None if has_init() => return,
        None => "has initialised MPI without this library. It finds MPI's functions by the MPI library's handle, as MPI.jl does, or by other names"
            .to_owned(),
    };
    let version = &library.choice().version;
    say(&format!(
        "treefold-pmpi: {version}: calls seen: 0. The program {why}.\n"
    ));
}
