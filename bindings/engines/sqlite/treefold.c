/*
 * Adds exact aggregates and window functions to SQLite 3.25 or later. In SQLite's shell, `.load ./treefold` loads this extension.
 *
 * treefold_sql_functions() lists the aggregates of rows. Some of them, named exact_..._state, return their state as a BLOB. The aggregate
 * exact_merge merges such states into one, and the scalar functions exact_..._of return a statistic of one state.
 *
 * SQLite calls `step` for a row that enters a group or a window frame, `inverse` for a row that leaves the frame, `value` for the result of
 * a frame, and `final` for the last result. SQLite calls `final`, which frees the state, even if a statement fails or is interrupted.
 */
#include <sqlite3ext.h>
#include <treefold_aggregates.h>

SQLITE_EXTENSION_INIT1

/* The aggregate that merges states. Its statistic is never read, since the first state of a group determines the kind of its state. */
static const treefold_sql_function merge = {"exact_merge", TREEFOLD_EXACT_COUNT, 0, 1, 0, 1};

/* The rows of one group or window frame. SQLite allocates this struct, filled with zeros and aligned to 8 bytes. */
struct group {
    sqlite3_int64 rows;  /* the number of rows or states in the group, without those that have a NULL */
    sqlite3_int64 reals; /* the number of rows in which a number is not an INTEGER */
    int has_state;       /* whether `state` was initialized and must be cleared */
    uint64_t state[64];  /* larger than any state; treefold_aggregate_init checks this */
};

/* ---- Errors ------------------------------------------------------------------------------------------------------------------- */

/* Ends the statement with an error. `suffix` completes the name of the function: "_of" for a reader of states, otherwise "". */
static void fail(sqlite3_context *context, const char *suffix, const char *text)
{
    const treefold_sql_function *function = sqlite3_user_data(context);
    char *message = sqlite3_mprintf("%s%s: %s", function->name, suffix, text);
    if (message == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, message, -1);
    sqlite3_free(message);
}

/* Returns whether a call of libtreefold succeeded. If the call failed, ends the statement with the call's error. */
static int is_ok(sqlite3_context *context, const char *suffix, treefold_status status)
{
    if (status == TREEFOLD_MEMORY)
        sqlite3_result_error_nomem(context);
    else if (status != TREEFOLD_OK)
        fail(context, suffix, treefold_last_error());
    return status == TREEFOLD_OK;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------------------- */

static treefold_aggregate *state_of(struct group *group)
{
    return (treefold_aggregate *)group->state;
}

static void clear(struct group *group)
{
    if (group->has_state)
        treefold_aggregate_clear(state_of(group));
    group->has_state = 0;
}

/* Initializes a group's state for a statistic, without rows. Returns whether this succeeded. */
static int init(sqlite3_context *context, const char *suffix, struct group *group, treefold_statistic statistic)
{
    clear(group);
    group->has_state = is_ok(context, suffix, treefold_aggregate_init(state_of(group), sizeof group->state, statistic));
    return group->has_state;
}

/* ---- Rows of numbers ---------------------------------------------------------------------------------------------------------- */

/* The value of an argument. Its type is TREEFOLD_I64, TREEFOLD_F64, or 0 for NULL. */
struct number {
    treefold_type type;
    union {
        double real;
        sqlite3_int64 integer;
    } value;
};

/* Reads an argument as SQLite's sum() does. Text that is a number is read as this number. Other text and blobs are read as the REAL at
   their beginning, or as 0.0 if they do not begin with a number. */
static struct number number_of(sqlite3_value *argument)
{
    struct number number = {0, {0}};
    switch (sqlite3_value_numeric_type(argument)) {
    case SQLITE_NULL:
        break;
    case SQLITE_INTEGER:
        number.type = TREEFOLD_I64;
        number.value.integer = sqlite3_value_int64(argument);
        break;
    default:
        number.type = TREEFOLD_F64;
        number.value.real = sqlite3_value_double(argument);
    }
    return number;
}

/* The type of treefold_aggregate_add and treefold_aggregate_remove. */
typedef treefold_status change_of_rows(treefold_aggregate *, treefold_type, const void *, treefold_type, const void *, size_t);

static void change_row(sqlite3_context *context, int columns, sqlite3_value **arguments, change_of_rows *change, int sign)
{
    const treefold_sql_function *function = sqlite3_user_data(context);
    struct group *group = sqlite3_aggregate_context(context, sizeof *group);
    struct number first = number_of(arguments[0]), second = {0, {0}};
    if (group == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (columns == 2)
        second = number_of(arguments[1]);
    if (first.type == 0 || (columns == 2 && second.type == 0))
        return;
    if (!group->has_state && !init(context, "", group, function->statistic))
        return;
    const struct number *x = function->y_first ? &second : &first, *y = function->y_first ? &first : &second;
    if (!is_ok(context, "", change(state_of(group), x->type, &x->value, y->type, columns == 2 ? &y->value : NULL, 1)))
        return;
    group->rows += sign;
    group->reals += first.type == TREEFOLD_F64 || second.type == TREEFOLD_F64 ? sign : 0;
}

static void step(sqlite3_context *context, int columns, sqlite3_value **arguments)
{
    change_row(context, columns, arguments, treefold_aggregate_add, 1);
}

static void inverse(sqlite3_context *context, int columns, sqlite3_value **arguments)
{
    change_row(context, columns, arguments, treefold_aggregate_remove, -1);
}

/* ---- Rows of states ----------------------------------------------------------------------------------------------------------- */

/* Reads a state from an argument that is not NULL into `group`, which must be filled with zeros. The caller must clear the group later. */
static int read_state(sqlite3_context *context, const char *suffix, sqlite3_value *argument, struct group *group,
                      treefold_statistic *statistic)
{
    if (sqlite3_value_type(argument) != SQLITE_BLOB) {
        fail(context, suffix, "the argument is not a state, because it is not a BLOB");
        return 0;
    }
    const void *bytes = sqlite3_value_blob(argument);
    const size_t n = (size_t)sqlite3_value_bytes(argument);
    return is_ok(context, suffix, treefold_aggregate_statistic(bytes, n, statistic)) && init(context, suffix, group, *statistic) &&
           is_ok(context, suffix, treefold_aggregate_of_bytes(state_of(group), bytes, n));
}

/* The type of treefold_aggregate_merge and treefold_aggregate_unmerge. */
typedef treefold_status change_of_states(treefold_aggregate *, const treefold_aggregate *);

static void change_state(sqlite3_context *context, sqlite3_value *argument, change_of_states *change, int sign)
{
    struct group *group = sqlite3_aggregate_context(context, sizeof *group), other = {0};
    treefold_statistic statistic;
    if (group == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (sqlite3_value_type(argument) == SQLITE_NULL)
        return;
    /* The first state in a group determines the kind of the group's state, as does the first one after all states have left a frame. */
    if (read_state(context, "", argument, &other, &statistic) && (group->rows != 0 || init(context, "", group, statistic)) &&
        is_ok(context, "", change(state_of(group), state_of(&other))))
        group->rows += sign;
    clear(&other);
}

static void step_state(sqlite3_context *context, int columns, sqlite3_value **arguments)
{
    (void)columns;
    change_state(context, arguments[0], treefold_aggregate_merge, 1);
}

static void inverse_state(sqlite3_context *context, int columns, sqlite3_value **arguments)
{
    (void)columns;
    change_state(context, arguments[0], treefold_aggregate_unmerge, -1);
}

/* ---- Results ------------------------------------------------------------------------------------------------------------------ */

/* Sets the result to the function's statistic, as an INTEGER or a REAL. SQLite has no NaN; sqlite3_result_double turns a NaN into NULL. */
static void return_statistic(sqlite3_context *context, const char *suffix, struct group *group, int is_integer)
{
    const treefold_sql_function *function = sqlite3_user_data(context);
    struct number result = {is_integer ? TREEFOLD_I64 : TREEFOLD_F64, {0}};
    int is_null = 0;
    const treefold_status status = treefold_aggregate_value(state_of(group), function->statistic, function->ddof, result.type,
                                                            &result.value, &is_null);
    if (is_integer && status == TREEFOLD_ARGUMENT)
        fail(context, suffix, "integer overflow");
    else if (!is_ok(context, suffix, status) || is_null)
        return;
    else if (is_integer)
        sqlite3_result_int64(context, result.value.integer);
    else
        sqlite3_result_double(context, result.value.real);
}

/* Sets the result to the group's state as a BLOB. A state without rows, which merging may give, leaves the result NULL. */
static void return_state(sqlite3_context *context, struct group *group)
{
    size_t n = 0;
    sqlite3_int64 rows = 0;
    int is_null = 0;
    if (!is_ok(context, "", treefold_aggregate_value(state_of(group), TREEFOLD_EXACT_COUNT, 0, TREEFOLD_I64, &rows, &is_null)) || rows == 0)
        return;
    if (!is_ok(context, "", treefold_aggregate_to_bytes(state_of(group), NULL, 0, &n)))
        return;
    void *bytes = sqlite3_malloc64(n);
    if (bytes == NULL)
        sqlite3_result_error_nomem(context);
    else if (is_ok(context, "", treefold_aggregate_to_bytes(state_of(group), bytes, n, &n)))
        sqlite3_result_blob64(context, bytes, n, sqlite3_free);
    else
        sqlite3_free(bytes);
}

/* Sets the result of an aggregate. Without rows, sets nothing, which SQLite treats as NULL. */
static void value(sqlite3_context *context)
{
    const treefold_sql_function *function = sqlite3_user_data(context);
    struct group *group = sqlite3_aggregate_context(context, 0);
    if (group == NULL || group->rows == 0)
        return;
    if (function->returns_state)
        return_state(context, group);
    else
        return_statistic(context, "", group, function->statistic == TREEFOLD_EXACT_SUM && group->reals == 0);
}

static void final(sqlite3_context *context)
{
    struct group *group = sqlite3_aggregate_context(context, 0);
    value(context);
    if (group != NULL)
        clear(group);
}

/* The scalar functions exact_..._of(state). */
static void value_of_state(sqlite3_context *context, int columns, sqlite3_value **arguments)
{
    struct group group = {0};
    treefold_statistic statistic;
    (void)columns;
    if (sqlite3_value_type(arguments[0]) == SQLITE_NULL)
        return;
    if (read_state(context, "_of", arguments[0], &group, &statistic))
        return_statistic(context, "_of", &group, 0);
    clear(&group);
}

/* ---- The list of functions ---------------------------------------------------------------------------------------------------- */

#ifndef SQLITE_INNOCUOUS /* SQLite before 3.31 */
#define SQLITE_INNOCUOUS 0
#endif
#define FLAGS (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

/* The type of the functions that SQLite calls for a row. */
typedef void row_callback(sqlite3_context *, int, sqlite3_value **);

static int create_aggregate(sqlite3 *db, const treefold_sql_function *function, row_callback *add, row_callback *remove)
{
    return sqlite3_create_window_function(db, function->name, function->columns, FLAGS, (void *)function, add, final, value, remove, NULL);
}

static int create_reader(sqlite3 *db, const treefold_sql_function *function)
{
    char *name = sqlite3_mprintf("%s_of", function->name);
    int status = SQLITE_NOMEM;
    if (name != NULL)
        status = sqlite3_create_function_v2(db, name, 1, FLAGS, (void *)function, value_of_state, NULL, NULL, NULL);
    sqlite3_free(name);
    return status;
}

static int create_functions(sqlite3 *db)
{
    size_t count = 0;
    const treefold_sql_function *functions = treefold_sql_functions(&count);
    int status = create_aggregate(db, &merge, step_state, inverse_state);
    for (size_t i = 0; i < count && status == SQLITE_OK; i++) {
        const int has_reader = !functions[i].returns_state && functions[i].statistic != TREEFOLD_EXACT_WEIGHTED_MEAN;
        status = create_aggregate(db, &functions[i], step, inverse);
        if (status == SQLITE_OK && has_reader)
            status = create_reader(db, &functions[i]);
    }
    return status;
}

/* SQLite derives the name of this function from the name of the file, treefold.so. */
__attribute__((visibility("default"))) int sqlite3_treefold_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

int sqlite3_treefold_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    if (sqlite3_libversion_number() < 3025000) {
        *error = sqlite3_mprintf("treefold: SQLite %s has no window functions; use SQLite 3.25 or later", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    if (treefold_version() / 100 != TREEFOLD_VERSION / 100) {
        *error = sqlite3_mprintf("treefold: the extension was compiled for libtreefold %d.%d, but it loaded %s", TREEFOLD_VERSION / 10000,
                                 TREEFOLD_VERSION / 100 % 100, treefold_version_string());
        return SQLITE_ERROR;
    }
    return create_functions(db);
}
