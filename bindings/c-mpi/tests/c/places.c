/* Calls every function of treefold_mpi.h with invalid result pointers: NULL, misaligned, and into an array that the function reads or
   writes. Each rank runs alone. A run with an invalid argument spends its plan, so each call has a plan of its own. */
#include "../../../c/tests/c/places.h"

#include "ranks.h"

static MPI_Comm self = MPI_COMM_SELF;

/* COUNT is the number of doubles in `items`. Calls by key pass the array `others`, which holds zeros, as keys. */
enum { COUNT = ROOM_BYTES / sizeof(double), KEYED_RUN = -1 };

#define OF_TREE(width) &(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_SUM, COUNT / (width), width, NULL}
#define OF_EXACT(statistic, width) &(struct recipe){EXACT, TREEFOLD_F64, TREEFOLD_EXACT_##statistic, 0, width, NULL}
#define OF_KEYS &(struct recipe){BY_KEY, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, 2, NULL}

static treefold_run *run_of(treefold_plan *plan, int32_t operation)
{
    treefold_run *run = NULL;
    OK(operation == KEYED_RUN ? treefold_start_by_key(plan, TREEFOLD_REDUCE, TREEFOLD_I64, others, COUNT, items, COUNT, NULL, 0, &run)
                              : treefold_start(plan, operation, items, COUNT, NULL, 0, &run));
    return run;
}

static treefold_keyed *keyed_of(void)
{
    treefold_keyed *keyed = NULL;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &keyed));
    return keyed;
}

static treefold_hashed *hashed_of(void)
{
    treefold_hashed *hashed = NULL;
    size_t count = 0;
    OK(treefold_hashed_create(comm, TREEFOLD_I64, TREEFOLD_F64, 0, &hashed));
    OK(treefold_hashed_run(hashed, TREEFOLD_ALLREDUCE, others, COUNT, items, COUNT, &count));
    return hashed;
}

static treefold_comm *comm_of(void)
{
    treefold_comm *own = NULL;
    OK(treefold_comm_duplicate(MPI_COMM_SELF, &own));
    return own;
}

static int left_one(void *context, const void *left, const void *right, void *out)
{
    (void)context;
    (void)right;
    memcpy(out, left, 8);
    return 0;
}

/* Each row defines a function that creates the arguments of a call and makes the call. If the call succeeds, the function destroys the
   arguments. If it fails, the function makes no other calls, so the error message can still be read. */
#undef CALL_OF
#define CALL_OF(function, result, make, call, end, ...)                                                                                \
    static treefold_status function##_##result(void *result)                                                                           \
    {                                                                                                                                  \
        make;                                                                                                                          \
        treefold_status status = function call;                                                                                        \
        if (status == TREEFOLD_OK) {                                                                                                   \
            end;                                                                                                                       \
        }                                                                                                                              \
        return status;                                                                                                                 \
    }
#undef PLACE_OF
#define PLACE_OF(function, result, make, call, end, ...) {#function, #result, function##_##result, __VA_ARGS__},

#define NOTHING (void)0
#define PLAN(recipe) treefold_plan *plan = plan_of(recipe)
#define END_PLAN OK(treefold_plan_destroy(&plan))
#define RUN(operation)                                                                                                                 \
    PLAN(OF_TREE(1));                                                                                                                  \
    treefold_run *own = run_of(plan, operation)
#define END_RUN OK(treefold_cancel(&own)); END_PLAN
#define STATE                                                                                                                          \
    PLAN(OF_KEYS);                                                                                                                     \
    treefold_keyed *keyed = keyed_of()
#define END_STATE OK(treefold_keyed_destroy(&keyed)); END_PLAN
#define HASHED treefold_hashed *hashed = hashed_of()
#define END_HASHED OK(treefold_hashed_destroy(&hashed))
#define END_STARTED OK(treefold_cancel((void *)results)); END_PLAN
#define END_SECOND OK(treefold_cancel(SECOND)); END_PLAN
/* Stores a handle in `results` if the call reads the handle from there. */
#define AT(place, handle) (place == results ? (void)memcpy(results, &handle, sizeof handle) : (void)0)
#define SECOND (void *)(results + ROOM_BYTES)
#define OTHER(name) {SECOND, "`" #name "`"}
#define LOCAL {items, "`local`"}
#define X_AND_Y {items, "`x`"}, {others, "`y`"}
#define KEYS_AND_ITEMS {items, "`items`"}, {others, "`keys`"}
#define X items, COUNT
#define PAIR items, COUNT, others, COUNT
#define APART &(const void *){items}, &(const void *){others}, 1, COUNT
#define KEYED TREEFOLD_I64, others, COUNT, items, COUNT
#define REDUCE plan, TREEFOLD_REDUCE
#define NO_PLACE NULL, 0

/* The rows of RESULTS have results that must not be NULL; those of NULLABLE have results that may be NULL. */
#define RESULTS                                                                                                                        \
    ROW(treefold_mpi_library, text, NOTHING, (text), NOTHING, 8, {{0}})                                                                \
    ROW(treefold_comm_duplicate_checked, result, NOTHING,                                                                              \
        (&self, sizeof self, TREEFOLD_MPI_FAMILY, (treefold_mpi_function)MPI_Comm_size, result), OK(treefold_comm_destroy(result)), 8, \
        {{0}})                                                                                                                         \
    ROW(treefold_comm_duplicate_f, result, NOTHING, ((int32_t)MPI_Comm_c2f(self), (int32_t)MPI_Comm_c2f(MPI_COMM_WORLD), result),      \
        OK(treefold_comm_destroy(result)), 8, {{0}})                                                                                   \
    ROW(treefold_comm_rank, rank, NOTHING, (comm, rank), NOTHING, 4, {{0}})                                                            \
    ROW(treefold_comm_size, size, NOTHING, (comm, size), NOTHING, 4, {{0}})                                                            \
    ROW(treefold_comm_destroy, comm, treefold_comm *own = comm_of(); AT(comm, own), (comm), NOTHING, 8, {{0}})                         \
    ROW(treefold_comm_free, comm, treefold_comm *own = comm_of(); AT(comm, own), (comm), NOTHING, 8, {{0}})                            \
    ROW(treefold_builder_create, result, NOTHING, (comm, TREEFOLD_F64, TREEFOLD_SUM, result), OK(treefold_builder_destroy(result)), 8, \
        {{0}})                                                                                                                         \
    ROW(treefold_builder_create_exact, result, NOTHING, (comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, result),                              \
        OK(treefold_builder_destroy(result)), 8, {{0}})                                                                                \
    ROW(treefold_builder_create_by_key, result, NOTHING, (comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, result),                          \
        OK(treefold_builder_destroy(result)), 8, {{0}})                                                                                \
    ROW(treefold_builder_create_user, result, NOTHING, (comm, "left", 8, left_one, NULL, items, result),                               \
        OK(treefold_builder_destroy(result)), 8, {{items, "`empty`"}})                                                                 \
    ROW(treefold_builder_destroy, builder, treefold_builder *own = builder_of(OF_TREE(1)); AT(builder, own), (builder), NOTHING, 8,    \
        {{0}})                                                                                                                         \
    ROW(treefold_plan_build, result, treefold_builder *own = builder_of(OF_TREE(1)), (own, result),                                    \
        OK(treefold_plan_destroy(result)); OK(treefold_builder_destroy(&own)), 8, {{0}})                                               \
    ROW(treefold_plan_destroy, plan, treefold_plan *own = plan_of(OF_TREE(1)); AT(plan, own), (plan), NOTHING, 8, {{0}})               \
    ROW(treefold_plan_algorithm, name, PLAN(OF_TREE(1)), (plan, TREEFOLD_ALLREDUCE, name), END_PLAN, 8, {{0}})                         \
    ROW(treefold_plan_scattered_columns, begin, PLAN(OF_TREE(1)), (plan, begin, SECOND), END_PLAN, 8, {OTHER(end)})                    \
    ROW(treefold_plan_scattered_columns, end, PLAN(OF_TREE(1)), (plan, SECOND, end), END_PLAN, 8, {OTHER(begin)})                      \
    ROW(treefold_plan_print, text, PLAN(OF_TREE(1)), (plan, text, 32, SECOND), END_PLAN, 1, {OTHER(needed)})                           \
    ROW(treefold_plan_print, needed, PLAN(OF_TREE(1)), (plan, SECOND, 32, needed), END_PLAN, 8, {OTHER(text)})                         \
    ROW(treefold_allreduce, result, PLAN(OF_TREE(1)), (plan, X, result, 1), END_PLAN, 8, {LOCAL})                                      \
    ROW(treefold_reduce, result, PLAN(OF_TREE(2)), (plan, X, result, 2, SECOND), END_PLAN, 8, {LOCAL, OTHER(is_mine)})                 \
    ROW(treefold_reduce_scatter, result, PLAN(OF_TREE(4)), (plan, X, result, 4), END_PLAN, 8, {LOCAL})                                 \
    ROW(treefold_scan, result, PLAN(OF_TREE(1)), (plan, X, result, COUNT), END_PLAN, 8, {LOCAL})                                       \
    ROW(treefold_exscan, result, PLAN(OF_EXACT(SUM, 1)), (plan, X, result, COUNT), END_PLAN, 8, {LOCAL})                               \
    ROW(treefold_broadcast, row, PLAN(OF_TREE(2)), (plan, row, 2), END_PLAN, 8, {{0}})                                                 \
    ROW(treefold_run_dot, result, PLAN(OF_EXACT(DOT, 2)), (REDUCE, PAIR, result, 2, SECOND), END_PLAN, 8,                              \
        {X_AND_Y, OTHER(is_mine)})                                                                                                     \
    ROW(treefold_run_dots, result, PLAN(OF_EXACT(DOT, 1)), (REDUCE, APART, result, 1, SECOND), END_PLAN, 8,                            \
        {X_AND_Y, OTHER(is_mine)})                                                                                                     \
    ROW(treefold_run_by_key, result, PLAN(OF_KEYS), (REDUCE, KEYED, result, 2, SECOND), END_PLAN, 8,                                   \
        {KEYS_AND_ITEMS, OTHER(is_mine)})                                                                                              \
    ROW(treefold_start, result, PLAN(OF_TREE(1)), (REDUCE, X, result, 1, SECOND), END_SECOND, 8, {LOCAL, OTHER(run)})                  \
    ROW(treefold_start, run, PLAN(OF_TREE(1)), (REDUCE, X, SECOND, 1, run), END_STARTED, 8, {LOCAL, OTHER(result)})                    \
    ROW(treefold_start_dot, result, PLAN(OF_EXACT(DOT, 1)), (REDUCE, PAIR, result, 1, SECOND), END_SECOND, 8,                          \
        {X_AND_Y, OTHER(run)})                                                                                                         \
    ROW(treefold_start_dot, run, PLAN(OF_EXACT(VDOT, 1)), (REDUCE, PAIR, NO_PLACE, run), END_STARTED, 8, {X_AND_Y})                    \
    ROW(treefold_start_dots, result, PLAN(OF_EXACT(DOT, 1)), (REDUCE, APART, result, 1, SECOND), END_SECOND, 8,                        \
        {X_AND_Y, OTHER(run)})                                                                                                         \
    ROW(treefold_start_dots, run, PLAN(OF_EXACT(DOT, 1)), (REDUCE, APART, NO_PLACE, run), END_STARTED, 8, {X_AND_Y})                   \
    ROW(treefold_start_by_key, result, PLAN(OF_KEYS), (REDUCE, KEYED, result, 2, SECOND), END_SECOND, 8,                               \
        {KEYS_AND_ITEMS, OTHER(run)})                                                                                                  \
    ROW(treefold_start_by_key, run, PLAN(OF_KEYS), (REDUCE, KEYED, NO_PLACE, run), END_STARTED, 8, {KEYS_AND_ITEMS})                   \
    ROW(treefold_test, done, RUN(TREEFOLD_REDUCE), (own, done), END_RUN, 4, {{0}})                                                     \
    ROW(treefold_plan_pending, pending, PLAN(OF_TREE(1)), (plan, pending), END_PLAN, 4, {{0}})                                         \
    ROW(treefold_run_plan, plan, treefold_run *own = run_of(plan_of(OF_TREE(1)), TREEFOLD_REDUCE), (own, plan),                        \
        OK(treefold_cancel(&own)), 8, {{0}})                                                                                           \
    ROW(treefold_run_algorithm, name, RUN(TREEFOLD_REDUCE), (own, name), END_RUN, 8, {{0}})                                            \
    ROW(treefold_wait, result, RUN(TREEFOLD_REDUCE), (&own, result, 1, SECOND), END_PLAN, 8, {OTHER(is_mine)})                         \
    ROW(treefold_wait, run, RUN(TREEFOLD_REDUCE); AT(run, own), (run, SECOND, 1, NULL), END_PLAN, 8, {{0}})                            \
    ROW(treefold_wait_all, runs, PLAN(OF_TREE(1)); treefold_run *own = NULL;                                                           \
        OK(treefold_start(REDUCE, X, SECOND, 1, &own)); AT(runs, own), (runs, 1), END_PLAN, 8, {{0}})                                  \
    ROW(treefold_wait_keyed, run, STATE; treefold_run *own = run_of(plan, KEYED_RUN); AT(run, own), (run, keyed, NULL), END_STATE, 8,  \
        {{0}})                                                                                                                         \
    ROW(treefold_cancel, run, RUN(TREEFOLD_REDUCE); AT(run, own), (run), END_PLAN, 8, {{0}})                                           \
    ROW(treefold_hashed_create, result, NOTHING, (comm, TREEFOLD_I64, TREEFOLD_F64, 0, result), OK(treefold_hashed_destroy(result)),   \
        8, {{0}})                                                                                                                      \
    ROW(treefold_hashed_destroy, hashed, treefold_hashed *own = hashed_of(); AT(hashed, own), (hashed), NOTHING, 8, {{0}})             \
    ROW(treefold_hashed_run, count, HASHED, (hashed, TREEFOLD_ALLREDUCE, others, COUNT, items, COUNT, count), END_HASHED, 8,           \
        {KEYS_AND_ITEMS})                                                                                                              \
    ROW(treefold_hashed_result, keys, HASHED, (hashed, keys, 1, SECOND, 1), END_HASHED, 8, {OTHER(sums)})                              \
    ROW(treefold_hashed_result, sums, HASHED, (hashed, SECOND, 1, sums, 1), END_HASHED, 8, {OTHER(keys)})

#define NULLABLE                                                                                                                       \
    ROW(treefold_reduce, is_mine, PLAN(OF_TREE(1)), (plan, X, SECOND, 1, is_mine), END_PLAN, 4, {LOCAL, OTHER(result)})                \
    ROW(treefold_run_dot, is_mine, PLAN(OF_EXACT(DOT, 1)), (REDUCE, PAIR, SECOND, 1, is_mine), END_PLAN, 4,                            \
        {X_AND_Y, OTHER(result)})                                                                                                      \
    ROW(treefold_run_dots, is_mine, PLAN(OF_EXACT(DOT, 1)), (REDUCE, APART, SECOND, 1, is_mine), END_PLAN, 4,                          \
        {X_AND_Y, OTHER(result)})                                                                                                      \
    ROW(treefold_run_by_key, is_mine, PLAN(OF_KEYS), (REDUCE, KEYED, SECOND, 2, is_mine), END_PLAN, 4,                                 \
        {KEYS_AND_ITEMS, OTHER(result)})                                                                                               \
    ROW(treefold_run_keyed, is_mine, STATE, (REDUCE, keyed, is_mine), END_STATE, 4, {{0}})                                             \
    ROW(treefold_wait, is_mine, RUN(TREEFOLD_REDUCE), (&own, SECOND, 1, is_mine), END_PLAN, 4, {OTHER(result)})                        \
    ROW(treefold_wait_keyed, is_mine, STATE; treefold_run *own = run_of(plan, KEYED_RUN), (&own, keyed, is_mine), END_STATE, 4, {{0}})

#define ROW CALL_OF
RESULTS
NULLABLE
#undef ROW
#define ROW PLACE_OF
static const struct place table[] = {RESULTS}, nullable[] = {NULLABLE};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    size = 1;
    comm = comm_of();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check_place(&table[i], 0);
    for (size_t i = 0; i < sizeof nullable / sizeof *nullable; i++)
        check_place(&nullable[i], 1);
    treefold_comm *copy = NULL;
    _Alignas(16) char places[sizeof self + 1];
    memcpy(places + 1, &self, sizeof self);
    EXPECT(TREEFOLD_ARGUMENT, "`comm`: its address",
           treefold_comm_duplicate_checked(places + 1, sizeof self, TREEFOLD_MPI_FAMILY, (treefold_mpi_function)MPI_Comm_size, &copy));
    OK(treefold_comm_destroy(&comm));
    MPI_Finalize();
    return failures != 0;
}
