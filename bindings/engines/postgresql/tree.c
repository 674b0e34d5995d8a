/* Implements tree_sum: collects the rows of a group in their order, and sums them in tree order when the group ends. */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "check.h"

/* The rows of a group. The struct's size is a power of two, since PostgreSQL's allocator rounds every size up to a power of two anyway. */
typedef struct Rows
{
    size_t count;
    size_t capacity;
    double items[FLEXIBLE_ARRAY_MEMBER]; /* floats if the column is float4 */
} Rows;

/* Returns the rows of the aggregate's state, with room for another row of item_bytes bytes. */
static Rows *reserve(FunctionCallInfo fcinfo, Size item_bytes, const char *name)
{
    const Size header = offsetof(Rows, items);
    Rows *rows = PG_ARGISNULL(0) ? NULL : (Rows *)PG_GETARG_POINTER(0);
    MemoryContext context;
    if (rows == NULL)
    {
        Size bytes = 64;
        if (!AggCheckCallContext(fcinfo, &context))
            elog(ERROR, "%s: called outside of an aggregate", name);
        rows = MemoryContextAlloc(context, bytes);
        rows->count = 0;
        rows->capacity = (bytes - header) / item_bytes;
    }
    else if (rows->count == rows->capacity)
    {
        Size bytes = 2 * (header + rows->capacity * item_bytes);
        rows = repalloc_huge(rows, bytes);
        rows->capacity = (bytes - header) / item_bytes;
    }
    return rows;
}

#define TREE_SUM(number, type, ITEM, RETURN, sum)                                                                                      \
    FUNCTION(tree_sum_##number##_add)                                                                                                  \
    {                                                                                                                                  \
        if (PG_ARGISNULL(1))                                                                                                           \
        {                                                                                                                              \
            if (PG_ARGISNULL(0))                                                                                                       \
                PG_RETURN_NULL();                                                                                                      \
            return PG_GETARG_DATUM(0);                                                                                                 \
        }                                                                                                                              \
        Rows *rows = reserve(fcinfo, sizeof(type), __func__);                                                                          \
        ((type *)rows->items)[rows->count++] = ITEM(1);                                                                                \
        PG_RETURN_POINTER(rows);                                                                                                       \
    }                                                                                                                                  \
    FUNCTION(tree_sum_##number##_final)                                                                                                \
    {                                                                                                                                  \
        type result = 0;                                                                                                               \
        if (PG_ARGISNULL(0))                                                                                                           \
            PG_RETURN_NULL();                                                                                                          \
        const Rows *rows = (Rows *)PG_GETARG_POINTER(0);                                                                               \
        CHECK_FOR_INTERRUPTS();                                                                                                        \
        check(sum((const type *)rows->items, rows->count, &result), "tree_sum");                                                       \
        RETURN(result);                                                                                                                \
    }
TREE_SUM(float8, double, PG_GETARG_FLOAT8, PG_RETURN_FLOAT8, treefold_sum_f64)
TREE_SUM(float4, float, PG_GETARG_FLOAT4, PG_RETURN_FLOAT4, treefold_sum_f32)
