/*
 * Exact aggregates, over the aggregates of libtreefold.
 *
 * libtreefold allocates what its state cannot hold, and does not know PostgreSQL's memory contexts. So each state lies in its context behind
 * a callback, which frees that when the context is reset or deleted: when a group ends, and when a statement fails or is cancelled. A state
 * for one row lies in that row's context in the same way.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "check.h"
#include "functions.h"

/* The state of one group. */
typedef struct Group
{
    MemoryContextCallback callback;
    char aggregate[FLEXIBLE_ARRAY_MEMBER];
} Group;

/* A window's state must not be NULL: before its first row that counts, it is this one. */
static Group no_rows;

/* The order of the arguments in SQL. */
enum columns
{
    X,
    XY,
    YX
};

static inline treefold_aggregate *aggregate_of(Group *group)
{
    return (treefold_aggregate *)group->aggregate;
}

static void clear_group(void *group)
{
    treefold_aggregate_clear(aggregate_of(group));
}

static Group *new_group(MemoryContext context, treefold_statistic statistic, const char *name)
{
    size_t bytes = 0;
    check(treefold_aggregate_bytes(statistic, &bytes), name);
    Group *group = MemoryContextAlloc(context, offsetof(Group, aggregate) + bytes);
    check(treefold_aggregate_init(aggregate_of(group), bytes, statistic), name);
    group->callback.func = clear_group;
    group->callback.arg = group;
    MemoryContextRegisterResetCallback(context, &group->callback);
    return group;
}

/* The state of bytes. */
static Group *read_group(MemoryContext context, bytea *bytes, const char *name)
{
    const void *data = VARDATA_ANY(bytes);
    size_t n = VARSIZE_ANY_EXHDR(bytes);
    treefold_statistic statistic = 0;
    check(treefold_aggregate_statistic(data, n, &statistic), name);
    Group *group = new_group(context, statistic, name);
    check(treefold_aggregate_of_bytes(aggregate_of(group), data, n), name);
    return group;
}

static bytea *write_group(Group *group, const char *name)
{
    size_t n = 0;
    check(treefold_aggregate_to_bytes(aggregate_of(group), NULL, 0, &n), name);
    bytea *bytes = palloc(VARHDRSZ + n);
    SET_VARSIZE(bytes, VARHDRSZ + n);
    check(treefold_aggregate_to_bytes(aggregate_of(group), VARDATA(bytes), n, &n), name);
    return bytes;
}

/* The state that is an argument, or NULL if it has no rows yet. */
static inline Group *group_argument(FunctionCallInfo fcinfo, int i)
{
    Group *group = PG_ARGISNULL(i) ? NULL : (Group *)PG_GETARG_POINTER(i);
    return group == &no_rows ? NULL : group;
}

/* ---- Transitions --------------------------------------------------------------------------------------------------------------- */

static MemoryContext context_of(FunctionCallInfo fcinfo, const char *name)
{
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        elog(ERROR, "%s: called outside of an aggregate", name);
    return context;
}

/* What a row that does not count leaves: the state as it is. */
static Datum unchanged(FunctionCallInfo fcinfo)
{
    if (!PG_ARGISNULL(0))
        return PG_GETARG_DATUM(0);
    if (AggCheckCallContext(fcinfo, NULL) == AGG_CONTEXT_WINDOW)
        PG_RETURN_POINTER(&no_rows);
    PG_RETURN_NULL();
}

typedef treefold_status change_rows(treefold_aggregate *, treefold_type, const void *, treefold_type, const void *, size_t);
typedef treefold_status change_state(treefold_aggregate *, const treefold_aggregate *);

/* Adds or removes the row of x, or of x and y. */
static pg_attribute_always_inline Datum change(FunctionCallInfo fcinfo, change_rows *call, treefold_statistic statistic, bool is_pair,
                                               const double *x, const double *y, const char *name)
{
    Group *group = group_argument(fcinfo, 0);
    if (unlikely(group == NULL))
        group = new_group(context_of(fcinfo, name), statistic, name);
    check(call(aggregate_of(group), TREEFOLD_F64, x, is_pair ? TREEFOLD_F64 : 0, is_pair ? y : NULL, 1), name);
    PG_RETURN_POINTER(group);
}

static pg_attribute_always_inline Datum change_row(FunctionCallInfo fcinfo, change_rows *call, treefold_statistic statistic,
                                                   enum columns columns, const char *name)
{
    if (PG_ARGISNULL(1) || (columns != X && PG_ARGISNULL(2)))
        return unchanged(fcinfo);
    double first = PG_GETARG_FLOAT8(1), second = columns == X ? 0 : PG_GETARG_FLOAT8(2);
    return columns == YX ? change(fcinfo, call, statistic, true, &second, &first, name)
                         : change(fcinfo, call, statistic, columns == XY, &first, &second, name);
}

#define ROWS(kind, columns, statistic)                                                                                                 \
    FUNCTION(exact_##kind##_add)                                                                                                       \
    {                                                                                                                                  \
        return change_row(fcinfo, treefold_aggregate_add, TREEFOLD_EXACT_##statistic, columns, __func__);                              \
    }                                                                                                                                  \
    FUNCTION(exact_##kind##_remove)                                                                                                    \
    {                                                                                                                                  \
        return change_row(fcinfo, treefold_aggregate_remove, TREEFOLD_EXACT_##statistic, columns, __func__);                           \
    }
KINDS(ROWS)
KINDS_WITHOUT_BYTES(ROWS)

static Datum change_single(FunctionCallInfo fcinfo, change_rows *call, const char *name)
{
    if (PG_ARGISNULL(1))
        return unchanged(fcinfo);
    double x = PG_GETARG_FLOAT4(1);
    return change(fcinfo, call, TREEFOLD_EXACT_SUM, false, &x, NULL, name);
}

FUNCTION(exact_sum_float4_add)
{
    return change_single(fcinfo, treefold_aggregate_add, __func__);
}

FUNCTION(exact_sum_float4_remove)
{
    return change_single(fcinfo, treefold_aggregate_remove, __func__);
}

/* Adds or removes the rows of a state in bytes. */
static Datum change_bytes(FunctionCallInfo fcinfo, change_state *call)
{
    if (PG_ARGISNULL(1))
        return unchanged(fcinfo);
    const char *name = "exact_merge";
    MemoryContext context = context_of(fcinfo, name);
    Group *group = group_argument(fcinfo, 0);
    bytea *bytes = PG_GETARG_BYTEA_PP(1);
    if (group == NULL)
        PG_RETURN_POINTER(read_group(context, bytes, name));
    check(call(aggregate_of(group), aggregate_of(read_group(CurrentMemoryContext, bytes, name))), name);
    PG_RETURN_POINTER(group);
}

FUNCTION(exact_merge_add)
{
    return change_bytes(fcinfo, treefold_aggregate_merge);
}

FUNCTION(exact_merge_remove)
{
    return change_bytes(fcinfo, treefold_aggregate_unmerge);
}

/* ---- Parallel plans ------------------------------------------------------------------------------------------------------------ */

FUNCTION(exact_state_combine)
{
    MemoryContext context = context_of(fcinfo, __func__);
    Group *group = group_argument(fcinfo, 0), *other = group_argument(fcinfo, 1);
    if (other == NULL)
        return unchanged(fcinfo);
    /* The other state lies in the context of a row. */
    if (group == NULL)
        PG_RETURN_POINTER(read_group(context, write_group(other, __func__), __func__));
    /* Only those of exact_merge can be of two kinds. */
    check(treefold_aggregate_merge(aggregate_of(group), aggregate_of(other)), "exact_merge");
    PG_RETURN_POINTER(group);
}

FUNCTION(exact_state_serialize)
{
    PG_RETURN_BYTEA_P(write_group((Group *)PG_GETARG_POINTER(0), __func__));
}

FUNCTION(exact_state_deserialize)
{
    PG_RETURN_POINTER(read_group(CurrentMemoryContext, PG_GETARG_BYTEA_PP(0), __func__));
}

/* ---- Results ------------------------------------------------------------------------------------------------------------------- */

/* The number of rows. */
static int64 rows_of(Group *group, const char *name)
{
    int64 rows = 0;
    int is_null = 0;
    check(treefold_aggregate_value(aggregate_of(group), TREEFOLD_EXACT_COUNT, 0, TREEFOLD_I64, &rows, &is_null), name);
    return rows;
}

FUNCTION(exact_state_final)
{
    Group *group = group_argument(fcinfo, 0);
    if (group == NULL || rows_of(group, __func__) == 0)
        PG_RETURN_NULL();
    PG_RETURN_BYTEA_P(write_group(group, __func__));
}

static Datum value_of(FunctionCallInfo fcinfo, Group *group, treefold_statistic statistic, double ddof, const char *name)
{
    double value = 0;
    int is_null = group == NULL;
    if (group != NULL)
        check(treefold_aggregate_value(aggregate_of(group), statistic, ddof, TREEFOLD_F64, &value, &is_null), name);
    if (is_null)
        PG_RETURN_NULL();
    PG_RETURN_FLOAT8(value);
}

#define FINAL(name, kind, columns, statistic, ddof, description)                                                                       \
    FUNCTION(name##_final)                                                                                                             \
    {                                                                                                                                  \
        return value_of(fcinfo, group_argument(fcinfo, 0), TREEFOLD_EXACT_##statistic, ddof, #name);                                   \
    }
AGGREGATES(FINAL)
AGGREGATES_WITHOUT_BYTES(FINAL)

FUNCTION(exact_sum_float4_final)
{
    Group *group = group_argument(fcinfo, 0);
    float value = 0;
    int is_null = group == NULL;
    if (group != NULL)
        check(treefold_aggregate_value(aggregate_of(group), TREEFOLD_EXACT_SUM, 0, TREEFOLD_F32, &value, &is_null), "exact_sum");
    if (is_null)
        PG_RETURN_NULL();
    PG_RETURN_FLOAT4(value);
}

#define READER(name, kind, columns, statistic, ddof, description)                                                                      \
    FUNCTION(name##_of)                                                                                                                \
    {                                                                                                                                  \
        Group *group = read_group(CurrentMemoryContext, PG_GETARG_BYTEA_PP(0), __func__);                                              \
        return value_of(fcinfo, group, TREEFOLD_EXACT_##statistic, ddof, __func__);                                                    \
    }
AGGREGATES(READER)
