/* A tool like a profiler: it calls MPI by PMPI_ names, and so hides the program's calls from libraries that are loaded after the tool. With
   -DHIDES_INIT, it hides MPI_Init, too. */
#include <mpi.h>

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return PMPI_Allreduce(send, recv, count, type, op, comm);
}

#ifdef HIDES_INIT
int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}
#endif
