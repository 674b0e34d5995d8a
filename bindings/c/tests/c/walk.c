/* Tests reductions in tree order. Every type, operator and number of threads is compared with the definition of the order. Also tests
   versions, errors, threads and wrong arguments. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include "integers.h"

#include <complex.h>
#include <math.h>
#include <pthread.h>

enum { MANY = 300000, MOST_THREADS = 4 };

static double x[MANY], y[MANY];

static void versions_and_errors(void)
{
    char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", TREEFOLD_VERSION / 10000, TREEFOLD_VERSION / 100 % 100, TREEFOLD_VERSION % 100);
    CHECK(treefold_version() == TREEFOLD_VERSION && strcmp(treefold_version_string(), text) == 0);
    CHECK(strcmp(treefold_last_error(), "") == 0 && treefold_last_error_rank() == -1);
    CHECK(strcmp(treefold_status_name(TREEFOLD_OK), "TREEFOLD_OK") == 0);
    CHECK(strcmp(treefold_status_name(TREEFOLD_OPERATOR), "TREEFOLD_OPERATOR") == 0);
    for (treefold_status status = TREEFOLD_OK; status <= TREEFOLD_INTERRUPTED; status++)
        CHECK(strncmp(treefold_status_name(status), "TREEFOLD_", 9) == 0);
    CHECK(strcmp(treefold_status_name(-1), "unknown") == 0 && strcmp(treefold_status_name(TREEFOLD_INTERRUPTED + 1), "unknown") == 0);
    EXPECT(TREEFOLD_LENGTH, "`x` has 3 elements", treefold_report(TREEFOLD_LENGTH, "`x` has 3 elements"));
    EXPECT(TREEFOLD_ARGUMENT, "none of these", treefold_report(1000, "none of these"));
    EXPECT(TREEFOLD_ARGUMENT, "no error", treefold_report(TREEFOLD_OK, "no error"));
    CHECK(treefold_report(TREEFOLD_MEMORY, NULL) != TREEFOLD_OK);
    CHECK(treefold_thread_count() == 1);
    OK(treefold_threads(3));
    EXPECT(TREEFOLD_ARGUMENT, "", treefold_threads(-1));
    EXPECT(TREEFOLD_ARGUMENT, "", treefold_threads(65536));
    CHECK(treefold_thread_count() == 3);
    OK(treefold_threads(1));
}

/* A case of combine() for one type, which writes the result of an operator on two items. In the type `wide`, integers wrap around. */
#define COMBINE(code, c_type, wide)                                                                                                    \
    case code: {                                                                                                                       \
        c_type a, b, all;                                                                                                              \
        memcpy(&a, left, sizeof a), memcpy(&b, right, sizeof b);                                                                       \
        all = op == TREEFOLD_SUM       ? (c_type)((wide)a + (wide)b)                                                                   \
              : op == TREEFOLD_PRODUCT ? (c_type)((wide)a * (wide)b)                                                                   \
                                       : ((op == TREEFOLD_MIN) == (LESS(a, b)) ? a : b);                                               \
        memcpy(out, &all, sizeof all);                                                                                                 \
        return;                                                                                                                        \
    }
#define COMBINE_INTEGERS(code, c_type) COMBINE(code, c_type, uint64_t)

static void combine(treefold_type type, treefold_op op, const void *left, const void *right, void *out)
{
    switch (type) {
#define LESS(a, b) (a) < (b)
        INTEGER_TYPES(COMBINE_INTEGERS)
        COMBINE(TREEFOLD_F32, float, float)
        COMBINE(TREEFOLD_F64, double, double)
#undef LESS
#define LESS(a, b) 0
        COMBINE(TREEFOLD_C32, float complex, float complex)
        COMBINE(TREEFOLD_C64, double complex, double complex)
    default: CHECK(0);
    }
}

/* Reduces items by the definition of the order (docs/order.md, section 1). */
static void tree(treefold_type type, treefold_op op, const unsigned char *items, size_t n, void *result)
{
    const size_t bytes = bytes_of(type);
    if (n == 1) {
        memcpy(result, items, bytes);
        return;
    }
    double complex left, right;
    tree(type, op, items, left_items(n), &left);
    tree(type, op, items + left_items(n) * bytes, n - left_items(n), &right);
    combine(type, op, &left, &right, result);
}

/* A team of the program's own threads. Each thread runs every MOST_THREADS-th part, except that parts from `missing` on are skipped. */
struct team {
    size_t missing;
};

struct worker {
    pthread_t thread;
    size_t first, parts;
    treefold_part part;
    void *job;
};

static void *work(void *argument)
{
    const struct worker *worker = argument;
    for (size_t part = worker->first; part < worker->parts; part += MOST_THREADS)
        worker->part(worker->job, part);
    return NULL;
}

static void run_team(void *context, size_t parts, treefold_part part, void *job)
{
    const struct team *team = context;
    struct worker workers[MOST_THREADS];
    for (size_t i = 0; i < MOST_THREADS; i++) {
        workers[i] = (struct worker){.first = i, .parts = parts < team->missing ? parts : team->missing, .part = part, .job = job};
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (size_t i = 0; i < MOST_THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
}

/* Makes items of a type. Real items have many magnitudes; products of a few complex items are exact. */
static void fill(treefold_type type, void *items, size_t n, uint64_t seed)
{
    const size_t parts = type == TREEFOLD_C32 || type == TREEFOLD_C64 ? 2 : 1;
    for (size_t i = 0; i < parts * n; i++)
        if (type >= TREEFOLD_I8)
            put(type, items, i, random_integer(i + seed, 62));
        else if (part_of(type) == TREEFOLD_F32)
            ((float *)items)[i] = parts == 2 && n < 10 ? (float)(i % 4) - 1 : (float)number(i + seed) + 1;
        else
            ((double *)items)[i] = parts == 2 && n < 10 ? (double)(i % 4) - 1 : number(i + seed) + 1;
}

/* Checks one reduction with each function that offers it: of items, on the caller's threads, of the columns of rows, and of two fields. */
static void check_fold(treefold_type type, treefold_op op, size_t n)
{
    const size_t bytes = bytes_of(type);
    unsigned char *columns[2] = {malloc(bytes * n + 1), malloc(bytes * n + 1)}, *rows = malloc(2 * bytes * n + 1);
    const void *fields[2] = {columns[0], columns[1]};
    struct team team = {SIZE_MAX};
    _Alignas(16) unsigned char expected[32], result[32];
    const treefold_status status = n == 0 && op >= TREEFOLD_MIN ? TREEFOLD_EMPTY : TREEFOLD_OK;
    for (size_t c = 0; c < 2; c++) {
        fill(type, columns[c], n, c * n);
        for (size_t i = 0; i < n; i++)
            memcpy(rows + (2 * i + c) * bytes, columns[c] + i * bytes, bytes);
        memset(expected + c * bytes, 0, bytes);
        if (n > 0)
            tree(type, op, columns[c], n, expected + c * bytes);
        else if (op == TREEFOLD_PRODUCT)
            put(part_of(type), expected + c * bytes, 0, 1);
    }
    for (int threads = 1; threads <= MOST_THREADS; threads += MOST_THREADS - 1) {
        OK(treefold_threads(threads));
        for (int way = 0; way < 4; way++) {
            memset(result, 7, sizeof result);
            EXPECT(status, "",
                   way == 0   ? treefold_fold(type, op, columns[0], n, result)
                   : way == 1 ? treefold_fold_on(type, op, columns[0], n, run_team, &team, result)
                   : way == 2 ? treefold_fold_rows(type, op, rows, 2 * n, 2, result, 2)
                              : treefold_fields(type, op, fields, 2, n, result));
            if (status == TREEFOLD_OK && memcmp(result, expected, way < 2 ? bytes : 2 * bytes) != 0) {
                fprintf(stderr, "type %d, operator %d, %zu items, %d threads, way %d\n", (int)type, (int)op, n, threads, way);
                failures++;
            }
        }
    }
    OK(treefold_threads(1));
    free(columns[0]), free(columns[1]), free(rows);
}

static void every_fold(void)
{
    const size_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097, MANY};
    double result;
    for (treefold_type type = TREEFOLD_F32; type <= TREEFOLD_U64; type++)
        for (treefold_op op = TREEFOLD_SUM; op <= TREEFOLD_MAX; op++) {
            const int is_complex = type == TREEFOLD_C32 || type == TREEFOLD_C64;
            if (is_complex && op >= TREEFOLD_MIN) {
                EXPECT(TREEFOLD_UNSUPPORTED, "complex", treefold_fold(type, op, x, 2, &result));
                continue;
            }
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
                /* Only some types are tested with MANY items. Long products of complex numbers are not exact here. */
                if ((lengths[l] < MANY || type <= TREEFOLD_F64) && (lengths[l] < 10 || !is_complex || op == TREEFOLD_SUM))
                    check_fold(type, op, lengths[l]);
        }
    const double zeros[3] = {0.0, -0.0, 1}, not_a_number[2] = {1, -NAN};
    OK(treefold_fold(TREEFOLD_F64, TREEFOLD_MIN, zeros, 3, &result));
    CHECK(bits(result) == bits(-0.0));
    OK(treefold_fold(TREEFOLD_F64, TREEFOLD_MAX, not_a_number, 2, &result));
    CHECK(bits(result) == UINT64_C(0x7FF8000000000000));
}

/* Checks the functions of float and double: the short names, dot products, sums in lanes, and sums with an absolute sum. */
static void check_real(treefold_type type, size_t n)
{
    const size_t bytes = bytes_of(type), lanes[] = {1, 2, 16, 100, 128, 1 << 20};
    const int is_narrow = type == TREEFOLD_F32;
    unsigned char *all[5];
    for (int i = 0; i < 5; i++)
        all[i] = calloc(n + 1, bytes);
    void *items = all[0], *others = all[1];
    unsigned char *terms = all[2], *sizes = all[3], *sums = all[4];
    struct team team = {SIZE_MAX};
    double sum = 0, dot = 0, size = 0, results[5], absolute;
    fill(type, items, n, 0), fill(type, others, n, n);
    for (size_t i = 0; i < n; i++)
        if (is_narrow) {
            float *a = (float *)items + i;
            *a = i % 3 == 0 ? -*a : *a;
            ((float *)(void *)terms)[i] = *a * ((float *)others)[i], ((float *)(void *)sizes)[i] = fabsf(*a);
        } else {
            double *a = (double *)items + i;
            *a = i % 3 == 0 ? -*a : *a;
            ((double *)(void *)terms)[i] = *a * ((double *)others)[i], ((double *)(void *)sizes)[i] = fabs(*a);
        }
    if (n > 0)
        tree(type, TREEFOLD_SUM, items, n, &sum), tree(type, TREEFOLD_SUM, terms, n, &dot), tree(type, TREEFOLD_SUM, sizes, n, &size);
    for (int threads = 1; threads <= MOST_THREADS; threads += MOST_THREADS - 1) {
        OK(treefold_threads(threads));
        OK(is_narrow ? treefold_sum_f32(items, n, (void *)&results[0]) : treefold_sum_f64(items, n, &results[0]));
        OK(treefold_sum_and_absolute_sum(type, items, n, &results[1], &absolute));
        OK(is_narrow ? treefold_dot_f32(items, n, others, n, (void *)&results[2]) : treefold_dot_f64(items, n, others, n, &results[2]));
        OK(treefold_dot(type, items, n, others, n, &results[3]));
        OK(treefold_dot_on(type, items, n, others, n, run_team, &team, &results[4]));
        for (int i = 0; i < 5; i++)
            CHECK(memcmp(&results[i], i < 2 ? &sum : &dot, bytes) == 0);
        CHECK(memcmp(&absolute, &size, bytes) == 0);
        for (size_t j = 0; j < sizeof lanes / sizeof *lanes; j++) {
            const size_t count = lanes[j] < n ? lanes[j] : n;
            double expected = 0;
            for (size_t lane = 0; lane < count; lane++) {
                size_t own = 0;
                for (size_t i = lane; i < n; i += lanes[j])
                    memcpy(terms + own++ * bytes, (unsigned char *)items + i * bytes, bytes);
                tree(type, TREEFOLD_SUM, terms, own, sums + lane * bytes);
            }
            if (n > 0)
                tree(type, TREEFOLD_SUM, sums, count, &expected);
            OK(treefold_sum_lanes(type, items, n, lanes[j], results));
            CHECK(memcmp(results, &expected, bytes) == 0);
        }
    }
    OK(treefold_threads(1));
    for (int i = 0; i < 5; i++)
        free(all[i]);
}

static void real_numbers(void)
{
    const size_t lengths[] = {0, 1, 2, 3, 15, 16, 17, 255, 256, 300, 4097, MANY};
    for (treefold_type type = TREEFOLD_F32; type <= TREEFOLD_F64; type++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            check_real(type, lengths[l]);
    double result[4];
    for (treefold_type type = TREEFOLD_C32; type <= TREEFOLD_U64; type++) {
        EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_dot(type, x, 2, y, 2, result));
        EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_sum_lanes(type, x, 2, 16, result));
        EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_sum_and_absolute_sum(type, x, 2, result, result + 2));
    }
}

/* Tests teams that skip parts, and other wrong arguments of reductions by a team. */
static void teams(void)
{
    struct team none = {0}, all = {SIZE_MAX};
    double result = -1;
    EXPECT(TREEFOLD_ARGUMENT, "`team`", treefold_fold_on(TREEFOLD_F64, TREEFOLD_SUM, x, MANY, run_team, &none, &result));
    EXPECT(TREEFOLD_ARGUMENT, "`team`", treefold_dot_on(TREEFOLD_F64, x, MANY, y, MANY, run_team, &none, &result));
    EXPECT(TREEFOLD_NULL, "`team`", treefold_fold_on(TREEFOLD_F64, TREEFOLD_SUM, x, MANY, NULL, &all, &result));
    EXPECT(TREEFOLD_NULL, "`team`", treefold_dot_on(TREEFOLD_F64, x, MANY, y, MANY, NULL, &all, &result));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_fold_on(TREEFOLD_F64, TREEFOLD_SUM, NULL, 1, run_team, &all, &result));
    EXPECT(TREEFOLD_ARGUMENT, "`op`", treefold_fold_on(TREEFOLD_F64, 0, x, 1, run_team, &all, &result));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_dot_on(TREEFOLD_F64, x, 1000, y, 999, run_team, &all, &result));
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_dot_on(TREEFOLD_I32, x, 2, y, 2, run_team, &all, &result));
    CHECK(result == -1);
    /* The calling thread reduces a few items itself. */
    OK(treefold_fold_on(TREEFOLD_F64, TREEFOLD_SUM, x, 2, run_team, &none, &result));
    CHECK(result == x[0] + x[1]);
}

/* Tests the macros that deduce the type, on the items 3, 2 and 4. Also tests const items and types that have several names. */
#define FRONT_OF(function, expected)                                                                                                   \
    do {                                                                                                                               \
        OK(function(items, 3, &result));                                                                                               \
        CHECK(result == expected);                                                                                                     \
    } while (0)
#define FRONT(c_type)                                                                                                                  \
    do {                                                                                                                               \
        const c_type items[3] = {3, 2, 4};                                                                                             \
        c_type result = 0;                                                                                                             \
        FRONT_OF(treefold_sum, 9);                                                                                                     \
        FRONT_OF(treefold_product, 24);                                                                                                \
    } while (0)
#define FRONT_OF_REAL(c_type)                                                                                                          \
    do {                                                                                                                               \
        c_type items[3] = {3, 2, 4}, result = 0;                                                                                       \
        FRONT(c_type);                                                                                                                 \
        FRONT_OF(treefold_min, 2);                                                                                                     \
        FRONT_OF(treefold_max, 4);                                                                                                     \
    } while (0)
#define FRONT_OF_INTEGERS(code, c_type) FRONT_OF_REAL(c_type);

static void front(void)
{
    INTEGER_TYPES(FRONT_OF_INTEGERS)
    FRONT_OF_REAL(float);
    FRONT_OF_REAL(double);
    FRONT_OF_REAL(long);
    FRONT_OF_REAL(long long);
    FRONT_OF_REAL(unsigned long long);
    FRONT(float complex);
    FRONT(double complex);
    const float narrow[3] = {1e30f, 1, -1e30f};
    const double complex wide[3] = {1e300, 1 + 2 * I, -1e300};
    float sum = 0;
    double complex complex_sum = 0;
    int64_t whole[2] = {1, 2}, none;
    OK(treefold_exact_sum(narrow, 3, &sum));
    OK(treefold_exact_sum(wide, 3, &complex_sum));
    CHECK(sum == 1 && creal(complex_sum) == 1 && cimag(complex_sum) == 2);
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_exact_sum(whole, 2, &none));
}

static void errors(void)
{
    double items[6] = {0.1, 1, 0.2, 2, 0.3, 3}, result[5] = {-1, -1, -1, -1, -1};
    const void *both[2] = {x, y}, *broken[2] = {x, NULL};
#define FOLD(type, op, ...) treefold_fold(type, TREEFOLD_##op, __VA_ARGS__)
#define ROWS(op, ...) treefold_fold_rows(TREEFOLD_F64, TREEFOLD_##op, __VA_ARGS__)
#define FIELDS(...) treefold_fields(TREEFOLD_F64, TREEFOLD_SUM, __VA_ARGS__)
    EXPECT(TREEFOLD_ARGUMENT, "TREEFOLD_F32 to TREEFOLD_U64, not 0", FOLD(0, SUM, x, 1, result));
    EXPECT(TREEFOLD_ARGUMENT, "TREEFOLD_F32 to TREEFOLD_U64, not -2147483648", FOLD(INT32_MIN, SUM, x, 1, result));
    EXPECT(TREEFOLD_ARGUMENT, "`op`", treefold_fold(TREEFOLD_F64, 0, x, 1, result));
    EXPECT(TREEFOLD_ARGUMENT, "`op`", treefold_fold_rows(TREEFOLD_F64, 5, x, 1, 1, result, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`type`", treefold_fields(99, TREEFOLD_SUM, both, 2, 100, result));
    EXPECT(TREEFOLD_NULL, "`items`", FOLD(TREEFOLD_F64, SUM, NULL, 1, result));
    EXPECT(TREEFOLD_NULL, "`x`", treefold_sum_f64(NULL, 1, result));
    EXPECT(TREEFOLD_NULL, "`y`", treefold_dot_f64(x, 1, NULL, 1, result));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_dot_f64(x, 1000, y, 999, result));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_dot(TREEFOLD_F32, x, 1000, y, 999, result));
    EXPECT(TREEFOLD_LENGTH, "", treefold_sum_f64(x, SIZE_MAX, result));
    EXPECT(TREEFOLD_ARGUMENT, "`lanes`", treefold_sum_lanes(TREEFOLD_F64, x, 3, 0, result));
    EXPECT(TREEFOLD_ARGUMENT, "1048577", treefold_sum_lanes(TREEFOLD_F64, x, MANY, (1 << 20) + 1, result));
    EXPECT(TREEFOLD_NULL, "`x`", treefold_sum_lanes(TREEFOLD_F32, NULL, 3, 16, result));
    EXPECT(TREEFOLD_LENGTH, "", ROWS(SUM, items, 6, 0, result, 2));
    EXPECT(TREEFOLD_LENGTH, "", ROWS(SUM, items, 6, 4, result, 2));
    EXPECT(TREEFOLD_LENGTH, "", ROWS(SUM, items, 6, 2, result, 1));
    EXPECT(TREEFOLD_EMPTY, "no items", ROWS(MAX, NULL, 0, 2, result, 2));
    EXPECT(TREEFOLD_NULL, "`items`", ROWS(SUM, NULL, 6, 2, result, 2));
    OK(FIELDS(NULL, 0, 100, NULL));
    EXPECT(TREEFOLD_NULL, "`fields[1]`", FIELDS(broken, 2, 100, result));
    EXPECT(TREEFOLD_NULL, "`fields`", FIELDS(NULL, 2, 100, result));
    CHECK(items[0] == 0.1 && result[0] == -1 && result[4] == -1);
    OK(FIELDS(broken, 2, 0, result));
    CHECK(result[0] == 0 && result[1] == 0);
}

/* A map y = a x + b. The user-defined operator composes maps, and counts its calls if the context is not NULL. */
struct affine {
    int32_t a, b;
    int32_t padding[3];
};

static int compose(void *context, const void *left, const void *right, void *out)
{
    const struct affine *f = left, *g = right;
    struct affine *h = out;
    CHECK((uintptr_t)left % 8 == 0 && (uintptr_t)right % 8 == 0 && (uintptr_t)out % 8 == 0);
    if (context != NULL)
        ++*(int *)context;
    *h = (struct affine){g->a * f->a, g->a * f->b + g->b, {f->padding[0], 0, g->padding[2]}};
    return 0;
}

static int refuse(void *context, const void *left, const void *right, void *out)
{
    (void)left, (void)right, (void)out;
    return *(int *)context;
}

static int last_byte(void *context, const void *left, const void *right, void *out)
{
    size_t bytes = *(size_t *)context;
    memcpy(out, left, bytes);
    ((unsigned char *)out)[bytes - 1] += ((const unsigned char *)right)[bytes - 1];
    return 0;
}

static void user_operators(void)
{
    struct affine maps[5] = {{2, 1, {1, 0, 1}}, {3, 0, {2, 0, 2}}, {1, 5, {3, 0, 3}}, {-1, 2, {4, 0, 4}}, {2, 2, {5, 0, 5}}}, result;
    struct affine none = {1, 0, {0, 0, 0}};
    int calls = 0, seven = 7;
    EXPECT(TREEFOLD_OPERATOR, "returned 7", treefold_fold_user(maps, 5, sizeof *maps, refuse, &seven, NULL, &result));
#define FOLD_USER(items, n, ...) treefold_fold_user(items, n, __VA_ARGS__, &result)
    OK(FOLD_USER(maps, 5, sizeof *maps, compose, &calls, NULL));
    CHECK(calls == 4 && result.a == -12 && result.b == -10 && result.padding[0] == 1 && result.padding[2] == 5);
    OK(treefold_threads(MOST_THREADS));
    OK(FOLD_USER(maps, 5, sizeof *maps, compose, NULL, NULL));
    CHECK(result.a == -12 && result.b == -10);
    OK(treefold_threads(1));
    /* The items are not aligned to 8 bytes. */
    OK(FOLD_USER(maps + 1, 4, sizeof *maps, compose, NULL, NULL));
    CHECK(result.a == -6);
    OK(FOLD_USER(NULL, 0, sizeof *maps, compose, NULL, &none));
    CHECK(result.a == 1 && result.b == 0);
    EXPECT(TREEFOLD_EMPTY, "no items", FOLD_USER(NULL, 0, sizeof *maps, compose, NULL, NULL));
    EXPECT(TREEFOLD_NULL, "`combine`", FOLD_USER(maps, 5, sizeof *maps, NULL, NULL, NULL));
    EXPECT(TREEFOLD_NULL, "`items`", FOLD_USER(NULL, 5, sizeof *maps, compose, NULL, NULL));
    for (size_t bytes = 0; bytes <= 516; bytes += bytes == 0 ? 6 : 510)
        EXPECT(TREEFOLD_ARGUMENT, "`item_bytes`", FOLD_USER(maps, 5, bytes, compose, NULL, NULL));
    /* Tests every size of an item, at an aligned and at a misaligned address. */
    static unsigned char items[3 * TREEFOLD_ITEM_BYTES_MAX + 8], last[TREEFOLD_ITEM_BYTES_MAX + 1];
    for (size_t bytes = 4; bytes <= TREEFOLD_ITEM_BYTES_MAX; bytes += 4)
        for (size_t shift = 0; shift < 2; shift++) {
            unsigned char *first = items + shift;
            memset(items, 9, sizeof items);
            last[bytes] = 77;
            for (size_t item = 0; item < 3; item++)
                first[(item + 1) * bytes - 1] = (unsigned char)(item + 1);
            OK(treefold_fold_user(first, 3, bytes, last_byte, &bytes, NULL, last));
            CHECK(last[bytes - 1] == 6 && last[bytes] == 77 && (bytes == 4 || last[0] == 9));
        }
}

#if defined(__x86_64__)
#include <xmmintrin.h>

static void environment(void)
{
    double result, tiny[2] = {3e-310, 3e-310};
    unsigned before = _mm_getcsr();
    volatile double small = 3e-310;
    _mm_setcsr(before | 0x8000);
    if (small + small != 0) {
        /* valgrind's emulated processor does not flush subnormal numbers to zero. */
        _mm_setcsr(before);
        printf("skipped: the floating-point environment, which cannot be set here\n");
        return;
    }
    EXPECT(TREEFOLD_ENVIRONMENT, "", treefold_sum_f64(tiny, 2, &result));
    EXPECT(TREEFOLD_ENVIRONMENT, "", treefold_fold(TREEFOLD_F64, TREEFOLD_SUM, tiny, 2, &result));
    EXPECT(TREEFOLD_ENVIRONMENT, "", treefold_fold_on(TREEFOLD_F64, TREEFOLD_SUM, tiny, 2, run_team, &(struct team){SIZE_MAX}, &result));
    /* An exact sum works in every floating-point environment. This call is the first with a new number of threads. The threads that it
       starts must later round sums correctly. */
    OK(treefold_threads(MOST_THREADS + 1));
    OK(treefold_exact_sum_f64(x, MANY, &result));
    _mm_setcsr(before);
    OK(treefold_sum_f64(x, MANY, &result));
    CHECK(bits(result) == bits(tree_sum(x, MANY)));
    OK(treefold_threads(1));
    OK(treefold_sum_f64(tiny, 2, &result));
    CHECK(result == 6e-310);
}
#else
static void environment(void) {}
#endif

/* Computes sums in one of several threads. Each thread has its own number of threads and its own last error. */
static void *thread(void *argument)
{
    const size_t n = *(size_t *)argument;
    const int own = (int)(n % 3) + 1;
    char message[32];
    CHECK(treefold_thread_count() == 1);
    OK(treefold_threads(own));
    for (int round = 0; round < 200; round++) {
        double sum, expected = tree_sum(x, n);
        OK(treefold_sum_f64(x, n, &sum));
        CHECK(bits(sum) == bits(expected));
        snprintf(message, sizeof message, "%zu", n + 1);
        EXPECT(TREEFOLD_LENGTH, message, treefold_dot_f64(x, n, y, n + 1, &sum));
        CHECK(treefold_thread_count() == own);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    size_t lengths[4] = {100, 777, 1000, 2049};
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&all[i], NULL, thread, &lengths[i]) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    CHECK(treefold_thread_count() == 1);
}

int main(void)
{
    for (size_t i = 0; i < MANY; i++)
        x[i] = number(i), y[i] = number(i + MANY);
    versions_and_errors();
    every_fold();
    real_numbers();
    teams();
    front();
    errors();
    user_operators();
    environment();
    threads();
    return failures != 0;
}
