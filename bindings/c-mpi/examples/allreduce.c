/* Sums 1/1, 1/2, ..., 1/1000 over MPI ranks, with the same bits for every number of ranks. docs/tutorial-c.md shows this program. */
#include <stdio.h>
#include <treefold_mpi.h>

/* Prints the error and ends the program if a call has failed. */
static void check(treefold_status status)
{
    if (status != TREEFOLD_OK) {
        fprintf(stderr, "%s\n", treefold_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    treefold_comm *comm;
    treefold_builder *builder;
    treefold_plan *plan;
    double x[1000], sum;
    int rank, size;

    MPI_Init(&argc, &argv);
    check(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    check(treefold_comm_rank(comm, &rank));
    check(treefold_comm_size(comm, &size));

    /* This rank's part of the items. */
    int begin = 1000 * rank / size;
    int n = 1000 * (rank + 1) / size - begin;
    for (int i = 0; i < n; i++)
        x[i] = 1.0 / (begin + i + 1);

    /* The ranks build a plan together, once. */
    check(treefold_builder_create(
        comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    check(treefold_builder_local_items(builder, (uint64_t)n));
    check(treefold_plan_build(builder, &plan));

    /* The plan can run repeatedly. Every rank gets the sum. */
    check(treefold_allreduce(plan, x, (size_t)n, &sum, 1));
    if (rank == 0)
        printf("%.17g on %d ranks\n", sum, size);

    check(treefold_plan_destroy(&plan));
    check(treefold_builder_destroy(&builder));
    check(treefold_comm_destroy(&comm));
    MPI_Finalize();
    return sum == 0x1.df11f45f4e619p+2 ? 0 : 1;
}
