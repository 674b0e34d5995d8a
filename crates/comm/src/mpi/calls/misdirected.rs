//! Errors that some MPI libraries report to the wrong communicator.
//!
//! If a message is longer than its receive allows, MPI must report the error to the receive's communicator, which returns errors. MPICH
//! before 4.3 and the Intel MPI library report the error to `MPI_COMM_WORLD`, whose handler ends the program.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::sync::OnceLock;

use mpi_library::Errhandler;

use crate::mpi::calls::failure::{Failure, check, written};
use crate::mpi::calls::library::{is_beneath, mpi};

/// While this value exists, `MPI_COMM_WORLD` returns errors instead of aborting, for example the error of a receive that is tested.
#[derive(Debug)]
pub(crate) struct WorldReturnsErrors {
    before: Errhandler,
}

impl WorldReturnsErrors {
    /// Makes `MPI_COMM_WORLD` return errors; `None` if the library reports errors to the right communicator.
    #[inline]
    pub(crate) fn where_needed() -> Result<Option<Self>, Failure> {
        // If this crate replaces a program's MPI functions, the handler belongs to the program, and another thread may set or need it now.
        // In such a program, a receive is too short only if ranks call the same reduction with different counts.
        if is_beneath() {
            return Ok(None);
        }
        static IS_NEEDED: OnceLock<bool> = OnceLock::new();
        if *IS_NEEDED.get_or_init(|| !reports_well(mpi().version())) {
            Self::always().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Makes `MPI_COMM_WORLD` return errors with every library, for a call whose errors belong to no communicator.
    #[cold]
    pub(crate) fn always() -> Result<Self, Failure> {
        let handles = &mpi().handles;
        let (world, errors_return) = (handles.MPI_COMM_WORLD, handles.MPI_ERRORS_RETURN);
        // SAFETY: the communicator is live as long as MPI is; `before` has room for one handle.
        let before = |before| unsafe { mpi().MPI_Comm_get_errhandler(world, before) };
        let before = written("MPI_Comm_get_errhandler", Errhandler::UNSET, before)?;
        // SAFETY: the communicator is live, the error handler is predefined.
        let code = unsafe { mpi().MPI_Comm_set_errhandler(world, errors_return) };
        check("MPI_Comm_set_errhandler", code).map(|()| Self { before })
    }
}

impl Drop for WorldReturnsErrors {
    fn drop(&mut self) {
        let world = mpi().handles.MPI_COMM_WORLD;
        // SAFETY: the communicator is live, and had this handler before.
        unsafe { mpi().MPI_Comm_set_errhandler(world, self.before) };
        // SAFETY: MPI_Comm_get_errhandler has made a reference to the error handler, which the caller of that function must free.
        unsafe { mpi().MPI_Errhandler_free(&raw mut self.before) };
    }
}

/// Whether a library of this version reports errors to the right communicator. An unknown version is assumed not to do so.
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
