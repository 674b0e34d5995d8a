//! Reductions that are always passed on, and counted if there is a report.
//!
//! A non-blocking reduction that was done inside its call would wait for ranks that may wait for this one: a legal program could hang.

#![allow(non_snake_case, reason = "MPI's names")]

use std::ffi::{c_int, c_void};
use std::time::Instant;

#[cfg(large_counts)]
use mpi::ffi::MPI_Count;
use mpi::ffi::{MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};

use super::count::count_passed;
use super::intercept::{Count, is_callable};
use super::next::next;
use crate::settings::Settings;

/// An exported function, under the name that the report has, with the reason: the type of its count, what makes a count of it, and its
/// parameters after the operator.
macro_rules! pass {
    (
        $name:ident, $shown:literal, $reason:literal, $count_type:ty, $count:expr,
        [$($rest:ident: $type:ty),*]
    ) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(
            send: *const c_void,
            recv: *mut c_void,
            count: $count_type,
            datatype: MPI_Datatype,
            op: MPI_Op,
            $($rest: $type),*
        ) -> c_int {
            let next = next!(
                stringify!($name),
                concat!("P", stringify!($name));
                unsafe extern "C-unwind" fn(
                    *const c_void,
                    *mut c_void,
                    $count_type,
                    MPI_Datatype,
                    MPI_Op,
                    $($type),*
                ) -> c_int
            );
            if Settings::get().stats.is_some() && is_callable() {
                count_passed($shown, $reason, $count(count), datatype, op, Instant::now());
            }
            // SAFETY: it is the call that the program makes.
            unsafe { next(send, recv, count, datatype, op, $($rest),*) }
        }
    };
}

/// One count.
fn one(count: c_int) -> Count {
    Count::Of(count.into())
}

pass!(
    MPI_Iallreduce, "Iallreduce", "non-blocking", c_int, one,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(any(open_mpi, large_counts))]
pass!(
    MPI_Allreduce_init, "Allreduce_init", "persistent", c_int, one,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(open_mpi)]
pass!(
    MPIX_Allreduce_init, "Allreduce_init", "persistent", c_int, one,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
pass!(
    MPI_Ireduce, "Ireduce", "non-blocking", c_int, one,
    [root: c_int, comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(any(open_mpi, large_counts))]
pass!(
    MPI_Reduce_init, "Reduce_init", "persistent", c_int, one,
    [root: c_int, comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(open_mpi)]
pass!(
    MPIX_Reduce_init, "Reduce_init", "persistent", c_int, one,
    [root: c_int, comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
pass!(
    MPI_Ireduce_scatter, "Ireduce_scatter", "non-blocking", *const c_int, Count::Each,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(any(open_mpi, large_counts))]
pass!(
    MPI_Reduce_scatter_init, "Reduce_scatter_init", "persistent", *const c_int, Count::Each,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(open_mpi)]
pass!(
    MPIX_Reduce_scatter_init, "Reduce_scatter_init", "persistent", *const c_int, Count::Each,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
pass!(
    MPI_Ireduce_scatter_block, "Ireduce_scatter_block", "non-blocking", c_int, one,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(any(open_mpi, large_counts))]
pass!(
    MPI_Reduce_scatter_block_init, "Reduce_scatter_block_init", "persistent", c_int, one,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(open_mpi)]
pass!(
    MPIX_Reduce_scatter_block_init, "Reduce_scatter_block_init", "persistent", c_int, one,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
pass!(
    MPI_Iscan, "Iscan", "non-blocking", c_int, one,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(any(open_mpi, large_counts))]
pass!(
    MPI_Scan_init, "Scan_init", "persistent", c_int, one,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(open_mpi)]
pass!(
    MPIX_Scan_init, "Scan_init", "persistent", c_int, one,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
pass!(
    MPI_Iexscan, "Iexscan", "non-blocking", c_int, one,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(any(open_mpi, large_counts))]
pass!(
    MPI_Exscan_init, "Exscan_init", "persistent", c_int, one,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(open_mpi)]
pass!(
    MPIX_Exscan_init, "Exscan_init", "persistent", c_int, one,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
pass!(MPI_Reduce_local, "Reduce_local", "local", c_int, one, []);

// With large counts.
#[cfg(large_counts)]
pass!(
    MPI_Iallreduce_c, "Iallreduce", "non-blocking", MPI_Count, Count::Of,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Allreduce_init_c, "Allreduce_init", "persistent", MPI_Count, Count::Of,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Ireduce_c, "Ireduce", "non-blocking", MPI_Count, Count::Of,
    [root: c_int, comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Reduce_init_c, "Reduce_init", "persistent", MPI_Count, Count::Of,
    [root: c_int, comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Ireduce_scatter_c, "Ireduce_scatter", "non-blocking", *const MPI_Count, Count::EachLarge,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Reduce_scatter_init_c, "Reduce_scatter_init", "persistent", *const MPI_Count, Count::EachLarge,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Ireduce_scatter_block_c, "Ireduce_scatter_block", "non-blocking", MPI_Count, Count::Of,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Reduce_scatter_block_init_c, "Reduce_scatter_block_init", "persistent", MPI_Count, Count::Of,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Iscan_c, "Iscan", "non-blocking", MPI_Count, Count::Of,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Scan_init_c, "Scan_init", "persistent", MPI_Count, Count::Of,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Iexscan_c, "Iexscan", "non-blocking", MPI_Count, Count::Of,
    [comm: MPI_Comm, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Exscan_init_c, "Exscan_init", "persistent", MPI_Count, Count::Of,
    [comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request]
);
#[cfg(large_counts)]
pass!(
    MPI_Reduce_local_c,
    "Reduce_local",
    "local",
    MPI_Count,
    Count::Of,
    []
);
