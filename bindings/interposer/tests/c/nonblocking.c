/* Non-blocking and persistent reductions in random orders and mixtures, and calls that MPI does not allow. The argument is the seed. */
#include "operations.h"

enum { ROUNDS = 60 };

/* Open MPI 4.1 fails if a communicator is freed while a request on it is under way, with or without an interposer. */
static void freed_early(const struct type *types, bool is_persistent)
{
#ifndef OPEN_MPI
    struct operation o;
    MPI_Comm comm;
    MPI_Request request;
    DOING("a communicator that is freed early%s", is_persistent ? ", and a persistent reduction" : "");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_up(&o, types, comm, is_persistent);
    OK(is_persistent ? prepare(&o.call, &request) : start(&o.call, &request));
    if (is_persistent)
        OK(MPI_Start(&request));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_done(&o);
    if (is_persistent)
        OK(MPI_Request_free(&request));
    tear_down(&o);
#else
    (void)types;
    (void)is_persistent;
#endif
}

/* A call that MPI does not allow returns an error, and does not change the reduction. */
static void refused(void)
{
    double x = rank + 1, y = 0;
    MPI_Request request, kept;
    MPI_Errhandler handler, before;
    if (!expects_tree() || size == 1)
        return;
    DOING("requests that may be neither freed nor cancelled");
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    OK(MPI_Iallreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    kept = request;
    CHECK(MPI_Request_free(&request) == MPI_ERR_REQUEST && handled_class == MPI_ERR_REQUEST);
    handled_class = MPI_SUCCESS;
    CHECK(MPI_Cancel(&request) == MPI_ERR_REQUEST && handled_class == MPI_ERR_REQUEST);
    CHECK(request == kept);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(y == size * (size + 1) / 2);
    if (has_form(PERSISTENT)) {
        DOING("the start of a request that is under way");
        struct call c = {ALLREDUCE, &x, &y, 1, NULL, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD};
        OK(prepare(&c, &request));
        OK(MPI_Start(&request));
        handled_class = MPI_SUCCESS;
        CHECK(MPI_Start(&request) == MPI_ERR_REQUEST && handled_class == MPI_ERR_REQUEST);
        CHECK(MPI_Startall(1, &request) == MPI_ERR_REQUEST);
        CHECK(MPI_Request_free(&request) == MPI_ERR_REQUEST);
        y = 0;
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(y == size * (size + 1) / 2);
        OK(MPI_Request_free(&request));
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
    MPI_Errhandler_free(&handler);
}

/* A request that is complete or was freed is no longer treefold's: calls with such a request get the library's own error. */
static void over(void)
{
    double x = rank, y;
    MPI_Request request;
    MPI_Errhandler before;
    int flag = 0;
    DOING("requests that are over");
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int is_persistent = 0; is_persistent < (has_form(PERSISTENT) ? 2 : 1); is_persistent++) {
        struct call c = {ALLREDUCE, &x, &y, 1, NULL, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD};
        OK(is_persistent ? prepare(&c, &request) : start(&c, &request));
        if (is_persistent)
            OK(MPI_Request_free(&request));
        else
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(request == MPI_REQUEST_NULL);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK(flag);
        const int own[] = {MPI_Request_free(&request), MPI_Start(&request), MPI_Cancel(&request)};
        const int library[] = {PMPI_Request_free(&request), PMPI_Start(&request), PMPI_Cancel(&request)};
        for (int i = 0; i < 3; i++)
            CHECK(class_of(own[i]) == class_of(library[i]) && own[i] != MPI_SUCCESS);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
}

/* Reductions that exceed treefold's limit for gathering go to the MPI library, on all ranks. */
static void long_ones(void)
{
    int count = (64 << 20) / (int)sizeof(double) / size + 1;
    double *x = allocate((size_t)count * sizeof *x), *y = allocate((size_t)count * sizeof *y);
    MPI_Request request;
    DOING("a long reduction");
    for (int i = 0; i < count; i++)
        x[i] = rank + i % 1000;
    OK(MPI_Iallreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; i += 997)
        CHECK(y[i] == size * (size - 1) / 2 + size * (i % 1000));
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    struct type types[MOST_TYPES];
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    begin(&argc, &argv);
    uint64_t seed = seed_of(argc, argv, "nonblocking");
    draw_from(seed, 0);
    predefined_types(types);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    for (int round = 0; round < ROUNDS; round++) {
        bool is_persistent = round % 3 == 2 && has_form(PERSISTENT);
        DOING("seed %llu, round %d, %s", (unsigned long long)seed, round, is_persistent ? "persistent" : "non-blocking");
        round_of(types, comms, 3, is_persistent);
        if (round % 10 == 2)
            freed_early(types, is_persistent);
    }
    refused();
    over();
    long_ones();
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    return end("nonblocking");
}
