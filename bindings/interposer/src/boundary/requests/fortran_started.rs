//! Non-blocking and persistent reductions in Fortran, where Open MPI's functions call its PMPI_ functions.

#![allow(non_snake_case, reason = "Fortran compilers' names")]

use std::ffi::{c_int, c_void};

use crate::boundary::calls::arguments::{Arguments, Count};
use crate::boundary::calls::fortran::{count, named, reduction, root, stand_in};
use crate::boundary::library::fortran::{comm_of, datatype_of, integer, leave, op_of};
use crate::boundary::library::loaded::{Mpi, SUCCESS};
use crate::boundary::library::next::{Next, the_next, typed};
use crate::boundary::requests::start::{RequestPlace, intercept};
use crate::task::{Call, Form};

/// Defines a reduction from its names, its form, whether there is one count or one for each rank, and its parameters before the communicator and
/// after it.
macro_rules! export {
    ($body:ident, $call:ident, $form:ident, $count:ident, $root:tt, $info:tt, [$($name:ident)+]) => {
        reduction!(
            $body, $call, $form, $count, $root, $info, (request),
            |arguments, library| {
                // SAFETY: the callee requires what MPI requires of the caller.
                unsafe { intercept(arguments, RequestPlace::Fortran(request), library) }
            }
        );
        $(named!($name, $body, $root, $info, (request));)+
    };
}

export!(
    allreduce_started, Allreduce, NonBlocking, one, (), (),
    [mpi_iallreduce_ mpi_iallreduce__ mpi_iallreduce MPI_IALLREDUCE mpi_iallreduce_f08_]
);
export!(
    allreduce_prepared, Allreduce, Persistent, one, (), (info),
    [
        mpi_allreduce_init_ mpi_allreduce_init__ mpi_allreduce_init MPI_ALLREDUCE_INIT mpi_allreduce_init_f08_
        mpix_allreduce_init_ mpix_allreduce_init__ mpix_allreduce_init MPIX_ALLREDUCE_INIT mpix_allreduce_init_f08_
    ]
);
export!(
    reduce_started, Reduce, NonBlocking, one, (root), (),
    [mpi_ireduce_ mpi_ireduce__ mpi_ireduce MPI_IREDUCE mpi_ireduce_f08_]
);
export!(
    reduce_prepared, Reduce, Persistent, one, (root), (info),
    [
        mpi_reduce_init_ mpi_reduce_init__ mpi_reduce_init MPI_REDUCE_INIT mpi_reduce_init_f08_
        mpix_reduce_init_ mpix_reduce_init__ mpix_reduce_init MPIX_REDUCE_INIT mpix_reduce_init_f08_
    ]
);
export!(
    reduce_scatter_started, ReduceScatter, NonBlocking, each, (), (),
    [mpi_ireduce_scatter_ mpi_ireduce_scatter__ mpi_ireduce_scatter MPI_IREDUCE_SCATTER mpi_ireduce_scatter_f08_]
);
export!(
    reduce_scatter_prepared, ReduceScatter, Persistent, each, (), (info),
    [
        mpi_reduce_scatter_init_ mpi_reduce_scatter_init__ mpi_reduce_scatter_init MPI_REDUCE_SCATTER_INIT mpi_reduce_scatter_init_f08_
        mpix_reduce_scatter_init_ mpix_reduce_scatter_init__ mpix_reduce_scatter_init MPIX_REDUCE_SCATTER_INIT mpix_reduce_scatter_init_f08_
    ]
);
export!(
    reduce_scatter_block_started, ReduceScatterBlock, NonBlocking, one, (), (),
    [mpi_ireduce_scatter_block_ mpi_ireduce_scatter_block__ mpi_ireduce_scatter_block MPI_IREDUCE_SCATTER_BLOCK mpi_ireduce_scatter_block_f08_]
);
export!(
    reduce_scatter_block_prepared, ReduceScatterBlock, Persistent, one, (), (info),
    [
        mpi_reduce_scatter_block_init_ mpi_reduce_scatter_block_init__ mpi_reduce_scatter_block_init MPI_REDUCE_SCATTER_BLOCK_INIT mpi_reduce_scatter_block_init_f08_
        mpix_reduce_scatter_block_init_ mpix_reduce_scatter_block_init__ mpix_reduce_scatter_block_init MPIX_REDUCE_SCATTER_BLOCK_INIT mpix_reduce_scatter_block_init_f08_
    ]
);
export!(
    scan_started, Scan, NonBlocking, one, (), (),
    [mpi_iscan_ mpi_iscan__ mpi_iscan MPI_ISCAN mpi_iscan_f08_]
);
export!(
    scan_prepared, Scan, Persistent, one, (), (info),
    [
        mpi_scan_init_ mpi_scan_init__ mpi_scan_init MPI_SCAN_INIT mpi_scan_init_f08_
        mpix_scan_init_ mpix_scan_init__ mpix_scan_init MPIX_SCAN_INIT mpix_scan_init_f08_
    ]
);
export!(
    exscan_started, Exscan, NonBlocking, one, (), (),
    [mpi_iexscan_ mpi_iexscan__ mpi_iexscan MPI_IEXSCAN mpi_iexscan_f08_]
);
export!(
    exscan_prepared, Exscan, Persistent, one, (), (info),
    [
        mpi_exscan_init_ mpi_exscan_init__ mpi_exscan_init MPI_EXSCAN_INIT mpi_exscan_init_f08_
        mpix_exscan_init_ mpix_exscan_init__ mpix_exscan_init MPIX_EXSCAN_INIT mpix_exscan_init_f08_
    ]
);
