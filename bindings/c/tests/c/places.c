/* Every function of treefold.h, with results that are NULL, not aligned, or in the way of what it reads or writes: c.md, Errors. */
#include "places.h"

#include <complex.h>

/* A function's call with one result. */
#define CALL(function, result, arguments)                                                                                              \
    static treefold_status function##_##result(void *result) { return function arguments; }

/* Its row: the alignment of the result, its bytes, and what it must be apart from. */
#define ROW(function, result, alignment, bytes, ...) {#function, #result, function##_##result, alignment, bytes, {__VA_ARGS__}}

/* An array and its length. */
#define ITEMS(type) (const void *)items, ROOM_BYTES / sizeof(type)
#define OTHERS(type) (const void *)others, ROOM_BYTES / sizeof(type)

/* For each function, by the caller's thread and by the pool. */
#define BOTH(MACRO, name, ...) MACRO(treefold_##name, __VA_ARGS__) MACRO(treefold_par_##name, __VA_ARGS__)

#define CALL_ONE(function, type) CALL(function, result, (ITEMS(type), result))
#define CALL_LANES(function, type) CALL(function, result, (ITEMS(type), 16, result))
#define CALL_DOT(function, type) CALL(function, result, (ITEMS(type), OTHERS(type), result))
#define CALL_SUMS(function, type)                                                                                                      \
    CALL(function, sum, (ITEMS(type), sum, (void *)(results + ROOM_BYTES)))                                                            \
    CALL(function, absolute_sum, (ITEMS(type), (void *)(results + ROOM_BYTES), absolute_sum))

#define ROW_ONE(function, type) ROW(function, result, _Alignof(type), sizeof(type), {items, "`x`"}),
#define ROW_LANES(function, type) ROW_ONE(function, type)
#define ROW_DOT(function, type) ROW(function, result, _Alignof(type), sizeof(type), {items, "`x`"}, {others, "`y`"}),
#define ROW_SUMS(function, type)                                                                                                       \
    ROW(function, sum, _Alignof(type), sizeof(type), {items, "`x`"}, {results + ROOM_BYTES, "`absolute_sum`"}),                        \
        ROW(function, absolute_sum, _Alignof(type), sizeof(type), {items, "`x`"}, {results + ROOM_BYTES, "`sum`"}),

#define ALL(ONE, LANES, DOT, SUMS)                                                                                                     \
    BOTH(LANES, sum_lanes_f32, float)                                                                                                  \
    BOTH(LANES, sum_lanes_f64, double)                                                                                                 \
    BOTH(ONE, sum_f32, float)                                                                                                          \
    BOTH(ONE, sum_f64, double)                                                                                                         \
    BOTH(ONE, sum_c32, float complex)                                                                                                  \
    BOTH(ONE, sum_c64, double complex)                                                                                                 \
    BOTH(ONE, squared_norm_f32, float)                                                                                                 \
    BOTH(ONE, squared_norm_f64, double)                                                                                                \
    BOTH(ONE, exact_sum_f32, float)                                                                                                    \
    BOTH(ONE, exact_sum_f64, double)                                                                                                   \
    BOTH(ONE, exact_norm_f32, float)                                                                                                   \
    BOTH(ONE, exact_norm_f64, double)                                                                                                  \
    BOTH(DOT, dot_f32, float)                                                                                                          \
    BOTH(DOT, dot_f64, double)                                                                                                         \
    BOTH(DOT, exact_dot_f32, float)                                                                                                    \
    BOTH(DOT, exact_dot_f64, double)                                                                                                   \
    BOTH(SUMS, sum_and_absolute_sum_f32, float)                                                                                        \
    BOTH(SUMS, sum_and_absolute_sum_f64, double)

ALL(CALL_ONE, CALL_LANES, CALL_DOT, CALL_SUMS)

static const void *pointers[2] = {items, others};
static _Alignas(16) unsigned char nothing[ROOM_BYTES];
static int32_t one = 1;

/* The left item. */
static int left_one(void *context, const void *left, const void *right, void *out)
{
    (void)context;
    (void)right;
    memcpy(out, left, 8);
    return 0;
}

#define F64_SUM TREEFOLD_F64, TREEFOLD_SUM
CALL(treefold_fold, result, (F64_SUM, ITEMS(double), result))
CALL(treefold_par_fold, result, (TREEFOLD_I16, TREEFOLD_MAX, ITEMS(int16_t), result))
CALL(treefold_fold_rows, result, (F64_SUM, ITEMS(double), 2, result, 2))
CALL(treefold_par_fold_rows, result, (TREEFOLD_U32, TREEFOLD_SUM, ITEMS(uint32_t), 4, result, 4))
CALL(treefold_fields, result, (F64_SUM, pointers, 2, 8, result))
CALL(treefold_par_fields, result, (TREEFOLD_F32, TREEFOLD_SUM, pointers, 2, 16, result))
CALL(treefold_fold_user, result, (items, 8, 8, left_one, NULL, nothing, result))
CALL(treefold_par_fold_user, result, (items, 16, 4 * (size_t)one, left_one, NULL, nothing, result))
CALL(treefold_exact_sum_rows_f32, result, (ITEMS(float), 4, result, 4))
CALL(treefold_exact_sum_rows_f64, result, (ITEMS(double), 4, result, 4))

/* Results by key: eight keys that are 0. Those of windows: one for each item. */
#define KEYS TREEFOLD_U64, others, 8
CALL(treefold_exact_sum_by_key_f32, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_exact_sum_by_key_f64, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_par_exact_sum_by_key_f32, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_par_exact_sum_by_key_f64, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_exact_mean_by_key_f32, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_exact_mean_by_key_f64, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_exact_variance_by_key_f32, result, (KEYS, (const void *)items, 8, 1, result, 2))
CALL(treefold_exact_variance_by_key_f64, result, (KEYS, (const void *)items, 8, 1, result, 2))
CALL(treefold_exact_standard_deviation_by_key_f32, result, (KEYS, (const void *)items, 8, 1, result, 2))
CALL(treefold_exact_standard_deviation_by_key_f64, result, (KEYS, (const void *)items, 8, 1, result, 2))
CALL(treefold_exact_rolling_sum_f32, result, (ITEMS(float), 3, 1, result, 16))
CALL(treefold_exact_rolling_sum_f64, result, (ITEMS(double), 3, 1, result, 8))
CALL(treefold_exact_rolling_mean_f32, result, (ITEMS(float), 3, 1, result, 16))
CALL(treefold_exact_rolling_mean_f64, result, (ITEMS(double), 3, 1, result, 8))
CALL(treefold_exact_min_by_key_f32, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_exact_min_by_key_f64, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_exact_max_by_key_f32, result, (KEYS, (const void *)items, 8, result, 2))
CALL(treefold_exact_max_by_key_f64, result, (KEYS, (const void *)items, 8, result, 2))
#define PAIRS KEYS, (const void *)items, 8, (const void *)nothing, 8
CALL(treefold_exact_dot_by_key_f32, result, (PAIRS, result, 2))
CALL(treefold_exact_dot_by_key_f64, result, (PAIRS, result, 2))
CALL(treefold_exact_weighted_mean_by_key_f32, result, (PAIRS, result, 2))
CALL(treefold_exact_weighted_mean_by_key_f64, result, (PAIRS, result, 2))
CALL(treefold_exact_sum_rows_by_key_f32, result, (TREEFOLD_U64, others, 4, (const void *)items, 8, 2, result, 4))
CALL(treefold_exact_sum_rows_by_key_f64, result, (TREEFOLD_U64, others, 4, (const void *)items, 8, 2, result, 4))
CALL(treefold_exact_integer_sum_by_key, result, (KEYS, TREEFOLD_I64, items, 8, result, 2))
static double width = 1;
#define RANGES TREEFOLD_F64, others, 8, (const void *)items, 8, &width, 1
CALL(treefold_exact_rolling_sum_by_range_f32, result, (RANGES, result, 8))
CALL(treefold_exact_rolling_sum_by_range_f64, result, (RANGES, result, 8))
CALL(treefold_exact_rolling_mean_by_range_f32, result, (RANGES, result, 8))
CALL(treefold_exact_rolling_mean_by_range_f64, result, (RANGES, result, 8))

/* Accumulators and keyed states. */
static treefold_accumulator *sum, *moments;
static treefold_keyed *keyed_sums, *keyed_moments, *keyed_extrema, *hashed;

static treefold_status treefold_accumulator_create_result(void *place)
{
    treefold_status status = treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, place);
    if (status == TREEFOLD_OK) {
        treefold_accumulator *own;
        memcpy(&own, place, sizeof own);
        OK(treefold_accumulator_destroy(&own));
    }
    return status;
}

/* What a call has left, if it has, is ended. */
static treefold_status end_keyed(void *place, treefold_status status)
{
    if (status == TREEFOLD_OK) {
        treefold_keyed *own;
        memcpy(&own, place, sizeof own);
        OK(treefold_keyed_destroy(&own));
    }
    return status;
}

static treefold_status treefold_keyed_create_result(void *place)
{
    return end_keyed(place, treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, place));
}

static treefold_status treefold_keyed_create_rows_result(void *place)
{
    return end_keyed(place, treefold_keyed_create_rows(TREEFOLD_F64, 2, 2, place));
}

static treefold_status treefold_keyed_create_hashed_result(void *place)
{
    return end_keyed(place, treefold_keyed_create_hashed(TREEFOLD_F64, TREEFOLD_I64, place));
}

/* Handles that a call ends. */
static treefold_status treefold_accumulator_destroy_accumulator(void *place)
{
    treefold_accumulator *own = NULL;
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &own));
    if (place == results)
        memcpy(place, &own, sizeof own);
    treefold_status status = treefold_accumulator_destroy(place);
    if (status != TREEFOLD_OK) {
        treefold_accumulator *left = own;
        OK(treefold_accumulator_destroy(&left));
    }
    return status;
}

static treefold_status treefold_keyed_destroy_keyed(void *place)
{
    treefold_keyed *own = NULL;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &own));
    if (place == results)
        memcpy(place, &own, sizeof own);
    treefold_status status = treefold_keyed_destroy(place);
    if (status != TREEFOLD_OK)
        OK(treefold_keyed_destroy(&own));
    return status;
}

CALL(treefold_accumulator_count, result, (sum, result))
CALL(treefold_accumulator_value, result, (sum, result))
CALL(treefold_accumulator_mean, result, (sum, result))
CALL(treefold_accumulator_variance, result, (moments, 1, result))
CALL(treefold_accumulator_standard_deviation, result, (moments, 1, result))
CALL(treefold_accumulator_equal, result, (sum, sum, result))
CALL(treefold_accumulator_to_bytes, bytes, (sum, bytes, ROOM_BYTES, (void *)(results + ROOM_BYTES)))
CALL(treefold_accumulator_to_bytes, needed, (sum, nothing, ROOM_BYTES, needed))
CALL(treefold_keyed_sums, result, (keyed_sums, result, 2))
CALL(treefold_keyed_counts, result, (keyed_moments, result, 2))
CALL(treefold_keyed_means, result, (keyed_moments, result, 2))
CALL(treefold_keyed_minima, result, (keyed_extrema, result, 2))
CALL(treefold_keyed_maxima, result, (keyed_extrema, result, 2))
CALL(treefold_keyed_groups, result, (keyed_sums, result))
CALL(treefold_keyed_keys, result, (hashed, result, 2))
CALL(treefold_keyed_equal, result, (keyed_sums, keyed_sums, result))
CALL(treefold_keyed_to_bytes, bytes, (keyed_sums, bytes, ROOM_BYTES, (void *)(results + ROOM_BYTES)))
CALL(treefold_keyed_to_bytes, needed, (keyed_sums, nothing, ROOM_BYTES, needed))
CALL(treefold_keyed_variances, result, (keyed_moments, 1, result, 2))
CALL(treefold_keyed_standard_deviations, result, (keyed_moments, 1, result, 2))
CALL(treefold_keyed_statistics, result, (keyed_moments, TREEFOLD_VARIANCE, 1, 1, result, 2))

static const struct place table[] = {
    ALL(ROW_ONE, ROW_LANES, ROW_DOT, ROW_SUMS)
    ROW(treefold_fold, result, 8, 8, {items, "`items`"}),
    ROW(treefold_par_fold, result, 2, 2, {items, "`items`"}),
    ROW(treefold_fold_rows, result, 8, 16, {items, "`items`"}),
    ROW(treefold_par_fold_rows, result, 4, 16, {items, "`items`"}),
    ROW(treefold_fields, result, 8, 16, {items, "`fields[0]`"}, {others, "`fields[1]`"}, {(unsigned char *)pointers, "`fields`"}),
    ROW(treefold_par_fields, result, 4, 8, {items, "`fields[0]`"}, {others, "`fields[1]`"}, {(unsigned char *)pointers, "`fields`"}),
    ROW(treefold_fold_user, result, 1, 8, {items, "`items`"}, {nothing, "`empty`"}),
    ROW(treefold_par_fold_user, result, 1, 4, {items, "`items`"}, {nothing, "`empty`"}),
    ROW(treefold_exact_sum_rows_f32, result, 4, 16, {items, "`items`"}),
    ROW(treefold_exact_sum_rows_f64, result, 8, 32, {items, "`items`"}),
    ROW(treefold_exact_sum_by_key_f32, result, 4, 8, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_sum_by_key_f64, result, 8, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_par_exact_sum_by_key_f32, result, 4, 8, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_par_exact_sum_by_key_f64, result, 8, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_mean_by_key_f32, result, 4, 8, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_mean_by_key_f64, result, 8, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_variance_by_key_f32, result, 4, 8, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_variance_by_key_f64, result, 8, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_standard_deviation_by_key_f32, result, 4, 8, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_standard_deviation_by_key_f64, result, 8, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_rolling_sum_f32, result, 4, 64, {items, "`items`"}),
    ROW(treefold_exact_rolling_sum_f64, result, 8, 64, {items, "`items`"}),
    ROW(treefold_exact_rolling_mean_f32, result, 4, 64, {items, "`items`"}),
    ROW(treefold_exact_rolling_mean_f64, result, 8, 64, {items, "`items`"}),
    ROW(treefold_exact_min_by_key_f32, result, 4, 8, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_min_by_key_f64, result, 8, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_max_by_key_f32, result, 4, 8, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_max_by_key_f64, result, 8, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_dot_by_key_f32, result, 4, 8, {items, "`x`"}, {nothing, "`y`"}, {others, "`keys`"}),
    ROW(treefold_exact_dot_by_key_f64, result, 8, 16, {items, "`x`"}, {nothing, "`y`"}, {others, "`keys`"}),
    ROW(treefold_exact_weighted_mean_by_key_f32, result, 4, 8, {items, "`x`"}, {nothing, "`y`"}, {others, "`keys`"}),
    ROW(treefold_exact_weighted_mean_by_key_f64, result, 8, 16, {items, "`x`"}, {nothing, "`y`"}, {others, "`keys`"}),
    ROW(treefold_exact_sum_rows_by_key_f32, result, 4, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_sum_rows_by_key_f64, result, 8, 32, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_integer_sum_by_key, result, 8, 16, {items, "`items`"}, {others, "`keys`"}),
    ROW(treefold_exact_rolling_sum_by_range_f32, result, 4, 32, {items, "`items`"}, {others, "`index`"}, {(unsigned char *)&width, "`width`"}),
    ROW(treefold_exact_rolling_sum_by_range_f64, result, 8, 64, {items, "`items`"}, {others, "`index`"}, {(unsigned char *)&width, "`width`"}),
    ROW(treefold_exact_rolling_mean_by_range_f32, result, 4, 32, {items, "`items`"}, {others, "`index`"}, {(unsigned char *)&width, "`width`"}),
    ROW(treefold_exact_rolling_mean_by_range_f64, result, 8, 64, {items, "`items`"}, {others, "`index`"}, {(unsigned char *)&width, "`width`"}),
    ROW(treefold_accumulator_create, result, 8, 8, {NULL, NULL}),
    ROW(treefold_accumulator_destroy, accumulator, 8, 8, {NULL, NULL}),
    ROW(treefold_accumulator_count, result, 8, 8, {NULL, NULL}),
    ROW(treefold_accumulator_value, result, 8, 8, {NULL, NULL}),
    ROW(treefold_accumulator_mean, result, 8, 8, {NULL, NULL}),
    ROW(treefold_accumulator_variance, result, 8, 8, {NULL, NULL}),
    ROW(treefold_accumulator_standard_deviation, result, 8, 8, {NULL, NULL}),
    ROW(treefold_accumulator_equal, result, 4, 4, {NULL, NULL}),
    ROW(treefold_accumulator_to_bytes, bytes, 1, 56, {results + ROOM_BYTES, "`needed`"}),
    ROW(treefold_accumulator_to_bytes, needed, 8, 8, {nothing, "`bytes`"}),
    ROW(treefold_keyed_create, result, 8, 8, {NULL, NULL}),
    ROW(treefold_keyed_create_rows, result, 8, 8, {NULL, NULL}),
    ROW(treefold_keyed_create_hashed, result, 8, 8, {NULL, NULL}),
    ROW(treefold_keyed_destroy, keyed, 8, 8, {NULL, NULL}),
    ROW(treefold_keyed_sums, result, 8, 16, {NULL, NULL}),
    ROW(treefold_keyed_counts, result, 8, 16, {NULL, NULL}),
    ROW(treefold_keyed_means, result, 8, 16, {NULL, NULL}),
    ROW(treefold_keyed_minima, result, 8, 16, {NULL, NULL}),
    ROW(treefold_keyed_maxima, result, 8, 16, {NULL, NULL}),
    ROW(treefold_keyed_groups, result, 8, 8, {NULL, NULL}),
    ROW(treefold_keyed_keys, result, 8, 16, {NULL, NULL}),
    ROW(treefold_keyed_equal, result, 4, 4, {NULL, NULL}),
    ROW(treefold_keyed_to_bytes, bytes, 1, 34, {results + ROOM_BYTES, "`needed`"}),
    ROW(treefold_keyed_to_bytes, needed, 8, 8, {nothing, "`bytes`"}),
    ROW(treefold_keyed_variances, result, 8, 16, {NULL, NULL}),
    ROW(treefold_keyed_standard_deviations, result, 8, 16, {NULL, NULL}),
    ROW(treefold_keyed_statistics, result, 8, 16, {NULL, NULL}),
};

/* A result that begins before the items and ends in them, or begins with their last element. */
static void ends(void)
{
    double row[6] = {1, 2, 3, 4, 5, 6};
    EXPECT(TREEFOLD_ARGUMENT, "`items` and `result` overlap", treefold_fold_rows(F64_SUM, row + 1, 4, 2, row, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`items` and `result` overlap", treefold_fold_rows(F64_SUM, row, 4, 2, row + 3, 2));
    OK(treefold_fold_rows(F64_SUM, row, 4, 2, row + 4, 2));
    CHECK(row[4] == 4 && row[5] == 6);
    EXPECT(TREEFOLD_ARGUMENT, "`x` and `result` overlap", treefold_sum_f64(row, 4, row + 3));
    OK(treefold_sum_f64(row, 4, row + 4));
    CHECK(row[4] == 10);
    EXPECT(TREEFOLD_ARGUMENT, "`x`: its address is not a multiple of 4", treefold_sum_c32((const void *)(items + 2), 1, (void *)results));
    EXPECT(TREEFOLD_ARGUMENT, "`fields`: its address is not a multiple of 8",
           treefold_fields(F64_SUM, (const void *)((const char *)pointers + 4), 1, 8, results));
}

int main(void)
{
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &sum));
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, &moments));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &keyed_sums));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, 2, &keyed_moments));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_EXTREMA, 2, &keyed_extrema));
    OK(treefold_keyed_create_hashed(TREEFOLD_F64, TREEFOLD_I64, &hashed));
    OK(treefold_keyed_add(hashed, TREEFOLD_I64, (int64_t[2]){3, -4}, 2, items, 2));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check_place(&table[i], 0);
    ends();
    OK(treefold_accumulator_destroy(&sum));
    OK(treefold_accumulator_destroy(&moments));
    OK(treefold_keyed_destroy(&keyed_sums));
    OK(treefold_keyed_destroy(&keyed_moments));
    OK(treefold_keyed_destroy(&keyed_extrema));
    OK(treefold_keyed_destroy(&hashed));
    return failures != 0;
}
