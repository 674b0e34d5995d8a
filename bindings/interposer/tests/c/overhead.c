/* Measures reductions by their MPI_ names, which an interposer replaces, and by their PMPI_ names, alternately in one run. As in the Intel
   MPI Benchmarks, the root changes from call to call. The first argument is the number of repetitions of the shortest message; a second
   argument, `nonblocking`, leaves out blocking calls. A non-blocking reduction gathers all ranks' contributions on each rank. */
#include "check.h"

enum { MOST_BYTES = 2 << 20, SAMPLES = 31 };

/* A call by its MPI_ or its PMPI_ name. */
#define BY_NAME(is_own, call) ((is_own) ? MPI_##call : PMPI_##call)

/* Computes for a number of iterations, without MPI. */
static double compute(long turns)
{
    volatile double x = 1;
    for (long i = 0; i < turns; i++)
        x = x * 0.999 + 0.001;
    return x;
}

/* A function to time. A non-blocking reduction is followed by a computation of `turns` iterations, then by its completion. */
typedef void (*work)(bool is_own, const double *x, double *y, int count, long turns);

static void allreduce(bool is_own, const double *x, double *y, int count, long turns)
{
    (void)turns;
    BY_NAME(is_own, Allreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

/* All ranks make the same calls, so they use the same root in each call. */
static void reduce(bool is_own, const double *x, double *y, int count, long turns)
{
    static int root = 0;
    (void)turns;
    root = (root + 1) % size;
    BY_NAME(is_own, Reduce(x, y, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
}

static void iallreduce(bool is_own, const double *x, double *y, int count, long turns)
{
    MPI_Request request;
    BY_NAME(is_own, Iallreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    compute(turns);
    BY_NAME(is_own, Wait(&request, MPI_STATUS_IGNORE));
}

static void only_compute(bool is_own, const double *x, double *y, int count, long turns)
{
    MPI_Request request = MPI_REQUEST_NULL;
    (void)x, (void)y, (void)count;
    compute(turns);
    BY_NAME(is_own, Wait(&request, MPI_STATUS_IGNORE));
}

/* Microseconds per call on the slowest rank. */
static double time_of(work run, bool is_own, const double *x, double *y, int count, long turns, int repetitions)
{
    double begin, own, slowest = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        run(is_own, x, y, count, turns);
    own = (MPI_Wtime() - begin) / repetitions * 1e6;
    PMPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Keeps the least time: longer times also contain the work of other programs on the machine. */
static void keep_least(double *least, double time)
{
    *least = time < *least ? time : *least;
}

/* Numbers to reduce. */
static double *filled(void)
{
    double *x = allocate(MOST_BYTES);
    for (size_t i = 0; i < MOST_BYTES / sizeof *x; i++)
        x[i] = (double)random_bits(i);
    return x;
}

static void table(const char *name, work run, int most_repetitions)
{
    bool gathers = run == iallreduce;
    double *x = filled(), *y = allocate(MOST_BYTES);
    DOING("timing %s", name);
    if (rank == 0)
        printf("\n%s, %d ranks, least of %d\n%10s %13s %13s %8s%s\n", name, size, (int)SAMPLES, "bytes", "MPI_, µs", "PMPI_, µs", "ratio",
               gathers ? "   gathered on a rank" : "");
    for (int bytes = 8; bytes <= MOST_BYTES; bytes *= 2) {
        int count = bytes / (int)sizeof *x, repetitions = most_repetitions / (1 + bytes / 4096);
        repetitions = repetitions < 2 ? 2 : repetitions;
        double least[2] = {1e30, 1e30};
        /* The first sample warms up, and fills the interposer's caches. */
        for (int sample = -1; sample < SAMPLES; sample++)
            for (int turn = 0; turn < 2; turn++) {
                int which = (turn + sample + 1) % 2;
                double us = time_of(run, which == 0, x, y, count, 0, repetitions);
                if (sample >= 0)
                    keep_least(&least[which], us);
            }
        if (rank == 0)
            printf("%10d %12.2f %12.2f %8.2f", bytes, least[0], least[1], least[0] / least[1]);
        if (rank == 0 && gathers)
            printf(" %18ld B", (long)bytes * size);
        if (rank == 0)
            printf("\n");
    }
    free(x);
    free(y);
}

/* The share of the communication time that a computation of the same duration hides: 1 - (both - computation) / communication. */
static void overlaps(int repetitions)
{
    double *x = filled(), *y = allocate(MOST_BYTES);
    DOING("timing overlap");
    if (rank == 0)
        printf("\nIallreduce that computation hides on %d ranks\n%10s %13s %13s %8s %18s\n", size, "bytes", "MPI_", "PMPI_", "ratio",
               "gathered, bytes");
    for (int bytes = 1024; bytes <= MOST_BYTES; bytes *= 8) {
        int count = bytes / (int)sizeof *x, most = 2 + repetitions / (1 + bytes / 4096);
        double shares[2];
        for (int which = 0; which < 2; which++) {
            double least[3] = {1e30, 1e30, 1e30}, turn_us = 1e30;
            long turns = 0;
            for (int sample = 0; sample < SAMPLES; sample++) {
                keep_least(&least[0], time_of(iallreduce, which == 0, x, y, count, 0, most));
                keep_least(&turn_us, time_of(only_compute, which == 0, x, y, count, 10000, 2) / 10000);
            }
            turns = (long)(least[0] / turn_us);
            PMPI_Bcast(&turns, 1, MPI_LONG, 0, MPI_COMM_WORLD);
            for (int sample = 0; sample < SAMPLES; sample++) {
                keep_least(&least[1], time_of(only_compute, which == 0, x, y, count, turns, most));
                keep_least(&least[2], time_of(iallreduce, which == 0, x, y, count, turns, most));
            }
            shares[which] = 1 - (least[2] - least[1]) / least[0];
        }
        if (rank == 0)
            printf("%10d %13.2f %13.2f %8.2f %18ld\n", bytes, shares[0], shares[1], shares[0] / shares[1], (long)bytes * size);
    }
    free(x);
    free(y);
}

/* The number of calls that are timed while no reduction is under way. The table shows nanoseconds per call on the slowest rank. */
enum { IDLE_CALLS = 100000 };

static void wait_idle(MPI_Request *request, bool is_own)
{
    BY_NAME(is_own, Wait(request, MPI_STATUS_IGNORE));
}

static void test_idle(MPI_Request *request, bool is_own)
{
    int flag;
    BY_NAME(is_own, Test(request, &flag, MPI_STATUS_IGNORE));
}

static void waitall_idle(MPI_Request *request, bool is_own)
{
    MPI_Status status;
    BY_NAME(is_own, Waitall(1, request, &status));
}

static void idle(const char *name, void (*call)(MPI_Request *, bool))
{
    double least[2] = {1e30, 1e30}, slowest[2];
    DOING("timing %s", name);
    for (int sample = 0; sample < SAMPLES; sample++)
        for (int which = 0; which < 2; which++) {
            MPI_Request request = MPI_REQUEST_NULL;
            double begin = MPI_Wtime();
            for (int i = 0; i < IDLE_CALLS; i++)
                call(&request, which == 0);
            keep_least(&least[which], (MPI_Wtime() - begin) / IDLE_CALLS * 1e9);
        }
    PMPI_Allreduce(least, slowest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%10s %13.1f %13.1f %8.1f\n", name, slowest[0], slowest[1], slowest[0] - slowest[1]);
}

static void idles(void)
{
    if (rank == 0)
        printf("\nCalls with nothing under way on %d ranks\n%10s %13s %13s %8s\n", size, "", "MPI_, ns", "PMPI_, ns", "more");
    idle("Wait", wait_idle);
    idle("Test", test_idle);
    idle("Waitall", waitall_idle);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int repetitions = argc > 1 ? atoi(argv[1]) : 1000;
    if (argc < 3 || strcmp(argv[2], "nonblocking") != 0) {
        table("Allreduce", allreduce, repetitions);
        table("Reduce", reduce, repetitions);
    }
    table("Iallreduce and Wait", iallreduce, repetitions);
    overlaps(repetitions);
    idles();
    return end("overhead");
}
