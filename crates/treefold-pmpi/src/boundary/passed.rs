//! Reductions that are always passed on, and counted if there is a report.
//!
//! A non-blocking reduction that was done inside its call would wait for ranks that may wait for this one: a legal program could hang.

#![allow(non_snake_case, reason = "MPI's names")]

use std::ffi::{c_int, c_void};
use std::time::Instant;

use treefold::mpi::mpi_library::{Comm, Datatype, Info, Op, Passed};

use super::count::count_passed;
use super::intercept::{Count, is_callable};
use super::library::Mpi;
use super::next::next;
use crate::settings::Settings;

/// An exported function, under the name that the report has: when it reduces, whether it has a root, and its counts.
macro_rules! pass {
    ($name:ident, $shown:literal, non_blocking, rootless, $count:ident) => {
        pass!(@ $name, $shown, "non-blocking", $count, [], [comm], [request: *mut c_void]);
    };
    ($name:ident, $shown:literal, non_blocking, rooted, $count:ident) => {
        pass!(@ $name, $shown, "non-blocking", $count, [root: c_int], [comm], [request: *mut c_void]);
    };
    ($name:ident, $shown:literal, persistent, rootless, $count:ident) => {
        pass!(
            @ $name, $shown, "persistent", $count,
            [], [comm], [info: Passed<Info>, request: *mut c_void]
        );
    };
    ($name:ident, $shown:literal, persistent, rooted, $count:ident) => {
        pass!(
            @ $name, $shown, "persistent", $count,
            [root: c_int], [comm], [info: Passed<Info>, request: *mut c_void]
        );
    };
    ($name:ident, $shown:literal, local, $count:ident) => {
        pass!(@ $name, $shown, "local", $count, [], [], []);
    };
    (
        @ $name:ident, $shown:literal, $reason:literal, $count:ident,
        [$($root:ident: $root_type:ty)?], [$($comm:ident)?], [$($rest:ident: $type:ty),*]
    ) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(
            send: *const c_void,
            recv: *mut c_void,
            count: count_type!($count),
            datatype: Passed<Datatype>,
            op: Passed<Op>,
            $($root: $root_type,)?
            $($comm: Passed<Comm>,)?
            $($rest: $type),*
        ) -> c_int {
            let next = next!(
                stringify!($name),
                concat!("P", stringify!($name));
                unsafe extern "C-unwind" fn(
                    *const c_void,
                    *mut c_void,
                    count_type!($count),
                    Passed<Datatype>,
                    Passed<Op>,
                    $($root_type,)?
                    $(stand_in!($comm Passed<Comm>),)?
                    $($type),*
                ) -> c_int
            );
            let next = match next {
                Ok(next) => next,
                Err(missing) => return missing.code(|_mpi| None$(.or(Some(_mpi.take($comm))))?),
            };
            if Settings::get().stats.is_some() && is_callable() {
                let mpi = Mpi::get();
                let (datatype, op) = (mpi.take(datatype), mpi.take(op));
                count_passed($shown, $reason, count!($count, count), datatype, op, Instant::now());
            }
            // SAFETY: it is the call that the program makes.
            unsafe { next(send, recv, count, datatype, op, $($root,)? $($comm,)? $($rest),*) }
        }
    };
}

/// The type of a count, or of one for each rank; MPI_Count has 64 bits in every family.
macro_rules! count_type {
    (one) => { c_int };
    (each) => { *const c_int };
    (large) => { i64 };
    (each_large) => { *const i64 };
}

/// What the count means.
macro_rules! count {
    (one, $count:ident) => {
        Count::Of($count.into())
    };
    (each, $count:ident) => {
        Count::Each($count)
    };
    (large, $count:ident) => {
        Count::Of($count)
    };
    (each_large, $count:ident) => {
        Count::EachLarge($count)
    };
}

/// A type for each parameter of a list.
macro_rules! stand_in {
    ($parameter:ident $type:ty) => {
        $type
    };
}

pass!(MPI_Iallreduce, "Iallreduce", non_blocking, rootless, one);
pass!(MPI_Ireduce, "Ireduce", non_blocking, rooted, one);
pass!(
    MPI_Ireduce_scatter,
    "Ireduce_scatter",
    non_blocking,
    rootless,
    each
);
pass!(
    MPI_Ireduce_scatter_block,
    "Ireduce_scatter_block",
    non_blocking,
    rootless,
    one
);
pass!(MPI_Iscan, "Iscan", non_blocking, rootless, one);
pass!(MPI_Iexscan, "Iexscan", non_blocking, rootless, one);
pass!(MPI_Reduce_local, "Reduce_local", local, one);

// From MPI 4.0 on.
pass!(
    MPI_Allreduce_init,
    "Allreduce_init",
    persistent,
    rootless,
    one
);
pass!(MPI_Reduce_init, "Reduce_init", persistent, rooted, one);
pass!(
    MPI_Reduce_scatter_init,
    "Reduce_scatter_init",
    persistent,
    rootless,
    each
);
pass!(
    MPI_Reduce_scatter_block_init,
    "Reduce_scatter_block_init",
    persistent,
    rootless,
    one
);
pass!(MPI_Scan_init, "Scan_init", persistent, rootless, one);
pass!(MPI_Exscan_init, "Exscan_init", persistent, rootless, one);

// The same, as Open MPI 4 has them.
pass!(
    MPIX_Allreduce_init,
    "Allreduce_init",
    persistent,
    rootless,
    one
);
pass!(MPIX_Reduce_init, "Reduce_init", persistent, rooted, one);
pass!(
    MPIX_Reduce_scatter_init,
    "Reduce_scatter_init",
    persistent,
    rootless,
    each
);
pass!(
    MPIX_Reduce_scatter_block_init,
    "Reduce_scatter_block_init",
    persistent,
    rootless,
    one
);
pass!(MPIX_Scan_init, "Scan_init", persistent, rootless, one);
pass!(MPIX_Exscan_init, "Exscan_init", persistent, rootless, one);

// With large counts, from MPI 4.0 on.
pass!(
    MPI_Iallreduce_c,
    "Iallreduce",
    non_blocking,
    rootless,
    large
);
pass!(MPI_Ireduce_c, "Ireduce", non_blocking, rooted, large);
pass!(
    MPI_Ireduce_scatter_c,
    "Ireduce_scatter",
    non_blocking,
    rootless,
    each_large
);
pass!(
    MPI_Ireduce_scatter_block_c,
    "Ireduce_scatter_block",
    non_blocking,
    rootless,
    large
);
pass!(MPI_Iscan_c, "Iscan", non_blocking, rootless, large);
pass!(MPI_Iexscan_c, "Iexscan", non_blocking, rootless, large);
pass!(MPI_Reduce_local_c, "Reduce_local", local, large);
pass!(
    MPI_Allreduce_init_c,
    "Allreduce_init",
    persistent,
    rootless,
    large
);
pass!(MPI_Reduce_init_c, "Reduce_init", persistent, rooted, large);
pass!(
    MPI_Reduce_scatter_init_c,
    "Reduce_scatter_init",
    persistent,
    rootless,
    each_large
);
pass!(
    MPI_Reduce_scatter_block_init_c,
    "Reduce_scatter_block_init",
    persistent,
    rootless,
    large
);
pass!(MPI_Scan_init_c, "Scan_init", persistent, rootless, large);
pass!(
    MPI_Exscan_init_c,
    "Exscan_init",
    persistent,
    rootless,
    large
);
