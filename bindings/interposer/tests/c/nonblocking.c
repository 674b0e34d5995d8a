/* Non-blocking and persistent reductions in orders and mixtures drawn at random, beside messages, barriers and blocking reductions, each completed
   in a way of its own on every rank. An argument is the seed. */
#include "wild.h"

#include <unistd.h>

enum { OPERATIONS = 7, COUNT_MAX = 300, ROUNDS = 60, STARTS = 3 };

/* One that is under way. */
struct operation {
    enum form form;
    struct call call;
    struct type type;
    int entry_root, count, in_place;
    /* What its contributions are drawn from, another one for each start. */
    uint64_t salt;
    int *counts;
    size_t contributed;
    struct share share;
    unsigned char *send, *recv;
    bool is_done;
};

static uint64_t shared_state, own_state;

/* The same on all ranks. */
static int draw(int choices)
{
    return (int)(random_bits(shared_state++) % (uint64_t)choices);
}

/* Another one on every rank. */
static int draw_own(int choices)
{
    return (int)(random_bits(own_state++) % (uint64_t)choices);
}

/* Where the tree is not expected, results are exact in every order. */
static void exact(const struct type *type, MPI_Op op, int of_rank, size_t i, void *to)
{
    uint64_t z = random_bits(salt ^ ((uint64_t)of_rank * 1009 + i));
    put(type->kind, to, op == MPI_PROD ? 1 + (long)(z % 2) : (long)(z % 100) - 50, op == MPI_PROD ? 0 : (long)(z >> 32) % 50);
}

static void exact_result(const struct type *type, MPI_Op op, int ranks, size_t i, void *to)
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

static const struct data *data(void)
{
    return expects_tree() ? &wild_data : &exact_data;
}

static void fill(struct operation *o)
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

/* Draws one, and makes its buffers. */
static void set_up(struct operation *o, const struct type *types, MPI_Comm comm, bool is_persistent)
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

static void tear_down(struct operation *o)
{
    free(o->counts);
    free(o->send);
    free(o->recv);
}

/* A call has said that it is complete: its result is there now. */
static void check_done(struct operation *o)
{
    salt = o->salt;
    CHECK(!o->is_done);
    o->is_done = true;
    check_result(data(), &o->type, o->call.op, o->share, o->recv);
}

/* What else is in a list of requests. */
struct message {
    int sent, got;
};

/* A request's operation, if it is one. */
static void told(struct operation *operations, int operations_count, int index)
{
    if (index < operations_count)
        check_done(&operations[index]);
}

/* A way to complete a list. MPICH 4.0 knows persistent collectives in a wait for one or for all alone, with or without an interposer. */
static int draw_way(bool is_persistent)
{
#ifdef MPICH
    if (is_persistent)
        return draw_own(2) ? 0 : 6;
#else
    (void)is_persistent;
#endif
    return draw_own(8);
}

/* Completes a list of requests. Persistent ones keep their handles. */
static void complete(struct operation *operations, int operations_count, MPI_Request *requests, int count)
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
        /* One after another, from any of them on. */
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
                /* The result is the program's now. */
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

/* Starts what was drawn, completes it, and, if it is persistent, does so several times. */
static void round_of(const struct type *types, const MPI_Comm *comms, int comms_count, bool is_persistent)
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
            OK(MPI_Irecv(&message.got, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[all++]));
            OK(MPI_Isend(&message.sent, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[all++]));
        }
        if (draw(3) == 0)
            OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[all++]));
        complete(operations, count, requests, all);
        for (int i = 0; i < count; i++) {
            CHECK(operations[i].is_done);
            CHECK((requests[i] == MPI_REQUEST_NULL) == !is_persistent);
        }
        CHECK(message.got == -1 || message.got == 1000 * starts + left);
    }
    for (int i = 0; i < count; i++) {
        if (is_persistent) {
            /* Nothing is under way: the wait is over at once. */
            OK(MPI_Wait(&kept[i], MPI_STATUS_IGNORE));
            OK(MPI_Request_free(&kept[i]));
            CHECK(kept[i] == MPI_REQUEST_NULL);
        }
        tear_down(&operations[i]);
    }
}

/* Open MPI 4.1 fails where a communicator is freed that has something under way, with or without an interposer. */
static void freed_early(const struct type *types)
{
#ifndef OPEN_MPI
    struct operation o;
    MPI_Comm comm;
    MPI_Request request;
    DOING("a communicator that is freed early");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_up(&o, types, comm, false);
    OK(start(&o.call, &request));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_done(&o);
    tear_down(&o);
#else
    (void)types;
#endif
}

static int handled_class = MPI_SUCCESS;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    MPI_Error_class(*code, &handled_class);
}

/* What MPI does not allow is an error, and leaves the reduction as it is. */
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

/* More than is gathered goes to the library, on all ranks. */
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
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : random_bits((uint64_t)getpid()) % 1000000;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("nonblocking: seed %llu\n", (unsigned long long)seed);
    shared_state = seed << 20;
    own_state = (seed << 20) + (uint64_t)(rank + 1) * (UINT64_C(1) << 40);
    predefined_types(types);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    for (int round = 0; round < ROUNDS; round++) {
        bool is_persistent = round % 3 == 2 && has_form(PERSISTENT);
        DOING("seed %llu, round %d, %s", (unsigned long long)seed, round, is_persistent ? "persistent" : "non-blocking");
        round_of(types, comms, 3, is_persistent);
        if (round % 20 == 0)
            freed_early(types);
    }
    refused();
    long_ones();
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    return end("nonblocking");
}
