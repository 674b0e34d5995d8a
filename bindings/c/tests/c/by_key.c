/* Exact results by key and of windows: each against the exact sum, or the accumulator, of its items alone. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

enum { MANY = 300000, FEW = 5000, GROUPS = 100 };

static double x[MANY];
static float small_x[MANY];
static int64_t keys[MANY];

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Items of many magnitudes, of which some are zero and, if wanted, some are not finite; keys of which some have no items. */
static void draw(size_t n, int specials)
{
    for (size_t i = 0; i < n; i++) {
        int exponent = i % 17 == 0 ? (int)(i % 1900) - 1000 : (int)(i % 30);
        x[i] = i % 11 == 0 ? 0.0 : ldexp(number(i), exponent);
        small_x[i] = ldexpf((float)number(i), (int)(i % 20));
        keys[i] = (int64_t)((number(i + n) + 0.5) * (GROUPS - 3));
        if (specials && i % 1000 == 7)
            x[i] = i % 2000 == 7 ? NAN : INFINITY, small_x[i] = -INFINITY;
    }
}

/* Keys of the types of C. */
#define CASES(EACH)                                                                                                                    \
    EACH(TREEFOLD_I8, int8_t) EACH(TREEFOLD_I16, int16_t) EACH(TREEFOLD_I32, int32_t) EACH(TREEFOLD_I64, int64_t)                      \
    EACH(TREEFOLD_U8, uint8_t) EACH(TREEFOLD_U16, uint16_t) EACH(TREEFOLD_U32, uint32_t) EACH(TREEFOLD_U64, uint64_t)

static const void *keys_as(treefold_type type, size_t n)
{
    static union { uint64_t words[MANY]; } room;
    switch (type) {
#define COPY(code, c_type)                                                                                                             \
    case code:                                                                                                                         \
        for (size_t i = 0; i < n; i++)                                                                                                 \
            ((c_type *)(void *)&room)[i] = (c_type)keys[i];                                                                            \
        break;
        CASES(COPY)
    default:
        CHECK(0);
    }
    return &room;
}

/* The items of a key, one after the other. */
static size_t of_key(int64_t key, size_t n, double *items, float *floats)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (keys[i] == key)
            items[count] = x[i], floats[count++] = small_x[i];
    return count;
}

static int alike(double one, double other)
{
    return bits(one) == bits(other) || (isnan(one) && isnan(other));
}

static void sums(size_t n, int specials)
{
    static double alone[MANY], sum[GROUPS], result[GROUPS], parallel[GROUPS];
    static float small_alone[MANY], small_sum[GROUPS], small_result[GROUPS], small_parallel[GROUPS];
    draw(n, specials);
    for (int64_t key = 0; key < GROUPS; key++) {
        size_t count = of_key(key, n, alone, small_alone);
        OK(treefold_exact_sum_f64(alone, count, &sum[key]));
        OK(treefold_exact_sum_f32(small_alone, count, &small_sum[key]));
    }
    for (treefold_type type = TREEFOLD_I8; type <= TREEFOLD_U64; type++) {
        const void *typed = keys_as(type, n);
        OK(treefold_exact_sum_by_key_f64(type, typed, n, x, n, result, GROUPS));
        OK(treefold_par_exact_sum_by_key_f64(type, typed, n, x, n, parallel, GROUPS));
        OK(treefold_exact_sum_by_key_f32(type, typed, n, small_x, n, small_result, GROUPS));
        OK(treefold_par_exact_sum_by_key_f32(type, typed, n, small_x, n, small_parallel, GROUPS));
        for (int key = 0; key < GROUPS; key++) {
            CHECK(alike(result[key], sum[key]) && alike(parallel[key], sum[key]));
            CHECK(float_bits(small_result[key]) == float_bits(small_sum[key]));
            CHECK(float_bits(small_parallel[key]) == float_bits(small_sum[key]));
        }
    }
    /* The last keys have no items. */
    CHECK(bits(result[GROUPS - 1]) == bits(0.0));
}

/* Statistics by key are those of accumulators; keyed states of parts that are merged are those of the whole. */
static void states(void)
{
    static double sum[GROUPS], mean[GROUPS], variance[GROUPS], deviation[GROUPS], result[GROUPS], alone[FEW];
    static float small_alone[FEW], small_variance[GROUPS];
    static uint64_t counts[GROUPS];
    const size_t half = FEW / 3;
    draw(FEW, 0);
    treefold_keyed *sums = NULL, *moments = NULL, *other_sums = NULL, *other_moments = NULL;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, GROUPS, &sums));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, GROUPS, &other_sums));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, GROUPS, &moments));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, GROUPS, &other_moments));
    OK(treefold_keyed_add(moments, TREEFOLD_I64, keys + half, FEW - half, x + half, FEW - half));
    OK(treefold_keyed_add(other_moments, TREEFOLD_I64, keys, half, x, half));
    OK(treefold_keyed_merge(moments, other_moments));
    OK(treefold_keyed_counts(moments, counts, GROUPS));
    OK(treefold_exact_mean_by_key_f64(TREEFOLD_I64, keys, FEW, x, FEW, mean, GROUPS));
    OK(treefold_exact_variance_by_key_f64(TREEFOLD_I64, keys, FEW, x, FEW, 1, variance, GROUPS));
    OK(treefold_exact_standard_deviation_by_key_f64(TREEFOLD_I64, keys, FEW, x, FEW, 0, deviation, GROUPS));
    OK(treefold_exact_variance_by_key_f32(TREEFOLD_I64, keys, FEW, small_x, FEW, 0, small_variance, GROUPS));
    for (int64_t key = 0; key < GROUPS; key++) {
        double expected = -1;
        float small_expected = -1;
        size_t count = of_key(key, FEW, alone, small_alone);
        treefold_accumulator *own = NULL, *small_own = NULL;
        OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, &own));
        OK(treefold_accumulator_create(TREEFOLD_F32, TREEFOLD_EXACT_MOMENTS, &small_own));
        OK(treefold_accumulator_add(own, alone, count));
        OK(treefold_accumulator_add(small_own, small_alone, count));
        CHECK(counts[key] == count);
        OK(treefold_accumulator_mean(own, &expected));
        CHECK(alike(mean[key], expected));
        OK(treefold_accumulator_variance(own, 1, &expected));
        CHECK(alike(variance[key], expected));
        OK(treefold_accumulator_standard_deviation(own, 0, &expected));
        CHECK(alike(deviation[key], expected));
        OK(treefold_accumulator_variance(small_own, 0, &small_expected));
        CHECK(float_bits(small_variance[key]) == float_bits(small_expected) || count == 0);
        OK(treefold_accumulator_destroy(&own));
        OK(treefold_accumulator_destroy(&small_own));
    }
    OK(treefold_keyed_means(moments, result, GROUPS));
    CHECK(memcmp(result, mean, sizeof result) == 0);
    OK(treefold_keyed_variances(moments, 1, result, GROUPS));
    CHECK(memcmp(result, variance, sizeof result) == 0);
    OK(treefold_keyed_standard_deviations(moments, 0, result, GROUPS));
    CHECK(memcmp(result, deviation, sizeof result) == 0);

    /* Items of other keys come and go; what is left is doubled by a merge with itself. */
    OK(treefold_exact_sum_by_key_f64(TREEFOLD_I64, keys, FEW, x, FEW, sum, GROUPS));
    OK(treefold_keyed_add(sums, TREEFOLD_I64, keys, half, x, half));
    OK(treefold_keyed_add(other_sums, TREEFOLD_I64, keys, FEW, x, FEW));
    OK(treefold_keyed_remove(other_sums, TREEFOLD_I64, keys, half, x, half));
    OK(treefold_keyed_merge(sums, other_sums));
    OK(treefold_keyed_sums(sums, result, GROUPS));
    CHECK(memcmp(result, sum, sizeof result) == 0);
    OK(treefold_keyed_merge(sums, sums));
    OK(treefold_keyed_sums(sums, result, GROUPS));
    for (int key = 0; key < GROUPS; key++)
        CHECK(result[key] == 2 * sum[key]);
    OK(treefold_keyed_destroy(&sums));
    OK(treefold_keyed_destroy(&other_sums));
    OK(treefold_keyed_destroy(&moments));
    OK(treefold_keyed_destroy(&other_moments));
    OK(treefold_keyed_destroy(&moments));
}

/* Windows have the sums and means of their items, after huge and infinite ones, too. */
static void windows(void)
{
    static double sum[FEW], mean[FEW];
    static float small_sum[FEW];
    draw(FEW, 1);
    for (size_t window = 1; window <= FEW; window += 1 + 7 * window) {
        for (size_t least = 1; least <= window; least += window) {
            OK(treefold_exact_rolling_sum_f64(x, FEW, window, least, sum, FEW));
            OK(treefold_exact_rolling_mean_f64(x, FEW, window, least, mean, FEW));
            OK(treefold_exact_rolling_sum_f32(small_x, FEW, window, least, small_sum, FEW));
            treefold_accumulator *own = NULL;
            OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &own));
            for (size_t i = 0; i < FEW; i++) {
                double expected = -1;
                float small_expected = -1;
                size_t begin = i + 1 < window ? 0 : i + 1 - window, count = i + 1 - begin;
                OK(treefold_accumulator_add(own, &x[i], 1));
                if (count == window && begin > 0)
                    OK(treefold_accumulator_remove(own, &x[begin - 1], 1));
                OK(treefold_accumulator_value(own, &expected));
                CHECK(count < least ? isnan(sum[i]) : alike(sum[i], expected + 0.0));
                OK(treefold_accumulator_mean(own, &expected));
                CHECK(count < least ? isnan(mean[i]) : alike(mean[i], expected + 0.0));
                if (i % 97 == 0 && count >= least) {
                    OK(treefold_exact_sum_f32(small_x + begin, count, &small_expected));
                    CHECK(float_bits(small_sum[i]) == float_bits(small_expected));
                }
            }
            OK(treefold_accumulator_destroy(&own));
        }
    }
    double result[3] = {-1, -1, -1};
    OK(treefold_exact_rolling_sum_f64(NULL, 0, 5, 1, NULL, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`window`", treefold_exact_rolling_sum_f64(x, 3, 0, 1, result, 3));
    EXPECT(TREEFOLD_LENGTH, "`result` has 2 elements, but `items` has 3", treefold_exact_rolling_mean_f64(x, 3, 1, 1, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "overlap", treefold_exact_rolling_sum_f64(x, 3, 1, 1, x, 3));
    CHECK(result[0] == -1 && result[2] == -1);
}

static void errors(void)
{
    double items[3] = {1, 2, 3}, result[2] = {-1, -1}, nan = NAN;
    int32_t own[3] = {0, 1, 0}, negative[3] = {0, 1, -5};
    uint64_t huge[3] = {0, UINT64_MAX, 0}, counts[2];
    EXPECT(TREEFOLD_LENGTH, "`keys` has 2 elements, but `items` has 3",
           treefold_exact_sum_by_key_f64(TREEFOLD_I32, own, 2, items, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key -5, and keys are 0 to 1",
           treefold_exact_sum_by_key_f64(TREEFOLD_I32, negative, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 1 has key 18446744073709551615, and keys are 0 to 1",
           treefold_par_exact_sum_by_key_f64(TREEFOLD_U64, huge, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 0 has key 0, and there is no sum",
           treefold_exact_sum_by_key_f64(TREEFOLD_I32, own, 3, items, 3, NULL, 0));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key -5", treefold_exact_mean_by_key_f64(TREEFOLD_I32, negative, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`key_type`: keys are integers",
           treefold_exact_sum_by_key_f64(TREEFOLD_F32, own, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`key_type`: there is no type 0", treefold_exact_sum_by_key_f64(0, own, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_NULL, "`keys`", treefold_exact_sum_by_key_f64(TREEFOLD_I32, NULL, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_exact_sum_by_key_f64(TREEFOLD_I32, own, 3, NULL, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`keys`: its address is not a multiple of 4",
           treefold_exact_sum_by_key_f64(TREEFOLD_I32, (const char *)own + 1, 2, items, 2, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`keys` and `result` overlap",
           treefold_exact_sum_by_key_f64(TREEFOLD_U64, huge, 2, items, 2, (double *)(void *)(huge + 1), 2));
    CHECK(result[0] == -1 && result[1] == -1);

    treefold_keyed *sums = NULL, *moments = NULL, *others = NULL, *floats = NULL;
    EXPECT(TREEFOLD_ARGUMENT, "figures 4 by key", treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_VDOT, 2, &sums));
    EXPECT(TREEFOLD_UNSUPPORTED, "real", treefold_keyed_create(TREEFOLD_C64, TREEFOLD_EXACT_SUM, 2, &sums));
    EXPECT(TREEFOLD_MEMORY, "no memory", treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, SIZE_MAX / 8, &sums));
    CHECK(sums == NULL);
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &sums));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, 2, &moments));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 3, &others));
    OK(treefold_keyed_create(TREEFOLD_F32, TREEFOLD_EXACT_SUM, 2, &floats));
    OK(treefold_keyed_add(sums, TREEFOLD_I32, own, 3, items, 3));
    OK(treefold_keyed_add(moments, TREEFOLD_I32, own, 3, items, 3));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key -5", treefold_keyed_add(sums, TREEFOLD_I32, negative, 3, items, 3));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key -5", treefold_keyed_remove(sums, TREEFOLD_I32, negative, 3, items, 3));
    EXPECT(TREEFOLD_LENGTH, "`keys` has 3 elements, but `items` has 2", treefold_keyed_add(moments, TREEFOLD_I32, own, 3, items, 2));
    EXPECT(TREEFOLD_ARGUMENT, "key 1: 1 NaNs cannot be removed of 0", treefold_keyed_remove(sums, TREEFOLD_I32, own + 1, 1, &nan, 1));
    EXPECT(TREEFOLD_ARGUMENT, "key 1: ", treefold_keyed_remove(moments, TREEFOLD_I32, own + 1, 1, &nan, 1));
    OK(treefold_keyed_add(moments, TREEFOLD_I32, own, 2, items + 1, 2));
    OK(treefold_keyed_remove(moments, TREEFOLD_I32, own, 2, items + 1, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`other`: it is moments by key of TREEFOLD_F64, not sums by key of TREEFOLD_F64",
           treefold_keyed_merge(sums, moments));
    EXPECT(TREEFOLD_ARGUMENT, "sums by key of TREEFOLD_F32", treefold_keyed_merge(sums, floats));
    EXPECT(TREEFOLD_LENGTH, "`other` has 3 keys, but `keyed` has 2", treefold_keyed_merge(sums, others));
    EXPECT(TREEFOLD_LENGTH, "`result` has 1 elements, but there are 2 keys", treefold_keyed_sums(sums, result, 1));
    EXPECT(TREEFOLD_LENGTH, "`result` has 1 elements, but there are 2 keys", treefold_keyed_counts(moments, counts, 1));
    EXPECT(TREEFOLD_UNSUPPORTED, "no mean of sums by key of TREEFOLD_F64: TREEFOLD_EXACT_MOMENTS has one", treefold_keyed_means(sums, result, 2));
    EXPECT(TREEFOLD_UNSUPPORTED, "do not count", treefold_keyed_counts(sums, counts, 2));
    OK(treefold_keyed_sums(moments, result, 2));
    CHECK(result[0] == 4 && result[1] == 2);
    EXPECT(TREEFOLD_NULL, "`keyed` is NULL", treefold_keyed_add(NULL, TREEFOLD_I32, own, 3, items, 3));
    OK(treefold_keyed_sums(sums, result, 2));
    CHECK(result[0] == 4 && result[1] == 2);
    OK(treefold_keyed_variances(moments, 0, result, 2));
    CHECK(result[0] == 1 && result[1] == 0);
    treefold_keyed *old = sums;
    OK(treefold_keyed_destroy(&sums));
    EXPECT(TREEFOLD_ARGUMENT, "it was destroyed", treefold_keyed_sums(old, result, 2));
    OK(treefold_keyed_destroy(&moments));
    OK(treefold_keyed_destroy(&others));
    OK(treefold_keyed_destroy(&floats));
}

int main(void)
{
    size_t lengths[] = {0, 1, 2, 100, FEW, MANY};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        sums(lengths[l], l % 2);
    states();
    windows();
    errors();
    if (failures == 0)
        printf("keys and windows have the exact sums of their items\n");
    return failures != 0;
}
