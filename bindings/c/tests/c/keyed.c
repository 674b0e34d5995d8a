/* Keyed states of every figure, against integers of 128 bits: what they add, take back and merge, and what cannot be. */
#include "keyed.h"

#include <float.h>

enum { WIDTH = 3 };

static double found[GROUPS * WIDTH];
static float small_found[GROUPS];

/* Products of doubles, one call and in parts. */
static void dots(void)
{
    integer sum[GROUPS] = {0}, small_sum[GROUPS] = {0};
    draw(20, 30);
    for (size_t i = 0; i < MANY; i++)
        sum[keys[i]] += whole[i] * other[i], small_sum[keys[i]] += (integer)small_x[i] * (integer)small_y[i];
    treefold_keyed *all = make(TREEFOLD_F64, TREEFOLD_EXACT_DOT), *part = make(TREEFOLD_F64, TREEFOLD_EXACT_DOT);
    const size_t half = MANY / 3;
    OK(treefold_exact_dot_by_key_f64(TREEFOLD_I32, keys, MANY, x, MANY, y, MANY, found, GROUPS));
    OK(treefold_exact_dot_by_key_f32(TREEFOLD_I32, keys, MANY, small_x, MANY, small_y, MANY, small_found, GROUPS));
    for (int key = 0; key < GROUPS; key++) {
        CHECK(bits(found[key]) == bits((double)sum[key]));
        CHECK(small_found[key] == (float)small_sum[key]);
    }
    OK(treefold_keyed_add_dot(all, TREEFOLD_I32, keys, MANY, y, MANY, x, MANY));
    OK(treefold_keyed_add_dot(part, TREEFOLD_I32, keys, half, x, half, y, half));
    CHECK(are_equal(all, part) == 0);
    OK(treefold_keyed_remove_dot(all, TREEFOLD_I32, keys, half, x, half, y, half));
    OK(treefold_keyed_merge(part, all));
    OK(treefold_keyed_add_dot(all, TREEFOLD_I32, keys, half, x, half, y, half));
    CHECK(are_equal(all, part) == 1);
    OK(treefold_keyed_sums(part, found, GROUPS));
    for (int key = 0; key < GROUPS; key++)
        CHECK(bits(found[key]) == bits((double)sum[key]));
    double infinite = INFINITY, one = 1;
    int32_t last = GROUPS - 1;
    EXPECT(TREEFOLD_ARGUMENT, "`x`: key 36: 1 infinities cannot be removed of 0",
           treefold_keyed_remove_dot(all, TREEFOLD_I32, &last, 1, &infinite, 1, &one, 1));
    OK(treefold_keyed_add_dot(all, TREEFOLD_I32, &last, 1, &infinite, 1, &one, 1));
    OK(treefold_keyed_sums(all, found, GROUPS));
    CHECK(found[last] == INFINITY && are_equal(all, part) == 0);
    end(all);
    end(part);
}

/* Weighted means are quotients of integers. */
static void weighted_means(void)
{
    integer sum[GROUPS] = {0}, weight[GROUPS] = {0};
    draw(14, 4);
    for (size_t i = 0; i < MANY; i++) {
        other[i] = (other[i] & 1023) + 1, y[i] = (double)other[i];
        sum[keys[i]] += whole[i] * other[i], weight[keys[i]] += other[i];
    }
    treefold_keyed *means = make(TREEFOLD_F64, TREEFOLD_EXACT_WEIGHTED_MEAN), *twice = make(TREEFOLD_F64, TREEFOLD_EXACT_WEIGHTED_MEAN);
    double result[GROUPS];
    OK(treefold_exact_weighted_mean_by_key_f64(TREEFOLD_I32, keys, MANY, x, MANY, y, MANY, found, GROUPS));
    OK(treefold_keyed_add_dot(means, TREEFOLD_I32, keys, MANY, x, MANY, y, MANY));
    OK(treefold_keyed_means(means, result, GROUPS));
    CHECK(memcmp(found, result, (GROUPS - 1) * sizeof *found) == 0);
    for (int key = 0; key < GROUPS - 1; key++) {
        int exponent;
        integer m = (integer)ldexp(frexp(found[key], &exponent), 53);
        CHECK(exponent <= 53 && is_quotient(sum[key], weight[key], m, exponent - 53));
    }
    CHECK(isnan(found[GROUPS - 1]) && isnan(result[GROUPS - 1]));
    OK(treefold_keyed_merge(twice, means));
    CHECK(are_equal(twice, means) == 1);
    OK(treefold_keyed_merge(twice, twice));
    CHECK(are_equal(twice, means) == 0);
    OK(treefold_keyed_remove_dot(twice, TREEFOLD_I32, keys, MANY, x, MANY, y, MANY));
    CHECK(are_equal(twice, means) == 1);
    float of_floats[2] = {-1, -1}, items[3] = {1, 7, 4}, weights[3] = {2, 0.5f, 1};
    uint8_t few[3] = {0, 1, 0};
    OK(treefold_exact_weighted_mean_by_key_f32(TREEFOLD_U8, few, 3, items, 3, weights, 3, of_floats, 2));
    CHECK(of_floats[0] == 2 && of_floats[1] == 7);
    end(means);
    end(twice);
}

/* The bounds of each key, of which one has a NaN and one has zeros of both signs. */
static void extrema(void)
{
    double least[GROUPS], greatest[GROUPS], again[GROUPS];
    draw(30, 20);
    for (int key = 0; key < GROUPS; key++)
        least[key] = INFINITY, greatest[key] = -INFINITY;
    for (size_t i = 0; i < MANY; i++) {
        if (keys[i] == 5)
            x[i] = i % 2 == 0 ? 0.0 : -0.0;
        least[keys[i]] = fmin(least[keys[i]], x[i]), greatest[keys[i]] = fmax(greatest[keys[i]], x[i]);
    }
    least[5] = -0.0, greatest[5] = 0.0;
    treefold_keyed *all = make(TREEFOLD_F64, TREEFOLD_EXACT_EXTREMA), *part = make(TREEFOLD_F64, TREEFOLD_EXACT_EXTREMA);
    OK(treefold_exact_min_by_key_f64(TREEFOLD_I32, keys, MANY, x, MANY, found, GROUPS));
    OK(treefold_exact_max_by_key_f64(TREEFOLD_I32, keys, MANY, x, MANY, again, GROUPS));
    CHECK(memcmp(found, least, (GROUPS - 1) * sizeof *found) == 0 && isnan(found[GROUPS - 1]));
    CHECK(memcmp(again, greatest, (GROUPS - 1) * sizeof *found) == 0 && isnan(again[GROUPS - 1]));
    OK(treefold_keyed_add(all, TREEFOLD_I32, keys, 100, x, 100));
    OK(treefold_keyed_add(part, TREEFOLD_I32, keys + 100, MANY - 100, x + 100, MANY - 100));
    OK(treefold_keyed_merge(all, part));
    OK(treefold_keyed_minima(all, found, GROUPS));
    OK(treefold_keyed_maxima(all, again, GROUPS));
    CHECK(memcmp(found, least, (GROUPS - 1) * sizeof *found) == 0 && memcmp(again, greatest, (GROUPS - 1) * sizeof *found) == 0);
    double nan = NAN;
    int32_t seven = 7;
    OK(treefold_keyed_merge(part, all));
    CHECK(are_equal(all, part) == 1);
    OK(treefold_keyed_add(all, TREEFOLD_I32, &seven, 1, &nan, 1));
    OK(treefold_keyed_minima(all, found, GROUPS));
    CHECK(isnan(found[7]) && bits(found[5]) == bits(-0.0) && are_equal(all, part) == 0);
    EXPECT(TREEFOLD_UNSUPPORTED, "extrema take nothing back",
           treefold_keyed_remove(all, TREEFOLD_I32, &seven, 1, &nan, 1));
    EXPECT(TREEFOLD_UNSUPPORTED, "no variance", treefold_keyed_variances(all, 0, found, GROUPS));
    float low = -1, high = -1, items[2] = {3, -4};
    OK(treefold_exact_min_by_key_f32(TREEFOLD_I32, keys, 0, NULL, 0, NULL, 0));
    OK(treefold_exact_min_by_key_f32(TREEFOLD_U16, (uint16_t[2]){0, 0}, 2, items, 2, &low, 1));
    OK(treefold_exact_max_by_key_f32(TREEFOLD_U16, (uint16_t[2]){0, 0}, 2, items, 2, &high, 1));
    CHECK(low == -4 && high == 3);
    end(all);
    end(part);
}

/* Rows of three columns. */
static void rows(void)
{
    enum { ROWS = MANY / WIDTH };
    integer sum[GROUPS * WIDTH] = {0};
    draw(53, 40);
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        sum[(size_t)keys[i / WIDTH] * WIDTH + i % WIDTH] += whole[i];
    const size_t half = ROWS / 2, all = GROUPS * WIDTH;
    treefold_keyed *one = NULL, *two = NULL;
    OK(treefold_keyed_create_rows(TREEFOLD_F64, GROUPS, WIDTH, &one));
    OK(treefold_keyed_create_rows(TREEFOLD_F64, GROUPS, WIDTH, &two));
    OK(treefold_exact_sum_rows_by_key_f64(TREEFOLD_I32, keys, ROWS, x, ROWS * WIDTH, WIDTH, found, all));
    for (size_t i = 0; i < all; i++)
        CHECK(bits(found[i]) == bits((double)sum[i]));
    OK(treefold_keyed_add(one, TREEFOLD_I32, keys, ROWS, x, ROWS * WIDTH));
    OK(treefold_keyed_remove(one, TREEFOLD_I32, keys, half, x, half * WIDTH));
    OK(treefold_keyed_add(two, TREEFOLD_I32, keys, half, x, half * WIDTH));
    OK(treefold_keyed_merge(one, two));
    OK(treefold_keyed_sums(one, found, all));
    for (size_t i = 0; i < all; i++)
        CHECK(bits(found[i]) == bits((double)sum[i]));
    OK(treefold_keyed_add(two, TREEFOLD_I32, keys + half, ROWS - half, x + half * WIDTH, (ROWS - half) * WIDTH));
    CHECK(are_equal(one, two) == 1);
    double nans[WIDTH] = {1, NAN, 2};
    int32_t key = 4;
    treefold_keyed *wide = NULL, *none = NULL;
    OK(treefold_keyed_create_rows(TREEFOLD_F64, GROUPS, WIDTH + 1, &wide));
    EXPECT(TREEFOLD_ARGUMENT, "`items`: key 4, column 1: 1 NaNs cannot be removed of 0",
           treefold_keyed_remove(one, TREEFOLD_I32, &key, 1, nans, WIDTH));
    EXPECT(TREEFOLD_LENGTH, "", treefold_keyed_add(one, TREEFOLD_I32, &key, 1, nans, WIDTH - 1));
    EXPECT(TREEFOLD_LENGTH, "`keys` has 2 elements, but `items` has 1 rows", treefold_keyed_add(one, TREEFOLD_I32, keys, 2, nans, WIDTH));
    EXPECT(TREEFOLD_LENGTH, "there are 37 keys of 3 columns", treefold_keyed_sums(one, found, GROUPS));
    EXPECT(TREEFOLD_LENGTH, "`other` has 4 columns, but `keyed` has 3", treefold_keyed_merge(one, wide));
    EXPECT(TREEFOLD_ARGUMENT, "`width`", treefold_keyed_create_rows(TREEFOLD_F64, GROUPS, 0, &none));
    EXPECT(TREEFOLD_UNSUPPORTED, "real", treefold_keyed_create_rows(TREEFOLD_I32, GROUPS, 2, &none));
    EXPECT(TREEFOLD_MEMORY, "no memory", treefold_keyed_create_rows(TREEFOLD_F32, SIZE_MAX / 4, 8, &none));
    EXPECT(TREEFOLD_LENGTH, "", treefold_exact_sum_rows_by_key_f64(TREEFOLD_I32, keys, 2, x, 5, WIDTH, found, all));
    EXPECT(TREEFOLD_LENGTH, "", treefold_exact_sum_rows_by_key_f64(TREEFOLD_I32, keys, 2, x, 6, WIDTH, found, all - 1));
    EXPECT(TREEFOLD_LENGTH, "", treefold_exact_sum_rows_by_key_f32(TREEFOLD_I32, keys, 0, small_x, 0, 0, small_found, 0));
    CHECK(are_equal(one, two) == 1 && are_equal(one, wide) == 0 && none == NULL);
    end(one);
    end(two);
    end(wide);
}

/* Sums of integers of each type, and where 64 bits do not hold them. */
#define INTEGERS(EACH)                                                                                                                 \
    EACH(TREEFOLD_I8, int8_t, int64_t) EACH(TREEFOLD_I16, int16_t, int64_t) EACH(TREEFOLD_I32, int32_t, int64_t)                       \
    EACH(TREEFOLD_I64, int64_t, int64_t) EACH(TREEFOLD_U8, uint8_t, uint64_t) EACH(TREEFOLD_U16, uint16_t, uint64_t)                   \
    EACH(TREEFOLD_U32, uint32_t, uint64_t) EACH(TREEFOLD_U64, uint64_t, uint64_t)

#define INTEGER_SUMS(code, c_type, total)                                                                                              \
    do {                                                                                                                               \
        static c_type items[MANY];                                                                                                     \
        integer sum[GROUPS] = {0};                                                                                                     \
        uint64_t count[GROUPS] = {0}, counts[GROUPS];                                                                                  \
        total result[GROUPS];                                                                                                          \
        double mean[GROUPS];                                                                                                           \
        for (size_t i = 0; i < MANY; i++) {                                                                                            \
            items[i] = (c_type)((code) == TREEFOLD_U64 ? llabs(random_integer(i, 50)) : random_integer(i, 50));                        \
            sum[keys[i]] += items[i], count[keys[i]]++;                                                                                \
        }                                                                                                                              \
        OK(treefold_exact_integer_sum_by_key(TREEFOLD_I32, keys, MANY, code, items, MANY, result, GROUPS));                            \
        treefold_keyed *one = make(code, TREEFOLD_EXACT_SUM), *two = make(code, TREEFOLD_EXACT_SUM);                                   \
        OK(treefold_keyed_add(one, TREEFOLD_I32, keys, MANY, items, MANY));                                                            \
        OK(treefold_keyed_merge(one, one));                                                                                            \
        OK(treefold_keyed_remove(one, TREEFOLD_I32, keys, MANY, items, MANY));                                                         \
        OK(treefold_keyed_counts(one, counts, GROUPS));                                                                                \
        OK(treefold_keyed_means(one, mean, GROUPS));                                                                                   \
        for (int key = 0; key < GROUPS; key++) {                                                                                       \
            CHECK((integer)result[key] == sum[key] && counts[key] == count[key]);                                                      \
            if (count[key] > 0)                                                                                                        \
                CHECK(fabs(mean[key] - (double)sum[key] / (double)count[key]) <= 0x1p-52 * fabs(mean[key]));                           \
        }                                                                                                                              \
        CHECK(isnan(mean[GROUPS - 1]));                                                                                                \
        OK(treefold_keyed_add(two, TREEFOLD_I32, keys, MANY, items, MANY));                                                            \
        CHECK(are_equal(one, two) == 1);                                                                                               \
        total held[GROUPS];                                                                                                            \
        OK(treefold_keyed_sums(two, held, GROUPS));                                                                                    \
        CHECK(memcmp(result, held, sizeof result) == 0);                                                                               \
        EXPECT(TREEFOLD_ARGUMENT, "key 36: 1 items cannot be removed of 0",                                                            \
               treefold_keyed_remove(two, TREEFOLD_I32, (int32_t[1]){GROUPS - 1}, 1, items, 1));                                       \
        unsigned char bytes[64 * GROUPS];                                                                                              \
        size_t length = 0;                                                                                                             \
        OK(treefold_keyed_to_bytes(two, bytes, sizeof bytes, &length));                                                                \
        OK(treefold_keyed_add(two, TREEFOLD_I32, keys, 1, items, 1));                                                                  \
        OK(treefold_keyed_of_bytes(two, bytes, length));                                                                               \
        CHECK(are_equal(one, two) == 1);                                                                                               \
        end(one);                                                                                                                      \
        end(two);                                                                                                                      \
    } while (0);

static void integers(void)
{
    draw(20, 0);
    INTEGERS(INTEGER_SUMS)
    int64_t most[3] = {INT64_MAX, 1, 5}, result[2] = {-1, -1};
    uint64_t large[3] = {UINT64_MAX, UINT64_MAX, 3};
    uint8_t few[3] = {1, 1, 0};
    EXPECT(TREEFOLD_ARGUMENT, "the sum of key 1 is 9223372036854775808",
           treefold_exact_integer_sum_by_key(TREEFOLD_U8, few, 3, TREEFOLD_I64, most, 3, result, 2));
    CHECK(result[0] == -1 && result[1] == -1);
    treefold_keyed *sums = NULL, *none = NULL;
    OK(treefold_keyed_create(TREEFOLD_U64, TREEFOLD_EXACT_SUM, 2, &sums));
    OK(treefold_keyed_add(sums, TREEFOLD_U8, few, 3, large, 3));
    EXPECT(TREEFOLD_ARGUMENT, "the sum of key 1 is 36893488147419103230", treefold_keyed_sums(sums, result, 2));
    OK(treefold_keyed_means(sums, found, 2));
    CHECK(found[0] == 3 && found[1] == 0x1p64);
    OK(treefold_keyed_remove(sums, TREEFOLD_U8, few, 1, large, 1));
    OK(treefold_keyed_sums(sums, large, 2));
    CHECK(large[0] == 3 && large[1] == UINT64_MAX);
    EXPECT(TREEFOLD_ARGUMENT, "items are integers",
           treefold_exact_integer_sum_by_key(TREEFOLD_U8, few, 3, TREEFOLD_F64, most, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`type`: there is no type 77",
           treefold_exact_integer_sum_by_key(TREEFOLD_U8, few, 3, 77, most, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`items` and `result` overlap",
           treefold_exact_integer_sum_by_key(TREEFOLD_U8, few, 2, TREEFOLD_I64, most, 2, most + 1, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 0 has key 1, and keys are 0 to 0",
           treefold_exact_integer_sum_by_key(TREEFOLD_U8, few, 2, TREEFOLD_I64, most, 2, result, 1));
    EXPECT(TREEFOLD_UNSUPPORTED, "real numbers", treefold_keyed_create(TREEFOLD_I64, TREEFOLD_EXACT_MOMENTS, 2, &none));
    CHECK(none == NULL);
    end(sums);
}

/* Statistics by their codes, of published cases and of two keys. */
static void statistics(void)
{
    const uint8_t of_x[8] = {0, 0, 1, 1, 1, 1, 1, 0}, one_key[11] = {0};
    const double items[8] = {1, 2, 1e12, 1e7, 6, 5, 8, 7}, others[8] = {2, 1, 3, -1e12, 4, 7, 6, 9};
    const double few[11] = {5000, .01, -.02, .015, .005, -.01, .02, .01, -.03, 0, .01};
    double two[2] = {0}, value = 0;
    treefold_keyed *both = NULL, *powers = NULL;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_CO_MOMENTS, 2, &both));
    OK(treefold_keyed_add_dot(both, TREEFOLD_U8, of_x, 8, items, 8, others, 8));
    OK(treefold_keyed_remove_dot(both, TREEFOLD_U8, of_x + 2, 2, items + 2, 2, others + 2, 2));
    OK(treefold_keyed_statistics(both, TREEFOLD_COVARIANCE, 1, 1, two, 2));
    CHECK(two[0] == 13.5 && two[1] == -1.0 / 3);
    OK(treefold_keyed_statistics(both, TREEFOLD_CORRELATION, 0, 1, two, 2));
    CHECK(two[1] == -0.14285714285714285);
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_POWERS, 1, &powers));
    OK(treefold_keyed_add(powers, TREEFOLD_U8, one_key, 11, few, 11));
    OK(treefold_keyed_remove(powers, TREEFOLD_U8, one_key, 1, few, 1));
    OK(treefold_keyed_statistics(powers, TREEFOLD_KURTOSIS, 0, 1, &value, 1));
    CHECK(value == -0.586894586894587);
    OK(treefold_keyed_statistics(powers, TREEFOLD_KURTOSIS, 0, 0, &value, 1));
    CHECK(value == -0.07326007326007344);
    OK(treefold_keyed_statistics(powers, TREEFOLD_SKEWNESS, 0, 1, &value, 1));
    CHECK(value == -0.7970360876769786);
    OK(treefold_keyed_statistics(powers, TREEFOLD_SKEWNESS, 0, 0, &value, 1));
    CHECK(value == -0.9451685304033433);
    OK(treefold_keyed_means(powers, &value, 1));
    CHECK(fabs(value - 0.001) < 1e-18);
    EXPECT(TREEFOLD_UNSUPPORTED, "no corr of powers by key of TREEFOLD_F64: TREEFOLD_EXACT_CO_MOMENTS has one",
           treefold_keyed_statistics(powers, TREEFOLD_CORRELATION, 0, 1, &value, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`statistic`: there is no statistic 77", treefold_keyed_statistics(powers, 77, 0, 1, &value, 1));
    EXPECT(TREEFOLD_ARGUMENT, "there are no exact figures 10 by key", treefold_keyed_create(TREEFOLD_F64, 10, 1, &(treefold_keyed *){NULL}));
    end(both);
    end(powers);
}

static void errors(void)
{
    double items[3] = {1, 2, 3}, result[2] = {-1, -1};
    int32_t own[3] = {0, 1, 0}, wrong[3] = {0, 1, 2};
    size_t groups = 0;
    treefold_keyed *dot = NULL, *sums = NULL;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_DOT, 2, &dot));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &sums));
    EXPECT(TREEFOLD_LENGTH, "`x` has 3 elements, but `y` has 2",
           treefold_exact_dot_by_key_f64(TREEFOLD_I32, own, 3, items, 3, items, 2, result, 2));
    EXPECT(TREEFOLD_LENGTH, "`keys` has 2 elements, but `x` has 3",
           treefold_exact_weighted_mean_by_key_f64(TREEFOLD_I32, own, 2, items, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key 2, and keys are 0 to 1",
           treefold_exact_dot_by_key_f64(TREEFOLD_I32, wrong, 3, items, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key 2", treefold_exact_max_by_key_f64(TREEFOLD_I32, wrong, 3, items, 3, result, 2));
    EXPECT(TREEFOLD_NULL, "`y`", treefold_exact_dot_by_key_f64(TREEFOLD_I32, own, 3, items, 3, NULL, 3, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`y` and `result` overlap",
           treefold_exact_dot_by_key_f64(TREEFOLD_I32, own, 2, items, 2, result, 2, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`keys` and `result` overlap",
           treefold_exact_min_by_key_f64(TREEFOLD_I64, result, 2, items, 2, result, 2));
    EXPECT(TREEFOLD_UNSUPPORTED, "dot products by key of TREEFOLD_F64 take products", treefold_keyed_add(dot, TREEFOLD_I32, own, 3, items, 3));
    EXPECT(TREEFOLD_UNSUPPORTED, "take items", treefold_keyed_add_dot(sums, TREEFOLD_I32, own, 3, items, 3, items, 3));
    EXPECT(TREEFOLD_LENGTH, "`x` has 2 elements, but `y` has 3", treefold_keyed_add_dot(dot, TREEFOLD_I32, own, 2, items, 2, items, 3));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key 2", treefold_keyed_add_dot(dot, TREEFOLD_I32, wrong, 3, items, 3, items, 3));
    EXPECT(TREEFOLD_UNSUPPORTED, "no mean", treefold_keyed_means(dot, result, 2));
    EXPECT(TREEFOLD_UNSUPPORTED, "no minimum of sums by key of TREEFOLD_F64: TREEFOLD_EXACT_EXTREMA has one",
           treefold_keyed_minima(sums, result, 2));
    EXPECT(TREEFOLD_UNSUPPORTED, "are their numbers", treefold_keyed_keys(sums, result, 2));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_keyed_groups(sums, NULL));
    EXPECT(TREEFOLD_NULL, "`keyed` is NULL", treefold_keyed_groups(NULL, &groups));
    EXPECT(TREEFOLD_NULL, "NULL", treefold_keyed_equal(sums, NULL, &(int){0}));
    EXPECT(TREEFOLD_NULL, "`needed`", treefold_keyed_to_bytes(sums, NULL, 0, NULL));
    OK(treefold_keyed_sums(dot, found, 2));
    CHECK(result[0] == -1 && result[1] == -1 && bits(found[0]) == bits(0.0) && bits(found[1]) == bits(0.0));
    end(dot);
    end(sums);
}

/* A state that is merged with itself again and again has no room for more at last, and says so. */
static void limits(void)
{
    const int figures[3] = {TREEFOLD_EXACT_SUM, TREEFOLD_EXACT_MOMENTS, TREEFOLD_EXACT_SUM};
    const treefold_type types[3] = {TREEFOLD_F64, TREEFOLD_F32, TREEFOLD_I64};
    const double large[1] = {DBL_MAX};
    const float small[1] = {FLT_MAX};
    const int64_t whole[1] = {INT64_MAX};
    const void *items[3] = {large, small, whole};
    const uint8_t key[1] = {1};
    for (int i = 0; i < 3; i++) {
        treefold_keyed *state = NULL;
        treefold_status status = TREEFOLD_OK;
        int times = 0;
        OK(treefold_keyed_create(types[i], figures[i], 2, &state));
        OK(treefold_keyed_add(state, TREEFOLD_U8, key, 1, items[i], 1));
        while (status == TREEFOLD_OK && times < 200)
            status = treefold_keyed_merge(state, state), times++;
        CHECK(status == TREEFOLD_ARGUMENT && (times == 63 || types[i] == TREEFOLD_I64));
        EXPECT(TREEFOLD_ARGUMENT, "`other`", treefold_keyed_merge(state, state));
        end(state);
    }
    treefold_keyed *none = NULL;
    EXPECT(TREEFOLD_MEMORY, "memory", treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, (size_t)1 << 50, &none));
    EXPECT(TREEFOLD_MEMORY, "memory", treefold_keyed_create_rows(TREEFOLD_F64, SIZE_MAX / 2, 4, &none));
}

int main(void)
{
    limits();
    dots();
    weighted_means();
    extrema();
    rows();
    integers();
    statistics();
    errors();
    if (failures == 0)
        printf("keyed states hold what integers do\n");
    return failures != 0;
}
