//! Non-blocking and persistent reductions, as C calls them.

#![allow(non_snake_case, reason = "MPI's names")]

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Comm, Datatype, Info, Op, Passed};

use crate::boundary::calls::arguments::{Arguments, Count};
use crate::boundary::library::large;
use crate::boundary::library::loaded::Mpi;
use crate::boundary::library::next::next;
use crate::boundary::requests::start::{RequestPlace, intercept};
use crate::task::{Call, Form};

/// Defines an exported function from its call, its form, whether it has a root, and its counts. For large counts, the last argument is the
/// function with small counts, which is called if the library lacks this one.
macro_rules! export {
    ($name:ident, $call:ident, non_blocking, rootless, $count:ident $(, $small:ident)?) => {
        export!(@ $name, $call, NonBlocking, $count, (), (), [0], [$($small)?]);
    };
    ($name:ident, $call:ident, non_blocking, rooted, $count:ident $(, $small:ident)?) => {
        export!(@ $name, $call, NonBlocking, $count, (root: c_int,), (), [root], [$($small)?]);
    };
    ($name:ident, $call:ident, persistent, rootless, $count:ident) => {
        export!(@ $name, $call, Persistent, $count, (), (info: Passed<Info>,), [0], []);
    };
    ($name:ident, $call:ident, persistent, rooted, $count:ident) => {
        export!(
            @ $name, $call, Persistent, $count, (root: c_int,), (info: Passed<Info>,), [root], []
        );
    };
    (
        @ $name:ident, $call:ident, $form:ident, $count:ident,
        ($($root:ident: $root_type:ty,)?), ($($info:ident: $info_type:ty,)?), [$root_value:expr], $small:tt
    ) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the MPI standard requires.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(
            send: *const c_void,
            recv: *mut c_void,
            count: count_type!($count),
            datatype: Passed<Datatype>,
            op: Passed<Op>,
            $($root: $root_type,)?
            comm: Passed<Comm>,
            $($info: $info_type,)?
            request: *mut c_void,
        ) -> c_int {
            let next = || function!($name(count_type!($count), ($($root_type,)?), ($($info_type,)?)));
            let arguments = |mpi: &Mpi| {
                // Programs test whether the library has persistent reductions, and do without them if it has none.
                let is_there = Form::$form == Form::NonBlocking || next().is_ok();
                (is_there && !request.is_null()).then(|| Arguments {
                    call: Call::$call,
                    form: Form::$form,
                    send,
                    recv,
                    count: count!($count, count),
                    datatype: mpi.take(datatype),
                    op: mpi.take(op),
                    root: $root_value,
                    comm: mpi.take(comm),
                })
            };
            let library = || {
                let missing = match next() {
                    Ok(next) => {
                        // SAFETY: it is the call that the program makes.
                        return unsafe {
                            next(send, recv, count, datatype, op, $($root,)? comm, $($info,)? request)
                        };
                    }
                    Err(missing) => missing,
                };
                if let Some((small, count)) = small!($small, $count, count, comm, ($($root_type,)?), ($($info_type,)?)) {
                    // SAFETY: it is the call that the program makes, whose counts are these.
                    return unsafe {
                        small(send, recv, count, datatype, op, $($root,)? comm, $($info,)? request)
                    };
                }
                missing.code(&|mpi| Some(mpi.take(comm)))
            };
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { intercept(arguments, RequestPlace::C(request), library) }
        }
    };
}

macro_rules! function_type {
    ($count_type:ty, ($($root_type:ty,)?), ($($info_type:ty,)?)) => {
        unsafe extern "C-unwind" fn(
            *const c_void,
            *mut c_void,
            $count_type,
            Passed<Datatype>,
            Passed<Op>,
            $($root_type,)?
            Passed<Comm>,
            $($info_type,)?
            *mut c_void,
        ) -> c_int
    };
}

/// The next function with this name and counts of this type.
macro_rules! function {
    ($name:ident($count_type:ty, $root:tt, $info:tt)) => {
        next!(
            stringify!($name),
            concat!("P", stringify!($name));
            function_type!($count_type, $root, $info)
        )
    };
}

/// The next function with small counts, and the counts; `None` if there is no such function, or if the counts do not fit.
macro_rules! small {
    ([], $kind:ident, $count:ident, $comm:ident, $root:tt, $info:tt) => {
        None::<(function_type!(count_type!($kind), $root, $info), _)>
    };
    ([$name:ident], large, $count:ident, $comm:ident, $root:tt, $info:tt) => {
        function!($name(c_int, $root, $info))
            .ok()
            .zip(large::one($count))
    };
    ([$name:ident], each_large, $count:ident, $comm:ident, $root:tt, $info:tt) => {
        function!($name(*const c_int, $root, $info)).ok().zip(
            // SAFETY: the program promises a count for each rank.
            unsafe { large::each($count, $comm) },
        )
    };
}

/// The type of the count argument: one number, or the address of one for each rank. MPI_Count has 64 bits in every family.
macro_rules! count_type {
    (one) => { c_int };
    (each) => { *const c_int };
    (large) => { i64 };
    (each_large) => { *const i64 };
}

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

export!(MPI_Iallreduce, Allreduce, non_blocking, rootless, one);
export!(MPI_Ireduce, Reduce, non_blocking, rooted, one);
export!(
    MPI_Ireduce_scatter,
    ReduceScatter,
    non_blocking,
    rootless,
    each
);
export!(
    MPI_Ireduce_scatter_block,
    ReduceScatterBlock,
    non_blocking,
    rootless,
    one
);
export!(MPI_Iscan, Scan, non_blocking, rootless, one);
export!(MPI_Iexscan, Exscan, non_blocking, rootless, one);

// From MPI 4.0 on.
export!(MPI_Allreduce_init, Allreduce, persistent, rootless, one);
export!(MPI_Reduce_init, Reduce, persistent, rooted, one);
export!(
    MPI_Reduce_scatter_init,
    ReduceScatter,
    persistent,
    rootless,
    each
);
export!(
    MPI_Reduce_scatter_block_init,
    ReduceScatterBlock,
    persistent,
    rootless,
    one
);
export!(MPI_Scan_init, Scan, persistent, rootless, one);
export!(MPI_Exscan_init, Exscan, persistent, rootless, one);

// The same functions under their names in Open MPI 4.
export!(MPIX_Allreduce_init, Allreduce, persistent, rootless, one);
export!(MPIX_Reduce_init, Reduce, persistent, rooted, one);
export!(
    MPIX_Reduce_scatter_init,
    ReduceScatter,
    persistent,
    rootless,
    each
);
export!(
    MPIX_Reduce_scatter_block_init,
    ReduceScatterBlock,
    persistent,
    rootless,
    one
);
export!(MPIX_Scan_init, Scan, persistent, rootless, one);
export!(MPIX_Exscan_init, Exscan, persistent, rootless, one);

// With large counts, from MPI 4.0 on.
export!(
    MPI_Iallreduce_c,
    Allreduce,
    non_blocking,
    rootless,
    large,
    MPI_Iallreduce
);
export!(
    MPI_Ireduce_c,
    Reduce,
    non_blocking,
    rooted,
    large,
    MPI_Ireduce
);
export!(
    MPI_Ireduce_scatter_c,
    ReduceScatter,
    non_blocking,
    rootless,
    each_large,
    MPI_Ireduce_scatter
);
export!(
    MPI_Ireduce_scatter_block_c,
    ReduceScatterBlock,
    non_blocking,
    rootless,
    large,
    MPI_Ireduce_scatter_block
);
export!(MPI_Iscan_c, Scan, non_blocking, rootless, large, MPI_Iscan);
export!(
    MPI_Iexscan_c,
    Exscan,
    non_blocking,
    rootless,
    large,
    MPI_Iexscan
);
export!(MPI_Allreduce_init_c, Allreduce, persistent, rootless, large);
export!(MPI_Reduce_init_c, Reduce, persistent, rooted, large);
export!(
    MPI_Reduce_scatter_init_c,
    ReduceScatter,
    persistent,
    rootless,
    each_large
);
export!(
    MPI_Reduce_scatter_block_init_c,
    ReduceScatterBlock,
    persistent,
    rootless,
    large
);
export!(MPI_Scan_init_c, Scan, persistent, rootless, large);
export!(MPI_Exscan_init_c, Exscan, persistent, rootless, large);
