/* What the library and its users must not do: load another version, and pass integers or numerics. */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "check.h"

PG_MODULE_MAGIC;

void _PG_init(void);

/* Before 1.0, minor versions of libtreefold do not fit each other. */
void _PG_init(void)
{
    if (treefold_version() / 100 != TREEFOLD_VERSION / 100)
        ereport(ERROR,
                errmsg("treefold: the extension was built for libtreefold %d.%d, but %s was loaded", TREEFOLD_VERSION / 10000,
                       TREEFOLD_VERSION / 100 % 100, treefold_version_string()),
                errhint("Build the extension again, or install the library for which it was built."));
}

/* The transition and the result of aggregates of types that would be cast to float8. Their state is their name. */
FUNCTION(exact_refuse)
{
    const char *name = PG_ARGISNULL(0) ? "exact_refuse" : text_to_cstring(PG_GETARG_TEXT_PP(0));
    Oid type = get_fn_expr_argtype(fcinfo->flinfo, 1);
    if (type == FLOAT8OID)
        type = get_fn_expr_argtype(fcinfo->flinfo, 2);
    const char *of_sum = strcmp(name, "exact_sum") == 0 ? "sum(x) of it is exact. For a result in double precision, cast it: "
                                                        : "Cast it to double precision: ";
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("%s does not take %s", name, format_type_be(type)),
            PG_NARGS() == 2 ? errhint("%s%s(x::float8)", of_sum, name) : errhint("Cast the arguments to double precision."));
    PG_RETURN_NULL();
}
