//! Statuses: what MPI reports about a message.

use std::ffi::c_int;
use std::ptr;

use crate::constants::Constants;

/// Room for an `MPI_Status` of any family: 24 bytes in Open MPI, 20 in the MPICH family, 32 in the standard ABI.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Status {
    words: [u32; Self::BYTES / 4],
}

impl Status {
    /// The size in bytes.
    pub const BYTES: usize = 64;

    /// A status that MPI has not written.
    pub const UNSET: Self = Self {
        words: [0; Self::BYTES / 4],
    };

    /// `MPI_SOURCE`: the sender's rank.
    #[inline]
    pub fn source(&self, constants: &Constants) -> c_int {
        self.field(constants.status_source_offset_bytes)
    }

    /// `MPI_TAG`: the message's tag.
    #[inline]
    pub fn tag(&self, constants: &Constants) -> c_int {
        self.field(constants.status_tag_offset_bytes)
    }

    /// `MPI_ERROR`: set only by functions that complete several requests (MPI 4.1, 3.2.5).
    #[inline]
    pub fn error(&self, constants: &Constants) -> c_int {
        self.field(constants.status_error_offset_bytes)
    }

    #[inline]
    fn field(&self, offset_bytes: usize) -> c_int {
        self.words[offset_bytes / 4].cast_signed()
    }
}

impl Constants {
    /// `MPI_STATUS_IGNORE`, and `MPI_STATUSES_IGNORE`.
    #[inline]
    pub fn status_ignore(&self) -> *mut Status {
        ptr::without_provenance_mut(self.status_ignore)
    }
}
