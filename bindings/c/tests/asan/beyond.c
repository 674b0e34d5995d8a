/* Passes a length that is too large by one. AddressSanitizer must detect that the library reads beyond the array. */
#include <stdlib.h>

#include <treefold.h>

enum { ITEMS = 8 };

int main(void) {
    double *x = calloc(ITEMS, sizeof *x);
    double sum;
    treefold_status status = treefold_sum_f64(x, ITEMS + 1, &sum);
    free(x);
    return status == TREEFOLD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
