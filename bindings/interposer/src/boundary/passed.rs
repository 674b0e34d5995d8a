//! Reductions that are always passed on, and counted if there is a report: those that combine what one rank has.

#![allow(non_snake_case, reason = "MPI's names, and Fortran compilers'")]

use std::ffi::{c_int, c_void};
use std::time::Instant;

use treefold::mpi::mpi_library::{Datatype, Op, Passed};

use super::arguments::{Count, LOCAL};
use super::count::count_passed;
use super::fortran::{datatype_of, integer, leave, op_of};
use super::intercept::is_callable;
use super::large;
use super::library::Mpi;
use super::next::next;
use crate::settings::Settings;

/// Counts a call of `MPI_Reduce_local`.
fn count_it(count: i64, datatype: Datatype, op: Op) {
    count_passed(
        "Reduce_local",
        LOCAL,
        Count::Of(count),
        datatype,
        op,
        Instant::now(),
    );
}

/// Counts one, if there is a report.
fn count(count: i64, datatype: Passed<Datatype>, op: Passed<Op>) {
    if Settings::get().stats.is_some() && is_callable() {
        let mpi = Mpi::get();
        count_it(count, mpi.take(datatype), mpi.take(op));
    }
}

/// The next function of a name, with a count of this type.
macro_rules! function {
    ($name:literal, $count_type:ty) => {
        next!(
            $name,
            concat!("P", $name);
            unsafe extern "C-unwind" fn(
                *const c_void,
                *mut c_void,
                $count_type,
                Passed<Datatype>,
                Passed<Op>,
            ) -> c_int
        )
    };
}

/// `MPI_Reduce_local`.
///
/// # Safety
/// As MPI's standard says.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn MPI_Reduce_local(
    send: *const c_void,
    recv: *mut c_void,
    elements: c_int,
    datatype: Passed<Datatype>,
    op: Passed<Op>,
) -> c_int {
    match function!("MPI_Reduce_local", c_int) {
        Ok(next) => {
            count(elements.into(), datatype, op);
            // SAFETY: it is the call that the program makes.
            unsafe { next(send, recv, elements, datatype, op) }
        }
        Err(missing) => missing.code(|_| None),
    }
}

/// `MPI_Reduce_local_c`.
///
/// # Safety
/// As MPI's standard says.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn MPI_Reduce_local_c(
    send: *const c_void,
    recv: *mut c_void,
    elements: i64,
    datatype: Passed<Datatype>,
    op: Passed<Op>,
) -> c_int {
    let missing = match function!("MPI_Reduce_local_c", i64) {
        Ok(next) => {
            count(elements, datatype, op);
            // SAFETY: it is the call that the program makes.
            return unsafe { next(send, recv, elements, datatype, op) };
        }
        Err(missing) => missing,
    };
    let small = function!("MPI_Reduce_local", c_int).ok();
    match small.zip(large::one(elements)) {
        Some((small, one)) => {
            count(elements, datatype, op);
            // SAFETY: it is the call that the program makes, whose count is this.
            unsafe { small(send, recv, one, datatype, op) }
        }
        None => missing.code(|_| None),
    }
}

/// The names in Fortran. Those of Open MPI call PMPI_Reduce_local.
macro_rules! fortran {
    ($($name:ident)+) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C-unwind" fn $name(
            send: *mut c_void,
            recv: *mut c_void,
            elements: *const c_int,
            datatype: *const c_int,
            op: *const c_int,
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
                    *mut c_int,
                )
            );
            let next = match next {
                Ok(next) => next,
                Err(missing) => {
                    // SAFETY: the address is that of an INTEGER, or NULL.
                    return unsafe { leave(ierr, missing.code(|_| None)) };
                }
            };
            if Settings::get().stats.is_some() && is_callable() && Mpi::get().hides_fortran() {
                let mpi = Mpi::get();
                // SAFETY: the address is that of an INTEGER.
                let elements = unsafe { integer(elements) };
                // SAFETY: the address is that of a handle, and MPI can be called.
                let datatype = unsafe { datatype_of(mpi, datatype) };
                // SAFETY: as above.
                let op = unsafe { op_of(mpi, op) };
                count_it(elements.into(), datatype, op);
            }
            // SAFETY: it is the call that the program makes.
            unsafe { next(send, recv, elements, datatype, op, ierr) };
        }
    )+};
}

fortran!(mpi_reduce_local_ mpi_reduce_local__ mpi_reduce_local MPI_REDUCE_LOCAL mpi_reduce_local_f08_);
