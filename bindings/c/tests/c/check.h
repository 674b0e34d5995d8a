/* Code that the test programs in C share: checks that count failures and continue, random numbers, and the definition of tree order. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <treefold.h>

static int failures = 0;

/* Prints the source line of a failed check. The program continues, and ends with status 1. */
#define CHECK(condition)                                                                                                               \
    do {                                                                                                                               \
        if (!(condition)) {                                                                                                            \
            fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, treefold_last_error());                     \
            failures++;                                                                                                                \
        }                                                                                                                              \
    } while (0)

/* Checks that a call returns this code and, unless the code is TREEFOLD_OK, that the error message contains these words. */
#define EXPECT(code, words, call)                                                                                                      \
    do {                                                                                                                               \
        treefold_status status_ = (call);                                                                                              \
        if (status_ != (code) || ((code) != TREEFOLD_OK && strstr(treefold_last_error(), (words)) == NULL)) {                          \
            fprintf(stderr, "%s:%d: %s: %s (%s), expected %s (%s)\n", __FILE__, __LINE__, #call, treefold_status_name(status_),       \
                    treefold_last_error(), treefold_status_name(code), (words));                                                       \
            failures++;                                                                                                                \
        }                                                                                                                              \
    } while (0)

#define OK(call) EXPECT(TREEFOLD_OK, "", call)

/* Destroys handles of one kind. */
#define END(kind, ...)                                                                                                                 \
    do {                                                                                                                               \
        treefold_##kind **const all_[] = {__VA_ARGS__};                                                                                \
        for (size_t i_ = 0; i_ < sizeof all_ / sizeof *all_; i_++)                                                                     \
            OK(treefold_##kind##_destroy(all_[i_]));                                                                                   \
    } while (0)

static inline uint64_t bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The number of items of the left subtree: the largest power of two below n. */
static inline size_t left_items(size_t n)
{
    size_t items = 1;
    while (2 * items < n)
        items *= 2;
    return items;
}

/* The sum, computed by the definition of tree order (docs/order.md, section 1). */
static inline double tree_sum(const double *x, size_t n)
{
    if (n == 0)
        return 0;
    if (n == 1)
        return x[0];
    size_t left = left_items(n);
    return tree_sum(x, left) + tree_sum(x + left, n - left);
}

/* 64 random bits from a seed. */
static inline uint64_t mixed(uint64_t seed)
{
    uint64_t z = (seed + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Returns numbers between -1 and 1 of many magnitudes, so that a sum in another order has other bits. */
static inline double number(uint64_t seed)
{
    const uint64_t z = mixed(seed);
    return ((double)(z >> 11) / (double)(UINT64_C(1) << 53) - 0.5) / (double)(1 + (z & 1023));
}

#endif
