/*
 * treefold_mpi.h: treefold's reductions over the ranks of an MPI communicator.
 *
 * Items are numbered 0 to N - 1 over all ranks. The ranks build a plan together, once, and run it many times. The bits do not depend on the
 * number of ranks, on which rank owns which items, on the algorithm, or on the MPI library.
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
 * "Collective" means: all ranks of the communicator make this call, in the same order relative to the other collective calls on it. If one
 * rank gets an error in a collective call, every rank that depends on that rank gets an error too, in this call or in the next. A plan
 * whose run failed is spent: it cannot run again. docs/items-and-ranks.md says what ranks must do alike, and what happens if they do not.
 *
 * Handles (treefold_comm, _builder, _plan, _run and _hashed) are names, not addresses, and belong to the thread that created them. A call
 * with a handle of another thread, or with a destroyed handle, returns TREEFOLD_ARGUMENT. Functions that destroy or cancel take the address
 * of a handle and set the handle to NULL; a NULL handle is not an error. Handles may be destroyed in any order, even after MPI_Finalize,
 * and even after main, by destructors of static objects or atexit functions. Functions whose names end in _destroy never wait for another
 * rank, print anything or end the program. When a thread ends, its remaining handles are destroyed. A plan can still run after its
 * communicator's handle has been destroyed.
 *
 * Lengths count elements of a type in treefold.h or, with a user-defined operator, its items. If items are rows, the length of
 * an array is the number of the rank's items times the width.
 *
 * Arrays may be in the memory of an NVIDIA GPU, as with a CUDA-aware MPI library; the section "Runs" has the rules.
 *
 * Link with libtreefold (pkg-config: treefold-mpi; CMake: treefold::mpi), and compile with any MPI library: Open MPI, MPICH and its
 * derivatives, or one with the standard ABI.
 */
#ifndef TREEFOLD_MPI_H
#define TREEFOLD_MPI_H

#include <mpi.h>
#include <treefold.h>

/* If TREEFOLD_VERSION is not defined, treefold.h has reported why. */
#ifdef TREEFOLD_VERSION

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Communicators ------------------------------------------------------------------------------------------------------------ */

/* A duplicate of an MPI communicator. */
typedef struct treefold_comm treefold_comm;

/* The family of MPI libraries that mpi.h belongs to. treefold compares it with the library that the program runs with. */
#if defined(OPEN_MPI)
#define TREEFOLD_MPI_FAMILY "openmpi"
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
#define TREEFOLD_MPI_FAMILY "mpich"
#elif defined(MPI_ABI_VERSION)
#define TREEFOLD_MPI_FAMILY "abi"
#else
#define TREEFOLD_MPI_FAMILY "unknown"
#endif

/* Sets *text to one line: which MPI library treefold calls, and why it calls this one. The text stays valid. Returns TREEFOLD_MPI if there
   is no library. */
treefold_status treefold_mpi_library(const char **text);

/* treefold_comm_duplicate calls this function with the address of a communicator, its size in bytes, the family of its mpi.h, and a
   function of the program's MPI library, by which treefold finds that library. */
typedef void (*treefold_mpi_function)(void);
treefold_status treefold_comm_duplicate_checked(const void *comm, size_t comm_bytes, const char *family, treefold_mpi_function function,
                                                treefold_comm **result);

/*
 * Duplicates an MPI communicator. Collective. The program may free its own communicator afterwards.
 *
 * Returns TREEFOLD_MPI if MPI is not initialised or is already finalised, or if this mpi.h belongs to another library; TREEFOLD_ARGUMENT
 * for MPI_COMM_NULL; TREEFOLD_UNSUPPORTED for an intercommunicator. The calling thread must be allowed to call MPI.
 */
static inline treefold_status treefold_comm_duplicate(MPI_Comm comm, treefold_comm **result)
{
    return treefold_comm_duplicate_checked(&comm, sizeof comm, TREEFOLD_MPI_FAMILY, (treefold_mpi_function)MPI_Comm_size, result);
}

/* As treefold_comm_duplicate, for a Fortran communicator, which is an INTEGER. `world` is Fortran's MPI_COMM_WORLD. By its value, treefold
   detects a program that was compiled for another MPI library than it runs with, and returns TREEFOLD_MPI. */
treefold_status treefold_comm_duplicate_f(int32_t comm, int32_t world, treefold_comm **result);

/* This rank, counted from 0, and the number of ranks. */
treefold_status treefold_comm_rank(const treefold_comm *comm, int *rank);
treefold_status treefold_comm_size(const treefold_comm *comm, int *size);

/* Sets the time in seconds, at least 0, after which a wait for a silent rank fails with TREEFOLD_MPI; 1800 by default. */
treefold_status treefold_comm_silence_limit(treefold_comm *comm, double seconds);

/* Measures the cost of messages within and between nodes, in a few milliseconds, or about ten latencies if that is longer. Plans that are
   built later use the measured cost to choose their algorithm. Collective. */
treefold_status treefold_comm_measure_link(treefold_comm *comm);

/* A callback that every long wait on a communicator calls several times a second. If it returns anything but 0, the wait ends with
   TREEFOLD_INTERRUPTED, and the plan cannot run again. Interpreters, for example, check for signals in this callback. The callback may
   destroy handles, but must make no other call to this library. */
typedef int (*treefold_interrupted)(void *context);

/* Sets the callback for waits (NULL for none) and its context, which must stay valid as long as the communicator has plans. */
treefold_status treefold_comm_interruption(treefold_comm *comm, treefold_interrupted interrupted, void *context);

/* Destroys a handle. The duplicate is freed when the ranks next duplicate the same MPI communicator, or in MPI_Finalize. */
treefold_status treefold_comm_destroy(treefold_comm **comm);

/* Destroys a handle, and frees the duplicate unless some rank still has a plan or a run on it. Collective. */
treefold_status treefold_comm_free(treefold_comm **comm);

/* ---- Builders ----------------------------------------------------------------------------------------------------------------- */

/* The settings of a plan. A setter returns an error for a value that is wrong on its own, such as an unknown name, and keeps the old value.
   treefold_plan_build compares the settings of the ranks, and returns an error if they contradict each other. If a setter fails on one
   rank, and that rank does not build, the other ranks wait for it in treefold_plan_build. */
typedef struct treefold_builder treefold_builder;

/* The items from begin to end - 1. */
typedef struct treefold_range {
    uint64_t begin;
    uint64_t end;
} treefold_range;

/* Creates a builder for a type and an operator of treefold.h. Complex numbers have no minimum or maximum (TREEFOLD_UNSUPPORTED). */
treefold_status treefold_builder_create(const treefold_comm *comm, treefold_type type, treefold_op op, treefold_builder **result);

/*
 * Creates a builder for exact sums of TREEFOLD_F32, F64, C32 or C64. The statistic is TREEFOLD_EXACT_SUM, NORM, DOT or VDOT of treefold.h.
 * C32 and C64 have no norm: pass n complex numbers as 2n real numbers.
 *
 * The result is the exact sum, norm or dot product of all ranks' items, rounded once, to nearest with ties to even. It depends neither on
 * the order of the items nor on which rank has which item. So items have no numbers: setters that assign items to ranks return
 * TREEFOLD_ARGUMENT. In each run, each rank gives any number of items, or none. With a width, items are rows, and each rank gives any
 * number of whole rows.
 *
 * Infinities, NaNs and signs of zeros are as in treefold_exact_sum_f64. A message has a few hundred bytes for each element of an item.
 */
treefold_status treefold_builder_create_exact(const treefold_comm *comm, treefold_type type, treefold_statistic statistic,
                                              treefold_builder **result);

/*
 * Creates a builder of plans by key, for items of TREEFOLD_F32 or F64. `keys` is the number of keys, at least 1. The result has, for each
 * of the keys 0 to `keys` - 1, the sum (TREEFOLD_EXACT_SUM) or the mean (TREEFOLD_EXACT_MEAN) of the key's items, rounded once, as
 * treefold_by_key computes it from all ranks' items. In each run, each rank gives any number of items with their keys to
 * treefold_run_by_key.
 *
 * Plans for other statistics return no values (TREEFOLD_UNSUPPORTED): read the statistics from the states that treefold_run_keyed and
 * treefold_wait_keyed compute. A message has 16 bytes per key, or 64 for means; longer sums are sent separately. In
 * treefold_plan_scattered_columns, columns are keys. treefold_builder_width returns TREEFOLD_ARGUMENT for this builder.
 */
treefold_status treefold_builder_create_by_key(const treefold_comm *comm, treefold_type type, treefold_statistic statistic, size_t keys,
                                               treefold_builder **result);

/*
 * Creates a builder for a user-defined operator on items of item_bytes bytes (a multiple of 4, at most TREEFOLD_ITEM_BYTES_MAX).
 * treefold_plan_build compares the ranks' names, item sizes and empty values, byte by byte. `empty` points to the result for no items,
 * which this call copies, or is NULL if there is no such result. The context must outlive this builder's plans and their runs.
 *
 * If an operator returns an error, its plan cannot run again, and the other ranks get TREEFOLD_RANK_FAILED. A waiting call advances all
 * runs of its communicator, so it also ends with TREEFOLD_OPERATOR if the operator of another plan fails meanwhile.
 */
treefold_status treefold_builder_create_user(const treefold_comm *comm, const char *name, size_t item_bytes, treefold_combine combine,
                                             void *context, const void *empty, treefold_builder **result);

/*
 * Sets which items this rank has. A plan needs one of these four settings, unless its sums are exact or by key.
 *
 * - local_items: this many items, numbered after those of the lower ranks
 * - extents: ranges, in the order of the rank's array; together the ranges of all ranks contain each of the items 0 to N - 1 once.
 *   TREEFOLD_ARGUMENT if a range ends before it begins, or if two of them overlap
 * - even: N items over all ranks, floor(N / p) for each of p ranks and one more for each of the first N mod p ranks
 * - block_cyclic: N items in blocks of `block` items, at least 1, dealt to the ranks round-robin
 *
 * The last two are rules: all ranks give the same numbers, and the plan needs no table of which rank has which items.
 */
treefold_status treefold_builder_local_items(treefold_builder *builder, uint64_t items);
treefold_status treefold_builder_extents(treefold_builder *builder, const treefold_range *ranges, size_t n);
treefold_status treefold_builder_even(treefold_builder *builder, uint64_t items);
treefold_status treefold_builder_block_cyclic(treefold_builder *builder, uint64_t items, uint64_t block);

/* Sets the number of items that the ranks together should have. treefold_plan_build checks it. */
treefold_status treefold_builder_items(treefold_builder *builder, uint64_t items);

/* Sets the number of elements of an item, at least 1; 1 by default. Items of more than one element are rows, which are reduced element by
   element. */
treefold_status treefold_builder_width(treefold_builder *builder, size_t elements);

/* Sets the root: the rank that gets the result of treefold_reduce, and whose row treefold_broadcast sends. 0 by default. TREEFOLD_ARGUMENT
   if the communicator has no such rank. */
treefold_status treefold_builder_root(treefold_builder *builder, int rank);

/* Sets the algorithm, by a name that treefold_algorithm_name gives. The algorithm decides which ranks exchange messages, and changes no
   bit. The default is the environment variable TREEFOLD_ALGORITHM, or else the algorithm with the least estimated time. */
treefold_status treefold_builder_algorithm(treefold_builder *builder, const char *name);

/* Parameters of algorithms. They change no bit either. */
enum {
    TREEFOLD_BLOCKS = 1,       /* the number of column blocks of a row, 1 to 2^20 */
    TREEFOLD_PORTS = 2,        /* the number of messages that a rank sends at once (bruck, dissemination), 1 to 2^20 */
    TREEFOLD_NODE_RANKS = 3,   /* the number of ranks per node (hierarchical), at least 1 */
    TREEFOLD_MESSAGE_LIMIT = 4 /* the longest message, in elements, at least 1 */
};
treefold_status treefold_builder_parameter(treefold_builder *builder, int32_t parameter, size_t value);

/* Sets the number of lanes, 1 to 2^20: sums then have the order of treefold_sum_lanes on all ranks' items. Lanes need TREEFOLD_SUM of
   TREEFOLD_F32 or F64, and width 1; such plans have only allreduce and reduce. Each range of a rank's items must begin at a multiple of
   `lanes`. */
treefold_status treefold_builder_lanes(treefold_builder *builder, size_t lanes);

/* Makes treefold_plan_build work without communication. The items must follow a rule (even or block_cyclic). All ranks must make the same
   calls on the builder; treefold does not check this. */
treefold_status treefold_builder_agreed(treefold_builder *builder);

/* Destroys a builder. The plans that it has built remain. */
treefold_status treefold_builder_destroy(treefold_builder **builder);

/* ---- Plans -------------------------------------------------------------------------------------------------------------------- */

/* A reduction that the ranks have agreed on: built once, run many times. */
typedef struct treefold_plan treefold_plan;

/*
 * Compares the ranks' settings and builds a plan. Collective: if one rank's settings are wrong, or contradict those of the other ranks,
 * every rank gets an error. But if a rank passes a NULL or invalid handle, only that rank gets an error, and the other ranks wait for it.
 * The builder may be used again.
 */
treefold_status treefold_plan_build(const treefold_builder *builder, treefold_plan **result);

/* Destroys a plan. A run that is under way continues. */
treefold_status treefold_plan_destroy(treefold_plan **plan);

/* The operations of plans. */
enum {
    TREEFOLD_ALLREDUCE = 1,
    TREEFOLD_REDUCE = 2,
    TREEFOLD_REDUCE_SCATTER = 3,
    TREEFOLD_SCAN = 4,
    TREEFOLD_EXSCAN = 5,
    TREEFOLD_BROADCAST = 6
};

/* The name of the algorithm that runs an operation; NULL if the plan does not offer the operation. The text stays valid. */
treefold_status treefold_plan_algorithm(const treefold_plan *plan, int32_t operation, const char **name);

/* The columns of the row that this rank gets from treefold_reduce_scatter: *begin to *end - 1. */
treefold_status treefold_plan_scattered_columns(const treefold_plan *plan, size_t *begin, size_t *end);

/*
 * Writes the schedule as text: which rank sends what to whom, and when. Writes at most `capacity` bytes, the final 0 included, and sets
 * *needed to the size of the whole text, its final 0 included. With capacity 0, text may be NULL.
 */
treefold_status treefold_plan_print(const treefold_plan *plan, char *text, size_t capacity, size_t *needed);

/* ---- Runs --------------------------------------------------------------------------------------------------------------------- */

/*
 * Blocking collectives. `local` has this rank's items, n elements; it is never written to. `result` has m elements. The arrays and *is_mine
 * must not overlap (TREEFOLD_ARGUMENT).
 *
 * - allreduce: every rank gets the reduction; m is the width
 * - reduce: the root gets the reduction; m is the width. *is_mine says whether this rank is the root (is_mine may be NULL). Other ranks get
 *   no result: they may pass NULL and 0
 * - reduce_scatter: every rank gets its columns of the resulting row, as treefold_plan_scattered_columns gives them
 * - scan: for each of this rank's items, the reduction of all items up to and including it; m = n
 * - exscan: the same without the item itself; item 0 gets the operator's value for no items; m = n
 * - broadcast: the root's row is copied to every rank; m is the width
 *
 * On each rank, any of these arrays may be in the memory of an NVIDIA GPU; the bits are the same. Reductions (not scans) of TREEFOLD_SUM of
 * F32, F64, C32 and C64, and exact sums of F32 and F64 without a width, run on the GPU; only a few values go through host memory. For
 * everything else (other types, operators and statistics, scans, broadcasts, algorithms without a schedule), an array is copied to host
 * memory and reduced there. If `result` is in GPU memory, the result is copied to it.
 *
 * - The program uses CUDA as usual, and links nothing more. When a plan runs for the first time, the library uses the CUDA driver if the
 *   program has loaded it, by any call to the driver or to CUDA's runtime. Otherwise the library loads nothing, and arrays must be in host
 *   memory
 * - Items are read after all earlier work on the default stream, and on streams that synchronise with that stream. Synchronise other
 *   streams first. A call returns when its result is complete
 * - Calls return TREEFOLD_ARGUMENT for memory of a context other than the GPU's primary one (which CUDA's runtime uses), and for errors of
 *   the driver; TREEFOLD_MEMORY if the driver is out of memory; TREEFOLD_UNSUPPORTED if the GPU is older than Volta
 * - Handles and *is_mine are in host memory, and so are the arrays of treefold.h
 */
treefold_status treefold_allreduce(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m);
treefold_status treefold_reduce(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m, int *is_mine);
treefold_status treefold_reduce_scatter(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m);
treefold_status treefold_scan(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m);
treefold_status treefold_exscan(const treefold_plan *plan, const void *local, size_t n, void *result, size_t m);
treefold_status treefold_broadcast(const treefold_plan *plan, void *row, size_t m);

/*
 * Dot products. x has n elements and y has k; TREEFOLD_LENGTH if n and k differ. The operation is TREEFOLD_ALLREDUCE or TREEFOLD_REDUCE;
 * result, m and is_mine are as in treefold_reduce. If items are rows, each column gives one dot product.
 *
 * Plans of TREEFOLD_EXACT_DOT and TREEFOLD_EXACT_VDOT need two arrays: calls with one array return TREEFOLD_ARGUMENT. Plans in tree order
 * that sum floats or doubles also take two arrays: each product is rounded once, and products are added as in treefold_dot_f64. For items
 * of width 1, no array of products is made. If x and y are the same array, the square root of the result is the array's norm. Other plans
 * return TREEFOLD_ARGUMENT.
 *
 * Plans of exact sums and norms accept all calls with one array except broadcast (TREEFOLD_UNSUPPORTED). In their scans, the items of lower
 * ranks come first, and each prefix is rounded once.
 */
treefold_status treefold_run_dot(const treefold_plan *plan, int32_t operation, const void *x, size_t n, const void *y, size_t k,
                                 void *result, size_t m, int *is_mine);

/*
 * Several dot products of separately stored arrays, in one message. x and y each hold k pointers to n elements; k is the plan's width.
 * Element j of the result is the dot product of x[j] and y[j]. Plans that accept treefold_run_dot also accept this call.
 */
treefold_status treefold_run_dots(const treefold_plan *plan, int32_t operation, const void *const *x, const void *const *y, size_t k,
                                  size_t n, void *result, size_t m, int *is_mine);

/*
 * Runs a plan by key. items has n elements; keys has k integers of key_type, TREEFOLD_I8 to TREEFOLD_U64. TREEFOLD_LENGTH if k and n
 * differ. For a key that the plan does not have, the call returns TREEFOLD_ARGUMENT: the error names the item and the key, and the other
 * ranks get TREEFOLD_RANK_FAILED.
 *
 * With TREEFOLD_ALLREDUCE every rank gets the values of all keys; m is the number of keys. With TREEFOLD_REDUCE only the root gets them.
 * With TREEFOLD_REDUCE_SCATTER every rank gets the values of its own keys. Arrays are in host memory. Calls with keys on other plans, and
 * calls without keys on plans by key, return TREEFOLD_ARGUMENT; scans and broadcasts of plans by key return TREEFOLD_UNSUPPORTED.
 */
treefold_status treefold_run_by_key(const treefold_plan *plan, int32_t operation, treefold_type key_type, const void *keys, size_t k,
                                    const void *items, size_t n, void *result, size_t m, int *is_mine);

/* Runs a plan by key on keyed states of treefold.h. `keyed` is this rank's state: it has the plan's type and number of keys, and holds the
   sums that the plan's statistic needs. The call turns it into the state of all ranks' items, from which statistics are read. With
   TREEFOLD_REDUCE only the root's state changes. With TREEFOLD_REDUCE_SCATTER each state then has only the rank's own keys, renumbered
   from 0. After an error the state is unchanged. */
treefold_status treefold_run_keyed(const treefold_plan *plan, int32_t operation, treefold_keyed *keyed, int *is_mine);

/* A run between its start and its end. Runs of several plans may be under way at once; a wait for one run advances all of them. */
typedef struct treefold_run treefold_run;

/*
 * Starts a collective (TREEFOLD_ALLREDUCE, REDUCE, REDUCE_SCATTER, SCAN or EXSCAN; dot products and items by key as above), and returns
 * when this rank's items are folded: the program may then reuse their arrays. A scan keeps a copy of the items until the run ends.
 * Collective.
 *
 * The wait writes the result to `result`, m elements. Until then `result` must stay allocated, but is not touched. `result` may be NULL
 * with m = 0 if the wait names the array for the result, or if this rank gets no result.
 *
 * The start returns an error, and leaves no run, if an array is NULL, misaligned or overlaps another one. If the result has the wrong
 * length, the wait returns the error. If the items have the wrong length, the wait returns the error of a plan in tree order, and the start
 * that of any other plan.
 */
treefold_status treefold_start(const treefold_plan *plan, int32_t operation, const void *local, size_t n, void *result, size_t m,
                               treefold_run **run);
treefold_status treefold_start_dot(const treefold_plan *plan, int32_t operation, const void *x, size_t n, const void *y, size_t k,
                                   void *result, size_t m, treefold_run **run);
treefold_status treefold_start_dots(const treefold_plan *plan, int32_t operation, const void *const *x, const void *const *y, size_t k,
                                    size_t n, void *result, size_t m, treefold_run **run);
treefold_status treefold_start_by_key(const treefold_plan *plan, int32_t operation, treefold_type key_type, const void *keys, size_t k,
                                      const void *items, size_t n, void *result, size_t m, treefold_run **run);

/* Makes progress without waiting. Sets *done to 1 if the wait would return at once, else to 0. */
treefold_status treefold_test(const treefold_run *run, int *done);

/* Waits until the run is over. After `seconds` it returns TREEFOLD_TIMED_OUT, and the run continues. treefold_wait fetches the result. */
treefold_status treefold_wait_timeout(const treefold_run *run, double seconds);

/* Waits for a run, writes its result and destroys the handle. *is_mine says whether this rank got a result (is_mine may be NULL). With NULL
   and m = 0 the result goes to the array of the start; TREEFOLD_ARGUMENT if the start and the wait both give an array. If m is wrong, the
   run still completes, and the plan can run again. */
treefold_status treefold_wait(treefold_run **run, void *result, size_t m, int *is_mine);

/* Waits for n runs and ends them, even after an error. Returns the error of the first run that failed. Results go to the arrays of the
   starts. A run that has a result but no array for it fails with TREEFOLD_LENGTH. NULL handles are skipped; handles that do not name a run
   of this thread are left as they are. */
treefold_status treefold_wait_all(treefold_run **runs, size_t n);

/* Waits for a run of a plan by key. `keyed` becomes this rank's result: it must have the plan's type and hold the sums of the plan's
   statistic, for any number of keys. If this rank gets no result, the state is unchanged. */
treefold_status treefold_wait_keyed(treefold_run **run, treefold_keyed *keyed, int *is_mine);

/* Whether a run of the plan is pending: *pending is 1 from the start of the run until its handle is destroyed, else 0. A plan has one run
   at a time. */
treefold_status treefold_plan_pending(const treefold_plan *plan, int *pending);

/* The plan of a run. *plan becomes the handle that the run was started with, or NULL if that handle has been destroyed since. */
treefold_status treefold_run_plan(const treefold_run *run, const treefold_plan **plan);

/* The name of a run's algorithm. The text stays valid. */
treefold_status treefold_run_algorithm(const treefold_run *run, const char **name);

/* Cancels a run. Its plan cannot run again; the runs of the other ranks fail. */
treefold_status treefold_cancel(treefold_run **run);

/* ---- Sums by keys of 64 bits --------------------------------------------------------------------------------------------------- */

/* A plan for exact sums by key, where keys are any 64-bit integers; the handle also has the result of the last run. Each key belongs to one
   rank, which adds up the contributions of all ranks. Each run may have other keys, and no rank need announce them. The sums have the same
   bits as if one process had all items. A plan by key is cheaper if the keys are 0 to K - 1 and most ranks have most of them. */
typedef struct treefold_hashed treefold_hashed;

/* Creates hashed sums, and compares the ranks' types and roots. Keys are TREEFOLD_I64 or U64, items TREEFOLD_F32 or F64. The root gets the
   result of TREEFOLD_REDUCE. Collective: errors reach every rank, as in treefold_plan_build. */
treefold_status treefold_hashed_create(const treefold_comm *comm, treefold_type key_type, treefold_type type, int root,
                                       treefold_hashed **result);
treefold_status treefold_hashed_destroy(treefold_hashed **hashed);

/*
 * A blocking collective. Each rank gives any number of items with their keys: TREEFOLD_LENGTH if k and n differ. *count becomes the number
 * of keys in this rank's result, which treefold_hashed_result fetches. With TREEFOLD_ALLREDUCE, these are all keys that have items on any
 * rank. With TREEFOLD_REDUCE, the root has all keys and the other ranks have none. With TREEFOLD_REDUCE_SCATTER, each rank has the keys
 * that it owns; the owner depends only on the key and the number of ranks. Arrays are in host memory.
 */
treefold_status treefold_hashed_run(const treefold_hashed *hashed, int32_t operation, const void *keys, size_t k, const void *items,
                                    size_t n, size_t *count);

/* The keys of this rank's result of the last run, in ascending order, and the sum of each key's items, rounded once. TREEFOLD_LENGTH unless
   k and m are equal to the count of that run; after a failed run, the count is 0. */
treefold_status treefold_hashed_result(const treefold_hashed *hashed, void *keys, size_t k, void *sums, size_t m);

/* ---- Algorithms --------------------------------------------------------------------------------------------------------------- */

/* The name of algorithm number `index`, counted from 0; NULL beyond the last. The text stays valid. */
const char *treefold_algorithm_name(size_t index);

#ifdef __cplusplus
}
#endif

#endif /* TREEFOLD_VERSION */

#endif
