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
 * rank, never print and never end the program. When a thread ends, its remaining handles are destroyed. A plan can still run after its
 * communicator's handle has been destroyed.
 *
 * Lengths count elements of a type of treefold.h or, with a user-defined operator, items. If items are rows, the length of an array is the
 * number of the rank's items times the width.
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

/* Sets *text to a line that says which MPI library treefold calls, and why. The text is valid until the process ends. Returns TREEFOLD_MPI
   if there is no MPI library. */
treefold_status treefold_mpi_library(const char **text);

/* treefold_comm_duplicate calls this function with the address of a communicator, its size in bytes, the family of its mpi.h, and a
   function of the program's MPI library, whose address identifies the library. */
typedef void (*treefold_mpi_function)(void);
treefold_status treefold_comm_duplicate_checked(const void *comm, size_t comm_bytes, const char *family, treefold_mpi_function function,
                                                treefold_comm **result);

/*
 * Duplicates an MPI communicator. Collective. The program may free its own communicator afterwards.
 *
 * Returns TREEFOLD_MPI if MPI is not initialised or is already finalised, or if this mpi.h belongs to another MPI library than the program
 * runs with; TREEFOLD_ARGUMENT for MPI_COMM_NULL; and TREEFOLD_UNSUPPORTED for an intercommunicator. The calling thread must be allowed to
 * call MPI.
 */
static inline treefold_status treefold_comm_duplicate(MPI_Comm comm, treefold_comm **result)
{
    return treefold_comm_duplicate_checked(&comm, sizeof comm, TREEFOLD_MPI_FAMILY, (treefold_mpi_function)MPI_Comm_size, result);
}

/* Like treefold_comm_duplicate, but for a Fortran communicator, an INTEGER. `world` is Fortran's MPI_COMM_WORLD. If its value shows that
   the program was compiled for another MPI library than it runs with, the call returns TREEFOLD_MPI. */
treefold_status treefold_comm_duplicate_f(int32_t comm, int32_t world, treefold_comm **result);

/* This rank, counted from 0, and the number of ranks. */
treefold_status treefold_comm_rank(const treefold_comm *comm, int *rank);
treefold_status treefold_comm_size(const treefold_comm *comm, int *size);

/* Sets the time in seconds, at least 0, after which a wait for a silent rank fails with TREEFOLD_MPI; 1800 by default. */
treefold_status treefold_comm_silence_limit(treefold_comm *comm, double seconds);

/* Measures the cost of messages within and between nodes. This takes a few milliseconds, or about ten latencies if that is longer. Plans
   that are built later use the measured cost to choose their algorithm. Collective. */
treefold_status treefold_comm_measure_link(treefold_comm *comm);

/* A callback that every long wait on a communicator calls several times a second. If the callback returns anything but 0, the wait ends
   with TREEFOLD_INTERRUPTED, and its plan cannot run again. Interpreters, for example, check for signals in this callback. The callback may
   destroy handles, but must make no other call to this library. */
typedef int (*treefold_interrupted)(void *context);

/* Sets the callback for waits (NULL for none) and its context. The context must stay valid as long as the communicator has plans. */
treefold_status treefold_comm_interruption(treefold_comm *comm, treefold_interrupted interrupted, void *context);

/* Destroys a communicator's handle. The duplicate is freed in MPI_Finalize, or when the ranks next duplicate the same MPI communicator. */
treefold_status treefold_comm_destroy(treefold_comm **comm);

/* Destroys a communicator's handle, and frees the duplicate unless some rank still has a plan or a run on it. Collective. */
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

/* Creates a builder for a type and an operator of treefold.h. Returns TREEFOLD_UNSUPPORTED for a minimum or maximum of complex numbers. */
treefold_status treefold_builder_create(const treefold_comm *comm, treefold_type type, treefold_op op, treefold_builder **result);

/*
 * Creates a builder for exact sums of TREEFOLD_F32, F64, C32 or C64. The statistic is TREEFOLD_EXACT_SUM, NORM, DOT or VDOT of treefold.h.
 * C32 and C64 have no norm: pass n complex numbers as 2n real numbers.
 *
 * The result is the exact sum, norm or dot product of all ranks' items, rounded once, to nearest with ties to even. The result depends
 * neither on the order of the items nor on which rank has which item. So items have no numbers, and setters that assign items to ranks
 * return TREEFOLD_ARGUMENT. In each run, each rank passes any number of items, or none. With a width, items are rows, and each rank passes
 * any number of whole rows.
 *
 * Infinities, NaNs and signs of zeros are as in treefold_exact_sum_f64. A message has a few hundred bytes for each element of an item.
 */
treefold_status treefold_builder_create_exact(const treefold_comm *comm, treefold_type type, treefold_statistic statistic,
                                              treefold_builder **result);

/*
 * Creates a builder of plans by key, for items of TREEFOLD_F32 or F64. `keys` is the number of keys, at least 1. For each of the keys 0 to
 * `keys` - 1, the result has the sum (TREEFOLD_EXACT_SUM) or the mean (TREEFOLD_EXACT_MEAN) of the key's items on all ranks, rounded once,
 * with the bits of treefold_by_key. In each run, each rank passes any number of items with their keys to treefold_run_by_key.
 *
 * Plans for other statistics return no values, but TREEFOLD_UNSUPPORTED. Read such statistics from the states that treefold_run_keyed and
 * treefold_wait_keyed compute. A message has 16 bytes per key, or 64 bytes per key for means; longer sums are sent separately. In
 * treefold_plan_scattered_columns, columns are keys. treefold_builder_width returns TREEFOLD_ARGUMENT for this builder.
 */
treefold_status treefold_builder_create_by_key(const treefold_comm *comm, treefold_type type, treefold_statistic statistic, size_t keys,
                                               treefold_builder **result);

/*
 * Creates a builder for a user-defined operator on items of item_bytes bytes (a multiple of 4, at most TREEFOLD_ITEM_BYTES_MAX).
 * treefold_plan_build compares the ranks' names, item sizes and empty values, byte by byte. `empty` points to the result for no items,
 * which this call copies, or is NULL if there is no such result. The context must outlive this builder's plans and their runs.
 *
 * If an operator returns an error, its plan cannot run again, and the other ranks get TREEFOLD_RANK_FAILED. A wait advances all runs of its
 * communicator, and returns TREEFOLD_OPERATOR even if the operator that fails belongs to another plan.
 */
treefold_status treefold_builder_create_user(const treefold_comm *comm, const char *name, size_t item_bytes, treefold_combine combine,
                                             void *context, const void *empty, treefold_builder **result);

/*
 * Sets which items this rank has. A plan needs one of these four settings, unless its sums are exact or by key.
 *
 * - local_items: the rank has `items` items, numbered after those of the lower ranks
 * - extents: the rank has these ranges, in the order of its array. Together the ranges of all ranks contain each of the items 0 to N - 1
 *   once. The call returns TREEFOLD_ARGUMENT if a range ends before it begins, or if two of the ranges overlap
 * - even: all p ranks together have N items, floor(N / p) each, and each of the first N mod p ranks has one more
 * - block_cyclic: all ranks together have N items, dealt to them round-robin in blocks of `block` items, at least 1
 *
 * even and block_cyclic are rules: all ranks pass the same numbers, and the plan needs no table of which rank has which items.
 */
treefold_status treefold_builder_local_items(treefold_builder *builder, uint64_t items);
treefold_status treefold_builder_extents(treefold_builder *builder, const treefold_range *ranges, size_t n);
treefold_status treefold_builder_even(treefold_builder *builder, uint64_t items);
treefold_status treefold_builder_block_cyclic(treefold_builder *builder, uint64_t items, uint64_t block);

/* Sets the number of items that all ranks together should have. treefold_plan_build checks this number. */
treefold_status treefold_builder_items(treefold_builder *builder, uint64_t items);

/* Sets the number of elements of an item, at least 1; 1 by default. Items of more than one element are rows, which are reduced element by
   element. */
treefold_status treefold_builder_width(treefold_builder *builder, size_t elements);

/* Sets the root: the rank that gets the result of treefold_reduce, and whose row treefold_broadcast sends. The default is 0. Returns
   TREEFOLD_ARGUMENT if the communicator has no such rank. */
treefold_status treefold_builder_root(treefold_builder *builder, int rank);

/* Sets the algorithm, by a name that treefold_algorithm_name gives. The algorithm decides which ranks exchange messages, and changes no bit
   of a result. The default is the algorithm that the environment variable TREEFOLD_ALGORITHM names or, if that is not set, the algorithm
   with the least estimated time. */
treefold_status treefold_builder_algorithm(treefold_builder *builder, const char *name);

/* Parameters of algorithms. They change no bit of a result. */
enum {
    TREEFOLD_BLOCKS = 1,       /* the number of column blocks of a row, 1 to 2^20 */
    TREEFOLD_PORTS = 2,        /* the number of messages that a rank sends at once (bruck, dissemination), 1 to 2^20 */
    TREEFOLD_NODE_RANKS = 3,   /* the number of ranks per node (hierarchical), at least 1 */
    TREEFOLD_MESSAGE_LIMIT = 4 /* the longest message, in elements, at least 1 */
};
treefold_status treefold_builder_parameter(treefold_builder *builder, int32_t parameter, size_t value);

/* Sets the number of lanes, where 1 <= lanes <= 2^20. Sums then have the order of treefold_sum_lanes on all ranks' items. Lanes need
   TREEFOLD_SUM of TREEFOLD_F32 or F64, and width 1. Plans in lanes have only allreduce and reduce. Each range of a rank's items must begin
   at a multiple of `lanes`. */
treefold_status treefold_builder_lanes(treefold_builder *builder, size_t lanes);

/* Makes treefold_plan_build work without communication. If items have numbers, their distribution must follow a rule (even or
   block_cyclic). All ranks must make the same calls on the builder; treefold does not check this. */
treefold_status treefold_builder_agreed(treefold_builder *builder);

/* Destroys a builder. The plans that it has built remain. */
treefold_status treefold_builder_destroy(treefold_builder **builder);

/* ---- Plans -------------------------------------------------------------------------------------------------------------------- */

/* A reduction that the ranks have agreed on: built once, run many times. */
typedef struct treefold_plan treefold_plan;

/*
 * Compares the ranks' settings and builds a plan. Collective: if one rank's settings are wrong, or contradict those of the other ranks,
 * every rank gets an error. But if a rank passes a NULL or invalid handle, only that rank gets an error, and the others wait for that rank.
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

/* Sets *name to the name of the algorithm that runs an operation, or to NULL if the plan does not offer the operation. The name is valid
   until the process ends. */
treefold_status treefold_plan_algorithm(const treefold_plan *plan, int32_t operation, const char **name);

/* treefold_reduce_scatter gives this rank the columns *begin to *end - 1 of the resulting row. */
treefold_status treefold_plan_scattered_columns(const treefold_plan *plan, size_t *begin, size_t *end);

/*
 * Writes the schedule as text: which rank sends what to whom, and when. Writes at most `capacity` bytes, the final 0 included, and sets
 * *needed to the size of the whole text, its final 0 included. With capacity 0, text may be NULL.
 */
treefold_status treefold_plan_print(const treefold_plan *plan, char *text, size_t capacity, size_t *needed);

/* ---- Runs --------------------------------------------------------------------------------------------------------------------- */

/*
 * Blocking collectives. `local` has this rank's items, n elements, and is never written to. `result` has m elements. If the arrays or
 * *is_mine overlap, calls return TREEFOLD_ARGUMENT.
 *
 * - allreduce: every rank gets the reduction; m is the width
 * - reduce: the root gets the reduction; m is the width. *is_mine says whether this rank is the root (is_mine may be NULL). Other ranks get
 *   no result: they may pass NULL and 0
 * - reduce_scatter: every rank gets its columns of the resulting row, as treefold_plan_scattered_columns gives them
 * - scan: for each of this rank's items, the reduction of all items up to and including it; m = n
 * - exscan: for each of this rank's items, the reduction of all items before it; for item 0, the operator's value for no items; m = n
 * - broadcast: the root's row is copied to every rank; m is the width
 *
 * On each rank, any of these arrays may be in the memory of an NVIDIA GPU; the bits are the same. The GPU computes reductions (not scans)
 * with TREEFOLD_SUM of F32, F64, C32 and C64, and exact sums of F32 and F64 without a width. Then only a few values go through host memory.
 * For everything else (other types, operators and statistics, scans, broadcasts, algorithms without a schedule), arrays are copied to host
 * memory and reduced there. If `result` is in GPU memory, the result is copied there.
 *
 * - The program uses CUDA as usual, and links nothing more. When a plan runs for the first time, the library uses the CUDA driver if the
 *   program has loaded the driver, by any call to it or to CUDA's runtime. Otherwise the library loads nothing, and arrays must be in host
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
 * Dot products. x has n elements and y has k; calls return TREEFOLD_LENGTH if n and k differ. The operation is TREEFOLD_ALLREDUCE or
 * TREEFOLD_REDUCE; result, m and is_mine are as in treefold_reduce. If items are rows, each column gives one dot product.
 *
 * Plans of TREEFOLD_EXACT_DOT and TREEFOLD_EXACT_VDOT need two arrays: calls with one array return TREEFOLD_ARGUMENT. Plans in tree order
 * that sum floats or doubles also take two arrays: each product is rounded once, and products are added as in treefold_dot_f64. For items
 * of width 1, no array of products is made. If x and y are the same array, the square root of the result is the array's norm. For all other
 * plans, calls with two arrays return TREEFOLD_ARGUMENT.
 *
 * Plans of exact sums and norms accept all calls with one array except treefold_broadcast, which returns TREEFOLD_UNSUPPORTED. In the scans
 * of such plans, the items of lower ranks come first, and each prefix is rounded once.
 */
treefold_status treefold_run_dot(const treefold_plan *plan, int32_t operation, const void *x, size_t n, const void *y, size_t k,
                                 void *result, size_t m, int *is_mine);

/*
 * Several dot products of separately stored arrays, sent in one message. x and y each hold k pointers to n elements; k is the plan's width.
 * Element j of the result is the dot product of x[j] and y[j]. Plans that accept treefold_run_dot also accept this call.
 */
treefold_status treefold_run_dots(const treefold_plan *plan, int32_t operation, const void *const *x, const void *const *y, size_t k,
                                  size_t n, void *result, size_t m, int *is_mine);

/*
 * Runs a plan by key. `items` has n elements; `keys` has k integers of key_type, TREEFOLD_I8 to TREEFOLD_U64. Returns TREEFOLD_LENGTH if k
 * and n differ. For a key that the plan does not have, the call returns TREEFOLD_ARGUMENT, and the message names the item and the key; the
 * other ranks get TREEFOLD_RANK_FAILED.
 *
 * With TREEFOLD_ALLREDUCE every rank gets the values of all keys; m is the number of keys. With TREEFOLD_REDUCE only the root gets these
 * values. With TREEFOLD_REDUCE_SCATTER every rank gets the values of its own keys. Arrays are in host memory. Calls with keys on other
 * plans, and calls without keys on plans by key, return TREEFOLD_ARGUMENT; scans and broadcasts of plans by key, TREEFOLD_UNSUPPORTED.
 */
treefold_status treefold_run_by_key(const treefold_plan *plan, int32_t operation, treefold_type key_type, const void *keys, size_t k,
                                    const void *items, size_t n, void *result, size_t m, int *is_mine);

/* Runs a plan by key on keyed states of treefold.h. `keyed` is this rank's state. It must have the plan's type and number of keys, and hold
   the sums that the plan's statistic needs. The call turns it into the state of all ranks' items, from which the program reads statistics.
   With TREEFOLD_REDUCE only the root's state changes. With TREEFOLD_REDUCE_SCATTER each state keeps only the rank's own keys, renumbered
   from 0. After an error the state is unchanged. */
treefold_status treefold_run_keyed(const treefold_plan *plan, int32_t operation, treefold_keyed *keyed, int *is_mine);

/* A run between its start and its end. Runs of several plans may be under way at once; a wait for one run advances all of them. */
typedef struct treefold_run treefold_run;

/*
 * Starts TREEFOLD_ALLREDUCE, REDUCE, REDUCE_SCATTER, SCAN or EXSCAN; dot products and items by key are as above. Collective. The call
 * returns when this rank's items are folded, and then the program may reuse their arrays. A scan keeps a copy of the items until the run
 * ends.
 *
 * The wait writes the result to `result`, m elements. Until then `result` must stay allocated, but is not touched. `result` may be NULL
 * with m = 0 if the array for the result is passed to the wait, or if this rank gets no result.
 *
 * The start returns an error, and leaves no run, if an array is NULL or misaligned, or overlaps another array. If the result has the wrong
 * length, the wait returns the error. If the items have the wrong length, the wait returns the error in plans in tree order, and the start
 * returns it in other plans.
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

/* Waits until the run is over, but not longer than `seconds`. After this time the call returns TREEFOLD_TIMED_OUT, and the run continues.
   treefold_wait fetches the result. */
treefold_status treefold_wait_timeout(const treefold_run *run, double seconds);

/* Waits for a run, writes its result and destroys the handle. *is_mine says whether this rank got a result (is_mine may be NULL). If result
   is NULL and m = 0, the result goes to the array of the start. Returns TREEFOLD_ARGUMENT if an array is passed to both the start and the
   wait. If m is wrong, the run still completes, and the plan can run again. */
treefold_status treefold_wait(treefold_run **run, void *result, size_t m, int *is_mine);

/* Waits for n runs and ends them, even after an error. Returns the error of the first run that failed. Each result goes to the array of the
   run's start. A run that has a result but no such array fails with TREEFOLD_LENGTH. NULL handles are skipped; handles that do not name a
   run of this thread are left as they are. */
treefold_status treefold_wait_all(treefold_run **runs, size_t n);

/* Waits for a run of a plan by key. `keyed` becomes the state of this rank's result. Before the call, the state must have the plan's type
   and hold the sums of the plan's statistic, for any number of keys. If this rank gets no result, the state is unchanged. */
treefold_status treefold_wait_keyed(treefold_run **run, treefold_keyed *keyed, int *is_mine);

/* Whether a run of the plan is pending: *pending is 1 from the start of the run until its handle is destroyed, else 0. A plan has one run
   at a time. */
treefold_status treefold_plan_pending(const treefold_plan *plan, int *pending);

/* The plan of a run. *plan becomes the handle with which the run was started, or NULL if that handle has been destroyed since. */
treefold_status treefold_run_plan(const treefold_run *run, const treefold_plan **plan);

/* The name of a run's algorithm. The name is valid until the process ends. */
treefold_status treefold_run_algorithm(const treefold_run *run, const char **name);

/* Cancels a run. Its plan cannot run again; the runs of the other ranks fail. */
treefold_status treefold_cancel(treefold_run **run);

/* ---- Sums by keys of 64 bits --------------------------------------------------------------------------------------------------- */

/* A plan for exact sums by key, where keys are any 64-bit integers, with the result of its last run. Each key belongs to one rank, which
   adds up the contributions of all ranks. Each run may have other keys, and no rank need announce its keys. The sums have the same bits as
   if one process had all items. A plan by key is cheaper if the keys are 0 to K - 1 and most ranks have most of the keys. */
typedef struct treefold_hashed treefold_hashed;

/* Creates hashed sums, and compares the ranks' types and roots. Keys are TREEFOLD_I64 or U64, items TREEFOLD_F32 or F64. The root gets the
   result of TREEFOLD_REDUCE. Collective: errors reach every rank, as in treefold_plan_build. */
treefold_status treefold_hashed_create(const treefold_comm *comm, treefold_type key_type, treefold_type type, int root,
                                       treefold_hashed **result);
treefold_status treefold_hashed_destroy(treefold_hashed **hashed);

/*
 * A blocking collective. Each rank passes any number of items with their keys. Returns TREEFOLD_LENGTH if k and n differ. *count becomes
 * the number of keys in this rank's result, which treefold_hashed_result fetches. With TREEFOLD_ALLREDUCE, the result has all keys that
 * have items on any rank. With TREEFOLD_REDUCE, the root gets all these keys and the other ranks get none. With TREEFOLD_REDUCE_SCATTER,
 * each rank gets the keys that it owns; the owner of a key depends only on the key and the number of ranks. Arrays are in host memory.
 */
treefold_status treefold_hashed_run(const treefold_hashed *hashed, int32_t operation, const void *keys, size_t k, const void *items,
                                    size_t n, size_t *count);

/* The keys of this rank's result of the last run, in ascending order, and the sum of each key's items, rounded once. Returns
   TREEFOLD_LENGTH unless k and m are equal to the count of that run; after a failed run, the count is 0. */
treefold_status treefold_hashed_result(const treefold_hashed *hashed, void *keys, size_t k, void *sums, size_t m);

/* ---- Algorithms --------------------------------------------------------------------------------------------------------------- */

/* The name of algorithm number `index`, counted from 0, or NULL if there is no such algorithm. The name is valid until the process ends. */
const char *treefold_algorithm_name(size_t index);

#ifdef __cplusplus
}
#endif

#endif /* TREEFOLD_VERSION */

#endif
