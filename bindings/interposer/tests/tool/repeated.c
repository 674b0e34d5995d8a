/* A persistent scan that is started with other contributions each time. On five ranks, the bits of its results depend on the order. */
#include "../c/calls.h"

int main(int argc, char **argv)
{
    double x, y = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct call c = {SCAN, &x, &y, 1, NULL, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD};
    DOING("a persistent scan");
    OK(prepare(&c, &request));
    for (int i = 0; i < 100; i++) {
        x = 1.0 / (3 + rank + 0.01 * i);
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request));
    return end("repeated");
}
