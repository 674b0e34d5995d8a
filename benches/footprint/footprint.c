/* Makes two calls, each between two writes to `mark`: a trace counts the memory accesses between the writes. */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>
#include <treefold_mpi.h>

enum { WARM_UPS = 20 };

static volatile int mark;

static void check(treefold_status status) {
    if (status != TREEFOLD_OK) {
        fprintf(stderr, "%s\n", treefold_last_error());
        exit(1);
    }
}

int main(int argc, char **argv) {
    size_t n = 460;
    /* Aligned to a page, so that the cache lines of the calls' stack do not depend on the size of the environment. */
    _Alignas(4096) double sum;
    treefold_comm *comm;
    treefold_builder *builder;
    treefold_plan *plan;
    double *items = aligned_alloc(64, (n + 7) / 8 * 8 * sizeof *items);
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < n; i++) {
        items[i] = 1.0 / (double)(i + 1);
    }
    check(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    check(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    check(treefold_builder_even(builder, n));
    check(treefold_plan_build(builder, &plan));
    for (int i = 0; i < WARM_UPS; i++) {
        check(treefold_allreduce(plan, items, n, &sum, 1));
        check(treefold_sum_f64(items, n, &sum));
    }
    fprintf(stderr, "marks %p items %p %p\n", (void *)&mark, (void *)items, (void *)(items + n));
    mark = 1;
    treefold_status of_plan = treefold_allreduce(plan, items, n, &sum, 1);
    mark = 2;
    treefold_status of_array = treefold_sum_f64(items, n, &sum);
    mark = 3;
    check(of_plan);
    check(of_array);
    treefold_plan_destroy(&plan);
    treefold_builder_destroy(&builder);
    treefold_comm_destroy(&comm);
    MPI_Finalize();
    free(items);
    return 0;
}
