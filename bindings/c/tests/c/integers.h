/* Random integers whose sums fit in 128 bits, and access to arrays by the code of their type. */
#ifndef INTEGERS_H
#define INTEGERS_H

#include "check.h"

#include <stdlib.h>

typedef __int128 integer;

/* An integer of either sign, with at most this number of bits. */
static inline int64_t random_integer(uint64_t seed, int bits)
{
    const uint64_t z = mixed(seed);
    int64_t magnitude = (int64_t)(z >> (64 - bits));
    return z & 1 ? magnitude : -magnitude;
}

/* Expand EACH(code, C type) for all types of integers, and for these and both floating-point types. */
#define INTEGER_TYPES(EACH)                                                                                                            \
    EACH(TREEFOLD_I8, int8_t) EACH(TREEFOLD_I16, int16_t) EACH(TREEFOLD_I32, int32_t) EACH(TREEFOLD_I64, int64_t)                      \
    EACH(TREEFOLD_U8, uint8_t) EACH(TREEFOLD_U16, uint16_t) EACH(TREEFOLD_U32, uint32_t) EACH(TREEFOLD_U64, uint64_t)
#define REAL_TYPES(EACH) EACH(TREEFOLD_F32, float) EACH(TREEFOLD_F64, double) INTEGER_TYPES(EACH)

/* Functions that write and read element i of an array of a real type. A complex number is two elements of the type of its parts. */
static inline void put(treefold_type type, void *array, size_t i, integer value)
{
    switch (type) {
#define PUT(code, c_type)                                                                                                              \
    case code:                                                                                                                         \
        ((c_type *)array)[i] = (c_type)value;                                                                                          \
        return;
        REAL_TYPES(PUT)
    default:
        abort();
    }
}

static inline integer get(treefold_type type, const void *array, size_t i)
{
    switch (type) {
#define GET(code, c_type)                                                                                                              \
    case code:                                                                                                                         \
        return (integer)((const c_type *)array)[i];
        INTEGER_TYPES(GET)
    default:
        abort();
    }
}

static inline double real(treefold_type type, const void *array, size_t i)
{
    return type == TREEFOLD_F32 ? ((const float *)array)[i] : ((const double *)array)[i];
}

/* The type of the parts of complex numbers; for real numbers, the type itself. */
static inline treefold_type part_of(treefold_type type)
{
    return type == TREEFOLD_C32 ? TREEFOLD_F32 : type == TREEFOLD_C64 ? TREEFOLD_F64 : type;
}

static inline size_t bytes_of(treefold_type type)
{
    static const size_t bytes[] = {0, 4, 8, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8};
    return bytes[type];
}

#endif
