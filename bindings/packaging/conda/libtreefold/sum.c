/* Pairs of neighbours are added first: 1e16 + 1 is rounded to 1e16, but 1e16 + 2 is exact. */
#include <treefold.h>

int main(void)
{
    const double x[4] = {1.0, 1.0, 1e16, 0.0};
    double sum = 0.0;
    return treefold_sum_f64(x, 4, &sum) != TREEFOLD_OK || sum != 1e16 + 2.0;
}
