! In the module mpi_f08, handles have their own types, and the last argument is optional.
#define BINDING use mpi_f08
#define INCLUDED
#define TITLE 'use mpi_f08'
#define DATATYPE type(MPI_Datatype)
#define OPERATOR_ type(MPI_Op)
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define F08
#include "reductions.inc"
