//! The blocking reductions that treefold replaces, as C calls them.

#![allow(non_snake_case, reason = "MPI's names")]

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Comm, Datatype, Op, Passed};

use crate::boundary::calls::arguments::{Arguments, Count};
use crate::boundary::calls::intercept::intercept;
use crate::boundary::library::large;
use crate::boundary::library::loaded::Mpi;
use crate::boundary::library::next::next;
use crate::task::{Call, Form};

/// Defines an exported function from its name, its call, its parameters, its counts, its root, and an expression that replaces
/// the call if the library lacks the function.
macro_rules! export {
    (
        $name:ident, $call:ident,
        ($send:ident, $recv:ident, $count:ident: $count_type:ty, $datatype:ident, $op:ident, $([$root:ident],)? $comm:ident),
        $counts:expr, $root_value:expr, $instead:expr
    ) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the MPI standard requires.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(
            $send: *const c_void,
            $recv: *mut c_void,
            $count: $count_type,
            $datatype: Passed<Datatype>,
            $op: Passed<Op>,
            $($root: c_int,)?
            $comm: Passed<Comm>,
        ) -> c_int {
            let arguments = move |mpi: &Mpi| {
                Some(Arguments {
                    call: Call::$call,
                    form: Form::Blocking,
                    send: $send,
                    recv: $recv,
                    count: $counts,
                    datatype: mpi.take($datatype),
                    op: mpi.take($op),
                    root: $root_value,
                    comm: mpi.take($comm),
                })
            };
            let library = move || {
                let next = function!($name($count_type $(, $root)?));
                match next {
                    // SAFETY: it is the call that the program makes.
                    Ok(next) => unsafe { next($send, $recv, $count, $datatype, $op, $($root,)? $comm) },
                    Err(missing) => {
                        let code: Option<c_int> = $instead;
                        code.unwrap_or_else(|| missing.code(&|mpi| Some(mpi.take($comm))))
                    }
                }
            };
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { intercept(arguments, library) }
        }
    };
}

/// The next function with this name and counts of this type.
macro_rules! function {
    ($name:ident($count_type:ty $(, $root:ident)?)) => {
        next!(
            stringify!($name),
            concat!("P", stringify!($name));
            unsafe extern "C-unwind" fn(
                *const c_void,
                *mut c_void,
                $count_type,
                Passed<Datatype>,
                Passed<Op>,
                $(stand_in!($root c_int),)?
                Passed<Comm>,
            ) -> c_int
        )
    };
}

/// Calls the function with small counts, if the counts fit. Returns its code, or `None`.
macro_rules! small {
    (
        $name:ident, $count_type:ty, $small:expr,
        ($send:ident, $recv:ident, $datatype:ident, $op:ident, $([$root:ident],)? $comm:ident)
    ) => {
        $small.and_then(|count| {
            let next = function!($name($count_type $(, $root)?)).ok()?;
            // SAFETY: it is the call that the program makes, whose counts are these.
            Some(unsafe { next($send, $recv, count, $datatype, $op, $($root,)? $comm) })
        })
    };
}

/// The type, whatever the parameter: a macro can then repeat the type once for each parameter.
macro_rules! stand_in {
    ($parameter:ident $type:ty) => {
        $type
    };
}

export!(
    MPI_Allreduce, Allreduce,
    (send, recv, count: c_int, datatype, op, comm),
    Count::Of(count.into()), 0, None
);
export!(
    MPI_Reduce, Reduce,
    (send, recv, count: c_int, datatype, op, [root], comm),
    Count::Of(count.into()), root, None
);
export!(
    MPI_Reduce_scatter, ReduceScatter,
    (send, recv, count: *const c_int, datatype, op, comm),
    Count::Each(count), 0, None
);
export!(
    MPI_Reduce_scatter_block, ReduceScatterBlock,
    (send, recv, count: c_int, datatype, op, comm),
    Count::Of(count.into()), 0, None
);
export!(
    MPI_Scan, Scan,
    (send, recv, count: c_int, datatype, op, comm),
    Count::Of(count.into()), 0, None
);
export!(
    MPI_Exscan, Exscan,
    (send, recv, count: c_int, datatype, op, comm),
    Count::Of(count.into()), 0, None
);

// With large counts (MPI 4.0): MPI_Count has 64 bits in every family.
export!(
    MPI_Allreduce_c, Allreduce,
    (send, recv, count: i64, datatype, op, comm),
    Count::Of(count), 0,
    small!(MPI_Allreduce, c_int, large::one(count), (send, recv, datatype, op, comm))
);
export!(
    MPI_Reduce_c, Reduce,
    (send, recv, count: i64, datatype, op, [root], comm),
    Count::Of(count), root,
    small!(MPI_Reduce, c_int, large::one(count), (send, recv, datatype, op, [root], comm))
);
export!(
    MPI_Reduce_scatter_c, ReduceScatter,
    (send, recv, count: *const i64, datatype, op, comm),
    Count::EachLarge(count), 0,
    {
        // SAFETY: the program promises a count for each rank.
        let small = unsafe { large::each(count, comm) };
        small!(MPI_Reduce_scatter, *const c_int, small, (send, recv, datatype, op, comm))
    }
);
export!(
    MPI_Reduce_scatter_block_c, ReduceScatterBlock,
    (send, recv, count: i64, datatype, op, comm),
    Count::Of(count), 0,
    small!(MPI_Reduce_scatter_block, c_int, large::one(count), (send, recv, datatype, op, comm))
);
export!(
    MPI_Scan_c, Scan,
    (send, recv, count: i64, datatype, op, comm),
    Count::Of(count), 0,
    small!(MPI_Scan, c_int, large::one(count), (send, recv, datatype, op, comm))
);
export!(
    MPI_Exscan_c, Exscan,
    (send, recv, count: i64, datatype, op, comm),
    Count::Of(count), 0,
    small!(MPI_Exscan, c_int, large::one(count), (send, recv, datatype, op, comm))
);
