/* Statistics of moving windows. */
#include "package.h"

#include <string.h>

/* Where a window lies, as R's packages have it: `after` of its items come after its own. */
struct placement {
    const char *name;
    int32_t code;
};

static const struct placement placements[] = {
    {"right", TREEFOLD_TRAILING},
    {"left", TREEFOLD_FORWARD},
    {"center", TREEFOLD_CENTRED},
};

static const struct placement *placement_named(SEXP name)
{
    const struct placement *placement = placements;
    while (strcmp(placement->name, CHAR(STRING_ELT(name, 0))) != 0) /* R's match.arg has checked it */
        placement++;
    return placement;
}

static R_xlen_t whole_number(SEXP argument, const char *name, double least)
{
    const double value = number(argument);
    if (!(value >= least && value <= R_XLEN_T_MAX && value == (double)(R_xlen_t)value))
        Rf_error("%s must be one whole number of at least %.0f", name, least);
    return (R_xlen_t)value;
}

/* The kinds of the items in a window whose ends only move forward. */
struct kinds {
    const double *x, *y;
    R_xlen_t begin, end;
    R_xlen_t count[NOT_AVAILABLE + 1];
};

static void move(struct kinds *kinds, R_xlen_t begin, R_xlen_t end)
{
    for (; kinds->end < end; kinds->end++)
        kinds->count[kind_of_pair(kinds->x, kinds->y, kinds->end)]++;
    for (; kinds->begin < begin; kinds->begin++)
        kinds->count[kind_of_pair(kinds->x, kinds->y, kinds->begin)]--;
}

SEXP exact_windows(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm, SEXP items, SEXP align, SEXP fill, SEXP min_obs)
{
    const struct arguments of = arguments(statistic, x, y, ddof, na_rm, "y");
    const R_xlen_t n = of.n, wide = whole_number(items, "n", 1), least = Rf_isNull(min_obs) ? wide : whole_number(min_obs, "min_obs", 0);
    const R_xlen_t least_kept = Rf_isNull(min_obs) ? 0 : least;
    const int32_t placement = placement_named(align)->code;
    const R_xlen_t after = placement == TREEFOLD_TRAILING ? 0 : placement == TREEFOLD_FORWARD ? wide - 1 : wide / 2;
    const double *left = doubles(x), *right = doubles(y);
    if (!(Rf_isNumeric(fill) || Rf_isLogical(fill)) || Rf_xlength(fill) != 1)
        Rf_error("fill must be one number");
    const double filling = Rf_asReal(fill);
    SEXP values = PROTECT(Rf_allocVector(REALSXP, n));
    double *value = REAL(values);
    treefold_window window = {.items = (size_t)wide, .placement = placement, .least_items = (size_t)least_kept, .skip_nan = of.na_rm};
    ok(treefold_rolling(TREEFOLD_F64, of.of->code, of.ddof, &window, left, (size_t)n, right, right == NULL ? 0 : (size_t)n, value,
                        (size_t)n));

    /* A centred window of an even number of items has one item more after its own than treefold's: it is that of the next item. The last
       window then begins in the middle of its items, and has those up to the end of the array. */
    if (placement == TREEFOLD_CENTRED && wide % 2 == 0 && n > 0) {
        const R_xlen_t tail = wide / 2 < n ? wide / 2 : n, from = n - tail;
        double *last = (double *)R_alloc((size_t)tail, sizeof(double));
        window.placement = TREEFOLD_EXPANDING;
        ok(treefold_rolling(TREEFOLD_F64, of.of->code, of.ddof, &window, left + from, (size_t)tail, right == NULL ? NULL : right + from,
                            right == NULL ? 0 : (size_t)tail, last, (size_t)tail));
        memmove(value, value + 1, (size_t)(n - 1) * sizeof(double));
        value[n - 1] = last[tail - 1];
    }

    struct kinds kinds = {.x = left, .y = right};
    for (R_xlen_t i = 0; i < n; i++) {
        const R_xlen_t begin = i + after - wide < 0 ? 0 : i + after - wide + 1, end = i + after < n ? i + after + 1 : n;
        if (end - begin < least) {
            value[i] = filling;
        } else if (ISNAN(value[i])) {
            move(&kinds, begin, end);
            const R_xlen_t *count = kinds.count, dropped = of.na_rm ? count[NOT_AVAILABLE] + count[NOT_A_NUMBER] : 0;
            const enum kind worst = !of.na_rm && count[NOT_AVAILABLE] > 0        ? NOT_AVAILABLE
                                    : !of.na_rm && count[NOT_A_NUMBER] > 0 ? NOT_A_NUMBER
                                    : count[INFINITE] > 0                  ? INFINITE
                                                                           : FINITE;
            value[i] = end - begin - dropped < least_kept ? filling : undefined(of.of, worst);
        }
    }
    UNPROTECT(1);
    return values;
}
