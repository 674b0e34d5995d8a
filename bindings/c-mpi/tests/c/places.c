/* Every function of treefold_mpi.h, with results that are NULL, not aligned, or in the way of what it reads or writes: c.md, Errors. Each
   rank for itself: a plan whose run was refused is spent, so each call has one of its own. */
#include "../../../c/tests/c/places.h"

#include <treefold_mpi.h>

static treefold_comm *comm;

/* The type's elements in `items`. */
enum { COUNT = ROOM_BYTES / sizeof(double) };

static treefold_builder *builder_of(int32_t figure, size_t width)
{
    treefold_builder *builder = NULL;
    if (figure != 0) {
        OK(treefold_builder_create_exact(comm, TREEFOLD_F64, figure, &builder));
    } else {
        OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
        OK(treefold_builder_local_items(builder, COUNT / width));
    }
    OK(treefold_builder_width(builder, width));
    return builder;
}

static treefold_plan *plan_of(int32_t figure, size_t width)
{
    treefold_plan *plan = NULL;
    treefold_builder *builder = builder_of(figure, width);
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    return plan;
}

static treefold_run *run_of(treefold_plan *plan, int is_scan)
{
    treefold_run *run = NULL;
    OK(is_scan ? treefold_start_scan(plan, items, COUNT, &run) : treefold_start_reduce(plan, items, COUNT, &run));
    return run;
}

/* A function's call with one result, on things of its own. */
#define CALL(function, result, make, call, end)                                                                                        \
    static treefold_status function##_##result(void *result)                                                                           \
    {                                                                                                                                  \
        make;                                                                                                                          \
        treefold_status status = function call;                                                                                        \
        /* The next calls may succeed: what this one said is kept. */                                                                  \
        if (status == TREEFOLD_OK) {                                                                                                   \
            end;                                                                                                                       \
        }                                                                                                                              \
        return status;                                                                                                                 \
    }

#define NOTHING (void)0
#define PLAN(figure, width) treefold_plan *plan = plan_of(figure, width)
#define END_PLAN OK(treefold_plan_destroy(&plan))
#define RUN(is_scan)                                                                                                                   \
    PLAN(0, 1);                                                                                                                        \
    treefold_run *run = run_of(plan, is_scan)
#define MINE (void *)(results + ROOM_BYTES)
#define END_RUN                                                                                                                        \
    OK(treefold_cancel(&run));                                                                                                         \
    END_PLAN

/* A handle where the call looks for it, if it can. */
#define PUT(handle)                                                                                                                    \
    if (place == results)                                                                                                              \
    memcpy(results, &handle, sizeof handle)

static const char *family = TREEFOLD_MPI_FAMILY;
static MPI_Comm self = MPI_COMM_SELF;

static int left_one(void *context, const void *left, const void *right, void *out)
{
    (void)context;
    (void)right;
    memcpy(out, left, 8);
    return 0;
}

#define END_COMM OK(treefold_comm_destroy((treefold_comm **)result))
#define END_BUILDER OK(treefold_builder_destroy((treefold_builder **)result))
#define END_RESULT OK(treefold_plan_destroy((treefold_plan **)result))
CALL(treefold_mpi_library, text, NOTHING, (text), NOTHING)
CALL(treefold_comm_duplicate_checked, result, NOTHING,
     (&self, sizeof self, family, (treefold_mpi_function)MPI_Comm_size, result), END_COMM)
CALL(treefold_comm_duplicate_f, result, NOTHING, ((int32_t)MPI_Comm_c2f(self), (int32_t)MPI_Comm_c2f(MPI_COMM_WORLD), result), END_COMM)
CALL(treefold_comm_rank, rank, NOTHING, (comm, rank), NOTHING)
CALL(treefold_comm_size, size, NOTHING, (comm, size), NOTHING)
CALL(treefold_builder_create, result, NOTHING, (comm, TREEFOLD_F64, TREEFOLD_SUM, result), END_BUILDER)
CALL(treefold_builder_create_exact, result, NOTHING, (comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, result), END_BUILDER)
CALL(treefold_builder_create_user, result, NOTHING, (comm, "left", 8, left_one, NULL, items, result), END_BUILDER)
CALL(treefold_builder_create_by_key, result, NOTHING, (comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, result), END_BUILDER)
CALL(treefold_plan_build, result, treefold_builder *builder = builder_of(0, 1), (builder, result), END_RESULT)
CALL(treefold_plan_algorithm, name, PLAN(0, 1), (plan, TREEFOLD_ALLREDUCE, name), END_PLAN)
CALL(treefold_plan_scattered_columns, begin, PLAN(0, 1), (plan, begin, MINE), END_PLAN)
CALL(treefold_plan_scattered_columns, end, PLAN(0, 1), (plan, MINE, end), END_PLAN)
CALL(treefold_plan_print, text, PLAN(0, 1), (plan, text, 32, MINE), END_PLAN)
CALL(treefold_plan_print, needed, PLAN(0, 1), (plan, MINE, 32, needed), END_PLAN)
CALL(treefold_allreduce, result, PLAN(0, 1), (plan, items, COUNT, result, 1), END_PLAN)
CALL(treefold_reduce, result, PLAN(0, 2), (plan, items, COUNT, result, 2, MINE), END_PLAN)
CALL(treefold_reduce, is_mine, PLAN(0, 1), (plan, items, COUNT, MINE, 1, is_mine), END_PLAN)
CALL(treefold_reduce_scatter, result, PLAN(0, 4), (plan, items, COUNT, result, 4), END_PLAN)
CALL(treefold_scan, result, PLAN(0, 1), (plan, items, COUNT, result, COUNT), END_PLAN)
CALL(treefold_exscan, result, PLAN(TREEFOLD_EXACT_SUM, 1), (plan, items, COUNT, result, COUNT), END_PLAN)
CALL(treefold_broadcast, row, PLAN(0, 2), (plan, row, 2), END_PLAN)
CALL(treefold_allreduce_dot, result, PLAN(TREEFOLD_EXACT_DOT, 1), (plan, items, COUNT, others, COUNT, result, 1), END_PLAN)
#define APART &(const void *){items}, &(const void *){others}, 1
CALL(treefold_allreduce_dots, result, PLAN(TREEFOLD_EXACT_DOT, 1), (plan, APART, COUNT, result, 1), END_PLAN)
CALL(treefold_reduce_dot, result, PLAN(TREEFOLD_EXACT_DOT, 2), (plan, items, COUNT, others, COUNT, result, 2, MINE), END_PLAN)
CALL(treefold_reduce_dot, is_mine, PLAN(TREEFOLD_EXACT_DOT, 1), (plan, items, COUNT, others, COUNT, MINE, 1, is_mine), END_PLAN)
#define END_STARTED                                                                                                                    \
    OK(treefold_cancel((treefold_run **)run));                                                                                         \
    END_PLAN
CALL(treefold_start_allreduce, run, PLAN(0, 1), (plan, items, COUNT, run), END_STARTED)
CALL(treefold_start_reduce, run, PLAN(0, 1), (plan, items, COUNT, run), END_STARTED)
CALL(treefold_start_reduce_scatter, run, PLAN(TREEFOLD_EXACT_NORM, 1), (plan, items, COUNT, run), END_STARTED)
CALL(treefold_start_scan, run, PLAN(0, 1), (plan, items, COUNT, run), END_STARTED)
CALL(treefold_start_exscan, run, PLAN(0, 1), (plan, items, COUNT, run), END_STARTED)
CALL(treefold_start_allreduce_dot, run, PLAN(TREEFOLD_EXACT_DOT, 1), (plan, items, COUNT, others, COUNT, run), END_STARTED)
CALL(treefold_start_allreduce_dots, run, PLAN(TREEFOLD_EXACT_DOT, 1), (plan, APART, COUNT, run), END_STARTED)
CALL(treefold_start_reduce_dot, run, PLAN(TREEFOLD_EXACT_VDOT, 1), (plan, items, COUNT, others, COUNT, run), END_STARTED)
#define PLAN_BY_KEY                                                                                                                    \
    treefold_builder *builder = NULL;                                                                                                  \
    treefold_plan *plan = NULL;                                                                                                        \
    OK(treefold_builder_create_by_key(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &builder));                                           \
    OK(treefold_plan_build(builder, &plan));                                                                                           \
    OK(treefold_builder_destroy(&builder))
/* Keys are the zeros of `others`. */
#define KEYED plan, TREEFOLD_I64, others, COUNT, items, COUNT
CALL(treefold_allreduce_by_key, result, PLAN_BY_KEY, (KEYED, result, 2), END_PLAN)
CALL(treefold_reduce_by_key, result, PLAN_BY_KEY, (KEYED, result, 2, MINE), END_PLAN)
CALL(treefold_reduce_by_key, is_mine, PLAN_BY_KEY, (KEYED, MINE, 2, is_mine), END_PLAN)
CALL(treefold_reduce_scatter_by_key, result, PLAN_BY_KEY, (KEYED, result, 2), END_PLAN)
CALL(treefold_start_allreduce_by_key, run, PLAN_BY_KEY, (KEYED, run), END_STARTED)
CALL(treefold_start_reduce_by_key, run, PLAN_BY_KEY, (KEYED, run), END_STARTED)
CALL(treefold_start_reduce_scatter_by_key, run, PLAN_BY_KEY, (KEYED, run), END_STARTED)
#define STATE                                                                                                                          \
    PLAN_BY_KEY;                                                                                                                       \
    treefold_keyed *keyed = NULL;                                                                                                      \
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &keyed))
#define END_STATE                                                                                                                      \
    OK(treefold_keyed_destroy(&keyed));                                                                                                \
    END_PLAN
CALL(treefold_reduce_keyed, is_mine, STATE, (plan, keyed, is_mine), END_STATE)
#define HASHED                                                                                                                         \
    treefold_hashed *hashed = NULL;                                                                                                    \
    size_t sums_count = 0;                                                                                                             \
    OK(treefold_hashed_create(comm, TREEFOLD_I64, TREEFOLD_F64, 0, &hashed));                                                          \
    OK(treefold_hashed_allreduce(hashed, others, COUNT, items, COUNT, &sums_count))
#define END_HASHED OK(treefold_hashed_destroy(&hashed))
CALL(treefold_hashed_create, result, NOTHING, (comm, TREEFOLD_I64, TREEFOLD_F64, 0, result),
     OK(treefold_hashed_destroy((treefold_hashed **)result)))
CALL(treefold_hashed_allreduce, count, HASHED, (hashed, others, COUNT, items, COUNT, count), END_HASHED)
CALL(treefold_hashed_reduce, count, HASHED, (hashed, others, COUNT, items, COUNT, count), END_HASHED)
CALL(treefold_hashed_reduce_scatter, count, HASHED, (hashed, others, COUNT, items, COUNT, count), END_HASHED)
CALL(treefold_hashed_result, keys, HASHED, (hashed, keys, 1, MINE, 1), END_HASHED)
CALL(treefold_hashed_result, sums, HASHED, (hashed, MINE, 1, sums, 1), END_HASHED)
CALL(treefold_test, done, RUN(0), (run, done), END_RUN)
CALL(treefold_plan_pending, pending, PLAN(0, 1), (plan, pending), END_PLAN)
CALL(treefold_run_plan, plan_of_run, RUN(0), (run, plan_of_run), END_RUN)
CALL(treefold_run_algorithm, name, RUN(0), (run, name), END_RUN)
CALL(treefold_wait, result, RUN(0), (&run, result, 1, MINE), END_PLAN)
CALL(treefold_wait, is_mine, RUN(0), (&run, MINE, 1, is_mine), END_PLAN)
CALL(treefold_wait, scan, RUN(1), (&run, scan, COUNT, NULL), END_PLAN)

#define STARTED_STATE                                                                                                                  \
    STATE;                                                                                                                             \
    treefold_run *run = NULL;                                                                                                          \
    OK(treefold_start_reduce_by_key(KEYED, &run))
CALL(treefold_wait_keyed, is_mine, STARTED_STATE, (&run, keyed, is_mine), END_STATE)

/* Handles that a call takes and ends. */
static treefold_status treefold_comm_destroy_comm(void *place)
{
    treefold_comm *own = NULL;
    OK(treefold_comm_duplicate(MPI_COMM_SELF, &own));
    PUT(own);
    return treefold_comm_destroy(place);
}

static treefold_status treefold_comm_free_comm(void *place)
{
    treefold_comm *own = NULL;
    OK(treefold_comm_duplicate(MPI_COMM_SELF, &own));
    PUT(own);
    return treefold_comm_free(place);
}

static treefold_status treefold_builder_destroy_builder(void *place)
{
    treefold_builder *own = builder_of(0, 1);
    PUT(own);
    return treefold_builder_destroy(place);
}

static treefold_status treefold_plan_destroy_plan(void *place)
{
    treefold_plan *own = plan_of(0, 1);
    PUT(own);
    return treefold_plan_destroy(place);
}

static treefold_status treefold_hashed_destroy_hashed(void *place)
{
    treefold_hashed *own = NULL;
    OK(treefold_hashed_create(comm, TREEFOLD_I64, TREEFOLD_F64, 0, &own));
    PUT(own);
    return treefold_hashed_destroy(place);
}

static treefold_status treefold_wait_run(void *place)
{
    treefold_run *own = run_of(plan_of(0, 1), 0);
    PUT(own);
    return treefold_wait(place, MINE, 1, NULL);
}

static treefold_status treefold_wait_keyed_run(void *place)
{
    PLAN_BY_KEY;
    treefold_keyed *keyed = NULL;
    treefold_run *own = NULL;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &keyed));
    OK(treefold_start_reduce_by_key(KEYED, &own));
    PUT(own);
    return treefold_wait_keyed(place, keyed, NULL);
}

static treefold_status treefold_cancel_run(void *place)
{
    treefold_run *own = run_of(plan_of(0, 1), 0);
    PUT(own);
    return treefold_cancel(place);
}

#define ROW(function, result, alignment, ...) {#function, #result, function##_##result, alignment, 0, {__VA_ARGS__}}
#define LOCAL {items, "`local`"}
#define PAIRS {items, "`x`"}, {others, "`y`"}
#define WITH_KEYS {items, "`items`"}, {others, "`keys`"}
#define OTHER(name) {results + ROOM_BYTES, "`" #name "`"}

static const struct place table[] = {
    ROW(treefold_mpi_library, text, 8, {NULL, NULL}),
    ROW(treefold_comm_duplicate_checked, result, 8, {NULL, NULL}),
    ROW(treefold_comm_duplicate_f, result, 8, {NULL, NULL}),
    ROW(treefold_comm_rank, rank, 4, {NULL, NULL}),
    ROW(treefold_comm_size, size, 4, {NULL, NULL}),
    ROW(treefold_builder_create, result, 8, {NULL, NULL}),
    ROW(treefold_builder_create_exact, result, 8, {NULL, NULL}),
    ROW(treefold_builder_create_user, result, 8, {items, "`empty`"}),
    ROW(treefold_builder_create_by_key, result, 8, {NULL, NULL}),
    ROW(treefold_plan_build, result, 8, {NULL, NULL}),
    ROW(treefold_plan_algorithm, name, 8, {NULL, NULL}),
    ROW(treefold_plan_scattered_columns, begin, 8, OTHER(end)),
    ROW(treefold_plan_scattered_columns, end, 8, OTHER(begin)),
    ROW(treefold_plan_print, text, 1, OTHER(needed)),
    ROW(treefold_plan_print, needed, 8, OTHER(text)),
    ROW(treefold_allreduce, result, 8, LOCAL),
    ROW(treefold_reduce, result, 8, LOCAL, OTHER(is_mine)),
    ROW(treefold_reduce_scatter, result, 8, LOCAL),
    ROW(treefold_scan, result, 8, LOCAL),
    ROW(treefold_exscan, result, 8, LOCAL),
    ROW(treefold_broadcast, row, 8, {NULL, NULL}),
    ROW(treefold_allreduce_dot, result, 8, PAIRS),
    ROW(treefold_allreduce_dots, result, 8, PAIRS),
    ROW(treefold_reduce_dot, result, 8, PAIRS, OTHER(is_mine)),
    ROW(treefold_start_allreduce, run, 8, LOCAL),
    ROW(treefold_start_reduce, run, 8, LOCAL),
    ROW(treefold_start_reduce_scatter, run, 8, LOCAL),
    ROW(treefold_start_scan, run, 8, LOCAL),
    ROW(treefold_start_exscan, run, 8, LOCAL),
    ROW(treefold_start_allreduce_dot, run, 8, PAIRS),
    ROW(treefold_start_allreduce_dots, run, 8, PAIRS),
    ROW(treefold_start_reduce_dot, run, 8, PAIRS),
    ROW(treefold_allreduce_by_key, result, 8, WITH_KEYS),
    ROW(treefold_reduce_by_key, result, 8, WITH_KEYS, OTHER(is_mine)),
    ROW(treefold_reduce_scatter_by_key, result, 8, WITH_KEYS),
    ROW(treefold_start_allreduce_by_key, run, 8, WITH_KEYS),
    ROW(treefold_start_reduce_by_key, run, 8, WITH_KEYS),
    ROW(treefold_start_reduce_scatter_by_key, run, 8, WITH_KEYS),
    ROW(treefold_hashed_create, result, 8, {NULL, NULL}),
    ROW(treefold_hashed_destroy, hashed, 8, {NULL, NULL}),
    ROW(treefold_hashed_allreduce, count, 8, WITH_KEYS),
    ROW(treefold_hashed_reduce, count, 8, WITH_KEYS),
    ROW(treefold_hashed_reduce_scatter, count, 8, WITH_KEYS),
    ROW(treefold_hashed_result, keys, 8, OTHER(sums)),
    ROW(treefold_hashed_result, sums, 8, OTHER(keys)),
    ROW(treefold_test, done, 4, {NULL, NULL}),
    ROW(treefold_plan_pending, pending, 4, {NULL, NULL}),
    ROW(treefold_run_algorithm, name, 8, {NULL, NULL}),
    ROW(treefold_wait, result, 8, OTHER(is_mine)),
    {"treefold_wait", "result", treefold_wait_scan, 8, 0, {{NULL, NULL}}},
    ROW(treefold_comm_destroy, comm, 8, {NULL, NULL}),
    ROW(treefold_comm_free, comm, 8, {NULL, NULL}),
    ROW(treefold_builder_destroy, builder, 8, {NULL, NULL}),
    ROW(treefold_plan_destroy, plan, 8, {NULL, NULL}),
    ROW(treefold_wait, run, 8, {NULL, NULL}),
    ROW(treefold_wait_keyed, run, 8, {NULL, NULL}),
    ROW(treefold_cancel, run, 8, {NULL, NULL}),
    {"treefold_run_plan", "plan", treefold_run_plan_plan_of_run, 8, 0, {{NULL, NULL}}},
};

/* NULL is for those who do not want to know. */
static const struct place optional[] = {
    ROW(treefold_reduce, is_mine, 4, LOCAL, OTHER(result)),
    ROW(treefold_reduce_dot, is_mine, 4, PAIRS, OTHER(result)),
    ROW(treefold_reduce_by_key, is_mine, 4, WITH_KEYS, OTHER(result)),
    ROW(treefold_reduce_keyed, is_mine, 4, {NULL, NULL}),
    ROW(treefold_wait_keyed, is_mine, 4, {NULL, NULL}),
    ROW(treefold_wait, is_mine, 4, OTHER(result)),
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    OK(treefold_comm_duplicate(MPI_COMM_SELF, &comm));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check_place(&table[i], 0);
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
        check_place(&optional[i], 1);
    treefold_comm *copy = NULL;
    _Alignas(16) char places[sizeof self + 1];
    memcpy(places + 1, &self, sizeof self);
    EXPECT(TREEFOLD_ARGUMENT, "`comm`: its address", treefold_comm_duplicate_checked(places + 1, sizeof self, family, (treefold_mpi_function)MPI_Comm_size, &copy));
    OK(treefold_comm_destroy(&comm));
    MPI_Finalize();
    return failures != 0;
}
