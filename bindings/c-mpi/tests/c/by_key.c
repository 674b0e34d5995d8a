/* Plans by key: each sum against integers, whoever has which items, by every algorithm. */
#include "by_key.h"

static treefold_builder *builder_of(treefold_type type, int32_t figure, size_t groups)
{
    treefold_builder *builder = NULL;
    OK(treefold_builder_create_by_key(comm, type, figure, groups, &builder));
    OK(treefold_builder_root(builder, last()));
    return builder;
}

static treefold_plan *plan_of(treefold_type type, int32_t figure)
{
    treefold_plan *plan = NULL;
    treefold_builder *builder = builder_of(type, figure, KEYS);
    if (figure == TREEFOLD_EXACT_MOMENTS)
        OK(treefold_builder_agreed(builder));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    return plan;
}

static int same(const double *found, const double *expected, size_t count)
{
    return memcmp(found, expected, count * sizeof(double)) == 0;
}

/* Every operation of a plan. */
static void check_plan(treefold_plan *plan, int step)
{
    double result[KEYS] = {0};
    int is_mine = -1;
    size_t begin = 0, end = 0, n = deal(step);
    treefold_run *run = NULL;
    const char *name = NULL;
    OK(treefold_allreduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, result, KEYS));
    CHECK(same(result, sums, KEYS));
    memset(result, 0, sizeof result);
    size_t m = rank == last() ? KEYS : 0;
    OK(treefold_reduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, m > 0 ? result : NULL, m, &is_mine));
    CHECK(is_mine == (rank == last()) && (!is_mine || same(result, sums, KEYS)));
    OK(treefold_plan_algorithm(plan, TREEFOLD_REDUCE_SCATTER, &name));
    if (name == NULL) {
        EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_start_allreduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, &run));
        return;
    }
    OK(treefold_plan_scattered_columns(plan, &begin, &end));
    OK(treefold_reduce_scatter_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, result, end - begin));
    CHECK(same(result, sums + begin, end - begin));
    OK(treefold_start_allreduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, &run));
    /* They are free now. */
    memset(own_x, 0xFF, sizeof own_x);
    OK(treefold_wait(&run, result, KEYS, NULL));
    CHECK(same(result, sums, KEYS));
    n = deal(step);
    OK(treefold_start_reduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, &run));
    OK(treefold_wait(&run, result, KEYS, &is_mine));
    CHECK(is_mine == (rank == last()) && same(result, sums, KEYS));
    OK(treefold_start_reduce_scatter_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, &run));
    OK(treefold_wait_timeout(run, 100));
    OK(treefold_wait(&run, result, end - begin, &is_mine));
    CHECK(is_mine && same(result, sums + begin, end - begin));
}

static void algorithms(void)
{
    for (size_t index = 0; index < treefold_algorithm_count(); index++) {
        treefold_builder *builder = builder_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM, KEYS);
        treefold_plan *plan = NULL;
        OK(treefold_builder_algorithm(builder, treefold_algorithm_name(index)));
        treefold_status status = treefold_plan_build(builder, &plan);
        OK(treefold_builder_destroy(&builder));
        if (status == TREEFOLD_UNSUPPORTED)
            continue;
        CHECK(status == TREEFOLD_OK);
        for (int step = 0; step < STEPS; step++)
            check_plan(plan, step);
        OK(treefold_plan_destroy(&plan));
    }
}

/* Each type of keys, floats, and means. */
static void types(void)
{
    static uint64_t room[N];
    double result[KEYS];
    float small[KEYS];
    treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM), *small_plan = plan_of(TREEFOLD_F32, TREEFOLD_EXACT_SUM);
    treefold_plan *mean_plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS);
    size_t n = deal(1);
#define OF_TYPE(code, c_type)                                                                                                          \
    for (size_t i = 0; i < n; i++)                                                                                                     \
        ((c_type *)(void *)room)[i] = (c_type)own_keys[i];                                                                             \
    OK(treefold_allreduce_by_key(plan, code, room, n, own_x, n, result, KEYS));                                                        \
    CHECK(same(result, sums, KEYS));
    OF_TYPE(TREEFOLD_I8, int8_t)
    OF_TYPE(TREEFOLD_I16, int16_t)
    OF_TYPE(TREEFOLD_I64, int64_t)
    OF_TYPE(TREEFOLD_U8, uint8_t)
    OF_TYPE(TREEFOLD_U16, uint16_t)
    OF_TYPE(TREEFOLD_U32, uint32_t)
    OF_TYPE(TREEFOLD_U64, uint64_t)
    OK(treefold_allreduce_by_key(small_plan, TREEFOLD_I32, own_keys, n, own_small, n, small, KEYS));
    CHECK(memcmp(small, small_sums, sizeof small) == 0);
    OK(treefold_allreduce_by_key(mean_plan, TREEFOLD_I32, own_keys, n, own_x, n, result, KEYS));
    double expected[KEYS];
    OK(treefold_exact_mean_by_key_f64(TREEFOLD_I64, keys, N, x, N, expected, KEYS));
    for (size_t key = 0; key < KEYS; key++) {
        CHECK(bits(result[key]) == bits(expected[key]));
        CHECK(key == KEYS - 1 ? isnan(result[key]) : fabs(result[key] - means[key] * UNIT) <= fabs(result[key]) * 0x1p-52);
    }
    OK(treefold_plan_destroy(&plan));
    OK(treefold_plan_destroy(&small_plan));
    OK(treefold_plan_destroy(&mean_plan));
}

/* States by key, of which moments have more than one result. */
static void states(void)
{
    treefold_keyed *all = NULL, *own = NULL, *own_sums = NULL, *other = NULL;
    treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS), *sum_plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    uint64_t counts[KEYS], all_counts[KEYS];
    double found[KEYS], expected[KEYS];
    size_t n = deal(1), begin, end;
    int is_mine = -1;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, KEYS, &all));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, KEYS, &own));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, KEYS, &own_sums));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, KEYS + 1, &other));
    OK(treefold_keyed_add(all, TREEFOLD_I64, keys, N, x, N));
    OK(treefold_keyed_add(own, TREEFOLD_I32, own_keys, n, own_x, n));
    OK(treefold_keyed_add(own_sums, TREEFOLD_I32, own_keys, n, own_x, n));
    OK(treefold_keyed_variances(all, 1, expected, KEYS));
    OK(treefold_keyed_counts(all, all_counts, KEYS));
    /* Only the root's changes. */
    OK(treefold_reduce_keyed(sum_plan, own_sums, &is_mine));
    CHECK(is_mine == (rank == last()));
    OK(treefold_keyed_sums(own_sums, found, KEYS));
    CHECK(!is_mine || same(found, sums, KEYS));
    if (rank == last()) {
        /* It begins again with its own items. */
        OK(treefold_keyed_destroy(&own_sums));
        OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, KEYS, &own_sums));
        OK(treefold_keyed_add(own_sums, TREEFOLD_I32, own_keys, n, own_x, n));
    }
    OK(treefold_plan_scattered_columns(sum_plan, &begin, &end));
    OK(treefold_reduce_scatter_keyed(sum_plan, own_sums));
    OK(treefold_keyed_sums(own_sums, found, end - begin));
    CHECK(same(found, sums + begin, end - begin));
    OK(treefold_allreduce_keyed(plan, own));
    OK(treefold_keyed_counts(own, counts, KEYS));
    OK(treefold_keyed_variances(own, 1, found, KEYS));
    CHECK(memcmp(counts, all_counts, sizeof counts) == 0);
    for (size_t key = 0; key < KEYS; key++)
        CHECK(bits(found[key]) == bits(expected[key]) || (isnan(found[key]) && isnan(expected[key])));
    /* The same between start and end: another state becomes the result, on the root alone. */
    treefold_run *run = NULL;
    OK(treefold_start_allreduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, &run));
    OK(treefold_wait_keyed(&run, other, &is_mine));
    OK(treefold_keyed_variances(other, 1, found, KEYS));
    CHECK(is_mine && run == NULL && same(found, expected, KEYS - 1));
    OK(treefold_start_reduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, &run));
    OK(treefold_wait_keyed(&run, rank == last() ? own : NULL, &is_mine));
    CHECK(is_mine == (rank == last()));
    OK(treefold_keyed_counts(own, counts, KEYS));
    CHECK(memcmp(counts, all_counts, sizeof counts) == 0);
    /* The run ends well, and the plan goes on. */
    OK(treefold_start_allreduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, &run));
    EXPECT(TREEFOLD_ARGUMENT, "another type or figure", treefold_wait_keyed(&run, own_sums, NULL));
    OK(treefold_allreduce_by_key(plan, TREEFOLD_I32, own_keys, n, own_x, n, found, KEYS));
    OK(treefold_keyed_destroy(&other));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS, KEYS + 1, &other));
    /* A state of another kind or size on one rank, which stays as it was. */
    OK(treefold_plan_destroy(&plan));
    for (int kind = 0; kind < 2; kind++) {
        plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS);
        if (rank != last())
            EXPECT(TREEFOLD_RANK_FAILED, "", treefold_allreduce_keyed(plan, own));
        else if (kind == 0)
            EXPECT(TREEFOLD_ARGUMENT, "another type or figure", treefold_allreduce_keyed(plan, own_sums));
        else
            EXPECT(TREEFOLD_LENGTH, "the plan is for 23 keys, not 24", treefold_allreduce_keyed(plan, other));
        OK(treefold_plan_destroy(&plan));
    }
    OK(treefold_keyed_counts(own, counts, KEYS));
    CHECK(memcmp(counts, all_counts, sizeof counts) == 0);
    OK(treefold_plan_destroy(&sum_plan));
    OK(treefold_keyed_destroy(&all));
    OK(treefold_keyed_destroy(&own));
    OK(treefold_keyed_destroy(&own_sums));
    OK(treefold_keyed_destroy(&other));
}

/* What does not fit a row travels beside it. */
static void far_and_special(void)
{
    double wide[N], own[N], expected[KEYS], result[KEYS];
    for (size_t i = 0; i < N; i++)
        wide[i] = i % 50 == 3 ? INFINITY : i % 50 == 4 ? -0.0 : ldexp(number(i), (int)(i * 37 % 2000) - 1000);
    wide[7] = NAN;
    OK(treefold_exact_sum_by_key_f64(TREEFOLD_I64, keys, N, wide, N, expected, KEYS));
    treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    for (int step = 0; step < STEPS; step++) {
        size_t count = 0;
        for (size_t i = 0; i < N; i++)
            if (owner(i, step) == rank)
                own_keys[count] = (int32_t)keys[i], own[count++] = wide[i];
        OK(treefold_allreduce_by_key(plan, TREEFOLD_I32, own_keys, count, own, count, result, KEYS));
        CHECK(same(result, expected, KEYS));
    }
    /* Nobody has items. */
    OK(treefold_allreduce_by_key(plan, TREEFOLD_U8, NULL, 0, NULL, 0, result, KEYS));
    for (size_t key = 0; key < KEYS; key++)
        CHECK(bits(result[key]) == bits(0.0));
    OK(treefold_plan_destroy(&plan));
}

/* One rank's call fails as it should, and the others hear of it; the plan is spent. */
#define OF_LAST(code, words, call, right)                                                                                              \
    do {                                                                                                                               \
        treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM);                                                               \
        if (rank == last()) {                                                                                                          \
            EXPECT(code, words, call);                                                                                                 \
        } else {                                                                                                                       \
            EXPECT(TREEFOLD_RANK_FAILED, "", right);                                                                                   \
            CHECK(treefold_last_error_rank() == last());                                                                               \
        }                                                                                                                              \
        EXPECT(TREEFOLD_SPENT, "", treefold_allreduce_by_key(plan, TREEFOLD_I32, good, 2, own_x, 2, result, KEYS));                    \
        OK(treefold_plan_destroy(&plan));                                                                                              \
    } while (0)

static treefold_status started(treefold_plan *plan, const int32_t *of_keys, size_t n)
{
    double result[KEYS];
    treefold_run *run = NULL;
    treefold_status status = treefold_start_allreduce_by_key(plan, TREEFOLD_I32, of_keys, n, own_x, 2, &run);
    return status == TREEFOLD_OK ? treefold_wait(&run, result, KEYS, NULL) : status;
}

static void mistakes(void)
{
    const int32_t good[2] = {0, KEYS - 1}, large[2] = {0, KEYS}, negative[2] = {-3, 0};
    double result[KEYS];
    int is_mine;
    treefold_builder *builder = NULL;
    treefold_run *run = NULL;
    deal(0);
#define RIGHT treefold_allreduce_by_key(plan, TREEFOLD_I32, good, 2, own_x, 2, result, KEYS)
    OF_LAST(TREEFOLD_ARGUMENT, "item 1 has key 23, and keys are 0 to 22",
            treefold_allreduce_by_key(plan, TREEFOLD_I32, large, 2, own_x, 2, result, KEYS), RIGHT);
    OF_LAST(TREEFOLD_ARGUMENT, "item 0 has key -3, and keys are 0 to 22",
            treefold_reduce_by_key(plan, TREEFOLD_I32, negative, 2, own_x, 2, result, KEYS, &is_mine),
            treefold_reduce_by_key(plan, TREEFOLD_I32, good, 2, own_x, 2, result, KEYS, &is_mine));
    OF_LAST(TREEFOLD_LENGTH, "`keys` has 1 elements, but `items` has 2",
            treefold_allreduce_by_key(plan, TREEFOLD_I32, good, 1, own_x, 2, result, KEYS), RIGHT);
    OF_LAST(TREEFOLD_LENGTH, "", treefold_allreduce_by_key(plan, TREEFOLD_I32, good, 2, own_x, 2, result, KEYS - 1), RIGHT);
    OF_LAST(TREEFOLD_ARGUMENT, "keys are integers", treefold_allreduce_by_key(plan, TREEFOLD_F32, good, 2, own_x, 2, result, KEYS), RIGHT);
    OF_LAST(TREEFOLD_ARGUMENT, "overlap", treefold_allreduce_by_key(plan, TREEFOLD_I32, good, 2, own_x, 2, own_x, KEYS), RIGHT);
    OF_LAST(TREEFOLD_NULL, "`keys`", treefold_allreduce_by_key(plan, TREEFOLD_I32, NULL, 2, own_x, 2, result, KEYS), RIGHT);
    OF_LAST(TREEFOLD_ARGUMENT, "treefold_allreduce_by_key", treefold_allreduce(plan, own_x, 2, result, KEYS), RIGHT);
    OF_LAST(TREEFOLD_ARGUMENT, "item 1 has key 23", started(plan, large, 2), started(plan, good, 2));
    OF_LAST(TREEFOLD_LENGTH, "`keys` has 1", started(plan, good, 1), started(plan, good, 2));
    treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    OK(treefold_start_allreduce_by_key(plan, TREEFOLD_I32, good, 2, own_x, 2, &run));
    EXPECT(TREEFOLD_UNDER_WAY, "", RIGHT);
    EXPECT(TREEFOLD_LENGTH, "", treefold_wait(&run, result, 3, NULL));
    OK(RIGHT);
    OK(treefold_plan_destroy(&plan));
    plan = plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    EXPECT(TREEFOLD_UNSUPPORTED, "broadcast", treefold_broadcast(plan, result, KEYS));
    OK(treefold_plan_destroy(&plan));
    /* A plan of exact sums takes no keys. */
    treefold_keyed *keyed = NULL;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, KEYS, &keyed));
    OK(treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, &builder));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    OK(treefold_start_allreduce(plan, own_x, 2, &run));
    EXPECT(TREEFOLD_ARGUMENT, "not by key", treefold_wait_keyed(&run, keyed, NULL));
    OK(treefold_keyed_destroy(&keyed));
    EXPECT(TREEFOLD_ARGUMENT, "not by key", treefold_allreduce_by_key(plan, TREEFOLD_I32, good, 2, own_x, 2, result, 1));
    OK(treefold_plan_destroy(&plan));
    EXPECT(TREEFOLD_ARGUMENT, "`keys`: 0", treefold_builder_create_by_key(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "figures 2", treefold_builder_create_by_key(comm, TREEFOLD_F64, TREEFOLD_EXACT_NORM, 1, &builder));
    EXPECT(TREEFOLD_UNSUPPORTED, "real", treefold_builder_create_by_key(comm, TREEFOLD_C64, TREEFOLD_EXACT_SUM, 1, &builder));
    builder = builder_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM, rank == 0 ? 5 : 6);
    EXPECT(TREEFOLD_ARGUMENT, "no rows", treefold_builder_width(builder, 2));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_local_items(builder, 2));
    if (size > 1)
        EXPECT(TREEFOLD_DISAGREE, "number of keys: rank 0 has 5", treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    /* There is no memory for these: an error, and no abort. */
    builder = builder_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM, (size_t)1 << 58);
    EXPECT(TREEFOLD_MEMORY, "more than it can get", treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
}

static void all(void)
{
    algorithms();
    types();
    states();
    far_and_special();
    mistakes();
}

int main(int argc, char **argv)
{
    return on_ranks(argc, argv, all);
}
