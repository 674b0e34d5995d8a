//! The functions of `treefold.h` about the library, its errors and its threads.

use std::ffi::{c_char, c_int};

use super::guard;
use crate::failure::{self, Code, Failure, Status};
use crate::{local, raw};

/// The version as a number: 10000 * major + 100 * minor + patch.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_version() -> u32 {
    let number = |text: &str| text.parse::<u32>().expect("cargo checks versions");
    10_000 * number(env!("CARGO_PKG_VERSION_MAJOR"))
        + 100 * number(env!("CARGO_PKG_VERSION_MINOR"))
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// The version as text.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_version_string() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The message of this thread's last failed call.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_last_error() -> *const c_char {
    failure::last_message()
}

/// The rank that the last error of this thread concerns, or -1 if it concerns no rank.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_last_error_rank() -> i32 {
    let rank = failure::last_rank().and_then(|rank| i32::try_from(rank).ok());
    rank.unwrap_or(failure::NO_RANK)
}

/// The name of a status.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_status_name(status: Status) -> *const c_char {
    Code::name(status).as_ptr()
}

/// Sets this thread's last error.
///
/// # Safety
/// `message` is NULL or a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_report(status: Status, message: *const c_char) -> Status {
    guard(|| {
        // SAFETY: the caller promises what the callee requires.
        let message = unsafe { raw::text("message", message) }?;
        let code = Code::of_error(status).unwrap_or(Code::Argument);
        Err(Failure::new(code, message))
    })
}

/// Sets the number of threads that later calls of this thread may use.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_threads(n: c_int) -> Status {
    guard(|| local::set_threads(n))
}

/// The number of threads that calls of this thread may use, as set by [`treefold_threads`].
#[unsafe(no_mangle)]
pub extern "C" fn treefold_thread_count() -> c_int {
    local::thread_count()
}
