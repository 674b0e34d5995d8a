//! The MPI library's functions and constants, as this crate calls them.
//!
//! With feature `pmpi`, they are those that begin with `PMPI_`, which every MPI library has beside each of its functions (MPI 4.1,
//! 15.2). A library that takes the place of `MPI_Allreduce` in a program, and reduces by this crate, must not call itself. An import by
//! name comes before one by `*`, so a function is bound either way, and none by both.

pub(super) use mpi::ffi::*;

#[cfg(feature = "pmpi")]
pub(super) use mpi::ffi::{
    PMPI_Abort as MPI_Abort, PMPI_Allgather as MPI_Allgather, PMPI_Allreduce as MPI_Allreduce,
    PMPI_Cancel as MPI_Cancel, PMPI_Comm_create as MPI_Comm_create,
    PMPI_Comm_create_keyval as MPI_Comm_create_keyval, PMPI_Comm_free as MPI_Comm_free,
    PMPI_Comm_free_keyval as MPI_Comm_free_keyval, PMPI_Comm_get_attr as MPI_Comm_get_attr,
    PMPI_Comm_get_errhandler as MPI_Comm_get_errhandler, PMPI_Comm_group as MPI_Comm_group,
    PMPI_Comm_rank as MPI_Comm_rank, PMPI_Comm_set_attr as MPI_Comm_set_attr,
    PMPI_Comm_set_errhandler as MPI_Comm_set_errhandler, PMPI_Comm_size as MPI_Comm_size,
    PMPI_Comm_split_type as MPI_Comm_split_type, PMPI_Errhandler_free as MPI_Errhandler_free,
    PMPI_Error_class as MPI_Error_class, PMPI_Error_string as MPI_Error_string,
    PMPI_Get_count as MPI_Get_count, PMPI_Get_library_version as MPI_Get_library_version,
    PMPI_Group_free as MPI_Group_free, PMPI_Group_size as MPI_Group_size,
    PMPI_Group_translate_ranks as MPI_Group_translate_ranks, PMPI_Ibarrier as MPI_Ibarrier,
    PMPI_Improbe as MPI_Improbe, PMPI_Iprobe as MPI_Iprobe, PMPI_Irecv as MPI_Irecv,
    PMPI_Isend as MPI_Isend, PMPI_Mrecv as MPI_Mrecv, PMPI_Op_create as MPI_Op_create,
    PMPI_Op_free as MPI_Op_free, PMPI_Reduce as MPI_Reduce, PMPI_Test as MPI_Test,
    PMPI_Type_commit as MPI_Type_commit, PMPI_Type_contiguous as MPI_Type_contiguous,
    PMPI_Type_free as MPI_Type_free, PMPI_Win_allocate_shared as MPI_Win_allocate_shared,
    PMPI_Win_free as MPI_Win_free, PMPI_Win_lock_all as MPI_Win_lock_all,
    PMPI_Win_set_errhandler as MPI_Win_set_errhandler,
    PMPI_Win_shared_query as MPI_Win_shared_query, PMPI_Win_sync as MPI_Win_sync,
    PMPI_Win_unlock_all as MPI_Win_unlock_all,
};
