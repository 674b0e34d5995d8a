/* One reduction, for tests of treefold's messages. */
#include "../c/check.h"

int main(int argc, char **argv)
{
    double x, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    x = rank + 1;
    DOING("a sum");
    OK(MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == size * (size + 1) / 2);
    return end("sums");
}
