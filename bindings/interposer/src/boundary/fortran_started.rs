//! Non-blocking and persistent reductions in Fortran, where Open MPI's functions call its PMPI_ functions.

#![allow(non_snake_case, reason = "Fortran compilers' names")]

use std::ffi::{c_int, c_void};

use super::arguments::{Arguments, Count};
use super::fortran::{comm_of, count, datatype_of, integer, leave, op_of};
use super::library::{Mpi, SUCCESS};
use super::next::next;
use super::start::{Place, intercept};
use crate::task::{Call, Form};

/// The names of a reduction, its form, whether there is one count or one for each rank, and its parameters before the communicator and after it.
macro_rules! export {
    ($call:ident, $form:ident, $count:ident, $root:tt, $info:tt, [$($name:ident)+]) => {
        $(export!(@ $call, $form, $count, $root, $info, $name);)+
    };
    (@ $call:ident, $form:ident, $count:ident, (), $info:tt, $name:ident) => {
        export!(@@ $call, $form, $count, (), $info, $name, { 0 });
    };
    (@ $call:ident, $form:ident, $count:ident, (root), $info:tt, $name:ident) => {
        export!(@@ $call, $form, $count, (root), $info, $name, {
            // SAFETY: the address is that of an INTEGER.
            unsafe { integer(root) }
        });
    };
    (
        @@ $call:ident, $form:ident, $count:ident,
        ($($root:ident)?), ($($info:ident)?), $name:ident, $root_value:block
    ) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(
            send: *mut c_void,
            recv: *mut c_void,
            count: *const c_int,
            datatype: *const c_int,
            op: *const c_int,
            $($root: *const c_int,)?
            comm: *const c_int,
            $($info: *const c_int,)?
            request: *mut c_int,
            ierr: *mut c_int,
        ) {
            let next = || {
                next!(
                    stringify!($name),
                    concat!("p", stringify!($name));
                    unsafe extern "C-unwind" fn(
                        *mut c_void,
                        *mut c_void,
                        *const c_int,
                        *const c_int,
                        *const c_int,
                        $(stand_in!($root),)?
                        *const c_int,
                        $(stand_in!($info),)?
                        *mut c_int,
                        *mut c_int,
                    )
                )
            };
            let arguments = |mpi: &Mpi| {
                (mpi.hides_fortran() && next().is_ok()).then(|| Arguments {
                    call: Call::$call,
                    form: Form::$form,
                    send: mpi.buffer_of_fortran(send),
                    recv: mpi.buffer_of_fortran(recv),
                    count: count!($count, count),
                    // SAFETY: the address is that of a handle, and MPI can be called.
                    datatype: unsafe { datatype_of(mpi, datatype) },
                    // SAFETY: as above.
                    op: unsafe { op_of(mpi, op) },
                    root: $root_value,
                    // SAFETY: as above.
                    comm: unsafe { comm_of(mpi, comm) },
                })
            };
            let library = || {
                match next() {
                    Ok(next) => {
                        let mut code = SUCCESS;
                        // SAFETY: it is the call that the program makes, with an error code.
                        unsafe {
                            next(
                                send, recv, count, datatype, op, $($root,)? comm, $($info,)? request, &raw mut code,
                            );
                        }
                        code
                    }
                    // SAFETY: the address is that of a handle, and MPI can be called.
                    Err(missing) => missing.code(|mpi| Some(unsafe { comm_of(mpi, comm) })),
                }
            };
            // SAFETY: the caller's promise is MPI's.
            let code = unsafe { intercept(arguments, Place::Fortran(request), library) };
            // SAFETY: the address is that of an INTEGER, or NULL.
            unsafe { leave(ierr, code) };
        }
    };
}

/// A type for each parameter of a list.
macro_rules! stand_in {
    ($parameter:ident) => {
        *const c_int
    };
}

export!(
    Allreduce, NonBlocking, one, (), (),
    [mpi_iallreduce_ mpi_iallreduce__ mpi_iallreduce MPI_IALLREDUCE mpi_iallreduce_f08_]
);
export!(
    Allreduce, Persistent, one, (), (info),
    [
        mpi_allreduce_init_ mpi_allreduce_init__ mpi_allreduce_init MPI_ALLREDUCE_INIT mpi_allreduce_init_f08_
        mpix_allreduce_init_ mpix_allreduce_init__ mpix_allreduce_init MPIX_ALLREDUCE_INIT mpix_allreduce_init_f08_
    ]
);
export!(
    Reduce, NonBlocking, one, (root), (),
    [mpi_ireduce_ mpi_ireduce__ mpi_ireduce MPI_IREDUCE mpi_ireduce_f08_]
);
export!(
    Reduce, Persistent, one, (root), (info),
    [
        mpi_reduce_init_ mpi_reduce_init__ mpi_reduce_init MPI_REDUCE_INIT mpi_reduce_init_f08_
        mpix_reduce_init_ mpix_reduce_init__ mpix_reduce_init MPIX_REDUCE_INIT mpix_reduce_init_f08_
    ]
);
export!(
    ReduceScatter, NonBlocking, each, (), (),
    [mpi_ireduce_scatter_ mpi_ireduce_scatter__ mpi_ireduce_scatter MPI_IREDUCE_SCATTER mpi_ireduce_scatter_f08_]
);
export!(
    ReduceScatter, Persistent, each, (), (info),
    [
        mpi_reduce_scatter_init_ mpi_reduce_scatter_init__ mpi_reduce_scatter_init MPI_REDUCE_SCATTER_INIT mpi_reduce_scatter_init_f08_
        mpix_reduce_scatter_init_ mpix_reduce_scatter_init__ mpix_reduce_scatter_init MPIX_REDUCE_SCATTER_INIT mpix_reduce_scatter_init_f08_
    ]
);
export!(
    ReduceScatterBlock, NonBlocking, one, (), (),
    [mpi_ireduce_scatter_block_ mpi_ireduce_scatter_block__ mpi_ireduce_scatter_block MPI_IREDUCE_SCATTER_BLOCK mpi_ireduce_scatter_block_f08_]
);
export!(
    ReduceScatterBlock, Persistent, one, (), (info),
    [
        mpi_reduce_scatter_block_init_ mpi_reduce_scatter_block_init__ mpi_reduce_scatter_block_init MPI_REDUCE_SCATTER_BLOCK_INIT mpi_reduce_scatter_block_init_f08_
        mpix_reduce_scatter_block_init_ mpix_reduce_scatter_block_init__ mpix_reduce_scatter_block_init MPIX_REDUCE_SCATTER_BLOCK_INIT mpix_reduce_scatter_block_init_f08_
    ]
);
export!(
    Scan, NonBlocking, one, (), (),
    [mpi_iscan_ mpi_iscan__ mpi_iscan MPI_ISCAN mpi_iscan_f08_]
);
export!(
    Scan, Persistent, one, (), (info),
    [
        mpi_scan_init_ mpi_scan_init__ mpi_scan_init MPI_SCAN_INIT mpi_scan_init_f08_
        mpix_scan_init_ mpix_scan_init__ mpix_scan_init MPIX_SCAN_INIT mpix_scan_init_f08_
    ]
);
export!(
    Exscan, NonBlocking, one, (), (),
    [mpi_iexscan_ mpi_iexscan__ mpi_iexscan MPI_IEXSCAN mpi_iexscan_f08_]
);
export!(
    Exscan, Persistent, one, (), (info),
    [
        mpi_exscan_init_ mpi_exscan_init__ mpi_exscan_init MPI_EXSCAN_INIT mpi_exscan_init_f08_
        mpix_exscan_init_ mpix_exscan_init__ mpix_exscan_init MPIX_EXSCAN_INIT mpix_exscan_init_f08_
    ]
);
