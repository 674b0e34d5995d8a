/*
 * treefold.h: reductions whose bits depend on the items, their order and the operator, and on nothing else.
 *
 * Items are the leaves of a binary tree: neighbours are combined in pairs, an unpaired last value moves up unchanged, and this repeats
 * until one value is left. docs/order.md, installed in share/treefold/docs, is the specification. The functions here reduce the items of
 * one process. The functions of treefold_mpi.h reduce over the ranks of MPI, and give the same bits.
 *
 *     double x[4] = {0.1, 0.2, 0.3, 0.4}, sum;
 *     if (treefold_sum_f64(x, 4, &sum) != TREEFOLD_OK)
 *         fprintf(stderr, "%s\n", treefold_last_error());
 *
 * As in MPI, the element type and the operator are arguments. Functions whose names end in _f32 or _f64 are short forms for float and
 * double. In C11, macros such as treefold_sum(x, n, &sum) deduce the type.
 *
 * Most functions return a treefold_status, which is TREEFOLD_OK or an error code, and write their result through a pointer. After an error,
 * do not use the result. Arrays belong to the caller; a call reads or writes them only before it returns. A length counts elements, not
 * bytes. An array of 0 elements may be NULL. For any other NULL pointer, a call returns TREEFOLD_NULL, unless the function's comment allows
 * NULL. Results must be aligned for their type, and must not overlap the inputs or each other; otherwise the call returns
 * TREEFOLD_ARGUMENT and writes nothing. Items of a user-defined operator need no alignment.
 *
 * Several threads may call the functions of this header at once. Each call works in the calling thread alone, unless treefold_threads has
 * allowed more threads.
 *
 * Link with libtreefold (pkg-config: treefold; CMake: treefold::treefold). This header needs a 64-bit processor, and C99, C++11 or later.
 */
#ifndef TREEFOLD_H
#define TREEFOLD_H

#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "treefold.h needs C99 or later: compile with -std=c99 or -std=c11"
#else

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ----------------------------------------------------------------------------------------------------------------- */

/* The version of this header: 10000 * major + 100 * minor + patch. */
#define TREEFOLD_VERSION 100

/* The version of the library, in the same form. Before 1.0, header and library must have the same minor version. */
uint32_t treefold_version(void);

/* The version of the library as text, such as "0.1.0". */
const char *treefold_version_string(void);

/* ---- Errors ------------------------------------------------------------------------------------------------------------------- */

/* The return type of most functions. A status is one of the codes below. */
typedef int32_t treefold_status;

enum {
    TREEFOLD_OK = 0,
    TREEFOLD_NULL = 1,         /* A pointer is NULL. */
    TREEFOLD_ARGUMENT = 2,     /* An argument is invalid. Examples are an unknown code, a misaligned address, overlapping arrays, a root
                                  that is not a rank, and a handle that was destroyed or belongs to another thread. */
    TREEFOLD_LENGTH = 3,       /* An array has the wrong length. */
    TREEFOLD_DISAGREE = 4,     /* The ranks disagree about the reduction, or do not have each of the items 0 to N - 1 exactly once. */
    TREEFOLD_EMPTY = 5,        /* There are no items, and the operator has no value for that case. */
    TREEFOLD_ENVIRONMENT = 6,  /* The processor is not set to round to nearest, or flushes subnormal numbers to zero. */
    TREEFOLD_RANK_FAILED = 7,  /* Another rank failed. treefold_last_error_rank returns its number. */
    TREEFOLD_SPENT = 8,        /* An earlier run of the plan failed. Build a new plan. */
    TREEFOLD_UNDER_WAY = 9,    /* An earlier run of the plan is still in progress. Wait for that run first. */
    TREEFOLD_TIMED_OUT = 10,   /* The time limit has passed. The run continues. */
    TREEFOLD_MPI = 11,         /* The MPI library failed, or is not the one that the program was compiled for. */
    TREEFOLD_UNSUPPORTED = 12, /* The function does not support this type, operator or algorithm. */
    TREEFOLD_PANIC = 13,       /* treefold has a bug; please report it. Destroy the object that the call was changing. */
    TREEFOLD_MISMATCHED = 14,  /* The ranks made different calls on a plan. */
    TREEFOLD_MEMORY = 15,      /* There is not enough memory. */
    TREEFOLD_OPERATOR = 16,    /* The user-defined operator returned an error, or made a call that operators must not make. */
    TREEFOLD_INTERRUPTED = 17  /* The callback that treefold_comm_interruption has set ended a wait. */
};

/*
 * Returns the message of this thread's last failed call, in UTF-8. The message is usually one line that names the argument or the rank, or
 * "" if no call has failed. The text is valid until this thread's next failed call.
 */
const char *treefold_last_error(void);

/* The rank that this thread's last error concerns, or -1 if that error concerns no rank. */
int32_t treefold_last_error_rank(void);

/* The name of a status, such as "TREEFOLD_LENGTH". The name of a number that is not a status is "unknown". */
const char *treefold_status_name(treefold_status status);

/* Sets this thread's last error to a status and a message in UTF-8, as a failed call does, and returns the status. Bindings to other
   languages report the errors that they detect in this way. TREEFOLD_OK and unknown numbers become TREEFOLD_ARGUMENT. */
treefold_status treefold_report(treefold_status status, const char *message);

/* ---- Types and operators ------------------------------------------------------------------------------------------------------ */

/* The type of an element. A complex number is two floating-point numbers, the real part first, as in C, C++ and Fortran. */
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
 * The operator that combines two items. Each arithmetic operation rounds once, in the element type; integers wrap around on overflow.
 * Minimum and maximum follow IEEE 754-2019: the result is NaN if an operand is NaN, and -0 is less than +0. Every NaN result is the
 * positive quiet NaN without payload.
 */
typedef int32_t treefold_op;

enum {
    TREEFOLD_SUM = 1,     /* The sum of no items is 0. */
    TREEFOLD_PRODUCT = 2, /* The product of no items is 1. */
    TREEFOLD_MIN = 3,     /* A call returns TREEFOLD_EMPTY if there are no items, and TREEFOLD_UNSUPPORTED for complex numbers. */
    TREEFOLD_MAX = 4      /* A call returns the same errors as for TREEFOLD_MIN. */
};

/*
 * A user-defined operator. It writes the combination of `left` and `right` to `out` and returns 0; any other return value ends the
 * reduction with TREEFOLD_OPERATOR. `left` comes from items with lower numbers than `right`. All three pointers are aligned to 8 bytes, and
 * `out` is neither `left` nor `right`. For the same operands, the operator must give the same bits on every rank. It must not throw an
 * exception, leave by longjmp, or communicate. `context` is the pointer that the caller passed with the operator.
 */
typedef int (*treefold_combine)(void *context, const void *left, const void *right, void *out);

/* The maximum size of an item of a user-defined operator, in bytes. */
#define TREEFOLD_ITEM_BYTES_MAX 512

/* ---- Threads ------------------------------------------------------------------------------------------------------------------ */

/*
 * Sets how many threads later calls of this thread may use. The default, 1, is the calling thread alone; 0 means one thread per core, or
 * as many as the environment variable RAYON_NUM_THREADS says. The number of threads changes no bit of a result. Several threads are used only
 * for long arrays, and only in treefold_sum and treefold_dot (also with _f32 and _f64), treefold_fold, _fold_rows, _fields, _fold_user,
 * _sum_lanes and _sum_and_absolute_sum, and in the exact sums, dot products, norms and sums by key of floats and doubles.
 *
 * There is one thread pool for each number of threads that the program uses. The first call that needs a pool starts it, or returns
 * TREEFOLD_MEMORY if the pool cannot start. A pool lasts until the process ends. A child process made by fork() has none of its parent's
 * threads, and starts its own pool. treefold_threads returns TREEFOLD_ARGUMENT if n is negative or more than 65535.
 */
treefold_status treefold_threads(int n);

/* The number of threads that this thread has set with treefold_threads; 1 by default. */
int treefold_thread_count(void);

/*
 * A callback, of type treefold_team, that runs work on the caller's own threads, such as the threads of OpenMP. It calls part(job, i) once
 * for each i from 0 to parts - 1, in any order and on any threads, and returns when all these calls have returned. `context` is the pointer
 * that the caller passed with the callback.
 */
typedef void (*treefold_part)(void *job, size_t part);
typedef void (*treefold_team)(void *context, size_t parts, treefold_part part, void *job);

/* ---- One process, in tree order ----------------------------------------------------------------------------------------------- */

/* The sum of n numbers, and the dot product of two arrays. In a dot product, each product x[i] * y[i] is rounded once, and the products are
   summed. For no numbers, both results are 0. x has n numbers and y has m; if n and m differ, a dot product returns TREEFOLD_LENGTH. */
treefold_status treefold_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);

/* Reduces n items of any type with any operator. `result` points to one item. */
treefold_status treefold_fold(treefold_type type, treefold_op op, const void *items, size_t n, void *result);

/*
 * Reduces rows, element by element: result[c] becomes the reduction of element c of every row. `items` has n elements, which are rows of
 * `width` elements, one after the other. `result` has m elements. Returns TREEFOLD_LENGTH unless m is width and n is a multiple of width.
 */
treefold_status treefold_fold_rows(treefold_type type, treefold_op op, const void *items, size_t n, size_t width, void *result,
                                   size_t m);

/* Reduces several arrays, the fields: for each f below `count`, result[f] becomes the reduction of the n items at fields[f]. */
treefold_status treefold_fields(treefold_type type, treefold_op op, const void *const *fields, size_t count, size_t n, void *result);

/*
 * Reduces n items with a user-defined operator. The size of an item, item_bytes, is a multiple of 4 and at most TREEFOLD_ITEM_BYTES_MAX.
 * Items are copied unless item_bytes is a multiple of 8 and the items are aligned to 8 bytes. `empty` points to the result for no items. If
 * `empty` is NULL and there are no items, the call returns TREEFOLD_EMPTY. If treefold_threads allows several threads, they call `combine`
 * concurrently, all with the same context.
 */
treefold_status treefold_fold_user(const void *items, size_t n, size_t item_bytes, treefold_combine combine, void *context,
                                   const void *empty, void *result);

/* The dot product of two arrays of TREEFOLD_F32 or F64. If x and y are the same array, the result is the array's squared norm. */
treefold_status treefold_dot(treefold_type type, const void *x, size_t n, const void *y, size_t m, void *result);

/*
 * The sum in lanes, in the order of ISO C++ paper P4016 (docs/lanes.md). x[i] belongs to lane i mod lanes; each lane is summed in
 * tree order, and then the lane sums are added in tree order. Returns TREEFOLD_ARGUMENT unless 1 <= lanes <= 2^20. The fastest numbers of
 * lanes are 16, 32, 64 and 128; one lane gives the same sum as treefold_sum. type is TREEFOLD_F32 or F64.
 */
treefold_status treefold_sum_lanes(treefold_type type, const void *x, size_t n, size_t lanes, void *result);

/* The sum of x, and the sum of the absolute values of x, which bounds the error of `sum` (docs/order.md). type is TREEFOLD_F32 or F64. */
treefold_status treefold_sum_and_absolute_sum(treefold_type type, const void *x, size_t n, void *sum, void *absolute_sum);

/* Like treefold_fold and treefold_dot, but on the caller's threads. For a short array, the calling thread does the work and does not call
   `team`. Returns TREEFOLD_ARGUMENT if `team` skips a part. */
treefold_status treefold_fold_on(treefold_type type, treefold_op op, const void *items, size_t n, treefold_team team, void *context,
                                 void *result);
treefold_status treefold_dot_on(treefold_type type, const void *x, size_t n, const void *y, size_t m, treefold_team team, void *context,
                                void *result);

/* ---- One process, exact ------------------------------------------------------------------------------------------------------- */

/*
 * Exact sums, and statistics that follow from them. Each is computed exactly and rounded once, to nearest with ties to even. Results depend
 * neither on the order of the numbers nor on the floating-point environment: these functions never return TREEFOLD_ENVIRONMENT.
 * Intermediate values do not overflow: unless the comment of a statistic says otherwise, a result is infinite only if the exact result is
 * out of range, or a number is infinite. Every NaN result is the positive quiet NaN without payload. The sum of no items is +0; if all
 * items are -0, the sum is -0; any other zero sum is +0. In results by key and in windows, every zero sum is +0.
 */

/* The exact sum of n numbers, and the exact dot product of two arrays, whose products x[i] * y[i] are not rounded. x has n numbers and y
   has m; if n and m differ, a dot product returns TREEFOLD_LENGTH. */
treefold_status treefold_exact_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_exact_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_exact_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_exact_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);

/*
 * A statistic of the items of one array, x, or of the pairs (x[i], y[i]) of two arrays.
 *
 *                                      of        result for no or too few items, and remarks
 *     TREEFOLD_EXACT_COUNT             x         0
 *     TREEFOLD_EXACT_SUM               x         0
 *     TREEFOLD_EXACT_MEAN              x         NaN
 *     TREEFOLD_EXACT_VARIANCE          x         see ddof
 *     TREEFOLD_EXACT_STD               x         see ddof
 *     TREEFOLD_EXACT_MIN               x         NaN
 *     TREEFOLD_EXACT_MAX               x         NaN
 *     TREEFOLD_EXACT_NORM              x         0         the square root of the sum of squares; keyed states take x twice
 *     TREEFOLD_EXACT_DOT               x, y      0         the sum of the products x[i] * y[i]
 *     TREEFOLD_EXACT_WEIGHTED_MEAN     x, y      NaN       y[i] is the weight of x[i]; quotient of two rounded sums if the weights sum to 0
 *     TREEFOLD_EXACT_COVARIANCE        x, y      NaN
 *     TREEFOLD_EXACT_CORRELATION       x, y      NaN       also NaN if x or y is constant
 *     TREEFOLD_EXACT_SLOPE             x, y      NaN       the slope of the regression line of y on x; also NaN if x is constant
 *     TREEFOLD_EXACT_INTERCEPT         x, y      NaN       the height of the regression line at x = 0; also NaN if x is constant
 *     TREEFOLD_EXACT_SKEWNESS          x         NaN       also NaN if x is constant
 *     TREEFOLD_EXACT_KURTOSIS          x         NaN       also NaN if x is constant
 *     TREEFOLD_EXACT_VDOT              x, y      0         the sum of the products conj(x[i]) * y[i]
 *
 * `ddof`, as in NumPy, is 0 if the items are the whole population, and 1 if they are a sample of it. The divisor of a variance or a
 * covariance is the number of items minus ddof; ddof may be any number. If this divisor is 0 or negative, a variance or standard deviation
 * is infinite, or NaN if all items are equal or there are none. For ddof 0, the skewness is g1 and the kurtosis is g2. For ddof 1, the
 * skewness is G1 and needs 3 items, and the kurtosis is G2 and needs 4. For both, any other ddof gives TREEFOLD_ARGUMENT. All other
 * statistics ignore ddof.
 *
 * Minimum and maximum treat NaN and -0 as TREEFOLD_MIN and TREEFOLD_MAX do. A function that does not support a statistic for a type returns
 * TREEFOLD_UNSUPPORTED.
 */
typedef int32_t treefold_statistic;

enum {
    TREEFOLD_EXACT_COUNT = 0,
    TREEFOLD_EXACT_SUM = 1,
    TREEFOLD_EXACT_MEAN = 2,
    TREEFOLD_EXACT_VARIANCE = 3,
    TREEFOLD_EXACT_STD = 4,
    TREEFOLD_EXACT_MIN = 5,
    TREEFOLD_EXACT_MAX = 6,
    TREEFOLD_EXACT_NORM = 7,
    TREEFOLD_EXACT_DOT = 8,
    TREEFOLD_EXACT_WEIGHTED_MEAN = 9,
    TREEFOLD_EXACT_COVARIANCE = 10,
    TREEFOLD_EXACT_CORRELATION = 11,
    TREEFOLD_EXACT_SLOPE = 12,
    TREEFOLD_EXACT_INTERCEPT = 13,
    TREEFOLD_EXACT_SKEWNESS = 14,
    TREEFOLD_EXACT_KURTOSIS = 15,
    TREEFOLD_EXACT_VDOT = 16
};

/*
 * The type of a result. A count is TREEFOLD_U64. A variance or standard deviation of complex items has the type of their real parts. In
 * results by key, a sum of integers is TREEFOLD_I64 if the items are signed and U64 if not; other statistics of integers are F64. Every
 * other result has the type of the items.
 */

/* A statistic of all items. x has n elements; y has m, or is NULL with m = 0 if the statistic takes one array. Complex numbers
   have only the count, the sum, the mean, the variance, the standard deviation and both dot products. */
treefold_status treefold_exact(treefold_type type, treefold_statistic statistic, double ddof, const void *x, size_t n, const void *y,
                               size_t m, void *result);

/*
 * A statistic for each key: result[g] becomes the statistic of the items whose key is g. `keys` holds k integers of key_type, TREEFOLD_I8
 * to TREEFOLD_U64, and keys[i] is the key of item i. Returns TREEFOLD_LENGTH if k and n differ. Keys are 0 to m - 1. For any other key, the
 * call returns TREEFOLD_ARGUMENT, and the message names the item and the key. y has l elements, or is NULL with l = 0 if the statistic
 * takes one array.
 *
 * Items are TREEFOLD_F32, F64, or integers, which have only the count, the sum, the mean, the variance and the standard deviation. If a sum
 * of integers does not fit in 64 bits, the call returns TREEFOLD_ARGUMENT, and the message names the key of that sum. The comment of
 * treefold_keyed_create says how much memory each key takes. Returns TREEFOLD_MEMORY if there is not enough memory.
 */
treefold_status treefold_by_key(treefold_type type, treefold_statistic statistic, double ddof, treefold_type key_type, const void *keys,
                                size_t k, const void *x, size_t n, const void *y, size_t l, void *result, size_t m);

/*
 * A statistic for each column of each key's rows: result[g * width + c] becomes the statistic of column c of the rows whose key is g.
 * `items` has n numbers, in k rows of `width` numbers. `result` has m numbers, in one row of `width` numbers for each key. Returns
 * TREEFOLD_LENGTH if n or m is not a multiple of width. If keys is NULL and k is 0, `result` is one row, with the statistics of all rows.
 * type is TREEFOLD_F32 or F64. The statistic is any that takes one array, except NORM.
 */
treefold_status treefold_by_key_rows(treefold_type type, treefold_statistic statistic, double ddof, size_t width, treefold_type key_type,
                                     const void *keys, size_t k, const void *items, size_t n, void *result, size_t m);

/* ---- One process, moving windows ---------------------------------------------------------------------------------------------- */

/* The position of the window of item i. */
enum {
    TREEFOLD_TRAILING = 0, /* the window ends at i */
    TREEFOLD_FORWARD = 1,  /* the window begins at i */
    TREEFOLD_CENTRED = 2,  /* i is in the middle: in a window of n items, (n - 1) / 2 of them, rounded down, come after i */
    TREEFOLD_EXPANDING = 3 /* the window has all items up to i; the fields items and index are not used */
};

/*
 * A moving window. Set the fields that you need, and the others to 0: treefold_window window = {.items = 20}. Unless the placement is
 * TREEFOLD_EXPANDING, set either `items` or `index`; if both are set, or neither, calls return TREEFOLD_ARGUMENT.
 *
 * - If `items` is set, a window has `items` items, or fewer at the ends of the array.
 * - If `index` is set, a window is a range of an ascending index, such as a time. `index` has one number of index_type, a real or integer
 *   type, for each item. `width` points to one number of this type, more than 0. Let t be an item's index. Its trailing window has the item
 *   and the earlier items whose index is more than t - width. Its forward window has the item and the later items whose index is less than
 *   t + width. Its centred window has the items with t - width / 2 < index <= t + width / 2. Differences neither overflow nor round: 0.44
 *   is in the trailing window of 0.96 with width 0.52, since the exact difference of the doubles 0.96 and 0.44 is less than the double
 *   0.52. If an index is NaN, or less than the index before it, calls return TREEFOLD_ARGUMENT, and the message names the item.
 */
typedef struct treefold_window {
    size_t items;             /* 0 if an index defines the window */
    const void *index;        /* NULL if `items` defines the window; otherwise not NULL, even if x has no items */
    const void *width;
    treefold_type index_type;
    int32_t placement;
    size_t least_items;       /* the result is NaN for a window of fewer items */
    int32_t skip_nan;         /* if not 0, items that are NaN, and pairs that contain a NaN, are skipped */
} treefold_window;

/*
 * A statistic of the window of each item. x has n items; y has l, or is NULL with l = 0 if the statistic takes one array. `result` has one
 * number for each item; the call returns TREEFOLD_LENGTH if m is not n. Results have the type of the items, TREEFOLD_F32 or F64; a count is
 * rounded to this type. A sum or a mean of zeros is +0. When an item leaves the window, it is subtracted exactly, so even a huge, infinite
 * or NaN item does not affect later results. The time per item hardly depends on the length of the window.
 */
treefold_status treefold_rolling(treefold_type type, treefold_statistic statistic, double ddof, const treefold_window *window,
                                 const void *x, size_t n, const void *y, size_t l, void *result, size_t m);

/* ---- One process, between calls ----------------------------------------------------------------------------------------------- */

/*
 * Exact sums that a program keeps between calls. Items may be added in any order and in any number of calls; a result is rounded once, when
 * it is read.
 *
 *     treefold_accumulator *total = NULL;
 *     treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &total);
 *     treefold_accumulator_add(total, x, n);
 *     treefold_accumulator_remove(total, &x[0], 1);
 *     treefold_accumulator_value(total, TREEFOLD_EXACT_SUM, 0, &sum);
 *     treefold_accumulator_destroy(&total);
 *
 * An accumulator or a keyed state is created for one statistic, which determines the sums that it holds. It also has every other statistic
 * that follows from these sums:
 *
 *     created for                                  holds                                     has the statistics
 *     SUM                                          a sum                                     SUM; accumulators also COUNT and MEAN
 *     COUNT, MEAN, VARIANCE, STD                   the sums of x and x^2                     COUNT, MEAN, VARIANCE, STD, SUM
 *     DOT, VDOT                                    the sum of x y                            DOT, VDOT; accumulators also COUNT and MEAN
 *     NORM                                         the sum of x^2; keyed states, of x y      NORM; accumulators also COUNT
 *     WEIGHTED_MEAN                                the sums of x y and y                     WEIGHTED_MEAN
 *     MIN, MAX                                     the least and the greatest item           MIN, MAX
 *     COVARIANCE, CORRELATION, SLOPE, INTERCEPT    the sums of x, x^2, y, y^2 and x y        all in the first column, and COUNT
 *     SKEWNESS, KURTOSIS                           the sums of the first four powers of x    SKEWNESS, KURTOSIS, and as for VARIANCE
 *
 * Keyed states created for DOT, VDOT and NORM hold the same sum. Complex accumulators for DOT have no VDOT, and complex accumulators for
 * VDOT have no DOT. For DOT and VDOT, MEAN is the mean of the products. States of integers created for COUNT, SUM or MEAN hold the sum, and
 * have COUNT, SUM and MEAN. Items cannot be removed from a state for MIN or MAX: the call returns TREEFOLD_UNSUPPORTED.
 *
 * Handles (treefold_accumulator, treefold_keyed) are checked numbers, not addresses: a call with a destroyed handle returns
 * TREEFOLD_ARGUMENT. Any thread may use a handle, and several threads may read an object at once. While one thread modifies an object,
 * other threads' calls on it return TREEFOLD_ARGUMENT. So do calls that would modify an object while another thread reads it. A function
 * that destroys an object sets the handle to NULL. Destroying a NULL handle is not an error. A failed call changes nothing.
 */

/* Exact sums of items of one type: TREEFOLD_F32, F64, C32 or C64. treefold_accumulator_create sets the type for all later calls. */
typedef struct treefold_accumulator treefold_accumulator;

/* Creates an empty accumulator, for COUNT, SUM, MEAN, VARIANCE, STD, NORM, DOT or VDOT. For other statistics, use a keyed state of one key.
   Complex numbers have no NORM; for their norm, pass an array of n complex numbers as 2 * n real numbers. */
treefold_status treefold_accumulator_create(treefold_type type, treefold_statistic statistic, treefold_accumulator **result);

/* Creates a copy of an accumulator. */
treefold_status treefold_accumulator_copy(const treefold_accumulator *accumulator, treefold_accumulator **result);

/* Destroys an accumulator. */
treefold_status treefold_accumulator_destroy(treefold_accumulator **accumulator);

/* Removes all items. */
treefold_status treefold_accumulator_clear(treefold_accumulator *accumulator);

/*
 * Adds n items, or removes n items that were added before. Returns TREEFOLD_ARGUMENT if more items are removed than the accumulator has, or
 * more NaNs, infinities of one sign or negative zeros. (For NORM, DOT and VDOT, products with these values are counted.) Removing any other
 * item that was never added is not detected. Accumulators for DOT and VDOT take pairs, and all others take single items; otherwise the call
 * returns TREEFOLD_UNSUPPORTED. If n and m differ, a call with pairs returns TREEFOLD_LENGTH.
 */
treefold_status treefold_accumulator_add(treefold_accumulator *accumulator, const void *items, size_t n);
treefold_status treefold_accumulator_remove(treefold_accumulator *accumulator, const void *items, size_t n);
treefold_status treefold_accumulator_add_pairs(treefold_accumulator *accumulator, const void *x, size_t n, const void *y, size_t m);
treefold_status treefold_accumulator_remove_pairs(treefold_accumulator *accumulator, const void *x, size_t n, const void *y, size_t m);

/* Adds the items of another accumulator, or removes them. `other` may be `accumulator` itself. Returns TREEFOLD_ARGUMENT if `other` has
   another type or holds other sums. */
treefold_status treefold_accumulator_merge(treefold_accumulator *accumulator, const treefold_accumulator *other);
treefold_status treefold_accumulator_unmerge(treefold_accumulator *accumulator, const treefold_accumulator *other);

/* Computes a statistic of the items. *result is one number, of the same type as the result of treefold_exact. */
treefold_status treefold_accumulator_value(const treefold_accumulator *accumulator, treefold_statistic statistic, double ddof,
                                           void *result);

/* Sets *result to 1 if both accumulators have the same sum and the same counts of items, NaNs, infinities of each sign and negative zeros;
   else to 0. Returns TREEFOLD_ARGUMENT if `other` has another type or holds other sums. */
treefold_status treefold_accumulator_equal(const treefold_accumulator *accumulator, const treefold_accumulator *other, int *result);

/*
 * Writes an accumulator as bytes, for files and other programs, to `bytes`, and sets *needed to the number of bytes. With capacity 0, only
 * *needed is set, and `bytes` may be NULL. If any other capacity is too small, the call returns TREEFOLD_LENGTH. Equal accumulators have
 * the same bytes, whatever the order of the items and the language of the program. docs/tree-or-exact.md specifies the format.
 */
treefold_status treefold_accumulator_to_bytes(const treefold_accumulator *accumulator, void *bytes, size_t capacity, size_t *needed);

/* Replaces the contents of an accumulator with the contents of bytes that treefold_accumulator_to_bytes has written. Returns
   TREEFOLD_LENGTH for too few or too many bytes, and TREEFOLD_ARGUMENT for corrupt bytes or bytes of another type or kind of sum. */
treefold_status treefold_accumulator_of_bytes(treefold_accumulator *accumulator, const void *bytes, size_t n);

/*
 * Exact statistics for each of the keys 0 to K - 1. Items are TREEFOLD_F32, F64 or integers; keys are as in treefold_by_key, with the same
 * errors. Pass many items in one call: the fixed cost of a call exceeds the cost of adding an item.
 */
typedef struct treefold_keyed treefold_keyed;

/*
 * Creates an empty state. At first a key takes 16 bytes for SUM, 56 for VARIANCE, 32 for DOT, 48 for WEIGHTED_MEAN, 16 for MIN, 136 for
 * COVARIANCE and 144 for SKEWNESS; states that hold the same sums take the same number of bytes. If items span more than about 50 binary
 * orders of magnitude, each further 32 orders add the initial number of bytes again to every key. A key with an item that is not finite
 * takes 60 to 120 bytes more. Returns TREEFOLD_MEMORY if there is not enough memory.
 *
 * For COUNT, SUM, MEAN, VARIANCE and STD, items may also be integers, TREEFOLD_I8 to TREEFOLD_U64. In a state of integers for COUNT, SUM or
 * MEAN, a key takes 24 bytes.
 */
treefold_status treefold_keyed_create(treefold_type type, treefold_statistic statistic, size_t keys, treefold_keyed **result);

/* Creates an empty state of rows. A row has `width` items (at least 1) of TREEFOLD_F32 or F64. treefold_keyed_add takes one row for each
   element of `keys`; treefold_keyed_values writes one row for each key. */
treefold_status treefold_keyed_create_rows(treefold_type type, treefold_statistic statistic, size_t keys, size_t width,
                                           treefold_keyed **result);

/* Creates an empty hashed state of TREEFOLD_F32 or F64, for SUM. Keys may be any integers of key_type, TREEFOLD_I64 or TREEFOLD_U64, and a
   key gets a sum when its first item is added. A key remains when all its items are removed; only treefold_keyed_clear removes keys. Calls
   may pass keys of other integer types that fit key_type. treefold_keyed_remove returns TREEFOLD_ARGUMENT for keys without a sum. */
treefold_status treefold_keyed_create_hashed(treefold_type type, treefold_type key_type, treefold_keyed **result);

/* Like the functions of the same names for accumulators. */
treefold_status treefold_keyed_copy(const treefold_keyed *keyed, treefold_keyed **result);
treefold_status treefold_keyed_destroy(treefold_keyed **keyed);
treefold_status treefold_keyed_clear(treefold_keyed *keyed);

/* Adds n items to the sums of their keys, or removes n items that were added before. If a key has fewer items than are removed, the call
   returns TREEFOLD_ARGUMENT, and the message names the key. States without COUNT check this only for infinite and NaN items or products. */
treefold_status treefold_keyed_add(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *items, size_t n);
treefold_status treefold_keyed_remove(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *items,
                                      size_t n);

/* Adds or removes pairs. For a state of NORM, pass the same array as x and y. Returns TREEFOLD_LENGTH if n and l differ. Pairs for a state
   of single items, and single items for a state of pairs, are rejected with TREEFOLD_UNSUPPORTED. */
treefold_status treefold_keyed_add_pairs(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *x, size_t n,
                                         const void *y, size_t l);
treefold_status treefold_keyed_remove_pairs(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *x,
                                            size_t n, const void *y, size_t l);

/* Adds the items of another state, key by key, or removes them. Returns TREEFOLD_ARGUMENT if `other` has another type or holds other sums,
   and TREEFOLD_LENGTH if `other` has another number of keys or columns. `other` may be `keyed` itself. Merging into a hashed state adds the
   keys that this state lacks. Unmerging returns TREEFOLD_ARGUMENT if a hashed state lacks one of the keys. */
treefold_status treefold_keyed_merge(treefold_keyed *keyed, const treefold_keyed *other);
treefold_status treefold_keyed_unmerge(treefold_keyed *keyed, const treefold_keyed *other);

/* treefold_keyed_groups writes the number of keys. treefold_keyed_keys writes the keys of a hashed state in ascending order, the order of
   treefold_keyed_values. For other states, whose keys are 0 to K - 1, treefold_keyed_keys returns TREEFOLD_UNSUPPORTED. */
treefold_status treefold_keyed_groups(const treefold_keyed *keyed, size_t *result);
treefold_status treefold_keyed_keys(const treefold_keyed *keyed, void *result, size_t m);

/* Computes a statistic for each key, of the same type as the results of treefold_by_key. Returns TREEFOLD_LENGTH if m is not the number of
   keys times the width, and TREEFOLD_UNSUPPORTED if the state does not have the statistic. */
treefold_status treefold_keyed_values(const treefold_keyed *keyed, treefold_statistic statistic, double ddof, void *result, size_t m);

/* Sets *result to 1 if both states have the same keys, and for each key the same sum and number of items; else to 0. In states without
   COUNT, only the numbers of infinite and NaN items are compared. Returns TREEFOLD_ARGUMENT if the types or the kinds of sums differ. */
treefold_status treefold_keyed_equal(const treefold_keyed *keyed, const treefold_keyed *other, int *result);

/* Like treefold_accumulator_to_bytes and _of_bytes. Both return TREEFOLD_UNSUPPORTED for hashed states. treefold_keyed_of_bytes sets the
   number of keys to that of the bytes; the rows of the bytes must be as wide as the rows of the state. The bytes of sums of integers do not
   record the integer type, so a state of any integer type can read them. */
treefold_status treefold_keyed_to_bytes(const treefold_keyed *keyed, void *bytes, size_t capacity, size_t *needed);
treefold_status treefold_keyed_of_bytes(treefold_keyed *keyed, const void *bytes, size_t n);

#ifdef __cplusplus
}
#endif

/* ---- Macros that deduce the type ----------------------------------------------------------------------------------------------- */

#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L

/* The code of the type that a pointer points to; 0 if the type has no code. */
#ifdef __STDC_NO_COMPLEX__
#define TREEFOLD_COMPLEX_TYPES
#else
#define TREEFOLD_COMPLEX_TYPES float _Complex : TREEFOLD_C32, double _Complex : TREEFOLD_C64,
#endif
#define TREEFOLD_TYPE_OF(pointer)                                                                                                      \
    _Generic(*(pointer),                                                                                                               \
        float: TREEFOLD_F32,                                                                                                           \
        double: TREEFOLD_F64,                                                                                                          \
        TREEFOLD_COMPLEX_TYPES                                                                                                         \
        signed char: TREEFOLD_I8,                                                                                                      \
        short: TREEFOLD_I16,                                                                                                           \
        int: TREEFOLD_I32,                                                                                                             \
        long: sizeof(long) == 8 ? TREEFOLD_I64 : TREEFOLD_I32,                                                                         \
        long long: TREEFOLD_I64,                                                                                                       \
        unsigned char: TREEFOLD_U8,                                                                                                    \
        unsigned short: TREEFOLD_U16,                                                                                                  \
        unsigned int: TREEFOLD_U32,                                                                                                    \
        unsigned long: sizeof(long) == 8 ? TREEFOLD_U64 : TREEFOLD_U32,                                                                \
        unsigned long long: TREEFOLD_U64,                                                                                              \
        default: 0)

/* The code of the type that both pointers point to. The program does not compile if the types differ or have no code. */
#define TREEFOLD_IS_ONE_TYPE(x, result) (TREEFOLD_TYPE_OF(x) != 0 && TREEFOLD_TYPE_OF(x) == TREEFOLD_TYPE_OF(result))
#define TREEFOLD_TYPE_OF_BOTH(x, result)                                                                                               \
    ((treefold_type)(TREEFOLD_TYPE_OF(x) * (int)sizeof(struct {                                                                        \
                         _Static_assert(TREEFOLD_IS_ONE_TYPE(x, result), "x and result must point to one supported type");             \
                         char one;                                                                                                     \
                     })))

/* Reductions in tree order, and exact sums, of n elements of any supported type, called as treefold_sum(x, n, &sum). */
#define treefold_sum(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_SUM, (x), (n), (result))
#define treefold_product(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_PRODUCT, (x), (n), (result))
#define treefold_min(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_MIN, (x), (n), (result))
#define treefold_max(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_MAX, (x), (n), (result))
#define treefold_exact_sum(x, n, result)                                                                                               \
    treefold_exact(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_EXACT_SUM, 0, (x), (n), NULL, 0, (result))

#endif

#endif /* C99 */

#endif
