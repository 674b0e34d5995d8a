//! The reductions that are taken over, as C calls them.

#![allow(non_snake_case, reason = "MPI's names")]

use std::ffi::{c_int, c_void};

#[cfg(large_counts)]
use mpi::ffi::MPI_Count;
use mpi::ffi::{MPI_Comm, MPI_Datatype, MPI_Op};

use super::intercept::{Arguments, Count, intercept};
use super::next::next;
use crate::task::Call;

/// An exported function: its name, what is special about it, and its other parameters.
macro_rules! export {
    (
        $name:ident, $call:ident,
        ($send:ident, $recv:ident, $count:ident: $count_type:ty, $datatype:ident, $op:ident, $([$root:ident],)? $comm:ident),
        $counts:expr, $root_value:expr
    ) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(
            $send: *const c_void,
            $recv: *mut c_void,
            $count: $count_type,
            $datatype: MPI_Datatype,
            $op: MPI_Op,
            $($root: c_int,)?
            $comm: MPI_Comm,
        ) -> c_int {
            let arguments = || Arguments {
                call: Call::$call,
                send: $send,
                recv: $recv,
                count: $counts,
                datatype: $datatype,
                op: $op,
                root: $root_value,
                comm: $comm,
            };
            let library = || {
                let next = next!(
                    stringify!($name),
                    concat!("P", stringify!($name));
                    unsafe extern "C-unwind" fn(
                        *const c_void,
                        *mut c_void,
                        $count_type,
                        MPI_Datatype,
                        MPI_Op,
                        $(stand_in!($root c_int),)?
                        MPI_Comm,
                    ) -> c_int
                );
                // SAFETY: it is the call that the program makes.
                unsafe { next($send, $recv, $count, $datatype, $op, $($root,)? $comm) }
            };
            // SAFETY: the caller's promise is MPI's.
            unsafe { intercept(arguments, library) }
        }
    };
}

/// A type for each parameter of a list.
macro_rules! stand_in {
    ($parameter:ident $type:ty) => {
        $type
    };
}

export!(
    MPI_Allreduce, Allreduce,
    (send, recv, count: c_int, datatype, op, comm),
    Count::Of(count.into()), 0
);
export!(
    MPI_Reduce, Reduce,
    (send, recv, count: c_int, datatype, op, [root], comm),
    Count::Of(count.into()), root
);
export!(
    MPI_Reduce_scatter, ReduceScatter,
    (send, recv, count: *const c_int, datatype, op, comm),
    Count::Each(count), 0
);
export!(
    MPI_Reduce_scatter_block, ReduceScatterBlock,
    (send, recv, count: c_int, datatype, op, comm),
    Count::Of(count.into()), 0
);
export!(
    MPI_Scan, Scan,
    (send, recv, count: c_int, datatype, op, comm),
    Count::Of(count.into()), 0
);
export!(
    MPI_Exscan, Exscan,
    (send, recv, count: c_int, datatype, op, comm),
    Count::Of(count.into()), 0
);

// With large counts.
#[cfg(large_counts)]
export!(
    MPI_Allreduce_c, Allreduce,
    (send, recv, count: MPI_Count, datatype, op, comm),
    Count::Of(count), 0
);
#[cfg(large_counts)]
export!(
    MPI_Reduce_c, Reduce,
    (send, recv, count: MPI_Count, datatype, op, [root], comm),
    Count::Of(count), root
);
#[cfg(large_counts)]
export!(
    MPI_Reduce_scatter_c, ReduceScatter,
    (send, recv, count: *const MPI_Count, datatype, op, comm),
    Count::EachLarge(count), 0
);
#[cfg(large_counts)]
export!(
    MPI_Reduce_scatter_block_c, ReduceScatterBlock,
    (send, recv, count: MPI_Count, datatype, op, comm),
    Count::Of(count), 0
);
#[cfg(large_counts)]
export!(
    MPI_Scan_c, Scan,
    (send, recv, count: MPI_Count, datatype, op, comm),
    Count::Of(count), 0
);
#[cfg(large_counts)]
export!(
    MPI_Exscan_c, Exscan,
    (send, recv, count: MPI_Count, datatype, op, comm),
    Count::Of(count), 0
);
