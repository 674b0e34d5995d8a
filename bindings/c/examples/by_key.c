/* Computes sums and means of prices by shop, and sums over a rolling window. docs/tutorial-by-key.md shows this program. */
#include <stdio.h>
#include <treefold.h>

/* Returns whether a call has failed; prints any error. */
static int failed(treefold_status status)
{
    if (status != TREEFOLD_OK)
        fprintf(stderr, "%s\n", treefold_last_error());
    return status != TREEFOLD_OK;
}

int main(void)
{
    unsigned shop[6] = {0, 2, 0, 1, 2, 0};
    double price[6] = {0.1, 1e9, 0.2, 5, 1e9 + 2, 0.3};
    double sums[3], means[3], rolling[6], last;
    treefold_window window = {.items = 2};

    if (failed(treefold_by_key(
            TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, TREEFOLD_U32, shop, 6,
            price, 6, NULL, 0, sums, 3)) ||
        failed(treefold_by_key(
            TREEFOLD_F64, TREEFOLD_EXACT_MEAN, 0, TREEFOLD_U32, shop, 6,
            price, 6, NULL, 0, means, 3)) ||
        failed(treefold_rolling(
            TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, &window,
            price, 6, NULL, 0, rolling, 6)))
        return 1;
    for (int i = 0; i < 3; i++)
        printf("%d: %.17g, mean %.17g\n", i, sums[i], means[i]);
    printf("the last two: %.17g\n", rolling[5]);

    /* A stored sum: items that were added can be removed again. */
    treefold_accumulator *total = NULL;
    if (failed(treefold_accumulator_create(
            TREEFOLD_F64, TREEFOLD_EXACT_SUM, &total)) ||
        failed(treefold_accumulator_add(total, price, 6)) ||
        failed(treefold_accumulator_remove(total, &price[1], 1)) ||
        failed(treefold_accumulator_remove(total, &price[4], 1)) ||
        failed(treefold_accumulator_value(
            total, TREEFOLD_EXACT_SUM, 0, &last)))
        return 1;
    printf("the others: %.17g\n", last);
    return failed(treefold_accumulator_destroy(&total));
}
