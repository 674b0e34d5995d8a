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
 * As in MPI, the type of the elements is an argument, and so is the operator. The names with _f32 or _f64 are short forms for float and
 * double; in C11, treefold_sum(x, n, &sum) and its kin find the type by themselves.
 *
 * A function of type treefold_status returns TREEFOLD_OK or the code of an error, and writes its result where a pointer says. After an
 * error the result is not to be used. Arrays belong to the caller; a call reads or writes them before it returns, not later. A length
 * counts elements, not bytes. An array of 0 elements may be NULL; any other NULL is TREEFOLD_NULL. Results must be aligned for their type
 * and must not overlap the inputs or each other: otherwise the call returns TREEFOLD_ARGUMENT and writes nothing. Items of the caller's
 * operator may have any address.
 *
 * All functions of this header may be called by several threads at once. By default a call does all its work in the thread that made it:
 * see treefold_threads.
 *
 * Link with libtreefold (pkg-config: treefold; CMake: treefold::treefold). C99 or later, C++11 or later; 64-bit processors.
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

/* The version of the library, in the same form. Before 1.0, libraries of one minor version fit each other's headers. */
uint32_t treefold_version(void);

/* The version of the library as text, such as "0.1.0". */
const char *treefold_version_string(void);

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
    TREEFOLD_ENVIRONMENT = 6,  /* The processor does not round to nearest here, or flushes subnormal numbers to zero. */
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

/* Makes a text this thread's last error, as a failed call does, and returns the code: for bindings of other languages, which find errors
   of their own. A code that is none becomes TREEFOLD_ARGUMENT. */
treefold_status treefold_report(treefold_status status, const char *message);

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

/* ---- Threads ------------------------------------------------------------------------------------------------------------------ */

/*
 * Sets how many threads the later calls of this thread may use: 1, the default, is the calling thread alone; 0 is one thread a core, or
 * RAYON_NUM_THREADS. No number of threads changes a bit. The functions that use several threads are treefold_sum and treefold_dot (also as
 * _f32 and _f64), fold, fold_rows, fields, fold_user, sum_lanes, sum_and_absolute_sum, and the exact sums, dot products, norms and sums by
 * key. They work alone on short arrays.
 *
 * There is one pool of threads for each number that was set. It starts with the first call that needs it, TREEFOLD_MEMORY if it cannot,
 * and lasts until the process ends. A child that fork() has made has none of its parent's threads, and starts a pool of its own.
 * TREEFOLD_ARGUMENT if n is negative or more than 65535.
 */
treefold_status treefold_threads(int n);

/* The setting of this thread. */
int treefold_thread_count(void);

/*
 * For threads of the caller's own, such as OpenMP's: calls part(job, i) once for each i from 0 to parts - 1, in any order and by any
 * threads, and returns when all these calls have returned. `context` is what the caller gave with it.
 */
typedef void (*treefold_part)(void *job, size_t part);
typedef void (*treefold_team)(void *context, size_t parts, treefold_part part, void *job);

/* ---- One process, in tree order ----------------------------------------------------------------------------------------------- */

/* The sum of n numbers, and the sum of the products x[i] * y[i], each of which rounds once; 0 if there are none. x has n numbers and y has
   m: TREEFOLD_LENGTH if they differ. */
treefold_status treefold_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);

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
 * nothing, or NULL if that is an error (TREEFOLD_EMPTY). If treefold_threads allows several threads, they call `combine` at once, all with
 * the same context.
 */
treefold_status treefold_fold_user(const void *items, size_t n, size_t item_bytes, treefold_combine combine, void *context,
                                   const void *empty, void *result);

/* The dot product of TREEFOLD_F32 or F64. That of x and x is the sum of the squares. */
treefold_status treefold_dot(treefold_type type, const void *x, size_t n, const void *y, size_t m, void *result);

/*
 * The sum in lanes, the order of ISO C++'s P4016 (docs/lanes.md): x[i] belongs to lane i mod lanes, each lane is summed in tree order, and
 * then their sums. There are 1 to 2^20 lanes, else TREEFOLD_ARGUMENT; 16, 32, 64 and 128 are the fastest, and 1 is the sum above.
 * TREEFOLD_F32 or F64.
 */
treefold_status treefold_sum_lanes(treefold_type type, const void *x, size_t n, size_t lanes, void *result);

/* The sum of the numbers, and that of their absolute values, which bounds the error of the first (docs/order.md). TREEFOLD_F32 or F64. */
treefold_status treefold_sum_and_absolute_sum(treefold_type type, const void *x, size_t n, void *sum, void *absolute_sum);

/* As treefold_fold and treefold_dot, by the caller's threads. A part that `team` has left out is TREEFOLD_ARGUMENT. */
treefold_status treefold_fold_on(treefold_type type, treefold_op op, const void *items, size_t n, treefold_team team, void *context,
                                 void *result);
treefold_status treefold_dot_on(treefold_type type, const void *x, size_t n, const void *y, size_t m, treefold_team team, void *context,
                                void *result);

/* ---- One process, exact ------------------------------------------------------------------------------------------------------- */

/*
 * Exact sums, and statistics that follow from them. Each is computed exactly and rounded once, to nearest with ties to even. They depend
 * neither on the order of the numbers nor on the floating-point environment: these functions are right in every one, do not check it, and
 * never return TREEFOLD_ENVIRONMENT. Nothing overflows on the way: a result is infinite only if the exact one is beyond the range, or a
 * number is infinite. One that is not a number is the positive quiet NaN without payload. The sum of nothing is +0; that of -0 alone is
 * -0; any other sum of zero is +0.
 */

/* The exact sum of n numbers, and of the products x[i] * y[i], which are not rounded. x has n numbers and y has m: TREEFOLD_LENGTH if they
   differ. */
treefold_status treefold_exact_sum_f32(const float *x, size_t n, float *result);
treefold_status treefold_exact_sum_f64(const double *x, size_t n, double *result);
treefold_status treefold_exact_dot_f32(const float *x, size_t n, const float *y, size_t m, float *result);
treefold_status treefold_exact_dot_f64(const double *x, size_t n, const double *y, size_t m, double *result);

/*
 * A statistic. Those of two arrays have pairs x[i], y[i].
 *
 *                                      of        of no or too few items
 *     TREEFOLD_EXACT_COUNT             x         0
 *     TREEFOLD_EXACT_SUM               x         0
 *     TREEFOLD_EXACT_MEAN              x         NaN
 *     TREEFOLD_EXACT_VARIANCE          x         see ddof
 *     TREEFOLD_EXACT_STD               x         see ddof
 *     TREEFOLD_EXACT_MIN               x         NaN
 *     TREEFOLD_EXACT_MAX               x         NaN
 *     TREEFOLD_EXACT_NORM              x         0         the square root of the sum of squares; keyed states take x and x
 *     TREEFOLD_EXACT_DOT               x, y      0         the sum of the products
 *     TREEFOLD_EXACT_WEIGHTED_MEAN     x, y      NaN       y are weights; where they add up to 0, the quotient of two rounded sums
 *     TREEFOLD_EXACT_COVARIANCE        x, y      NaN
 *     TREEFOLD_EXACT_CORRELATION       x, y      NaN       also if x or y is constant
 *     TREEFOLD_EXACT_SLOPE             x, y      NaN       of the regression line of y over x; also if x is constant
 *     TREEFOLD_EXACT_INTERCEPT         x, y      NaN       the height of that line at x = 0
 *     TREEFOLD_EXACT_SKEWNESS          x         NaN       also if x is constant
 *     TREEFOLD_EXACT_KURTOSIS          x         NaN       also if x is constant
 *     TREEFOLD_EXACT_VDOT              x, y      0         the sum of the products of x's complex conjugates and y
 *
 * `ddof`, the degrees of freedom, is 0 if the items are the whole population, and 1 if they are a sample of it. A variance, a standard
 * deviation and a covariance are divided by the number of items less ddof, which may be any number; of as many items as ddof, or fewer, a
 * variance is infinite, and if the items are all alike, or there are none, NaN. Skewness and kurtosis are g1 and g2 for ddof 0, and G1 and
 * G2 for ddof 1, which need 3 and 4 items; any other ddof of these two is TREEFOLD_ARGUMENT. Other statistics ignore ddof.
 *
 * A minimum and a maximum are as TREEFOLD_MIN and TREEFOLD_MAX have them. What a function does not have for a type is
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
 * The type of a result: of a count TREEFOLD_U64; of complex items' variance and standard deviation that of their parts; of integers by
 * key TREEFOLD_I64 or U64 for a sum, as their type has a sign or not, and F64 for other statistics; else the type of the items.
 */

/* A statistic of all items. x has n elements; y has m, or is NULL with m = 0 if the statistic takes one array. Of complex numbers there are
   the count, the sum, the mean, the variance, the standard deviation and both dot products. */
treefold_status treefold_exact(treefold_type type, treefold_statistic statistic, double ddof, const void *x, size_t n, const void *y,
                               size_t m, void *result);

/*
 * A statistic of each key's items: result[g] becomes that of the items whose key is g. keys are k integers of key_type, TREEFOLD_I8 to
 * TREEFOLD_U64; item i has key keys[i]: TREEFOLD_LENGTH if k and n differ. Keys are 0 to m - 1: any other is TREEFOLD_ARGUMENT, and the
 * error names the item and the key. y is as above. TREEFOLD_F32 or F64; of integers there are the count, the sum, whose result must fit
 * into 64 bits (TREEFOLD_ARGUMENT names the key of one that does not), the mean, the variance and the standard deviation.
 *
 * The call takes some bytes of memory for each key, which treefold_keyed_create lists: TREEFOLD_MEMORY if there is not room for so many.
 */
treefold_status treefold_by_key(treefold_type type, treefold_statistic statistic, double ddof, treefold_type key_type, const void *keys,
                                size_t k, const void *x, size_t n, const void *y, size_t l, void *result, size_t m);

/*
 * The same for the columns of each key's rows: result[g * width + c] becomes the statistic of number c of the rows whose key is g. The n
 * numbers of items are k rows of `width` numbers, and the m of result one row for each key: TREEFOLD_LENGTH if they are not whole rows.
 * If keys is NULL and k is 0, all rows have one key: result is one row, the statistics of the columns. TREEFOLD_F32 or F64; statistics of
 * one array, but NORM.
 */
treefold_status treefold_by_key_rows(treefold_type type, treefold_statistic statistic, double ddof, size_t width, treefold_type key_type,
                                     const void *keys, size_t k, const void *items, size_t n, void *result, size_t m);

/* ---- One process, moving windows ---------------------------------------------------------------------------------------------- */

/* Which items are in the window of item i. */
enum {
    TREEFOLD_TRAILING = 0, /* the window ends at i */
    TREEFOLD_FORWARD = 1,  /* it begins at i */
    TREEFOLD_CENTRED = 2,  /* i is in its middle: of n items, (n - 1) / 2 come after i, rounded down */
    TREEFOLD_EXPANDING = 3 /* it has all items up to i; items and index are not used */
};

/*
 * Windows. Set what is needed, and the rest to 0: treefold_window window = {.items = 20}.
 *
 * - By a number of items: at both ends of the array a window has fewer.
 * - By an index, such as a time, which ascends: index has as many numbers as there are items, of index_type, a real type or one of
 *   integers, and `width` is one of these, more than 0. A trailing window at t has the items with t - width < index, a forward one those
 *   with index < t + width, a centred one those with t - width / 2 < index <= t + width / 2. No difference overflows or is rounded: 0.44
 *   is in the trailing window of 0.96 if the width is 0.52, as the exact difference of these doubles is less. An index that is less than
 *   the one before, or NaN, is TREEFOLD_ARGUMENT, and the error names it.
 */
typedef struct treefold_window {
    size_t items;             /* 0 if the window goes by an index */
    const void *index;        /* NULL if it goes by a number of items */
    const void *width;
    treefold_type index_type;
    int32_t placement;
    size_t least_items;       /* a window of fewer items has the value NaN */
    int32_t skip_nan;         /* not 0: items that are NaN, or pairs with one that is, do not count */
} treefold_window;

/*
 * A statistic of the window of each item: x has n items, y has l or is NULL, as above, and result has as many numbers as items:
 * TREEFOLD_LENGTH if m is not n. Results have the type of the items, TREEFOLD_F32 or F64; a count is rounded to it. A sum or a mean of
 * zeros is +0. Items that leave a window are taken back exactly: nothing is left of a huge one, nor of one that is infinite or NaN. A step
 * takes about as long in a long window as in a short one.
 */
treefold_status treefold_rolling(treefold_type type, treefold_statistic statistic, double ddof, const treefold_window *window,
                                 const void *x, size_t n, const void *y, size_t l, void *result, size_t m);

/* ---- One process, between calls ----------------------------------------------------------------------------------------------- */

/*
 * Exact sums that a program holds. Items come in any order and in any number of calls; results are rounded once, whenever they are asked
 * for.
 *
 *     treefold_accumulator *total = NULL;
 *     treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &total);
 *     treefold_accumulator_add(total, x, n);
 *     treefold_accumulator_remove(total, &x[0], 1);
 *     treefold_accumulator_value(total, TREEFOLD_EXACT_SUM, 0, &sum);
 *     treefold_accumulator_destroy(&total);
 *
 * What an accumulator or a keyed state holds follows from the statistic that it is created for; it has all other statistics that follow
 * from the same sums, too:
 *
 *     created for                                  holds                                     has
 *     SUM                                          a sum                                     SUM; accumulators COUNT and MEAN
 *     COUNT, MEAN, VARIANCE, STD                   the sums of x and x^2                     these, and SUM
 *     DOT, VDOT                                    the sum of x y                            DOT, VDOT; accumulators COUNT and MEAN
 *     NORM                                         the sum of x^2; by key, of x y            NORM; accumulators COUNT
 *     WEIGHTED_MEAN                                the sums of x y and y                     WEIGHTED_MEAN
 *     MIN, MAX                                     the least and the greatest item           MIN, MAX; nothing can be taken back
 *     COVARIANCE, CORRELATION, SLOPE, INTERCEPT    the sums of x, x^2, y, y^2 and x y        these, and COUNT
 *     SKEWNESS, KURTOSIS                           the sums of the first four powers of x    these, and those of VARIANCE
 *
 * By key, DOT, VDOT and NORM hold the same. States of integers for COUNT, SUM and MEAN hold the sum, and have these three.
 *
 * Handles (treefold_accumulator, treefold_keyed) are names, not addresses: one that was destroyed is TREEFOLD_ARGUMENT. Any thread may use
 * them, and several may read one at once; while one thread changes what a handle names, a call of another with it is TREEFOLD_ARGUMENT.
 * Functions that destroy a handle take its address and set it to NULL; destroying one that is NULL already is no error. A failed call
 * changes nothing.
 */

/* The exact sum of all items, of TREEFOLD_F32, F64, C32 or C64. Wherever a function takes items, they have this type. */
typedef struct treefold_accumulator treefold_accumulator;

/* Creates an accumulator of no items, for COUNT, SUM, MEAN, VARIANCE, STD, NORM, DOT or VDOT: keyed states of one key have the others.
   Complex numbers have no NORM: that of twice as many real numbers is theirs. */
treefold_status treefold_accumulator_create(treefold_type type, treefold_statistic statistic, treefold_accumulator **result);

/* Another accumulator of the same items. */
treefold_status treefold_accumulator_copy(const treefold_accumulator *accumulator, treefold_accumulator **result);

/* Ends an accumulator. */
treefold_status treefold_accumulator_destroy(treefold_accumulator **accumulator);

/* Forgets all items. */
treefold_status treefold_accumulator_clear(treefold_accumulator *accumulator);

/*
 * Adds n items, or takes back n that were added. Taking back more than there are, or more that are NaN, infinite or -0, is
 * TREEFOLD_ARGUMENT; removing items that were never added is not detected. DOT and VDOT take pairs: TREEFOLD_LENGTH if n and m
 * differ.
 */
treefold_status treefold_accumulator_add(treefold_accumulator *accumulator, const void *items, size_t n);
treefold_status treefold_accumulator_remove(treefold_accumulator *accumulator, const void *items, size_t n);
treefold_status treefold_accumulator_add_pairs(treefold_accumulator *accumulator, const void *x, size_t n, const void *y, size_t m);
treefold_status treefold_accumulator_remove_pairs(treefold_accumulator *accumulator, const void *x, size_t n, const void *y, size_t m);

/* Adds what another accumulator was given, which may be the same, or takes it back. TREEFOLD_ARGUMENT if the other one is of another type
   or holds something else. */
treefold_status treefold_accumulator_merge(treefold_accumulator *accumulator, const treefold_accumulator *other);
treefold_status treefold_accumulator_unmerge(treefold_accumulator *accumulator, const treefold_accumulator *other);

/* A statistic of the items: one number of the type above. */
treefold_status treefold_accumulator_value(const treefold_accumulator *accumulator, treefold_statistic statistic, double ddof,
                                           void *result);

/* Sets *result to 1 if the two hold the same sum of as many items, of each kind of those that are NaN, infinite or -0; else to 0. */
treefold_status treefold_accumulator_equal(const treefold_accumulator *accumulator, const treefold_accumulator *other, int *result);

/*
 * Writes an accumulator as bytes, for files and other programs, into `bytes`, and sets *needed to their number. With capacity 0, bytes
 * may be NULL; any other capacity that is too small is TREEFOLD_LENGTH. Equal accumulators have the same bytes, whatever order or language
 * made them: docs/tree-or-exact.md has the format.
 */
treefold_status treefold_accumulator_to_bytes(const treefold_accumulator *accumulator, void *bytes, size_t capacity, size_t *needed);

/* Replaces the contents of an accumulator by what treefold_accumulator_to_bytes wrote. Too few or too many bytes are TREEFOLD_LENGTH;
   those of another type or another kind of sum, and corrupt ones, are TREEFOLD_ARGUMENT. */
treefold_status treefold_accumulator_of_bytes(treefold_accumulator *accumulator, const void *bytes, size_t n);

/*
 * Exact statistics of the items of each of the keys 0 to K - 1. Items are TREEFOLD_F32 or F64; keys, and the errors about them, are those
 * of treefold_by_key. A call takes longer than adding an item: give many in one.
 */
typedef struct treefold_keyed treefold_keyed;

/*
 * Creates a state of no items. At first a key takes 16 bytes for SUM, 56 for VARIANCE, 32 for DOT, 48 for WEIGHTED_MEAN, 16 for MIN,
 * 136 for COVARIANCE and 144 for SKEWNESS, and for what holds the same as these; if items spread over more than some 50 binary places, as
 * many again, for all keys, for each 32 places more; and some 600 for a key with an item that is not finite. TREEFOLD_MEMORY if there is
 * not so much.
 *
 * Items may also be integers, TREEFOLD_I8 to TREEFOLD_U64, for COUNT, SUM, MEAN, VARIANCE and STD: a key takes 24 bytes for COUNT, SUM and
 * MEAN.
 */
treefold_status treefold_keyed_create(treefold_type type, treefold_statistic statistic, size_t keys, treefold_keyed **result);

/* A state of rows of `width` items: keyed_add takes as many rows as keys, and keyed_values writes a row for each key. */
treefold_status treefold_keyed_create_rows(treefold_type type, treefold_statistic statistic, size_t keys, size_t width,
                                           treefold_keyed **result);

/* Sums of the keys that have items, which may be any of key_type: TREEFOLD_I64 or TREEFOLD_U64. Keys that are added may have other types of
   integers, if each is one of key_type. To remove an item whose key has no sum is TREEFOLD_ARGUMENT. */
treefold_status treefold_keyed_create_hashed(treefold_type type, treefold_type key_type, treefold_keyed **result);

/* As those of accumulators. */
treefold_status treefold_keyed_copy(const treefold_keyed *keyed, treefold_keyed **result);
treefold_status treefold_keyed_destroy(treefold_keyed **keyed);
treefold_status treefold_keyed_clear(treefold_keyed *keyed);

/* Adds n items to those of their keys, or takes back n that were added: taking back more than a key has is TREEFOLD_ARGUMENT, and the error
   names the key. States that have a COUNT notice it of all items, others of those that are infinite or NaN. */
treefold_status treefold_keyed_add(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *items, size_t n);
treefold_status treefold_keyed_remove(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *items,
                                      size_t n);

/* The same for states of two arrays, of which NORM is one, of x and x. TREEFOLD_LENGTH if n and l differ. A state of one array takes no
   pairs, and one of pairs no items: TREEFOLD_UNSUPPORTED. */
treefold_status treefold_keyed_add_pairs(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *x, size_t n,
                                         const void *y, size_t l);
treefold_status treefold_keyed_remove_pairs(treefold_keyed *keyed, treefold_type key_type, const void *keys, size_t k, const void *x,
                                            size_t n, const void *y, size_t l);

/* Adds what another state of this type, of as many keys, that holds the same was given, key by key, or takes it back. It may be the same
   state. A state of any keys takes those of the other one, too. */
treefold_status treefold_keyed_merge(treefold_keyed *keyed, const treefold_keyed *other);
treefold_status treefold_keyed_unmerge(treefold_keyed *keyed, const treefold_keyed *other);

/* The number of keys; and the keys of a state of any keys, ascending, in the order of their values. Of other states, whose keys are 0 to
   K - 1, the latter is TREEFOLD_UNSUPPORTED. */
treefold_status treefold_keyed_groups(const treefold_keyed *keyed, size_t *result);
treefold_status treefold_keyed_keys(const treefold_keyed *keyed, void *result, size_t m);

/* A statistic of each key, which has the type above: TREEFOLD_LENGTH if m is not the number of keys times the width, TREEFOLD_UNSUPPORTED
   if the state does not have the statistic. */
treefold_status treefold_keyed_values(const treefold_keyed *keyed, treefold_statistic statistic, double ddof, void *result, size_t m);

/* Sets *result to 1 if the two have the same keys, each with the same sum of as many items; else to 0. Where items are not counted, only
   those that are infinite or NaN matter. */
treefold_status treefold_keyed_equal(const treefold_keyed *keyed, const treefold_keyed *other, int *result);

/* As the bytes of accumulators. States of the keys 0 to K - 1 have bytes; those of any keys are TREEFOLD_UNSUPPORTED. of_bytes leaves a
   state of as many keys as the bytes have; their rows must be as wide as those of the state. */
treefold_status treefold_keyed_to_bytes(const treefold_keyed *keyed, void *bytes, size_t capacity, size_t *needed);
treefold_status treefold_keyed_of_bytes(treefold_keyed *keyed, const void *bytes, size_t n);

#ifdef __cplusplus
}
#endif

/* ---- Calls that find the type -------------------------------------------------------------------------------------------------- */

#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L

/* The code of the type of what a pointer leads to; 0 for any other type. */
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

/* The same of two pointers, which must lead to one type. */
#define TREEFOLD_IS_ONE_TYPE(x, result) (TREEFOLD_TYPE_OF(x) != 0 && TREEFOLD_TYPE_OF(x) == TREEFOLD_TYPE_OF(result))
#define TREEFOLD_TYPE_OF_BOTH(x, result)                                                                                               \
    ((treefold_type)(TREEFOLD_TYPE_OF(x) * (int)sizeof(struct {                                                                        \
                         _Static_assert(TREEFOLD_IS_ONE_TYPE(x, result), "x and result must point to one type that treefold has");     \
                         char one;                                                                                                     \
                     })))

/* Reductions in tree order, and exact ones, of n elements of any type that has them: treefold_sum(x, n, &sum). */
#define treefold_sum(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_SUM, (x), (n), (result))
#define treefold_product(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_PRODUCT, (x), (n), (result))
#define treefold_min(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_MIN, (x), (n), (result))
#define treefold_max(x, n, result) treefold_fold(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_MAX, (x), (n), (result))
#define treefold_exact_sum(x, n, result)                                                                                               \
    treefold_exact(TREEFOLD_TYPE_OF_BOTH(x, result), TREEFOLD_EXACT_SUM, 0, (x), (n), NULL, 0, (result))

#endif

#endif /* C99 */

#endif
