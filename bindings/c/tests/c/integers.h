/* Numbers whose sums are integers of 128 bits. */
#ifndef INTEGERS_H
#define INTEGERS_H

#include <stdint.h>

typedef __int128 integer;

/* An integer of either sign, and of so many bits at most. */
static inline int64_t random_integer(uint64_t seed, int bits)
{
    uint64_t z = (seed + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    int64_t magnitude = (int64_t)(z >> (64 - bits));
    return z & 1 ? magnitude : -magnitude;
}

/* Whether m 2^exponent is n / d, rounded to nearest. d is positive, and the exponent is not. */
static inline int is_quotient(integer n, integer d, integer m, int exponent)
{
    integer scaled = 2 * n * ((integer)1 << -exponent);
    return (2 * m - 1) * d <= scaled && scaled <= (2 * m + 1) * d;
}

#endif
