/* Helpers for the test programs: checks that count failures and continue, whether to expect the tree's bits, and random numbers. */
#ifndef CHECK_H
#define CHECK_H

/* Needed for dladdr. Each program includes this header first. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One fault may fail thousands of checks, so only the first failures of a rank are printed. */
enum { MOST_PRINTED = 12 };

static _Atomic int failures = 0;
static int rank = 0, size = 0;

/* The current test, for messages. */
static _Thread_local char doing[256] = "";

#define DOING(...) snprintf(doing, sizeof doing, __VA_ARGS__)

/* Prints where a check fails. The program continues, and ends with status 1. */
#define CHECK(condition)                                                                                                               \
    do {                                                                                                                               \
        if (!(condition)) {                                                                                                            \
            if (failures < MOST_PRINTED)                                                                                               \
                fprintf(stderr, "%s:%d: rank %d of %d: %s: %s\n", __FILE__, __LINE__, rank, size, doing, #condition);                  \
            failures++;                                                                                                                \
        }                                                                                                                              \
    } while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

/* The object file that defines a function. */
static inline const void *object_of(const char *function)
{
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, function);
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* Whether an interposer is loaded before the MPI library. */
static inline bool is_interposed(void)
{
    return object_of("MPI_Allreduce") != object_of("PMPI_Allreduce");
}

/* Whether sums must have the tree's bits: EXPECTED_BITS decides, or else whether an interposer is loaded. */
static inline bool expects_tree(void)
{
    const char *expected = getenv("EXPECTED_BITS"), *mode = getenv("TREEFOLD_PMPI");
    if (expected != NULL)
        return strcmp(expected, "tree") == 0;
    return is_interposed() && (mode == NULL || strcmp(mode, "on") == 0);
}

/* Initialises MPI with a level of thread support. Returns the level that the library provides. */
static inline int begin_at(int level, int *argc, char ***argv)
{
    int provided;
    /* Without this, MPICH 4.0 crashes in a long MPI_Reduce whose root is not 0 and has its contribution in place. */
    setenv("MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE", "0", 0);
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return provided;
}

static inline void begin(int *argc, char ***argv)
{
    begin_at(MPI_THREAD_SINGLE, argc, argv);
}

/* Finalizes MPI, and returns the program's exit status. */
static inline int end(const char *name)
{
    if (failures == 0 && rank == 0)
        printf("%s: passed, p = %d, %s\n", name, size, expects_tree() ? "bits of the tree" : "bits of the library");
    if (failures > MOST_PRINTED)
        fprintf(stderr, "%s: rank %d of %d: %d checks failed\n", name, rank, size, failures);
    MPI_Finalize();
    return failures != 0;
}

/* Ends a test that the MPI library does not support. */
static inline int skip(const char *what)
{
    if (rank == 0)
        printf("skipped: %s\n", what);
    MPI_Finalize();
    return 0;
}

static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* The number of calls of the error handler `handle`, and the arguments of the last call. */
static int handled_count = 0, handled_code = MPI_SUCCESS, handled_class = MPI_SUCCESS;
static MPI_Comm handled_comm;

static inline void handle(MPI_Comm *comm, int *code, ...)
{
    handled_count++;
    handled_code = *code;
    handled_class = class_of(*code);
    handled_comm = *comm;
}

/* Checks a sum that is exact, over a communicator that includes this rank. */
static inline void check_sum(MPI_Comm comm, MPI_Datatype type)
{
    int r, p;
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &p);
    double x = r + 1, y = 0;
    float xf = (float)x, yf = 0;
    if (type == MPI_DOUBLE)
        OK(MPI_Allreduce(&x, &y, 1, type, MPI_SUM, comm));
    else
        OK(MPI_Allreduce(&xf, &yf, 1, type, MPI_SUM, comm));
    CHECK((type == MPI_DOUBLE ? y : (double)yf) == p * (p + 1) / 2);
}

/* MPI_STATUSES_IGNORE. In MPICH, gcc would regard the constant itself as an array that is too short. */
static inline MPI_Status *no_statuses(void)
{
    MPI_Status *volatile none = MPI_STATUSES_IGNORE;
    return none;
}

/* SplitMix64: every rank computes the contributions of all ranks. */
static inline uint64_t random_bits(uint64_t seed)
{
    uint64_t z = (seed + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline void *allocate(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (memory == NULL)
        abort();
    return memory;
}

#endif
