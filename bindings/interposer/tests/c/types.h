/* The predefined types of reductions, and functions that write, read and compare their elements. */
#ifndef TYPES_H
#define TYPES_H

#include "check.h"

/* How an element is stored. */
enum kind { I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, LD, C32, C64, CLD, KINDS };

/* Which operators a type has: MPI 4.0, section 6.9.2. */
enum class { INTEGER, LOGICAL, FLOATING, COMPLEX, BYTE, FORTRAN_INTEGER };

struct type {
    const char *name;
    MPI_Datatype type;
    enum kind kind;
    enum class class;
};

static const size_t kind_bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, sizeof(long double), 8, 16, 2 * sizeof(long double)};

static inline bool is_complex(enum kind kind)
{
    return kind == C32 || kind == C64 || kind == CLD;
}

/* Writes a small number as an element. The imaginary part is dropped for real types. */
static inline void put(enum kind kind, void *to, long re, long im)
{
    int8_t i8 = (int8_t)re;
    int16_t i16 = (int16_t)re;
    int32_t i32 = (int32_t)re;
    int64_t i64 = re;
    float f32[2] = {(float)re, (float)im};
    double f64[2] = {(double)re, (double)im};
    long double ld[2];
    /* A long double has padding bytes. */
    memset(ld, 0, sizeof ld);
    ld[0] = re;
    ld[1] = im;
    const void *const from[] = {&i8, &i8, &i16, &i16, &i32, &i32, &i64, &i64, f32, f64, ld, f32, f64, ld};
    memcpy(to, from[kind], kind_bytes[kind]);
}

/* Reads the parts of a floating-point or complex number. */
static inline void get(enum kind kind, const void *from, double *parts)
{
    float f32[2] = {0, 0};
    long double ld[2] = {0, 0};
    bool is_single = kind == F32 || kind == C32, is_extended = kind == LD || kind == CLD;
    memcpy(is_single ? (void *)f32 : is_extended ? (void *)ld : parts, from, kind_bytes[kind]);
    for (int i = 0; i < 2 && (is_single || is_extended); i++)
        parts[i] = is_single ? (double)f32[i] : (double)ld[i];
}

/* Whether two elements have the same value: zeros of both signs are equal, and so are all true values. */
static inline bool same_value(const struct type *type, const void *left, const void *right)
{
    size_t bytes = kind_bytes[type->kind];
    if (type->class == FLOATING || type->class == COMPLEX) {
        double x[2] = {0, 0}, y[2] = {0, 0};
        get(type->kind, left, x);
        get(type->kind, right, y);
        return x[0] == y[0] && x[1] == y[1];
    }
    if (type->class == LOGICAL) {
        uint64_t x = 0, y = 0;
        memcpy(&x, left, bytes);
        memcpy(&y, right, bytes);
        return (x != 0) == (y != 0);
    }
    return memcmp(left, right, bytes) == 0;
}

static inline bool same_bits(const struct type *type, const void *left, const void *right)
{
    return memcmp(left, right, kind_bytes[type->kind]) == 0;
}

/* The kind of an integer type, by its size. */
static inline enum kind integer_kind(MPI_Datatype type, bool is_signed)
{
    int bytes, log = 0;
    MPI_Type_size(type, &bytes);
    while ((1 << log) < bytes)
        log++;
    return (enum kind)(2 * log + (is_signed ? 0 : 1));
}

/* Fills the list with the types that this library has; returns their number. */
static inline int predefined_types(struct type *types)
{
    const struct type all[] = {
        {"DOUBLE", MPI_DOUBLE, F64, FLOATING},
        {"FLOAT", MPI_FLOAT, F32, FLOATING},
        {"C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, C64, COMPLEX},
        {"C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, C32, COMPLEX},
        {"C_COMPLEX", MPI_C_COMPLEX, C32, COMPLEX},
        {"DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, F64, FLOATING},
        {"REAL", MPI_REAL, F32, FLOATING},
        {"REAL4", MPI_REAL4, F32, FLOATING},
        {"REAL8", MPI_REAL8, F64, FLOATING},
        {"COMPLEX", MPI_COMPLEX, C32, COMPLEX},
        {"DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, C64, COMPLEX},
        {"COMPLEX8", MPI_COMPLEX8, C32, COMPLEX},
        {"COMPLEX16", MPI_COMPLEX16, C64, COMPLEX},
        {"CXX_FLOAT_COMPLEX", MPI_CXX_FLOAT_COMPLEX, C32, COMPLEX},
        {"CXX_DOUBLE_COMPLEX", MPI_CXX_DOUBLE_COMPLEX, C64, COMPLEX},
        {"LONG_DOUBLE", MPI_LONG_DOUBLE, LD, FLOATING},
        {"C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, CLD, COMPLEX},
        {"CXX_LONG_DOUBLE_COMPLEX", MPI_CXX_LONG_DOUBLE_COMPLEX, CLD, COMPLEX},
        {"SIGNED_CHAR", MPI_SIGNED_CHAR, I8, INTEGER},
        {"UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, U8, INTEGER},
        {"SHORT", MPI_SHORT, I16, INTEGER},
        {"UNSIGNED_SHORT", MPI_UNSIGNED_SHORT, U16, INTEGER},
        {"INT", MPI_INT, I32, INTEGER},
        {"UNSIGNED", MPI_UNSIGNED, U32, INTEGER},
        {"LONG", MPI_LONG, integer_kind(MPI_LONG, true), INTEGER},
        {"UNSIGNED_LONG", MPI_UNSIGNED_LONG, integer_kind(MPI_UNSIGNED_LONG, false), INTEGER},
        {"LONG_LONG", MPI_LONG_LONG, I64, INTEGER},
        {"UNSIGNED_LONG_LONG", MPI_UNSIGNED_LONG_LONG, U64, INTEGER},
        {"INT8_T", MPI_INT8_T, I8, INTEGER},
        {"INT16_T", MPI_INT16_T, I16, INTEGER},
        {"INT32_T", MPI_INT32_T, I32, INTEGER},
        {"INT64_T", MPI_INT64_T, I64, INTEGER},
        {"UINT8_T", MPI_UINT8_T, U8, INTEGER},
        {"UINT16_T", MPI_UINT16_T, U16, INTEGER},
        {"UINT32_T", MPI_UINT32_T, U32, INTEGER},
        {"UINT64_T", MPI_UINT64_T, U64, INTEGER},
        {"INTEGER", MPI_INTEGER, integer_kind(MPI_INTEGER, true), FORTRAN_INTEGER},
        {"INTEGER1", MPI_INTEGER1, I8, FORTRAN_INTEGER},
        {"INTEGER2", MPI_INTEGER2, I16, FORTRAN_INTEGER},
        {"INTEGER4", MPI_INTEGER4, I32, FORTRAN_INTEGER},
        {"INTEGER8", MPI_INTEGER8, I64, FORTRAN_INTEGER},
        /* Open MPI 4.1 treats MPI_OFFSET as unsigned, so these types get no negative numbers. */
        {"AINT", MPI_AINT, integer_kind(MPI_AINT, false), FORTRAN_INTEGER},
        {"OFFSET", MPI_OFFSET, integer_kind(MPI_OFFSET, false), FORTRAN_INTEGER},
        {"COUNT", MPI_COUNT, integer_kind(MPI_COUNT, false), FORTRAN_INTEGER},
        {"LOGICAL", MPI_LOGICAL, integer_kind(MPI_LOGICAL, true), LOGICAL},
        {"C_BOOL", MPI_C_BOOL, U8, LOGICAL},
        {"CXX_BOOL", MPI_CXX_BOOL, U8, LOGICAL},
        {"BYTE", MPI_BYTE, U8, BYTE},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].type != MPI_DATATYPE_NULL)
            types[count++] = all[i];
    return count;
}

enum { MOST_TYPES = 64 };

#endif
