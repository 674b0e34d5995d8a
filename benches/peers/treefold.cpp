// treefold: a plan for sums in tree order, built and run through the C interface.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <treefold_mpi.h>

#include "peer.hpp"

static treefold_comm *comm;
static treefold_builder *builder;
static treefold_plan *plan;
static double *items;
static size_t items_count;

static void check(treefold_status status) {
    if (status != TREEFOLD_OK) {
        std::fprintf(stderr, "%s\n", treefold_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

PEER void peer_open(MPI_Comm of, int, int count) {
    items_count = static_cast<size_t>(count);
    items = static_cast<double *>(std::aligned_alloc(64, (items_count / 8 + 1) * 64));
    check(treefold_comm_duplicate(of, &comm));
    check(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    check(treefold_builder_local_items(builder, items_count));
    check(treefold_plan_build(builder, &plan));
}

PEER void peer_fill(const double *from) { std::memcpy(items, from, items_count * sizeof *items); }

PEER double peer_sum() {
    double sum;
    check(treefold_allreduce(plan, items, items_count, &sum, 1));
    return sum;
}

PEER void peer_close() {
    check(treefold_plan_destroy(&plan));
    check(treefold_builder_destroy(&builder));
    check(treefold_comm_destroy(&comm));
    std::free(items);
}
