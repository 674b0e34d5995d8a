/* A tool that is loaded after the interposer: its MPI_Start fails for the second of several persistent requests. */
#include <mpi.h>

static int starts;

int MPI_Start(MPI_Request *request)
{
    return ++starts == 2 ? MPI_ERR_OTHER : PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        int code = MPI_Start(&requests[i]);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}
