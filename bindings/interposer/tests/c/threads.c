/* Runs threads under MPI_THREAD_MULTIPLE. Each has its own communicators, and threads may first use theirs at the same time. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, COMMUNICATORS = 10, ROUNDS = 20 };

/* The data of a thread. */
struct own {
    int thread, wrong_count;
    MPI_Comm comms[COMMUNICATORS];
};

/* The order of calls of different threads is undefined, and differs between ranks. */
static void *reduce(void *argument)
{
    struct own *own = argument;
    int thread = own->thread;
    for (int i = 0; i < COMMUNICATORS; i++)
        for (int round = 0; round < ROUNDS; round++) {
            int root = round % size, code;
            double x[16], y[16];
            float mine = (float)(rank + thread), sum = 0;
            for (int k = 0; k < 16; k++)
                x[k] = (rank + 1) * (thread + k);
            /* These reductions are under way while this thread and others make other calls, and complete at the same
               time as the reductions of other threads. */
            double started[2][16] = {{0}};
            MPI_Request requests[2];
            int is_done = 0;
            code = MPI_Iallreduce(x, started[0], 16, MPI_DOUBLE, MPI_SUM, own->comms[i], &requests[0]);
            own->wrong_count += code != MPI_SUCCESS;
            code = MPI_Iscan(x, started[1], 16, MPI_DOUBLE, MPI_SUM, own->comms[i], &requests[1]);
            own->wrong_count += code != MPI_SUCCESS;
            code = MPI_Allreduce(x, y, 16, MPI_DOUBLE, MPI_SUM, own->comms[i]);
            own->wrong_count += code != MPI_SUCCESS || y[3] != size * (size + 1) / 2 * (thread + 3);
            code = MPI_Reduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, root, own->comms[i]);
            own->wrong_count += code != MPI_SUCCESS || (rank == root && sum != (float)(size * (size - 1) / 2 + size * thread));
            if (round % 2 == 0)
                code = MPI_Waitall(2, requests, no_statuses());
            for (; round % 2 != 0 && !is_done && code == MPI_SUCCESS;)
                code = MPI_Testall(2, requests, &is_done, no_statuses());
            own->wrong_count += code != MPI_SUCCESS || started[0][3] != y[3];
            own->wrong_count += started[1][3] != (rank + 1) * (rank + 2) / 2 * (thread + 3);
        }
    /* One thread may free plans and duplicates while another one reduces. */
    for (int i = 0; i < COMMUNICATORS; i++)
        MPI_Comm_free(&own->comms[i]);
    return NULL;
}

/* A reduction that one thread starts and another one completes. */
struct started {
    double x, y;
    MPI_Request request;
    int code;
};

static void *finish(void *argument)
{
    struct started *started = argument;
    started->code = MPI_Wait(&started->request, MPI_STATUS_IGNORE);
    return NULL;
}

static void handed_over(void)
{
    struct started started[THREADS];
    pthread_t threads[THREADS];
    DOING("reductions that other threads complete");
    for (int t = 0; t < THREADS; t++) {
        started[t] = (struct started){rank + t, -1, MPI_REQUEST_NULL, -1};
        OK(MPI_Iallreduce(&started[t].x, &started[t].y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &started[t].request));
    }
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, finish, &started[(t + rank) % THREADS]) == 0);
    /* Meanwhile this thread is in a blocking call. */
    double x = 1, y;
    OK(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(started[t].code == MPI_SUCCESS && started[t].y == size * (size - 1) / 2 + size * t);
}

enum { ASKED_ELEMENTS = 4096, ASKED_ROUNDS = 100 };

/* Several threads test one request. Each thread that learns that the request is complete must see the result. */
struct asked {
    double x[ASKED_ELEMENTS], y[ASKED_ELEMENTS];
    MPI_Request request;
};

static void *ask(void *argument)
{
    struct asked *asked = argument;
    int flag = 0, wrong_count = 0;
    while (!flag)
        wrong_count += MPI_Request_get_status(asked->request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    for (int i = 0; i < ASKED_ELEMENTS; i++)
        wrong_count += asked->y[i] != size * (size + 1) / 2 * (i % 9);
    return wrong_count == 0 ? NULL : argument;
}

static void asked_by_all(void)
{
    static struct asked asked;
    pthread_t threads[THREADS];
    DOING("a request about which several threads ask");
    for (int i = 0; i < ASKED_ELEMENTS; i++)
        asked.x[i] = (rank + 1) * (i % 9);
    for (int round = 0; round < ASKED_ROUNDS; round++) {
        memset(asked.y, -1, sizeof asked.y);
        OK(MPI_Iallreduce(asked.x, asked.y, ASKED_ELEMENTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &asked.request));
        for (int t = 0; t < THREADS; t++)
            CHECK(pthread_create(&threads[t], NULL, ask, &asked) == 0);
        for (int t = 0; t < THREADS; t++) {
            void *wrong = NULL;
            CHECK(pthread_join(threads[t], &wrong) == 0 && wrong == NULL);
        }
        OK(MPI_Wait(&asked.request, MPI_STATUS_IGNORE));
    }
}

/* Threads use a communicator one after another, so the communicator's state moves between threads. */
static void *reduce_once(void *argument)
{
    struct own *own = argument;
    double x = rank + 1, y = 0;
    int code = MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    own->wrong_count += code != MPI_SUCCESS || y != size * (size + 1) / 2;
    return NULL;
}

int main(int argc, char **argv)
{
    static struct own own[THREADS];
    pthread_t threads[THREADS];
    DOING("threads");
    if (begin_at(MPI_THREAD_MULTIPLE, &argc, &argv) < MPI_THREAD_MULTIPLE)
        return skip("threads, as the MPI library does not provide MPI_THREAD_MULTIPLE");
    for (int t = 0; t < THREADS; t++) {
        own[t].thread = t;
        for (int i = 0; i < COMMUNICATORS; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &own[t].comms[i]);
    }
    /* Ranks start their threads in different orders. */
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[(t + rank) % THREADS], NULL, reduce, &own[(t + rank) % THREADS]) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_create(&threads[t], NULL, reduce_once, &own[t]) == 0);
        CHECK(pthread_join(threads[t], NULL) == 0);
        CHECK(own[t].wrong_count == 0);
    }
    handed_over();
    asked_by_all();
    return end("threads");
}
