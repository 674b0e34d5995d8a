/* The table of statistics, the checks of arguments, and vectors of R read as doubles. */
#include "package.h"

#include <string.h>

static const struct statistic statistics[] = {
    /* name           code                          held                     y     undefined_nan, by_columns */
    {"sum",           TREEFOLD_EXACT_SUM,           TREEFOLD_EXACT_SUM,      NULL, 1, 0},
    {"mean",          TREEFOLD_EXACT_MEAN,          TREEFOLD_EXACT_SUM,      NULL, 1, 0},
    {"var",           TREEFOLD_EXACT_VARIANCE,      TREEFOLD_EXACT_VARIANCE, NULL, 0, 1},
    {"sd",            TREEFOLD_EXACT_STD,           TREEFOLD_EXACT_VARIANCE, NULL, 0, 0},
    {"min",           TREEFOLD_EXACT_MIN,           HELD_NOWHERE,            NULL, 0, 0},
    {"max",           TREEFOLD_EXACT_MAX,           HELD_NOWHERE,            NULL, 0, 0},
    {"skewness",      TREEFOLD_EXACT_SKEWNESS,      HELD_NOWHERE,            NULL, 0, 0},
    {"kurtosis",      TREEFOLD_EXACT_KURTOSIS,      HELD_NOWHERE,            NULL, 0, 0},
    {"dot",           TREEFOLD_EXACT_DOT,           HELD_NOWHERE,            "y",  1, 0},
    {"weighted_mean", TREEFOLD_EXACT_WEIGHTED_MEAN, HELD_NOWHERE,            "w",  1, 0},
    {"cov",           TREEFOLD_EXACT_COVARIANCE,    HELD_NOWHERE,            "y",  0, 1},
    {"cor",           TREEFOLD_EXACT_CORRELATION,   HELD_NOWHERE,            "y",  0, 1},
    {"slope",         TREEFOLD_EXACT_SLOPE,         HELD_NOWHERE,            "y",  0, 0},
    {"intercept",     TREEFOLD_EXACT_INTERCEPT,     HELD_NOWHERE,            "y",  0, 0},
};

enum { STATISTICS = sizeof statistics / sizeof *statistics };

static const struct statistic *statistic_named(SEXP name)
{
    if (!Rf_isString(name) || Rf_xlength(name) != 1)
        Rf_error("statistic must be one name, such as \"sum\"");
    const char *text = CHAR(STRING_ELT(name, 0));
    char all[16 * (STATISTICS + 1)] = "";
    for (const struct statistic *of = statistics; of < statistics + STATISTICS; of++) {
        if (strcmp(of->name, text) == 0)
            return of;
        strcat(strcat(all, of == statistics ? "" : ", "), of->name);
    }
    Rf_error("there is no statistic \"%s\": choose one of %s", text, all);
}

/* Numbers without a class, or with one under which they are plain numbers still. */
static void check_numbers(SEXP x, const char *name, int by_columns)
{
    if (Rf_isFactor(x))
        Rf_error("%s is a factor: sums are of numbers", name);
    if (Rf_inherits(x, "integer64"))
        Rf_error("%s is of class integer64, which is no double: sum of bit64 is exact, or pass bit64's as.double(%s)", name, name);
    if (TYPEOF(x) != REALSXP && TYPEOF(x) != INTSXP && TYPEOF(x) != LGLSXP)
        Rf_error("%s must be numeric, integer or logical, not %s", name, Rf_type2char(TYPEOF(x)));
    if (OBJECT(x) && !Rf_inherits(x, "ts") && !Rf_inherits(x, "table") && !Rf_inherits(x, "AsIs")) {
        SEXP classes = Rf_getAttrib(x, R_ClassSymbol);
        Rf_error("%s is of class %s, which the result would lack: pass as.numeric(%s)", name, CHAR(STRING_ELT(classes, 0)), name);
    }
    if (by_columns && Rf_isMatrix(x))
        Rf_error("%s is a matrix: pass a column of it, or all items by c(%s)", name, name);
}

static int flag(SEXP value, const char *name)
{
    if (!Rf_isLogical(value) || Rf_xlength(value) != 1 || LOGICAL_ELT(value, 0) == NA_LOGICAL)
        Rf_error("%s must be TRUE or FALSE", name);
    return LOGICAL_ELT(value, 0);
}

double number(SEXP value)
{
    return (Rf_isNumeric(value) || Rf_isLogical(value)) && Rf_xlength(value) == 1 ? Rf_asReal(value) : R_NaN;
}

/* The option treefold.threads: the calling thread alone, unless it says more. */
static void set_threads(void)
{
    SEXP option = Rf_GetOption1(Rf_install("treefold.threads"));
    const double threads = Rf_isNull(option) ? 1 : number(option);
    if (!(threads >= 0 && threads <= 65535))
        Rf_error("the option treefold.threads must be one number from 0 to 65535");
    ok(treefold_threads((int)threads));
}

struct arguments arguments(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm, const char *y_name)
{
    const struct statistic *of = statistic_named(statistic);
    struct arguments all = {of, x, y, Rf_xlength(x), number(ddof), flag(na_rm, "na.rm")};
    check_numbers(x, "x", of->by_columns);
    if (y_name == NULL)
        y_name = of->y;
    if (of->y == NULL && !Rf_isNull(y))
        Rf_error("the statistic \"%s\" is of x alone: leave out %s", of->name, y_name);
    if (of->y != NULL) {
        if (Rf_isNull(y))
            Rf_error("the statistic \"%s\" is of x and %s: %s is missing", of->name, y_name, y_name);
        check_numbers(y, y_name, of->by_columns);
        if (Rf_xlength(y) != all.n)
            Rf_error("x has %.0f items, but %s has %.0f", (double)all.n, y_name, (double)Rf_xlength(y));
    }
    if (all.ddof != 0 && all.ddof != 1)
        Rf_error("ddof must be 0 or 1");
    set_threads();
    return all;
}

void ok(treefold_status status)
{
    if (status != TREEFOLD_OK)
        Rf_error("%s", treefold_last_error());
}

enum kind kind_of(double x)
{
    return R_FINITE(x) ? FINITE : !ISNAN(x) ? INFINITE : R_IsNA(x) ? NOT_AVAILABLE : NOT_A_NUMBER;
}

enum kind kind_of_pair(const double *x, const double *y, R_xlen_t i)
{
    const enum kind left = kind_of(x[i]), right = y == NULL ? FINITE : kind_of(y[i]);
    return left > right ? left : right;
}

double undefined(const struct statistic *of, enum kind worst)
{
    return worst == NOT_AVAILABLE || (worst == FINITE && !of->undefined_nan) ? NA_REAL : R_NaN;
}

const double *doubles_in_memory(SEXP x)
{
    return TYPEOF(x) == REALSXP ? DATAPTR_OR_NULL(x) : NULL;
}

/* Reads `count` items, at most BLOCK, from item `from` on. It asks ALTREP vectors such as 1:1e9 for these alone. */
static void read_items(SEXP x, R_xlen_t from, R_xlen_t count, double *items)
{
    int integers[BLOCK];
    if (TYPEOF(x) == REALSXP) {
        REAL_GET_REGION(x, from, count, items);
        return;
    }
    if (TYPEOF(x) == INTSXP)
        INTEGER_GET_REGION(x, from, count, integers);
    else
        LOGICAL_GET_REGION(x, from, count, integers);
    for (R_xlen_t i = 0; i < count; i++)
        items[i] = integers[i] == NA_INTEGER ? NA_REAL : integers[i];
}

const double *doubles(SEXP x)
{
    if (Rf_isNull(x))
        return NULL;
    const double *there = doubles_in_memory(x);
    const R_xlen_t n = Rf_xlength(x);
    if (there != NULL || n == 0)
        return there;
    double *items = (double *)R_alloc((size_t)n, sizeof(double));
    for (R_xlen_t from = 0; from < n; from += BLOCK)
        read_items(x, from, n - from < BLOCK ? n - from : BLOCK, items + from);
    return items;
}

size_t read_block(const struct arguments *all, R_xlen_t from, double *x, double *y, enum kind *worst)
{
    const R_xlen_t count = all->n - from < BLOCK ? all->n - from : BLOCK;
    size_t kept = 0;
    read_items(all->x, from, count, x);
    if (all->of->y == NULL)
        y = NULL;
    else
        read_items(all->y, from, count, y);
    double not_finite = 0; /* x - x is 0, or NaN */
    for (R_xlen_t i = 0; i < count; i++)
        not_finite += (x[i] - x[i]) + (y == NULL ? 0 : y[i] - y[i]);
    if (not_finite == 0)
        return (size_t)count;
    for (R_xlen_t i = 0; i < count; i++) {
        const enum kind item = kind_of_pair(x, y, i);
        if (all->na_rm && item >= NOT_A_NUMBER)
            continue;
        if (item > *worst)
            *worst = item;
        x[kept] = x[i];
        if (y != NULL)
            y[kept] = y[i];
        kept++;
    }
    return kept;
}
