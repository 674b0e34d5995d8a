/* Checks reductions of buffers that a driver reports as device memory, which the MPI library runs, and of other buffers. */
#include <mpi.h>
#include <stddef.h>

void set_device_memory(const void *memory, size_t bytes);

int main(int argc, char **argv)
{
    static double x[4], y[4], z[4];
    int wrong = 0;
    MPI_Init(&argc, &argv);
    set_device_memory(y, sizeof y);
    for (int i = 0; i < 10; i++) {
        MPI_Request request;
        x[0] = y[1] = i;
        MPI_Allreduce(x, z, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wrong += z[0] != 2 * i;
        MPI_Allreduce(x, y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wrong += y[0] != 2 * i;
        MPI_Iallreduce(y + 1, z, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += z[0] != 2 * i;
    }
    MPI_Finalize();
    return wrong != 0;
}
