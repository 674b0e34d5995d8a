/* Runs threads under MPI_THREAD_MULTIPLE, each of which makes its own random reductions in random order. The argument is the seed. */
#include "operations.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 20, COMMUNICATORS = 3 };

struct own {
    int thread;
    uint64_t seed;
    struct type types[MOST_TYPES];
    MPI_Comm comms[COMMUNICATORS];
};

static void *draw_rounds(void *argument)
{
    struct own *own = argument;
    draw_from(own->seed, own->thread);
    for (int round = 0; round < ROUNDS; round++) {
        bool is_persistent = round % 3 == 2 && has_form(PERSISTENT);
        DOING("seed %llu, thread %d, round %d, %s", (unsigned long long)own->seed, own->thread, round,
              is_persistent ? "persistent" : "non-blocking");
        round_of(own->types, own->comms, COMMUNICATORS, is_persistent);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct own own[THREADS];
    pthread_t threads[THREADS];
    if (begin_at(MPI_THREAD_MULTIPLE, &argc, &argv) < MPI_THREAD_MULTIPLE)
        return skip("mixtures, as the MPI library does not provide MPI_THREAD_MULTIPLE");
    uint64_t seed = seed_of(argc, argv, "mixtures");
    for (int t = 0; t < THREADS; t++) {
        own[t].thread = t;
        own[t].seed = seed;
        predefined_types(own[t].types);
        MPI_Comm_dup(MPI_COMM_WORLD, &own[t].comms[0]);
        MPI_Comm_dup(MPI_COMM_WORLD, &own[t].comms[1]);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &own[t].comms[2]);
    }
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, draw_rounds, &own[(t + rank) % THREADS]) == 0);
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < COMMUNICATORS; i++)
            MPI_Comm_free(&own[t].comms[i]);
    return end("mixtures");
}
