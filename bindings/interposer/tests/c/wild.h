/* Numbers of very different magnitudes, whose sums and products depend on the order, and their reduction by the tree that docs/order.md
   defines. */
#ifndef WILD_H
#define WILD_H

#include "cases.h"

#include <math.h>

/* A different salt changes all contributions. */
static _Thread_local uint64_t salt = 0;

/* A number of either sign. The items of a sum span 60 binary digits (20 in single precision), so that the bits show the order. Factors
   span fewer digits, so that few products overflow. */
static inline double wild(const struct type *type, MPI_Op op, uint64_t seed)
{
    uint64_t z = random_bits(seed ^ salt);
    double fraction = 1 + (double)(z >> 12) / (double)(UINT64_C(1) << 52);
    int span = type->kind == F32 || type->kind == C32 ? 20 : 60;
    int exponent = (int)(z % 97) * span / 97 - span / 2;
    double x = ldexp(fraction, op == MPI_PROD ? exponent / 4 : exponent);
    return (z >> 7 & 1) != 0 ? x : -x;
}

static inline void contribution(const struct type *type, MPI_Op op, int of_rank, size_t i, void *to)
{
    uint64_t seed = 2 * ((uint64_t)of_rank * 1000003 + i);
    double f64[2] = {wild(type, op, seed), wild(type, op, seed + 1)};
    float f32[2] = {(float)f64[0], (float)f64[1]};
    bool is_single = type->kind == F32 || type->kind == C32;
    memcpy(to, is_single ? (const void *)f32 : f64, kind_bytes[type->kind]);
}

/* Reduces ranks `begin` to `end` - 1. The number of items in the left half is the largest power of two below the number of all items. */
#define DEFINE_TREE(name, real)                                                                                                        \
    static inline void name(const struct type *type, MPI_Op op, int begin, int end, size_t i, real *to)                                \
    {                                                                                                                                  \
        if (end - begin == 1) {                                                                                                        \
            contribution(type, op, begin, i, to);                                                                                      \
            return;                                                                                                                    \
        }                                                                                                                              \
        int left_items = 1;                                                                                                            \
        while (2 * left_items < end - begin)                                                                                           \
            left_items *= 2;                                                                                                           \
        real x[2], y[2];                                                                                                               \
        name(type, op, begin, begin + left_items, i, x);                                                                               \
        name(type, op, begin + left_items, end, i, y);                                                                                 \
        bool both = is_complex(type->kind);                                                                                            \
        to[0] = op == MPI_SUM ? x[0] + y[0] : both ? x[0] * y[0] - x[1] * y[1] : x[0] * y[0];                                          \
        if (both)                                                                                                                      \
            to[1] = op == MPI_SUM ? x[1] + y[1] : x[0] * y[1] + x[1] * y[0];                                                           \
    }

DEFINE_TREE(tree_f64, double)
DEFINE_TREE(tree_f32, float)

static inline void result(const struct type *type, MPI_Op op, int ranks, size_t i, void *to)
{
    double f64[2];
    float f32[2];
    bool is_single = type->kind == F32 || type->kind == C32;
    if (is_single)
        tree_f32(type, op, 0, ranks, i, f32);
    else
        tree_f64(type, op, 0, ranks, i, f64);
    memcpy(to, is_single ? (const void *)f32 : f64, kind_bytes[type->kind]);
}

static const struct data wild_data = {contribution, result, same_bits};

#endif
