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
#define CALL_DOT(function, type) CALL(function, result, (ITEMS(type), OTHERS(type), result))
#define CALL_SUMS(function, type)                                                                                                      \
    CALL(function, sum, (ITEMS(type), sum, (void *)(results + ROOM_BYTES)))                                                            \
    CALL(function, absolute_sum, (ITEMS(type), (void *)(results + ROOM_BYTES), absolute_sum))

#define ROW_ONE(function, type) ROW(function, result, _Alignof(type), sizeof(type), {items, "`x`"}),
#define ROW_DOT(function, type) ROW(function, result, _Alignof(type), sizeof(type), {items, "`x`"}, {others, "`y`"}),
#define ROW_SUMS(function, type)                                                                                                       \
    ROW(function, sum, _Alignof(type), sizeof(type), {items, "`x`"}, {results + ROOM_BYTES, "`absolute_sum`"}),                        \
        ROW(function, absolute_sum, _Alignof(type), sizeof(type), {items, "`x`"}, {results + ROOM_BYTES, "`sum`"}),

#define ALL(ONE, DOT, SUMS)                                                                                                            \
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

ALL(CALL_ONE, CALL_DOT, CALL_SUMS)

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

static const struct place table[] = {
    ALL(ROW_ONE, ROW_DOT, ROW_SUMS)
    ROW(treefold_fold, result, 8, 8, {items, "`items`"}),
    ROW(treefold_par_fold, result, 2, 2, {items, "`items`"}),
    ROW(treefold_fold_rows, result, 8, 16, {items, "`items`"}),
    ROW(treefold_par_fold_rows, result, 4, 16, {items, "`items`"}),
    ROW(treefold_fields, result, 8, 16, {items, "`fields`"}, {others, "`fields`"}, {(unsigned char *)pointers, "`fields`"}),
    ROW(treefold_par_fields, result, 4, 8, {items, "`fields`"}, {others, "`fields`"}, {(unsigned char *)pointers, "`fields`"}),
    ROW(treefold_fold_user, result, 1, 8, {items, "`items`"}, {nothing, "`empty`"}),
    ROW(treefold_par_fold_user, result, 1, 4, {items, "`items`"}, {nothing, "`empty`"}),
    ROW(treefold_exact_sum_rows_f32, result, 4, 16, {items, "`items`"}),
    ROW(treefold_exact_sum_rows_f64, result, 8, 32, {items, "`items`"}),
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
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check_place(&table[i], 0);
    ends();
    return failures != 0;
}
