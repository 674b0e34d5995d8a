//! Errors that some MPI libraries report to the wrong communicator.
//!
//! A message that is longer than its receive is an error of the receive's communicator, which returns errors. MPICH before 4.3 and the
//! Intel MPI library report it to `MPI_COMM_WORLD`, whose handler ends the program.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use super::ffi;

use super::raw::{Failure, check};

/// While this exists, `MPI_COMM_WORLD` returns errors: those of a receive that is tested meanwhile, or of a communicator that is freed.
#[derive(Debug)]
pub(super) struct WorldReturnsErrors {
    before: ffi::MPI_Errhandler,
}

impl WorldReturnsErrors {
    /// `None` where the library needs it not.
    #[inline]
    pub(super) fn where_needed() -> Result<Option<Self>, Failure> {
        // Beneath a program, the handler is the program's, which another thread may set or need at this moment. Receives are too short
        // only if the program's ranks call the same reduction with different counts.
        if cfg!(feature = "pmpi") {
            return Ok(None);
        }
        static IS_NEEDED: OnceLock<bool> = OnceLock::new();
        match IS_NEEDED.get_or_init(|| !version().is_some_and(|text| reports_well(&text))) {
            true => Self::always().map(Some),
            false => Ok(None),
        }
    }

    /// For a call whose errors have no communicator to go to.
    #[cold]
    pub(super) fn always() -> Result<Self, Failure> {
        // SAFETY: constants of the library, initialised before main.
        let (world, errors_return) = unsafe { (ffi::RSMPI_COMM_WORLD, ffi::RSMPI_ERRORS_RETURN) };
        let mut before = MaybeUninit::uninit();
        // SAFETY: the communicator is live as long as MPI is; `before` is room for one handle.
        let code = unsafe { ffi::MPI_Comm_get_errhandler(world, before.as_mut_ptr()) };
        check("MPI_Comm_get_errhandler", code)?;
        // SAFETY: MPI_Comm_get_errhandler succeeded, so it has written the handle.
        let before = unsafe { before.assume_init() };
        // SAFETY: the communicator is live, the error handler is predefined.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(world, errors_return) };
        check("MPI_Comm_set_errhandler", code).map(|()| Self { before })
    }
}

impl Drop for WorldReturnsErrors {
    fn drop(&mut self) {
        // SAFETY: a constant of the library, initialised before main.
        let world = unsafe { ffi::RSMPI_COMM_WORLD };
        // SAFETY: the communicator is live, and the handler is that which it had.
        unsafe { ffi::MPI_Comm_set_errhandler(world, self.before) };
        // SAFETY: MPI_Comm_get_errhandler has made a reference to the handler that is ours to free.
        unsafe { ffi::MPI_Errhandler_free(&raw mut self.before) };
    }
}

/// What the library says that it is.
pub(super) fn version() -> Option<String> {
    let mut text: [c_char; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize] =
        [0; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize];
    let mut length = 0;
    // SAFETY: the text has the room that the standard asks for; `length` is a live int.
    let code = unsafe { ffi::MPI_Get_library_version(text.as_mut_ptr(), &raw mut length) };
    check("MPI_Get_library_version", code).ok()?;
    // SAFETY: MPI has written a text that ends with a null character (MPI 4.1, 9.1.1).
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    Some(text.to_string_lossy().into_owned())
}

/// Whether a library of this version reports errors to the communicator that they are of. One that is not known is taken not to.
fn reports_well(version: &str) -> bool {
    if version.starts_with("Open MPI") {
        return true;
    }
    let Some((_, mpich)) = version.split_once("MPICH Version:") else {
        return false;
    };
    let mut numbers = mpich.trim_start().split('.').map(|part| {
        let digits = part.find(|sign: char| !sign.is_ascii_digit());
        part[..digits.unwrap_or(part.len())].parse::<u32>().ok()
    });
    let major_and_minor = (numbers.next().flatten(), numbers.next().flatten());
    major_and_minor >= (Some(4), Some(3))
}

#[cfg(test)]
mod tests {
    use super::reports_well;

    #[test]
    fn versions_that_report_well() {
        for good in [
            "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4",
            "MPICH Version:      4.3.2\nMPICH Release date: Mon Oct  6",
            "MPICH Version:      5.0.2\n",
            "MPICH Version: 4.3rc1",
        ] {
            assert!(reports_well(good), "{good}");
        }
        for bad in [
            "MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7",
            "MPICH Version:      3.4",
            "Intel(R) MPI Library 2021.16 for Linux* OS",
            "MPICH Version:      \n",
            "",
        ] {
            assert!(!reports_well(bad), "{bad}");
        }
    }
}
