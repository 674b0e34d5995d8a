/*
 * binary_tree_summation.h: ReproRed's interface, implemented with treefold's plans.
 *
 * A program that was written for ReproRed compiles without a change. Link it with libtreefold_reprored and libtreefold (pkg-config:
 * treefold-reprored; CMake: treefold::reprored or reprored). All ranks together have N numbers, with indices 0 to N - 1, which are added in
 * treefold's order. The sum has the same bits for every number of ranks and every distribution.
 *
 * Differences from ReproRed:
 * - reproducible_reduce does not change the buffer
 * - all modes use treefold's order. If the variable REPR_REDUCE requests another order (ALLREDUCE, REPROBLAS, KGATHER), rank 0 says so once
 * - NULL is not a context: free_reduction_context(NULL) does nothing
 * - the argument k, and the environment variables REPR_REDUCE_K, REPR_REDUCE_M and REPR_REDUCE_TWOPHASE, are ignored
 *
 * These functions cannot return an error. On any error, they print a line that names the rank, and call MPI_Abort.
 */
#ifndef TREEFOLD_BINARY_TREE_SUMMATION_H
#define TREEFOLD_BINARY_TREE_SUMMATION_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A sum over the ranks of a communicator, with a buffer for this rank's numbers. */
typedef void *ReductionContext;

/* Sets the communicator (an MPI_Comm as a number) for later calls of new_reduction_context. The default is MPI_COMM_WORLD. */
void set_default_reduction_context_communicator(uintptr_t communicator);

/* Creates a context, in which this rank has the numbers global_start_idx to global_start_idx + local_summands - 1. Collective. */
ReductionContext new_reduction_context(int global_start_idx, int local_summands);

/* Like new_reduction_context, but on the given communicator. */
ReductionContext new_reduction_context_comm(int global_start_idx, int local_summands, uintptr_t communicator);

/* Like new_reduction_context_comm; k is ignored. */
ReductionContext new_reduction_context_comm_k(int global_start_idx, int local_summands, uintptr_t communicator, int k);

/* Sets one of this rank's numbers, which are counted from 0. */
void store_summand(ReductionContext context, uint64_t local_idx, double value);

/* The sum of all ranks' numbers, on every rank. Collective. */
double reproducible_reduce(ReductionContext context);

/* The array of this rank's local_summands numbers. The program may read and write it until the context is freed. */
double *get_reduction_buffer(ReductionContext context);

/* Frees a context. */
void free_reduction_context(ReductionContext context);

/* Returns "TREEFOLD". */
const char *get_reproducible_reduction_mode(void);

/* How often this process has called reproducible_reduce. */
uint64_t get_reproducible_reduction_counter(void);

/* If `wait` is true, prints the ID of this process and waits until a debugger is attached. */
void attach_debugger(bool wait);

/* Calls attach_debugger(true) on the rank of MPI_COMM_WORLD that the environment variable DEBUG_MPI_RANK names. */
void attach_debugger_env(void);

#ifdef __cplusplus
}
#endif

#endif
