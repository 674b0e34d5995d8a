/* Rejects a libtreefold whose version is not the one for which the extension was built, and arguments that are integers or numerics. */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "check.h"

PG_MODULE_MAGIC;

void _PG_init(void);

/* Before 1.0, minor versions of libtreefold are not compatible with each other. */
void _PG_init(void)
{
    if (treefold_version() / 100 != TREEFOLD_VERSION / 100)
        ereport(ERROR,
                errmsg("treefold: the extension was built for libtreefold %d.%d, but version %s was loaded", TREEFOLD_VERSION / 10000,
                       TREEFOLD_VERSION / 100 % 100, treefold_version_string()),
                errhint("Build the extension again, or install the library for which it was built."));
}

/* Raises an error. This is the transition function and the final function of the aggregates for types that PostgreSQL would cast to
   float8. Their state is the name of the aggregate. */
FUNCTION(exact_refuse)
{
    const char *name = PG_ARGISNULL(0) ? "exact_refuse" : text_to_cstring(PG_GETARG_TEXT_PP(0));
    Oid type = get_fn_expr_argtype(fcinfo->flinfo, 1);
    if (type == FLOAT8OID)
        type = get_fn_expr_argtype(fcinfo->flinfo, 2);
    /* The hint for exact_sum does not suggest a cast, because a cast would round each item. */
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("%s does not accept type %s", name, format_type_be(type)),
            PG_NARGS() > 2                   ? errhint("Cast the arguments to double precision.")
            : strcmp(name, "exact_sum") == 0 ? errhint("For this type, sum(x) is exact, and sum(x)::float8 is rounded once.")
                                             : errhint("Cast the argument to double precision: %s(x::float8)", name));
    PG_RETURN_NULL();
}
