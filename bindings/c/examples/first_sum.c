/* Sums 1/1, 1/2, ..., 1/1000, with the same bits on every machine. docs/tutorial-c.md shows this program. */
#include <stdio.h>
#include <treefold.h>

int main(void)
{
    double x[1000], sum;
    for (int i = 0; i < 1000; i++)
        x[i] = 1.0 / (i + 1);
    if (treefold_sum_f64(x, 1000, &sum) != TREEFOLD_OK) {
        fprintf(stderr, "%s\n", treefold_last_error());
        return 1;
    }
    printf("%.17g\n", sum);
    return 0;
}
