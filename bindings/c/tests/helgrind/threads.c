/* Makes calls that use several threads of the pool, and checks that the results have the bits of one thread. Runs under helgrind, with the
   installed suppressions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <treefold.h>

enum { N = 1 << 18, KEYS = 100 };

static double x[N];
static unsigned keys[N];

/* Stores the result of each kind of call. Returns nonzero if a call fails. */
static int results(double *into)
{
    return treefold_sum_f64(x, N, &into[0]) || treefold_dot_f64(x, N, x, N, &into[1]) || treefold_exact_sum_f64(x, N, &into[2]) ||
           treefold_exact(TREEFOLD_F64, TREEFOLD_EXACT_NORM, 0, x, N, NULL, 0, &into[3]) ||
           treefold_fold(TREEFOLD_F64, TREEFOLD_MAX, x, N, &into[4]) ||
           treefold_by_key(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, TREEFOLD_U32, keys, N, x, N, NULL, 0, &into[5], KEYS);
}

int main(void)
{
    double alone[5 + KEYS], together[5 + KEYS];
    for (int i = 0; i < N; i++) {
        x[i] = 1.0 / (i + 1);
        keys[i] = (unsigned)i % KEYS;
    }
    if (results(alone) || treefold_threads(3) || results(together)) {
        fprintf(stderr, "%s\n", treefold_last_error());
        return 1;
    }
    return memcmp(alone, together, sizeof alone) != 0;
}
