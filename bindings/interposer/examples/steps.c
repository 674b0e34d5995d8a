/* A simulation, reduced to its MPI calls: each step adds one number per rank. docs/tutorial-check.md shows this program. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double state = 0.3, sum;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 1000; step++) {
        double part = state / (3 * rank + 7);
        MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        state = 100 * sum - (int)(100 * sum);
    }
    if (rank == 0)
        printf("%.17g\n", state);
    MPI_Finalize();
    return 0;
}
