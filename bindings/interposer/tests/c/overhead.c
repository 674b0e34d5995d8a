/* Times of reductions through MPI_ names, which an interposer takes over, compared with the same through PMPI_ names: measured alternately,
   in one run. As in the Intel MPI Benchmarks, ranks take turns in being the root. An argument is the number of repetitions of the least
   message; a second one, `nonblocking`, leaves out blocking calls. On p ranks, each rank gathers p times the bytes of a non-blocking
   reduction. */
#include "check.h"

enum { MOST_BYTES = 2 << 20, SAMPLES = 31 };

/* One of two names for the same call. */
typedef void (*reduction)(const double *x, double *y, int count);

static void allreduce(const double *x, double *y, int count)
{
    MPI_Allreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void library_allreduce(const double *x, double *y, int count)
{
    PMPI_Allreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Returns the same root on all ranks, which make the same calls. */
static int next_root(void)
{
    static int root = 0;
    root = (root + 1) % size;
    return root;
}

static void reduce(const double *x, double *y, int count)
{
    MPI_Reduce(x, y, count, MPI_DOUBLE, MPI_SUM, next_root(), MPI_COMM_WORLD);
}

static void library_reduce(const double *x, double *y, int count)
{
    PMPI_Reduce(x, y, count, MPI_DOUBLE, MPI_SUM, next_root(), MPI_COMM_WORLD);
}

static void iallreduce(const double *x, double *y, int count)
{
    MPI_Request request;
    MPI_Iallreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void library_iallreduce(const double *x, double *y, int count)
{
    MPI_Request request;
    PMPI_Iallreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The least time: the others also contain the work of other programs on the machine. */
static double least(const double times[SAMPLES])
{
    double least = times[0];
    for (int i = 1; i < SAMPLES; i++)
        least = times[i] < least ? times[i] : least;
    return least;
}

/* Microseconds per call on the slowest rank. */
static double time_of(reduction run, const double *x, double *y, int count, int repetitions)
{
    double begin, own, slowest = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        run(x, y, count);
    own = (MPI_Wtime() - begin) / repetitions * 1e6;
    PMPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void table(const char *name, reduction own, reduction library, int most_repetitions)
{
    bool gathers = own == iallreduce;
    double *x = allocate(MOST_BYTES), *y = allocate(MOST_BYTES), times[2][SAMPLES];
    for (size_t i = 0; i < MOST_BYTES / sizeof *x; i++)
        x[i] = (double)random_bits(i);
    DOING("timing %s", name);
    if (rank == 0)
        printf("\n%s, %d ranks, least of %d\n%10s %13s %13s %8s%s\n", name, size, (int)SAMPLES, "bytes", "MPI_, µs", "PMPI_, µs", "ratio",
               gathers ? "   gathered on a rank" : "");
    for (int bytes = 8; bytes <= MOST_BYTES; bytes *= 2) {
        int count = bytes / (int)sizeof *x, repetitions = most_repetitions / (1 + bytes / 4096);
        repetitions = repetitions < 2 ? 2 : repetitions;
        /* The first sample warms up, and fills the interposer's caches. */
        for (int sample = -1; sample < SAMPLES; sample++)
            for (int turn = 0; turn < 2; turn++) {
                int which = (turn + sample + 1) % 2;
                double us = time_of(which == 0 ? own : library, x, y, count, repetitions);
                if (sample >= 0)
                    times[which][sample] = us;
            }
        double own_us = least(times[0]), library_us = least(times[1]);
        if (rank == 0)
            printf("%10d %12.2f %12.2f %8.2f", bytes, own_us, library_us, own_us / library_us);
        if (rank == 0 && gathers)
            printf(" %18ld B", (long)bytes * size);
        if (rank == 0)
            printf("\n");
    }
    free(x);
    free(y);
}

/* Computes for a number of iterations, without MPI. */
static double compute(long turns)
{
    volatile double x = 1;
    for (long i = 0; i < turns; i++)
        x = x * 0.999 + 0.001;
    return x;
}

/* Microseconds of a reduction with a computation between its start and its end; the slowest rank's. */
static double time_around(bool is_own, const double *x, double *y, int count, long turns, bool communicates, int repetitions)
{
    double begin, own, slowest = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (communicates && is_own)
            MPI_Iallreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        else if (communicates)
            PMPI_Iallreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        compute(turns);
        if (is_own)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        else
            PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    own = (MPI_Wtime() - begin) / repetitions * 1e6;
    PMPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* The share of communication that a computation of the same length hides: 1 - (both - computation) / communication. */
static void overlaps(int repetitions)
{
    double *x = allocate(MOST_BYTES), *y = allocate(MOST_BYTES);
    for (size_t i = 0; i < MOST_BYTES / sizeof *x; i++)
        x[i] = (double)random_bits(i);
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
                double us = time_around(which == 0, x, y, count, 0, true, most);
                least[0] = us < least[0] ? us : least[0];
                us = time_around(which == 0, x, y, count, 10000, false, 2) / 10000;
                turn_us = us < turn_us ? us : turn_us;
            }
            turns = (long)(least[0] / turn_us);
            PMPI_Bcast(&turns, 1, MPI_LONG, 0, MPI_COMM_WORLD);
            for (int sample = 0; sample < SAMPLES; sample++)
                for (int communicates = 0; communicates < 2; communicates++) {
                    double us = time_around(which == 0, x, y, count, turns, communicates != 0, most);
                    least[1 + communicates] = us < least[1 + communicates] ? us : least[1 + communicates];
                }
            shares[which] = 1 - (least[2] - least[1]) / least[0];
        }
        if (rank == 0)
            printf("%10d %13.2f %13.2f %8.2f %18ld\n", bytes, shares[0], shares[1], shares[0] / shares[1], (long)bytes * size);
    }
    free(x);
    free(y);
}

/* Calls without work while no reduction is under way: nanoseconds per call on the slowest rank. */
enum { IDLE_CALLS = 100000 };

static void wait_idle(MPI_Request *request, bool is_own)
{
    if (is_own)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else
        PMPI_Wait(request, MPI_STATUS_IGNORE);
}

static void test_idle(MPI_Request *request, bool is_own)
{
    int flag;
    if (is_own)
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    else
        PMPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

static void waitall_idle(MPI_Request *request, bool is_own)
{
    MPI_Status status;
    if (is_own)
        MPI_Waitall(1, request, &status);
    else
        PMPI_Waitall(1, request, &status);
}

static void idle(const char *name, void (*call)(MPI_Request *, bool))
{
    double least[2] = {1e30, 1e30}, slowest[2];
    DOING("timing %s", name);
    for (int sample = 0; sample < SAMPLES; sample++)
        for (int which = 0; which < 2; which++) {
            MPI_Request request = MPI_REQUEST_NULL;
            double begin = MPI_Wtime(), ns;
            for (int i = 0; i < IDLE_CALLS; i++)
                call(&request, which == 0);
            ns = (MPI_Wtime() - begin) / IDLE_CALLS * 1e9;
            least[which] = ns < least[which] ? ns : least[which];
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
        table("Allreduce", allreduce, library_allreduce, repetitions);
        table("Reduce", reduce, library_reduce, repetitions);
    }
    table("Iallreduce and Wait", iallreduce, library_iallreduce, repetitions);
    overlaps(repetitions);
    idles();
    return end("overhead");
}
