/* Walks every function of treefold.h with right and wrong arguments. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <complex.h>
#include <pthread.h>
#include <stdlib.h>

enum { MANY = 300000 };

static double x[MANY], y[MANY];

static void versions(void)
{
    CHECK(treefold_version() == TREEFOLD_VERSION);
    CHECK(strcmp(treefold_status_name(TREEFOLD_OK), "TREEFOLD_OK") == 0);
    CHECK(strcmp(treefold_status_name(TREEFOLD_OPERATOR), "TREEFOLD_OPERATOR") == 0);
    CHECK(strcmp(treefold_status_name(-1), "unknown") == 0);
    CHECK(strcmp(treefold_last_error(), "") == 0);
    CHECK(treefold_last_error_rank() == -1);
}

static void sums(void)
{
    size_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097, MANY};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i];
        double sum = -1, parallel = -1, expected = tree_sum(x, n);
        OK(treefold_sum_f64(x, n, &sum));
        OK(treefold_par_sum_f64(x, n, &parallel));
        CHECK(bits(sum) == bits(expected));
        CHECK(bits(parallel) == bits(expected));
        OK(treefold_fold(TREEFOLD_F64, TREEFOLD_SUM, x, n, &sum));
        CHECK(bits(sum) == bits(expected));
        OK(treefold_par_fold(TREEFOLD_F64, TREEFOLD_SUM, x, n, &sum));
        CHECK(bits(sum) == bits(expected));
    }
}

static void lanes(void)
{
    static double own[MANY];
    size_t lengths[] = {0, 1, 15, 16, 17, 255, 256, 300, 4097, MANY}, numbers[] = {1, 2, 16, 100, 128, 1 << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            size_t n = lengths[i], count = numbers[j] < n ? numbers[j] : n;
            static double values[MANY];
            for (size_t lane = 0; lane < count; lane++) {
                size_t items = 0;
                for (size_t k = lane; k < n; k += numbers[j])
                    own[items++] = x[k];
                values[lane] = tree_sum(own, items);
            }
            double sum = -1, parallel = -1, expected = tree_sum(values, count);
            OK(treefold_sum_lanes_f64(x, n, numbers[j], &sum));
            OK(treefold_par_sum_lanes_f64(x, n, numbers[j], &parallel));
            CHECK(bits(sum) == bits(expected));
            CHECK(bits(parallel) == bits(expected));
        }
    float z[] = {0.1f, 0.2f, 0.3f, 1e8f, -1e8f}, result;
    OK(treefold_sum_lanes_f32(z, 5, 2, &result));
    CHECK(result == ((0.1f + 0.3f) + -1e8f) + (0.2f + 1e8f));
    OK(treefold_par_sum_lanes_f32(z, 5, 2, &result));
    CHECK(result == ((0.1f + 0.3f) + -1e8f) + (0.2f + 1e8f));
    double sum;
    EXPECT(TREEFOLD_ARGUMENT, "`lanes`: the number of lanes is 0", treefold_sum_lanes_f64(x, 3, 0, &sum));
    EXPECT(TREEFOLD_ARGUMENT, "1048577, which is not from 1", treefold_par_sum_lanes_f64(x, MANY, (1 << 20) + 1, &sum));
    EXPECT(TREEFOLD_NULL, "`x`", treefold_sum_lanes_f64(NULL, 3, 16, &sum));
}

static void products_of_arrays(void)
{
    size_t n = 1000;
    double terms[1000], absolute[1000], result, sum, absolute_sum;
    for (size_t i = 0; i < n; i++) {
        terms[i] = x[i] * y[i];
        absolute[i] = x[i] < 0 ? -x[i] : x[i];
    }
    OK(treefold_dot_f64(x, n, y, n, &result));
    CHECK(bits(result) == bits(tree_sum(terms, n)));
    OK(treefold_par_dot_f64(x, n, y, n, &result));
    CHECK(bits(result) == bits(tree_sum(terms, n)));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_dot_f64(x, n, y, n - 1, &result));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_par_dot_f64(x, n, y, n - 1, &result));
    for (size_t i = 0; i < n; i++)
        terms[i] = x[i] * x[i];
    OK(treefold_squared_norm_f64(x, n, &result));
    CHECK(bits(result) == bits(tree_sum(terms, n)));
    OK(treefold_par_squared_norm_f64(x, n, &result));
    CHECK(bits(result) == bits(tree_sum(terms, n)));
    OK(treefold_sum_and_absolute_sum_f64(x, n, &sum, &absolute_sum));
    CHECK(bits(sum) == bits(tree_sum(x, n)));
    CHECK(bits(absolute_sum) == bits(tree_sum(absolute, n)));
    OK(treefold_par_sum_and_absolute_sum_f64(x, n, &sum, &absolute_sum));
    CHECK(bits(absolute_sum) == bits(tree_sum(absolute, n)));
    EXPECT(TREEFOLD_NULL, "`sum`", treefold_sum_and_absolute_sum_f64(x, n, NULL, &absolute_sum));
    EXPECT(TREEFOLD_NULL, "`absolute_sum`", treefold_par_sum_and_absolute_sum_f64(x, n, &sum, NULL));
}

static void floats(void)
{
    float z[] = {0.1f, 0.2f, 0.3f, 1e8f, -1e8f}, result, absolute;
    OK(treefold_sum_f32(z, 5, &result));
    CHECK(result == ((0.1f + 0.2f) + (0.3f + 1e8f)) + -1e8f);
    OK(treefold_par_sum_f32(z, 5, &result));
    CHECK(result == ((0.1f + 0.2f) + (0.3f + 1e8f)) + -1e8f);
    OK(treefold_dot_f32(z, 2, z + 2, 2, &result));
    CHECK(result == 0.1f * 0.3f + 0.2f * 1e8f);
    OK(treefold_par_dot_f32(z, 2, z + 2, 2, &result));
    OK(treefold_squared_norm_f32(z, 2, &result));
    CHECK(result == 0.1f * 0.1f + 0.2f * 0.2f);
    OK(treefold_par_squared_norm_f32(z, 2, &result));
    OK(treefold_sum_and_absolute_sum_f32(z + 3, 2, &result, &absolute));
    CHECK(result == 0 && absolute == 2e8f);
    OK(treefold_par_sum_and_absolute_sum_f32(z + 3, 2, &result, &absolute));
}

static void complex_numbers(void)
{
    double complex z[3] = {1 + 2 * I, 3 - 1 * I, 0.5 + 0.25 * I}, result;
    float complex c[2] = {1 + 2 * I, 3 - 1 * I}, sum;
    OK(treefold_sum_c64((const double *)z, 3, (double *)&result));
    CHECK(creal(result) == 4.5 && cimag(result) == 1.25);
    OK(treefold_sum_c32((const float *)c, 2, (float *)&sum));
    CHECK(crealf(sum) == 4 && cimagf(sum) == 1);
    result = 0, sum = 0;
    OK(treefold_par_sum_c64((const double *)z, 3, (double *)&result));
    CHECK(creal(result) == 4.5 && cimag(result) == 1.25);
    OK(treefold_par_sum_c32((const float *)c, 2, (float *)&sum));
    CHECK(crealf(sum) == 4 && cimagf(sum) == 1);
    EXPECT(TREEFOLD_NULL, "`x`", treefold_par_sum_c64(NULL, 3, (double *)&result));
    OK(treefold_fold(TREEFOLD_C64, TREEFOLD_PRODUCT, z, 2, &result));
    CHECK(creal(result) == 5 && cimag(result) == 5);
    OK(treefold_par_fold(TREEFOLD_C32, TREEFOLD_PRODUCT, c, 2, &sum));
    CHECK(crealf(sum) == 5 && cimagf(sum) == 5);
    EXPECT(TREEFOLD_UNSUPPORTED, "complex", treefold_fold(TREEFOLD_C64, TREEFOLD_MIN, z, 2, &result));
    EXPECT(TREEFOLD_UNSUPPORTED, "complex", treefold_par_fold(TREEFOLD_C32, TREEFOLD_MAX, c, 2, &sum));
}

/* Every integer type by every operator: 2, 3, 4 and a wrapping product. */
#define INTEGERS(type, code)                                                                                                           \
    do {                                                                                                                               \
        type items[3] = {2, 3, 4}, result;                                                                                             \
        OK(treefold_fold(code, TREEFOLD_SUM, items, 3, &result));                                                                      \
        CHECK(result == 9);                                                                                                            \
        OK(treefold_fold(code, TREEFOLD_PRODUCT, items, 3, &result));                                                                  \
        CHECK(result == 24);                                                                                                           \
        OK(treefold_fold(code, TREEFOLD_MIN, items, 3, &result));                                                                      \
        CHECK(result == 2);                                                                                                            \
        OK(treefold_par_fold(code, TREEFOLD_MAX, items, 3, &result));                                                                  \
        CHECK(result == 4);                                                                                                            \
        OK(treefold_fold(code, TREEFOLD_PRODUCT, NULL, 0, &result));                                                                   \
        CHECK(result == 1);                                                                                                            \
        EXPECT(TREEFOLD_EMPTY, "no items", treefold_fold(code, TREEFOLD_MIN, NULL, 0, &result));                                       \
    } while (0)

static void integers(void)
{
    INTEGERS(int8_t, TREEFOLD_I8);
    INTEGERS(int16_t, TREEFOLD_I16);
    INTEGERS(int32_t, TREEFOLD_I32);
    INTEGERS(int64_t, TREEFOLD_I64);
    INTEGERS(uint8_t, TREEFOLD_U8);
    INTEGERS(uint16_t, TREEFOLD_U16);
    INTEGERS(uint32_t, TREEFOLD_U32);
    INTEGERS(uint64_t, TREEFOLD_U64);
    uint8_t wraps[2] = {200, 100}, result;
    OK(treefold_fold(TREEFOLD_U8, TREEFOLD_SUM, wraps, 2, &result));
    CHECK(result == 44);
    double special[2] = {0.0, -0.0}, least;
    OK(treefold_fold(TREEFOLD_F64, TREEFOLD_MIN, special, 2, &least));
    CHECK(bits(least) == UINT64_C(1) << 63);
}

static void codes(void)
{
    double result;
    EXPECT(TREEFOLD_ARGUMENT, "`type`: there is no type 0", treefold_fold(0, TREEFOLD_SUM, x, 1, &result));
    EXPECT(TREEFOLD_ARGUMENT, "`type`: there is no type 13", treefold_fold(13, TREEFOLD_SUM, x, 1, &result));
    EXPECT(TREEFOLD_ARGUMENT, "`type`: there is no type -2147483648", treefold_par_fold(INT32_MIN, TREEFOLD_SUM, x, 1, &result));
    EXPECT(TREEFOLD_ARGUMENT, "`op`: there is no operator 0", treefold_fold(TREEFOLD_F64, 0, x, 1, &result));
    EXPECT(TREEFOLD_ARGUMENT, "`op`: there is no operator 5", treefold_fold_rows(TREEFOLD_F64, 5, x, 1, 1, &result, 1));
}

static void pointers(void)
{
    double result;
    EXPECT(TREEFOLD_NULL, "`x`", treefold_sum_f64(NULL, 1, &result));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_sum_f64(x, 1, NULL));
    EXPECT(TREEFOLD_NULL, "`y`", treefold_dot_f64(x, 1, NULL, 1, &result));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_fold(TREEFOLD_F64, TREEFOLD_SUM, NULL, 1, &result));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_fold(TREEFOLD_F64, TREEFOLD_SUM, x, 1, NULL));
    EXPECT(TREEFOLD_LENGTH, "no memory is so large", treefold_sum_f64(x, SIZE_MAX, &result));
    EXPECT(TREEFOLD_LENGTH, "no memory is so large", treefold_sum_f64(x, SIZE_MAX / 16 + 1, &result));
    EXPECT(TREEFOLD_ARGUMENT, "not a multiple of 8", treefold_sum_f64((const double *)(const void *)((const char *)x + 4), 2, &result));
    double items[2] = {1, 2};
    EXPECT(TREEFOLD_ARGUMENT, "`x` and `result` overlap", treefold_sum_f64(items, 2, items));
    CHECK(items[0] == 1);
}

static void rows(void)
{
    double items[6] = {0.1, 1, 0.2, 2, 0.3, 3}, result[2];
    OK(treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, items, 6, 2, result, 2));
    CHECK(bits(result[0]) == bits((0.1 + 0.2) + 0.3) && result[1] == 6);
    OK(treefold_par_fold_rows(TREEFOLD_F64, TREEFOLD_MAX, items, 6, 2, result, 2));
    CHECK(result[0] == 0.3 && result[1] == 3);
    OK(treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, NULL, 0, 2, result, 2));
    CHECK(result[0] == 0 && result[1] == 0);
    EXPECT(TREEFOLD_LENGTH, "rows of 0", treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, items, 6, 0, result, 2));
    EXPECT(TREEFOLD_LENGTH, "rows of 4", treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, items, 6, 4, result, 4 - 2));
    EXPECT(TREEFOLD_LENGTH, "has 1", treefold_par_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, items, 6, 2, result, 1));
    EXPECT(TREEFOLD_EMPTY, "no items", treefold_fold_rows(TREEFOLD_F64, TREEFOLD_MAX, NULL, 0, 2, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "overlap", treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, items, 6, 2, items + 4, 2));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, NULL, 6, 2, result, 2));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, items, 6, 2, NULL, 2));
}

static void fields(void)
{
    const void *both[2] = {x, y}, *broken[2] = {x, NULL};
    double result[2], five[5];
    OK(treefold_fields(TREEFOLD_F64, TREEFOLD_SUM, both, 2, 100, result));
    CHECK(bits(result[0]) == bits(tree_sum(x, 100)) && bits(result[1]) == bits(tree_sum(y, 100)));
    OK(treefold_par_fields(TREEFOLD_F64, TREEFOLD_SUM, both, 2, MANY, result));
    CHECK(bits(result[1]) == bits(tree_sum(y, MANY)));
    OK(treefold_fields(TREEFOLD_F64, TREEFOLD_SUM, NULL, 0, 100, NULL));
    OK(treefold_fields(TREEFOLD_F64, TREEFOLD_SUM, broken, 2, 0, result));
    EXPECT(TREEFOLD_NULL, "`fields[1]` is NULL", treefold_fields(TREEFOLD_F64, TREEFOLD_SUM, broken, 2, 100, result));
    EXPECT(TREEFOLD_NULL, "`fields`", treefold_par_fields(TREEFOLD_F64, TREEFOLD_SUM, NULL, 2, 100, result));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_fields(TREEFOLD_F64, TREEFOLD_SUM, both, 2, 100, NULL));
    const void *own[1] = {five};
    EXPECT(TREEFOLD_ARGUMENT, "overlap", treefold_fields(TREEFOLD_F64, TREEFOLD_SUM, own, 1, 5, five + 4));
}

/* y = a x + b, composed. */
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
    (void)left;
    (void)right;
    (void)out;
    return *(int *)context;
}

static int last_byte(void *context, const void *left, const void *right, void *out)
{
    size_t bytes = *(size_t *)context;
    memcpy(out, left, bytes);
    ((unsigned char *)out)[bytes - 1] = (unsigned char)(((const unsigned char *)left)[bytes - 1] + ((const unsigned char *)right)[bytes - 1]);
    return 0;
}

static void user_operators(void)
{
    struct affine maps[5] = {{2, 1, {1, 0, 1}}, {3, 0, {2, 0, 2}}, {1, 5, {3, 0, 3}}, {-1, 2, {4, 0, 4}}, {2, 2, {5, 0, 5}}}, result;
    struct affine none = {1, 0, {0, 0, 0}};
    int calls = 0, seven = 7;
    OK(treefold_fold_user(maps, 5, sizeof *maps, compose, &calls, NULL, &result));
    CHECK(calls == 4 && result.a == -12 && result.b == -10 && result.padding[0] == 1 && result.padding[2] == 5);
    OK(treefold_par_fold_user(maps, 5, sizeof *maps, compose, NULL, NULL, &result));
    CHECK(result.a == -12 && result.b == -10);
    /* Not aligned to 8 bytes. */
    OK(treefold_fold_user(maps + 1, 4, sizeof *maps, compose, NULL, NULL, &result));
    CHECK(result.a == -6);
    OK(treefold_fold_user(NULL, 0, sizeof *maps, compose, NULL, &none, &result));
    CHECK(result.a == 1 && result.b == 0);
    EXPECT(TREEFOLD_EMPTY, "no items", treefold_fold_user(NULL, 0, sizeof *maps, compose, NULL, NULL, &result));
    EXPECT(TREEFOLD_OPERATOR, "returned 7", treefold_fold_user(maps, 5, sizeof *maps, refuse, &seven, NULL, &result));
    EXPECT(TREEFOLD_OPERATOR, "returned 7", treefold_par_fold_user(maps, 5, sizeof *maps, refuse, &seven, NULL, &result));
    EXPECT(TREEFOLD_NULL, "`combine`", treefold_fold_user(maps, 5, sizeof *maps, NULL, NULL, NULL, &result));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_fold_user(NULL, 5, sizeof *maps, compose, NULL, NULL, &result));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_par_fold_user(maps, 5, sizeof *maps, compose, NULL, NULL, NULL));
    EXPECT(TREEFOLD_ARGUMENT, "`item_bytes`: 0", treefold_fold_user(maps, 5, 0, compose, NULL, NULL, &result));
    EXPECT(TREEFOLD_ARGUMENT, "`item_bytes`: 6", treefold_fold_user(maps, 5, 6, compose, NULL, NULL, &result));
    EXPECT(TREEFOLD_ARGUMENT, "`item_bytes`: 516", treefold_fold_user(maps, 5, 516, compose, NULL, NULL, &result));
    /* Every length of an item, from an aligned and from another address. */
    static unsigned char items[3 * TREEFOLD_ITEM_BYTES_MAX + 8], last[TREEFOLD_ITEM_BYTES_MAX + 1];
    for (size_t bytes = 4; bytes <= TREEFOLD_ITEM_BYTES_MAX; bytes += 4) {
        for (size_t shift = 0; shift < 2; shift++) {
            unsigned char *first = items + shift;
            memset(items, 9, sizeof items);
            last[bytes] = 77;
            for (size_t item = 0; item < 3; item++)
                first[(item + 1) * bytes - 1] = (unsigned char)(item + 1);
            OK(treefold_fold_user(first, 3, bytes, last_byte, &bytes, NULL, last));
            CHECK(last[bytes - 1] == 6 && last[bytes] == 77);
            CHECK(bytes == 4 || last[0] == 9);
        }
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
        /* valgrind's processor does not flush. */
        _mm_setcsr(before);
        printf("skipped: the floating-point environment, which cannot be set here\n");
        return;
    }
    EXPECT(TREEFOLD_ENVIRONMENT, "subnormal", treefold_sum_f64(tiny, 2, &result));
    EXPECT(TREEFOLD_ENVIRONMENT, "subnormal", treefold_fold(TREEFOLD_F64, TREEFOLD_SUM, tiny, 2, &result));
    _mm_setcsr(before);
    OK(treefold_sum_f64(tiny, 2, &result));
    CHECK(result == 6e-310);
}
#else
static void environment(void) {}
#endif

/* Sums while other threads do, and keeps its own last error. */
static void *thread(void *argument)
{
    size_t n = *(size_t *)argument;
    char message[32];
    for (int round = 0; round < 200; round++) {
        double sum, expected = tree_sum(x, n);
        OK(treefold_sum_f64(x, n, &sum));
        CHECK(bits(sum) == bits(expected));
        snprintf(message, sizeof message, "%zu", n + 1);
        EXPECT(TREEFOLD_LENGTH, message, treefold_dot_f64(x, n, y, n + 1, &sum));
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
}

int main(void)
{
    for (size_t i = 0; i < MANY; i++) {
        x[i] = number(i);
        y[i] = number(i + MANY);
    }
    versions();
    sums();
    lanes();
    products_of_arrays();
    floats();
    complex_numbers();
    integers();
    codes();
    pointers();
    rows();
    fields();
    user_operators();
    environment();
    threads();
    return failures != 0;
}
