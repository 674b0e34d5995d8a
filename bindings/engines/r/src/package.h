/* What the files of the package share: the table of statistics, checks of arguments, and vectors of R read as doubles. */
#ifndef PACKAGE_H
#define PACKAGE_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <treefold.h>

enum { HELD_NOWHERE = -1 };

/* A statistic, as R's users name it. */
struct statistic {
    const char *name;
    treefold_statistic code;
    treefold_statistic held; /* that of an accumulator from which it follows, or HELD_NOWHERE */
    const char *y;     /* what R calls the second argument; NULL if there is none */
    int undefined_nan; /* where it is not defined, it is NaN, as mean(numeric()) is, and not NA, as var(1) is */
    int by_columns;    /* R's own function takes the columns of a matrix */
};

/* What an item is. Of several items, the greatest decides what a NaN result stands for. */
enum kind { FINITE, INFINITE, NOT_A_NUMBER, NOT_AVAILABLE };

/* The arguments that all statistics have. */
struct arguments {
    const struct statistic *of;
    SEXP x, y; /* y is R_NilValue if the statistic takes one vector */
    R_xlen_t n;
    double ddof;
    int na_rm;
};

/* Items are read in blocks of so many: 64 KiB of doubles. */
enum { BLOCK = 8192 };

/* Checks all arguments, and names a wrong one in R's error. `y_name` is what the R function calls y, or NULL if the statistic says it. */
struct arguments arguments(SEXP statistic, SEXP x, SEXP y, SEXP ddof, SEXP na_rm, const char *y_name);

/* The value of one number; NaN for anything else. */
double number(SEXP value);

/* Raises R's error for a status other than TREEFOLD_OK. Call it only where R_UnwindProtect frees what C holds. */
void ok(treefold_status status);

/* The kind of an item, or of a pair of items. */
enum kind kind_of(double x);
enum kind kind_of_pair(const double *x, const double *y, R_xlen_t i);

/* What R has instead of a NaN from items of which `worst` is the greatest kind. */
double undefined(const struct statistic *of, enum kind worst);

/* The items of a vector, if they lie in memory as doubles; else NULL. */
const double *doubles_in_memory(SEXP x);

/* The items as doubles: those in memory, or a copy that R frees when .Call returns. NULL for R_NilValue. */
const double *doubles(SEXP x);

/* Reads at most BLOCK items or pairs from item `from` on, without missing ones if na_rm. Returns their number; *worst becomes the greatest
   of itself and the kinds of all items read. y is not used if the statistic takes one vector. */
size_t read_block(const struct arguments *from_all, R_xlen_t from, double *x, double *y, enum kind *worst);

#endif
