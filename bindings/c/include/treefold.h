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
 * A function of type treefold_status returns TREEFOLD_OK or an error code, and writes its result through a pointer. After an error, do not
 * use the result. Arrays belong to the caller; a call reads or writes them only before it returns. A length counts elements, not bytes. An
 * array of 0 elements may be NULL; for any other NULL pointer, a call returns TREEFOLD_NULL, unless the function's comment allows NULL.
 * Results must be aligned for their type and must not overlap the inputs or each other: otherwise the call returns TREEFOLD_ARGUMENT and
 * writes nothing. Items of a user-defined operator need no alignment.
 *
 * Several threads may call the functions of this header at once. By default a call does all its work in the calling thread: see
 * treefold_threads.
 *
 * Link with libtreefold (pkg-config: treefold; CMake: treefold::treefold). Needs C99 or C++11 or later, and a 64-bit processor.
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

/* The version of this header: 10000 times the major number, plus 100 times the minor one, plus the patch. */
#define TREEFOLD_VERSION 100

/* The version of the library, in the same form. Before 1.0, header and library must have the same minor version. */
uint32_t treefold_version(void);

/* The version of the library as text, such as "0.1.0". */
const char *treefold_version_string(void);

/* ---- Errors ------------------------------------------------------------------------------------------------------------------- */

/* The return type of most functions: one of the codes below. */
typedef int32_t treefold_status;

enum {
    TREEFOLD_OK = 0,
    TREEFOLD_NULL = 1,         /* A pointer is NULL. */
    TREEFOLD_ARGUMENT = 2,     /* An argument is invalid: an unknown code, a misaligned address, overlapping arrays, a root that is not a
                                  rank, a handle that was destroyed or belongs to another thread. */
    TREEFOLD_LENGTH = 3,       /* An array has the wrong length. */
    TREEFOLD_DISAGREE = 4,     /* The ranks disagree about the reduction, or their items are not 0 to N - 1, each once. */
    TREEFOLD_EMPTY = 5,        /* There are no items, and the operator has no value for that case. */
    TREEFOLD_ENVIRONMENT = 6,  /* The processor is not set to round to nearest, or flushes subnormal numbers to zero. */
    TREEFOLD_RANK_FAILED = 7,  /* Another rank failed: treefold_last_error_rank says which. */
    TREEFOLD_SPENT = 8,        /* An earlier run of the plan failed: build a new plan. */
    TREEFOLD_UNDER_WAY = 9,    /* An earlier run of the plan is still in progress: wait for it first. */
    TREEFOLD_TIMED_OUT = 10,   /* The time limit has passed. The run continues. */
    TREEFOLD_MPI = 11,         /* The MPI library failed, or is not the one that the program was compiled for. */
    TREEFOLD_UNSUPPORTED = 12, /* The function does not support this type, operator or algorithm. */
    TREEFOLD_PANIC = 13,       /* A bug in treefold: please report it. Destroy the object that the call was changing. */
    TREEFOLD_MISMATCHED = 14,  /* The ranks made different calls on a plan. */
    TREEFOLD_MEMORY = 15,      /* There is not enough memory. */
    TREEFOLD_OPERATOR = 16,    /* The user-defined operator returned an error, or made a call that operators must not make. */
    TREEFOLD_INTERRUPTED = 17  /* The program's callback ended a wait: see treefold_comm_interruption. */
};

/*
 * The message of this thread's last failed call, in UTF-8: usually one line that names the argument or the rank. "" if no call has failed.
 * The text is valid until this thread's next failed call.
 */
const char *treefold_last_error(void);

/* The rank that this thread's last error concerns; -1 if it concerns no rank. */
int32_t treefold_last_error_rank(void);

/* The name of a code, such as "TREEFOLD_LENGTH"; "unknown" for any other number. */
const char *treefold_status_name(treefold_status status);

/* Sets this thread's last error, as a failed call does, and returns the code. Bindings to other languages use it for errors that they
   detect. TREEFOLD_OK and unknown codes become TREEFOLD_ARGUMENT. The message is UTF-8. */
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
 * The operator that combines two items. Each operation rounds once, in the element type; integers wrap around on overflow. Minimum and
 * maximum follow IEEE 754-2019: if an operand is NaN, so is the result, and -0 is less than +0. A NaN result is the positive quiet NaN
 * without payload.
 */
typedef int32_t treefold_op;

enum {
    TREEFOLD_SUM = 1,     /* 0 if there are no items */
    TREEFOLD_PRODUCT = 2, /* 1 if there are no items */
    TREEFOLD_MIN = 3,     /* TREEFOLD_EMPTY if there are no items; TREEFOLD_UNSUPPORTED for complex numbers */
    TREEFOLD_MAX = 4      /* as TREEFOLD_MIN */
};

/*
 * A user-defined operator. It writes the combination of `left` and `right` to `out` and returns 0; any other return value ends the
 * reduction with TREEFOLD_OPERATOR. `left` holds the items with the lower numbers. All three pointers are aligned to 8 bytes; `out` is
 * neither `left` nor `right`. The operator must give the same bits for the same operands on every rank. It must not throw an exception,
 * leave by longjmp, or communicate. `context` is the pointer that the caller passed with the operator.
 */
typedef int (*treefold_combine)(void *context, const void *left, const void *right, void *out);

/* The maximum size of an item of a user-defined operator, in bytes. */
#define TREEFOLD_ITEM_BYTES_MAX 512

/* ---- Threads ------------------------------------------------------------------------------------------------------------------ */

/*
 * Sets how many threads later calls of this thread may use. 1, the default, is the calling thread alone; 0 is one thread per core, or
 * RAYON_NUM_THREADS. The number of threads changes no bit. These functions use several threads, except for short arrays: treefold_sum and
 * treefold_dot (also with _f32 and _f64), treefold_fold, _fold_rows, _fields, _fold_user, _sum_lanes and _sum_and_absolute_sum, and the
 * exact sums, dot products, norms and sums by key of floats and doubles.
 *
 * There is one thread pool for each number of threads that the program uses. A pool starts with the first call that needs it
 * (TREEFOLD_MEMORY if it cannot start) and lasts until the process ends. A child process made by fork() has none of its parent's threads,
 * and starts its own pool. TREEFOLD_ARGUMENT if n is negative or more than 65535.
 */
treefold_status treefold_threads(int n);

/* The number of threads that this thread has set by treefold_threads. */
int treefold_thread_count(void);

/*
 * A callback that runs work on the caller's own threads, such as OpenMP's. It calls part(job, i) once for each i from 0 to parts - 1, in
 * any order and on any threads, and returns when all these calls have returned. `context` is the pointer that the caller passed with the
 * callback.
 */
typedef void (*treefold_part)(void *job, size_t part);
typedef void (*treefold_team)(void *context, size_t parts, treefold_part part, void *job);

/* ---- One process, in tree order ----------------------------------------------------------------------------------------------- */

/* The sum of n numbers, and the sum of the products x[i] * y[i], each product rounded once; 0 if there are no numbers. x has n numbers and
   y has m: TREEFOLD_LENGTH if n and m differ. */
treefold_status treefold_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);

/* Reduces n items of any type with any operator. result is one item. */
treefold_status treefold_fold(treefold_type type, treefold_op op, const void *items, size_t n, void *result);

/*
 * Reduces rows, element by element: result[c] becomes the reduction of element c of every row. items has n elements: rows of `width`
 * elements, one after the other. result has m elements. TREEFOLD_LENGTH if m is not width, or if n is not a multiple of width.
 */
treefold_status treefold_fold_rows(treefold_type type, treefold_op op, const void *items, size_t n, size_t width, void *result,
                                   size_t m);

/* Reduces several separately stored fields: result[f] becomes the reduction of the n items at fields[f], for each f below count. */
treefold_status treefold_fields(treefold_type type, treefold_op op, const void *const *fields, size_t count, size_t n, void *result);

/*
 * Reduces n items with a user-defined operator. An item has item_bytes bytes: a multiple of 4, at most TREEFOLD_ITEM_BYTES_MAX. Items are
 * copied unless item_bytes is a multiple of 8 and the items are aligned to 8 bytes. `empty` is the result for no items; if it is NULL, the
 * error is TREEFOLD_EMPTY. If treefold_threads allows several threads, they call `combine` concurrently, all with the same context.
 */
treefold_status treefold_fold_user(const void *items, size_t n, size_t item_bytes, treefold_combine combine, void *context,
                                   const void *empty, void *result);

/* The dot product of two arrays. type is TREEFOLD_F32 or F64. If x and y are the same array, the result is the sum of its squares. */
treefold_status treefold_dot(treefold_type type, const void *x, size_t n, const void *y, size_t m, void *result);

/*
 * The sum in lanes, in the order of ISO C++ paper P4016 (docs/lanes.md). x[i] belongs to lane i mod lanes; each lane is summed in
 * tree order, and then the lane sums are added in tree order. `lanes` is 1 to 2^20, else TREEFOLD_ARGUMENT; 16, 32, 64 and 128 are the
 * fastest, and 1 gives treefold_sum. type is TREEFOLD_F32 or F64.
 */
treefold_status treefold_sum_lanes(treefold_type type, const void *x, size_t n, size_t lanes, void *result);

/* The sum, and the sum of the absolute values, which bounds the error of `sum` (docs/order.md). type is TREEFOLD_F32 or F64. */
treefold_status treefold_sum_and_absolute_sum(treefold_type type, const void *x, size_t n, void *sum, void *absolute_sum);

/* Like treefold_fold and treefold_dot, but on the caller's threads. For a short array, the calling thread does the work and does not call
   `team`. TREEFOLD_ARGUMENT if `team` skips a part. */
treefold_status treefold_fold_on(treefold_type type, treefold_op op, const void *items, size_t n, treefold_team team, void *context,
                                 void *result);
treefold_status treefold_dot_on(treefold_type type, const void *x, size_t n, const void *y, size_t m, treefold_team team, void *context,
                                void *result);

/* ---- One process, exact ------------------------------------------------------------------------------------------------------- */

/*
 * Exact sums, and statistics that follow from them. Each is computed exactly and rounded once, to nearest with ties to even. Results depend
 * neither on the order of the numbers nor on the floating-point environment: these functions never return TREEFOLD_ENVIRONMENT.
 * Intermediate values do not overflow: unless the comment of a statistic says otherwise, a result is infinite only if the exact result is
 * out of range, or a number is infinite. A NaN result is the positive quiet NaN without payload. The sum of no items is +0; if all items
 * are -0, the sum is -0; any other zero sum is +0. By key and in windows, every zero sum is +0.
 */

/* The exact sum of n numbers, and the exact dot product: the products x[i] * y[i] are not rounded. x has n numbers and y has m:
   TREEFOLD_LENGTH if n and m differ. */
treefold_status treefold_exact_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_exact_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_exact_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_exact_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);

/*
 * A statistic. Statistics of two arrays take the pairs x[i], y[i].
 *
 *                                      of        result for no or too few items
 *     TREEFOLD_EXACT_COUNT             x         0
 *     TREEFOLD_EXACT_SUM               x         0
 *     TREEFOLD_EXACT_MEAN              x         NaN
 *     TREEFOLD_EXACT_VARIANCE          x         see ddof
 *     TREEFOLD_EXACT_STD               x         see ddof
 *     TREEFOLD_EXACT_MIN               x         NaN
 *     TREEFOLD_EXACT_MAX               x         NaN
 *     TREEFOLD_EXACT_NORM              x         0         the square root of the sum of squares; keyed states take x twice
 *     TREEFOLD_EXACT_DOT               x, y      0         the sum of the products
 *     TREEFOLD_EXACT_WEIGHTED_MEAN     x, y      NaN       y are weights; if they add up to 0, the quotient of two rounded sums
 *     TREEFOLD_EXACT_COVARIANCE        x, y      NaN
 *     TREEFOLD_EXACT_CORRELATION       x, y      NaN       also if x or y is constant
 *     TREEFOLD_EXACT_SLOPE             x, y      NaN       also if x is constant; of the regression line of y on x
 *     TREEFOLD_EXACT_INTERCEPT         x, y      NaN       the height of that line at x = 0
 *     TREEFOLD_EXACT_SKEWNESS          x         NaN       also if x is constant
 *     TREEFOLD_EXACT_KURTOSIS          x         NaN       also if x is constant
 *     TREEFOLD_EXACT_VDOT              x, y      0         the sum of the products conj(x[i]) * y[i]
 *
 * `ddof`, as in NumPy, is 0 if the items are the whole population, and 1 if they are a sample of it. The divisor of a variance or a
 * covariance is the number of items minus ddof; ddof may be any number. If this divisor is 0 or negative, a variance or standard deviation
 * is infinite, or NaN if all items are equal or there are none. Skewness and kurtosis are g1 and g2 for ddof 0. For ddof 1 they are G1,
 * which needs 3 items, and G2, which needs 4. For these two statistics, any other ddof is TREEFOLD_ARGUMENT. Other statistics ignore ddof.
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
   support only the count, the sum, the mean, the variance, the standard deviation and both dot products. */
treefold_status treefold_exact(treefold_type type, treefold_statistic statistic, double ddof, const void *x, size_t n, const void *y,
                               size_t m, void *result);

/*
 * A statistic for each key: result[g] becomes the statistic of the items whose key is g. keys holds k integers of key_type, TREEFOLD_I8 to
 * TREEFOLD_U64, and keys[i] is the key of item i: TREEFOLD_LENGTH if k and n differ. Keys are 0 to m - 1: any other is TREEFOLD_ARGUMENT,
 * and the error names the item and the key. y has l elements, or is NULL with l = 0 if the statistic takes one array.
 *
 * Items are TREEFOLD_F32 or F64. Integers support only the count, the sum, the mean, the variance and the standard deviation. A sum of
 * integers that does not fit into 64 bits is TREEFOLD_ARGUMENT, and the error names its key.
 *
 * The comment of treefold_keyed_create says how much memory each key takes. TREEFOLD_MEMORY if there is not enough memory.
 */
treefold_status treefold_by_key(treefold_type type, treefold_statistic statistic, double ddof, treefold_type key_type, const void *keys,
                                size_t k, const void *x, size_t n, const void *y, size_t l, void *result, size_t m);

/*
 * A statistic for each column of each key's rows: result[g * width + c] becomes the statistic of column c of the rows whose key is g. items
 * has n numbers: k rows of `width` numbers. result has m numbers: one row for each key. TREEFOLD_LENGTH if n or m is not a multiple of
 * width. If keys is NULL and k is 0, all rows have one key: result is one row, the statistics of the columns. type is TREEFOLD_F32 or F64;
 * statistic takes one array, and is not NORM.
 */
treefold_status treefold_by_key_rows(treefold_type type, treefold_statistic statistic, double ddof, size_t width, treefold_type key_type,
                                     const void *keys, size_t k, const void *items, size_t n, void *result, size_t m);

/* ---- One process, moving windows ---------------------------------------------------------------------------------------------- */

/* The position of the window of item i. */
enum {
    TREEFOLD_TRAILING = 0, /* the window ends at i */
    TREEFOLD_FORWARD = 1,  /* the window begins at i */
    TREEFOLD_CENTRED = 2,  /* i is in the middle: of the window's n items, (n - 1) / 2, rounded down, come after i */
    TREEFOLD_EXPANDING = 3 /* the window has all items up to i; the fields items and index are not used */
};

/*
 * A moving window. Set the fields that you need, and the others to 0: treefold_window window = {.items = 20}. Unless the placement is
 * TREEFOLD_EXPANDING, set either `items` or `index`: TREEFOLD_ARGUMENT if both are set, or neither.
 *
 * - By a number of items: a window has `items` items, and fewer at the ends of the array.
 * - By an ascending index, such as a time. `index` has one number of index_type, a real or integer type, for each item. `width` points to
 *   one number of this type, more than 0. For an item at t, a trailing window has this item, and those before it whose index is
 *   more than t - width; a forward window has this item, and those after it whose index is less than t + width; a centred window has the
 *   items with t - width / 2 < index <= t + width / 2. Differences neither overflow nor round: a trailing window of width 0.52 at 0.96 has the item at 0.44, since the exact
 *   difference of these doubles is less than 0.52. A NaN, or an index less than the one before, is TREEFOLD_ARGUMENT; the error names it.
 */
typedef struct treefold_window {
    size_t items;             /* 0 if an index defines the window */
    const void *index;        /* NULL if a number of items defines it; otherwise not NULL, even if there are no items */
    const void *width;
    treefold_type index_type;
    int32_t placement;
    size_t least_items;       /* a window of fewer items has the value NaN */
    int32_t skip_nan;         /* not 0: skip items that are NaN, and pairs that contain a NaN */
} treefold_window;

/*
 * A statistic of the window of each item. x has n items; y has l, or is NULL with l = 0 if the statistic takes one array. result has one
 * number for each item: TREEFOLD_LENGTH if m is not n. Results have the type of the items, TREEFOLD_F32 or F64; a count is rounded to this
 * type. A sum or a mean of zeros is +0. Items that leave a window are subtracted exactly: a huge, infinite or NaN item leaves no trace. The
 * time per item hardly depends on the length of the window.
 */
treefold_status treefold_rolling(treefold_type type, treefold_statistic statistic, double ddof, const treefold_window *window,
                                 const void *x, size_t n, const void *y, size_t l, void *result, size_t m);

/* ---- One process, between calls ----------------------------------------------------------------------------------------------- */

/*
 * Exact sums that a program keeps between calls. Items may come in any order and in any number of calls; a result is rounded once, when it
 * is read.
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
 *     created for                                  holds                                     has
 *     SUM                                          a sum                                     SUM; accumulators also COUNT and MEAN
 *     COUNT, MEAN, VARIANCE, STD                   the sums of x and x^2                     these, and SUM
 *     DOT, VDOT                                    the sum of x y                            DOT, VDOT; accumulators also COUNT and MEAN
 *     NORM                                         the sum of x^2; by key, of x y            NORM; accumulators also COUNT
 *     WEIGHTED_MEAN                                the sums of x y and y                     WEIGHTED_MEAN
 *     MIN, MAX                                     the least and the greatest item           MIN, MAX
 *     COVARIANCE, CORRELATION, SLOPE, INTERCEPT    the sums of x, x^2, y, y^2 and x y        these, and COUNT
 *     SKEWNESS, KURTOSIS                           the sums of the first four powers of x    these, and all that VARIANCE has
 *
 * Keyed states created for DOT, VDOT and NORM hold the same sum. Complex accumulators for DOT have no VDOT, and complex accumulators for
 * VDOT have no DOT. For DOT and VDOT, MEAN is the mean of the products. States of integers created for COUNT, SUM or MEAN hold the sum, and
 * have COUNT, SUM and MEAN. Removing items from a state for MIN or MAX is TREEFOLD_UNSUPPORTED.
 *
 * Handles (treefold_accumulator, treefold_keyed) are checked numbers, not addresses: a call with a destroyed handle returns
 * TREEFOLD_ARGUMENT. Any thread may use a handle, and several threads may read its object at once. While one thread modifies an object,
 * calls of other threads on the object return TREEFOLD_ARGUMENT; so does a call that would modify an object while another thread reads it.
 * A function that destroys a handle sets the handle to NULL; destroying a NULL handle is not an error. A failed call changes nothing.
 */

/* Exact sums of items of one type: TREEFOLD_F32, F64, C32 or C64. treefold_accumulator_create sets the type for all later calls. */
typedef struct treefold_accumulator treefold_accumulator;

/* Creates an empty accumulator, for COUNT, SUM, MEAN, VARIANCE, STD, NORM, DOT or VDOT. For other statistics, use a keyed state of one key.
   There is no NORM of complex numbers: pass an array of n complex numbers as 2 * n real numbers. */
treefold_status treefold_accumulator_create(treefold_type type, treefold_statistic statistic, treefold_accumulator **result);

/* Creates a copy of an accumulator. */
treefold_status treefold_accumulator_copy(const treefold_accumulator *accumulator, treefold_accumulator **result);

/* Destroys an accumulator. */
treefold_status treefold_accumulator_destroy(treefold_accumulator **accumulator);

/* Removes all items. */
treefold_status treefold_accumulator_clear(treefold_accumulator *accumulator);

/*
 * Adds n items, or removes n that were added. Removing more items than there are, or more NaNs, infinities of one sign or negative zeros
 * than there are, is TREEFOLD_ARGUMENT. (NORM, DOT and VDOT count products that have these values.) Removing other items that were never
 * added is not detected. DOT and VDOT take pairs: TREEFOLD_LENGTH if n and m differ. TREEFOLD_UNSUPPORTED for single items instead of
 * pairs, or vice versa.
 */
treefold_status treefold_accumulator_add(treefold_accumulator *accumulator, const void *items, size_t n);
treefold_status treefold_accumulator_remove(treefold_accumulator *accumulator, const void *items, size_t n);
treefold_status treefold_accumulator_add_pairs(treefold_accumulator *accumulator, const void *x, size_t n, const void *y, size_t m);
treefold_status treefold_accumulator_remove_pairs(treefold_accumulator *accumulator, const void *x, size_t n, const void *y, size_t m);

/* Adds the items of another accumulator, or removes them. `other` may be the same accumulator. TREEFOLD_ARGUMENT if `other` has another
   type or holds other sums. */
treefold_status treefold_accumulator_merge(treefold_accumulator *accumulator, const treefold_accumulator *other);
treefold_status treefold_accumulator_unmerge(treefold_accumulator *accumulator, const treefold_accumulator *other);

/* A statistic of the items: one number, of the type that treefold_exact gives. */
treefold_status treefold_accumulator_value(const treefold_accumulator *accumulator, treefold_statistic statistic, double ddof,
                                           void *result);

/* Sets *result to 1 if both have the same sum and the same counts of items, NaNs, infinities of each sign and negative zeros; else to 0.
   TREEFOLD_ARGUMENT if `other` has another type or holds other sums. */
treefold_status treefold_accumulator_equal(const treefold_accumulator *accumulator, const treefold_accumulator *other, int *result);

/*
 * Writes an accumulator as bytes, for files and other programs, to `bytes`, and sets *needed to the number of bytes. With capacity 0, only
 * *needed is set, and `bytes` may be NULL; any other capacity that is too small is TREEFOLD_LENGTH. Equal accumulators have the same bytes,
 * whatever the order of the items and the language of the program. docs/tree-or-exact.md specifies the format.
 */
treefold_status treefold_accumulator_to_bytes(const treefold_accumulator *accumulator, void *bytes, size_t capacity, size_t *needed);

/* Replaces the contents of an accumulator with those that treefold_accumulator_to_bytes has written. TREEFOLD_LENGTH if there are too few
   or too many bytes; TREEFOLD_ARGUMENT if the bytes are corrupt, or of another type or kind of sum. */
treefold_status treefold_accumulator_of_bytes(treefold_accumulator *accumulator, const void *bytes, size_t n);

/*
 * Exact statistics for each of the keys 0 to K - 1. Items are TREEFOLD_F32 or F64; keys are as in treefold_by_key, with the same errors.
 * Each call has a fixed cost that exceeds that of adding an item: pass many items in one call.
 */
typedef struct treefold_keyed treefold_keyed;

/*
 * Creates an empty state. At first a key takes 16 bytes for SUM, 56 for VARIANCE, 32 for DOT, 48 for WEIGHTED_MEAN, 16 for MIN, 136 for
 * COVARIANCE and 144 for SKEWNESS; states that hold the same sums take the same number of bytes. If items span more than about 50 binary
 * orders of magnitude, each further 32 orders add the same number of bytes to every key. A key with an item that is not finite takes 60 to
 * 120 bytes more. TREEFOLD_MEMORY if there is not enough memory.
 *
 * For COUNT, SUM, MEAN, VARIANCE and STD, items may also be integers, TREEFOLD_I8 to TREEFOLD_U64: a key takes 24 bytes for COUNT, SUM and
 * MEAN.
 */
treefold_status treefold_keyed_create(treefold_type type, treefold_statistic statistic, size_t keys, treefold_keyed **result);

/* Creates an empty state of rows of `width` items (at least 1) of TREEFOLD_F32 or F64. treefold_keyed_add takes one row for each element of
   keys; treefold_keyed_values writes a row for each key. */
treefold_status treefold_keyed_create_rows(treefold_type type, treefold_statistic statistic, size_t keys, size_t width,
                                           treefold_keyed **result);

/* Creates an empty hashed state of TREEFOLD_F32 or F64, for SUM. Keys may be any integers of key_type, TREEFOLD_I64 or TREEFOLD_U64, and a
   key gets a sum when its first item is added. The key remains when all its items are removed: only treefold_keyed_clear removes keys.
   Calls may pass keys of other integer types if each value fits key_type. Removing an item whose key has no sum is TREEFOLD_ARGUMENT. */
treefold_status treefold_keyed_create_hashed(treefold_type type, treefold_type key_type, treefold_keyed **result);

/* Like the functions of the same names for accumulators. */
treefold_status treefold_keyed_copy(const treefold_keyed *keyed, treefold_keyed **result);
treefold_status treefold_keyed_destroy(treefold_keyed **keyed);
treefold_status treefold_keyed_clear(treefold_keyed *keyed);

/* Adds n items to the sums of their keys, or removes n that were added. Removing more items than a key has is TREEFOLD_ARGUMENT, and the
   error names the key. States that have COUNT check this for all items; other states check only infinite or NaN items or products. */
treefold_status treefold_keyed_add(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *items, size_t n);
treefold_status treefold_keyed_remove(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *items,
                                      size_t n);

/* The same for states of pairs, and for states of NORM: pass x as both arrays. TREEFOLD_LENGTH if n and l differ. TREEFOLD_UNSUPPORTED for
   pairs in a state of single items, or vice versa. */
treefold_status treefold_keyed_add_pairs(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *x, size_t n,
                                         const void *y, size_t l);
treefold_status treefold_keyed_remove_pairs(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *x,
                                            size_t n, const void *y, size_t l);

/* Adds the items of another state, key by key, or removes them. `other` must have the same type and hold the same sums, else
   TREEFOLD_ARGUMENT; and the same number of keys and columns, else TREEFOLD_LENGTH. `other` may be `keyed` itself. Merging into a hashed
   state adds the keys that it lacks; unmerging a key that it lacks is TREEFOLD_ARGUMENT. */
treefold_status treefold_keyed_merge(treefold_keyed *keyed, const treefold_keyed *other);
treefold_status treefold_keyed_unmerge(treefold_keyed *keyed, const treefold_keyed *other);

/* treefold_keyed_groups gives the number of keys. treefold_keyed_keys gives the keys of a hashed state in ascending order, as
   treefold_keyed_values does; it is TREEFOLD_UNSUPPORTED for other states, whose keys are 0 to K - 1. */
treefold_status treefold_keyed_groups(const treefold_keyed *keyed, size_t *result);
treefold_status treefold_keyed_keys(const treefold_keyed *keyed, void *result, size_t m);

/* A statistic for each key, of the type that treefold_by_key gives. TREEFOLD_LENGTH if m is not the number of keys times the width,
   TREEFOLD_UNSUPPORTED if the state does not have the statistic. */
treefold_status treefold_keyed_values(const treefold_keyed *keyed, treefold_statistic statistic, double ddof, void *result, size_t m);

/* Sets *result to 1 if the two have the same keys, and for each key the same sum and number of items; else to 0. If items are not counted,
   only the numbers of infinite and NaN items are compared. States of other types, or that hold other sums, are TREEFOLD_ARGUMENT. */
treefold_status treefold_keyed_equal(const treefold_keyed *keyed, const treefold_keyed *other, int *result);

/* Like treefold_accumulator_to_bytes and _of_bytes. TREEFOLD_UNSUPPORTED for hashed states. treefold_keyed_of_bytes sets the number of keys
   to that of the bytes; the rows of the bytes must be as wide as the rows of the state. Bytes of integers do not record the integer type:
   a state of any integer type reads them. */
treefold_status treefold_keyed_to_bytes(const treefold_keyed *keyed, void *bytes, size_t capacity, size_t *needed);
treefold_status treefold_keyed_of_bytes(treefold_keyed *keyed, const void *bytes, size_t n);

#ifdef __cplusplus
}
#endif

/* ---- Macros that deduce the type ----------------------------------------------------------------------------------------------- */

#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L

/* The code of the type that a pointer points to; 0 for any other type. */
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

/* The code of the type that both pointers point to: a compiler error if their types differ, or have no code. */
#define TREEFOLD_IS_ONE_TYPE(x, result) (TREEFOLD_TYPE_OF(x) != 0 && TREEFOLD_TYPE_OF(x) == TREEFOLD_TYPE_OF(result))
#define TREEFOLD_TYPE_OF_BOTH(x, result)                                                                                               \
    ((treefold_type)(TREEFOLD_TYPE_OF(x) * (int)sizeof(struct {                                                                        \
                         _Static_assert(TREEFOLD_IS_ONE_TYPE(x, result), "x and result must point to one supported type");             \
                         char one;                                                                                                     \
                     })))

/* Reductions in tree order, and exact sums, of n elements of any supported type: treefold_sum(x, n, &sum). */
#define treefold_sum(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_SUM, (x), (n), (result))
#define treefold_product(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_PRODUCT, (x), (n), (result))
#define treefold_min(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_MIN, (x), (n), (result))
#define treefold_max(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_MAX, (x), (n), (result))
#define treefold_exact_sum(x, n, result)                                                                                               \
    treefold_exact(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_EXACT_SUM, 0, (x), (n), NULL, 0, (result))

#endif

#endif /* C99 */

#endif
