//! MPI's constants, by family.

use std::ffi::{c_int, c_void};
use std::ptr;

/// `MPI_SUCCESS`, in every family (MPI 4.1, 9.4).
pub const MPI_SUCCESS: c_int = 0;

/// Room in bytes for what `MPI_Get_library_version` writes, in every family.
pub const MAX_LIBRARY_VERSION_STRING: usize = 8192;

/// Room in bytes for what `MPI_Error_string` writes, in every family.
pub const MAX_ERROR_STRING: usize = 512;

/// Room in bytes for the name of an object, in every family.
pub const MAX_OBJECT_NAME: usize = 128;

/// Room in bytes for the name of a port, in every family.
pub const MAX_PORT_NAME: usize = 1024;

/// Room in bytes for the name of a processor, in every family.
pub const MAX_PROCESSOR_NAME: usize = 256;

/// Each line is a name, and its values in Open MPI, in the MPICH family and in the standard ABI.
macro_rules! constants {
    ($($name:ident: $open_mpi:expr, $mpich:expr, $abi:expr;)+) => {
        /// A family's constants: integers, special addresses, and the layout of handles and statuses.
        #[allow(non_snake_case, reason = "MPI's names")]
        #[derive(Clone, Copy, Debug)]
        pub struct Constants {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: c_int,
            )+
            /// `MPIX_ERR_PROC_FAILED`; Open MPI has it from 5.0 on.
            pub MPIX_ERR_PROC_FAILED: Option<c_int>,
            /// `MPIX_ERR_PROC_FAILED_PENDING`; Open MPI has it from 5.0 on.
            pub MPIX_ERR_PROC_FAILED_PENDING: Option<c_int>,
            /// `MPIX_ERR_REVOKED`; Open MPI has it from 5.0 on.
            pub MPIX_ERR_REVOKED: Option<c_int>,
            /// `MPIX_FT`, the key of the attribute that says whether MPI reports that a process died; Open MPI has it from 5.0 on.
            pub MPIX_FT: Option<c_int>,
            /// The address `MPI_IN_PLACE`, at which there is no memory.
            in_place: usize,
            /// The address `MPI_STATUS_IGNORE`, which is also `MPI_STATUSES_IGNORE`.
            pub(crate) status_ignore: usize,
            /// The size of a handle in bytes.
            pub handle_bytes: usize,
            /// The size of an `MPI_Status` in bytes.
            pub status_bytes: usize,
            /// The offset of `MPI_SOURCE` in a status, in bytes.
            pub status_source_offset_bytes: usize,
            /// The offset of `MPI_TAG` in a status, in bytes.
            pub status_tag_offset_bytes: usize,
            /// The offset of `MPI_ERROR` in a status, in bytes.
            pub status_error_offset_bytes: usize,
        }

        pub(crate) static OPEN_MPI: Constants = Constants {
            $($name: $open_mpi,)+
            MPIX_ERR_PROC_FAILED: Some(75),
            MPIX_ERR_PROC_FAILED_PENDING: Some(76),
            MPIX_ERR_REVOKED: Some(77),
            MPIX_FT: Some(12),
            in_place: 1,
            status_ignore: 0,
            handle_bytes: 8,
            status_bytes: 24,
            status_source_offset_bytes: 0,
            status_tag_offset_bytes: 4,
            status_error_offset_bytes: 8,
        };

        pub(crate) static MPICH: Constants = Constants {
            $($name: $mpich,)+
            MPIX_ERR_PROC_FAILED: Some(101),
            MPIX_ERR_PROC_FAILED_PENDING: Some(102),
            MPIX_ERR_REVOKED: Some(103),
            MPIX_FT: None,
            in_place: usize::MAX,
            status_ignore: 1,
            handle_bytes: 4,
            status_bytes: 20,
            status_source_offset_bytes: 8,
            status_tag_offset_bytes: 12,
            status_error_offset_bytes: 16,
        };

        pub(crate) static ABI: Constants = Constants {
            $($name: $abi,)+
            MPIX_ERR_PROC_FAILED: None,
            MPIX_ERR_PROC_FAILED_PENDING: None,
            MPIX_ERR_REVOKED: None,
            MPIX_FT: None,
            in_place: 1,
            status_ignore: 0,
            handle_bytes: 8,
            status_bytes: 32,
            status_source_offset_bytes: 0,
            status_tag_offset_bytes: 4,
            status_error_offset_bytes: 8,
        };

        impl Constants {
            /// The integers that every family has, with their names.
            pub fn integers(&self) -> Vec<(&'static str, c_int)> {
                vec![$((stringify!($name), self.$name)),+]
            }
        }
    };
}

constants! {
    MPI_ANY_SOURCE: -1, -2, -1;
    MPI_ANY_TAG: -1, -1, -2;
    MPI_PROC_NULL: -2, -1, -3;
    MPI_ROOT: -4, -3, -4;
    MPI_UNDEFINED: -32766, -32766, -32766;
    MPI_TAG_UB: 0, 0x6440_0001, 501;
    MPI_KEYVAL_INVALID: -1, 0x2400_0000, 0;
    MPI_COMM_TYPE_SHARED: 0, 1, 221;
    MPI_IDENT: 0, 0, 201;
    MPI_CONGRUENT: 1, 1, 202;
    MPI_SIMILAR: 2, 2, 203;
    MPI_UNEQUAL: 3, 3, 204;
    MPI_THREAD_SINGLE: 0, 0, 0;
    MPI_THREAD_FUNNELED: 1, 1, 1024;
    MPI_THREAD_SERIALIZED: 2, 2, 2048;
    MPI_THREAD_MULTIPLE: 3, 3, 4096;
    MPI_MODE_NOCHECK: 1, 1024, 1024;
    MPI_MODE_NOPRECEDE: 2, 8192, 2048;
    MPI_MODE_NOPUT: 4, 4096, 4096;
    MPI_MODE_NOSTORE: 8, 2048, 8192;
    MPI_MODE_NOSUCCEED: 16, 16384, 16384;
    MPI_LOCK_EXCLUSIVE: 1, 234, 301;
    MPI_LOCK_SHARED: 2, 235, 302;
    MPI_ERR_BUFFER: 1, 1, 1;
    MPI_ERR_COUNT: 2, 2, 2;
    MPI_ERR_TYPE: 3, 3, 3;
    MPI_ERR_TAG: 4, 4, 4;
    MPI_ERR_COMM: 5, 5, 5;
    MPI_ERR_RANK: 6, 6, 6;
    MPI_ERR_REQUEST: 7, 19, 7;
    MPI_ERR_ROOT: 8, 7, 8;
    MPI_ERR_GROUP: 9, 8, 9;
    MPI_ERR_OP: 10, 9, 10;
    MPI_ERR_ARG: 13, 12, 13;
    MPI_ERR_UNKNOWN: 14, 13, 14;
    MPI_ERR_TRUNCATE: 15, 14, 15;
    MPI_ERR_OTHER: 16, 15, 16;
    MPI_ERR_INTERN: 17, 16, 17;
    MPI_ERR_PENDING: 19, 18, 18;
    MPI_ERR_IN_STATUS: 18, 17, 19;
    MPI_ERR_NO_MEM: 39, 34, 39;
    MPI_ERR_SPAWN: 50, 42, 53;
    MPI_ERR_WIN: 53, 45, 56;
    MPI_ERR_UNSUPPORTED_OPERATION: 52, 44, 55;
    MPI_MAX_ERROR_STRING: 256, 512, 512;
    MPI_COMBINER_NAMED: 0, 1, 101;
    MPI_COMBINER_DUP: 1, 2, 102;
    MPI_COMBINER_CONTIGUOUS: 2, 3, 103;
    MPI_COMBINER_VECTOR: 3, 4, 104;
    MPI_COMBINER_HVECTOR: 5, 6, 105;
    MPI_COMBINER_INDEXED: 6, 7, 106;
    MPI_COMBINER_HINDEXED: 8, 9, 107;
    MPI_COMBINER_INDEXED_BLOCK: 9, 10, 108;
    MPI_COMBINER_HINDEXED_BLOCK: 18, 19, 109;
    MPI_COMBINER_STRUCT: 11, 12, 110;
    MPI_COMBINER_SUBARRAY: 12, 13, 111;
    MPI_COMBINER_DARRAY: 13, 14, 112;
    MPI_COMBINER_F90_REAL: 14, 15, 113;
    MPI_COMBINER_F90_COMPLEX: 15, 16, 114;
    MPI_COMBINER_F90_INTEGER: 16, 17, 115;
    MPI_COMBINER_RESIZED: 17, 18, 116;
}

impl Constants {
    /// `MPI_IN_PLACE`.
    #[inline]
    pub fn in_place(&self) -> *mut c_void {
        ptr::without_provenance_mut(self.in_place)
    }
}
