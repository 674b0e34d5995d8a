/* What the tests of sums by key over ranks share: items with keys, and their sums by integers of 128 bits; who has which; and how a test
   begins and ends. */
#ifndef BY_KEY_H
#define BY_KEY_H

#include "../../../c/tests/c/check.h"

#include <math.h>
#include <stdlib.h>
#include <treefold_mpi.h>

enum { N = 700, KEYS = 23, STEPS = 3 };

/* Items are integers in this unit. */
static const double UNIT = 0x1p-40;

static int rank, size;
static treefold_comm *comm;
static double x[N], own_x[N], sums[KEYS], means[KEYS];
static float small_x[N], own_small[N], small_sums[KEYS];
static int64_t keys[N];
static int32_t own_keys[N];

static int last(void) { return size - 1; }

/* 53 bits at up to 50 places more; the last key has no items. */
static void draw(void)
{
    __int128 exact[KEYS] = {0}, small_exact[KEYS] = {0};
    size_t counts[KEYS] = {0};
    for (size_t i = 0; i < N; i++) {
        int64_t fraction = (int64_t)(number(i) * 0x1p62) / 1024, small = (int64_t)(number(i + N) * 0x1p24);
        int places = (int)(i * 7 % 50), few = (int)(i % 20);
        keys[i] = (int64_t)(i * 5 % (KEYS - 1));
        x[i] = ldexp((double)fraction, places) * UNIT;
        small_x[i] = ldexpf((float)small, few);
        exact[keys[i]] += (__int128)fraction * ((__int128)1 << places);
        small_exact[keys[i]] += (__int128)small * ((__int128)1 << few);
        counts[keys[i]]++;
    }
    for (size_t key = 0; key < KEYS; key++) {
        /* The compiler rounds once, to nearest with ties to even. */
        sums[key] = (double)exact[key] * UNIT;
        small_sums[key] = (float)small_exact[key];
        means[key] = counts[key] == 0 ? NAN : (double)(exact[key] / (__int128)counts[key]);
    }
}

static int owner(size_t i, int step)
{
    return step == 0 ? last() : (int)((i * 7919 + (size_t)step) % 11) % size;
}

/* This rank's items, in another order in every other step. */
static size_t deal(int step)
{
    size_t count = 0;
    for (size_t turn = 0; turn < N; turn++) {
        size_t i = step % 2 == 0 ? turn : N - 1 - turn;
        if (owner(i, step) == rank)
            own_keys[count] = (int32_t)keys[i], own_small[count] = small_x[i], own_x[count++] = x[i];
    }
    return count;
}

/* Runs checks on all ranks. */
static int on_ranks(int argc, char **argv, void (*checks)(void))
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    /* A rank that is waited for in vain fails the test, and not its time. */
    OK(treefold_comm_silence_limit(comm, 60));
    draw();
    checks();
    OK(treefold_comm_free(&comm));
    int others = 0;
    MPI_Allreduce(&failures, &others, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures + others != 0;
}

#endif
