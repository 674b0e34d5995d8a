//! Reductions that are always passed on, and counted if there is a report.
//!
//! A non-blocking reduction that was done inside its call would wait for ranks that may wait for this one: a legal program could hang.

#![allow(non_snake_case, reason = "MPI's names")]

use std::ffi::{c_int, c_void};
use std::time::Instant;

use treefold::mpi::mpi_library::{Comm, Datatype, Info, Op, Passed};

use super::arguments::Count;
use super::count::count_passed;
use super::intercept::is_callable;
use super::large;
use super::library::Mpi;
use super::next::next;
use crate::settings::Settings;

/// An exported function, under the name that the report has: when it reduces, whether it has a root, and its counts. Where they are large, that
/// which is called with small ones where the library lacks it.
macro_rules! pass {
    ($name:ident, $shown:literal, non_blocking, rootless, $count:ident $(, $small:ident)?) => {
        pass!(
            @ $name, $shown, "non-blocking", $count,
            (comm: Passed<Comm>, request: *mut c_void), [Some(comm)], [$($small)?]
        );
    };
    ($name:ident, $shown:literal, non_blocking, rooted, $count:ident $(, $small:ident)?) => {
        pass!(
            @ $name, $shown, "non-blocking", $count,
            (root: c_int, comm: Passed<Comm>, request: *mut c_void), [Some(comm)], [$($small)?]
        );
    };
    ($name:ident, $shown:literal, persistent, rootless, $count:ident) => {
        pass!(
            @ $name, $shown, "persistent", $count,
            (comm: Passed<Comm>, info: Passed<Info>, request: *mut c_void), [Some(comm)], []
        );
    };
    ($name:ident, $shown:literal, persistent, rooted, $count:ident) => {
        pass!(
            @ $name, $shown, "persistent", $count,
            (root: c_int, comm: Passed<Comm>, info: Passed<Info>, request: *mut c_void), [Some(comm)], []
        );
    };
    ($name:ident, $shown:literal, local, $count:ident $(, $small:ident)?) => {
        pass!(@ $name, $shown, "local", $count, (), [None], [$($small)?]);
    };
    (
        @ $name:ident, $shown:literal, $reason:literal, $count:ident,
        ($($rest:ident: $type:ty),*), [$comm:expr], $small:tt
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
            $($rest: $type),*
        ) -> c_int {
            let count_it = || {
                if Settings::get().stats.is_some() && is_callable() {
                    let mpi = Mpi::get();
                    let (datatype, op) = (mpi.take(datatype), mpi.take(op));
                    count_passed($shown, $reason, count!($count, count), datatype, op, Instant::now());
                }
            };
            let missing = match function!($name(count_type!($count), $($type),*)) {
                Ok(next) => {
                    count_it();
                    // SAFETY: it is the call that the program makes.
                    return unsafe { next(send, recv, count, datatype, op, $($rest),*) };
                }
                Err(missing) => missing,
            };
            let comm: Option<Passed<Comm>> = $comm;
            if let Some((small, count)) = small!($small, $count, count, comm, ($($type),*)) {
                count_it();
                // SAFETY: it is the call that the program makes, whose counts are these.
                return unsafe { small(send, recv, count, datatype, op, $($rest),*) };
            }
            missing.code(|mpi| Some(mpi.take(comm?)))
        }
    };
}

/// The type of a function that is passed on.
macro_rules! function_type {
    ($count_type:ty, $($type:ty),*) => {
        unsafe extern "C-unwind" fn(
            *const c_void,
            *mut c_void,
            $count_type,
            Passed<Datatype>,
            Passed<Op>,
            $($type),*
        ) -> c_int
    };
}

/// The next function of a name, with counts of this type, and parameters after the operator.
macro_rules! function {
    ($name:ident($count_type:ty, $($type:ty),*)) => {
        next!(
            stringify!($name),
            concat!("P", stringify!($name));
            function_type!($count_type, $($type),*)
        )
    };
}

/// The next function with small counts, and these, if there is one, and they are small.
macro_rules! small {
    ([], $kind:ident, $count:ident, $comm:ident, ($($type:ty),*)) => {
        None::<(function_type!(count_type!($kind), $($type),*), _)>
    };
    ([$name:ident], large, $count:ident, $comm:ident, ($($type:ty),*)) => {
        function!($name(c_int, $($type),*)).ok().zip(large::one($count))
    };
    ([$name:ident], each_large, $count:ident, $comm:ident, ($($type:ty),*)) => {
        function!($name(*const c_int, $($type),*)).ok().zip(
            // SAFETY: the program promises a count for each rank.
            $comm.and_then(|comm| unsafe { large::each($count, comm) }),
        )
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
    large,
    MPI_Iallreduce
);
pass!(
    MPI_Ireduce_c,
    "Ireduce",
    non_blocking,
    rooted,
    large,
    MPI_Ireduce
);
pass!(
    MPI_Ireduce_scatter_c,
    "Ireduce_scatter",
    non_blocking,
    rootless,
    each_large,
    MPI_Ireduce_scatter
);
pass!(
    MPI_Ireduce_scatter_block_c,
    "Ireduce_scatter_block",
    non_blocking,
    rootless,
    large,
    MPI_Ireduce_scatter_block
);
pass!(
    MPI_Iscan_c,
    "Iscan",
    non_blocking,
    rootless,
    large,
    MPI_Iscan
);
pass!(
    MPI_Iexscan_c,
    "Iexscan",
    non_blocking,
    rootless,
    large,
    MPI_Iexscan
);
pass!(
    MPI_Reduce_local_c,
    "Reduce_local",
    local,
    large,
    MPI_Reduce_local
);
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
