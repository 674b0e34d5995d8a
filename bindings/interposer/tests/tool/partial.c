/* Starts three persistent reductions together; startall.c lets only one of them start. The started reduction completes with its
   result, and the others can be started later. */
#include "../c/calls.h"

int main(int argc, char **argv)
{
    double x[3], y[3];
    MPI_Request requests[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; i++) {
        x[i] = rank + i;
        y[i] = -1;
        struct call c = {ALLREDUCE, &x[i], &y[i], 1, NULL, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD};
        OK(prepare(&c, &requests[i]));
    }
    DOING("a start of several that fails");
    CHECK(MPI_Startall(3, requests) == MPI_ERR_OTHER);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(y[0] == size * (size - 1) / 2 && y[1] == -1 && y[2] == -1);
    DOING("what was not started");
    OK(MPI_Startall(2, requests + 1));
    for (int i = 1; i < 3; i++)
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++) {
        CHECK(y[i] == size * (size - 1) / 2 + size * i);
        OK(MPI_Request_free(&requests[i]));
    }
    return end("partial");
}
