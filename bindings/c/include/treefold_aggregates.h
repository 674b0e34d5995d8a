/*
 * treefold_aggregates.h: states of aggregate functions, for bindings to databases and languages. Other programs need only treefold.h. The
 * rules of treefold.h for errors, pointers and threads apply here, too.
 */
#ifndef TREEFOLD_AGGREGATES_H
#define TREEFOLD_AGGREGATES_H

#include "treefold.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The exact state of one group of rows, in the caller's memory. Databases and languages keep one state for each of many groups, and add
 * one row per call. A state is created for one statistic, and has COUNT and every statistic that follows from the same sums:
 *
 *     created for                                  has                                                         bytes
 *     SUM                                          SUM, MEAN                                                      40
 *     DOT                                          DOT                                                            56
 *     COUNT, MEAN, VARIANCE, STD                   SUM, MEAN, VARIANCE, STD                                       88
 *     WEIGHTED_MEAN                                WEIGHTED_MEAN                                                  88
 *     SKEWNESS, KURTOSIS                           SKEWNESS, KURTOSIS, and all of VARIANCE                       208
 *     COVARIANCE, CORRELATION, SLOPE, INTERCEPT    COVARIANCE, CORRELATION, SLOPE, INTERCEPT                     216
 *
 * For other statistics, calls return TREEFOLD_UNSUPPORTED. If items span more than about 23 binary orders of magnitude, or are not finite,
 * the state also allocates 600 to 2,200 bytes for each of its sums; treefold_aggregate_clear frees these bytes. A state may be copied byte
 * by byte, but then only one of the copies may be used. For memory that does not begin like a state, calls return TREEFOLD_ARGUMENT. Only
 * one thread may use a state at a time.
 */
typedef struct treefold_aggregate treefold_aggregate;

/* The number of bytes of a state. */
treefold_status treefold_aggregate_bytes(treefold_statistic statistic, size_t *result);

/* Creates a state without rows in n bytes of memory, at an address that is a multiple of 8. Returns TREEFOLD_LENGTH if n is too small. */
treefold_status treefold_aggregate_init(treefold_aggregate *aggregate, size_t n, treefold_statistic statistic);

/* Removes all rows, and frees the memory that the state has allocated. */
treefold_status treefold_aggregate_clear(treefold_aggregate *aggregate);

/*
 * Adds n rows, or removes n rows that were added before. x has n items of TREEFOLD_F32, F64 or I64. Statistics of two columns also take y,
 * which has n items of y_type; for other statistics, y is NULL and y_type is 0. Integers are added without conversion to floating point, so
 * integers beyond 2^53 are exact, too. A failed call changes nothing. Returns TREEFOLD_ARGUMENT if there would be more than 2^63 - 1 rows,
 * or if more rows, NaNs or infinities are removed than there are. Removing any other row that was never added is not detected.
 */
treefold_status treefold_aggregate_add(treefold_aggregate *aggregate, treefold_type x_type, const void *x, treefold_type y_type,
                                       const void *y, size_t n);
treefold_status treefold_aggregate_remove(treefold_aggregate *aggregate, treefold_type x_type, const void *x, treefold_type y_type,
                                          const void *y, size_t n);

/* Adds the rows of another state, or removes them. Returns TREEFOLD_ARGUMENT if `other` holds other sums, or is `aggregate` itself. */
treefold_status treefold_aggregate_merge(treefold_aggregate *aggregate, const treefold_aggregate *other);
treefold_status treefold_aggregate_unmerge(treefold_aggregate *aggregate, const treefold_aggregate *other);

/*
 * A statistic, rounded once. In SQL, the result is NULL if there are no rows (except for COUNT) or too few, or if a denominator is 0; then
 * *is_null becomes 1 and *result 0. *result is one number of `type`, which is TREEFOLD_F64. For COUNT, `type` may also be I64; for the SUM
 * of a state that was created for SUM, F32 or I64. If a sum is not a 64-bit integer, I64 gives TREEFOLD_ARGUMENT. Every zero result is +0.
 */
treefold_status treefold_aggregate_value(const treefold_aggregate *aggregate, treefold_statistic statistic, double ddof,
                                         treefold_type type, void *result, int *is_null);

/*
 * Write a state as bytes, in the format of accumulators, and read such bytes. treefold_aggregate_of_bytes replaces the contents of a state,
 * which must hold the same sums as the state that wrote the bytes. treefold_aggregate_statistic sets *result to a statistic with these
 * sums, or returns TREEFOLD_ARGUMENT if the bytes do not begin like a state. States for WEIGHTED_MEAN return TREEFOLD_UNSUPPORTED.
 */
treefold_status treefold_aggregate_to_bytes(const treefold_aggregate *aggregate, void *bytes, size_t capacity, size_t *needed);
treefold_status treefold_aggregate_of_bytes(treefold_aggregate *aggregate, const void *bytes, size_t n);
treefold_status treefold_aggregate_statistic(const void *bytes, size_t n, treefold_statistic *result);

/* An aggregate function of SQL. Some engines leave out alternative names, such as exact_mean. */
typedef struct treefold_sql_function {
    const char *name;             /* such as "exact_var_samp" */
    treefold_statistic statistic; /* the statistic that the function returns, or for which it creates a state */
    double ddof;
    int32_t columns;              /* 1 or 2 */
    int32_t y_first;              /* whether SQL's first argument is y, as in exact_corr(y, x) */
    int32_t returns_state;        /* whether the function returns the bytes of the state, as exact_sum_state(x) does */
} treefold_sql_function;

/* Returns the static list of these functions, and sets *count to their number; count may be NULL. */
const treefold_sql_function *treefold_sql_functions(size_t *count);

#ifdef __cplusplus
}
#endif

#endif
