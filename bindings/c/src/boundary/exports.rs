//! The functions of `treefold.h` that there are once.

use std::ffi::c_char;

use crate::failure::{self, Code, Status};

/// The version: 10000 times the major number, plus 100 times the minor one, plus the patch.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_version() -> u32 {
    let number = |text: &str| text.parse::<u32>().expect("cargo checks versions");
    10_000 * number(env!("CARGO_PKG_VERSION_MAJOR"))
        + 100 * number(env!("CARGO_PKG_VERSION_MINOR"))
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

/// What went wrong in this thread's last call that failed.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_last_error() -> *const c_char {
    failure::last_message()
}

/// The rank that the last error of this thread is about, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_last_error_rank() -> i32 {
    let rank = failure::last_rank().and_then(|rank| i32::try_from(rank).ok());
    rank.unwrap_or(-1)
}

/// The name of a code.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_status_name(status: Status) -> *const c_char {
    Code::name(status).as_ptr()
}
