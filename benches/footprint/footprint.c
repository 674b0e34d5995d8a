/* Makes three calls on each of two ranks, each call between two writes to `mark`: a trace counts the memory accesses between the writes.
   In the call on both ranks, the other rank's message has already arrived, so that no wait is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>
#include <treefold_mpi.h>
#include <valgrind/valgrind.h>

enum { WARM_UPS = 20, N = 460 };

static volatile int mark;
_Alignas(64) static double items[N];

static void check(treefold_status status) {
    if (status != TREEFOLD_OK) {
        fprintf(stderr, "%s\n", treefold_last_error());
        exit(1);
    }
}

static treefold_plan *plan_of(MPI_Comm of, treefold_comm **comm) {
    treefold_builder *builder;
    treefold_plan *plan;
    check(treefold_comm_duplicate(of, comm));
    check(treefold_builder_create(*comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    check(treefold_builder_even(builder, N));
    check(treefold_plan_build(builder, &plan));
    check(treefold_builder_destroy(&builder));
    return plan;
}

int main(int argc, char **argv) {
    /* Aligned to a page, so that the cache lines of the calls' stack do not depend on the size of the environment. */
    _Alignas(4096) double sum;
    treefold_comm *self, *world;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++) {
        items[i] = 1.0 / (i + 1);
    }
    treefold_plan *own = plan_of(MPI_COMM_SELF, &self), *shared = plan_of(MPI_COMM_WORLD, &world);
    size_t n = (size_t)(N / size);
    for (int i = 0; i < WARM_UPS; i++) {
        check(treefold_allreduce(own, items, N, &sum, 1));
        check(treefold_sum_f64(items, N, &sum));
        check(treefold_allreduce(shared, items, n, &sum, 1));
    }
    VALGRIND_PRINTF("marks %p items %p %p\n", (void *)&mark, (void *)items, (void *)(items + N));
    mark = 1;
    treefold_status of_plan = treefold_allreduce(own, items, N, &sum, 1);
    mark = 2;
    treefold_status of_array = treefold_sum_f64(items, N, &sum);
    mark = 3;
    check(of_plan);
    check(of_array);
    for (int late = 0; late < size; late++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != late) {
            check(treefold_allreduce(shared, items, n, &sum, 1));
            continue;
        }
        sleep(2);
        mark = 4;
        treefold_status status = treefold_allreduce(shared, items, n, &sum, 1);
        mark = 5;
        check(status);
    }
    treefold_plan_destroy(&own);
    treefold_plan_destroy(&shared);
    treefold_comm_destroy(&self);
    treefold_comm_destroy(&world);
    MPI_Finalize();
    return 0;
}
