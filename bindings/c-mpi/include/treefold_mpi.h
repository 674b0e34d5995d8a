/*
 * treefold_mpi.h: treefold's reductions over the ranks of an MPI communicator.
 *
 * Items are numbered 0 to N - 1 over all ranks. The ranks build a plan together, once, and run it many times: the bits do not depend
 * on the number of ranks, on who owns which items, on the algorithm, or on the MPI library.
 *
 *     treefold_comm *comm;
 *     treefold_builder *builder;
 *     treefold_plan *plan;
 *     treefold_comm_duplicate(MPI_COMM_WORLD, &comm);
 *     treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder);
 *     treefold_builder_local_items(builder, n);
 *     treefold_plan_build(builder, &plan);
 *     treefold_builder_destroy(&builder);
 *     treefold_allreduce(plan, x, n, &sum, 1);
 *
 * "Collective" means: all ranks of the communicator make this call, in the same order with regard to the other collective calls
 * on it. An error in a collective call reaches every rank that needs the failed one, in this call or in its next one; a plan whose
 * run failed is spent. docs/items-and-ranks.md says what ranks must do alike, and what happens if they do not.
 *
 * Handles (treefold_comm, _builder, _plan, _run and _hashed) are names, not addresses. They belong to the thread that
 * made them: in another thread, or after their destruction, they are the error TREEFOLD_ARGUMENT. Functions that end a handle take
 * its address and set it to NULL; to destroy or cancel a handle that is NULL already is no error. Handles may be destroyed in any
 * order, also after MPI_Finalize, and also after main, by destructors of static objects or by what atexit has registered: no
 * destruction waits for another rank, prints anything or ends the program. What a thread has not destroyed ends with it. A plan keeps
 * what it needs of its communicator.
 *
 * Lengths count elements: of a type of treefold.h, or items of the caller's operator. Where items are rows, a rank's array has its
 * items times the width.
 *
 * Arrays may be in the memory of an NVIDIA GPU, as with an MPI library that knows CUDA; "Runs" says more.
 *
 * Link with libtreefold (pkg-config: treefold-mpi; CMake: treefold::mpi), and compile with any MPI library: Open MPI, MPICH and its
 * relatives, or one of the standard ABI.
 */
#ifndef TREEFOLD_MPI_H
#define TREEFOLD_MPI_H

#include <mpi.h>
#include <treefold.h>

/* Without it, treefold.h has said what is wrong. */
#ifdef TREEFOLD_VERSION

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Communicators ------------------------------------------------------------------------------------------------------------ */

/* The ranks of a communicator, on a duplicate of it. */
typedef struct treefold_comm treefold_comm;

/* What mpi.h says of its library; compared with the one that the program runs with. */
#if defined(OPEN_MPI)
#define TREEFOLD_MPI_FAMILY "openmpi"
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
#define TREEFOLD_MPI_FAMILY "mpich"
#elif defined(MPI_ABI_VERSION)
#define TREEFOLD_MPI_FAMILY "abi"
#else
#define TREEFOLD_MPI_FAMILY "unknown"
#endif

/* Which MPI library treefold calls, and why it is that one, in one line. The text stays for ever. TREEFOLD_MPI if there is none. */
treefold_status treefold_mpi_library(const char **text);

/* What treefold_comm_duplicate calls: a communicator by its address, its size in bytes, the family of its mpi.h, and a function of the
   program's MPI library: the one that treefold calls, too. */
typedef void (*treefold_mpi_function)(void);
treefold_status treefold_comm_duplicate_checked(const void *comm, size_t comm_bytes, const char *family, treefold_mpi_function function,
                                                treefold_comm **result);

/*
 * Duplicates a communicator of the program's. Collective. The program may free its own one afterwards.
 *
 * TREEFOLD_MPI if MPI is not initialised or already finalised, or is not the library of this mpi.h;
 * TREEFOLD_ARGUMENT for MPI_COMM_NULL; TREEFOLD_UNSUPPORTED for an intercommunicator. The calling thread must be one that may call
 * MPI.
 */
static inline treefold_status treefold_comm_duplicate(MPI_Comm comm, treefold_comm **result)
{
    return treefold_comm_duplicate_checked(&comm, sizeof comm, TREEFOLD_MPI_FAMILY, (treefold_mpi_function)MPI_Comm_size, result);
}

/* The same for a communicator of Fortran's, an INTEGER. `world` is what Fortran has for MPI_COMM_WORLD: a program that was compiled for
   another MPI library than it runs with is noticed by it (TREEFOLD_MPI). */
treefold_status treefold_comm_duplicate_f(int32_t comm, int32_t world, treefold_comm **result);

/* This rank, from 0 on, and the number of ranks. */
treefold_status treefold_comm_rank(const treefold_comm *comm, int *rank);
treefold_status treefold_comm_size(const treefold_comm *comm, int *size);

/* How long a wait tolerates that another rank says nothing, in seconds from 0 on; 1800 by default. Then the wait ends with TREEFOLD_MPI. */
treefold_status treefold_comm_silence_limit(treefold_comm *comm, double seconds);

/* Measures what messages cost within nodes and between them, which takes a few milliseconds, or about ten message latencies: plans that
   are built later choose their algorithm by it. Collective. */
treefold_status treefold_comm_measure_link(treefold_comm *comm);

/* Called several times a second by every wait on a communicator that takes long: any number but 0 ends the wait with TREEFOLD_INTERRUPTED,
   and spends the plan. For programs that look for signals, as interpreters do. It may end handles, and makes no other call of this
   library. */
typedef int (*treefold_interrupted)(void *context);

/* Sets what waits ask, and its context; NULL for nothing. It is called as long as the handle's communicator has plans. */
treefold_status treefold_comm_interruption(treefold_comm *comm, treefold_interrupted interrupted, void *context);

/* Ends a handle. MPI's own communicator is freed when the ranks next duplicate the same one, or in MPI_Finalize. */
treefold_status treefold_comm_destroy(treefold_comm **comm);

/* Ends a handle, and frees MPI's own communicator, unless some rank still has a plan or a run of it. Collective. */
treefold_status treefold_comm_free(treefold_comm **comm);

/* ---- Builders ----------------------------------------------------------------------------------------------------------------- */

/* What a plan is to be. Settings are compared in treefold_plan_build; a value that can be seen to be wrong without the other ranks, such
   as an unknown name, is an error of its setter, which leaves the setting as it was. Settings that do not fit each other are errors of
   treefold_plan_build. A rank whose setter has failed does not build: the others then wait for it in treefold_plan_build. */
typedef struct treefold_builder treefold_builder;

/* The items begin to end - 1. */
typedef struct treefold_range {
    uint64_t begin;
    uint64_t end;
} treefold_range;

/* Begins a plan for items of a type and an operator of treefold.h. TREEFOLD_UNSUPPORTED for the minimum and the maximum of complex
   numbers. */
treefold_status treefold_builder_create(const treefold_comm *comm, treefold_type type, treefold_op op, treefold_builder **result);

/*
 * Begins a plan of exact sums of TREEFOLD_F32, F64, C32 or C64. The statistic is TREEFOLD_EXACT_SUM, NORM, DOT or VDOT of treefold.h; C32
 * and C64 have no norm (that of twice as many real numbers is theirs).
 * The result is the exact one of all ranks' items, rounded once, to nearest with ties to even: it depends neither on the order of the
 * items nor on who has which. So they have no numbers: in each run each rank gives as many as it likes, none included, and setters that
 * say who has which items are TREEFOLD_ARGUMENT. With a width, items are rows, of which each rank gives any number of whole ones.
 *
 * Infinities, numbers that are not numbers, and signs of zeros: as treefold_exact_sum_f64. A message has some hundred bytes for each
 * element of the width.
 */
treefold_status treefold_builder_create_exact(const treefold_comm *comm, treefold_type type, treefold_statistic statistic,
                                              treefold_builder **result);

/*
 * Begins a plan by key, of TREEFOLD_F32 or F64: for each of the keys 0 to `keys` - 1 the sum of its items, by TREEFOLD_EXACT_SUM, or
 * their mean, by TREEFOLD_EXACT_MEAN, rounded once: as treefold_by_key on all ranks' items. In each run each rank gives any number of
 * items, with any of the keys, to treefold_run_by_key. Plans for other statistics have no values (TREEFOLD_UNSUPPORTED): they are read
 * from states, which treefold_run_keyed and treefold_wait_keyed leave. A message has 16 bytes a key, or 64 of means; sums that do not fit
 * travel beside. Keys are the columns of treefold_plan_scattered_columns; a width is TREEFOLD_ARGUMENT.
 */
treefold_status treefold_builder_create_by_key(const treefold_comm *comm, treefold_type type, treefold_statistic statistic, size_t keys,
                                               treefold_builder **result);

/*
 * Begins a plan for items of item_bytes bytes (a multiple of 4, at most TREEFOLD_ITEM_BYTES_MAX) and the caller's operator. Ranks
 * compare the name, the bytes of an item and the value for nothing, byte by byte. `empty` is copied; NULL if the operator has no such
 * value. The context must live as long as plans of this builder, and runs of them that are under way.
 *
 * An operator that returns an error spends its plan; the other ranks get TREEFOLD_RANK_FAILED. A call that waits drives all runs of its
 * communicator: if it runs the operator of another plan, and that fails, it ends with TREEFOLD_OPERATOR as well.
 */
treefold_status treefold_builder_create_user(const treefold_comm *comm, const char *name, size_t item_bytes, treefold_combine combine,
                                             void *context, const void *empty, treefold_builder **result);

/*
 * Which items this rank has: one of these four is needed, except for exact sums.
 *
 * - local_items: so many, which follow those of the ranks below
 * - extents: the ranges, in the order in which the rank's array holds them; with those of all ranks they are 0 to N - 1, each once.
 *   TREEFOLD_ARGUMENT if one ends before it begins, or an item is in two of them
 * - even: N items over all ranks, floor(N / p) for each of p ranks and one more for the first N mod p of them
 * - block_cyclic: blocks of so many of N items, at least 1, dealt to the ranks in turn
 *
 * The latter two are rules: all ranks give the same numbers, and a plan needs no table of the ranks.
 */
treefold_status treefold_builder_local_items(treefold_builder *builder, uint64_t items);
treefold_status treefold_builder_extents(treefold_builder *builder, const treefold_range *ranges, size_t n);
treefold_status treefold_builder_even(treefold_builder *builder, uint64_t items);
treefold_status treefold_builder_block_cyclic(treefold_builder *builder, uint64_t items, uint64_t block);

/* The items on all ranks, to be checked against what they have. */
treefold_status treefold_builder_items(treefold_builder *builder, uint64_t items);

/* The elements of an item, at least 1: with more than one, items are rows, which are reduced element by element. 1 by default. */
treefold_status treefold_builder_width(treefold_builder *builder, size_t elements);

/* The rank that gets the result of treefold_reduce, and whose row treefold_broadcast sends. 0 by default. TREEFOLD_ARGUMENT if the
   communicator has no such rank. */
treefold_status treefold_builder_root(treefold_builder *builder, int rank);

/* Who talks to whom, by a name that treefold_algorithm_name knows. No algorithm changes a bit. By default the environment variable
   TREEFOLD_ALGORITHM, or else the one that should take the least time. */
treefold_status treefold_builder_algorithm(treefold_builder *builder, const char *name);

/* Parameters of algorithms, which change no bit either. */
enum {
    TREEFOLD_BLOCKS = 1,       /* the column blocks of a row, 1 to 2^20 */
    TREEFOLD_PORTS = 2,        /* the messages that a rank sends at once (bruck, dissemination), 1 to 2^20 */
    TREEFOLD_NODE_RANKS = 3,   /* the ranks of a node (hierarchical), at least 1 */
    TREEFOLD_MESSAGE_LIMIT = 4 /* the longest message, in elements, at least 1 */
};
treefold_status treefold_builder_parameter(treefold_builder *builder, int32_t parameter, size_t value);

/* Sums in so many lanes, 1 to 2^20: the order of treefold_sum_lanes, on all ranks' items. TREEFOLD_F32 or F64, TREEFOLD_SUM, of width 1;
   plans in lanes have allreduce and reduce, and each range of items that a rank has begins at a multiple of the lanes. */
treefold_status treefold_builder_lanes(treefold_builder *builder, size_t lanes);

/* Builds without communicating: the items follow a rule, and all ranks call the builder alike, which is not checked. */
treefold_status treefold_builder_agreed(treefold_builder *builder);

/* Ends a builder. Its plans are not touched. */
treefold_status treefold_builder_destroy(treefold_builder **builder);

/* ---- Plans -------------------------------------------------------------------------------------------------------------------- */

/* A reduction that the ranks have agreed on: built once, run many times. */
typedef struct treefold_plan treefold_plan;

/*
 * Compares the ranks' settings and builds a plan. Collective: if it fails, then with the same error on every rank. The builder may
 * be used again.
 */
treefold_status treefold_plan_build(const treefold_builder *builder, treefold_plan **result);

/* Ends a plan. A run of it that is under way goes on. */
treefold_status treefold_plan_destroy(treefold_plan **plan);

/* What plans can do. */
enum {
    TREEFOLD_ALLREDUCE = 1,
    TREEFOLD_REDUCE = 2,
    TREEFOLD_REDUCE_SCATTER = 3,
    TREEFOLD_SCAN = 4,
    TREEFOLD_EXSCAN = 5,
    TREEFOLD_BROADCAST = 6
};

/* The name of the algorithm that runs for an operation, which lives for ever; NULL if the plan does not offer the operation. */
treefold_status treefold_plan_algorithm(const treefold_plan *plan, int32_t operation, const char **name);

/* The columns of a row that this rank gets from treefold_reduce_scatter: *begin to *end - 1. */
treefold_status treefold_plan_scattered_columns(const treefold_plan *plan, size_t *begin, size_t *end);

/*
 * Prints who sends what to whom, and when, into at most `capacity` bytes with the final 0, and leaves the bytes that the whole text
 * needs, its final 0 included, in *needed. With capacity 0, text may be NULL.
 */
treefold_status treefold_plan_print(const treefold_plan *plan, char *text, size_t capacity, size_t *needed);

/* ---- Runs --------------------------------------------------------------------------------------------------------------------- */

/*
 * Blocking collectives. `local` is this rank's items, n elements; it is never written to. `result` has m elements. The arrays, and
 * *is_mine, must not overlap (TREEFOLD_ARGUMENT).
 *
 * - allreduce: every rank gets the reduction; m is the width
 * - reduce: the root gets it, and *is_mine says whether this rank is the root (is_mine may be NULL); m is the width. The others'
 *   result is left alone: they may pass NULL and 0
 * - reduce_scatter: every rank gets its scattered columns of the resulting row
 * - scan: for each of this rank's items, the reduction of all items up to it, itself included; m = n
 * - exscan: the same without the item itself; item 0 gets the operator's value for nothing; m = n
 * - broadcast: the root's row is copied to every rank; m is the width
 *
 * Any of these arrays may be in the memory of an NVIDIA GPU, on each rank by itself: the bits are the same. Reductions (not scans) of
 * TREEFOLD_SUM of F32, F64, C32 and C64, and exact sums of F32 and F64 without a width, are folded there; a few values are left, which go
 * through ordinary memory. For everything else (other types, operators and statistics, scans, broadcasts, algorithms that are no schedules)
 * an array is copied to ordinary memory, and reduced there. A result is copied to where it is to be.
 *
 * - The program uses CUDA as ever. It is linked to nothing more: the library takes CUDA's driver if the program has loaded it when a plan
 *   runs for the first time, by any call to it or to CUDA's runtime. Without, nothing is loaded, and arrays are in ordinary memory
 * - What was asked of the default stream, and of streams that wait for it, has happened before items are read. For another stream,
 *   synchronise first. A call returns when its result is there
 * - Memory of a context that is not the GPU's primary one, which CUDA's runtime uses, is TREEFOLD_ARGUMENT; so are errors of the driver.
 *   TREEFOLD_MEMORY if it has no memory. TREEFOLD_UNSUPPORTED if the GPU is older than Volta
 * - Handles and *is_mine are in ordinary memory, and so are the arrays of treefold.h
 */
treefold_status treefold_allreduce(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m);
treefold_status treefold_reduce(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m, int *is_mine);
treefold_status treefold_reduce_scatter(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m);
treefold_status treefold_scan(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m);
treefold_status treefold_exscan(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m);
treefold_status treefold_broadcast(const treefold_plan *plan, void *row, size_t m);

/*
 * Dot products: x has n elements and y has k; TREEFOLD_LENGTH if they differ. The operation is TREEFOLD_ALLREDUCE or TREEFOLD_REDUCE, and
 * result, m and is_mine are as those of treefold_reduce; is_mine may be NULL. Those of a row are several dot products at once. Plans of
 * TREEFOLD_EXACT_DOT and TREEFOLD_EXACT_VDOT have no other calls: one array for them is TREEFOLD_ARGUMENT. Plans in tree order have these
 * calls, too, if they are of sums of floats or doubles: products are rounded once each, and added as treefold_dot_f64 does; of single
 * items, no array of products is made. If x and y are one array, the square root of the result is its norm. Two arrays for any other plan
 * are TREEFOLD_ARGUMENT.
 *
 * Plans of exact sums and norms have the calls above, but no broadcast (TREEFOLD_UNSUPPORTED). Their scans go over the items of the ranks
 * below first, and each prefix is rounded once.
 */
treefold_status treefold_run_dot(const treefold_plan *plan, int32_t operation, const void *x, size_t n, const void *y, size_t k,
                                 void *result, size_t m, int *is_mine);

/*
 * Several dot products of arrays that lie apart, as one message: x and y are k pointers each, k being the plan's width, to n elements.
 * Element j of the result is the dot product of x[j] and y[j]. For the plans that have treefold_run_dot.
 */
treefold_status treefold_run_dots(const treefold_plan *plan, int32_t operation, const void *const *x, const void *const *y, size_t k,
                                  size_t n, void *result, size_t m, int *is_mine);

/*
 * Items by key, for plans by key: items are n elements, and keys are k integers of a type, TREEFOLD_I8 to TREEFOLD_U64. TREEFOLD_LENGTH if
 * k and n differ; a key that is not one of the plan's is TREEFOLD_ARGUMENT, and the error names the item and the key. The other ranks get
 * TREEFOLD_RANK_FAILED. By TREEFOLD_ALLREDUCE every rank gets the values of all keys, whose number is m, by TREEFOLD_REDUCE the root, and
 * by TREEFOLD_REDUCE_SCATTER every rank those of its keys. Arrays are in ordinary memory. Other plans have none of these calls, and plans
 * by key none without keys (TREEFOLD_ARGUMENT).
 */
treefold_status treefold_run_by_key(const treefold_plan *plan, int32_t operation, treefold_type key_type, const void *keys, size_t k,
                                    const void *items, size_t n, void *result, size_t m, int *is_mine);

/* The same on states of treefold.h: this rank's state, of the plan's type and number of keys, which holds what the plan's statistic needs,
   becomes that of all ranks, and statistics are read from it. By TREEFOLD_REDUCE only the root's does; by TREEFOLD_REDUCE_SCATTER each
   rank's becomes that of its keys, the first of which is key 0 there. After an error it is as it was. */
treefold_status treefold_run_keyed(const treefold_plan *plan, int32_t operation, treefold_keyed *keyed, int *is_mine);

/* A run between its start and its end. Several plans may be under way at once; waiting for one drives all. */
typedef struct treefold_run treefold_run;

/*
 * Start a collective (TREEFOLD_ALLREDUCE, REDUCE, REDUCE_SCATTER, SCAN or EXSCAN; dot products and items by key as above), and return when
 * this rank's items are folded: they are free then. A scan keeps a copy of them until the run ends. Collective.
 *
 * The result is written to `result`, m elements, when the run is waited for: until then it must stay allocated, and it is not touched. It
 * may be NULL with m = 0: then the wait says where the result is to go, or this rank gets none.
 *
 * An array that is NULL, misaligned or overlaps another one is an error of the start, which leaves no run. A wrong length is returned by
 * the wait; of exact sums, norms and dot products, and by key, also by the start.
 */
treefold_status treefold_start(const treefold_plan *plan, int32_t operation, const void *local, size_t n, void *result, size_t m,
                               treefold_run **run);
treefold_status treefold_start_dot(const treefold_plan *plan, int32_t operation, const void *x, size_t n, const void *y, size_t k,
                                   void *result, size_t m, treefold_run **run);
treefold_status treefold_start_dots(const treefold_plan *plan, int32_t operation, const void *const *x, const void *const *y, size_t k,
                                    size_t n, void *result, size_t m, treefold_run **run);
treefold_status treefold_start_by_key(const treefold_plan *plan, int32_t operation, treefold_type key_type, const void *keys, size_t k,
                                      const void *items, size_t n, void *result, size_t m, treefold_run **run);

/* Makes progress without waiting; sets *done to 1 if the wait would return at once, else to 0. */
treefold_status treefold_test(const treefold_run *run, int *done);

/* Waits until the run is over, for so many seconds at most: then TREEFOLD_TIMED_OUT, and the run goes on. The result is fetched by
   treefold_wait. */
treefold_status treefold_wait_timeout(const treefold_run *run, double seconds);

/* Waits for a run, writes its result, ends the handle, and says whether this rank got a result (is_mine may be NULL). With NULL and m = 0
   the result goes where the start said; TREEFOLD_ARGUMENT if both name a place. If m is wrong, the run ends well, and the plan can be run
   again. */
treefold_status treefold_wait(treefold_run **run, void *result, size_t m, int *is_mine);

/* Waits for n runs, whose results go where their starts said, and ends them, also after an error, which is that of the first run that
   failed. A run without a place that has a result is TREEFOLD_LENGTH. Handles that are NULL are passed over; those that are no run of this
   thread stay. */
treefold_status treefold_wait_all(treefold_run **runs, size_t n);

/* Waits for a run of a plan by key: a state of the plan's type that holds the same, of any number of keys, becomes this rank's result.
   Where there is none, it is left alone. */
treefold_status treefold_wait_keyed(treefold_run **run, treefold_keyed *keyed, int *is_mine);

/* Whether a run of the plan is pending: *pending becomes 1 from its start until the end of its handle, else 0. A plan has one run at a
   time. */
treefold_status treefold_plan_pending(const treefold_plan *plan, int *pending);

/* The plan of a run: *plan becomes the handle that the run was started with, or NULL if that was destroyed meanwhile. */
treefold_status treefold_run_plan(const treefold_run *run, const treefold_plan **plan);

/* The name of the algorithm by which a run goes, which lives for ever. */
treefold_status treefold_run_algorithm(const treefold_run *run, const char **name);

/* Abandons a run. Its plan is spent, and the other ranks are told. */
treefold_status treefold_cancel(treefold_run **run);

/* ---- Sums by keys of 64 bits --------------------------------------------------------------------------------------------------- */

/* Exact sums of the items of each key, for keys that are any integers of 64 bits, and the result of the last run. Each key is owned by one
   rank, which adds up what the ranks have of it; each run may have other keys, which no rank announces. The bits are those of all
   items in one process. For keys 0 to K - 1 that most ranks have, a plan by key is cheaper. */
typedef struct treefold_hashed treefold_hashed;

/* Compares the ranks' types and roots. Keys are TREEFOLD_I64 or U64, items TREEFOLD_F32 or F64; the root gets the result of
   TREEFOLD_REDUCE. Collective: if it fails, then on every rank. */
treefold_status treefold_hashed_create(const treefold_comm *comm, treefold_type key_type, treefold_type type, int root,
                                       treefold_hashed **result);
treefold_status treefold_hashed_destroy(treefold_hashed **hashed);

/*
 * A blocking collective. Each rank gives any number of items with their keys: TREEFOLD_LENGTH if k and n differ. *count becomes the number
 * of keys in this rank's result, which treefold_hashed_result fetches: by TREEFOLD_ALLREDUCE all keys that have items anywhere, by
 * TREEFOLD_REDUCE the same on the root and none on the others, by TREEFOLD_REDUCE_SCATTER those that the rank owns, which depends on the
 * key and the number of ranks alone. Arrays are in ordinary memory.
 */
treefold_status treefold_hashed_run(const treefold_hashed *hashed, int32_t operation, const void *keys, size_t k, const void *items,
                                    size_t n, size_t *count);

/* The keys of this rank's result of the last run, in ascending order, and the sum of each key's items, rounded once: TREEFOLD_LENGTH unless
   k and m are the count of that run; 0 after one that failed. */
treefold_status treefold_hashed_result(const treefold_hashed *hashed, void *keys, size_t k, void *sums, size_t m);

/* ---- Algorithms --------------------------------------------------------------------------------------------------------------- */

/* The name of an algorithm, from 0 on, which lives for ever; NULL beyond the last. */
const char *treefold_algorithm_name(size_t index);

#ifdef __cplusplus
}
#endif

#endif /* TREEFOLD_VERSION */

#endif
