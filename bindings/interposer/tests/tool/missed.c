/* A reduction that no MPI call completes before MPI_Finalize: an error, which must be reported. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static double x = 1, y;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Iallreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
