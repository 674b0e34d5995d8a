/* What tests of keyed states share: items that are integers, with keys, and states. */
#ifndef KEYED_H
#define KEYED_H

#include "check.h"
#include "integers.h"

#include <math.h>
#include <stdlib.h>

enum { MANY = 20000, GROUPS = 37 };

static double x[MANY], y[MANY];
static float small_x[MANY], small_y[MANY];
static int32_t keys[MANY];
static integer whole[MANY], other[MANY];

static inline treefold_keyed *make(treefold_type type, int32_t figure)
{
    treefold_keyed *made = NULL;
    OK(treefold_keyed_create(type, figure, GROUPS, &made));
    return made;
}

static inline void end(treefold_keyed *keyed)
{
    OK(treefold_keyed_destroy(&keyed));
    CHECK(keyed == NULL);
}

static inline int are_equal(const treefold_keyed *one, const treefold_keyed *two)
{
    int equal = -1;
    OK(treefold_keyed_equal(one, two, &equal));
    return equal;
}

/* Items that are integers of so many bits, times powers of two up to 2^spread, and their keys; the last key has none. */
static inline void draw(int bits, int spread)
{
    for (size_t i = 0; i < MANY; i++) {
        whole[i] = random_integer(i, bits) * ((integer)1 << (spread == 0 ? 0 : i % (size_t)spread));
        other[i] = random_integer(i + MANY, bits);
        x[i] = (double)whole[i], y[i] = (double)other[i];
        small_x[i] = (float)whole[i], small_y[i] = (float)other[i];
        keys[i] = (int32_t)((uint64_t)random_integer(i + 2 * MANY, 40) % (GROUPS - 1));
    }
}

#endif
