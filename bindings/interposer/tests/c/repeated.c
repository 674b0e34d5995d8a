/* Repeats calls, with calls for other buffers, roots, types and communicators in between. The first call checks all arguments; later calls
   take the fast path. */
#include "check.h"

enum { COUNT = 40, ROUNDS = 50, MOST_BYTES = COUNT * 16 };

/* Memory for contributions and results, within which buffers may be misaligned. */
static char send_memory[MOST_BYTES + 64], recv_memory[MOST_BYTES + 64], first[MOST_BYTES];

static double value(int r, int column)
{
    return (double)(random_bits((uint64_t)(r * 1000 + column)) >> 11) * 0x1p-40 - 1000;
}

/* Reduces this rank's values, in buffers that begin after `skipped` bytes or in place. Returns the result; NULL if this rank gets none. */
static const char *reduced(MPI_Comm comm, MPI_Datatype type, int count, int root, int skipped, bool in_place)
{
    int r, bytes;
    MPI_Comm_rank(comm, &r);
    MPI_Type_size(type, &bytes);
    bytes *= count;
    char *send = send_memory + skipped, *recv = recv_memory + skipped;
    double values[MOST_BYTES / sizeof(double)];
    for (int i = 0; i < bytes / (int)sizeof *values; i++)
        values[i] = value(r, i);
    bool gets_result = root < 0 || r == root;
    in_place = in_place && gets_result;
    memcpy(in_place ? recv : send, values, (size_t)bytes);
    const void *from = in_place ? MPI_IN_PLACE : send;
    if (root < 0)
        OK(MPI_Allreduce(from, recv, count, type, MPI_SUM, comm));
    else
        OK(MPI_Reduce(from, gets_result ? recv : NULL, count, type, MPI_SUM, root, comm));
    return gets_result ? recv : NULL;
}

/* The same values in other buffers always give the same bits. */
static void other_buffers(int root)
{
    DOING("the same values in other buffers, root %d", root);
    for (int round = 0; round < ROUNDS; round++) {
        int skipped = round % 5 == 3 ? 1 : round % 3 * 8;
        bool in_place = (round + rank) % 4 == 1;
        const char *result = reduced(MPI_COMM_WORLD, MPI_DOUBLE, COUNT, root, skipped, in_place);
        if (result == NULL)
            continue;
        if (round == 0)
            memcpy(first, result, COUNT * sizeof(double));
        else if (expects_tree())
            CHECK(memcmp(first, result, COUNT * sizeof(double)) == 0);
    }
}

/* Alternates between more kinds of calls than a thread remembers. */
static void other_kinds(void)
{
    DOING("other counts, types, operators and roots in turn");
    for (int round = 0; round < ROUNDS * 4; round++) {
        int count = 1 + round % 7, root = round % size;
        double x[2 * COUNT], y[2 * COUNT];
        for (int i = 0; i < 2 * COUNT; i++)
            x[i] = i + 1 + rank;
        int sum = size * (size - 1) / 2;
        if (round % 3 == 0) {
            OK(MPI_Allreduce(x, y, count, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD));
            for (int i = 0; i < 2 * count; i++)
                CHECK(y[i] == size * (i + 1) + sum);
        } else if (round % 3 == 1) {
            OK(MPI_Reduce(x, y, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
            for (int i = 0; rank == root && i < count; i++)
                CHECK(y[i] == size * (i + 1) + sum);
        } else {
            OK(MPI_Allreduce(x, y, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
            for (int i = 0; i < count; i++)
                CHECK(y[i] == i + size);
        }
    }
}

/* A new communicator may have the handle of a freed communicator that had other ranks. */
static void other_communicators(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        int parts = round % 2 + 1, r, p;
        DOING("communicator %d", round);
        MPI_Comm_split(MPI_COMM_WORLD, rank % parts, round % 3 == 0 ? rank : -rank, &comm);
        MPI_Comm_rank(comm, &r);
        MPI_Comm_size(comm, &p);
        for (int i = 0; i < 4; i++) {
            double x = r + 1, y = 0;
            OK(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, comm));
            CHECK(y == p * (p + 1) / 2);
            y = 0;
            OK(MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, p - 1, comm));
            CHECK(y == (r == p - 1 ? p * (p + 1) / 2 : 0));
        }
        MPI_Comm_free(&comm);
    }
}

/* Makes a remembered call with wrong buffers. The library must report the same error as without the interposer. */
static void wrong_buffers(void)
{
    MPI_Comm comm, library_comm;
    double x[2] = {1, 2}, y[2];
    DOING("wrong buffers in a call that was right before");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &library_comm);
    /* Open MPI reports wrong buffers through the error handler of MPI_COMM_WORLD. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(library_comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++)
        OK(MPI_Allreduce(x, y, 2, MPI_DOUBLE, MPI_SUM, comm));
    int own = MPI_Allreduce(x, MPI_IN_PLACE, 2, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(class_of(own) == class_of(PMPI_Allreduce(x, MPI_IN_PLACE, 2, MPI_DOUBLE, MPI_SUM, library_comm)));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&library_comm);
}

static int reduce_at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    double x = 1, y = 0;
    OK(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(y == *(int *)value);
    return MPI_SUCCESS;
}

/* Makes a remembered call after MPI_Finalize has begun. */
static void at_the_end(void)
{
    int key;
    DOING("the same call in MPI_Finalize");
    for (int i = 0; i < 3; i++) {
        double x = 1, y = 0;
        OK(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        CHECK(y == size);
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &size);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    other_buffers(-1);
    for (int root = 0; root < size; root++)
        other_buffers(root);
    other_buffers(-1);
    other_kinds();
    other_communicators();
    wrong_buffers();
    at_the_end();
    int status = end("repeated");
    return status != 0 || failures != 0;
}
