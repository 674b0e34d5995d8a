//! Reductions into windows, which are always passed on, and counted if there is a report: their order is that in which ranks come.

#![allow(non_snake_case, reason = "MPI's names, and Fortran compilers'")]

use std::ffi::{c_int, c_void};
use std::time::Instant;

use treefold::mpi::mpi_library::{Datatype, Op, Passed, Win};

use super::arguments::{Count, IN_WINDOW};
use super::count::count_passed;
use super::fortran::{datatype_of, integer, leave, op_of};
use super::intercept::is_callable;
use super::library::{Mpi, SUCCESS};
use super::next::next;
use crate::settings::Settings;

/// The library, if calls are counted.
fn counted() -> Option<&'static Mpi> {
    (Settings::get().stats.is_some() && is_callable()).then(Mpi::get)
}

fn count(name: &str, count: c_int, datatype: Datatype, op: Op) {
    let count = Count::Of(count.into());
    count_passed(name, IN_WINDOW, count, datatype, op, Instant::now());
}

/// A function in C: its parameters, and which of them say what is reduced.
macro_rules! c {
    ($name:ident, $shown:literal, ($($parameter:ident: $type:ty),+), $count:expr, $datatype:ident, $op:ident) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(clippy::too_many_arguments, reason = "MPI's")]
        pub unsafe extern "C-unwind" fn $name($($parameter: $type),+) -> c_int {
            if let Some(mpi) = counted() {
                count($shown, $count, mpi.take($datatype), mpi.take($op));
            }
            let next = next!(
                stringify!($name),
                concat!("P", stringify!($name));
                unsafe extern "C-unwind" fn($($type),+) -> c_int
            );
            match next {
                // SAFETY: it is the call that the program makes.
                Ok(next) => unsafe { next($($parameter),+) },
                Err(missing) => missing.code(|_| None),
            }
        }
    };
}

/// The names of a function in Fortran: its parameters are addresses. Those of Open MPI call PMPI_ functions.
macro_rules! fortran {
    ($shown:literal, $parameters:tt, $count:tt, $datatype:ident, $op:ident, [$($name:ident)+]) => {
        $(fortran!(@ $name, $shown, $parameters, $count, $datatype, $op);)+
    };
    (@ $name:ident, $shown:literal, ($($parameter:ident),+), $count:tt, $datatype:ident, $op:ident) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI's standard says.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(clippy::too_many_arguments, reason = "MPI's")]
        pub unsafe extern "C-unwind" fn $name($($parameter: *mut c_int,)+ ierr: *mut c_int) {
            if let Some(mpi) = counted().filter(|mpi| mpi.hides_fortran()) {
                // SAFETY: the address is that of a handle, and MPI can be called.
                let datatype = unsafe { datatype_of(mpi, $datatype) };
                // SAFETY: as above.
                let op = unsafe { op_of(mpi, $op) };
                count($shown, number!($count), datatype, op);
            }
            let next = next!(
                stringify!($name),
                concat!("p", stringify!($name));
                unsafe extern "C-unwind" fn($(address!($parameter),)+ *mut c_int)
            );
            let mut code = SUCCESS;
            match next {
                // SAFETY: it is the call that the program makes, with an error code.
                Ok(next) => unsafe { next($($parameter,)+ &raw mut code) },
                Err(missing) => code = missing.code(|_| None),
            }
            // SAFETY: the address is that of an INTEGER, or NULL.
            unsafe { leave(ierr, code) };
        }
    };
}

/// A type for each parameter of a list.
macro_rules! address {
    ($parameter:ident) => {
        *mut c_int
    };
}

/// The elements: one, or a number that a parameter is the address of.
macro_rules! number {
    (1) => {
        1
    };
    ($count:ident) => {{
        // SAFETY: the address is that of an INTEGER.
        unsafe { integer($count) }
    }};
}

c!(
    MPI_Accumulate, "Accumulate",
    (origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>),
    target_elements, target_datatype, op
);
fortran!(
    "Accumulate",
    (origin, elements, datatype, target, place, target_elements, target_datatype, op, win),
    target_elements, target_datatype, op,
    [mpi_accumulate_ mpi_accumulate__ mpi_accumulate MPI_ACCUMULATE mpi_accumulate_f08_]
);
c!(
    MPI_Raccumulate, "Raccumulate",
    (origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>, request: *mut c_void),
    target_elements, target_datatype, op
);
fortran!(
    "Raccumulate",
    (origin, elements, datatype, target, place, target_elements, target_datatype, op, win, request),
    target_elements, target_datatype, op,
    [mpi_raccumulate_ mpi_raccumulate__ mpi_raccumulate MPI_RACCUMULATE mpi_raccumulate_f08_]
);
c!(
    MPI_Get_accumulate, "Get_accumulate",
    (origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, result: *mut c_void, result_elements: c_int, result_datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>),
    target_elements, target_datatype, op
);
fortran!(
    "Get_accumulate",
    (origin, elements, datatype, result, result_elements, result_datatype, target, place, target_elements, target_datatype, op, win),
    target_elements, target_datatype, op,
    [mpi_get_accumulate_ mpi_get_accumulate__ mpi_get_accumulate MPI_GET_ACCUMULATE mpi_get_accumulate_f08_]
);
c!(
    MPI_Rget_accumulate, "Rget_accumulate",
    (origin: *const c_void, elements: c_int, datatype: Passed<Datatype>, result: *mut c_void, result_elements: c_int, result_datatype: Passed<Datatype>, target: c_int, place: isize, target_elements: c_int, target_datatype: Passed<Datatype>, op: Passed<Op>, win: Passed<Win>, request: *mut c_void),
    target_elements, target_datatype, op
);
fortran!(
    "Rget_accumulate",
    (origin, elements, datatype, result, result_elements, result_datatype, target, place, target_elements, target_datatype, op, win, request),
    target_elements, target_datatype, op,
    [mpi_rget_accumulate_ mpi_rget_accumulate__ mpi_rget_accumulate MPI_RGET_ACCUMULATE mpi_rget_accumulate_f08_]
);
c!(
    MPI_Fetch_and_op, "Fetch_and_op",
    (origin: *const c_void, result: *mut c_void, datatype: Passed<Datatype>, target: c_int, place: isize, op: Passed<Op>, win: Passed<Win>),
    1, datatype, op
);
fortran!(
    "Fetch_and_op",
    (origin, result, datatype, target, place, op, win),
    1, datatype, op,
    [mpi_fetch_and_op_ mpi_fetch_and_op__ mpi_fetch_and_op MPI_FETCH_AND_OP mpi_fetch_and_op_f08_]
);
