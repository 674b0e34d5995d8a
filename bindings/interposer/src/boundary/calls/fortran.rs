//! The blocking reductions in Fortran. Open MPI's Fortran functions call its PMPI_ functions, so this library's C functions do not see them. The
//! Fortran functions of other families call MPI_ functions; here they are passed on, and their calls arrive in C.
//!
//! Each function has five names: four spellings of compilers, for `mpif.h` and `use mpi`, and the name in `mpi_f08`. All parameters are
//! addresses. In `mpi_f08` the address of the error code is NULL if the program omits it.

#![allow(non_snake_case, reason = "Fortran compilers' names")]

use std::ffi::{c_int, c_void};

use crate::boundary::calls::arguments::{Arguments, Count};
use crate::boundary::calls::intercept::intercept;
use crate::boundary::library::fortran::{comm_of, datatype_of, integer, leave, op_of};
use crate::boundary::library::loaded::{Mpi, SUCCESS};
use crate::boundary::library::next::{Next, the_next, typed};
use crate::task::{Call, Form};

/// The count or counts at an address.
macro_rules! count {
    (each, $count:ident) => {
        Count::Each($count)
    };
    (one, $count:ident) => {{
        // SAFETY: the address points to an INTEGER.
        Count::Of(unsafe { integer($count) }.into())
    }};
}

/// The root, for reductions that have one.
macro_rules! root {
    () => {
        0
    };
    ($root:ident) => {{
        // SAFETY: the address points to an INTEGER.
        unsafe { integer($root) }
    }};
}

/// Defines a reduction from its call and form, whether there is one count or one for each rank, and its parameters before and after the
/// communicator and at the end. The expression for its error code gets two closures: one converts the arguments to C's terms, the other makes
/// the program's call of the library. `next` is the next function with the name that the program called.
macro_rules! reduction {
    (
        $body:ident, $call:ident, $form:ident, $count:ident,
        ($($root:ident)?), ($($info:ident)?), ($($request:ident)?),
        |$arguments:ident, $library:ident| $code:expr
    ) => {
        /// # Safety
        /// As the MPI standard requires.
        #[allow(clippy::too_many_arguments, reason = "MPI's")]
        unsafe fn $body(
            next: &'static Next,
            send: *mut c_void,
            recv: *mut c_void,
            count: *const c_int,
            datatype: *const c_int,
            op: *const c_int,
            $($root: *const c_int,)?
            comm: *const c_int,
            $($info: *const c_int,)?
            $($request: *mut c_int,)?
            ierr: *mut c_int,
        ) {
            let next = || {
                typed!(
                    next;
                    unsafe extern "C-unwind" fn(
                        *mut c_void,
                        *mut c_void,
                        *const c_int,
                        *const c_int,
                        *const c_int,
                        $(stand_in!($root *const c_int),)?
                        *const c_int,
                        $(stand_in!($info *const c_int),)?
                        $(stand_in!($request *mut c_int),)?
                        *mut c_int,
                    )
                )
            };
            let $arguments = move |mpi: &Mpi| {
                // Programs test whether the library has persistent reductions, and do without them if it has none.
                let is_there = Form::$form == Form::Blocking || next().is_ok();
                (mpi.hides_fortran() && is_there).then(|| Arguments {
                    call: Call::$call,
                    form: Form::$form,
                    send: mpi.buffer_of_fortran(send),
                    recv: mpi.buffer_of_fortran(recv),
                    count: count!($count, count),
                    // SAFETY: the address points to a handle, and MPI can be called.
                    datatype: unsafe { datatype_of(mpi, datatype) },
                    // SAFETY: as above.
                    op: unsafe { op_of(mpi, op) },
                    root: root!($($root)?),
                    // SAFETY: as above.
                    comm: unsafe { comm_of(mpi, comm) },
                })
            };
            let $library = move || match next() {
                Ok(next) => {
                    let mut code = SUCCESS;
                    // SAFETY: this is the program's own call, with the address of an error code.
                    unsafe {
                        next(
                            send, recv, count, datatype, op, $($root,)? comm, $($info,)?
                            $($request,)? &raw mut code,
                        );
                    }
                    code
                }
                // SAFETY: the address points to a handle, and MPI can be called.
                Err(missing) => missing.code(&|mpi| Some(unsafe { comm_of(mpi, comm) })),
            };
            let code = $code;
            // SAFETY: the address points to an INTEGER, or NULL.
            unsafe { leave(ierr, code) };
        }
    };
}

/// Defines a reduction under one of its names.
macro_rules! named {
    ($name:ident, $body:ident, ($($root:ident)?), ($($info:ident)?), ($($request:ident)?)) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As the MPI standard requires.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(clippy::too_many_arguments, reason = "MPI's")]
        pub unsafe extern "C-unwind" fn $name(
            send: *mut c_void,
            recv: *mut c_void,
            count: *const c_int,
            datatype: *const c_int,
            op: *const c_int,
            $($root: *const c_int,)?
            comm: *const c_int,
            $($info: *const c_int,)?
            $($request: *mut c_int,)?
            ierr: *mut c_int,
        ) {
            let next = the_next!(stringify!($name), concat!("p", stringify!($name)));
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe {
                $body(
                    next, send, recv, count, datatype, op, $($root,)? comm, $($info,)?
                    $($request,)? ierr,
                );
            }
        }
    };
}

/// The type, whatever the parameter: a macro can then repeat the type once for each parameter.
macro_rules! stand_in {
    ($parameter:ident $type:ty) => {
        $type
    };
}

pub(crate) use {count, named, reduction, root, stand_in};

/// Defines a blocking reduction under all of its names.
macro_rules! export {
    ($body:ident, $call:ident, $count:ident, $root:tt, [$($name:ident)+]) => {
        reduction!(
            $body, $call, Blocking, $count, $root, (), (),
            |arguments, library| {
                // SAFETY: the callee requires what MPI requires of the caller.
                unsafe { intercept(arguments, library) }
            }
        );
        $(named!($name, $body, $root, (), ());)+
    };
}

export!(
    allreduce, Allreduce, one, (),
    [mpi_allreduce_ mpi_allreduce__ mpi_allreduce MPI_ALLREDUCE mpi_allreduce_f08_]
);
export!(
    reduce, Reduce, one, (root),
    [mpi_reduce_ mpi_reduce__ mpi_reduce MPI_REDUCE mpi_reduce_f08_]
);
export!(
    reduce_scatter, ReduceScatter, each, (),
    [mpi_reduce_scatter_ mpi_reduce_scatter__ mpi_reduce_scatter MPI_REDUCE_SCATTER mpi_reduce_scatter_f08_]
);
export!(
    reduce_scatter_block, ReduceScatterBlock, one, (),
    [mpi_reduce_scatter_block_ mpi_reduce_scatter_block__ mpi_reduce_scatter_block MPI_REDUCE_SCATTER_BLOCK mpi_reduce_scatter_block_f08_]
);
export!(
    scan, Scan, one, (),
    [mpi_scan_ mpi_scan__ mpi_scan MPI_SCAN mpi_scan_f08_]
);
export!(
    exscan, Exscan, one, (),
    [mpi_exscan_ mpi_exscan__ mpi_exscan MPI_EXSCAN mpi_exscan_f08_]
);
