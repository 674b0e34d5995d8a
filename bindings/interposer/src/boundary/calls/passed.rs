//! Reductions that are always passed on, and counted if there is a report: MPI_Reduce_local, and accumulations into windows, which happen
//! in the order in which ranks arrive.

#![allow(non_snake_case, reason = "MPI's names, and Fortran compilers'")]

use std::ffi::{c_int, c_void};
use std::time::Instant;

use treefold::mpi::mpi_library::{Datatype, Op, Passed, Win};

use crate::boundary::calls::arguments::{Count, IN_WINDOW, LOCAL, Reason};
use crate::boundary::calls::count::count_passed;
use crate::boundary::calls::intercept::is_callable;
use crate::boundary::library::fortran::{datatype_of, integer, op_of};
use crate::boundary::library::large;
use crate::boundary::library::loaded::Mpi;
use crate::boundary::library::next::{export_c, export_fortran, next};
use crate::settings::Settings;

/// The library, if calls are counted.
fn counted() -> Option<&'static Mpi> {
    (Settings::get().stats.is_some() && is_callable()).then(Mpi::get)
}

fn count(name: &str, reason: Reason, count: i64, datatype: Datatype, op: Op) {
    count_passed(name, reason, Count::Of(count), datatype, op, Instant::now());
}

/// Defines a function in C and in Fortran, from the reason for passing it on, its parameters, and those that are count, datatype and operator.
/// Fortran's is needed because Open MPI's Fortran functions call PMPI_ functions.
macro_rules! export {
    (
        $shown:literal, $reason:ident,
        $name:ident($($parameter:ident: $type:ty),+), $count:tt, $datatype:ident, $op:ident, $fortran:tt
    ) => {
        export_c!($name($($parameter: $type),+), |library| {
            if let Some(mpi) = counted() {
                let elements: c_int = $count;
                count($shown, $reason, elements.into(), mpi.take($datatype), mpi.take($op));
            }
            library()
        });

        export_fortran!($fortran, ($($parameter),+), |library| {
            if let Some(mpi) = counted().filter(|mpi| mpi.hides_fortran()) {
                let elements: c_int = number!($count);
                // SAFETY: the address points to a handle, and MPI can be called.
                let datatype = unsafe { datatype_of(mpi, $datatype) };
                // SAFETY: as above.
                let op = unsafe { op_of(mpi, $op) };
                count($shown, $reason, elements.into(), datatype, op);
            }
            library()
        });
    };
}

/// The number of elements in Fortran: one, or the INTEGER at an address.
macro_rules! number {
    (1) => {
        1
    };
    ($count:ident) => {{
        // SAFETY: the address points to an INTEGER.
        unsafe { integer($count) }
    }};
}

export!(
    "Reduce_local", LOCAL,
    MPI_Reduce_local(send: *const c_void, recv: *mut c_void, elements: c_int, datatype: Passed<Datatype>, op: Passed<Op>),
    elements, datatype, op,
    [mpi_reduce_local_ mpi_reduce_local__ mpi_reduce_local MPI_REDUCE_LOCAL mpi_reduce_local_f08_]
);
export!(
    "Accumulate", IN_WINDOW,
    MPI_Accumulate(origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>),
    target_elements, target_datatype, op,
    [mpi_accumulate_ mpi_accumulate__ mpi_accumulate MPI_ACCUMULATE mpi_accumulate_f08_]
);
export!(
    "Raccumulate", IN_WINDOW,
    MPI_Raccumulate(origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>, request: *mut c_void),
    target_elements, target_datatype, op,
    [mpi_raccumulate_ mpi_raccumulate__ mpi_raccumulate MPI_RACCUMULATE mpi_raccumulate_f08_]
);
export!(
    "Get_accumulate", IN_WINDOW,
    MPI_Get_accumulate(origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, result: *mut c_void, result_elements: c_int, result_datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>),
    target_elements, target_datatype, op,
    [mpi_get_accumulate_ mpi_get_accumulate__ mpi_get_accumulate MPI_GET_ACCUMULATE mpi_get_accumulate_f08_]
);
export!(
    "Rget_accumulate", IN_WINDOW,
    MPI_Rget_accumulate(origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, result: *mut c_void, result_elements: c_int, result_datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>, request: *mut c_void),
    target_elements, target_datatype, op,
    [mpi_rget_accumulate_ mpi_rget_accumulate__ mpi_rget_accumulate MPI_RGET_ACCUMULATE mpi_rget_accumulate_f08_]
);
export!(
    "Fetch_and_op", IN_WINDOW,
    MPI_Fetch_and_op(origin: *const c_void, result: *mut c_void, datatype: Passed<Datatype>, target: c_int, place: isize, op: Passed<Op>, win: Passed<Win>),
    1, datatype, op,
    [mpi_fetch_and_op_ mpi_fetch_and_op__ mpi_fetch_and_op MPI_FETCH_AND_OP mpi_fetch_and_op_f08_]
);

/// The next function with this name and a count of this type.
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

/// `MPI_Reduce_local_c`.
///
/// # Safety
/// As the MPI standard requires.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn MPI_Reduce_local_c(
    send: *const c_void,
    recv: *mut c_void,
    elements: i64,
    datatype: Passed<Datatype>,
    op: Passed<Op>,
) -> c_int {
    let count_it = || {
        if let Some(mpi) = counted() {
            count(
                "Reduce_local",
                LOCAL,
                elements,
                mpi.take(datatype),
                mpi.take(op),
            );
        }
    };
    let missing = match function!("MPI_Reduce_local_c", i64) {
        Ok(next) => {
            count_it();
            // SAFETY: it is the call that the program makes.
            return unsafe { next(send, recv, elements, datatype, op) };
        }
        Err(missing) => missing,
    };
    let small = function!("MPI_Reduce_local", c_int).ok();
    match small.zip(large::one(elements)) {
        Some((small, one)) => {
            count_it();
            // SAFETY: it is the call that the program makes, whose count is this.
            unsafe { small(send, recv, one, datatype, op) }
        }
        None => missing.code(&|_| None),
    }
}
