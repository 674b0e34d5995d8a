/*
 * Implements exact aggregates for PostgreSQL with the aggregate states of libtreefold.
 *
 * libtreefold may allocate further memory for a state, outside PostgreSQL's memory contexts. So each state is stored in a context together
 * with a callback, which frees that memory when the context is reset or deleted. This happens when a group ends, and when a statement fails
 * or is cancelled. A state that is needed for only one row is stored in the row's context, also with a callback.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "check.h"
#include "functions.h"

/* The columns of a function, in SQL's order. For example, YX means f(y, x). */
enum columns
{
    X,
    XY,
    YX
};

/* ---- Waiting rows -------------------------------------------------------------------------------------------------------------- */

/*
 * Exact sums do not depend on the order in which rows are added, so the latest rows wait here before they are added. With many groups,
 * this leaves time to prefetch the states into the cache. With few groups, one call of libtreefold adds several rows. Any function that
 * reads a state, or removes a row from a state, first adds all waiting rows. If this fails, the remaining rows still wait, because they
 * may belong to the open cursor of another statement.
 */
enum
{
    WAITING_MOST = 16
};

static struct
{
    int begin, end;
    treefold_aggregate *states[WAITING_MOST]; /* NULL if the state was freed */
    bool is_pair[WAITING_MOST];
    double x[WAITING_MOST], y[WAITING_MOST];
} waiting;

static pg_noinline void add_waiting(void)
{
    while (waiting.begin < waiting.end)
    {
        int i = waiting.begin, rows = 1;
        treefold_aggregate *state = waiting.states[i];
        bool is_pair = waiting.is_pair[i];
        while (i + rows < waiting.end && waiting.states[i + rows] == state)
            rows++;
        if (state != NULL)
            check(treefold_aggregate_add(state, TREEFOLD_F64, &waiting.x[i], is_pair ? TREEFOLD_F64 : 0, is_pair ? &waiting.y[i] : NULL,
                                         rows),
                  "exact aggregate");
        waiting.begin += rows;
    }
    waiting.begin = waiting.end = 0;
}

static inline void add_later(treefold_aggregate *state, bool is_pair, double x, double y)
{
    if (waiting.end == WAITING_MOST)
        add_waiting();
    int i = waiting.end++;
    waiting.states[i] = state;
    waiting.is_pair[i] = is_pair;
    waiting.x[i] = x;
    waiting.y[i] = y;
    __builtin_prefetch(state);
    __builtin_prefetch((char *)state + 64);
}

/* ---- States -------------------------------------------------------------------------------------------------------------------- */

/* The state of a window must not be NULL. Until a row without NULLs enters the window, its state is the address of `no_rows`. */
static char no_rows;

static void clear_state(void *state)
{
    for (int i = waiting.begin; i < waiting.end; i++)
        if (waiting.states[i] == state)
            waiting.states[i] = NULL;
    treefold_aggregate_clear(state);
}

/* Creates a state. The callback that clears the state is stored directly after it. */
static treefold_aggregate *new_state(MemoryContext context, treefold_statistic statistic, const char *name)
{
    size_t bytes = 0;
    check(treefold_aggregate_bytes(statistic, &bytes), name);
    treefold_aggregate *state = MemoryContextAlloc(context, bytes + sizeof(MemoryContextCallback));
    check(treefold_aggregate_init(state, bytes, statistic), name);
    MemoryContextCallback *callback = (MemoryContextCallback *)((char *)state + bytes);
    callback->func = clear_state;
    callback->arg = state;
    MemoryContextRegisterResetCallback(context, callback);
    return state;
}

/* Creates a state from bytes. */
static treefold_aggregate *read_state(MemoryContext context, bytea *bytes, const char *name)
{
    const void *data = VARDATA_ANY(bytes);
    size_t n = VARSIZE_ANY_EXHDR(bytes);
    treefold_statistic statistic = 0;
    check(treefold_aggregate_statistic(data, n, &statistic), name);
    treefold_aggregate *state = new_state(context, statistic, name);
    check(treefold_aggregate_of_bytes(state, data, n), name);
    return state;
}

static bytea *write_state(treefold_aggregate *state, const char *name)
{
    /* This capacity, in bytes, is enough for most states. */
    size_t capacity = 512, n = 0;
    bytea *bytes = palloc(VARHDRSZ + capacity);
    treefold_status status = treefold_aggregate_to_bytes(state, VARDATA(bytes), capacity, &n);
    if (status == TREEFOLD_LENGTH)
    {
        check(treefold_aggregate_to_bytes(state, NULL, 0, &n), name);
        bytes = palloc(VARHDRSZ + n);
        status = treefold_aggregate_to_bytes(state, VARDATA(bytes), n, &n);
    }
    check(status, name);
    SET_VARSIZE(bytes, VARHDRSZ + n);
    return bytes;
}

/* Returns the state that is argument i, or NULL if there is no state yet. */
static inline treefold_aggregate *state_argument(FunctionCallInfo fcinfo, int i)
{
    treefold_aggregate *state = PG_ARGISNULL(i) ? NULL : (treefold_aggregate *)PG_GETARG_POINTER(i);
    return (char *)state == &no_rows ? NULL : state;
}

/* ---- Transitions --------------------------------------------------------------------------------------------------------------- */

static MemoryContext context_of(FunctionCallInfo fcinfo, const char *name)
{
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        elog(ERROR, "%s: called outside of an aggregate", name);
    return context;
}

/* Returns the unchanged state, which is the result for a row that is skipped. */
static Datum unchanged(FunctionCallInfo fcinfo)
{
    if (!PG_ARGISNULL(0))
        return PG_GETARG_DATUM(0);
    if (AggCheckCallContext(fcinfo, NULL) == AGG_CONTEXT_WINDOW)
        PG_RETURN_POINTER(&no_rows);
    PG_RETURN_NULL();
}

/* Adds or removes a row. The row consists of x, or of x and y if `is_pair`. */
static pg_attribute_always_inline Datum change(FunctionCallInfo fcinfo, bool adds, treefold_statistic statistic, bool is_pair, double x,
                                               double y, const char *name)
{
    treefold_aggregate *state = state_argument(fcinfo, 0);
    if (unlikely(state == NULL))
        state = new_state(context_of(fcinfo, name), statistic, name);
    if (adds)
        add_later(state, is_pair, x, y);
    else
    {
        add_waiting();
        check(treefold_aggregate_remove(state, TREEFOLD_F64, &x, is_pair ? TREEFOLD_F64 : 0, is_pair ? &y : NULL, 1), name);
    }
    PG_RETURN_POINTER(state);
}

static pg_attribute_always_inline Datum change_row(FunctionCallInfo fcinfo, bool adds, treefold_statistic statistic, enum columns columns,
                                                   const char *name)
{
    if (PG_ARGISNULL(1) || (columns != X && PG_ARGISNULL(2)))
        return unchanged(fcinfo);
    double first = PG_GETARG_FLOAT8(1), second = columns == X ? 0 : PG_GETARG_FLOAT8(2);
    return columns == YX ? change(fcinfo, adds, statistic, true, second, first, name)
                         : change(fcinfo, adds, statistic, columns == XY, first, second, name);
}

#define ROWS(kind, columns, statistic)                                                                                                 \
    FUNCTION(exact_##kind##_add)                                                                                                       \
    {                                                                                                                                  \
        return change_row(fcinfo, true, TREEFOLD_EXACT_##statistic, columns, __func__);                                                \
    }                                                                                                                                  \
    FUNCTION(exact_##kind##_remove)                                                                                                    \
    {                                                                                                                                  \
        return change_row(fcinfo, false, TREEFOLD_EXACT_##statistic, columns, __func__);                                               \
    }
KINDS(ROWS)
KINDS_WITHOUT_BYTES(ROWS)

FUNCTION(exact_sum_float4_add)
{
    return PG_ARGISNULL(1) ? unchanged(fcinfo)
                           : change(fcinfo, true, TREEFOLD_EXACT_SUM, false, PG_GETARG_FLOAT4(1), 0, __func__);
}

FUNCTION(exact_sum_float4_remove)
{
    return PG_ARGISNULL(1) ? unchanged(fcinfo)
                           : change(fcinfo, false, TREEFOLD_EXACT_SUM, false, PG_GETARG_FLOAT4(1), 0, __func__);
}

typedef treefold_status change_state(treefold_aggregate *, const treefold_aggregate *);

/* Adds or removes the rows of a state that is given as bytes. */
static Datum change_bytes(FunctionCallInfo fcinfo, change_state *call)
{
    if (PG_ARGISNULL(1))
        return unchanged(fcinfo);
    const char *name = "exact_merge";
    MemoryContext context = context_of(fcinfo, name);
    treefold_aggregate *state = state_argument(fcinfo, 0);
    bytea *bytes = PG_GETARG_BYTEA_PP(1);
    if (state == NULL)
        PG_RETURN_POINTER(read_state(context, bytes, name));
    check(call(state, read_state(CurrentMemoryContext, bytes, name)), name);
    PG_RETURN_POINTER(state);
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
    add_waiting();
    MemoryContext context = context_of(fcinfo, __func__);
    treefold_aggregate *state = state_argument(fcinfo, 0), *other = state_argument(fcinfo, 1);
    if (other == NULL)
        return unchanged(fcinfo);
    /* The other state lives only as long as its row, so it is copied. */
    if (state == NULL)
        PG_RETURN_POINTER(read_state(context, write_state(other, __func__), __func__));
    /* The error names exact_merge, since only states of exact_merge can be of different kinds. */
    check(treefold_aggregate_merge(state, other), "exact_merge");
    PG_RETURN_POINTER(state);
}

FUNCTION(exact_state_serialize)
{
    add_waiting();
    PG_RETURN_BYTEA_P(write_state((treefold_aggregate *)PG_GETARG_POINTER(0), __func__));
}

FUNCTION(exact_state_deserialize)
{
    PG_RETURN_POINTER(read_state(CurrentMemoryContext, PG_GETARG_BYTEA_PP(0), __func__));
}

/* ---- Results ------------------------------------------------------------------------------------------------------------------- */

/* Writes a statistic to *value, as a number of `type`, unless the statistic is undefined. Returns whether it is defined. */
static bool find(treefold_aggregate *state, treefold_statistic statistic, double ddof, treefold_type type, void *value, const char *name)
{
    int is_null = state == NULL;
    add_waiting();
    if (state != NULL)
        check(treefold_aggregate_value(state, statistic, ddof, type, value, &is_null), name);
    return !is_null;
}

FUNCTION(exact_state_final)
{
    int64 rows;
    treefold_aggregate *state = state_argument(fcinfo, 0);
    if (!find(state, TREEFOLD_EXACT_COUNT, 0, TREEFOLD_I64, &rows, __func__) || rows == 0)
        PG_RETURN_NULL();
    PG_RETURN_BYTEA_P(write_state(state, __func__));
}

static Datum value_of(FunctionCallInfo fcinfo, treefold_aggregate *state, treefold_statistic statistic, double ddof, const char *name)
{
    double value;
    if (!find(state, statistic, ddof, TREEFOLD_F64, &value, name))
        PG_RETURN_NULL();
    PG_RETURN_FLOAT8(value);
}

#define FINAL(name, kind, columns, statistic, ddof, description)                                                                       \
    FUNCTION(name##_final)                                                                                                             \
    {                                                                                                                                  \
        return value_of(fcinfo, state_argument(fcinfo, 0), TREEFOLD_EXACT_##statistic, ddof, #name);                                   \
    }
AGGREGATES(FINAL)
AGGREGATES_WITHOUT_BYTES(FINAL)

FUNCTION(exact_sum_float4_final)
{
    float value;
    if (!find(state_argument(fcinfo, 0), TREEFOLD_EXACT_SUM, 0, TREEFOLD_F32, &value, "exact_sum"))
        PG_RETURN_NULL();
    PG_RETURN_FLOAT4(value);
}

#define READER(name, kind, columns, statistic, ddof, description)                                                                      \
    FUNCTION(name##_of)                                                                                                                \
    {                                                                                                                                  \
        treefold_aggregate *state = read_state(CurrentMemoryContext, PG_GETARG_BYTEA_PP(0), __func__);                                 \
        return value_of(fcinfo, state, TREEFOLD_EXACT_##statistic, ddof, __func__);                                                    \
    }
AGGREGATES(READER)
