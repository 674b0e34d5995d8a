/* Windows by an index: against sums of integers of 128 bits, by indices of every type, and with what cannot be. */
#include "check.h"
#include "integers.h"

#include <float.h>
#include <math.h>

enum { ITEMS = 400 };

static double x[ITEMS], sums[ITEMS], means[ITEMS];
static float small_x[ITEMS], small_sums[ITEMS];
static integer whole[ITEMS], indices[ITEMS];

/* Indices from `begin` on, with steps of which some are 0 and one is far. */
static void draw(integer begin, integer far)
{
    for (size_t i = 0; i < ITEMS; i++) {
        whole[i] = random_integer(i, 53) * ((integer)1 << (i % 40));
        x[i] = (double)whole[i];
        small_x[i] = (float)random_integer(i, 20);
        indices[i] = begin;
        begin += i % 3 == 0 ? 0 : i == 200 ? far : (integer)(i % 2);
    }
}

/* A window that ends at item i has those whose index is more than that of i less a width. */
static void check(integer width, size_t least)
{
    for (size_t i = 0; i < ITEMS; i++) {
        integer sum = 0, small = 0;
        size_t count = 0;
        for (size_t j = 0; j <= i; j++)
            if (indices[j] > indices[i] - width)
                sum += whole[j], small += (integer)small_x[j], count++;
        if (count < least) {
            CHECK(isnan(sums[i]) && isnan(means[i]) && isnan(small_sums[i]));
            continue;
        }
        CHECK(bits(sums[i]) == bits((double)sum) && small_sums[i] == (float)small);
        CHECK(fabs(means[i] - (double)sum / (double)count) <= DBL_EPSILON * fabs(means[i]));
    }
}

#define RANGES(code, c_type, begin, far, wide)                                                                                         \
    do {                                                                                                                               \
        static c_type index[ITEMS];                                                                                                    \
        const c_type widths[3] = {1, 7, wide};                                                                                         \
        draw(begin, far);                                                                                                              \
        for (size_t i = 0; i < ITEMS; i++)                                                                                             \
            index[i] = (c_type)indices[i];                                                                                             \
        for (size_t w = 0; w < 3; w++)                                                                                                 \
            for (size_t least = 0; least < 8; least += 3) {                                                                            \
                const c_type *width = &widths[w];                                                                                      \
                OK(treefold_exact_rolling_sum_by_range_f64(code, index, ITEMS, x, ITEMS, width, least, sums, ITEMS));                  \
                OK(treefold_exact_rolling_mean_by_range_f64(code, index, ITEMS, x, ITEMS, width, least, means, ITEMS));                \
                OK(treefold_exact_rolling_sum_by_range_f32(code, index, ITEMS, small_x, ITEMS, width, least, small_sums, ITEMS));      \
                check((integer)widths[w], least);                                                                                      \
            }                                                                                                                          \
    } while (0)

static void every_type(void)
{
    RANGES(TREEFOLD_I8, int8_t, -128, 40, 127);
    RANGES(TREEFOLD_U8, uint8_t, 0, 40, 200);
    RANGES(TREEFOLD_I16, int16_t, -32768, 60000, 32767);
    RANGES(TREEFOLD_U16, uint16_t, 0, 60000, 65535);
    RANGES(TREEFOLD_I32, int32_t, INT32_MIN, UINT32_MAX - 1000, INT32_MAX);
    RANGES(TREEFOLD_U32, uint32_t, 0, UINT32_MAX - 1000, UINT32_MAX);
    /* Differences are more than the type holds. */
    RANGES(TREEFOLD_I64, int64_t, INT64_MIN, UINT64_MAX - 1000, INT64_MAX);
    RANGES(TREEFOLD_U64, uint64_t, 0, UINT64_MAX - 1000, UINT64_MAX);
    RANGES(TREEFOLD_F32, float, -100, 100000, 5000);
    RANGES(TREEFOLD_F64, double, -100, (integer)1 << 50, 5000);
}

static void errors(void)
{
    double index[3] = {0, 1, 2}, items[3] = {1, INFINITY, 3}, result[3] = {-1, -1, -1}, width = 1.5, none = 0;
    int32_t falls[3] = {0, 2, 1}, below = -4, two = 2;
    float of_floats[3] = {-1, -1, -1}, floats[3] = {1, 2, 4};
    EXPECT(TREEFOLD_ARGUMENT, "`index`: index 2 is not at least the one before",
           treefold_exact_rolling_sum_by_range_f64(TREEFOLD_I32, falls, 3, items, 3, &two, 1, result, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`width`", treefold_exact_rolling_sum_by_range_f64(TREEFOLD_I32, falls, 3, items, 3, &below, 1, result, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`width`", treefold_exact_rolling_mean_by_range_f64(TREEFOLD_F64, index, 3, items, 3, &none, 1, result, 3));
    none = NAN;
    EXPECT(TREEFOLD_ARGUMENT, "`width`", treefold_exact_rolling_mean_by_range_f64(TREEFOLD_F64, index, 3, items, 3, &none, 1, result, 3));
    EXPECT(TREEFOLD_NULL, "`width`", treefold_exact_rolling_mean_by_range_f64(TREEFOLD_F64, index, 3, items, 3, NULL, 1, result, 3));
    EXPECT(TREEFOLD_NULL, "`index`", treefold_exact_rolling_mean_by_range_f64(TREEFOLD_F64, NULL, 3, items, 3, &width, 1, result, 3));
    EXPECT(TREEFOLD_LENGTH, "`index` has 2 elements, but `items` has 3",
           treefold_exact_rolling_sum_by_range_f64(TREEFOLD_F64, index, 2, items, 3, &width, 1, result, 3));
    EXPECT(TREEFOLD_LENGTH, "`result` has 2 elements, but `items` has 3",
           treefold_exact_rolling_sum_by_range_f64(TREEFOLD_F64, index, 3, items, 3, &width, 1, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`index_type`", treefold_exact_rolling_sum_by_range_f64(TREEFOLD_C64, index, 1, items, 1, items, 1, result, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`index_type`: there is no type 0",
           treefold_exact_rolling_sum_by_range_f64(0, index, 3, items, 3, &width, 1, result, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`width` and `result` overlap",
           treefold_exact_rolling_sum_by_range_f64(TREEFOLD_F64, index, 3, items, 3, &result[1], 1, result, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`index` and `result` overlap",
           treefold_exact_rolling_sum_by_range_f64(TREEFOLD_F64, result, 3, items, 3, &width, 1, result, 3));
    CHECK(result[0] == -1 && result[1] == -1 && result[2] == -1);
    index[1] = NAN;
    EXPECT(TREEFOLD_ARGUMENT, "index 1 is not", treefold_exact_rolling_sum_by_range_f64(TREEFOLD_F64, index, 3, items, 3, &width, 1, result, 3));
    index[1] = 1;
    OK(treefold_exact_rolling_sum_by_range_f64(TREEFOLD_F64, index, 3, items, 3, &width, 1, result, 3));
    CHECK(result[0] == 1 && result[1] == INFINITY && result[2] == INFINITY);
    width = 1;
    OK(treefold_exact_rolling_mean_by_range_f64(TREEFOLD_F64, index, 3, items, 3, &width, 1, result, 3));
    CHECK(result[0] == 1 && result[1] == INFINITY && result[2] == 3);
    OK(treefold_exact_rolling_mean_by_range_f32(TREEFOLD_F64, index, 3, floats, 3, &(double){2}, 2, of_floats, 3));
    CHECK(isnan(of_floats[0]) && of_floats[1] == 1.5f && of_floats[2] == 3);
    OK(treefold_exact_rolling_sum_by_range_f64(TREEFOLD_F64, NULL, 0, NULL, 0, &width, 1, NULL, 0));
}

int main(void)
{
    every_type();
    errors();
    if (failures == 0)
        printf("windows by an index have the exact sums of their items\n");
    return failures != 0;
}
