/* Exact statistics of integers, as fractions of integers or roots of fractions. A result must be the number nearest to the exact value. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include "check.h"
#include "integers.h"

#include <math.h>

/* Every statistic of real numbers, with the number of arrays that it takes, and whether it depends on ddof. */
static const struct statistic {
    treefold_statistic code;
    int arrays, has_ddof;
} statistics[] = {
    {TREEFOLD_EXACT_COUNT, 1, 0},      {TREEFOLD_EXACT_SUM, 1, 0},         {TREEFOLD_EXACT_MEAN, 1, 0},
    {TREEFOLD_EXACT_VARIANCE, 1, 1},   {TREEFOLD_EXACT_STD, 1, 1},         {TREEFOLD_EXACT_MIN, 1, 0},
    {TREEFOLD_EXACT_MAX, 1, 0},        {TREEFOLD_EXACT_NORM, 1, 0},        {TREEFOLD_EXACT_DOT, 2, 0},
    {TREEFOLD_EXACT_WEIGHTED_MEAN, 2, 0}, {TREEFOLD_EXACT_COVARIANCE, 2, 1}, {TREEFOLD_EXACT_CORRELATION, 2, 0},
    {TREEFOLD_EXACT_SLOPE, 2, 0},      {TREEFOLD_EXACT_INTERCEPT, 2, 0},   {TREEFOLD_EXACT_SKEWNESS, 1, 1},
    {TREEFOLD_EXACT_KURTOSIS, 1, 1},
};

enum { STATISTICS = sizeof statistics / sizeof *statistics };

/* Natural numbers of up to 36 * 32 bits. */
enum { LIMBS = 36 };

struct natural {
    uint32_t limb[LIMBS];
};

static inline struct natural times(struct natural a, integer factor)
{
    struct natural all = {{0}};
    unsigned __int128 rest = factor < 0 ? -(unsigned __int128)factor : (unsigned __int128)factor;
    for (int place = 0; place < 4; place++, rest >>= 32) {
        uint64_t carry = 0;
        for (int i = 0; i + place < LIMBS; i++) {
            carry += (uint64_t)a.limb[i] * (uint32_t)rest + all.limb[i + place];
            all.limb[i + place] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return all;
}

static inline struct natural shifted(struct natural a, int places)
{
    for (; places > 0; places -= places < 31 ? places : 31)
        a = times(a, (integer)1 << (places < 31 ? places : 31));
    return a;
}

static inline int compare(const struct natural *a, const struct natural *b)
{
    for (int i = LIMBS; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* The fraction product(p) / product(q), or the square root of its magnitude, with the sign of p[0]. Zeros after p[0] are not factors. */
struct fraction {
    int is_root;
    integer p[4], q[6];
};

static inline struct natural product(const integer *factors, size_t count)
{
    struct natural all = {{1}};
    for (size_t i = 0; i < count; i++)
        all = factors[i] == 0 && i > 0 ? all : times(all, factors[i]);
    return all;
}

/* Whether a number with `digits` binary digits is the fraction, rounded to nearest with ties to even. */
static inline int is_nearest(double value, int digits, const struct fraction *exact)
{
    if (exact->p[0] == 0)
        return bits(value) == bits(0.0);
    if ((value < 0) != (exact->p[0] < 0) || value == 0 || !isfinite(value))
        return 0;
    int exponent;
    integer m = (integer)ldexp(frexp(fabs(value), &exponent), digits);
    /* The fraction must be between m - 1/2 and m + 1/2. The unit of the comparison is half of the last place. */
    int places = (exponent - digits - 1) * (exact->is_root ? 2 : 1), is_even = m % 2 == 0;
    struct natural p = product(exact->p, 4), q = product(exact->q, 6), below = times(q, 2 * m - 1), above = times(q, 2 * m + 1);
    if (exact->is_root)
        below = times(below, 2 * m - 1), above = times(above, 2 * m + 1);
    p = shifted(p, -places), below = shifted(below, places), above = shifted(above, places);
    return compare(&below, &p) < is_even && compare(&p, &above) < is_even;
}

/* The sums of the powers and products of pairs (x, y), and the least and greatest x. */
struct sums {
    integer n, x, xx, xxx, xxxx, y, yy, xy, min, max;
};

static inline void include(struct sums *s, int64_t x, int64_t y)
{
    integer a = x, b = y;
    s->min = s->n == 0 || a < s->min ? a : s->min, s->max = s->n == 0 || a > s->max ? a : s->max;
    s->n++, s->x += a, s->xx += a * a, s->xxx += a * a * a, s->xxxx += a * a * a * a;
    s->y += b, s->yy += b * b, s->xy += a * b;
}

/* The type of a statistic's result, for items of the given type. */
static inline treefold_type type_of_result(treefold_type type, treefold_statistic statistic)
{
    if (statistic == TREEFOLD_EXACT_COUNT)
        return TREEFOLD_U64;
    if (type < TREEFOLD_I8)
        return statistic == TREEFOLD_EXACT_VARIANCE || statistic == TREEFOLD_EXACT_STD ? part_of(type) : type;
    return statistic != TREEFOLD_EXACT_SUM ? TREEFOLD_F64 : type < TREEFOLD_U8 ? TREEFOLD_I64 : TREEFOLD_U64;
}

/* Whether element i of `result` is the statistic of pairs with these sums. */
static inline int is_right(const struct sums *s, treefold_statistic statistic, int ddof, treefold_type type, const void *result, size_t i)
{
    const integer n = s->n, x = s->x, of_x = n * s->xx - x * x, of_y = n * s->yy - s->y * s->y, of_both = n * s->xy - x * s->y;
    integer third, excess;
    int is_nan = n == 0;
    struct fraction exact = {0, {0}, {1}};
    switch (statistic) {
    case TREEFOLD_EXACT_COUNT: exact.p[0] = n, is_nan = 0; break;
    case TREEFOLD_EXACT_SUM: exact.p[0] = x, is_nan = 0; break;
    case TREEFOLD_EXACT_MEAN: exact = (struct fraction){0, {x}, {n}}; break;
    case TREEFOLD_EXACT_VARIANCE:
    case TREEFOLD_EXACT_STD:
        if (n <= ddof && of_x != 0)
            return real(type, result, i) == INFINITY;
        is_nan = n <= ddof, exact = (struct fraction){statistic == TREEFOLD_EXACT_STD, {of_x}, {n, n - ddof}};
        break;
    case TREEFOLD_EXACT_MIN: exact.p[0] = s->min; break;
    case TREEFOLD_EXACT_MAX: exact.p[0] = s->max; break;
    case TREEFOLD_EXACT_NORM: exact = (struct fraction){1, {s->xx}, {1}}, is_nan = 0; break;
    case TREEFOLD_EXACT_DOT:
    case TREEFOLD_EXACT_VDOT: exact.p[0] = s->xy, is_nan = 0; break;
    case TREEFOLD_EXACT_WEIGHTED_MEAN: exact = (struct fraction){0, {s->xy}, {s->y}}; break;
    case TREEFOLD_EXACT_COVARIANCE: exact = (struct fraction){0, {of_both}, {n, n - ddof}}, is_nan = n <= ddof; break;
    case TREEFOLD_EXACT_CORRELATION: exact = (struct fraction){1, {of_both, of_both}, {of_x, of_y}}, is_nan = of_x == 0 || of_y == 0; break;
    case TREEFOLD_EXACT_SLOPE: exact = (struct fraction){0, {of_both}, {of_x}}, is_nan = of_x == 0; break;
    case TREEFOLD_EXACT_INTERCEPT: exact = (struct fraction){0, {s->y * s->xx - x * s->xy}, {of_x}}, is_nan = of_x == 0; break;
    case TREEFOLD_EXACT_SKEWNESS:
        third = n * n * s->xxx - 3 * n * x * s->xx + 2 * x * x * x;
        exact = (struct fraction){1, {third, third}, {of_x, of_x, of_x}}, is_nan = of_x == 0 || (ddof == 1 && n < 3);
        if (ddof == 1)
            exact.p[2] = n, exact.p[3] = n - 1, exact.q[3] = exact.q[4] = n - 2;
        break;
    case TREEFOLD_EXACT_KURTOSIS:
        excess = n * n * n * s->xxxx - 4 * n * n * x * s->xxx + 6 * n * x * x * s->xx - 3 * x * x * x * x - 3 * of_x * of_x;
        exact = (struct fraction){0, {excess}, {of_x, of_x}}, is_nan = of_x == 0 || (ddof == 1 && n < 4);
        if (ddof == 1) {
            exact.p[0] = (n + 1) * excess + 6 * of_x * of_x, exact.p[1] = n - 1;
            exact.q[2] = n - 2, exact.q[3] = n - 3;
        }
        break;
    default: return 0;
    }
    if (type >= TREEFOLD_I8)
        return get(type, result, i) == exact.p[0];
    double value = real(type, result, i);
    return is_nan ? isnan(value) : is_nearest(value, type == TREEFOLD_F32 ? 24 : 53, &exact);
}

/* The items of pair i, which are integers of up to 12 bits. The right item is positive, so that it can be a weight. */
static inline int64_t left_of(size_t i) { return random_integer(i, 12); }
static inline int64_t right_of(size_t i) { return llabs(random_integer(i + 1000000, 10)) + 1; }

/* Stores the left item of pair i in an array, and returns the item after conversion to the type of the array. */
static inline int64_t put_left(treefold_type type, void *array, size_t i)
{
    put(type, array, i, type < TREEFOLD_U8 ? left_of(i) : llabs(left_of(i)));
    return type < TREEFOLD_I8 ? left_of(i) : (int64_t)get(type, array, i);
}

#endif
