/* Says that there is one item more than there is: AddressSanitizer must see the library read it. */
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
