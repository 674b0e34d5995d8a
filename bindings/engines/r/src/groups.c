/* Statistics of groups. */
#include "package.h"

#include <string.h>

/* The group of each item, 0 for those to leave out: R's codes as they are, or a copy if items are missing. */
static const int *keys_of(const struct arguments *of, SEXP codes, const double *x, const double *y)
{
    const int *groups = INTEGER_RO(codes);
    int *keys = NULL;
    for (R_xlen_t i = 0; i < of->n; i++)
        if (groups[i] == NA_INTEGER || (of->na_rm && kind_of_pair(x, y, i) >= NOT_A_NUMBER)) {
            if (keys == NULL) {
                keys = (int *)R_alloc((size_t)of->n, sizeof(int));
                memcpy(keys, groups, (size_t)of->n * sizeof(int));
            }
            keys[i] = 0;
        }
    return keys == NULL ? groups : keys;
}

/* Says NA or NaN where a result is NaN. */
static void name_undefined(const struct arguments *of, const int *keys, const double *x, const double *y, double *results, size_t groups)
{
    unsigned char *worst = (unsigned char *)R_alloc(groups, 1);
    memset(worst, FINITE, groups);
    for (R_xlen_t i = 0; i < of->n; i++) {
        const enum kind item = kind_of_pair(x, y, i);
        if (item > worst[keys[i]])
            worst[keys[i]] = (unsigned char)item;
    }
    for (size_t g = 0; g < groups; g++)
        if (ISNAN(results[g]))
            results[g] = undefined(of->of, worst[g]);
}

/* A statistic of each of the groups 1 to `groups`; codes are integers, the group of each item, or NA. */
SEXP exact_groups(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm, SEXP codes, SEXP groups)
{
    const struct arguments of = arguments(statistic, x, y, ddof, na_rm, "y");
    const size_t n = (size_t)of.n, keys_count = (size_t)Rf_asReal(groups) + 1;
    if (Rf_xlength(codes) != of.n)
        Rf_error("x has %.0f items, but g has %.0f", (double)of.n, (double)Rf_xlength(codes));
    const double *items = doubles(x), *others = doubles(y);
    const int *keys = keys_of(&of, codes, items, others);
    double *results = (double *)R_alloc(keys_count, sizeof(double));
    ok(treefold_by_key(TREEFOLD_F64, of.of->code, of.ddof, TREEFOLD_I32, keys, n, items, n, others, others == NULL ? 0 : n, results,
                       keys_count));
    for (size_t g = 1; g < keys_count; g++)
        if (ISNAN(results[g])) {
            name_undefined(&of, keys, items, others, results, keys_count);
            break;
        }
    SEXP values = Rf_allocVector(REALSXP, (R_xlen_t)keys_count - 1);
    if (keys_count > 1)
        memcpy(REAL(values), results + 1, (keys_count - 1) * sizeof(double));
    return values;
}
