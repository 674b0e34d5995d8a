//! Reductions that are always passed on to the MPI library, and counted if there is a report: MPI_Reduce_local, and accumulations into
//! windows, which MPI applies in the order in which ranks arrive.

use std::ffi::{c_int, c_void};
use std::time::Instant;

use treefold::mpi::mpi_library::{Datatype, Op, Passed, Win};

use crate::boundary::calls::arguments::{Count, IN_WINDOW, LOCAL, Reason};
use crate::boundary::calls::count::count_passed;
use crate::boundary::calls::intercept::is_callable;
use crate::boundary::library::fortran::{datatype_of, integer, op_of};
use crate::boundary::library::loaded::Mpi;
use crate::boundary::library::next::{export_c, export_fortran, next};
use crate::settings::Settings;

/// The MPI library, if calls are counted.
fn counted() -> Option<&'static Mpi> {
    (Settings::get().stats.is_some() && is_callable()).then(Mpi::get)
}

fn count(name: &str, reason: Reason, count: i64, datatype: Datatype, op: Op) {
    count_passed(name, reason, Count::Of(count), datatype, op, Instant::now());
}

/// Defines a function in C and in Fortran. Arguments: its name in the report, the reason for passing it on, its parameters, and the
/// parameters that hold count, datatype and operator. Fortran needs a function because Open MPI's Fortran functions call PMPI_ functions.
macro_rules! export {
    (
        $shown:literal, $reason:ident,
        $name:ident($($parameter:ident: $type:ty),+), $count:tt, $datatype:ident, $op:ident,
        $small:literal, $capitals:literal
    ) => {
        export_c!($name($($parameter: $type),+), |library| {
            if let Some(mpi) = counted() {
                let elements: c_int = $count;
                count($shown, $reason, elements.into(), mpi.take($datatype), mpi.take($op));
            }
            library()
        });

        export_fortran!($small, $capitals, ($($parameter),+), |library| {
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
    "mpi_reduce_local", "MPI_REDUCE_LOCAL"
);
export!(
    "Accumulate", IN_WINDOW,
    MPI_Accumulate(origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>),
    target_elements, target_datatype, op,
    "mpi_accumulate", "MPI_ACCUMULATE"
);
export!(
    "Raccumulate", IN_WINDOW,
    MPI_Raccumulate(origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>, request: *mut c_void),
    target_elements, target_datatype, op,
    "mpi_raccumulate", "MPI_RACCUMULATE"
);
export!(
    "Get_accumulate", IN_WINDOW,
    MPI_Get_accumulate(origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, result: *mut c_void, result_elements: c_int, result_datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>),
    target_elements, target_datatype, op,
    "mpi_get_accumulate", "MPI_GET_ACCUMULATE"
);
export!(
    "Rget_accumulate", IN_WINDOW,
    MPI_Rget_accumulate(origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, result: *mut c_void, result_elements: c_int, result_datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>, request: *mut c_void),
    target_elements, target_datatype, op,
    "mpi_rget_accumulate", "MPI_RGET_ACCUMULATE"
);
export!(
    "Fetch_and_op", IN_WINDOW,
    MPI_Fetch_and_op(origin: *const c_void, result: *mut c_void, datatype: Passed<Datatype>, target: c_int, place: isize, op: Passed<Op>, win: Passed<Win>),
    1, datatype, op,
    "mpi_fetch_and_op", "MPI_FETCH_AND_OP"
);

export_c!(
    "MPI_Reduce_local_c",
    (
        send: *const c_void,
        recv: *mut c_void,
        elements: i64,
        datatype: Passed<Datatype>,
        op: Passed<Op>,
    ),
    |next, library| {
        if let Some(mpi) = counted() {
            count("Reduce_local", LOCAL, elements, mpi.take(datatype), mpi.take(op));
        }
        library()
    },
    |missing| {
        let small = next!(
            "MPI_Reduce_local";
            unsafe extern "C-unwind" fn(
                *const c_void,
                *mut c_void,
                c_int,
                Passed<Datatype>,
                Passed<Op>,
            ) -> c_int
        );
        match (small, c_int::try_from(elements)) {
            // SAFETY: the program makes this call, with this count.
            (Ok(small), Ok(elements)) => unsafe { small(send, recv, elements, datatype, op) },
            _ => missing.code(&|_| None),
        }
    }
);
