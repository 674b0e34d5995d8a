/*
 * Implements the R package treefold: sums in tree order, and statistics of whole vectors, of groups and of moving windows, which are
 * computed exactly and rounded once.
 *
 * R raises errors by longjmp, and frees memory from R_alloc even then. So only the accumulator of exact_statistic needs clean_up.
 */
#define R_NO_REMAP
#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <string.h>
#include <treefold.h>

/* ---- Statistics ----------------------------------------------------------------------------------------------------------------- */

enum { HELD_NOWHERE = -1 };

/* A statistic, as R's users name it. */
struct statistic {
    const char *name;
    treefold_statistic code;
    treefold_statistic held; /* the statistic that an accumulator is created for, or HELD_NOWHERE */
    const char *y;           /* the R function's name for the second argument; NULL if there is none */
    int undefined_nan;       /* whether an undefined value is NaN, as in mean(numeric()), rather than NA, as in var(1) */
    int by_columns;          /* whether R's own function treats the columns of a matrix separately */
};

static const struct statistic statistics[] = {
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
    const char *text = Rf_translateChar(STRING_ELT(name, 0));
    char all[16 * STATISTICS] = "";
    for (const struct statistic *of = statistics; of < statistics + STATISTICS; of++) {
        if (strcmp(of->name, text) == 0)
            return of;
        strcat(strcat(all, of == statistics ? "" : ", "), of->name);
    }
    Rf_error("there is no statistic \"%s\"; choose one of %s", text, all);
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------------------ */

/* The arguments that all statistics have. */
struct arguments {
    const struct statistic *of;
    SEXP x, y;  /* y is R_NilValue if the statistic takes one vector */
    R_xlen_t n; /* the number of items of x, and of y if there is one */
    size_t m;   /* the number of items of y: n or 0 */
    double ddof;
    int na_rm;
};

/* Raises R's error for a status other than TREEFOLD_OK. */
static void ok(treefold_status status)
{
    if (status != TREEFOLD_OK)
        Rf_error("%s", treefold_last_error());
}

static int is_number(SEXP value)
{
    return (Rf_isNumeric(value) || Rf_isLogical(value)) && Rf_xlength(value) == 1;
}

static R_xlen_t whole_number(SEXP argument, const char *name, double least, double greatest)
{
    const double value = is_number(argument) ? Rf_asReal(argument) : R_NaN;
    if (!(value >= least && value <= greatest && value == (double)(R_xlen_t)value))
        Rf_error("%s must be one whole number from %.0f to %.0f", name, least, greatest);
    return (R_xlen_t)value;
}

static int flag(SEXP value, const char *name)
{
    if (!Rf_isLogical(value) || Rf_xlength(value) != 1 || LOGICAL_ELT(value, 0) == NA_LOGICAL)
        Rf_error("%s must be TRUE or FALSE", name);
    return LOGICAL_ELT(value, 0);
}

/* Rejects vectors that are not numbers, and classes that give numbers another meaning. */
static void check_numbers(SEXP x, const char *name, int by_columns)
{
    if (Rf_isFactor(x))
        Rf_error("%s is a factor, not a vector of numbers", name);
    if (Rf_inherits(x, "integer64"))
        Rf_error("%s is of class integer64; use sum() of bit64, which is exact, or pass as.double(%s) for other statistics", name, name);
    if (TYPEOF(x) != REALSXP && TYPEOF(x) != INTSXP && TYPEOF(x) != LGLSXP)
        Rf_error("%s must be numeric, integer or logical, not %s", name, Rf_type2char(TYPEOF(x)));
    if (OBJECT(x) && !Rf_inherits(x, "ts") && !Rf_inherits(x, "table") && !Rf_inherits(x, "AsIs"))
        Rf_error("%s is of class %s, which the result would lose; pass as.numeric(%s)", name,
                 CHAR(STRING_ELT(Rf_getAttrib(x, R_ClassSymbol), 0)), name);
    if (by_columns && Rf_isMatrix(x))
        Rf_error("%s is a matrix; pass one of its columns, or all its items as c(%s)", name, name);
}

/* Checks all arguments. Errors name the wrong argument; `y_name` is the R function's name for y. Also sets the threads from R's option. */
static struct arguments arguments(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm, const char *y_name)
{
    const struct statistic *of = statistic_named(statistic);
    check_numbers(x, "x", of->by_columns);
    struct arguments all = {.of = of, .x = x, .y = y, .n = Rf_xlength(x), .na_rm = flag(na_rm, "na.rm")};
    if (y_name == NULL)
        y_name = of->y;
    if (of->y == NULL && !Rf_isNull(y))
        Rf_error("the statistic \"%s\" uses only x; leave out %s", of->name, y_name);
    if (of->y != NULL) {
        if (Rf_isNull(y))
            Rf_error("the statistic \"%s\" needs x and %s, but %s is missing", of->name, y_name, y_name);
        check_numbers(y, y_name, of->by_columns);
        if (Rf_xlength(y) != all.n)
            Rf_error("x has %.0f items, but %s has %.0f", (double)all.n, y_name, (double)Rf_xlength(y));
        all.m = (size_t)all.n;
    }
    all.ddof = (double)whole_number(ddof, "ddof", 0, 1);
    SEXP threads = Rf_GetOption1(Rf_install("treefold.threads"));
    ok(treefold_threads(Rf_isNull(threads) ? 1 : (int)whole_number(threads, "the option treefold.threads", 0, 65535)));
    return all;
}

/* ---- Items ---------------------------------------------------------------------------------------------------------------------- */

/* The kinds of items. If a result is NaN, the greatest kind among the items decides what R returns. */
enum kind { FINITE, INFINITE, NOT_A_NUMBER, NOT_AVAILABLE };

static enum kind kind_of(double x)
{
    return R_FINITE(x) ? FINITE : !ISNAN(x) ? INFINITE : R_IsNA(x) ? NOT_AVAILABLE : NOT_A_NUMBER;
}

/* Returns the kind of item i, or the greater kind of the two items of pair i. */
static enum kind kind_at(const double *x, const double *y, R_xlen_t i)
{
    const enum kind left = kind_of(x[i]), right = y == NULL ? FINITE : kind_of(y[i]);
    return left > right ? left : right;
}

/* Returns R's value for a result that is NaN: NA or NaN. `worst` is the greatest kind among the items. */
static double undefined(const struct statistic *of, enum kind worst)
{
    return worst == NOT_AVAILABLE || (worst == FINITE && !of->undefined_nan) ? NA_REAL : R_NaN;
}

/* The number of items in a block, which holds 64 KiB of doubles. */
enum { BLOCK = 8192 };

static R_xlen_t block_at(R_xlen_t from, R_xlen_t n)
{
    return n - from < BLOCK ? n - from : BLOCK;
}

/* Reads `count` items, at most BLOCK, starting at item `from`. Of an ALTREP vector such as 1:1e9, R computes only these items. */
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

/* Reads a block of items or pairs, without missing ones if na_rm is set. Returns the number of items that it wrote to x. Raises *worst to
   the greatest kind among these items, if that is greater. y is not used if the statistic takes one vector. */
static size_t read_block(const struct arguments *of, R_xlen_t from, double *x, double *y, enum kind *worst)
{
    const R_xlen_t count = block_at(from, of->n);
    double not_finite = 0; /* x - x is 0 if x is finite, else NaN */
    size_t kept = 0;
    y = of->m == 0 ? NULL : y;
    read_items(of->x, from, count, x);
    if (y != NULL)
        read_items(of->y, from, count, y);
    for (R_xlen_t i = 0; i < count; i++)
        not_finite += (x[i] - x[i]) + (y == NULL ? 0 : y[i] - y[i]);
    if (not_finite == 0)
        return (size_t)count;
    for (R_xlen_t i = 0; i < count; i++) {
        const enum kind kind = kind_at(x, y, i);
        if (of->na_rm && kind >= NOT_A_NUMBER)
            continue;
        if (kind > *worst)
            *worst = kind;
        x[kept] = x[i];
        if (y != NULL)
            y[kept] = y[i];
        kept++;
    }
    return kept;
}

/* Returns the items if they are doubles in memory, else NULL. */
static const double *doubles_in_memory(SEXP x)
{
    return TYPEOF(x) == REALSXP ? DATAPTR_OR_NULL(x) : NULL;
}

/* Returns the items as doubles, in place or as a copy. Returns NULL for R_NilValue. */
static const double *doubles(SEXP x)
{
    const double *there = doubles_in_memory(x);
    const R_xlen_t n = Rf_xlength(x);
    if (there != NULL || n == 0)
        return there;
    double *items = (double *)R_alloc((size_t)n, sizeof(double));
    for (R_xlen_t from = 0; from < n; from += BLOCK)
        read_items(x, from, block_at(from, n), items + from);
    return items;
}

/* ---- Whole vectors -------------------------------------------------------------------------------------------------------------- */

/* The data of read_all, which reads one vector in blocks. clean_up destroys the accumulator, even after an error or an interrupt. */
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

/* Computes a statistic of a copy of the items that are not left out. */
static void copy_all(struct reading *reading)
{
    const struct arguments *of = reading->of;
    double *x = (double *)R_alloc((size_t)of->n, sizeof(double)), *y = (double *)R_alloc(of->m, sizeof(double));
    size_t n = 0;
    for (R_xlen_t from = 0; from < of->n; from += BLOCK)
        n += read_block(of, from, x + n, y + (of->m == 0 ? 0 : n), &reading->worst);
    ok(treefold_exact(TREEFOLD_F64, of->of->code, of->ddof, x, n, of->m == 0 ? NULL : y, of->m == 0 ? 0 : n, &reading->result));
}

static SEXP exact_statistic(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm)
{
    const struct arguments of = arguments(statistic, x, y, ddof, na_rm, NULL);
    struct reading reading = {.of = &of, .result = R_NaN};
    const double *items = doubles_in_memory(x), *others = doubles_in_memory(y);

    /* This is the fast path. If the result is not NaN, there was no item to leave out. */
    if (items != NULL && (of.m == 0 || others != NULL))
        ok(treefold_exact(TREEFOLD_F64, of.of->code, of.ddof, items, (size_t)of.n, others, of.m, &reading.result));
    if (ISNAN(reading.result)) {
        if (of.of->held == HELD_NOWHERE)
            copy_all(&reading);
        else
            R_UnwindProtect(read_all, &reading, clean_up, &reading, NULL);
        if (ISNAN(reading.result))
            reading.result = undefined(of.of, reading.worst);
    }
    return Rf_ScalarReal(reading.result + 0.0); /* a zero is +0 */
}

/* Returns the sum, in tree order, of items that are read in blocks. A block is a subtree, since its size is a power of 2. So the sums of
   the blocks, added in tree order, give the sum of the items. */
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

static SEXP tree_sum(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm)
{
    const struct arguments of = arguments(statistic, x, y, ddof, na_rm, NULL);
    const double *items = doubles_in_memory(x);
    enum kind worst = FINITE;
    double result = R_NaN;
    if (items != NULL)
        ok(treefold_sum_f64(items, (size_t)of.n, &result));
    if (ISNAN(result))
        result = tree_sum_of_blocks(&of, &worst);
    return Rf_ScalarReal(ISNAN(result) ? undefined(of.of, worst) : result);
}

/* ---- Groups --------------------------------------------------------------------------------------------------------------------- */

/* Returns the group of each item, or 0 for an item to leave out. This is R's own vector of codes, or a copy if items are left out. */
static const int *keys_of(const struct arguments *of, SEXP codes, const double *x, const double *y)
{
    const int *groups = INTEGER_RO(codes);
    int *keys = NULL;
    for (R_xlen_t i = 0; i < of->n; i++)
        if (groups[i] == NA_INTEGER || (of->na_rm && kind_at(x, y, i) >= NOT_A_NUMBER)) {
            if (keys == NULL)
                keys = memcpy(R_alloc((size_t)of->n, sizeof(int)), groups, (size_t)of->n * sizeof(int));
            keys[i] = 0;
        }
    return keys == NULL ? groups : keys;
}

/* Returns a statistic of each of the groups 1 to `groups`. `codes` has the group of each item as an integer, or NA. */
static SEXP exact_groups(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm, SEXP codes, SEXP groups)
{
    const struct arguments of = arguments(statistic, x, y, ddof, na_rm, "y");
    const R_xlen_t keys_end = (R_xlen_t)Rf_asReal(groups) + 1;
    const double *items = doubles(x), *others = doubles(y);
    const int *keys = keys_of(&of, codes, items, others);
    double *results = (double *)R_alloc((size_t)keys_end, sizeof(double));
    ok(treefold_by_key(TREEFOLD_F64, of.of->code, of.ddof, TREEFOLD_I32, keys, (size_t)of.n, items, (size_t)of.n, others, of.m, results,
                       (size_t)keys_end));

    R_xlen_t defined_end = 1;
    while (defined_end < keys_end && !ISNAN(results[defined_end]))
        defined_end++;
    if (defined_end < keys_end) {
        unsigned char *worst = memset(R_alloc((size_t)keys_end, 1), FINITE, (size_t)keys_end);
        for (R_xlen_t i = 0; i < of.n; i++) {
            const enum kind kind = kind_at(items, others, i);
            if (kind > worst[keys[i]])
                worst[keys[i]] = (unsigned char)kind;
        }
        for (R_xlen_t key = defined_end; key < keys_end; key++)
            if (ISNAN(results[key]))
                results[key] = undefined(of.of, worst[key]);
    }
    SEXP values = Rf_allocVector(REALSXP, keys_end - 1);
    memcpy(REAL(values), results + 1, (size_t)(keys_end - 1) * sizeof(double));
    return values;
}

/* ---- Moving windows ------------------------------------------------------------------------------------------------------------- */

/* Counts the items of each kind in a window whose ends only move forward. */
struct kinds {
    const double *x, *y;
    R_xlen_t begin, end, count[NOT_AVAILABLE + 1];
};

static void move(struct kinds *kinds, R_xlen_t begin, R_xlen_t end)
{
    for (; kinds->end < end; kinds->end++)
        kinds->count[kind_at(kinds->x, kinds->y, kinds->end)]++;
    for (; kinds->begin < begin; kinds->begin++)
        kinds->count[kind_at(kinds->x, kinds->y, kinds->begin)]--;
}

/* Returns a statistic of the window of each item. `align` is 1, 2 or 3 for R's right, left or center. */
static SEXP exact_windows(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm, SEXP items, SEXP align, SEXP fill, SEXP min_obs)
{
    static const int32_t placements[] = {TREEFOLD_TRAILING, TREEFOLD_FORWARD, TREEFOLD_CENTRED};
    const struct arguments of = arguments(statistic, x, y, ddof, na_rm, "y");
    const int32_t placement = placements[Rf_asInteger(align) - 1];
    const R_xlen_t n = of.n, wide = whole_number(items, "n", 1, R_XLEN_T_MAX);
    const R_xlen_t least_kept = Rf_isNull(min_obs) ? 0 : whole_number(min_obs, "min_obs", 0, R_XLEN_T_MAX);
    const R_xlen_t least = Rf_isNull(min_obs) ? wide : least_kept;
    const R_xlen_t after = placement == TREEFOLD_TRAILING ? 0 : placement == TREEFOLD_FORWARD ? wide - 1 : wide / 2;
    const double *left = doubles(x), *right = doubles(y);
    if (!is_number(fill))
        Rf_error("fill must be one number");
    SEXP values = PROTECT(Rf_allocVector(REALSXP, n));
    double *value = REAL(values);
    treefold_window window = {.items = (size_t)wide, .placement = placement, .least_items = (size_t)least_kept, .skip_nan = of.na_rm};
    ok(treefold_rolling(TREEFOLD_F64, of.of->code, of.ddof, &window, left, (size_t)n, right, of.m, value, (size_t)n));

    /* For even n, a centred window in R's packages begins and ends one item later than in treefold, so an item has treefold's window of
       the next item. The last item has no next item; its window consists of the last n / 2 items. */
    if (placement == TREEFOLD_CENTRED && wide % 2 == 0 && n > 0) {
        const size_t rest = (size_t)(wide / 2 < n ? wide / 2 : n);
        double *last = (double *)R_alloc(rest, sizeof(double));
        window.placement = TREEFOLD_EXPANDING;
        ok(treefold_rolling(TREEFOLD_F64, of.of->code, of.ddof, &window, left + n - rest, rest, of.m == 0 ? NULL : right + n - rest,
                            of.m == 0 ? 0 : rest, last, rest));
        memmove(value, value + 1, (size_t)(n - 1) * sizeof(double));
        value[n - 1] = last[rest - 1];
    }

    struct kinds kinds = {.x = left, .y = right};
    for (R_xlen_t i = 0; i < n; i++) {
        const R_xlen_t begin = i + after < wide ? 0 : i + after - wide + 1, end = i + after < n ? i + after + 1 : n;
        if (end - begin < least) {
            value[i] = Rf_asReal(fill);
        } else if (ISNAN(value[i])) {
            move(&kinds, begin, end);
            const R_xlen_t left_out = of.na_rm ? kinds.count[NOT_A_NUMBER] + kinds.count[NOT_AVAILABLE] : 0;
            enum kind worst = of.na_rm ? INFINITE : NOT_AVAILABLE;
            while (worst > FINITE && kinds.count[worst] == 0)
                worst--;
            value[i] = end - begin - left_out < least_kept ? Rf_asReal(fill) : undefined(of.of, worst);
        }
    }
    UNPROTECT(1);
    return values;
}

/* ---- R's table of these functions ----------------------------------------------------------------------------------------------- */

#define FUNCTION(name) (DL_FUNC)(void (*)(void))name /* gcc warns about a direct cast */

static const R_CallMethodDef functions[] = {
    {"statistic", FUNCTION(exact_statistic), 5},
    {"tree_sum", FUNCTION(tree_sum), 5},
    {"groups", FUNCTION(exact_groups), 7},
    {"windows", FUNCTION(exact_windows), 9},
    {NULL, NULL, 0},
};

void R_init_treefold(DllInfo *package)
{
    if (treefold_version() / 100 != TREEFOLD_VERSION / 100)
        Rf_error("libtreefold is version %s, but this package was built for %d.%d; install the package again", treefold_version_string(),
                 TREEFOLD_VERSION / 10000, TREEFOLD_VERSION / 100 % 100);
    R_registerRoutines(package, NULL, functions, NULL, NULL);
    R_useDynamicSymbols(package, FALSE);
}
