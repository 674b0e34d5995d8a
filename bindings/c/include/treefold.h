/*
 * treefold.h: reductions whose bits depend on the items, their order and the operator, and on nothing else.
 *
 * Items are the leaves of one binary tree: neighbours pair up, an odd last one moves up unchanged, and so on until one value is
 * left. docs/order.md has the specification; such pages are installed in share/treefold/docs. These functions reduce the items of
 * one process; treefold_mpi.h has those of MPI's ranks, which give the same bits.
 *
 *     double x[4] = {0.1, 0.2, 0.3, 0.4}, sum;
 *     if (treefold_sum_f64(x, 4, &sum) != TREEFOLD_OK)
 *         fprintf(stderr, "%s\n", treefold_last_error());
 *
 * Every function returns TREEFOLD_OK or the code of an error, and leaves its result where a pointer says. After an error the
 * result is not to be used. Arrays belong to the caller, and are read or written during the call only. A length counts elements,
 * not bytes. An array of 0 elements may be NULL; any other pointer that is NULL is the error TREEFOLD_NULL. A result, be it one
 * number, has an address that its type can have, and no byte in common with what the call reads or with another result: else the
 * error is TREEFOLD_ARGUMENT, and nothing is written. Items of the caller's operator may have any address.
 *
 * All functions of this header may be called by several threads at once.
 *
 * Link with libtreefold (pkg-config: treefold; CMake: treefold::treefold). C99 or later, C++11 or later; 64-bit processors.
 */
#ifndef TREEFOLD_H
#define TREEFOLD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ----------------------------------------------------------------------------------------------------------------- */

/* The version of this header: 10000 times the major number, plus 100 times the minor one, plus the patch. */
#define TREEFOLD_VERSION 100

/* The version of the library, in the same form. Before 1.0, libraries of one minor version fit each other's headers. */
uint32_t treefold_version(void);

/* ---- Errors ------------------------------------------------------------------------------------------------------------------- */

/* What a function returns: one of the codes below. */
typedef int32_t treefold_status;

enum {
    TREEFOLD_OK = 0,
    TREEFOLD_NULL = 1,         /* A pointer is NULL. */
    TREEFOLD_ARGUMENT = 2,     /* An argument has a value that it cannot have: an unknown code, an address that is not aligned, arrays
                                  that overlap, a root that does not exist, a handle that was destroyed or is another thread's. */
    TREEFOLD_LENGTH = 3,       /* An array has another length than it must have. */
    TREEFOLD_DISAGREE = 4,     /* The ranks do not agree on what they reduce, or their items are not 0 to N - 1, each once. */
    TREEFOLD_EMPTY = 5,        /* There are no items, and the operator has no value for nothing. */
    TREEFOLD_ENVIRONMENT = 6,  /* The processor does not round to nearest here, or takes subnormal numbers for zero. */
    TREEFOLD_RANK_FAILED = 7,  /* Another rank failed: treefold_last_error_rank says which. */
    TREEFOLD_SPENT = 8,        /* An earlier run of the plan failed: build another. */
    TREEFOLD_UNDER_WAY = 9,    /* A run of the plan is under way: wait for it first. It goes on. */
    TREEFOLD_TIMED_OUT = 10,   /* The time is over. The run goes on. */
    TREEFOLD_MPI = 11,         /* The MPI library failed, or is another one than this library was built for. */
    TREEFOLD_UNSUPPORTED = 12, /* The function does not exist for this type, operator or algorithm. */
    TREEFOLD_PANIC = 13,       /* An error in treefold itself; please report it. */
    TREEFOLD_MISMATCHED = 14,  /* The ranks make different calls on a plan. */
    TREEFOLD_MEMORY = 15,      /* There is not enough memory. */
    TREEFOLD_OPERATOR = 16,    /* The caller's operator returned an error, or made a call that an operator cannot make. */
    TREEFOLD_INTERRUPTED = 17  /* The program has ended a wait: see treefold_comm_interruption. */
};

/*
 * What went wrong in this thread's last call that failed: a line of UTF-8 that names the argument or the rank. "" if none has failed.
 * The text is valid until this thread's next call that fails.
 */
const char *treefold_last_error(void);

/* The rank that the last error of this thread is about; -1 if it is about none. */
int32_t treefold_last_error_rank(void);

/* The name of a code, such as "TREEFOLD_LENGTH"; "unknown" for any other number. */
const char *treefold_status_name(treefold_status status);

/* ---- Types and operators ------------------------------------------------------------------------------------------------------ */

/* The type of an element. Complex numbers are two floating-point numbers, first the real part, as in C, C++ and Fortran. */
typedef int32_t treefold_type;

enum {
    TREEFOLD_F32 = 1, /* float */
    TREEFOLD_F64 = 2, /* double */
    TREEFOLD_C32 = 3, /* float complex: two floats */
    TREEFOLD_C64 = 4, /* double complex: two doubles */
    TREEFOLD_I8 = 5,
    TREEFOLD_I16 = 6,
    TREEFOLD_I32 = 7,
    TREEFOLD_I64 = 8,
    TREEFOLD_U8 = 9,
    TREEFOLD_U16 = 10,
    TREEFOLD_U32 = 11,
    TREEFOLD_U64 = 12
};

/*
 * What combines two items. Each operation rounds once, in the element's own type; integers wrap. Minimum and maximum are those of
 * IEEE 754-2019: a NaN wins, and -0 is less than +0. A result that is not a number is the positive quiet NaN without payload.
 */
typedef int32_t treefold_op;

enum {
    TREEFOLD_SUM = 1,     /* of nothing: 0 */
    TREEFOLD_PRODUCT = 2, /* of nothing: 1 */
    TREEFOLD_MIN = 3,     /* of nothing: TREEFOLD_EMPTY; of complex numbers: TREEFOLD_UNSUPPORTED */
    TREEFOLD_MAX = 4      /* as TREEFOLD_MIN */
};

/*
 * An operator of the caller's: leaves the combination of two items in `out`, `left` having the lower numbers, and returns 0. Any
 * other number ends the reduction with TREEFOLD_OPERATOR. The items are aligned to 8 bytes; `out` is neither of the two. The operator
 * must give the same bits for the same operands on every rank. It must not throw an exception or leave by longjmp, and must not
 * communicate. `context` is what the caller gave with it.
 */
typedef int (*treefold_combine)(void *context, const void *left, const void *right, void *out);

/* The longest item of an operator of the caller's, in bytes. */
#define TREEFOLD_ITEM_BYTES_MAX 512

/* ---- One process -------------------------------------------------------------------------------------------------------------- */

/*
 * The sum of n numbers in tree order; 0 if there are none.
 *
 * Complex numbers are passed as their parts: x has 2 n of them, and result 2.
 */
treefold_status treefold_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_sum_c32(const float *x, size_t n, float *result);
treefold_status treefold_sum_c64(const double *x, size_t n, double *result);

/*
 * The sum in lanes, the order of ISO C++'s P4016 (docs/lanes.md): x[i] belongs to lane i mod lanes, each lane is summed in tree order, and
 * then their sums. There are 1 to 2^20 lanes, else TREEFOLD_ARGUMENT; 16, 32, 64 and 128 are the fastest, and 1 is the sum above.
 */
treefold_status treefold_sum_lanes_f32(const float *x, size_t n, size_t lanes, float *result);
treefold_status treefold_sum_lanes_f64(const double *x, size_t n, size_t lanes, double *result);

/* The sum of the products x[i] * y[i] in tree order. Each product rounds once. x has n numbers and y has m: TREEFOLD_LENGTH if they
   differ. */
treefold_status treefold_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);

/* The sum of the squares x[i] * x[i] in tree order: the bits of the dot product of x with itself. */
treefold_status treefold_squared_norm_f32(const float *x, size_t n, float *result);
treefold_status treefold_squared_norm_f64(const double *x, size_t n, double *result);

/* The sum of the numbers, and that of their absolute values, which bounds the error of the first (docs/order.md). */
treefold_status treefold_sum_and_absolute_sum_f32(const float *x, size_t n, float *sum, float *absolute_sum);
treefold_status treefold_sum_and_absolute_sum_f64(const double *x, size_t n, double *sum, double *absolute_sum);

/* The reduction of n items of any type by any operator. result is one item. */
treefold_status treefold_fold(treefold_type type, treefold_op op, const void *items, size_t n, void *result);

/*
 * The reduction of rows, element by element: result[c] becomes the reduction of every row's element c. The n elements of items are
 * rows of `width` elements, one after the other. result has m elements: TREEFOLD_LENGTH if m is not the width, or the elements
 * are not whole rows.
 */
treefold_status treefold_fold_rows(treefold_type type, treefold_op op, const void *items, size_t n, size_t width, void *result,
                                   size_t m);

/* The reductions of several fields, each stored on its own: result[f] becomes the reduction of the n items at fields[f], for f below
   count. */
treefold_status treefold_fields(treefold_type type, treefold_op op, const void *const *fields, size_t count, size_t n, void *result);

/*
 * The reduction of n items by the caller's operator. An item has item_bytes bytes, a multiple of 4 and at most
 * TREEFOLD_ITEM_BYTES_MAX. Items of a multiple of 8 bytes that are aligned to 8 bytes are not copied. `empty` is the reduction of
 * nothing, or NULL if that is an error (TREEFOLD_EMPTY).
 */
treefold_status treefold_fold_user(const void *items, size_t n, size_t item_bytes, treefold_combine combine, void *context,
                                   const void *empty, void *result);

/* ---- One process, no order ---------------------------------------------------------------------------------------------------- */

/*
 * Exact sums, rounded once, to nearest with ties to even. They depend neither on the order of the numbers nor on the floating-point
 * environment: these functions are right in every one, do not check it, and never return TREEFOLD_ENVIRONMENT. Nothing overflows on
 * the way: a result is infinite only if the exact one is beyond the range, or a number is infinite. One that is not a number is the
 * positive quiet NaN without payload. The sum of nothing is +0; that of -0 alone is -0; any other sum of zero is +0.
 */

/* The exact sum of n numbers. */
treefold_status treefold_exact_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_exact_sum_f64(const double *x, size_t n, double *result);

/* The exact sum of the products x[i] * y[i], which are not rounded. x has n numbers and y has m: TREEFOLD_LENGTH if they differ. */
treefold_status treefold_exact_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_exact_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);

/* The Euclidean norm: the square root of the exact sum of the squares, rounded once. */
treefold_status treefold_exact_norm_f32(const float *x, size_t n, float *result);
treefold_status treefold_exact_norm_f64(const double *x, size_t n, double *result);

/*
 * The exact sums of the columns of rows: result[c] becomes that of every row's number c. The n numbers of items are rows of `width`
 * numbers, one after the other. result has m numbers: TREEFOLD_LENGTH if m is not the width, or the numbers are not whole rows. The
 * call takes some hundred bytes of memory for each column: TREEFOLD_MEMORY if there is not so much.
 */
treefold_status treefold_exact_sum_rows_f32(const float *items, size_t n, size_t width, float *result, size_t m);
treefold_status treefold_exact_sum_rows_f64(const double *items, size_t n, size_t width, double *result, size_t m);

/*
 * The exact sum of each key's items, rounded once: result[g] becomes that of the items whose key is g, and +0 if there are none, or all
 * are -0. keys are k integers of a type, TREEFOLD_I8 to TREEFOLD_U64; item i has key keys[i]: TREEFOLD_LENGTH if k and n differ. Keys are
 * 0 to m - 1: any other is TREEFOLD_ARGUMENT, which names the item and the key. The call takes 16 bytes of memory for each key; if items
 * spread over more than some 50 binary places, as many again, for all keys, for each 32 places more; and some 600 for a key with an item
 * that is not finite. TREEFOLD_MEMORY if there is not room for 16 bytes a key.
 */
treefold_status treefold_exact_sum_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *items, size_t n,
                                              float *result, size_t m);
treefold_status treefold_exact_sum_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *items, size_t n,
                                              double *result, size_t m);

/*
 * The mean, the variance and the standard deviation of each key's items, each rounded once from the exact one. A variance is the sum of the
 * squares of what the items differ from their exact mean, divided by their number less ddof. A mean of nothing is not a number. For as
 * many items as ddof, or fewer, a variance is infinite; if the items are all alike, or there are none, it is not a number.
 */
treefold_status treefold_exact_mean_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *items, size_t n,
                                               float *result, size_t m);
treefold_status treefold_exact_mean_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *items, size_t n,
                                               double *result, size_t m);
treefold_status treefold_exact_variance_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *items, size_t n,
                                                   double ddof, float *result, size_t m);
treefold_status treefold_exact_variance_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *items, size_t n,
                                                   double ddof, double *result, size_t m);
treefold_status treefold_exact_standard_deviation_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *items,
                                                             size_t n, double ddof, float *result, size_t m);
treefold_status treefold_exact_standard_deviation_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *items,
                                                             size_t n, double ddof, double *result, size_t m);

/*
 * The exact sum of the products x[i] * y[i] of each key, which are not rounded, and the mean of each key's items x with weights y: the
 * exact sum of the products, divided by that of the weights, rounded once. x has n numbers and y has l: TREEFOLD_LENGTH if they differ.
 * Where the weights add up to 0, a mean is the quotient of the two rounded sums: of no items, not a number.
 */
treefold_status treefold_exact_dot_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *x, size_t n, const float *y,
                                              size_t l, float *result, size_t m);
treefold_status treefold_exact_dot_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *x, size_t n,
                                              const double *y, size_t l, double *result, size_t m);
treefold_status treefold_exact_weighted_mean_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *x, size_t n,
                                                        const float *y, size_t l, float *result, size_t m);
treefold_status treefold_exact_weighted_mean_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *x, size_t n,
                                                        const double *y, size_t l, double *result, size_t m);

/* The least and the greatest item of each key, as TREEFOLD_MIN and TREEFOLD_MAX have them; of no items, not a number. */
treefold_status treefold_exact_min_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *items, size_t n,
                                              float *result, size_t m);
treefold_status treefold_exact_min_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *items, size_t n,
                                              double *result, size_t m);
treefold_status treefold_exact_max_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *items, size_t n,
                                              float *result, size_t m);
treefold_status treefold_exact_max_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *items, size_t n,
                                              double *result, size_t m);

/*
 * The exact sums of the columns of each key's rows: result[g * width + c] becomes that of number c of the rows whose key is g. The n
 * numbers of items are k rows of `width` numbers, and the m of result one row for each key: TREEFOLD_LENGTH if they are not whole rows.
 */
treefold_status treefold_exact_sum_rows_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *items, size_t n,
                                                   size_t width, float *result, size_t m);
treefold_status treefold_exact_sum_rows_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *items, size_t n,
                                                   size_t width, double *result, size_t m);

/* The sum of each key's integers of a type, TREEFOLD_I8 to TREEFOLD_U64, added in 128 bits. result has m int64_t, or uint64_t for types
   without a sign: a sum that does not fit is TREEFOLD_ARGUMENT, which names the key. */
treefold_status treefold_exact_integer_sum_by_key(treefold_type key_type, const void *keys, size_t k, treefold_type type,
                                                  const void *items, size_t n, void *result, size_t m);

/*
 * The exact sum, or mean, of the window that ends at each item, rounded once: result[i] becomes that of the `window` items up to item i, or
 * of all of them at the beginning. A `window` of 0 is TREEFOLD_ARGUMENT. A window of fewer than least_items items gives a value that is not
 * a number. A sum of zeros is +0.0, also if all are -0.0, and so is a mean. result has as many numbers as items: TREEFOLD_LENGTH if m is
 * not n. Items that leave a window are taken back exactly: nothing is left of a huge one, nor of one that is infinite or not a number.
 */
treefold_status treefold_exact_rolling_sum_f32(const float *items, size_t n, size_t window, size_t least_items, float *result, size_t m);
treefold_status treefold_exact_rolling_sum_f64(const double *items, size_t n, size_t window, size_t least_items, double *result, size_t m);
treefold_status treefold_exact_rolling_mean_f32(const float *items, size_t n, size_t window, size_t least_items, float *result, size_t m);
treefold_status treefold_exact_rolling_mean_f64(const double *items, size_t n, size_t window, size_t least_items, double *result, size_t m);

/*
 * The same for windows by an index, such as a time, which ascends: result[i] becomes the sum or mean of the items up to item i whose index
 * is more than index[i] less a width. This difference neither overflows nor is rounded: 0.44 is in the window of 0.96 if the width is
 * 0.52, as the exact difference of these doubles is less. index has k numbers of index_type, a real type or one of integers, as many as
 * items, and `width` is one number of it, more than 0. An index that is less than the one before, or not a number, is TREEFOLD_ARGUMENT,
 * which names it; so is a width that is not more than 0.
 */
treefold_status treefold_exact_rolling_sum_by_range_f32(treefold_type index_type, const void *index, size_t k, const float *items,
                                                        size_t n, const void *width, size_t least_items, float *result, size_t m);
treefold_status treefold_exact_rolling_sum_by_range_f64(treefold_type index_type, const void *index, size_t k, const double *items,
                                                        size_t n, const void *width, size_t least_items, double *result, size_t m);
treefold_status treefold_exact_rolling_mean_by_range_f32(treefold_type index_type, const void *index, size_t k, const float *items,
                                                         size_t n, const void *width, size_t least_items, float *result, size_t m);
treefold_status treefold_exact_rolling_mean_by_range_f64(treefold_type index_type, const void *index, size_t k, const double *items,
                                                         size_t n, const void *width, size_t least_items, double *result, size_t m);

/* ---- One process, between calls ----------------------------------------------------------------------------------------------- */

/*
 * Exact sums that a program holds. Items come in any order and in any number of calls; results are rounded once, whenever they are asked
 * for.
 *
 *     treefold_accumulator *total = NULL;
 *     treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &total);
 *     treefold_accumulator_add(total, x, n);
 *     treefold_accumulator_remove(total, &x[0], 1);
 *     treefold_accumulator_value(total, &sum);
 *     treefold_accumulator_destroy(&total);
 *
 * Handles (treefold_accumulator, treefold_keyed) are names, not addresses: after their destruction they are TREEFOLD_ARGUMENT. Any thread
 * may use them, and several may read one at once; while one thread changes what a handle names, a call of another with it is
 * TREEFOLD_ARGUMENT. Functions that end a handle take its address and set it to NULL; to end one that is NULL already is no error. What a
 * call with an error was to change is as it was before.
 */

/* What is made of the items: their sum; the square root of the sum of their squares; the sum of products x[i] * y[i] of two arrays; the
   same with the complex conjugate of x[i]; their sum, mean, variance and standard deviation. These are of keyed states alone:
   WEIGHTED_MEAN, of items x[i] with weights y[i]; EXTREMA, the least and the greatest item; CO_MOMENTS, the moments of x and y and the sum
   of their products; POWERS, the sums of the first four powers. */
enum {
    TREEFOLD_EXACT_SUM = 1,
    TREEFOLD_EXACT_NORM = 2,
    TREEFOLD_EXACT_DOT = 3,
    TREEFOLD_EXACT_VDOT = 4,
    TREEFOLD_EXACT_MOMENTS = 5,
    TREEFOLD_EXACT_WEIGHTED_MEAN = 6,
    TREEFOLD_EXACT_EXTREMA = 7,
    TREEFOLD_EXACT_CO_MOMENTS = 8,
    TREEFOLD_EXACT_POWERS = 9
};

/* Statistics, each exact until it is rounded once. */
enum {
    TREEFOLD_COUNT = 0,
    TREEFOLD_SUM_OF_ITEMS = 1,
    TREEFOLD_MEAN = 2,
    TREEFOLD_VARIANCE = 3,
    TREEFOLD_STANDARD_DEVIATION = 4,
    TREEFOLD_MINIMUM = 5,
    TREEFOLD_MAXIMUM = 6,
    TREEFOLD_NORM = 7,
    TREEFOLD_DOT_PRODUCT = 8,
    TREEFOLD_WEIGHTED_MEAN = 9,
    TREEFOLD_COVARIANCE = 10,
    TREEFOLD_CORRELATION = 11,
    TREEFOLD_SLOPE = 12,
    TREEFOLD_INTERCEPT = 13,
    TREEFOLD_SKEWNESS = 14,
    TREEFOLD_KURTOSIS = 15
};

/* An exact sum of TREEFOLD_F32, F64, C32 or C64. Wherever a function takes or leaves an element, it has this type. */
typedef struct treefold_accumulator treefold_accumulator;

/* An accumulator of no items. C32 and C64 have no TREEFOLD_EXACT_NORM: that of twice as many real numbers is theirs. */
treefold_status treefold_accumulator_create(treefold_type type, int32_t figure, treefold_accumulator **result);

/* Ends an accumulator. */
treefold_status treefold_accumulator_destroy(treefold_accumulator **accumulator);

/*
 * Adds n items, or takes back n that were added. To take back more than there are, or more that are not numbers, infinite or -0, is
 * TREEFOLD_ARGUMENT; that others are taken back than were added is not noticed. For TREEFOLD_EXACT_DOT and VDOT the two functions after
 * these: TREEFOLD_LENGTH if n and m differ.
 */
treefold_status treefold_accumulator_add(treefold_accumulator *accumulator, const void *items, size_t n);
treefold_status treefold_accumulator_remove(treefold_accumulator *accumulator, const void *items, size_t n);
treefold_status treefold_accumulator_add_dot(treefold_accumulator *accumulator, const void *x, size_t n, const void *y, size_t m);
treefold_status treefold_accumulator_remove_dot(treefold_accumulator *accumulator, const void *x, size_t n, const void *y, size_t m);

/* Adds what another accumulator was given, which may be the same, or takes it back. TREEFOLD_ARGUMENT if the other one is of another type
   or another figure. */
treefold_status treefold_accumulator_merge(treefold_accumulator *accumulator, const treefold_accumulator *other);
treefold_status treefold_accumulator_unmerge(treefold_accumulator *accumulator, const treefold_accumulator *other);

/* The number of items, or of products. */
treefold_status treefold_accumulator_count(const treefold_accumulator *accumulator, uint64_t *result);

/*
 * The value, in one element: of TREEFOLD_EXACT_MOMENTS it is the sum. The mean is the exact sum divided by the number of items or
 * products; a norm has none (TREEFOLD_UNSUPPORTED). Only TREEFOLD_EXACT_MOMENTS has a variance and a standard deviation, as those by
 * key; of C32 they are float, and of C64 double.
 */
treefold_status treefold_accumulator_value(const treefold_accumulator *accumulator, void *result);
treefold_status treefold_accumulator_mean(const treefold_accumulator *accumulator, void *result);
treefold_status treefold_accumulator_variance(const treefold_accumulator *accumulator, double ddof, void *result);
treefold_status treefold_accumulator_standard_deviation(const treefold_accumulator *accumulator, double ddof, void *result);

/* Leaves 1 if the two hold the same sum of as many items, of each kind of those that are not numbers, infinite or -0; else 0. */
treefold_status treefold_accumulator_equal(const treefold_accumulator *accumulator, const treefold_accumulator *other, int *result);

/*
 * Writes an accumulator as bytes, for files and other programs, into `bytes`, and leaves their number in *needed. With capacity 0, bytes
 * may be NULL; with any other that is too small, TREEFOLD_LENGTH. Equal accumulators have the same bytes, whatever order or language
 * made them: docs/tree-or-exact.md has the format.
 */
treefold_status treefold_accumulator_to_bytes(const treefold_accumulator *accumulator, void *bytes, size_t capacity, size_t *needed);

/* Makes an accumulator what n bytes stand for, in place of what it held. Bytes that end early or late, such as none, are TREEFOLD_LENGTH,
   and those that begin as no accumulator's, of another type or figure, or that no items have, TREEFOLD_ARGUMENT. */
treefold_status treefold_accumulator_of_bytes(treefold_accumulator *accumulator, const void *bytes, size_t n);

/*
 * Exact sums, or what follows from them, of the items of each of the keys 0 to K - 1. Items are TREEFOLD_F32 or F64; keys, and the errors
 * about them, are those of treefold_exact_sum_by_key_f64. A call takes longer than to add an item: give many in one.
 */
typedef struct treefold_keyed treefold_keyed;

/*
 * Begins with no items. For each key, a figure takes so many bytes at first, and has results:
 *
 *     TREEFOLD_EXACT_SUM              16    sums
 *     TREEFOLD_EXACT_MOMENTS          56    counts, means, variances, standard_deviations
 *     TREEFOLD_EXACT_DOT              32    sums
 *     TREEFOLD_EXACT_WEIGHTED_MEAN    48    means
 *     TREEFOLD_EXACT_EXTREMA          16    minima, maxima; nothing can be taken back
 *     TREEFOLD_EXACT_CO_MOMENTS      136    counts; TREEFOLD_COVARIANCE, CORRELATION, SLOPE and INTERCEPT by keyed_statistics
 *     TREEFOLD_EXACT_POWERS          144    those of moments; TREEFOLD_SKEWNESS and KURTOSIS by keyed_statistics
 *
 * Items of TREEFOLD_EXACT_SUM may also be integers, TREEFOLD_I8 to TREEFOLD_U64: these have counts, sums as those of
 * treefold_exact_integer_sum_by_key, and means, which are double, and take 24 bytes.
 */
treefold_status treefold_keyed_create(treefold_type type, int32_t figure, size_t keys, treefold_keyed **result);

/* Sums of rows of `width` items: keyed_add takes as many rows as keys, and sums leaves a row for each key. */
treefold_status treefold_keyed_create_rows(treefold_type type, size_t keys, size_t width, treefold_keyed **result);

/* Sums of the keys that have items, which may be any of key_type: TREEFOLD_I64 or TREEFOLD_U64. Keys that are added may have other types of
   integers, if each is one of key_type. To remove an item whose key has no sum is TREEFOLD_ARGUMENT. */
treefold_status treefold_keyed_create_hashed(treefold_type type, treefold_type key_type, treefold_keyed **result);

/* Ends it. */
treefold_status treefold_keyed_destroy(treefold_keyed **keyed);

/* Adds n items to those of their keys, or takes back n that were added: more than a key has is TREEFOLD_ARGUMENT, which names the key.
   Moments and sums of integers count all items, others those that are infinite or not numbers. */
treefold_status treefold_keyed_add(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *items, size_t n);
treefold_status treefold_keyed_remove(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *items,
                                      size_t n);

/* The same for TREEFOLD_EXACT_DOT and CO_MOMENTS, and for TREEFOLD_EXACT_WEIGHTED_MEAN, where y are the weights. TREEFOLD_LENGTH if n and l differ. */
treefold_status treefold_keyed_add_dot(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *x, size_t n,
                                       const void *y, size_t l);
treefold_status treefold_keyed_remove_dot(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *x,
                                          size_t n, const void *y, size_t l);

/* Adds what another one of this type, figure and number of keys was given, key by key. It may be the same. A state of any keys takes those
   of the other one, too. */
treefold_status treefold_keyed_merge(treefold_keyed *keyed, const treefold_keyed *other);

/* The number of keys; and the keys of a state of any keys, ascending, in the order of their sums. Of other states, whose keys are 0 to
   K - 1, the latter is TREEFOLD_UNSUPPORTED. */
treefold_status treefold_keyed_groups(const treefold_keyed *keyed, size_t *result);
treefold_status treefold_keyed_keys(const treefold_keyed *keyed, void *result, size_t m);

/* A result for each key: TREEFOLD_LENGTH if m is not their number, TREEFOLD_UNSUPPORTED if the figure has no such result. Counts and
   results of integers have the types above, others that of the items. */
treefold_status treefold_keyed_sums(const treefold_keyed *keyed, void *result, size_t m);
treefold_status treefold_keyed_counts(const treefold_keyed *keyed, uint64_t *result, size_t m);
treefold_status treefold_keyed_means(const treefold_keyed *keyed, void *result, size_t m);
treefold_status treefold_keyed_minima(const treefold_keyed *keyed, void *result, size_t m);
treefold_status treefold_keyed_maxima(const treefold_keyed *keyed, void *result, size_t m);
treefold_status treefold_keyed_variances(const treefold_keyed *keyed, double ddof, void *result, size_t m);
treefold_status treefold_keyed_standard_deviations(const treefold_keyed *keyed, double ddof, void *result, size_t m);

/* A statistic of each key: TREEFOLD_UNSUPPORTED if the figure does not have it. In the divisor of a variance, a standard deviation or a
   covariance, `ddof` is subtracted from the number of items. If `bias` is not 0, skewness and kurtosis are those of the items (g1, g2),
   otherwise estimates of a population's (G1, G2). Too few items, or a denominator of zero, give NaN. Results have the items' type; those of
   integers are double. */
treefold_status treefold_keyed_statistics(const treefold_keyed *keyed, int32_t statistic, double ddof, int bias, void *result, size_t m);

/* Leaves 1 if the two have the same keys, each with the same sum of as many items; else 0. Where items are not counted, only those that are
   infinite or not numbers matter. */
treefold_status treefold_keyed_equal(const treefold_keyed *keyed, const treefold_keyed *other, int *result);

/* As the bytes of accumulators. For the keys 0 to K - 1, TREEFOLD_EXACT_SUM of real items and TREEFOLD_EXACT_MOMENTS have bytes; of other
   states they are TREEFOLD_UNSUPPORTED. of_bytes leaves a state of as many keys as the bytes have. */
treefold_status treefold_keyed_to_bytes(const treefold_keyed *keyed, void *bytes, size_t capacity, size_t *needed);
treefold_status treefold_keyed_of_bytes(treefold_keyed *keyed, const void *bytes, size_t n);

/* ---- One process, all threads ------------------------------------------------------------------------------------------------- */

/*
 * The same reductions, with the same bits, by the threads of a pool: one thread a core, or RAYON_NUM_THREADS. The pool starts with the
 * first call that needs it, TREEFOLD_MEMORY if it cannot. Short arrays are reduced by the caller's thread. A child that fork() has made
 * has none of its parent's threads, and starts a pool of its own.
 */
treefold_status treefold_par_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_par_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_par_sum_c32(const float *x, size_t n, float *result);
treefold_status treefold_par_sum_c64(const double *x, size_t n, double *result);
treefold_status treefold_par_sum_lanes_f32(const float *x, size_t n, size_t lanes, float *result);
treefold_status treefold_par_sum_lanes_f64(const double *x, size_t n, size_t lanes, double *result);
treefold_status treefold_par_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_par_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);
treefold_status treefold_par_squared_norm_f32(const float *x, size_t n, float *result);
treefold_status treefold_par_squared_norm_f64(const double *x, size_t n, double *result);
treefold_status treefold_par_sum_and_absolute_sum_f32(const float *x, size_t n, float *sum, float *absolute_sum);
treefold_status treefold_par_sum_and_absolute_sum_f64(const double *x, size_t n, double *sum, double *absolute_sum);
treefold_status treefold_par_fold(treefold_type type, treefold_op op, const void *items, size_t n, void *result);
treefold_status treefold_par_fold_rows(treefold_type type, treefold_op op, const void *items, size_t n, size_t width, void *result,
                                       size_t m);
treefold_status treefold_par_fields(treefold_type type, treefold_op op, const void *const *fields, size_t count, size_t n,
                                    void *result);

/* As treefold_fold_user; several threads call `combine` at once, all with the same context. */
treefold_status treefold_par_fold_user(const void *items, size_t n, size_t item_bytes, treefold_combine combine, void *context,
                                       const void *empty, void *result);

/* As treefold_exact_sum_f32 and so on, in any floating-point environment. */
treefold_status treefold_par_exact_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_par_exact_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_par_exact_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_par_exact_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);
treefold_status treefold_par_exact_norm_f32(const float *x, size_t n, float *result);
treefold_status treefold_par_exact_norm_f64(const double *x, size_t n, double *result);
treefold_status treefold_par_exact_sum_by_key_f32(treefold_type key_type, const void *keys, size_t k, const float *items, size_t n,
                                                  float *result, size_t m);
treefold_status treefold_par_exact_sum_by_key_f64(treefold_type key_type, const void *keys, size_t k, const double *items, size_t n,
                                                  double *result, size_t m);

#ifdef __cplusplus
}
#endif

#endif
