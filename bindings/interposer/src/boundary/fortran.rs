//! The same for Fortran, where Open MPI's functions call its PMPI_ functions: nothing in C sees them. Those of other families call their
//! MPI_ functions, so they are passed on here, and taken over in C.
//!
//! Each function has five names: four by which compilers may ask for it, for `mpif.h` and `use mpi`, and that of `mpi_f08`. All parameters
//! are addresses. In `mpi_f08` that of the error code is NULL where a program leaves it out.

#![allow(non_snake_case, reason = "Fortran compilers' names")]

use std::ffi::{c_int, c_void};
use std::time::Instant;

use treefold::mpi::mpi_library::{Comm, Datatype, Op};

use super::arguments::{Arguments, Count};
use super::count::count_passed;
use super::intercept::{intercept, is_callable};
use super::library::{Mpi, SUCCESS};
use super::next::next;
use crate::settings::Settings;
use crate::task::Call;

/// # Safety
/// The address is that of an INTEGER.
unsafe fn integer(address: *const c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *address }
}

/// # Safety
/// The address is that of a handle of Fortran's, and MPI is initialised.
unsafe fn datatype_of(mpi: &Mpi, address: *const c_int) -> Datatype {
    // SAFETY: the caller's promise.
    let number = unsafe { *address };
    // SAFETY: the caller's promise, and the program's: it is a datatype's.
    let datatype = unsafe { mpi.library.type_from_fortran(number) };
    // A library that converts nothing has no Fortran.
    datatype.unwrap_or(mpi.library.handles.MPI_DATATYPE_NULL)
}

/// # Safety
/// As [`datatype_of`].
unsafe fn op_of(mpi: &Mpi, address: *const c_int) -> Op {
    // SAFETY: the caller's promise.
    let number = unsafe { *address };
    // SAFETY: the caller's promise, and the program's: it is an operator's.
    let op = unsafe { mpi.library.op_from_fortran(number) };
    op.unwrap_or(mpi.library.handles.MPI_OP_NULL)
}

/// # Safety
/// As [`datatype_of`].
unsafe fn comm_of(mpi: &Mpi, address: *const c_int) -> Comm {
    // SAFETY: the caller's promise.
    let number = unsafe { *address };
    // SAFETY: the caller's promise, and the program's: it is a communicator's.
    let comm = unsafe { mpi.library.comm_from_fortran(number) };
    comm.unwrap_or(mpi.library.handles.MPI_COMM_NULL)
}

/// # Safety
/// The address is that of an INTEGER, or NULL.
pub(super) unsafe fn leave(ierr: *mut c_int, code: c_int) {
    if !ierr.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *ierr = code };
    }
}

/// The names of a reduction that is taken over. The count is one, or one for each rank.
macro_rules! export {
    ($call:ident, $count:ident, $has_root:ident, [$($name:ident)+]) => {
        $(one!($call, $count, $has_root, $name);)+
    };
}

/// What the count's address means.
macro_rules! count {
    (each, $count:ident) => {
        Count::Each($count)
    };
    (one, $count:ident) => {{
        // SAFETY: the address is that of an INTEGER.
        Count::Of(unsafe { integer($count) }.into())
    }};
}

/// One name.
macro_rules! one {
    ($call:ident, $count:ident, rooted, $name:ident) => {
        one!(@ $call, $count, $name, (root), {
            // SAFETY: the address is that of an INTEGER.
            unsafe { integer(root) }
        });
    };
    ($call:ident, $count:ident, rootless, $name:ident) => {
        one!(@ $call, $count, $name, (), { 0 });
    };
    (@ $call:ident, $count:ident, $name:ident, ($($root:ident)?), $root_value:block) => {
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
            ierr: *mut c_int,
        ) {
            let arguments = |mpi: &Mpi| {
                mpi.hides_fortran().then(|| Arguments {
                    call: Call::$call,
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
                let next = next!(
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
                        *mut c_int,
                    )
                );
                match next {
                    Ok(next) => {
                        let mut code = SUCCESS;
                        // SAFETY: it is the call that the program makes, with an error code.
                        unsafe { next(send, recv, count, datatype, op, $($root,)? comm, &raw mut code) };
                        code
                    }
                    // SAFETY: the address is that of a handle, and MPI can be called.
                    Err(missing) => missing.code(|mpi| Some(unsafe { comm_of(mpi, comm) })),
                }
            };
            // SAFETY: the caller's promise is MPI's.
            let code = unsafe { intercept(arguments, library) };
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

/// The names of a reduction that is passed on, and its parameters between the operator and the error code: before the communicator, that, and
/// after it.
macro_rules! pass {
    ($shown:literal, $reason:literal, $count:ident, $rest:tt, [$($name:ident)+]) => {
        $(pass!(@ $shown, $reason, $count, $rest, $name);)+
    };
    (
        @ $shown:literal, $reason:literal, $count:ident,
        ($($root:ident)?; $($comm:ident)?; $($after:ident)*), $name:ident
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
            $($root: *mut c_int,)?
            $($comm: *mut c_int,)?
            $($after: *mut c_int,)*
            ierr: *mut c_int,
        ) {
            let next = next!(
                stringify!($name),
                concat!("p", stringify!($name));
                unsafe extern "C-unwind" fn(
                    *mut c_void,
                    *mut c_void,
                    *const c_int,
                    *const c_int,
                    *const c_int,
                    $(stand_in_mut!($root),)?
                    $(stand_in_mut!($comm),)?
                    $(stand_in_mut!($after),)*
                    *mut c_int,
                )
            );
            let next = match next {
                Ok(next) => next,
                Err(missing) => {
                    let comm = |_mpi: &Mpi| {
                        // SAFETY: the address is that of a handle, and MPI can be called.
                        None$(.or(Some(unsafe { comm_of(_mpi, $comm) })))?
                    };
                    let code = missing.code(comm);
                    // SAFETY: the address is that of an INTEGER, or NULL.
                    return unsafe { leave(ierr, code) };
                }
            };
            if Settings::get().stats.is_some() && is_callable() && Mpi::get().hides_fortran() {
                let mpi = Mpi::get();
                // SAFETY: the address is that of a handle, and MPI can be called.
                let datatype = unsafe { datatype_of(mpi, datatype) };
                // SAFETY: as above.
                let op = unsafe { op_of(mpi, op) };
                count_passed($shown, $reason, count!($count, count), datatype, op, Instant::now());
            }
            // SAFETY: it is the call that the program makes.
            unsafe { next(send, recv, count, datatype, op, $($root,)? $($comm,)? $($after,)* ierr) };
        }
    };
}

/// A type for each parameter of a list.
macro_rules! stand_in_mut {
    ($parameter:ident) => {
        *mut c_int
    };
}

export!(
    Allreduce, one, rootless,
    [mpi_allreduce_ mpi_allreduce__ mpi_allreduce MPI_ALLREDUCE mpi_allreduce_f08_]
);
export!(
    Reduce, one, rooted,
    [mpi_reduce_ mpi_reduce__ mpi_reduce MPI_REDUCE mpi_reduce_f08_]
);
export!(
    ReduceScatter, each, rootless,
    [mpi_reduce_scatter_ mpi_reduce_scatter__ mpi_reduce_scatter MPI_REDUCE_SCATTER mpi_reduce_scatter_f08_]
);
export!(
    ReduceScatterBlock, one, rootless,
    [mpi_reduce_scatter_block_ mpi_reduce_scatter_block__ mpi_reduce_scatter_block MPI_REDUCE_SCATTER_BLOCK mpi_reduce_scatter_block_f08_]
);
export!(
    Scan, one, rootless,
    [mpi_scan_ mpi_scan__ mpi_scan MPI_SCAN mpi_scan_f08_]
);
export!(
    Exscan, one, rootless,
    [mpi_exscan_ mpi_exscan__ mpi_exscan MPI_EXSCAN mpi_exscan_f08_]
);

pass!(
    "Iallreduce", "non-blocking", one, (; comm; request),
    [mpi_iallreduce_ mpi_iallreduce__ mpi_iallreduce MPI_IALLREDUCE mpi_iallreduce_f08_]
);
pass!(
    "Allreduce_init", "persistent", one, (; comm; info request),
    [
        mpi_allreduce_init_ mpi_allreduce_init__ mpi_allreduce_init MPI_ALLREDUCE_INIT mpi_allreduce_init_f08_
        mpix_allreduce_init_ mpix_allreduce_init__ mpix_allreduce_init MPIX_ALLREDUCE_INIT mpix_allreduce_init_f08_
    ]
);
pass!(
    "Ireduce", "non-blocking", one, (root; comm; request),
    [mpi_ireduce_ mpi_ireduce__ mpi_ireduce MPI_IREDUCE mpi_ireduce_f08_]
);
pass!(
    "Reduce_init", "persistent", one, (root; comm; info request),
    [
        mpi_reduce_init_ mpi_reduce_init__ mpi_reduce_init MPI_REDUCE_INIT mpi_reduce_init_f08_
        mpix_reduce_init_ mpix_reduce_init__ mpix_reduce_init MPIX_REDUCE_INIT mpix_reduce_init_f08_
    ]
);
pass!(
    "Ireduce_scatter", "non-blocking", each, (; comm; request),
    [mpi_ireduce_scatter_ mpi_ireduce_scatter__ mpi_ireduce_scatter MPI_IREDUCE_SCATTER mpi_ireduce_scatter_f08_]
);
pass!(
    "Reduce_scatter_init", "persistent", each, (; comm; info request),
    [
        mpi_reduce_scatter_init_ mpi_reduce_scatter_init__ mpi_reduce_scatter_init MPI_REDUCE_SCATTER_INIT mpi_reduce_scatter_init_f08_
        mpix_reduce_scatter_init_ mpix_reduce_scatter_init__ mpix_reduce_scatter_init MPIX_REDUCE_SCATTER_INIT mpix_reduce_scatter_init_f08_
    ]
);
pass!(
    "Ireduce_scatter_block", "non-blocking", one, (; comm; request),
    [mpi_ireduce_scatter_block_ mpi_ireduce_scatter_block__ mpi_ireduce_scatter_block MPI_IREDUCE_SCATTER_BLOCK mpi_ireduce_scatter_block_f08_]
);
pass!(
    "Reduce_scatter_block_init", "persistent", one, (; comm; info request),
    [
        mpi_reduce_scatter_block_init_ mpi_reduce_scatter_block_init__ mpi_reduce_scatter_block_init MPI_REDUCE_SCATTER_BLOCK_INIT mpi_reduce_scatter_block_init_f08_
        mpix_reduce_scatter_block_init_ mpix_reduce_scatter_block_init__ mpix_reduce_scatter_block_init MPIX_REDUCE_SCATTER_BLOCK_INIT mpix_reduce_scatter_block_init_f08_
    ]
);
pass!(
    "Iscan", "non-blocking", one, (; comm; request),
    [mpi_iscan_ mpi_iscan__ mpi_iscan MPI_ISCAN mpi_iscan_f08_]
);
pass!(
    "Scan_init", "persistent", one, (; comm; info request),
    [
        mpi_scan_init_ mpi_scan_init__ mpi_scan_init MPI_SCAN_INIT mpi_scan_init_f08_
        mpix_scan_init_ mpix_scan_init__ mpix_scan_init MPIX_SCAN_INIT mpix_scan_init_f08_
    ]
);
pass!(
    "Iexscan", "non-blocking", one, (; comm; request),
    [mpi_iexscan_ mpi_iexscan__ mpi_iexscan MPI_IEXSCAN mpi_iexscan_f08_]
);
pass!(
    "Exscan_init", "persistent", one, (; comm; info request),
    [
        mpi_exscan_init_ mpi_exscan_init__ mpi_exscan_init MPI_EXSCAN_INIT mpi_exscan_init_f08_
        mpix_exscan_init_ mpix_exscan_init__ mpix_exscan_init MPIX_EXSCAN_INIT mpix_exscan_init_f08_
    ]
);
pass!(
    "Reduce_local", "local", one, (; ;),
    [mpi_reduce_local_ mpi_reduce_local__ mpi_reduce_local MPI_REDUCE_LOCAL mpi_reduce_local_f08_]
);
