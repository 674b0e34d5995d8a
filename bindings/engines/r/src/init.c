/* The functions that R calls, and the check that the library is the one of the header. */
#include "package.h"

#include <R_ext/Rdynload.h>

SEXP exact_statistic(SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP exact_groups(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP exact_windows(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP tree_order_sum(SEXP, SEXP);

/* R's type of all functions. gcc warns of a cast from another type than the one between. */
#define FUNCTION(name) (DL_FUNC)(void (*)(void))name

static const R_CallMethodDef calls[] = {
    {"statistic", FUNCTION(exact_statistic), 5},
    {"groups", FUNCTION(exact_groups), 7},
    {"windows", FUNCTION(exact_windows), 9},
    {"tree_sum", FUNCTION(tree_order_sum), 2},
    {NULL, NULL, 0},
};

void R_init_treefold(DllInfo *package)
{
    if (treefold_version() / 100 != TREEFOLD_VERSION / 100)
        Rf_error("libtreefold is version %s, but this package was built for 0.%d: install the package again", treefold_version_string(),
                 TREEFOLD_VERSION / 100);
    R_registerRoutines(package, NULL, calls, NULL, NULL);
    R_useDynamicSymbols(package, FALSE);
    R_forceSymbols(package, TRUE);
}
