/* Ranks that pass different operators to the same non-blocking reduction. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        MPI_Request request;
        double x = 2.0 + rank, y;
        MPI_Op op = i == 1 && rank > 0 ? MPI_PROD : MPI_SUM;
        MPI_Iallreduce(&x, &y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
