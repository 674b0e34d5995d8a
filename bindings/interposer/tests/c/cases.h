/* A case: one reduction in one form with guarded buffers, and the buffers' expected contents afterwards. */
#ifndef CASES_H
#define CASES_H

#include "calls.h"
#include "types.h"

/* The contributions of ranks, and the expected results. */
struct data {
    /* Writes element i of a rank's contribution. */
    void (*contribution)(const struct type *type, MPI_Op op, int of_rank, size_t i, void *to);
    /* Writes element i of the reduction over the first ranks. */
    void (*result)(const struct type *type, MPI_Op op, int ranks, size_t i, void *to);
    /* Whether an element is as expected. */
    bool (*is_same)(const struct type *type, const void *left, const void *right);
};

/* Guard bytes before and after a buffer: no call may write them. */
enum { GUARD = 64, PATTERN = 0xA5 };

/* The elements that a rank gets from the reduction over the first `ranks` ranks. */
struct share {
    size_t first, elements;
    int ranks;
};

static inline bool is_pattern(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != PATTERN)
            return false;
    return true;
}

static inline void check_result(const struct data *data, const struct type *type, MPI_Op op, struct share share, const unsigned char *at)
{
    size_t bytes = kind_bytes[type->kind], wrong = 0;
    unsigned char expected[2 * sizeof(long double)];
    for (size_t i = 0; i < share.elements; i++) {
        data->result(type, op, share.ranks, share.first + i, expected);
        if (!data->is_same(type, at + i * bytes, expected))
            wrong++;
    }
    CHECK(wrong == 0);
}

/* The number of elements that a rank gets from Reduce_scatter: 0 for every third rank. */
static inline int count_of(int of_rank, int count)
{
    return of_rank % 3 == 1 ? 0 : count + of_rank;
}

/* The elements that this rank gets, and the number that each rank contributes. */
static inline struct share share_of(enum entry entry, int count, int root, MPI_Comm comm, int *counts, size_t *contributed)
{
    int r, p;
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &p);
    struct share share = {0, (size_t)count, p};
    *contributed = (size_t)count;
    switch (entry) {
    case REDUCE:
        if (r != root)
            share.elements = 0;
        break;
    case REDUCE_SCATTER:
        *contributed = 0;
        for (int k = 0; k < p; k++) {
            counts[k] = count == 0 ? 0 : count_of(k, count);
            if (k == r)
                share.first = *contributed;
            *contributed += (size_t)counts[k];
        }
        share.elements = (size_t)counts[r];
        break;
    case REDUCE_SCATTER_BLOCK:
        *contributed = (size_t)count * (size_t)p;
        share.first = (size_t)count * (size_t)r;
        break;
    case SCAN: share.ranks = r + 1; break;
    case EXSCAN:
        share.ranks = r;
        if (r == 0)
            share.elements = 0;
        break;
    default: break;
    }
    return share;
}

/* Makes a call, and checks its result and its buffers. */
static inline void run_case(const struct data *data, enum entry entry, enum form form, const struct type *type, MPI_Op op,
                            const char *op_name, int count, int root, bool in_place, MPI_Comm comm)
{
    int r, p;
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &p);
    DOING("%s %s %s of %d %s, root %d, %s", form_names[form], entry_names[entry], op_name, count, type->name, root,
          in_place ? "in place" : "two buffers");
    int *counts = allocate((size_t)p * sizeof *counts);
    size_t contributed, bytes = kind_bytes[type->kind];
    struct share share = share_of(entry, count, root, comm, counts, &contributed);
    size_t length = contributed * bytes;
    unsigned char *send = allocate(length + 2 * GUARD), *recv = allocate(length + 2 * GUARD), *before = allocate(length + 2 * GUARD);
    memset(send, PATTERN, length + 2 * GUARD);
    memset(recv, PATTERN, length + 2 * GUARD);
    for (size_t i = 0; i < contributed; i++)
        data->contribution(type, op, r, i, send + GUARD + i * bytes);
    memcpy(before, send, length + 2 * GUARD);

    bool has_result = entry != REDUCE || r == root;
    /* Only the root of a reduce has its result in place. */
    in_place = in_place && has_result;
    if (in_place)
        memcpy(recv, send, length + 2 * GUARD);
    struct call c = {entry, in_place ? MPI_IN_PLACE : send + GUARD, recv + GUARD, count, counts, type->type, op, root, comm};
    /* A buffer that is not significant may be an invalid pointer. */
    if (!has_result && count % 2 == 1)
        c.recv = NULL;
    OK(call(&c, form));

    CHECK(memcmp(send, before, length + 2 * GUARD) == 0);
    check_result(data, type, op, share, recv + GUARD);
    if (entry == EXSCAN && r == 0) {
        /* In place, the elements stay. Otherwise MPI leaves them undefined, and no library writes them. */
        CHECK(in_place ? memcmp(recv, before, length + 2 * GUARD) == 0 : is_pattern(recv, length + 2 * GUARD));
    } else if (in_place && entry != ALLREDUCE) {
        CHECK(is_pattern(recv, GUARD) && is_pattern(recv + GUARD + length, GUARD));
    } else {
        size_t end = GUARD + share.elements * bytes;
        CHECK(is_pattern(recv, GUARD));
        CHECK(in_place ? is_pattern(recv + GUARD + length, GUARD) : is_pattern(recv + end, length + 2 * GUARD - end));
    }
    free(send);
    free(recv);
    free(before);
    free(counts);
}

#endif
