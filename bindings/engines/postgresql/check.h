/* Turns errors of libtreefold into errors of PostgreSQL. All C files of the extension include this header. */
#ifndef CHECK_H
#define CHECK_H

#include <treefold_aggregates.h>

/* Defines a C function that SQL can call. */
#define FUNCTION(name)                                                                                                                 \
    PG_FUNCTION_INFO_V1(name);                                                                                                         \
    Datum name(PG_FUNCTION_ARGS)

/* Raises the last error of libtreefold. The longjmp of ereport is safe, because no frame of libtreefold is on the stack any more. */
static pg_noinline void fail(treefold_status status, const char *name)
{
    int code = status == TREEFOLD_MEMORY  ? ERRCODE_OUT_OF_MEMORY
               : status == TREEFOLD_PANIC ? ERRCODE_INTERNAL_ERROR
                                          : ERRCODE_INVALID_PARAMETER_VALUE;
    ereport(ERROR, errcode(code), errmsg("%s: %s", name, treefold_last_error()));
}

/* Raises an error unless a call of libtreefold succeeded. `name` is the SQL function that the error names. */
static inline void check(treefold_status status, const char *name)
{
    if (unlikely(status != TREEFOLD_OK))
        fail(status, name);
}

#endif
