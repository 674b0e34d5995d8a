/* Non-blocking and persistent reductions in random orders and mixtures, together with messages, barriers and blocking reductions. Every
   rank draws how it completes the requests, and every thread draws its own operations. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "wild.h"

#include <unistd.h>

enum { OPERATIONS = 7, COUNT_MAX = 300, STARTS = 3 };

/* A reduction under way. */
struct operation {
    enum form form;
    struct call call;
    struct type type;
    int entry_root, count, in_place;
    /* The salt, which changes the contributions at each start. */
    uint64_t salt;
    int *counts;
    size_t contributed;
    struct share share;
    unsigned char *send, *recv;
    bool is_done;
};

static _Thread_local uint64_t shared_state, own_state;

/* Draws the same number on all ranks. */
static inline int draw(int choices)
{
    return (int)(random_bits(shared_state++) % (uint64_t)choices);
}

/* Draws a different number on every rank. */
static inline int draw_own(int choices)
{
    return (int)(random_bits(own_state++) % (uint64_t)choices);
}

/* The seed of all random numbers: the program's argument, or a new seed for each run. */
static inline uint64_t seed_of(int argc, char **argv, const char *name)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : random_bits((uint64_t)getpid()) % 1000000;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: seed %llu\n", name, (unsigned long long)seed);
    return seed;
}

/* Sets the seed of the thread with this number. */
static inline void draw_from(uint64_t seed, int thread)
{
    shared_state = (seed << 20) + ((uint64_t)thread << 52);
    own_state = shared_state + ((uint64_t)(rank + 1) << 40);
}

/* Contributions for runs that do not expect the tree's bits. Their sums and products are exact in every order. */
static inline void exact(const struct type *type, MPI_Op op, int of_rank, size_t i, void *to)
{
    uint64_t z = random_bits(salt ^ ((uint64_t)of_rank * 1009 + i));
    put(type->kind, to, op == MPI_PROD ? 1 + (long)(z % 2) : (long)(z % 100) - 50, op == MPI_PROD ? 0 : (long)(z >> 32) % 50);
}

static inline void exact_result(const struct type *type, MPI_Op op, int ranks, size_t i, void *to)
{
    double total[2] = {op == MPI_PROD, 0};
    for (int r = 0; r < ranks; r++) {
        unsigned char bytes[16];
        double parts[2] = {0, 0};
        exact(type, op, r, i, bytes);
        get(type->kind, bytes, parts);
        total[0] = op == MPI_PROD ? total[0] * parts[0] : total[0] + parts[0];
        total[1] += op == MPI_PROD ? 0 : parts[1];
    }
    put(type->kind, to, (long)total[0], (long)total[1]);
}

static const struct data exact_data = {exact, exact_result, same_value};

static inline const struct data *data(void)
{
    return expects_tree() ? &wild_data : &exact_data;
}

static inline void fill(struct operation *o)
{
    int r;
    size_t bytes = kind_bytes[o->type.kind];
    MPI_Comm_rank(o->call.comm, &r);
    salt = o->salt;
    for (size_t i = 0; i < o->contributed; i++)
        data()->contribution(&o->type, o->call.op, r, i, (o->in_place ? o->recv : o->send) + i * bytes);
    if (!o->in_place)
        memset(o->recv, PATTERN, o->contributed * bytes);
    o->is_done = false;
}

/* Draws a reduction, and allocates its buffers. */
static inline void set_up(struct operation *o, const struct type *types, MPI_Comm comm, bool is_persistent)
{
    static const int counts[] = {1, 2, 5, 17, 128, COUNT_MAX};
    int r, p;
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &p);
    enum entry entry = (enum entry)draw(ENTRIES);
    o->type = types[draw(4)];
    o->count = counts[draw(6)];
    o->form = is_persistent ? PERSISTENT : NONBLOCKING;
    o->counts = allocate((size_t)p * sizeof *o->counts);
    int root = draw(p);
    MPI_Op op = draw(3) == 0 ? MPI_PROD : MPI_SUM;
    bool has_result = entry != REDUCE || r == root;
    o->in_place = draw(3) == 0 && has_result;
    o->salt = random_bits(shared_state++);
    o->share = share_of(entry, o->count, root, comm, o->counts, &o->contributed);
    size_t length = o->contributed * kind_bytes[o->type.kind];
    o->send = allocate(length);
    o->recv = allocate(length);
    o->call = (struct call){entry, o->in_place ? MPI_IN_PLACE : o->send, o->recv, o->count, o->counts, o->type.type, op, root, comm};
    fill(o);
}

static inline void tear_down(struct operation *o)
{
    free(o->counts);
    free(o->send);
    free(o->recv);
}

/* Checks the result of a reduction that a call has just reported complete. */
static inline void check_done(struct operation *o)
{
    salt = o->salt;
    CHECK(!o->is_done);
    o->is_done = true;
    check_result(data(), &o->type, o->call.op, o->share, o->recv);
}

/* A message. Its requests may be in the list of requests, too. */
struct message {
    int sent, got;
};

/* Checks the operation of a completed request, if the request has one. */
static inline void told(struct operation *operations, int operations_count, int index)
{
    if (index < operations_count)
        check_done(&operations[index]);
}

/* Draws a way to complete a list of requests. MPICH 4.0 supports persistent collectives only in MPI_Waitall and in calls with one request,
   with or without an interposer. */
static inline int draw_way(bool is_persistent)
{
#ifdef MPICH
    if (is_persistent)
        return draw_own(2) ? 0 : 6;
#else
    (void)is_persistent;
#endif
    return draw_own(8);
}

/* Completes a list of requests. Persistent requests keep their handles. */
static inline void complete(struct operation *operations, int operations_count, MPI_Request *requests, int count)
{
    int left = count, index, flag, done_count, indices[2 * OPERATIONS];
    bool done[2 * OPERATIONS] = {false};
    MPI_Status statuses[2 * OPERATIONS];
    switch (draw_way(operations[0].form == PERSISTENT)) {
    case 0:
        OK(MPI_Waitall(count, requests, statuses));
        for (int i = 0; i < count; i++)
            told(operations, operations_count, i);
        return;
    case 1:
        for (flag = 0; !flag;)
            OK(MPI_Testall(count, requests, &flag, draw_own(2) ? statuses : no_statuses()));
        for (int i = 0; i < count; i++)
            told(operations, operations_count, i);
        return;
    case 2:
    case 3:
        while (left > 0) {
            flag = 1;
            if (draw_own(2))
                OK(MPI_Waitany(count, requests, &index, statuses));
            else
                OK(MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE));
            if (!flag)
                continue;
            CHECK(index != MPI_UNDEFINED && !done[index]);
            done[index] = true;
            told(operations, operations_count, index);
            left--;
        }
        return;
    case 4:
    case 5:
        while (left > 0) {
            if (draw_own(2))
                OK(MPI_Waitsome(count, requests, &done_count, indices, statuses));
            else
                OK(MPI_Testsome(count, requests, &done_count, indices, no_statuses()));
            CHECK(done_count != MPI_UNDEFINED);
            for (int i = 0; i < done_count; i++)
                told(operations, operations_count, indices[i]);
            left -= done_count;
        }
        return;
    default:
        /* Completes the requests one after another, beginning with a random one. */
        for (int i = 0, first = draw_own(count); i < count; i++) {
            index = (first + i) % count;
            bool is_told = false;
            switch (draw_own(3)) {
            case 0: OK(MPI_Wait(&requests[index], MPI_STATUS_IGNORE)); break;
            case 1:
                for (flag = 0; !flag;)
                    OK(MPI_Test(&requests[index], &flag, statuses));
                break;
            default:
                for (flag = 0; !flag;)
                    OK(MPI_Request_get_status(requests[index], &flag, statuses));
                told(operations, operations_count, index);
                is_told = true;
                /* The program may change the result now. */
                if (index < operations_count)
                    memset(operations[index].recv, PATTERN, 1);
                OK(MPI_Wait(&requests[index], statuses));
                if (index < operations_count && operations[index].share.elements > 0)
                    CHECK(operations[index].recv[0] == PATTERN);
            }
            if (!is_told)
                told(operations, operations_count, index);
        }
    }
}

/* Draws, starts and completes reductions, persistent ones several times. Messages and barriers use the first communicator. */
static inline void round_of(const struct type *types, const MPI_Comm *comms, int comms_count, bool is_persistent)
{
    struct operation operations[OPERATIONS];
    MPI_Request requests[2 * OPERATIONS], kept[OPERATIONS];
    int count = 1 + draw(OPERATIONS), right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < count; i++)
        set_up(&operations[i], types, comms[draw(comms_count)], is_persistent);
    for (int i = 0; i < count && is_persistent; i++)
        OK(prepare(&operations[i].call, &kept[i]));
    for (int starts = 0; starts < (is_persistent ? STARTS : 1); starts++) {
        struct message message = {1000 * starts + rank, -1};
        int all = count;
        for (int i = 0; i < count; i++) {
            if (starts > 0) {
                operations[i].salt = random_bits(shared_state++);
                fill(&operations[i]);
            }
            requests[i] = MPI_REQUEST_NULL;
        }
        if (is_persistent && draw(2)) {
            memcpy(requests, kept, (size_t)count * sizeof *kept);
            OK(MPI_Startall(count, requests));
        } else {
            for (int i = 0; i < count; i++) {
                if (is_persistent) {
                    requests[i] = kept[i];
                    OK(MPI_Start(&requests[i]));
                } else {
                    OK(start(&operations[i].call, &requests[i]));
                }
                if (draw(4) == 0) {
                    double x = rank + 1, y;
                    OK(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, operations[i].call.comm));
                    CHECK(y == size * (size + 1) / 2);
                }
            }
        }
        if (draw(2)) {
            OK(MPI_Irecv(&message.got, 1, MPI_INT, left, 7, comms[0], &requests[all++]));
            OK(MPI_Isend(&message.sent, 1, MPI_INT, right, 7, comms[0], &requests[all++]));
        }
        if (draw(3) == 0)
            OK(MPI_Ibarrier(comms[0], &requests[all++]));
        complete(operations, count, requests, all);
        for (int i = 0; i < count; i++) {
            CHECK(operations[i].is_done);
            CHECK((requests[i] == MPI_REQUEST_NULL) == !is_persistent);
        }
        CHECK(message.got == -1 || message.got == 1000 * starts + left);
    }
    for (int i = 0; i < count; i++) {
        if (is_persistent) {
            /* Nothing is under way: a wait returns at once, and writes nothing. */
            int is_over = 0;
            memset(operations[i].recv, PATTERN, 1);
            OK(MPI_Wait(&kept[i], MPI_STATUS_IGNORE));
            OK(MPI_Test(&kept[i], &is_over, MPI_STATUS_IGNORE));
            CHECK(is_over && operations[i].recv[0] == PATTERN);
            OK(MPI_Request_free(&kept[i]));
            CHECK(kept[i] == MPI_REQUEST_NULL);
        }
        tear_down(&operations[i]);
    }
}

#endif
