/* Tests plans by key, states by key over ranks, and sums by 64-bit keys, for several distributions of the items and for every algorithm.
   The results must be those of integer arithmetic. */
#include "ranks.h"

#include "../../../c/tests/c/statistics.h"

enum { N = 700, KEYS = 23, STEPS = 3, TYPES = 2 };

static const treefold_type types[TYPES] = {TREEFOLD_F32, TREEFOLD_F64};

/* x and y hold pairs of small integers; wide holds numbers that are far apart in magnitude. Each array exists for floats and for doubles.
   No item has the last key. The arrays whose names begin with own_ hold this rank's items. */
static int32_t keys[N], own_keys[N];
static struct sums sums[KEYS];
static struct fraction wide_sums[TYPES][KEYS];
static void *x[TYPES], *y[TYPES], *wide[TYPES], *own_x[TYPES], *own_y[TYPES], *own_wide[TYPES];

static integer wide_item(size_t i, int type) { return random_integer(i, type == 0 ? 24 : 53) * ((integer)1 << (i * 7 % 50)); }

static void draw(void)
{
    static double room[TYPES][6][N];
    for (int type = 0; type < TYPES; type++) {
        void **arrays[6] = {&x[type], &y[type], &wide[type], &own_x[type], &own_y[type], &own_wide[type]};
        for (int i = 0; i < 6; i++)
            *arrays[i] = room[type][i];
        for (size_t key = 0; key < KEYS; key++)
            wide_sums[type][key] = (struct fraction){0, {0}, {1}};
        for (size_t i = 0; i < N; i++) {
            keys[i] = (int32_t)(i * 5 % (KEYS - 1));
            put(types[type], x[type], i, left_of(i)), put(types[type], y[type], i, right_of(i));
            put(types[type], wide[type], i, wide_item(i, type));
            wide_sums[type][keys[i]].p[0] += wide_item(i, type);
        }
    }
    for (size_t i = 0; i < N; i++)
        include(&sums[keys[i]], left_of(i), right_of(i));
}

/* Returns the rank that has item i in a step. In step 0, the last rank has all items. */
static int owner(size_t i, int step) { return step == 0 ? last() : (int)((i * 7919 + (size_t)step) % 11) % size; }

/* Collects this rank's items: ascending in even steps, descending in odd ones. */
static size_t deal(int step)
{
    size_t count = 0;
    for (size_t turn = 0; turn < N; turn++) {
        const size_t i = step % 2 == 0 ? turn : N - 1 - turn;
        if (owner(i, step) != rank)
            continue;
        own_keys[count] = keys[i];
        for (int type = 0; type < TYPES; type++) {
            put(types[type], own_x[type], count, left_of(i)), put(types[type], own_y[type], count, right_of(i));
            put(types[type], own_wide[type], count, wide_item(i, type));
        }
        count++;
    }
    return count;
}

static struct recipe recipe_of(int type, treefold_statistic statistic, const char *algorithm)
{
    return (struct recipe){BY_KEY, types[type], statistic, 0, KEYS, algorithm};
}

/* Checks sums and means for every algorithm, item type, key type and kind of call. */
static void sums_and_means(void)
{
    void *typed = calloc(N, 8);
    int turn = 0;
    for (size_t a = 0; treefold_algorithm_name(a) != NULL; a++)
        for (int of = 0; of < 2 * TYPES; of++) {
            const int type = of / 2;
            const treefold_statistic statistic = of % 2 == 0 ? TREEFOLD_EXACT_SUM : TREEFOLD_EXACT_MEAN;
            const size_t bytes = bytes_of(types[type]);
            const struct recipe recipe = recipe_of(type, statistic, treefold_algorithm_name(a));
            treefold_builder *builder = builder_of(&recipe);
            treefold_plan *plan = NULL;
            treefold_status status = treefold_plan_build(builder, &plan);
            OK(treefold_builder_destroy(&builder));
            if (status == TREEFOLD_UNSUPPORTED)
                continue;
            CHECK(status == TREEFOLD_OK);
            _Alignas(8) unsigned char expected[KEYS * 8];
            OK(treefold_by_key(types[type], statistic, 0, TREEFOLD_I32, keys, N, wide[type], N, NULL, 0, expected, KEYS));
            for (size_t key = 0; key < KEYS && statistic == TREEFOLD_EXACT_SUM; key++)
                CHECK(is_nearest(real(types[type], expected, key), type == 0 ? 24 : 53, &wide_sums[type][key]));
            const char *scatters = NULL;
            OK(treefold_plan_algorithm(plan, TREEFOLD_REDUCE_SCATTER, &scatters));
            const treefold_type key_type = TREEFOLD_I8 + turn++ % 8;
            const size_t n = deal(turn % STEPS);
            for (size_t i = 0; i < n; i++)
                put(key_type, typed, i, own_keys[i]);
            const struct input in = {.form = WITH_KEYS, .x = own_wide[type], .n = n, .key_type = key_type, .keys = typed};
            if (scatters == NULL) {
                /* The algorithm has no schedule, so only the blocking calls exist. */
                unsigned char found[KEYS * 8];
                treefold_run *none = NULL;
                OK(run(plan, TREEFOLD_ALLREDUCE, &in, found, KEYS, NULL));
                CHECK(memcmp(found, expected, KEYS * bytes) == 0);
                EXPECT(TREEFOLD_UNSUPPORTED, "", start(plan, TREEFOLD_REDUCE, &in, NULL, 0, &none));
            }
            for (int32_t operation = TREEFOLD_ALLREDUCE; operation <= TREEFOLD_REDUCE_SCATTER && scatters != NULL; operation++) {
                size_t begin = 0, end = KEYS;
                if (operation == TREEFOLD_REDUCE_SCATTER)
                    OK(treefold_plan_scattered_columns(plan, &begin, &end));
                CHECK(is_right_in_every_way(plan, operation, &in, expected + begin * bytes, (end - begin) * bytes, end - begin));
            }
            end_plan(&plan);
        }
    free(typed);
}

static treefold_keyed *state_of(int type, treefold_statistic statistic, const void *left, const void *right, const int32_t *of_keys,
                                size_t n)
{
    /* For a norm, treefold_keyed_add_pairs takes the items twice. */
    const int is_norm = statistic == TREEFOLD_EXACT_NORM;
    const int has_pairs = statistic >= TREEFOLD_EXACT_NORM && statistic != TREEFOLD_EXACT_SKEWNESS && statistic != TREEFOLD_EXACT_KURTOSIS;
    treefold_keyed *made = NULL;
    OK(treefold_keyed_create(types[type], statistic, KEYS, &made));
    OK(has_pairs ? treefold_keyed_add_pairs(made, TREEFOLD_I32, of_keys, n, left, n, is_norm ? left : right, n)
                 : treefold_keyed_add(made, TREEFOLD_I32, of_keys, n, left, n));
    return made;
}

static int are_equal(const treefold_keyed *one, const treefold_keyed *other)
{
    int equal = -1;
    OK(treefold_keyed_equal(one, other, &equal));
    return equal;
}

/* Checks, for every statistic, that a run replaces the state of a rank's own items with the state of all ranks' items. */
static void states(void)
{
    for (int type = 0; type < TYPES; type++)
        for (treefold_statistic statistic = 0; statistic <= TREEFOLD_EXACT_VDOT; statistic++)
            for (int step = 0; step < STEPS; step++) {
                const struct recipe recipe = recipe_of(type, statistic, NULL);
                treefold_plan *plan = plan_of(&recipe);
                const size_t n = deal(step);
                const treefold_type of_result = type_of_result(types[type], statistic);
                treefold_keyed *whole = state_of(type, statistic, x[type], y[type], keys, N), *before = NULL;
                treefold_keyed *own = state_of(type, statistic, own_x[type], own_y[type], own_keys, n), *root = NULL;
                uint64_t expected[KEYS], found[KEYS];
                size_t begin, end, groups;
                int is_mine = -1;
                OK(treefold_keyed_copy(own, &before));
                OK(treefold_keyed_copy(own, &root));
                OK(treefold_keyed_values(whole, statistic, 1, expected, KEYS));
                for (size_t key = 0; key < KEYS; key++)
                    CHECK(is_right(&sums[key], statistic, 1, of_result, expected, key));
                /* Only the root's state changes. */
                OK(treefold_run_keyed(plan, TREEFOLD_REDUCE, root, &is_mine));
                CHECK(is_mine == (rank == last()) && are_equal(root, is_mine ? whole : before) == 1);
                OK(treefold_run_keyed(plan, TREEFOLD_ALLREDUCE, own, NULL));
                CHECK(are_equal(own, whole) == 1);
                OK(treefold_plan_scattered_columns(plan, &begin, &end));
                OK(treefold_run_keyed(plan, TREEFOLD_REDUCE_SCATTER, before, &is_mine));
                OK(treefold_keyed_groups(before, &groups));
                CHECK(is_mine == 1 && groups == end - begin);
                OK(treefold_keyed_values(before, statistic, 1, found, groups));
                CHECK(memcmp(found, (const char *)expected + begin * bytes_of(of_result), groups * bytes_of(of_result)) == 0);
                END(keyed, &whole, &before, &own, &root);
                end_plan(&plan);
            }
    /* A wait stores the result in a state, on every rank or only on the root. The state may have had any number of keys. */
    const struct recipe means = recipe_of(1, TREEFOLD_EXACT_MEAN, NULL), of_sums = recipe_of(1, TREEFOLD_EXACT_SUM, NULL);
    treefold_plan *plan = plan_of(&means);
    const size_t n = deal(1);
    const struct input in = {.form = WITH_KEYS, .x = own_x[1], .n = n, .key_type = TREEFOLD_I32, .keys = own_keys};
    treefold_keyed *whole = state_of(1, TREEFOLD_EXACT_MEAN, x[1], y[1], keys, N), *other = NULL, *foreign = NULL, *kept = NULL;
    treefold_run *started = NULL;
    double found[KEYS];
    int is_mine = -1;
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_MEAN, KEYS + 1, &other));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, KEYS, &foreign));
    OK(start(plan, TREEFOLD_ALLREDUCE, &in, NULL, 0, &started));
    OK(treefold_wait_keyed(&started, other, &is_mine));
    CHECK(is_mine == 1 && started == NULL && are_equal(other, whole) == 1);
    OK(start(plan, TREEFOLD_REDUCE, &in, NULL, 0, &started));
    OK(treefold_wait_keyed(&started, rank == last() ? other : NULL, &is_mine));
    CHECK(is_mine == (rank == last()) && are_equal(other, whole) == 1);
    /* The run completes although the wait fails, and the plan can run again. */
    for (int has_place = 0; has_place < 2; has_place++) {
        OK(start(plan, TREEFOLD_ALLREDUCE, &in, has_place ? found : NULL, has_place ? KEYS : 0, &started));
        EXPECT(TREEFOLD_ARGUMENT, "", treefold_wait_keyed(&started, has_place ? other : foreign, NULL));
    }
    OK(run(plan, TREEFOLD_ALLREDUCE, &in, found, KEYS, &is_mine));
    end_plan(&plan);
    /* If one rank's state has another kind, type or size, every rank gets an error, and the state stays unchanged. */
    for (int what = 0; what < 3; what++) {
        treefold_keyed *wrong = NULL;
        OK(treefold_keyed_create(what == 1 ? TREEFOLD_F32 : TREEFOLD_F64, what == 0 ? TREEFOLD_EXACT_SUM : TREEFOLD_EXACT_MEAN,
                                 KEYS + (what == 2), &wrong));
        OK(treefold_keyed_copy(wrong, &kept));
        ON_LAST(&means, what == 2 ? TREEFOLD_LENGTH : TREEFOLD_ARGUMENT, what == 2 ? "24" : "",
                treefold_run_keyed(plan, TREEFOLD_ALLREDUCE, wrong, NULL), treefold_run_keyed(plan, TREEFOLD_ALLREDUCE, whole, NULL));
        CHECK(are_equal(wrong, kept) == 1);
        END(keyed, &wrong, &kept);
    }
    ON_LAST(&of_sums, TREEFOLD_NULL, "`keyed`", treefold_run_keyed(plan, TREEFOLD_ALLREDUCE, NULL, NULL),
            treefold_run_keyed(plan, TREEFOLD_ALLREDUCE, foreign, NULL));
    ON_LAST(&of_sums, TREEFOLD_ARGUMENT, "`operation`", treefold_run_keyed(plan, TREEFOLD_SCAN, foreign, NULL),
            treefold_run_keyed(plan, TREEFOLD_ALLREDUCE, foreign, NULL));
    END(keyed, &whole, &other, &foreign);
}

/* Checks sums that do not fit in the 16 bytes that a message has for each key. Ranks send these sums separately. */
static void far_and_special(void)
{
    double items[N], own[N], expected[KEYS], result[KEYS];
    for (size_t i = 0; i < N; i++)
        items[i] = i % 50 == 3 ? INFINITY : i % 50 == 4 ? -0.0 : ldexp(number(i), (int)(i * 37 % 2000) - 1000);
    items[7] = NAN;
    OK(treefold_by_key(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, TREEFOLD_I32, keys, N, items, N, NULL, 0, expected, KEYS));
    const struct recipe recipe = recipe_of(1, TREEFOLD_EXACT_SUM, NULL);
    treefold_plan *plan = plan_of(&recipe);
    for (int step = 0; step < STEPS; step++) {
        size_t n = 0;
        for (size_t i = 0; i < N; i++)
            if (owner(i, step) == rank)
                own_keys[n] = keys[i], own[n++] = items[i];
        OK(treefold_run_by_key(plan, TREEFOLD_ALLREDUCE, TREEFOLD_I32, own_keys, n, own, n, result, KEYS, NULL));
        CHECK(memcmp(result, expected, sizeof result) == 0);
    }
    /* No rank has items. */
    OK(treefold_run_by_key(plan, TREEFOLD_ALLREDUCE, TREEFOLD_U8, NULL, 0, NULL, 0, result, KEYS, NULL));
    for (size_t key = 0; key < KEYS; key++)
        CHECK(bits(result[key]) == bits(0.0));
    end_plan(&plan);
}

static treefold_status started(const treefold_plan *plan, const int32_t *of_keys, size_t k)
{
    double result[KEYS];
    treefold_run *run_of = NULL;
    treefold_status status = treefold_start_by_key(plan, TREEFOLD_ALLREDUCE, TREEFOLD_I32, of_keys, k, own_x[1], 2, NULL, 0, &run_of);
    return status == TREEFOLD_OK ? treefold_wait(&run_of, result, KEYS, NULL) : status;
}

static void mistakes(void)
{
    const int32_t good[2] = {0, KEYS - 1}, large[2] = {0, KEYS};
    const struct recipe recipe = recipe_of(1, TREEFOLD_EXACT_SUM, NULL), exact = {EXACT, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, 1, NULL};
    double result[KEYS], *items = own_x[1];
    treefold_builder *builder = NULL;
    treefold_run *run_of = NULL;
    treefold_keyed *keyed = NULL;
#define BY_KEYS(operation, type, ...) treefold_run_by_key(plan, TREEFOLD_##operation, type, __VA_ARGS__)
#define RIGHT BY_KEYS(ALLREDUCE, TREEFOLD_I32, good, 2, items, 2, result, KEYS, NULL)
#define WRONG(code, words, wrong) ON_LAST(&recipe, code, words, wrong, RIGHT)
    WRONG(TREEFOLD_ARGUMENT, "item 1 has key 23", BY_KEYS(ALLREDUCE, TREEFOLD_I32, large, 2, items, 2, result, KEYS, NULL));
    WRONG(TREEFOLD_LENGTH, "`keys`", BY_KEYS(ALLREDUCE, TREEFOLD_I32, good, 1, items, 2, result, KEYS, NULL));
    WRONG(TREEFOLD_ARGUMENT, "`key_type`", BY_KEYS(ALLREDUCE, TREEFOLD_F32, good, 2, items, 2, result, KEYS, NULL));
    WRONG(TREEFOLD_NULL, "`keys`", BY_KEYS(ALLREDUCE, TREEFOLD_I32, NULL, 2, items, 2, result, KEYS, NULL));
    WRONG(TREEFOLD_NULL, "`items`", BY_KEYS(ALLREDUCE, TREEFOLD_I32, good, 2, NULL, 2, result, KEYS, NULL));
    WRONG(TREEFOLD_ARGUMENT, "`operation`", BY_KEYS(SCAN, TREEFOLD_I32, good, 2, items, 2, result, KEYS, NULL));
    WRONG(TREEFOLD_ARGUMENT, "takes items with their keys", treefold_allreduce(plan, items, 2, result, KEYS));
    ON_LAST(&recipe, TREEFOLD_ARGUMENT, "item 1 has key 23", started(plan, large, 2), started(plan, good, 2));
    ON_LAST(&recipe, TREEFOLD_LENGTH, "`keys`", started(plan, good, 1), started(plan, good, 2));
    treefold_plan *plan = plan_of(&recipe);
    OK(treefold_start_by_key(plan, TREEFOLD_ALLREDUCE, TREEFOLD_I32, good, 2, items, 2, NULL, 0, &run_of));
    EXPECT(TREEFOLD_UNDER_WAY, "", RIGHT);
    EXPECT(TREEFOLD_LENGTH, "", treefold_wait(&run_of, result, 3, NULL));
    OK(RIGHT);
    EXPECT(TREEFOLD_UNSUPPORTED, "broadcast", treefold_broadcast(plan, result, KEYS));
    end_plan(&plan);
    for (int32_t operation = TREEFOLD_SCAN; operation <= TREEFOLD_EXSCAN; operation++) {
        plan = plan_of(&recipe);
        EXPECT(TREEFOLD_UNSUPPORTED, "scans",
               (operation == TREEFOLD_SCAN ? treefold_scan : treefold_exscan)(plan, items, 2, result, 2));
        end_plan(&plan);
        plan = plan_of(&recipe);
        EXPECT(TREEFOLD_UNSUPPORTED, "scans", treefold_start(plan, operation, items, 2, NULL, 0, &run_of));
        end_plan(&plan);
    }
    /* A plan for exact sums that was not built by key accepts no keys. */
    plan = plan_of(&exact);
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, KEYS, &keyed));
    OK(treefold_start(plan, TREEFOLD_ALLREDUCE, items, 2, NULL, 0, &run_of));
    EXPECT(TREEFOLD_ARGUMENT, "not built by key", treefold_wait_keyed(&run_of, keyed, NULL));
    OK(treefold_keyed_destroy(&keyed));
    EXPECT(TREEFOLD_ARGUMENT, "not built by key", BY_KEYS(ALLREDUCE, TREEFOLD_I32, good, 2, items, 2, result, 1, NULL));
    end_plan(&plan);
    /* Only plans for sums and means return values. Other statistics must be read from states. */
    for (treefold_statistic statistic = 0; statistic <= TREEFOLD_EXACT_VDOT; statistic++) {
        if (statistic == TREEFOLD_EXACT_SUM || statistic == TREEFOLD_EXACT_MEAN)
            continue;
        const struct recipe other = recipe_of(1, statistic, NULL);
        plan = plan_of(&other);
        EXPECT(TREEFOLD_UNSUPPORTED, "read it from a state", RIGHT);
        end_plan(&plan);
    }
    const struct recipe variances = recipe_of(1, TREEFOLD_EXACT_VARIANCE, NULL);
    uint64_t counts[KEYS];
    plan = plan_of(&variances);
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_VARIANCE, KEYS, &keyed));
    OK(treefold_start_by_key(plan, TREEFOLD_ALLREDUCE, TREEFOLD_I32, good, 2, items, 2, NULL, 0, &run_of));
    EXPECT(TREEFOLD_UNSUPPORTED, "read it from a state", treefold_wait(&run_of, result, KEYS, NULL));
    OK(treefold_start_by_key(plan, TREEFOLD_ALLREDUCE, TREEFOLD_I32, good, 2, items, 2, NULL, 0, &run_of));
    OK(treefold_wait_keyed(&run_of, keyed, NULL));
    OK(treefold_keyed_values(keyed, TREEFOLD_EXACT_COUNT, 0, counts, KEYS));
    CHECK(counts[0] == (uint64_t)size && counts[1] == 0 && counts[KEYS - 1] == (uint64_t)size);
    OK(treefold_keyed_destroy(&keyed));
    /* No plan accepts states of rows. */
    OK(treefold_keyed_create_rows(TREEFOLD_F64, TREEFOLD_EXACT_VARIANCE, 1, KEYS, &keyed));
    EXPECT(TREEFOLD_UNSUPPORTED, "rows", treefold_run_keyed(plan, TREEFOLD_ALLREDUCE, keyed, NULL));
    OK(treefold_keyed_destroy(&keyed));
    end_plan(&plan);
    EXPECT(TREEFOLD_ARGUMENT, "`keys`", treefold_builder_create_by_key(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "`statistic`", treefold_builder_create_by_key(comm, TREEFOLD_F64, 17, 1, &builder));
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_builder_create_by_key(comm, TREEFOLD_C64, TREEFOLD_EXACT_SUM, 1, &builder));
    builder = builder_of(&(struct recipe){BY_KEY, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, rank == 0 ? 5 : 6, NULL});
    EXPECT(TREEFOLD_ARGUMENT, "", treefold_builder_width(builder, 2));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_local_items(builder, 2));
    if (size > 1)
        EXPECT(TREEFOLD_DISAGREE, "number of keys", treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    /* If there is not enough memory for the keys, the build returns an error instead of ending the program. */
    CANNOT_BUILD(TREEFOLD_MEMORY, "", builder_of(&(struct recipe){BY_KEY, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, (size_t)1 << 58, NULL}));
}

static int64_t spread(int64_t key) { return (int64_t)((uint64_t)(key + 1) * 0x9E3779B97F4A7C15u); }

/* Checks sums by 64-bit keys, signed and unsigned. */
static void hashed(void)
{
    static int64_t own[N], found[KEYS];
    double results[KEYS];
    size_t counts[4] = {0};
    for (int of = 0; of < 2 * TYPES; of++) {
        const int type = of / 2;
        const treefold_type key_type = of % 2 == 0 ? TREEFOLD_I64 : TREEFOLD_U64;
        treefold_hashed *plan = NULL;
        OK(treefold_hashed_create(comm, key_type, types[type], last(), &plan));
        for (int step = 0; step < STEPS; step++) {
            const size_t n = deal(step);
            uint64_t mine, all = 0;
            for (size_t i = 0; i < n; i++)
                own[i] = spread(own_keys[i]);
            for (int32_t operation = TREEFOLD_ALLREDUCE; operation <= TREEFOLD_REDUCE_SCATTER; operation++) {
                size_t *count = &counts[operation], right = 0;
                OK(treefold_hashed_run(plan, operation, own, n, own_wide[type], n, count));
                CHECK(*count <= KEYS - 1);
                OK(treefold_hashed_result(plan, found, *count, results, *count));
                for (size_t i = 0; i < *count; i++) {
                    CHECK(i == 0 || (of % 2 == 0 ? found[i - 1] < found[i] : (uint64_t)found[i - 1] < (uint64_t)found[i]));
                    for (size_t key = 0; key < KEYS; key++)
                        if (found[i] == spread((int64_t)key))
                            right += is_nearest(real(types[type], results, i), type == 0 ? 24 : 53, &wide_sums[type][key]);
                }
                CHECK(right == *count);
            }
            CHECK(counts[TREEFOLD_ALLREDUCE] == KEYS - 1 && counts[TREEFOLD_REDUCE] == (rank == last() ? KEYS - 1 : 0));
            mine = counts[TREEFOLD_REDUCE_SCATTER];
            MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
            CHECK(all == KEYS - 1);
        }
        OK(treefold_hashed_run(plan, TREEFOLD_ALLREDUCE, own, 0, NULL, 0, counts));
        CHECK(counts[0] == 0);
        OK(treefold_hashed_run(plan, TREEFOLD_ALLREDUCE, &(int64_t){5}, 1, own_x[type], 1, counts));
        EXPECT(TREEFOLD_LENGTH, "`sums`", treefold_hashed_result(plan, found, 1, results, 2));
        EXPECT(TREEFOLD_LENGTH, "`keys`", treefold_hashed_result(plan, found, 2, results, 1));
        END(hashed, &plan, &plan);
    }
    /* A mistake of one rank causes errors on the other ranks. After a failed run, the result of the previous run can no longer be read. */
    for (int what = 0; what < 4; what++) {
        const double two[2] = {1, 2};
        const int64_t fives[2] = {5, 5};
        treefold_hashed *plan = NULL;
        OK(treefold_hashed_create(comm, TREEFOLD_I64, TREEFOLD_F64, last(), &plan));
        OK(treefold_hashed_run(plan, TREEFOLD_ALLREDUCE, fives, 2, two, 2, counts));
        const treefold_status expected[4] = {TREEFOLD_LENGTH, TREEFOLD_NULL, TREEFOLD_NULL, TREEFOLD_ARGUMENT};
        const char *const words[4] = {"`keys`", "`items`", "`keys`", "`operation`"};
        const int wrong = rank == last() ? what : -1;
        EXPECT(wrong < 0 ? TREEFOLD_RANK_FAILED : expected[what], wrong < 0 ? "" : words[what],
               treefold_hashed_run(plan, wrong == 3 ? TREEFOLD_SCAN : TREEFOLD_REDUCE, wrong == 2 ? NULL : fives, wrong == 0 ? 1 : 2,
                                   wrong == 1 ? NULL : two, 2, counts));
        EXPECT(TREEFOLD_LENGTH, "0", treefold_hashed_result(plan, found, 1, results, 1));
        OK(treefold_hashed_result(plan, NULL, 0, NULL, 0));
        EXPECT(TREEFOLD_SPENT, "", treefold_hashed_run(plan, TREEFOLD_REDUCE, fives, 2, two, 2, counts));
        OK(treefold_hashed_destroy(&plan));
    }
    /* If one rank passes an invalid argument, every rank gets an error. */
    treefold_hashed *none = NULL;
    CHECK(treefold_hashed_create(comm, rank == last() ? TREEFOLD_F64 : TREEFOLD_I64, TREEFOLD_F64, 0, &none) != TREEFOLD_OK);
    EXPECT(TREEFOLD_ARGUMENT, "root", treefold_hashed_create(comm, TREEFOLD_I64, TREEFOLD_F64, size, &none));
    if (size > 1)
        EXPECT(TREEFOLD_DISAGREE, "f32", treefold_hashed_create(comm, TREEFOLD_I64, rank == 0 ? TREEFOLD_F32 : TREEFOLD_F64, 0, &none));
    CHECK(none == NULL);
}

int main(int argc, char **argv)
{
    begin_ranks(&argc, &argv);
    draw();
    sums_and_means();
    states();
    far_and_special();
    mistakes();
    hashed();
    OK(treefold_comm_free(&comm));
    return end_ranks();
}
