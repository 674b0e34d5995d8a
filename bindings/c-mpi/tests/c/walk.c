/* Calls every function of treefold_mpi.h except those by key, on any number of ranks, with valid and with invalid arguments. */
#define _POSIX_C_SOURCE 200809L

#include "ranks.h"

#include <math.h>
#include <pthread.h>

enum { N = 1000, ROWS = 37, WIDTH = 5 };

static double all[N];

/* Tests treefold_comm_free. A freed communicator continues to exist as long as any rank has a plan on it. */
static void freeing(void)
{
    int turns = 20;
#ifdef MPICH_VERSION
    /* MPICH has room for 2048 communicators. Its ranks busy-wait, so the test is slow if more than two ranks share two cores. */
    turns = size <= 2 ? 1500 : 20;
#endif
    for (int turn = 0; turn < turns; turn++) {
        MPI_Comm parent;
        treefold_comm *own = NULL, *copy;
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &parent);
        OK(treefold_comm_duplicate(parent, &own));
        copy = own;
        OK(treefold_comm_free(&own));
        CHECK(own == NULL);
        OK(treefold_comm_free(&own));
        EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_comm_free(&copy));
        MPI_Comm_free(&parent);
    }
    treefold_comm *world = comm;
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    treefold_plan *plan = plan_of_one();
    if (rank > 0)
        end_plan(&plan);
    OK(treefold_comm_free(&comm));
    OK(treefold_plan_destroy(&plan));
    comm = world;
}

static int is_fifth(void *questions)
{
    return ++*(int *)questions >= 5;
}

/* Checks that a callback ends a wait that cannot complete, and that the other ranks get an error. */
static void interruption(void)
{
    treefold_comm *world = comm;
    int questions = 0;
    double one = 1, sum = 0;
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_comm_interruption(NULL, is_fifth, &questions));
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    treefold_plan *plan = plan_of_one();
    if (rank == 0)
        OK(treefold_comm_interruption(comm, is_fifth, &questions));
    if (size > 1 && rank == 0) {
        EXPECT(TREEFOLD_INTERRUPTED, "interrupted", treefold_allreduce(plan, &one, 1, &sum, 1));
        CHECK(questions == 5 && treefold_last_error_rank() == 0);
        OK(treefold_comm_interruption(comm, NULL, NULL));
        EXPECT(TREEFOLD_SPENT, "", treefold_allreduce(plan, &one, 1, &sum, 1));
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (size > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        /* If rank 0 sent its contribution before it was interrupted, this run succeeds and the next one fails. */
        treefold_status status = treefold_allreduce(plan, &one, 1, &sum, 1);
        if (status == TREEFOLD_OK)
            status = treefold_allreduce(plan, &one, 1, &sum, 1);
        CHECK(status == TREEFOLD_RANK_FAILED);
    }
    end_plan(&plan);
    OK(treefold_comm_free(&comm));
    comm = world;
}

static void communicators(void)
{
    treefold_comm *other = NULL;
    MPI_Comm inter, half, world = MPI_COMM_WORLD;
    int found = -1, count = -1;
    const char *library = NULL;
    OK(treefold_mpi_library(&library));
    CHECK(library != NULL && strlen(library) > 5);
    OK(treefold_comm_rank(comm, &found));
    OK(treefold_comm_size(comm, &count));
    CHECK(found == rank && count == size);
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_comm_size(NULL, &found));
    EXPECT(TREEFOLD_ARGUMENT, "MPI_COMM_NULL", treefold_comm_duplicate(MPI_COMM_NULL, &other));
    const treefold_mpi_function size_of = (treefold_mpi_function)MPI_Comm_size;
    EXPECT(TREEFOLD_MPI, "another", treefold_comm_duplicate_checked(&world, sizeof world, "another", size_of, &other));
    EXPECT(TREEFOLD_MPI, "", treefold_comm_duplicate_checked(&world, 1, TREEFOLD_MPI_FAMILY, size_of, &other));
    EXPECT(TREEFOLD_NULL, "`family`", treefold_comm_duplicate_checked(&world, sizeof world, NULL, size_of, &other));
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_comm_duplicate_checked(NULL, sizeof world, TREEFOLD_MPI_FAMILY, size_of, &other));
    CHECK(other == NULL);
    int32_t fortran_world = (int32_t)MPI_Comm_c2f(MPI_COMM_WORLD);
    EXPECT(TREEFOLD_MPI, "`world`", treefold_comm_duplicate_f(fortran_world, fortran_world + 1, &other));
    OK(treefold_comm_duplicate_f(fortran_world, fortran_world, &other));
    OK(treefold_comm_silence_limit(other, 60));
    OK(treefold_comm_measure_link(other));
    EXPECT(TREEFOLD_ARGUMENT, "`seconds`", treefold_comm_silence_limit(other, -1));
    treefold_comm *copy = other;
    OK(treefold_comm_destroy(&other));
    OK(treefold_comm_destroy(&other));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_comm_rank(copy, &found));
    EXPECT(TREEFOLD_ARGUMENT, "not a valid", treefold_comm_rank((const treefold_comm *)(const void *)&found, &found));
    freeing();
    interruption();
    if (size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 7, &inter);
        EXPECT(TREEFOLD_UNSUPPORTED, "intercommunicator", treefold_comm_duplicate(inter, &other));
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
}

/* Checks that every algorithm and every distribution of the items gives the same sum. */
static void distributions_and_algorithms(void)
{
    const size_t p = (size_t)size, r = (size_t)rank, share = N / p, longer = N % p;
    /* The four distributions are: local items, numbered in the order of the ranks; two ranges per rank, with the ranks in reverse order;
       even shares; and blocks that are dealt round-robin. */
    const uint64_t begin = N * (p - 1 - r) / p, end = N * (p - r) / p, middle = (begin + end) / 2;
    const treefold_range ranges[4][2] = {{{N * r / p, N * (r + 1) / p}, {0, 0}},
                                         {{middle, end}, {begin, middle}},
                                         {{r * share + (r < longer ? r : longer), (r + 1) * share + (r < longer ? r + 1 : longer)}, {0, 0}},
                                         {{0, N}, {0, 0}}};
    double expected = tree_sum(all, N), local[N], sum;
    size_t algorithms = 0;
    for (const char *name; (name = treefold_algorithm_name(algorithms)) != NULL; algorithms++)
        for (int way = 0; way < 4; way++) {
            treefold_builder *builder = NULL;
            treefold_plan *plan = NULL;
            size_t n = 0;
            for (int piece = 0; piece < 2; piece++)
                for (uint64_t i = ranges[way][piece].begin; i < ranges[way][piece].end; i++)
                    if (way < 3 || i / 7 % p == r)
                        local[n++] = all[i];
            OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
            OK(treefold_builder_algorithm(builder, name));
            OK(treefold_builder_items(builder, N));
            OK(way == 0   ? treefold_builder_local_items(builder, n)
               : way == 1 ? treefold_builder_extents(builder, ranges[1], 2)
               : way == 2 ? treefold_builder_even(builder, N)
                          : treefold_builder_block_cyclic(builder, N, 7));
            treefold_status status = treefold_plan_build(builder, &plan);
            OK(treefold_builder_destroy(&builder));
            if (status == TREEFOLD_UNSUPPORTED && (way == 1 || way == 3))
                continue;
            CHECK(status == TREEFOLD_OK);
            OK(treefold_allreduce(plan, local, n, &sum, 1));
            CHECK(bits(sum) == bits(expected));
            end_plan(&plan);
        }
    CHECK(algorithms > 20 && treefold_algorithm_name(SIZE_MAX) == NULL);
}

/* Returns n elements of type `type`. They are the same on every rank. Floats have many different magnitudes. */
static void *fill(treefold_type type, size_t n, uint64_t seed)
{
    const treefold_type part = part_of(type);
    const size_t words = part == type ? n : 2 * n;
    void *items = malloc(n * bytes_of(type) + 16);
    for (size_t i = 0; i < words; i++)
        if (type >= TREEFOLD_I8)
            put(type, items, i, random_integer(i + seed, 62));
        else if (part == TREEFOLD_F32)
            ((float *)items)[i] = ldexpf((float)number(i + seed), (int)(i * 7 % 30) - 15);
        else
            ((double *)items)[i] = ldexp(number(i + seed), (int)(i * 7 % 300) - 150);
    return items;
}

/* Computes a plan's result for the first `rows` rows, one element for each column, with the functions that reduce in one process. Other
   tests compare these functions with the definitions. */
static void reduce_rows(const struct recipe *recipe, int has_pairs, const unsigned char *x, const unsigned char *y, size_t rows,
                        unsigned char *result)
{
    const size_t bytes = bytes_of(recipe->type), width = recipe->width;
    unsigned char *left = malloc(rows * bytes + 1), *right = malloc(rows * bytes + 1);
    for (size_t c = 0; c < width; c++) {
        for (size_t row = 0; row < rows; row++) {
            memcpy(left + row * bytes, x + (row * width + c) * bytes, bytes);
            memcpy(right + row * bytes, y + (row * width + c) * bytes, bytes);
        }
        void *place = result + c * bytes;
        OK(recipe->kind == EXACT
               ? treefold_exact(recipe->type, recipe->code, 0, left, rows, has_pairs ? right : NULL, has_pairs ? rows : 0, place)
           : recipe->kind == LANES ? treefold_sum_lanes(recipe->type, left, rows, (size_t)recipe->code, place)
           : has_pairs             ? treefold_dot(recipe->type, left, rows, right, rows, place)
                                   : treefold_fold(recipe->type, recipe->code, left, rows, place));
    }
    free(left), free(right);
}

/* Checks all operations that a plan offers for a form of input, with every kind of call. */
static void check_plan(const struct recipe *recipe, int form)
{
    const size_t bytes = bytes_of(recipe->type), width = recipe->width, row_bytes = width * bytes;
    const size_t begin = begin_of(recipe, rank), rows = count_of(recipe), n = rows * width;
    unsigned char *x = fill(recipe->type, recipe->rows * width, 0), *y = fill(recipe->type, recipe->rows * width, 77);
    unsigned char *expected = malloc((n + width) * bytes + 1), *columns = malloc(2 * n * bytes + 1);
    const void *xs[WIDTH], *ys[WIDTH];
    struct input in = {form, x + begin * row_bytes, y + begin * row_bytes, form == APART ? rows : n, xs, ys, width, 0, NULL};
    treefold_plan *plan = plan_of(recipe);
    const int last_operation = form != ITEMS || recipe->kind == LANES               ? TREEFOLD_REDUCE
                               : recipe->kind == TREE && recipe->code > TREEFOLD_PRODUCT ? TREEFOLD_SCAN
                                                                                         : TREEFOLD_EXSCAN;
    for (size_t c = 0; c < width && form == APART; c++) {
        xs[c] = columns + c * rows * bytes, ys[c] = columns + (width + c) * rows * bytes;
        for (size_t row = 0; row < rows; row++) {
            memcpy(columns + (c * rows + row) * bytes, x + ((begin + row) * width + c) * bytes, bytes);
            memcpy(columns + ((width + c) * rows + row) * bytes, y + ((begin + row) * width + c) * bytes, bytes);
        }
    }
    for (int operation = TREEFOLD_ALLREDUCE; operation <= last_operation; operation++) {
        size_t first = 0, end = width;
        if (operation == TREEFOLD_REDUCE_SCATTER)
            OK(treefold_plan_scattered_columns(plan, &first, &end));
        size_t m = end - first;
        if (operation >= TREEFOLD_SCAN)
            for (size_t row = 0; row < rows; row++)
                reduce_rows(recipe, 0, x, y, begin + row + (operation == TREEFOLD_SCAN), expected + row * row_bytes);
        else
            reduce_rows(recipe, form != ITEMS, x, y, recipe->rows, expected);
        m = operation >= TREEFOLD_SCAN ? n : m;
        if (!is_right_in_every_way(plan, operation, &in, expected + first * bytes, m * bytes, m)) {
            fprintf(stderr, "kind %d, type %d, code %d, width %zu, form %d, operation %d\n", (int)recipe->kind, (int)recipe->type,
                    (int)recipe->code, width, form, operation);
            failures++;
        }
    }
    end_plan(&plan);
    free(x), free(y), free(expected), free(columns);
}

static void every_plan(void)
{
    for (treefold_type type = TREEFOLD_F32; type <= TREEFOLD_U64; type++) {
        const int is_real = type <= TREEFOLD_F64, is_complex = !is_real && type <= TREEFOLD_C64;
        for (size_t width = 1; width <= WIDTH; width += WIDTH - 1) {
            for (treefold_op op = TREEFOLD_SUM; op <= (is_complex ? TREEFOLD_PRODUCT : TREEFOLD_MAX); op++)
                check_plan(&(struct recipe){TREE, type, op, ROWS, width, NULL}, ITEMS);
            for (treefold_statistic code = 0; code <= TREEFOLD_EXACT_VDOT && (is_real || is_complex); code++)
                if (code == TREEFOLD_EXACT_SUM || (code == TREEFOLD_EXACT_NORM && is_real))
                    check_plan(&(struct recipe){EXACT, type, code, ROWS, width, NULL}, ITEMS);
                else if (code == TREEFOLD_EXACT_DOT || code == TREEFOLD_EXACT_VDOT)
                    for (int form = PAIRS; form <= APART; form++)
                        check_plan(&(struct recipe){EXACT, type, code, ROWS, width, NULL}, form);
            for (int form = PAIRS; form <= APART && is_real; form++)
                check_plan(&(struct recipe){TREE, type, TREEFOLD_SUM, ROWS, width, NULL}, form);
        }
        for (int32_t lanes = 1; lanes <= 100 && is_real; lanes = lanes == 1 ? 16 : lanes == 16 ? 100 : 101)
            check_plan(&(struct recipe){LANES, type, lanes, N, 1, NULL}, ITEMS);
    }
    /* Exact sums with every algorithm. If there are several ranks, the first one has no items. */
    double expected, sum;
    void *x = fill(TREEFOLD_F64, N, 5);
    for (size_t i = 0; treefold_algorithm_name(i) != NULL; i++) {
        const struct recipe recipe = {EXACT, TREEFOLD_F64, TREEFOLD_EXACT_SUM, N, 1, treefold_algorithm_name(i)};
        const size_t first = size > 1 ? begin_of(&recipe, 1) : 0, begin = begin_of(&recipe, rank);
        treefold_plan *plan = plan_of(&recipe);
        OK(treefold_exact_sum_f64((double *)x + first, N - first, &expected));
        OK(treefold_allreduce(plan, (double *)x + begin, begin < first ? 0 : count_of(&recipe), &sum, 1));
        CHECK(bits(sum) == bits(expected));
        OK(treefold_allreduce(plan, NULL, 0, &sum, 1));
        CHECK(bits(sum) == bits(0.0));
        end_plan(&plan);
    }
    free(x);
}

static void builders(void)
{
    treefold_builder *builder = NULL, *copy, *none = NULL;
    treefold_plan *plan = NULL;
    double zero[WIDTH] = {0}, one = 1, sum;
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_builder_create(NULL, TREEFOLD_F64, TREEFOLD_SUM, &none));
    EXPECT(TREEFOLD_ARGUMENT, "`type`", treefold_builder_create(comm, 99, TREEFOLD_SUM, &none));
    EXPECT(TREEFOLD_ARGUMENT, "`op`", treefold_builder_create(comm, TREEFOLD_F64, 99, &none));
    EXPECT(TREEFOLD_UNSUPPORTED, "complex", treefold_builder_create(comm, TREEFOLD_C32, TREEFOLD_MIN, &none));
    EXPECT(TREEFOLD_UNSUPPORTED, "complex", treefold_builder_create(comm, TREEFOLD_C64, TREEFOLD_MAX, &none));
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_builder_create_exact(comm, TREEFOLD_I8, TREEFOLD_EXACT_SUM, &none));
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_builder_create_exact(comm, TREEFOLD_C64, TREEFOLD_EXACT_NORM, &none));
    EXPECT(TREEFOLD_ARGUMENT, "`statistic`", treefold_builder_create_exact(comm, TREEFOLD_F64, 17, &none));
    CHECK(treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_EXACT_VARIANCE, &none) != TREEFOLD_OK && none == NULL);
    OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "local_items", treefold_plan_build(builder, &plan));
    EXPECT(TREEFOLD_NULL, "`name`", treefold_builder_algorithm(builder, NULL));
    EXPECT(TREEFOLD_ARGUMENT, "UTF-8", treefold_builder_algorithm(builder, "\xff"));
    EXPECT(TREEFOLD_NULL, "`ranges`", treefold_builder_extents(builder, NULL, 1));
    EXPECT(TREEFOLD_NULL, "`builder`", treefold_plan_build(NULL, &plan));
    OK(treefold_builder_local_items(builder, 1));
    OK(treefold_builder_items(builder, 99));
    EXPECT(TREEFOLD_DISAGREE, "99", treefold_plan_build(builder, &plan));
    OK(treefold_builder_items(builder, (uint64_t)size));
    if (size > 1) {
        OK(treefold_builder_width(builder, rank == 0 ? 1 : 2));
        EXPECT(TREEFOLD_DISAGREE, "width", treefold_plan_build(builder, &plan));
        CHECK(treefold_last_error_rank() == 1);
        OK(treefold_builder_width(builder, 1));
    }
    const size_t right[] = {0, 2, 1, 2, 3};
    for (int32_t parameter = TREEFOLD_BLOCKS; parameter <= TREEFOLD_MESSAGE_LIMIT; parameter++)
        OK(treefold_builder_parameter(builder, parameter, right[parameter]));
    OK(treefold_builder_even(builder, (uint64_t)size));
    OK(treefold_builder_agreed(builder));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_allreduce(plan, &one, 1, &sum, 1));
    CHECK(sum == size);
    end_plan(&plan);
    copy = builder;
    END(builder, &builder, &builder);
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_builder_width(copy, 1));
    /* For no items, a plan returns the operator's value for no items. If the operator has none, the plan cannot be built. */
    plan = plan_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_PRODUCT, 0, WIDTH, NULL});
    OK(treefold_allreduce(plan, NULL, 0, zero, WIDTH));
    CHECK(zero[0] == 1 && zero[WIDTH - 1] == 1);
    end_plan(&plan);
    CANNOT_BUILD(TREEFOLD_EMPTY, "no items", builder_of(&(struct recipe){TREE, TREEFOLD_I32, TREEFOLD_MAX, 0, 1, NULL}));
}

/* Tests the setters. If a value is invalid by itself, the setter returns an error and the old value remains. Therefore, the plan that is
   built afterwards has the values that were set before. */
static void setters(void)
{
    treefold_builder *builder = NULL, *exact = NULL;
    treefold_plan *plan = NULL;
    const char *name = NULL;
    const size_t most = (size_t)1 << 20;
    treefold_range reversed[2] = {{0, 1}, {5, 3}}, twice[3] = {{4, 6}, {0, 2}, {5, 7}}, empty[3] = {{5, 5}, {2, 4}, {2, 2}};
    OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    OK(treefold_builder_even(builder, (uint64_t)size));
    OK(treefold_builder_width(builder, 2));
    OK(treefold_builder_root(builder, last()));
    OK(treefold_builder_algorithm(builder, "binomial"));
    OK(treefold_builder_parameter(builder, TREEFOLD_BLOCKS, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`ranges`", treefold_builder_extents(builder, reversed, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`ranges`", treefold_builder_extents(builder, twice, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`block`", treefold_builder_block_cyclic(builder, 10, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`elements`", treefold_builder_width(builder, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`rank`", treefold_builder_root(builder, -1));
    EXPECT(TREEFOLD_ARGUMENT, "`rank`", treefold_builder_root(builder, size));
    EXPECT(TREEFOLD_ARGUMENT, "no-such-algorithm", treefold_builder_algorithm(builder, "no-such-algorithm"));
    for (int32_t parameter = TREEFOLD_BLOCKS; parameter <= TREEFOLD_MESSAGE_LIMIT; parameter++) {
        EXPECT(TREEFOLD_ARGUMENT, "0", treefold_builder_parameter(builder, parameter, 0));
        if (parameter <= TREEFOLD_PORTS)
            EXPECT(TREEFOLD_ARGUMENT, "1048577", treefold_builder_parameter(builder, parameter, most + 1));
    }
    EXPECT(TREEFOLD_ARGUMENT, "`parameter`", treefold_builder_parameter(builder, 0, 1));
    EXPECT(TREEFOLD_NULL, "`builder`", treefold_builder_parameter(NULL, TREEFOLD_BLOCKS, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`lanes`", treefold_builder_lanes(builder, 0));
    OK(treefold_plan_build(builder, &plan));
    double row[2] = {1, 2}, result[2] = {0, 0};
    int is_mine = -1;
    OK(treefold_reduce(plan, row, 2, result, 2, &is_mine));
    CHECK(is_mine == (rank == last()));
    CHECK(!is_mine || (result[0] == size && result[1] == 2 * size));
    OK(treefold_plan_algorithm(plan, TREEFOLD_REDUCE, &name));
    CHECK(strcmp(name, "binomial") == 0);
    end_plan(&plan);
    /* Empty ranges may begin anywhere. If ranges are valid by themselves but do not cover all items, the build returns the error. */
    OK(treefold_builder_extents(builder, empty, 3));
    EXPECT(TREEFOLD_DISAGREE, "item", treefold_plan_build(builder, &plan));
    OK(treefold_builder_agreed(builder));
    CANNOT_BUILD(TREEFOLD_ARGUMENT, "agreed", builder);
    /* A plan in lanes must compute sums of floats or doubles, have width 1, and have ranges that begin at a multiple of the lane count. */
    builder = builder_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_SUM, N, WIDTH, NULL});
    OK(treefold_builder_lanes(builder, 16));
    CANNOT_BUILD(TREEFOLD_ARGUMENT, "", builder);
    builder = builder_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_SUM, 5 * (size_t)size, 1, NULL});
    OK(treefold_builder_lanes(builder, 16));
    CHECK((treefold_plan_build(builder, &plan) == TREEFOLD_OK) == (size == 1));
    OK(treefold_plan_destroy(&plan));
    OK(treefold_builder_destroy(&builder));
    builder = builder_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_MAX, N, 1, NULL});
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_builder_lanes(builder, 16));
    OK(treefold_builder_destroy(&builder));
    /* Items of exact sums have no numbers. */
    OK(treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, &exact));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_local_items(exact, 1));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_extents(exact, empty, 3));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_even(exact, 1));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_block_cyclic(exact, 1, 1));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_items(exact, 1));
    CHECK(treefold_builder_lanes(exact, 16) != TREEFOLD_OK);
    OK(treefold_builder_destroy(&exact));
    if (size > 1) {
        CANNOT_BUILD(TREEFOLD_DISAGREE, "",
                     builder_of(&(struct recipe){EXACT, TREEFOLD_F64, rank == 0 ? TREEFOLD_EXACT_SUM : TREEFOLD_EXACT_NORM, 0, 1, NULL}));
    }
}

/* Tests the functions that describe a plan, and broadcasts. */
static void plans(void)
{
    size_t needed;
    const char *name = NULL;
    char text[64];
    double row[WIDTH], sum;
    treefold_plan *plan = plan_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_SUM, ROWS, WIDTH, NULL}), *copy = plan;
    for (size_t c = 0; c < WIDTH; c++)
        row[c] = rank == last() ? (double)c : -1;
    OK(treefold_broadcast(plan, row, WIDTH));
    CHECK(row[0] == 0 && row[WIDTH - 1] == WIDTH - 1);
    for (int32_t operation = TREEFOLD_ALLREDUCE; operation <= TREEFOLD_BROADCAST; operation++) {
        OK(treefold_plan_algorithm(plan, operation, &name));
        CHECK(name != NULL && strlen(name) > 2);
    }
    EXPECT(TREEFOLD_ARGUMENT, "operation", treefold_plan_algorithm(plan, 7, &name));
    OK(treefold_plan_print(plan, NULL, 0, &needed));
    CHECK(needed > sizeof text);
    memset(text, 'x', sizeof text);
    OK(treefold_plan_print(plan, text, sizeof text, &needed));
    CHECK(memchr(text, 0, sizeof text) != NULL);
    char *whole = malloc(needed);
    OK(treefold_plan_print(plan, whole, needed, &needed));
    CHECK(strlen(whole) + 1 == needed);
    free(whole);
    end_plan(&plan);
    OK(treefold_plan_destroy(&plan));
    EXPECT(TREEFOLD_ARGUMENT, "`plan`: it was destroyed", treefold_allreduce(copy, row, 1, &sum, 1));
    EXPECT(TREEFOLD_NULL, "`plan`", treefold_allreduce(NULL, row, 1, &sum, 1));
    /* Exact plans and plans in lanes have no broadcast. */
    plan = plan_of(&(struct recipe){EXACT, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, 1, NULL});
    OK(treefold_plan_algorithm(plan, TREEFOLD_BROADCAST, &name));
    CHECK(name == NULL);
    EXPECT(TREEFOLD_UNSUPPORTED, "broadcast", treefold_broadcast(plan, &sum, 1));
    OK(treefold_allreduce(plan, row, 1, &sum, 1));
    end_plan(&plan);
    plan = plan_of(&(struct recipe){LANES, TREEFOLD_F64, 16, N, 1, NULL});
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_broadcast(plan, &sum, 1));
    end_plan(&plan);
}

/* Tests the functions for started runs. */
static void runs(void)
{
    const treefold_plan *of = NULL;
    treefold_plan *plan = plan_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_SUM, (size_t)size, 1, "recursive-doubling"});
    treefold_plan *other = plan_of_one(), *kept;
    treefold_run *started = NULL, *again = NULL, *ended;
    const char *name = NULL;
    double one = 1, sum = 0, second = 0;
    int pending = -1, done = -1;
#define START(plan, operation, ...) treefold_start(plan, TREEFOLD_##operation, &one, 1, __VA_ARGS__)
#define CHECK_PENDING(plan, expected)                                                                                                  \
    do {                                                                                                                               \
        OK(treefold_plan_pending(plan, &pending));                                                                                     \
        CHECK(pending == (expected));                                                                                                  \
    } while (0)
    for (int turn = 0; turn < 2; turn++) {
        CHECK_PENDING(plan, 0);
        OK(START(plan, ALLREDUCE, NULL, 0, &started));
        CHECK_PENDING(plan, 1);
        CHECK_PENDING(other, 0);
        OK(treefold_run_plan(started, &of));
        CHECK(of == plan);
        OK(treefold_run_algorithm(started, &name));
        CHECK(strcmp(name, "recursive-doubling") == 0);
        EXPECT(TREEFOLD_UNDER_WAY, "", START(plan, ALLREDUCE, NULL, 0, &again));
        EXPECT(TREEFOLD_UNDER_WAY, "", treefold_allreduce(plan, &one, 1, &sum, 1));
        OK(treefold_test(started, &done));
        CHECK(done == 0 || done == 1);
        EXPECT(TREEFOLD_ARGUMENT, "`seconds`", treefold_wait_timeout(started, turn == 0 ? -1 : NAN));
        OK(treefold_wait_timeout(started, turn == 0 ? 1e30 : INFINITY));
        OK(treefold_test(started, &done));
        CHECK(done == 1);
        /* The run is done, but remains pending until the wait. */
        CHECK_PENDING(plan, 1);
        ended = started;
        OK(treefold_wait(&started, &sum, 1, NULL));
        CHECK(sum == size && started == NULL);
        EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_run_plan(ended, &of));
        EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_wait(&ended, &sum, 1, NULL));
        EXPECT(TREEFOLD_NULL, "`run`", treefold_run_algorithm(started, &name));
    }
    /* A wait ends at its time limit, because the other ranks start later; the run continues. */
    if (rank > 0)
        MPI_Barrier(MPI_COMM_WORLD);
    OK(START(plan, ALLREDUCE, &sum, 1, &started));
    if (rank == 0) {
        EXPECT(size > 1 ? TREEFOLD_TIMED_OUT : TREEFOLD_OK, "", treefold_wait_timeout(started, 0.01));
        CHECK_PENDING(plan, 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(treefold_wait(&started, NULL, 0, NULL));
    CHECK(sum == size);
    /* A wait completes the run even if its result array is invalid or missing, or if the start had already been given one. */
    const struct {
        double *early, *late;
        size_t early_length, late_length;
        treefold_status status;
    } places[] = {{NULL, &sum, 0, 2, TREEFOLD_LENGTH},
                  {NULL, NULL, 0, 1, TREEFOLD_NULL},
                  {NULL, NULL, 0, 0, TREEFOLD_LENGTH},
                  {&sum, &second, 1, 1, TREEFOLD_ARGUMENT},
                  {&sum, NULL, 2, 0, TREEFOLD_LENGTH}};
    for (int i = 0; i < 5; i++) {
        OK(START(plan, ALLREDUCE, places[i].early, places[i].early_length, &started));
        EXPECT(places[i].status, "", treefold_wait(&started, places[i].late, places[i].late_length, NULL));
        CHECK_PENDING(plan, 0);
    }
    /* Two plans run at once. In the first run, only the root gets a result. */
    sum = second = -1;
    treefold_run *both[3] = {NULL, NULL, NULL};
    OK(START(plan, REDUCE, &sum, 1, &both[0]));
    OK(START(other, SCAN, &second, 1, &both[2]));
    CHECK(sum == -1 && second == -1);
    OK(treefold_wait_all(both, 3));
    CHECK(both[0] == NULL && both[2] == NULL && second == rank + 1 && sum == (rank == last() ? size : -1));
    OK(treefold_wait_all(both, 3));
    OK(treefold_wait_all(NULL, 0));
    /* One run has no array for its result. wait_all returns the error after all runs have ended. */
    OK(START(plan, ALLREDUCE, NULL, 0, &both[0]));
    OK(START(other, ALLREDUCE, &second, 1, &both[1]));
    EXPECT(TREEFOLD_LENGTH, "", treefold_wait_all(both, 2));
    CHECK(both[0] == NULL && both[1] == NULL && second == size);
    CHECK_PENDING(plan, 0);
    /* A scan uses the items that the start was given, even if the array changes later. A run may outlive its plan. */
    double item = 1;
    kept = plan;
    OK(treefold_start(plan, TREEFOLD_EXSCAN, &item, 1, &sum, 1, &started));
    item = 1000;
    OK(treefold_plan_destroy(&plan));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_plan_pending(kept, &pending));
    OK(treefold_run_plan(started, &of));
    CHECK(of == NULL);
    OK(treefold_wait(&started, NULL, 0, NULL));
    CHECK(sum == rank);
    /* A cancelled run is no longer pending, and its plan is spent. */
    OK(START(other, ALLREDUCE, &sum, 1, &started));
    OK(treefold_cancel(&started));
    OK(treefold_cancel(&started));
    CHECK_PENDING(other, 0);
    EXPECT(TREEFOLD_SPENT, "", treefold_allreduce(other, &one, 1, &sum, 1));
    end_plan(&other);
}

/* Starts an operation and waits for it. */
static treefold_status started(const treefold_plan *plan, int32_t operation, const struct input *in, void *result, size_t m)
{
    treefold_run *run_of = NULL;
    treefold_status status = start(plan, operation, in, result, m, &run_of);
    return status == TREEFOLD_OK ? treefold_wait(&run_of, NULL, 0, NULL) : status;
}

/* Tests that all ranks get an error if one rank passes an invalid argument. */
static void mistakes(void)
{
    const struct recipe tree = {TREE, TREEFOLD_F64, TREEFOLD_SUM, (size_t)size, 1, NULL};
    const struct recipe pair = {TREE, TREEFOLD_F64, TREEFOLD_SUM, (size_t)size, 2, NULL};
    const struct recipe sum = {EXACT, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, 2, NULL};
    const struct recipe dot = {EXACT, TREEFOLD_F64, TREEFOLD_EXACT_DOT, 0, 2, NULL};
    double x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8}, results[4] = {0};
    const void *xs[2] = {x, x + 1}, *ys[2] = {y, NULL};
    const struct input one = {.x = x, .n = 1}, no_array = {.n = 1};
    const struct input three = {.form = PAIRS, .x = x, .y = y, .n = 3};
    const struct input broken = {.form = APART, .xs = xs, .ys = ys, .k = 2, .n = 1};
#define RIGHT treefold_allreduce(plan, x, 1, results, 1)
#define OF_TREE(code, words, wrong) ON_LAST(&tree, code, words, wrong, RIGHT)
    OF_TREE(TREEFOLD_NULL, "`local`", treefold_allreduce(plan, NULL, 1, results, 1));
    OF_TREE(TREEFOLD_LENGTH, "", treefold_allreduce(plan, x, SIZE_MAX, results, 1));
    OF_TREE(TREEFOLD_LENGTH, "", treefold_allreduce(plan, x, 1, results, 2));
    ON_LAST(&tree, TREEFOLD_LENGTH, "`y`", treefold_run_dot(plan, TREEFOLD_ALLREDUCE, x, 2, x, 1, results, 1, NULL),
            treefold_run_dot(plan, TREEFOLD_ALLREDUCE, x, 1, x, 1, results, 1, NULL));
    OF_TREE(TREEFOLD_ARGUMENT, "`operation`", treefold_run_dot(plan, TREEFOLD_SCAN, x, 1, y, 1, results, 1, NULL));
    OF_TREE(TREEFOLD_ARGUMENT, "`operation`", started(plan, TREEFOLD_BROADCAST, &one, results, 1));
    OF_TREE(TREEFOLD_NULL, "`local`", started(plan, TREEFOLD_ALLREDUCE, &no_array, results, 1));
    OF_TREE(TREEFOLD_NULL, "`result`", started(plan, TREEFOLD_ALLREDUCE, &one, NULL, 1));
#undef RIGHT
#define RIGHT treefold_allreduce(plan, x, 2, results, 2)
    ON_LAST(&sum, TREEFOLD_LENGTH, "", treefold_allreduce(plan, x, 3, results, 2), RIGHT);
    ON_LAST(&sum, TREEFOLD_NULL, "`local`", treefold_allreduce(plan, NULL, 2, results, 2), RIGHT);
#undef RIGHT
#define RIGHT treefold_run_dots(plan, TREEFOLD_ALLREDUCE, xs, xs, 2, 1, results, 2, NULL)
    ON_LAST(&pair, TREEFOLD_LENGTH, "width", treefold_run_dots(plan, TREEFOLD_ALLREDUCE, xs, xs, 1, 1, results, 2, NULL), RIGHT);
    ON_LAST(&pair, TREEFOLD_NULL, "`y`", started(plan, TREEFOLD_ALLREDUCE, &broken, results, 2), RIGHT);
#undef RIGHT
#define RIGHT treefold_run_dot(plan, TREEFOLD_ALLREDUCE, x, 2, y, 2, results, 2, NULL)
    ON_LAST(&dot, TREEFOLD_ARGUMENT, "takes two arrays", treefold_allreduce(plan, x, 2, results, 2), RIGHT);
    ON_LAST(&dot, TREEFOLD_NULL, "`y`", treefold_run_dot(plan, TREEFOLD_ALLREDUCE, x, 2, NULL, 2, results, 2, NULL), RIGHT);
    ON_LAST(&dot, TREEFOLD_LENGTH, "", started(plan, TREEFOLD_ALLREDUCE, &three, results, 2), RIGHT);
    /* Calls that are wrong on all ranks. */
    treefold_plan *plan = plan_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_MAX, (size_t)size, 2, NULL});
    EXPECT(TREEFOLD_ARGUMENT, "dot products", RIGHT);
    end_plan(&plan);
    plan = plan_of(&sum);
    EXPECT(TREEFOLD_ARGUMENT, "no dot products", RIGHT);
    end_plan(&plan);
#undef RIGHT
}

/* Tests arrays of the wrong length. For items, the wait fails if the plan is in tree order; for other plans, the start fails. For a result,
   the wait fails. */
static void wrong_lengths(void)
{
    const struct {
        struct recipe recipe;
        struct input in;
    } rows[] = {
        {{TREE, TREEFOLD_F64, TREEFOLD_SUM, (size_t)size, 1, NULL}, {.form = ITEMS, .x = all, .n = 2}},
        {{TREE, TREEFOLD_F64, TREEFOLD_SUM, (size_t)size, 1, NULL}, {.form = PAIRS, .x = all, .y = all, .n = 2}},
        {{LANES, TREEFOLD_F64, 1, (size_t)size, 1, NULL}, {.form = ITEMS, .x = all, .n = 2}},
        {{EXACT, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, 2, NULL}, {.form = ITEMS, .x = all, .n = 3}},
        {{EXACT, TREEFOLD_F64, TREEFOLD_EXACT_DOT, 0, 2, NULL}, {.form = PAIRS, .x = all, .y = all, .n = 3}},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        const struct recipe *recipe = &rows[row].recipe;
        const size_t width = recipe->width;
        struct input in = rows[row].in;
        double results[3];
        treefold_run *run_of = NULL;
        treefold_plan *plan = plan_of(recipe);
        EXPECT(recipe->kind == TREE ? TREEFOLD_OK : TREEFOLD_LENGTH, "", start(plan, TREEFOLD_ALLREDUCE, &in, results, width, &run_of));
        if (run_of != NULL)
            EXPECT(TREEFOLD_LENGTH, "", treefold_wait(&run_of, NULL, 0, NULL));
        end_plan(&plan);
        plan = plan_of(recipe);
        in.n = width;
        OK(start(plan, TREEFOLD_ALLREDUCE, &in, results, width + 1, &run_of));
        EXPECT(TREEFOLD_LENGTH, "", treefold_wait(&run_of, NULL, 0, NULL));
        OK(run(plan, TREEFOLD_ALLREDUCE, &in, results, width, &(int){0}));
        end_plan(&plan);
    }
}

/* An item of `compose`: the map x -> a x + b. The operator composes two maps, and returns an error on rank `refuses`. */
struct affine {
    int32_t a, b, more[3];
};

static int refuses = -1;

static int compose(void *context, const void *left, const void *right, void *out)
{
    const struct affine *f = left, *g = right;
    if (*(int *)context != 42)
        abort();
    if (rank == refuses)
        return 5;
    *(struct affine *)out = (struct affine){g->a * f->a, g->a * f->b + g->b, {f->more[0], 0, g->more[2]}};
    return 0;
}

/* The operator `communicate` calls the functions that communicate. Each of them must return TREEFOLD_OPERATOR. */
static treefold_plan *nested;
static treefold_run *nested_run;
static treefold_builder *nested_builder;
static int nested_calls;

static int communicate(void *context, const void *left, const void *right, void *out)
{
    double one = 1, sum;
    const void *ones[1] = {&one};
    int done;
    treefold_comm *own = comm;
    treefold_run *begun = NULL;
    treefold_plan *plan = NULL;
    (void)context;
    (void)left;
    const treefold_status statuses[] = {
        treefold_comm_measure_link(comm),
        treefold_comm_free(&own),
        treefold_plan_build(nested_builder, &plan),
        treefold_allreduce(nested, &one, 1, &sum, 1),
        treefold_reduce(nested, &one, 1, &sum, 1, NULL),
        treefold_reduce_scatter(nested, &one, 1, &sum, 1),
        treefold_scan(nested, &one, 1, &sum, 1),
        treefold_exscan(nested, &one, 1, &sum, 1),
        treefold_broadcast(nested, &one, 1),
        treefold_run_dot(nested, TREEFOLD_ALLREDUCE, &one, 1, &one, 1, &sum, 1, NULL),
        treefold_run_dots(nested, TREEFOLD_ALLREDUCE, ones, ones, 1, 1, &sum, 1, NULL),
        treefold_start(nested, TREEFOLD_SCAN, &one, 1, NULL, 0, &begun),
        treefold_start_dot(nested, TREEFOLD_REDUCE, &one, 1, &one, 1, NULL, 0, &begun),
        treefold_start_dots(nested, TREEFOLD_REDUCE, ones, ones, 1, 1, NULL, 0, &begun),
        treefold_test(nested_run, &done),
        treefold_wait_timeout(nested_run, 1),
    };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        CHECK(statuses[i] == TREEFOLD_OPERATOR);
    CHECK(own == comm && begun == NULL && plan == NULL);
    nested_calls++;
    memcpy(out, right, 8);
    return 0;
}

static void user_operators(void)
{
    struct affine maps[2], none = {1, 0, {0, 0, 0}}, result, expected = none, prefixes[2][2];
    int context = 42;
    treefold_builder *builder = NULL;
    treefold_plan *plan = NULL;
    for (int i = 0; i < 2 * size; i++) {
        const struct affine map = {i % 2 ? 3 : -1, i, {i, 0, i}};
        if (i / 2 == rank) {
            prefixes[0][i % 2] = expected;
            maps[i % 2] = map;
        }
        expected = (struct affine){map.a * expected.a, map.a * expected.b + map.b, {0, 0, i}};
        if (i / 2 == rank)
            prefixes[1][i % 2] = expected;
    }
    OK(treefold_builder_create_user(comm, "compose", sizeof none, compose, &context, &none, &builder));
    OK(treefold_builder_local_items(builder, 2));
    OK(treefold_builder_root(builder, last()));
    OK(treefold_plan_build(builder, &plan));
    const struct input in = {.form = ITEMS, .x = maps, .n = 2};
    for (int32_t operation = TREEFOLD_ALLREDUCE; operation <= TREEFOLD_EXSCAN; operation++)
        if (operation != TREEFOLD_REDUCE_SCATTER) {
            const int is_scan = operation >= TREEFOLD_SCAN;
            CHECK(is_right_in_every_way(plan, operation, &in, is_scan ? prefixes[operation == TREEFOLD_SCAN] : &expected,
                                        (is_scan ? 2 : 1) * sizeof none, is_scan ? 2 : 1));
        }
    result = rank == last() ? maps[0] : none;
    OK(treefold_broadcast(plan, &result, 1));
    CHECK(result.a == -1 && result.b == 2 * last());
    /* The operator fails on the last rank: that rank gets the operator's error, and the others get TREEFOLD_RANK_FAILED. */
    refuses = last();
    treefold_status status = treefold_allreduce(plan, maps, 2, &result, 1);
    CHECK(status == (rank == refuses ? TREEFOLD_OPERATOR : TREEFOLD_RANK_FAILED));
    CHECK(rank == refuses || treefold_last_error_rank() == refuses);
    CHECK(treefold_allreduce(plan, maps, 2, &result, 1) == TREEFOLD_SPENT);
    refuses = -1;
    end_plan(&plan);
    plan = built(builder);
    OK(treefold_allreduce(plan, maps, 2, &result, 1));
    end_plan(&plan);
    /* Ranks compare the size of an item and the value for no items. */
    for (int what = 0; what < 2 && size > 1; what++) {
        const size_t bytes = what == 0 && rank > 0 ? 12 : 20;
        OK(treefold_builder_create_user(comm, "compose", bytes, compose, &context, what == 1 && rank == 0 ? &none : NULL, &builder));
        OK(treefold_builder_local_items(builder, 1));
        CANNOT_BUILD(TREEFOLD_DISAGREE, "", builder);
    }
    EXPECT(TREEFOLD_NULL, "`name`", treefold_builder_create_user(comm, NULL, 8, compose, NULL, NULL, &builder));
    EXPECT(TREEFOLD_NULL, "`combine`", treefold_builder_create_user(comm, "x", 8, NULL, NULL, NULL, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "`item_bytes`", treefold_builder_create_user(comm, "x", 520, compose, NULL, NULL, &builder));

    nested = plan_of_one();
    treefold_plan *running = plan_of_one();
    double one = 1, sum;
    OK(treefold_start(running, TREEFOLD_ALLREDUCE, &one, 1, &sum, 1, &nested_run));
    OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &nested_builder));
    OK(treefold_builder_local_items(nested_builder, 1));
    OK(treefold_builder_create_user(comm, "communicate", 8, communicate, NULL, NULL, &builder));
    OK(treefold_builder_local_items(builder, 2));
    OK(treefold_plan_build(builder, &plan));
    int64_t items[2] = {1, 2}, latest;
    OK(treefold_allreduce(plan, items, 2, &latest, 1));
    CHECK(latest == 2 && nested_calls > 0);
    OK(treefold_wait(&nested_run, NULL, 0, NULL));
    CHECK(sum == size);
    end_plan(&plan), end_plan(&running), end_plan(&nested);
    END(builder, &nested_builder, &builder);
}

/* Checks, on another thread, that the handles of the first thread cannot be used there. */
static void *elsewhere(void *plan)
{
    double one = 1, sum;
    int found;
    EXPECT(TREEFOLD_ARGUMENT, "another thread", treefold_allreduce(plan, &one, 1, &sum, 1));
    EXPECT(TREEFOLD_ARGUMENT, "another thread", treefold_comm_rank(comm, &found));
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    treefold_plan *plan = plan_of_one();
    CHECK(pthread_create(&thread, NULL, elsewhere, plan) == 0);
    pthread_join(thread, NULL);
    double one = 1, sum;
    OK(treefold_threads(3));
    OK(treefold_allreduce(plan, &one, 1, &sum, 1));
    OK(treefold_threads(1));
    CHECK(sum == size);
    end_plan(&plan);
}

int main(int argc, char **argv)
{
    EXPECT(TREEFOLD_MPI, "not initialised", treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    begin_ranks(&argc, &argv);
    for (size_t i = 0; i < N; i++)
        all[i] = number(i);
    communicators();
    distributions_and_algorithms();
    every_plan();
    builders();
    setters();
    plans();
    runs();
    mistakes();
    wrong_lengths();
    user_operators();
    threads();
    /* Handles may outlive MPI. */
    treefold_plan *plan = plan_of_one();
    int has_failed = end_ranks();
    double one = 1, sum;
    if (size > 1)
        EXPECT(TREEFOLD_MPI, "finalised", treefold_allreduce(plan, &one, 1, &sum, 1));
    end_plan(&plan);
    OK(treefold_comm_destroy(&comm));
    EXPECT(TREEFOLD_MPI, "finalised", treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    return failures != 0 || has_failed;
}
