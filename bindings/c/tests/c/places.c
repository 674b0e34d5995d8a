/* Tests every function of treefold.h and treefold_aggregates.h with pointers to results that are NULL or misaligned, or that overlap an
   array that the function reads or writes. */
#include "places.h"

#include <treefold_aggregates.h>

/* The data that calls read besides `items` and `others`. */
static const void *pointers[2] = {items, others};
static _Alignas(16) unsigned char nothing[ROOM_BYTES];
static double width = 1;
static treefold_window window = {.index = others, .width = &width, .index_type = TREEFOLD_F64};
static treefold_accumulator *accumulator;
static treefold_keyed *keyed, *hashed;
static uint64_t state[8];
static unsigned char bytes[ROOM_BYTES];
static size_t length;

/* An operator that returns the left item. */
static int left_one(void *context, const void *left, const void *right, void *out)
{
    (void)context;
    (void)right;
    memcpy(out, left, 8);
    return 0;
}

/* A team of one thread. */
static void alone(void *context, size_t parts, treefold_part part, void *job)
{
    (void)context;
    for (size_t i = 0; i < parts; i++)
        part(job, i);
}

/* Defines two functions for a kind of handles. made_KIND destroys the handle that a successful call has written. end_KIND calls
   treefold_KIND_destroy for a place; if the place is valid, end_KIND first stores a new handle there. */
#define HANDLES(kind, ...)                                                                                                             \
    static treefold_status made_##kind(void *place, treefold_status status)                                                            \
    {                                                                                                                                  \
        if (status == TREEFOLD_OK)                                                                                                     \
            OK(treefold_##kind##_destroy(place));                                                                                      \
        return status;                                                                                                                 \
    }                                                                                                                                  \
    static treefold_status end_##kind(void *place)                                                                                     \
    {                                                                                                                                  \
        treefold_##kind *own = NULL;                                                                                                   \
        if (place == results) {                                                                                                        \
            OK(treefold_##kind##_create(__VA_ARGS__, &own));                                                                           \
            memcpy(place, &own, sizeof own);                                                                                           \
        }                                                                                                                              \
        return treefold_##kind##_destroy(place);                                                                                       \
    }
HANDLES(accumulator, TREEFOLD_F64, TREEFOLD_EXACT_SUM)
HANDLES(keyed, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2)

/* Arrays with their lengths, and arrays with their names in error messages. */
#define X(type) (const void *)items, ROOM_BYTES / sizeof(type)
#define Y(type) (const void *)others, ROOM_BYTES / sizeof(type)
#define Z(type) (const void *)nothing, ROOM_BYTES / sizeof(type)
#define AT_X {items, "`x`"}
#define AT_Y {others, "`y`"}
#define AT_ITEMS {items, "`items`"}
#define STATE (treefold_aggregate *)state
#define SECOND (void *)(results + ROOM_BYTES)
#define SUM_OF_F64 TREEFOLD_F64, TREEFOLD_SUM
#define EXACT_SUM_OF_F64 TREEFOLD_F64, TREEFOLD_EXACT_SUM

#define RESULTS                                                                                                                        \
    ROW(treefold_sum_f32, result, treefold_sum_f32(X(float), result), 4, {AT_X})                                                       \
    ROW(treefold_sum_f64, result, treefold_sum_f64(X(double), result), 8, {AT_X})                                                      \
    ROW(treefold_dot_f32, result, treefold_dot_f32(X(float), Y(float), result), 4, {AT_X, AT_Y})                                       \
    ROW(treefold_dot_f64, result, treefold_dot_f64(X(double), Y(double), result), 8, {AT_X, AT_Y})                                     \
    ROW(treefold_fold, result, treefold_fold(TREEFOLD_I16, TREEFOLD_MAX, X(int16_t), result), 2, {AT_ITEMS})                           \
    ROW(treefold_fold_rows, result, treefold_fold_rows(SUM_OF_F64, X(double), 2, result, 2), 8, {AT_ITEMS})                            \
    ROW(treefold_fields, result, treefold_fields(SUM_OF_F64, pointers, 2, 8, result), 8,                                               \
        {{items, "`fields[0]`"}, {others, "`fields[1]`"}, {pointers, "`fields`"}})                                                     \
    ROW(treefold_fold_user, result, treefold_fold_user(items, 8, 8, left_one, NULL, nothing, result), 1,                               \
        {AT_ITEMS, {nothing, "`empty`"}})                                                                                              \
    ROW(treefold_dot, result, treefold_dot(TREEFOLD_F64, X(double), Y(double), result), 8, {AT_X, AT_Y})                               \
    ROW(treefold_sum_lanes, result, treefold_sum_lanes(TREEFOLD_F32, X(float), 16, result), 4, {AT_X})                                 \
    ROW(treefold_sum_and_absolute_sum, sum, treefold_sum_and_absolute_sum(TREEFOLD_F64, X(double), sum, SECOND), 8,                    \
        {AT_X, {SECOND, "`absolute_sum`"}})                                                                                            \
    ROW(treefold_sum_and_absolute_sum, absolute_sum,                                                                                   \
        treefold_sum_and_absolute_sum(TREEFOLD_F32, X(float), SECOND, absolute_sum), 4, {AT_X, {SECOND, "`sum`"}})                     \
    ROW(treefold_fold_on, result, treefold_fold_on(SUM_OF_F64, X(double), alone, NULL, result), 8, {AT_ITEMS})                         \
    ROW(treefold_dot_on, result, treefold_dot_on(TREEFOLD_F64, X(double), Y(double), alone, NULL, result), 8, {AT_X, AT_Y})            \
    ROW(treefold_exact_sum_f32, result, treefold_exact_sum_f32(X(float), result), 4, {AT_X})                                           \
    ROW(treefold_exact_sum_f64, result, treefold_exact_sum_f64(X(double), result), 8, {AT_X})                                          \
    ROW(treefold_exact_dot_f32, result, treefold_exact_dot_f32(X(float), Y(float), result), 4, {AT_X, AT_Y})                           \
    ROW(treefold_exact_dot_f64, result, treefold_exact_dot_f64(X(double), Y(double), result), 8, {AT_X, AT_Y})                         \
    ROW(treefold_exact, result, treefold_exact(TREEFOLD_F64, TREEFOLD_EXACT_COVARIANCE, 1, X(double), Y(double), result), 8,           \
        {AT_X, AT_Y})                                                                                                                  \
    ROW(treefold_by_key, result,                                                                                                       \
        treefold_by_key(TREEFOLD_F64, TREEFOLD_EXACT_DOT, 0, TREEFOLD_U64, Y(uint64_t), X(double), Z(double), result, 2), 8,           \
        {AT_X, {others, "`keys`"}, {nothing, "`y`"}})                                                                                  \
    ROW(treefold_by_key_rows, result, treefold_by_key_rows(EXACT_SUM_OF_F64, 0, 2, TREEFOLD_U64, others, 4, X(double), result, 2), 8,  \
        {AT_ITEMS, {others, "`keys`"}})                                                                                                \
    ROW(treefold_rolling, result, treefold_rolling(TREEFOLD_F64, TREEFOLD_EXACT_DOT, 0, &window, X(double), Z(double), result, 8), 8,  \
        {AT_X, {others, "index"}, {nothing, "`y`"}, {&window, "`window`"}})                                                            \
    ROW(treefold_accumulator_create, result, made_accumulator(result, treefold_accumulator_create(EXACT_SUM_OF_F64, result)), 8,       \
        {{0}})                                                                                                                         \
    ROW(treefold_accumulator_copy, result, made_accumulator(result, treefold_accumulator_copy(accumulator, result)), 8, {{0}})         \
    ROW(treefold_accumulator_destroy, accumulator, end_accumulator(accumulator), 8, {{0}})                                             \
    ROW(treefold_accumulator_value, result, treefold_accumulator_value(accumulator, TREEFOLD_EXACT_SUM, 0, result), 8, {{0}})          \
    ROW(treefold_accumulator_equal, result, treefold_accumulator_equal(accumulator, accumulator, result), 4, {{0}})                    \
    ROW(treefold_accumulator_to_bytes, bytes, treefold_accumulator_to_bytes(accumulator, bytes, ROOM_BYTES, SECOND), 1,                \
        {{SECOND, "`needed`"}})                                                                                                        \
    ROW(treefold_accumulator_to_bytes, needed, treefold_accumulator_to_bytes(accumulator, nothing, ROOM_BYTES, needed), 8,             \
        {{nothing, "`bytes`"}})                                                                                                        \
    ROW(treefold_keyed_create, result, made_keyed(result, treefold_keyed_create(EXACT_SUM_OF_F64, 2, result)), 8, {{0}})               \
    ROW(treefold_keyed_create_rows, result, made_keyed(result, treefold_keyed_create_rows(EXACT_SUM_OF_F64, 2, 2, result)), 8, {{0}})  \
    ROW(treefold_keyed_create_hashed, result,                                                                                          \
        made_keyed(result, treefold_keyed_create_hashed(TREEFOLD_F64, TREEFOLD_I64, result)), 8, {{0}})                                \
    ROW(treefold_keyed_copy, result, made_keyed(result, treefold_keyed_copy(keyed, result)), 8, {{0}})                                 \
    ROW(treefold_keyed_destroy, keyed, end_keyed(keyed), 8, {{0}})                                                                     \
    ROW(treefold_keyed_groups, result, treefold_keyed_groups(keyed, result), 8, {{0}})                                                 \
    ROW(treefold_keyed_keys, result, treefold_keyed_keys(hashed, result, 2), 8, {{0}})                                                 \
    ROW(treefold_keyed_values, result, treefold_keyed_values(keyed, TREEFOLD_EXACT_SUM, 0, result, 2), 8, {{0}})                       \
    ROW(treefold_keyed_equal, result, treefold_keyed_equal(keyed, keyed, result), 4, {{0}})                                            \
    ROW(treefold_keyed_to_bytes, bytes, treefold_keyed_to_bytes(keyed, bytes, ROOM_BYTES, SECOND), 1, {{SECOND, "`needed`"}})          \
    ROW(treefold_keyed_to_bytes, needed, treefold_keyed_to_bytes(keyed, nothing, ROOM_BYTES, needed), 8, {{nothing, "`bytes`"}})       \
    ROW(treefold_aggregate_bytes, result, treefold_aggregate_bytes(TREEFOLD_EXACT_SUM, result), 8, {{0}})                              \
    ROW(treefold_aggregate_value, result, treefold_aggregate_value(STATE, TREEFOLD_EXACT_SUM, 0, TREEFOLD_F64, result, SECOND), 8,     \
        {{SECOND, "`is_null`"}})                                                                                                       \
    ROW(treefold_aggregate_value, is_null, treefold_aggregate_value(STATE, TREEFOLD_EXACT_SUM, 0, TREEFOLD_F64, SECOND, is_null), 4,   \
        {{SECOND, "`result`"}})                                                                                                        \
    ROW(treefold_aggregate_to_bytes, bytes, treefold_aggregate_to_bytes(STATE, bytes, ROOM_BYTES, SECOND), 1, {{SECOND, "`needed`"}})  \
    ROW(treefold_aggregate_to_bytes, needed, treefold_aggregate_to_bytes(STATE, nothing, ROOM_BYTES, needed), 8,                       \
        {{nothing, "`bytes`"}})                                                                                                        \
    ROW(treefold_aggregate_statistic, result, treefold_aggregate_statistic(bytes, length, result), 4, {{0}})

#define ROW CALL_OF
RESULTS
#undef ROW
#define ROW PLACE_OF
static const struct place table[] = {RESULTS};

/* Tests results that begin before the items and end within them, or that begin at the last item; and misaligned arrays. */
static void ends(void)
{
    double row[6] = {1, 2, 3, 4, 5, 6};
    EXPECT(TREEFOLD_ARGUMENT, "`items` and `result` overlap", treefold_fold_rows(SUM_OF_F64, row + 1, 4, 2, row, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`items` and `result` overlap", treefold_fold_rows(SUM_OF_F64, row, 4, 2, row + 3, 2));
    OK(treefold_fold_rows(SUM_OF_F64, row, 4, 2, row + 4, 2));
    CHECK(row[4] == 4 && row[5] == 6);
    EXPECT(TREEFOLD_ARGUMENT, "`x` and `result` overlap", treefold_sum_f64(row, 4, row + 3));
    OK(treefold_sum_f64(row, 4, row + 4));
    CHECK(row[4] == 10);
    EXPECT(TREEFOLD_ARGUMENT, "`items`: its address is not a multiple of 4",
           treefold_fold(TREEFOLD_C32, TREEFOLD_SUM, items + 2, 1, results));
    EXPECT(TREEFOLD_ARGUMENT, "`fields`: its address is not a multiple of 8",
           treefold_fields(SUM_OF_F64, (const void *)((const char *)pointers + 4), 1, 8, results));
}

int main(void)
{
    OK(treefold_accumulator_create(EXACT_SUM_OF_F64, &accumulator));
    OK(treefold_keyed_create(EXACT_SUM_OF_F64, 2, &keyed));
    OK(treefold_keyed_create_hashed(TREEFOLD_F64, TREEFOLD_I64, &hashed));
    OK(treefold_keyed_add(hashed, TREEFOLD_I64, (int64_t[2]){3, -4}, 2, items, 2));
    OK(treefold_aggregate_init(STATE, sizeof state, TREEFOLD_EXACT_SUM));
    OK(treefold_aggregate_to_bytes(STATE, bytes, sizeof bytes, &length));
    for (int threads = 1; threads <= 4; threads += 3) {
        OK(treefold_threads(threads));
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            check_place(&table[i], 0);
    }
    ends();
    OK(treefold_accumulator_destroy(&accumulator));
    END(keyed, &keyed, &hashed);
    return failures != 0;
}
