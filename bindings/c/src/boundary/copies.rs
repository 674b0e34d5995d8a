//! Other copies of these functions in the process: `libtreefold` beside `libtreefold_mpi`.
//!
//! The dynamic linker binds a program's calls to the first copy that has a function. So a program may make a handle by one copy and pass it
//! to the other, and asks the first one what went wrong in either.

use std::ffi::{CStr, c_char, c_void};
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use crate::failure::{self, Failure, Status};

/// What copies export for each other, and no header declares.
const KEEP: &CStr = c"treefold_keep_error";

/// Functions of copies: the first one that a program reaches, and one of `libtreefold_mpi` alone.
const REACHED: [&CStr; 2] = [KEEP, c"treefold_mpi_library"];

type Keep = unsafe extern "C" fn(i32, *const c_char);

/// Keeps an error that another copy has found, as this thread's last one.
///
/// # Safety
/// `message` is a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_keep_error(rank: i32, message: *const c_char) {
    // SAFETY: the caller promises a text.
    let message = unsafe { CStr::from_ptr(message) };
    failure::keep(rank, message);
}

/// Keeps a failure as this thread's last error, also in the copy that a program asks for errors, and returns its code.
#[cold]
pub(super) fn keep(failure: &Failure) -> Status {
    let (rank, message) = failure.in_c();
    failure::keep(rank, &message);
    tell_first(rank, &message);
    failure.code as Status
}

/// Tells the copy of an error that a program asks for errors, if that is not this one.
fn tell_first(rank: i32, message: &CStr) {
    static FIRST: OnceLock<Option<Keep>> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let address = reached(KEEP)?;
        // SAFETY: each copy exports this name with this type.
        is_other(address).then(|| unsafe { mem::transmute::<NonNull<c_void>, Keep>(address) })
    });
    if let Some(keep) = first {
        // SAFETY: it is a text.
        unsafe { keep(rank, message.as_ptr()) };
    }
}

/// The file of another copy, if a program's calls reach one.
pub(crate) fn other_file() -> Option<String> {
    let mut others = REACHED.into_iter().filter_map(reached);
    let other = others.find(|address| is_other(*address))?;
    let name = object(other.as_ptr())?.dli_fname;
    // SAFETY: the linker's name of a loaded object is a text.
    Some(
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned(),
    )
}

/// Where a program's calls of a function lead.
fn reached(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends with a null character.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

/// Whether an address belongs to another object than this function.
fn is_other(address: NonNull<c_void>) -> bool {
    let own: fn(NonNull<c_void>) -> bool = is_other;
    let objects = [address.as_ptr().cast_const(), own as *const c_void].map(object);
    let [Some(there), Some(own)] = objects else {
        return false;
    };
    !ptr::eq(there.dli_fbase, own.dli_fbase)
}

fn object(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for, and `info` is room for the answer.
    let is_found = unsafe { libc::dladdr(address, info.as_mut_ptr()) } != 0;
    // SAFETY: the linker has written it, if it has found an object.
    is_found.then(|| unsafe { info.assume_init() })
}
