//! Exports the reductions that treefold replaces, in all forms, for C and Fortran.
//!
//! Open MPI's Fortran functions call PMPI_ functions, so this library's C functions do not see calls from Fortran. Other families' Fortran
//! functions call MPI_ functions, so for these families the Fortran functions below only pass calls on.

use std::ffi::{c_int, c_void};

use treefold::mpi::mpi_library::{Comm, Datatype, Info, Op, Passed};

use crate::boundary::calls::arguments::Arguments;
use crate::boundary::calls::intercept::intercept;
use crate::boundary::library::counts::{CountArgument, FortranCount};
use crate::boundary::library::fortran::{comm_of, datatype_of, integer, op_of};
use crate::boundary::library::loaded::Mpi;
use crate::boundary::library::next::{export_c, export_fortran, next, the_next};
use crate::boundary::requests::start::{self, RequestPlace};
use crate::task::{Call, Form};

/// Defines a function in C. Arguments: its name; the function with small counts, to be called if the MPI library lacks this function; its
/// `Call`; its `Form`; the type of its counts; and its parameters before the communicator, after the communicator, and at the end.
macro_rules! reduction_in_c {
    (
        $name:expr, $small:expr, $call:ident, $form:ident, $count:ty,
        ($($root:ident: $root_type:ty)?), ($($info:ident: $info_type:ty)?), ($($request:ident: $request_type:ty)?)
    ) => {
        export_c!(
            $name,
            (
                send: *const c_void,
                recv: *mut c_void,
                count: $count,
                datatype: Passed<Datatype>,
                op: Passed<Op>,
                $($root: $root_type,)?
                comm: Passed<Comm>,
                $($info: $info_type,)?
                $($request: $request_type,)?
            ),
            |next, library| {
                let arguments = move |mpi: &Mpi| {
                    // Programs may test whether persistent reductions exist, so they exist only if the library has them.
                    let is_there = Form::$form != Form::Persistent
                        || next().is_ok()
                        || !the_next!($small, concat!("P", $small)).address().is_null();
                    (is_there $(&& !$request.is_null())?).then(|| Arguments {
                        call: Call::$call,
                        form: Form::$form,
                        send,
                        recv,
                        count: count.into(),
                        datatype: mpi.take(datatype),
                        op: mpi.take(op),
                        root: [$($root,)? 0][0],
                        comm: mpi.take(comm),
                    })
                };
                intercept!(arguments, library $(, RequestPlace::C($request))?)
            },
            |missing| {
                let small = next!(
                    $small;
                    unsafe extern "C-unwind" fn(
                        *const c_void,
                        *mut c_void,
                        <$count as CountArgument>::Small,
                        Passed<Datatype>,
                        Passed<Op>,
                        $($root_type,)?
                        Passed<Comm>,
                        $($info_type,)?
                        $($request_type,)?
                    ) -> c_int
                );
                // SAFETY: the program promises a count for each rank.
                let count = unsafe { count.small(comm) };
                if let (Ok(small), Some(count)) = (small, count) {
                    // SAFETY: the program makes this call, with these counts.
                    return unsafe {
                        small(send, recv, count, datatype, op, $($root,)? comm, $($info,)? $($request,)?)
                    };
                }
                missing.code(&|mpi| Some(mpi.take(comm)))
            }
        );
    };
}

/// Defines a function in Fortran. Arguments: its names in small letters and in capitals; the others are as in `reduction_in_c`.
macro_rules! reduction_in_fortran {
    (
        $small:expr, $capitals:expr, $call:ident, $form:ident, $count:ty,
        ($($root:ident: $root_type:ty)?), ($($info:ident)?), ($($request:ident)?)
    ) => {
        export_fortran!(
            $small,
            $capitals,
            (
                send, recv, count, datatype, op, $($root,)? comm, $($info,)? $($request,)?
            ),
            |next, library| {
                let arguments = move |mpi: &Mpi| {
                    let is_there = Form::$form != Form::Persistent || next().is_ok();
                    (mpi.hides_fortran() && is_there).then(|| Arguments {
                        call: Call::$call,
                        form: Form::$form,
                        send: mpi.buffer_of_fortran(send.cast()),
                        recv: mpi.buffer_of_fortran(recv.cast()),
                        // SAFETY: the address points to an INTEGER, or to one for each rank.
                        count: unsafe { <$count>::at(count) }.into(),
                        // SAFETY: the address points to a handle, and MPI can be called.
                        datatype: unsafe { datatype_of(mpi, datatype) },
                        // SAFETY: as above.
                        op: unsafe { op_of(mpi, op) },
                        // SAFETY: the address points to an INTEGER.
                        root: [$(unsafe { integer($root) },)? 0][0],
                        // SAFETY: as for the datatype.
                        comm: unsafe { comm_of(mpi, comm) },
                    })
                };
                intercept!(arguments, library $(, RequestPlace::Fortran($request))?)
            },
            // SAFETY: the address points to a handle, and MPI can be called.
            |mpi| Some(unsafe { comm_of(mpi, comm) })
        );
    };
}

/// Runs a reduction with treefold, or passes the call on. A reduction that is completed later needs a place for its request.
macro_rules! intercept {
    ($arguments:ident, $library:ident) => {
        // SAFETY: the callee requires what MPI requires of the caller.
        unsafe { intercept($arguments, $library) }
    };
    ($arguments:ident, $library:ident, $place:expr) => {
        // SAFETY: the callee requires what MPI requires of the caller.
        unsafe { start::intercept($arguments, $place, $library) }
    };
}

/// Defines all functions of a reduction. Arguments: its `Call`; its name without `MPI_`, first as in C, then in small letters, then in
/// capitals; the types of its small and large counts; and its parameter for the root, if any. For MPI_Scan, the functions are MPI_Scan,
/// MPI_Iscan and MPI_Scan_init, each also with large counts (`_c`), and MPIX_Scan_init, which is Open MPI 4's name for MPI_Scan_init.
macro_rules! reduction {
    ($call:ident, $name:literal, $small:literal, $capitals:literal, $count:ty, $large:ty, $root:tt) => {
        reduction!(@c concat!("MPI_", $name), $call, Blocking, $count, $large, $root, (), ());
        reduction!(
            @c concat!("MPI_I", $small), $call, NonBlocking, $count, $large, $root, (), (request: *mut c_void)
        );
        reduction!(
            @c concat!("MPI_", $name, "_init"), $call, Persistent, $count, $large, $root,
            (info: Passed<Info>), (request: *mut c_void)
        );
        reduction_in_c!(
            concat!("MPIX_", $name, "_init"), concat!("MPIX_", $name, "_init"), $call, Persistent, $count, $root,
            (info: Passed<Info>), (request: *mut c_void)
        );
        reduction_in_fortran!(
            concat!("mpi_", $small), concat!("MPI_", $capitals), $call, Blocking, $count, $root, (), ()
        );
        reduction_in_fortran!(
            concat!("mpi_i", $small), concat!("MPI_I", $capitals), $call, NonBlocking, $count, $root, (), (request)
        );
        reduction_in_fortran!(
            concat!("mpi_", $small, "_init"), concat!("MPI_", $capitals, "_INIT"),
            $call, Persistent, $count, $root, (info), (request)
        );
        reduction_in_fortran!(
            concat!("mpix_", $small, "_init"), concat!("MPIX_", $capitals, "_INIT"),
            $call, Persistent, $count, $root, (info), (request)
        );
    };
    (@c $name:expr, $call:ident, $form:ident, $count:ty, $large:ty, $root:tt, $info:tt, $request:tt) => {
        reduction_in_c!($name, $name, $call, $form, $count, $root, $info, $request);
        reduction_in_c!(concat!($name, "_c"), $name, $call, $form, $large, $root, $info, $request);
    };
}

reduction!(
    Allreduce,
    "Allreduce",
    "allreduce",
    "ALLREDUCE",
    c_int,
    i64,
    ()
);
reduction!(Reduce, "Reduce", "reduce", "REDUCE", c_int, i64, (root: c_int));
reduction!(
    ReduceScatter,
    "Reduce_scatter",
    "reduce_scatter",
    "REDUCE_SCATTER",
    *const c_int,
    *const i64,
    ()
);
reduction!(
    ReduceScatterBlock,
    "Reduce_scatter_block",
    "reduce_scatter_block",
    "REDUCE_SCATTER_BLOCK",
    c_int,
    i64,
    ()
);
reduction!(Scan, "Scan", "scan", "SCAN", c_int, i64, ());
reduction!(Exscan, "Exscan", "exscan", "EXSCAN", c_int, i64, ());
