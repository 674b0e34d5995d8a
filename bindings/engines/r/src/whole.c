/* Statistics of a whole vector, and its sum in tree order. */
#include "package.h"

#include <string.h>

/* A statistic of one vector that is read in blocks. The accumulator is C's: clean_up frees it, also if R leaves by an error or an
   interrupt. */
struct reading {
    const struct arguments *of;
    treefold_accumulator *state;
    enum kind worst;
    double result;
};

static SEXP read_all(void *data)
{
    struct reading *reading = data;
    const struct arguments *of = reading->of;
    double block[BLOCK];
    ok(treefold_accumulator_create(TREEFOLD_F64, of->of->held, &reading->state));
    for (R_xlen_t from = 0; from < of->n; from += BLOCK) {
        R_CheckUserInterrupt();
        ok(treefold_accumulator_add(reading->state, block, read_block(of, from, block, NULL, &reading->worst)));
    }
    ok(treefold_accumulator_value(reading->state, of->of->code, of->ddof, &reading->result));
    return R_NilValue;
}

static void clean_up(void *data, Rboolean jump)
{
    (void)jump;
    treefold_accumulator_destroy(&((struct reading *)data)->state);
}

/* A statistic of a copy of the items that count. R frees the copy. */
static double copy_all(const struct arguments *of, enum kind *worst)
{
    double *x = (double *)R_alloc((size_t)of->n, sizeof(double)), result;
    double *y = of->of->y == NULL ? NULL : (double *)R_alloc((size_t)of->n, sizeof(double));
    size_t n = 0;
    for (R_xlen_t from = 0; from < of->n; from += BLOCK)
        n += read_block(of, from, x + n, y == NULL ? NULL : y + n, worst);
    ok(treefold_exact(TREEFOLD_F64, of->of->code, of->ddof, x, n, y, y == NULL ? 0 : n, &result));
    return result;
}

SEXP exact_statistic(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm)
{
    const struct arguments of = arguments(statistic, x, y, ddof, na_rm, NULL);
    struct reading reading = {.of = &of, .result = R_NaN};
    const size_t n = (size_t)of.n;
    const double *items = doubles_in_memory(x), *others = of.of->y == NULL ? NULL : doubles_in_memory(y);

    /* The fast way. A result that is a number had no item to leave out. */
    if (items != NULL && (of.of->y == NULL || others != NULL))
        ok(treefold_exact(TREEFOLD_F64, of.of->code, of.ddof, items, n, others, others == NULL ? 0 : n, &reading.result));
    if (ISNAN(reading.result)) {
        if (of.of->held != HELD_NOWHERE)
            R_UnwindProtect(read_all, &reading, clean_up, &reading, NULL);
        else
            reading.result = copy_all(&of, &reading.worst);
        if (ISNAN(reading.result))
            reading.result = undefined(of.of, reading.worst);
    }
    return Rf_ScalarReal(reading.result + 0.0); /* a zero is +0 */
}

/* The sum in tree order of items that are read in blocks. A block is a subtree, since its size is a power of 2: the sum of the blocks' sums
   is that of the items. */
static double tree_sum_of_blocks(const struct arguments *of, enum kind *worst)
{
    double *sums = (double *)R_alloc((size_t)of->n / BLOCK + 1, sizeof(double)), held[2 * BLOCK], result;
    size_t blocks = 0, n = 0;
    for (R_xlen_t from = 0; from < of->n; from += BLOCK) {
        R_CheckUserInterrupt();
        n += read_block(of, from, held + n, NULL, worst);
        if (n >= BLOCK) {
            ok(treefold_sum_f64(held, BLOCK, &sums[blocks++]));
            memmove(held, held + BLOCK, (n -= BLOCK) * sizeof(double));
        }
    }
    if (n > 0)
        ok(treefold_sum_f64(held, n, &sums[blocks++]));
    ok(treefold_sum_f64(sums, blocks, &result));
    return result;
}

SEXP tree_order_sum(SEXP x, SEXP na_rm)
{
    SEXP sum = PROTECT(Rf_mkString("sum")), ddof = PROTECT(Rf_ScalarReal(0));
    const struct arguments of = arguments(sum, x, R_NilValue, ddof, na_rm, "y");
    const double *items = doubles_in_memory(x);
    double result = R_NaN;
    if (items != NULL)
        ok(treefold_sum_f64(items, (size_t)of.n, &result));
    if (ISNAN(result)) {
        enum kind worst = FINITE;
        result = tree_sum_of_blocks(&of, &worst);
        if (ISNAN(result))
            result = undefined(of.of, worst);
    }
    UNPROTECT(2);
    return Rf_ScalarReal(result);
}
