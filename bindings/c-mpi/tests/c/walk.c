/* Walks every function of treefold_mpi.h with right and wrong arguments, on any number of ranks. */
#define _POSIX_C_SOURCE 200809L

#include "../../../c/tests/c/check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <treefold_mpi.h>

enum { N = 1000, WIDTH = 5, ROWS = 37 };

static int rank, size;
static treefold_comm *comm;
static double all[N];

/* This rank's items of n, contiguous. */
static size_t begin_of(size_t n, int r) { return n * (size_t)r / (size_t)size; }
static size_t count_of(size_t n) { return begin_of(n, rank + 1) - begin_of(n, rank); }

static treefold_plan *plan_of(treefold_type type, treefold_op op, size_t items, size_t width)
{
    treefold_builder *builder = NULL;
    treefold_plan *plan = NULL;
    OK(treefold_builder_create(comm, type, op, &builder));
    OK(treefold_builder_local_items(builder, items));
    OK(treefold_builder_width(builder, width));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    CHECK(builder == NULL);
    return plan;
}

/* A communicator that is freed while some rank still has a plan stays until nobody has one. */
static void freeing(void)
{
    /* MPICH has room for 2048. Its ranks do not yield: more than two take long on two cores. */
    const int turns = size <= 2 ? 1500 : 20;
    for (int turn = 0; turn < turns; turn++) {
        MPI_Comm parent;
        treefold_comm *own = NULL, *copy;
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &parent);
        OK(treefold_comm_duplicate(parent, &own));
        copy = own;
        OK(treefold_comm_free(&own));
        CHECK(own == NULL);
        if (turn == 0) {
            OK(treefold_comm_free(&own));
            EXPECT(TREEFOLD_NULL, "`comm`", treefold_comm_free(NULL));
            EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_comm_free(&copy));
        }
        MPI_Comm_free(&parent);
    }
    treefold_comm *own = NULL;
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &own));
    treefold_builder *builder = NULL;
    treefold_plan *plan = NULL;
    OK(treefold_builder_create(own, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    OK(treefold_builder_local_items(builder, 1));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    if (rank > 0)
        OK(treefold_plan_destroy(&plan));
    OK(treefold_comm_free(&own));
    OK(treefold_plan_destroy(&plan));
}

static int is_fifth(void *questions)
{
    return ++*(int *)questions >= 5;
}

/* A wait that is in vain ends when the program says so; the other ranks hear of it. */
static void interruption(void)
{
    treefold_comm *own = NULL;
    treefold_builder *builder = NULL;
    treefold_plan *plan = NULL;
    int questions = 0;
    double one = 1, sum = 0;
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_comm_interruption(NULL, is_fifth, &questions));
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &own));
    OK(treefold_builder_create(own, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    OK(treefold_builder_local_items(builder, 1));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    if (rank == 0)
        OK(treefold_comm_interruption(own, is_fifth, &questions));
    if (size > 1 && rank == 0) {
        EXPECT(TREEFOLD_INTERRUPTED, "interrupted", treefold_allreduce(plan, &one, 1, &sum, 1));
        CHECK(questions == 5 && treefold_last_error_rank() == 0);
        OK(treefold_comm_interruption(own, NULL, NULL));
        EXPECT(TREEFOLD_SPENT, "", treefold_allreduce(plan, &one, 1, &sum, 1));
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (size > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        /* Rank 0 may have sent its part before: then this run ends well, and the next fails. */
        treefold_status status = treefold_allreduce(plan, &one, 1, &sum, 1);
        if (status == TREEFOLD_OK)
            status = treefold_allreduce(plan, &one, 1, &sum, 1);
        CHECK(status == TREEFOLD_RANK_FAILED);
    }
    OK(treefold_plan_destroy(&plan));
    OK(treefold_comm_free(&own));
}

static void communicators(void)
{
    treefold_comm *other = NULL;
    MPI_Comm inter, half;
    int number = -1;
    OK(treefold_comm_rank(comm, &number));
    CHECK(number == rank);
    OK(treefold_comm_size(comm, &number));
    CHECK(number == size);
    EXPECT(TREEFOLD_NULL, "`rank`", treefold_comm_rank(comm, NULL));
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_comm_size(NULL, &number));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_comm_duplicate(MPI_COMM_WORLD, NULL));
    EXPECT(TREEFOLD_ARGUMENT, "MPI_COMM_NULL", treefold_comm_duplicate(MPI_COMM_NULL, &other));
    MPI_Comm world = MPI_COMM_WORLD;
    treefold_mpi_function size_of = (treefold_mpi_function)MPI_Comm_size;
    EXPECT(TREEFOLD_MPI, "another", treefold_comm_duplicate_checked(&world, sizeof world, "another", size_of, &other));
    EXPECT(TREEFOLD_MPI, "compiled with", treefold_comm_duplicate_checked(&world, 1, TREEFOLD_MPI_FAMILY, size_of, &other));
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
    CHECK(other == NULL);
    OK(treefold_comm_destroy(&other));
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_comm_destroy(NULL));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_comm_rank(copy, &number));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_comm_destroy(&copy));
    EXPECT(TREEFOLD_ARGUMENT, "no handle of this kind", treefold_comm_rank((const treefold_comm *)(const void *)&number, &number));
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

/* Every algorithm, every way of owning items: one number. */
static void distributions_and_algorithms(void)
{
    double expected = tree_sum(all, N), local[N], sum;
    CHECK(treefold_algorithm_count() > 20);
    CHECK(treefold_algorithm_name(treefold_algorithm_count()) == NULL);
    for (size_t a = 0; a < treefold_algorithm_count(); a++) {
        const char *name = treefold_algorithm_name(a);
        for (int way = 0; way < 4; way++) {
            treefold_builder *builder;
            treefold_plan *plan = NULL;
            size_t n = 0;
            OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
            OK(treefold_builder_algorithm(builder, name));
            OK(treefold_builder_items(builder, N));
            if (way == 0) {
                for (size_t i = begin_of(N, rank); i < begin_of(N, rank + 1); i++)
                    local[n++] = all[i];
                OK(treefold_builder_local_items(builder, n));
            } else if (way == 1) {
                /* Items in reverse over the ranks, in two pieces. */
                int other = size - 1 - rank;
                uint64_t begin = begin_of(N, other), end = begin_of(N, other + 1), middle = (begin + end) / 2;
                treefold_range ranges[2] = {{middle, end}, {begin, middle}};
                for (int piece = 0; piece < 2; piece++)
                    for (uint64_t i = ranges[piece].begin; i < ranges[piece].end; i++)
                        local[n++] = all[i];
                OK(treefold_builder_extents(builder, ranges, 2));
            } else if (way == 2) {
                size_t share = N / (size_t)size, longer = N % (size_t)size, r = (size_t)rank;
                size_t begin = r * share + (r < longer ? r : longer);
                for (n = 0; n < share + (r < longer); n++)
                    local[n] = all[begin + n];
                OK(treefold_builder_even(builder, N));
            } else {
                for (size_t i = 0; i < N; i++)
                    if (i / 7 % (size_t)size == (size_t)rank)
                        local[n++] = all[i];
                OK(treefold_builder_block_cyclic(builder, N, 7));
            }
            treefold_status built = treefold_plan_build(builder, &plan);
            OK(treefold_builder_destroy(&builder));
            if (built == TREEFOLD_UNSUPPORTED && (way == 1 || way == 3))
                continue;
            CHECK(built == TREEFOLD_OK);
            sum = -1;
            OK(treefold_allreduce(plan, local, n, &sum, 1));
            if (bits(sum) != bits(expected))
                fprintf(stderr, "%s, way %d\n", name, way);
            CHECK(bits(sum) == bits(expected));
            OK(treefold_plan_destroy(&plan));
        }
    }
}

static void builders(void)
{
    treefold_builder *builder = NULL, *copy;
    treefold_plan *plan = NULL;
    double zero[WIDTH] = {0};
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_builder_create(NULL, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, NULL));
    EXPECT(TREEFOLD_ARGUMENT, "`type`", treefold_builder_create(comm, 99, TREEFOLD_SUM, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "`op`", treefold_builder_create(comm, TREEFOLD_F64, 99, &builder));
    OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "none of local_items", treefold_plan_build(builder, &plan));
    EXPECT(TREEFOLD_ARGUMENT, "no-such-algorithm", treefold_builder_algorithm(builder, "no-such-algorithm"));
    EXPECT(TREEFOLD_NULL, "`name`", treefold_builder_algorithm(builder, NULL));
    EXPECT(TREEFOLD_ARGUMENT, "UTF-8", treefold_builder_algorithm(builder, "\xff"));
    EXPECT(TREEFOLD_NULL, "`ranges`", treefold_builder_extents(builder, NULL, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`rank`", treefold_builder_root(builder, -1));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_plan_build(builder, NULL));
    EXPECT(TREEFOLD_NULL, "`builder`", treefold_plan_build(NULL, &plan));
    EXPECT(TREEFOLD_ARGUMENT, "block", treefold_builder_block_cyclic(builder, 10, 0));
    OK(treefold_builder_local_items(builder, 1));
    OK(treefold_builder_items(builder, 99));
    EXPECT(TREEFOLD_DISAGREE, "99", treefold_plan_build(builder, &plan));
    OK(treefold_builder_items(builder, (uint64_t)size));
    OK(treefold_builder_local_items(builder, UINT64_MAX));
    CHECK(treefold_plan_build(builder, &plan) == TREEFOLD_DISAGREE);
    treefold_range twice[1] = {{0, 1}};
    OK(treefold_builder_extents(builder, twice, 1));
    if (size > 1) {
        EXPECT(TREEFOLD_DISAGREE, "item", treefold_plan_build(builder, &plan));
        OK(treefold_builder_local_items(builder, 1));
        OK(treefold_builder_width(builder, rank == 0 ? 1 : 2));
        EXPECT(TREEFOLD_DISAGREE, "width", treefold_plan_build(builder, &plan));
        CHECK(treefold_last_error_rank() == 1);
        OK(treefold_builder_width(builder, 1));
    }
    OK(treefold_builder_blocks(builder, 2));
    OK(treefold_builder_ports(builder, 1));
    OK(treefold_builder_node_ranks(builder, 2));
    OK(treefold_builder_message_limit(builder, 3));
    OK(treefold_builder_even(builder, (uint64_t)size));
    OK(treefold_builder_agreed(builder));
    OK(treefold_plan_build(builder, &plan));
    double one = 1, sum;
    OK(treefold_allreduce(plan, &one, 1, &sum, 1));
    CHECK(sum == size);
    OK(treefold_plan_destroy(&plan));
    copy = builder;
    OK(treefold_builder_destroy(&builder));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_builder_width(copy, 1));
    /* No items: the operator's value for nothing, or an error. */
    plan = plan_of(TREEFOLD_F64, TREEFOLD_PRODUCT, 0, WIDTH);
    OK(treefold_allreduce(plan, NULL, 0, zero, WIDTH));
    CHECK(zero[0] == 1 && zero[WIDTH - 1] == 1);
    OK(treefold_plan_destroy(&plan));
    OK(treefold_builder_create(comm, TREEFOLD_I32, TREEFOLD_MAX, &builder));
    OK(treefold_builder_local_items(builder, 0));
    EXPECT(TREEFOLD_EMPTY, "no items", treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
}

/* A builder of real items without settings. */
static treefold_builder *fresh(void)
{
    treefold_builder *builder = NULL;
    OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    return builder;
}

/* What can be seen to be wrong without the other ranks is an error of its setter, sentence by sentence of treefold_mpi.h, and the setting
   stays as it was: what is built in the end has the right values. */
static void setters(void)
{
    treefold_builder *builder = fresh(), *exact = NULL, *none = NULL;
    treefold_plan *plan = NULL;
    const char *name = NULL;
    const size_t most = (size_t)1 << 20;
    treefold_range reversed[2] = {{0, 1}, {5, 3}}, twice[3] = {{4, 6}, {0, 2}, {5, 7}}, empty[3] = {{5, 5}, {2, 4}, {2, 2}};
    for (treefold_type type = TREEFOLD_C32; type <= TREEFOLD_C64; type++)
        for (treefold_op op = TREEFOLD_MIN; op <= TREEFOLD_MAX; op++)
            EXPECT(TREEFOLD_UNSUPPORTED, "complex", treefold_builder_create(comm, type, op, &none));
    EXPECT(TREEFOLD_UNSUPPORTED, "integers", treefold_builder_create_exact(comm, TREEFOLD_I8, TREEFOLD_EXACT_SUM, &none));
    EXPECT(TREEFOLD_UNSUPPORTED, "complex", treefold_builder_create_exact(comm, TREEFOLD_C64, TREEFOLD_EXACT_NORM, &none));
    EXPECT(TREEFOLD_ARGUMENT, "`figure`", treefold_builder_create_exact(comm, TREEFOLD_F64, 5, &none));
    CHECK(none == NULL);
    /* Right values, then wrong ones. */
    OK(treefold_builder_even(builder, (uint64_t)size));
    OK(treefold_builder_width(builder, 2));
    OK(treefold_builder_root(builder, size - 1));
    OK(treefold_builder_algorithm(builder, "binomial"));
    OK(treefold_builder_blocks(builder, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`ranges`: {5, 3} ends before it begins", treefold_builder_extents(builder, reversed, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`ranges`: item 5 is in two of them", treefold_builder_extents(builder, twice, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`ranges`: its address is not a multiple of 8",
           treefold_builder_extents(builder, (const void *)((const char *)twice + 4), 1));
    EXPECT(TREEFOLD_ARGUMENT, "`block`: a block has at least one item", treefold_builder_block_cyclic(builder, 10, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`elements`: 0", treefold_builder_width(builder, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`rank`: -1 is no rank of", treefold_builder_root(builder, -1));
    EXPECT(TREEFOLD_ARGUMENT, "is no rank of", treefold_builder_root(builder, size));
    EXPECT(TREEFOLD_ARGUMENT, "no-such-algorithm", treefold_builder_algorithm(builder, "no-such-algorithm"));
    EXPECT(TREEFOLD_ARGUMENT, "unknown algorithm", treefold_builder_algorithm(builder, ""));
    EXPECT(TREEFOLD_ARGUMENT, "`blocks`: 0 is not from 1 to 1048576", treefold_builder_blocks(builder, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`blocks`: 1048577", treefold_builder_blocks(builder, most + 1));
    EXPECT(TREEFOLD_ARGUMENT, "`ports`: 0 is not from 1 to 1048576", treefold_builder_ports(builder, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`ports`: 1048577", treefold_builder_ports(builder, most + 1));
    EXPECT(TREEFOLD_ARGUMENT, "`ranks`: 0", treefold_builder_node_ranks(builder, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`elements`: 0", treefold_builder_message_limit(builder, 0));
    OK(treefold_plan_build(builder, &plan));
    double row[2] = {1, 2}, result[2] = {0, 0};
    int is_mine = -1;
    OK(treefold_reduce(plan, row, 2, result, 2, &is_mine));
    CHECK(is_mine == (rank == size - 1));
    CHECK(!is_mine || (result[0] == size && result[1] == 2 * size));
    OK(treefold_plan_algorithm(plan, TREEFOLD_REDUCE, &name));
    CHECK(strcmp(name, "binomial") == 0);
    OK(treefold_plan_destroy(&plan));
    /* The greatest values. */
    OK(treefold_builder_blocks(builder, most));
    OK(treefold_builder_ports(builder, most));
    OK(treefold_builder_node_ranks(builder, SIZE_MAX));
    OK(treefold_builder_message_limit(builder, SIZE_MAX));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_plan_destroy(&plan));
    /* Empty ranges may lie anywhere. What is right by itself may not fit the rest: that is an error of the plan. */
    OK(treefold_builder_extents(builder, empty, 3));
    EXPECT(TREEFOLD_DISAGREE, "item", treefold_plan_build(builder, &plan));
    OK(treefold_builder_agreed(builder));
    EXPECT(TREEFOLD_ARGUMENT, "agreed needs items that follow a rule: even or block_cyclic", treefold_plan_build(builder, &plan));
    /* Items of exact sums have no numbers. */
    OK(treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, &exact));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_local_items(exact, 1));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_extents(exact, empty, 3));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_even(exact, 1));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_block_cyclic(exact, 1, 1));
    EXPECT(TREEFOLD_ARGUMENT, "no numbers", treefold_builder_items(exact, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`elements`: 0", treefold_builder_width(exact, 0));
    OK(treefold_builder_destroy(&exact));
    OK(treefold_builder_destroy(&builder));
}

/* Whether a plan has a run, and what that is of. */
static void queries(void)
{
    const treefold_plan *of = NULL;
    treefold_plan *plan, *other = plan_of(TREEFOLD_F64, TREEFOLD_SUM, 1, 1), *kept;
    treefold_run *run = NULL, *again = NULL, *ended;
    treefold_builder *builder = fresh();
    const char *name = NULL;
    double one = 1, sum = 0;
    int pending = -1;
    OK(treefold_builder_local_items(builder, 1));
    OK(treefold_builder_algorithm(builder, "recursive-doubling"));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    for (int turn = 0; turn < 3; turn++) {
        OK(treefold_plan_pending(plan, &pending));
        CHECK(pending == 0);
        OK(treefold_start_allreduce(plan, &one, 1, &run));
        OK(treefold_plan_pending(plan, &pending));
        CHECK(pending == 1);
        OK(treefold_plan_pending(other, &pending));
        CHECK(pending == 0);
        OK(treefold_run_plan(run, &of));
        CHECK(of == plan);
        OK(treefold_run_algorithm(run, &name));
        CHECK(strcmp(name, "recursive-doubling") == 0);
        EXPECT(TREEFOLD_UNDER_WAY, "", treefold_start_allreduce(plan, &one, 1, &again));
        OK(treefold_wait_timeout(run, 60));
        /* The run is over, but not waited for. */
        OK(treefold_plan_pending(plan, &pending));
        CHECK(pending == 1);
        ended = run;
        OK(treefold_wait(&run, &sum, 1, NULL));
        CHECK(sum == size);
        EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_run_plan(ended, &of));
        EXPECT(TREEFOLD_NULL, "`run`", treefold_run_algorithm(run, &name));
    }
    /* A wait that has no place for its result ends the run as well. */
    OK(treefold_start_allreduce(plan, &one, 1, &run));
    EXPECT(TREEFOLD_LENGTH, "", treefold_wait(&run, &sum, 2, NULL));
    OK(treefold_plan_pending(plan, &pending));
    CHECK(pending == 0);
    /* A run outlives its plan. */
    kept = plan;
    OK(treefold_start_scan(plan, &one, 1, &run));
    OK(treefold_plan_destroy(&plan));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_plan_pending(kept, &pending));
    OK(treefold_run_plan(run, &of));
    CHECK(of == NULL);
    OK(treefold_run_algorithm(run, &name));
    CHECK(name != NULL);
    OK(treefold_wait(&run, &sum, 1, NULL));
    CHECK(sum == rank + 1);
    /* One that is abandoned is pending no more. */
    OK(treefold_start_allreduce(other, &one, 1, &run));
    OK(treefold_cancel(&run));
    OK(treefold_plan_pending(other, &pending));
    CHECK(pending == 0);
    OK(treefold_plan_destroy(&other));
    EXPECT(TREEFOLD_NULL, "`plan`", treefold_plan_pending(NULL, &pending));
}

/* The rows of all ranks, and what their columns come to. */
static double row[ROWS][WIDTH], total[WIDTH];

static void rows_of_all(void)
{
    double column[ROWS];
    for (size_t c = 0; c < WIDTH; c++) {
        for (size_t r = 0; r < ROWS; r++)
            column[r] = row[r][c] = number(r * WIDTH + c);
        total[c] = tree_sum(column, ROWS);
    }
}

static int same(const double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bits(x[i]) != bits(y[i]))
            return 0;
    return 1;
}

static void collectives(void)
{
    size_t rows = count_of(ROWS), n = rows * WIDTH, begin, end, needed;
    const double *local = row[begin_of(ROWS, rank)];
    double result[WIDTH], prefixes[ROWS * WIDTH], expected[WIDTH], column[ROWS];
    const char *name;
    char text[64];
    int mine = -1, root = size - 1;
    treefold_builder *builder;
    treefold_plan *plan;
    OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    OK(treefold_builder_local_items(builder, rows));
    OK(treefold_builder_width(builder, WIDTH));
    OK(treefold_builder_root(builder, root));
    OK(treefold_plan_build(builder, &plan));

    OK(treefold_allreduce(plan, local, n, result, WIDTH));
    CHECK(same(result, total, WIDTH));
    memset(result, 0, sizeof result);
    OK(treefold_reduce(plan, local, n, result, WIDTH, &mine));
    CHECK(mine == (rank == root));
    CHECK(rank != root || same(result, total, WIDTH));
    /* Only the root needs room. */
    OK(treefold_reduce(plan, local, n, rank == root ? result : NULL, rank == root ? WIDTH : 0, NULL));
    OK(treefold_plan_scattered_columns(plan, &begin, &end));
    OK(treefold_reduce_scatter(plan, local, n, result, end - begin));
    CHECK(same(result, total + begin, end - begin));
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        if (inclusive)
            OK(treefold_scan(plan, local, n, prefixes, n));
        else
            OK(treefold_exscan(plan, local, n, prefixes, n));
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < WIDTH; c++) {
                size_t until = begin_of(ROWS, rank) + r + (size_t)inclusive;
                for (size_t i = 0; i < until; i++)
                    column[i] = row[i][c];
                expected[c] = tree_sum(column, until);
            }
            CHECK(same(prefixes + r * WIDTH, expected, WIDTH));
        }
    }
    for (size_t c = 0; c < WIDTH; c++)
        result[c] = rank == root ? (double)c : -1;
    OK(treefold_broadcast(plan, result, WIDTH));
    CHECK(result[0] == 0 && result[WIDTH - 1] == WIDTH - 1);

    OK(treefold_plan_algorithm(plan, TREEFOLD_ALLREDUCE, &name));
    CHECK(name != NULL && strlen(name) > 2);
    EXPECT(TREEFOLD_ARGUMENT, "operation", treefold_plan_algorithm(plan, 7, &name));
    EXPECT(TREEFOLD_NULL, "`name`", treefold_plan_algorithm(plan, TREEFOLD_SCAN, NULL));
    EXPECT(TREEFOLD_NULL, "`begin`", treefold_plan_scattered_columns(plan, NULL, &end));
    EXPECT(TREEFOLD_NULL, "`end`", treefold_plan_scattered_columns(plan, &begin, NULL));
    OK(treefold_plan_print(plan, NULL, 0, &needed));
    CHECK(needed > sizeof text);
    memset(text, 'x', sizeof text);
    OK(treefold_plan_print(plan, text, sizeof text, &needed));
    CHECK(memchr(text, 0, sizeof text) != NULL);
    char *whole = malloc(needed);
    OK(treefold_plan_print(plan, whole, needed, &needed));
    CHECK(strlen(whole) + 1 == needed);
    free(whole);
    EXPECT(TREEFOLD_NULL, "`needed`", treefold_plan_print(plan, text, sizeof text, NULL));
    EXPECT(TREEFOLD_NULL, "`text`", treefold_plan_print(plan, NULL, 5, &needed));

    treefold_plan *copy = plan;
    OK(treefold_plan_destroy(&plan));
    OK(treefold_plan_destroy(&plan));
    EXPECT(TREEFOLD_ARGUMENT, "`plan`: it was destroyed", treefold_allreduce(copy, local, n, result, WIDTH));
    EXPECT(TREEFOLD_NULL, "`plan`", treefold_allreduce(NULL, local, n, result, WIDTH));
    OK(treefold_builder_destroy(&builder));
}

static void split_phase(void)
{
    size_t rows = count_of(ROWS), n = rows * WIDTH, begin, end;
    const double *local = row[begin_of(ROWS, rank)];
    double result[WIDTH], prefixes[ROWS * WIDTH], again[ROWS * WIDTH + 1], changed[ROWS * WIDTH];
    int done = -1, mine = -1;
    treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, rows, WIDTH);
    treefold_plan *other = plan_of(TREEFOLD_F64, TREEFOLD_SUM, rows, WIDTH);
    treefold_run *run = NULL, *second = NULL;

    OK(treefold_start_allreduce(plan, local, n, &run));
    OK(treefold_start_reduce(other, local, n, &second));
    treefold_run *third = NULL;
    EXPECT(TREEFOLD_UNDER_WAY, "under way", treefold_start_allreduce(plan, local, n, &third));
    EXPECT(TREEFOLD_UNDER_WAY, "under way", treefold_allreduce(plan, local, n, result, WIDTH));
    CHECK(run != NULL);
    OK(treefold_test(run, &done));
    CHECK(done == 0 || done == 1);
    EXPECT(TREEFOLD_NULL, "`done`", treefold_test(run, NULL));
    EXPECT(TREEFOLD_NULL, "`run`", treefold_test(NULL, &done));
    EXPECT(TREEFOLD_ARGUMENT, "`seconds`", treefold_wait_timeout(run, -1));
    EXPECT(TREEFOLD_ARGUMENT, "`seconds`", treefold_wait_timeout(run, NAN));
    OK(treefold_wait_timeout(run, 1e30));
    OK(treefold_wait_timeout(run, INFINITY));
    OK(treefold_test(run, &done));
    CHECK(done == 1);
    treefold_run *copy = run;
    OK(treefold_wait(&run, result, WIDTH, &mine));
    CHECK(run == NULL && mine == 1 && same(result, total, WIDTH));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_wait(&copy, result, WIDTH, NULL));
    OK(treefold_wait(&second, rank == 0 ? result : NULL, rank == 0 ? WIDTH : 0, &mine));
    CHECK(mine == (rank == 0));

    /* A wrong result's length: the run ends well, and the plan is of use. */
    OK(treefold_start_allreduce(plan, local, n, &run));
    EXPECT(TREEFOLD_LENGTH, "elements", treefold_wait(&run, result, WIDTH - 1, NULL));
    CHECK(run == NULL);
    OK(treefold_start_allreduce(plan, local, n, &run));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_wait(&run, NULL, WIDTH, NULL));
    CHECK(run == NULL);
    OK(treefold_plan_scattered_columns(plan, &begin, &end));
    OK(treefold_start_reduce_scatter(plan, local, n, &run));
    OK(treefold_wait(&run, result, end - begin, NULL));
    CHECK(same(result, total + begin, end - begin));

    OK(treefold_scan(plan, local, n, prefixes, n));
    OK(treefold_start_scan(plan, local, n, &run));
    OK(treefold_wait(&run, again, n, NULL));
    CHECK(same(prefixes, again, n));
    OK(treefold_exscan(plan, local, n, prefixes, n));
    /* A scan is of the items that it was started with, whatever becomes of the array. */
    memcpy(changed, local, n * sizeof *local);
    OK(treefold_start_exscan(plan, changed, n, &run));
    for (size_t i = 0; i < n; i++)
        changed[i] = -1;
    OK(treefold_wait(&run, again, n, NULL));
    CHECK(same(prefixes, again, n));
    OK(treefold_start_scan(plan, local, n, &run));
    EXPECT(TREEFOLD_LENGTH, "elements", treefold_wait(&run, again, n + 1, NULL));
    CHECK(run == NULL);

    /* A run outlives its plan's handle. */
    OK(treefold_start_allreduce(plan, local, n, &run));
    OK(treefold_plan_destroy(&plan));
    OK(treefold_wait(&run, result, WIDTH, NULL));
    CHECK(same(result, total, WIDTH));
    EXPECT(TREEFOLD_NULL, "`run`", treefold_start_allreduce(other, local, n, NULL));
    OK(treefold_plan_destroy(&other));
    OK(treefold_cancel(&run));
    EXPECT(TREEFOLD_NULL, "`run`", treefold_cancel(NULL));

    plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, rows, WIDTH);
    OK(treefold_start_allreduce(plan, local, n, &run));
    OK(treefold_cancel(&run));
    CHECK(run == NULL);
    EXPECT(TREEFOLD_SPENT, "failed", treefold_allreduce(plan, local, n, result, WIDTH));
    OK(treefold_plan_destroy(&plan));
}

/* A mistake of one rank is an error on the ranks that need it. */
static void mistakes(void)
{
    double one = 1, results[2] = {0, 0};
    for (int mistake = 0; mistake < 5; mistake++) {
        treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, 1, 1);
        treefold_status status, expected;
        if (rank != 0) {
            status = treefold_allreduce(plan, &one, 1, results, 1);
            expected = TREEFOLD_RANK_FAILED;
            CHECK(treefold_last_error_rank() == 0);
        } else if (mistake == 0) {
            status = treefold_allreduce(plan, NULL, 1, results, 1);
            expected = TREEFOLD_NULL;
        } else if (mistake == 1) {
            status = treefold_allreduce(plan, &one, 1, NULL, 1);
            expected = TREEFOLD_NULL;
        } else if (mistake == 2) {
            status = treefold_allreduce(plan, &one, SIZE_MAX, results, 1);
            expected = TREEFOLD_LENGTH;
        } else if (mistake == 3) {
            status = treefold_allreduce(plan, results, 1, results, 1);
            expected = TREEFOLD_ARGUMENT;
        } else {
            status = treefold_allreduce(plan, &one, 1, results, 2);
            expected = TREEFOLD_LENGTH;
        }
        if (status != expected)
            fprintf(stderr, "rank %d, mistake %d: %s\n", rank, mistake, treefold_status_name(status));
        CHECK(status == expected);
        EXPECT(TREEFOLD_SPENT, "failed", treefold_allreduce(plan, &one, 1, results, 1));
        OK(treefold_plan_destroy(&plan));
    }
}

/* y = a x + b, composed; on rank `refuses`, an error. */
struct affine {
    int32_t a, b, more[3];
};

static int refuses = -1;

static int compose(void *context, const void *left, const void *right, void *out)
{
    const struct affine *f = left, *g = right;
    struct affine *h = out;
    if (*(int *)context != 42)
        abort();
    if (rank == refuses)
        return 5;
    *h = (struct affine){g->a * f->a, g->a * f->b + g->b, {f->more[0], 0, g->more[2]}};
    return 0;
}

/* An operator that communicates, by every function that does. */
static treefold_plan *nested;
static treefold_run *nested_run;
static treefold_builder *nested_builder;
static int nested_calls;

static int communicate(void *context, const void *left, const void *right, void *out)
{
    double one = 1, sum;
    int done;
    treefold_comm *own = comm;
    treefold_run *run = NULL;
    treefold_plan *plan = NULL;
    (void)context;
    (void)left;
    const treefold_status all[] = {
        treefold_comm_measure_link(comm),
        treefold_comm_free(&own),
        treefold_plan_build(nested_builder, &plan),
        treefold_allreduce(nested, &one, 1, &sum, 1),
        treefold_reduce(nested, &one, 1, &sum, 1, NULL),
        treefold_reduce_scatter(nested, &one, 1, &sum, 1),
        treefold_scan(nested, &one, 1, &sum, 1),
        treefold_exscan(nested, &one, 1, &sum, 1),
        treefold_broadcast(nested, &one, 1),
        treefold_start_allreduce(nested, &one, 1, &run),
        treefold_start_reduce(nested, &one, 1, &run),
        treefold_start_reduce_scatter(nested, &one, 1, &run),
        treefold_start_scan(nested, &one, 1, &run),
        treefold_start_exscan(nested, &one, 1, &run),
        treefold_test(nested_run, &done),
        treefold_wait_timeout(nested_run, 1),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i] != TREEFOLD_OPERATOR)
            printf("call %d of an operator: %d\n", (int)i, (int)all[i]);
        CHECK(all[i] == TREEFOLD_OPERATOR);
    }
    CHECK(own == comm && run == NULL && plan == NULL);
    nested_calls++;
    memcpy(out, right, 8);
    return 0;
}

static void user_operators(void)
{
    struct affine maps[2], none = {1, 0, {0, 0, 0}}, result, expected, prefixes[2];
    int context = 42;
    treefold_builder *builder;
    treefold_plan *plan;
    treefold_run *run;
    for (int i = 0; i < 2; i++)
        maps[i] = (struct affine){i % 2 ? 3 : -1, 2 * rank + i, {2 * rank + i, 0, 2 * rank + i}};
    expected = none;
    for (int i = 0; i < 2 * size; i++) {
        int32_t a = i % 2 ? 3 : -1;
        expected = (struct affine){a * expected.a, a * expected.b + i, {0, 0, i}};
    }
    OK(treefold_builder_create_user(comm, "compose", sizeof none, compose, &context, &none, &builder));
    OK(treefold_builder_local_items(builder, 2));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_allreduce(plan, maps, 2, &result, 1));
    CHECK(memcmp(&result, &expected, sizeof result) == 0);
    OK(treefold_start_allreduce(plan, maps, 2, &run));
    OK(treefold_wait(&run, &result, 1, NULL));
    CHECK(memcmp(&result, &expected, sizeof result) == 0);
    OK(treefold_exscan(plan, maps, 2, prefixes, 2));
    CHECK(rank != 0 || memcmp(prefixes, &none, sizeof none) == 0);
    OK(treefold_scan(plan, maps, 2, prefixes, 2));
    CHECK(rank != size - 1 || memcmp(prefixes + 1, &expected, sizeof expected) == 0);
    result = rank == 0 ? maps[0] : none;
    OK(treefold_broadcast(plan, &result, 1));
    CHECK(result.a == -1 && result.b == 0);
    /* The operator fails on the last rank: its own error there, and news of it elsewhere. */
    refuses = size - 1;
    treefold_status status = treefold_allreduce(plan, maps, 2, &result, 1);
    CHECK(status == (rank == refuses ? TREEFOLD_OPERATOR : TREEFOLD_RANK_FAILED));
    CHECK(rank == refuses || treefold_last_error_rank() == refuses);
    CHECK(treefold_allreduce(plan, maps, 2, &result, 1) == TREEFOLD_SPENT);
    refuses = -1;
    OK(treefold_plan_destroy(&plan));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_allreduce(plan, maps, 2, &result, 1));
    OK(treefold_plan_destroy(&plan));
    OK(treefold_builder_destroy(&builder));
    /* Ranks compare the length of items and the value for nothing. */
    if (size > 1) {
        OK(treefold_builder_create_user(comm, "compose", rank == 0 ? 16 : 12, compose, &context, NULL, &builder));
        OK(treefold_builder_local_items(builder, 0));
        EXPECT(TREEFOLD_DISAGREE, "", treefold_plan_build(builder, &plan));
        OK(treefold_builder_destroy(&builder));
        OK(treefold_builder_create_user(comm, "compose", 20, compose, &context, rank == 0 ? &none : NULL, &builder));
        OK(treefold_builder_local_items(builder, 1));
        EXPECT(TREEFOLD_DISAGREE, "empty", treefold_plan_build(builder, &plan));
        OK(treefold_builder_destroy(&builder));
    }
    EXPECT(TREEFOLD_NULL, "`name`", treefold_builder_create_user(comm, NULL, 8, compose, NULL, NULL, &builder));
    EXPECT(TREEFOLD_NULL, "`combine`", treefold_builder_create_user(comm, "x", 8, NULL, NULL, NULL, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "`item_bytes`", treefold_builder_create_user(comm, "x", 7, compose, NULL, NULL, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "`item_bytes`", treefold_builder_create_user(comm, "x", 520, compose, NULL, NULL, &builder));

    nested = plan_of(TREEFOLD_F64, TREEFOLD_SUM, 1, 1);
    treefold_plan *running = plan_of(TREEFOLD_F64, TREEFOLD_SUM, 1, 1);
    double one = 1, sum;
    OK(treefold_start_allreduce(running, &one, 1, &nested_run));
    OK(treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_SUM, &nested_builder));
    OK(treefold_builder_local_items(nested_builder, 1));
    OK(treefold_builder_create_user(comm, "communicate", 8, communicate, NULL, NULL, &builder));
    OK(treefold_builder_local_items(builder, 2));
    OK(treefold_plan_build(builder, &plan));
    int64_t items[2] = {1, 2}, last;
    OK(treefold_allreduce(plan, items, 2, &last, 1));
    CHECK(last == 2 && nested_calls > 0);
    OK(treefold_wait(&nested_run, &sum, 1, NULL));
    CHECK(sum == size);
    OK(treefold_plan_destroy(&plan));
    OK(treefold_plan_destroy(&running));
    OK(treefold_builder_destroy(&nested_builder));
    OK(treefold_plan_destroy(&nested));
    OK(treefold_builder_destroy(&builder));
}

/* Types and operators of every kind. */
static void types(void)
{
    for (treefold_type type = TREEFOLD_F32; type <= TREEFOLD_U64; type++) {
        for (treefold_op op = TREEFOLD_SUM; op <= TREEFOLD_MAX; op++) {
            int is_complex = type == TREEFOLD_C32 || type == TREEFOLD_C64;
            if (is_complex && op > TREEFOLD_PRODUCT)
                continue;
            treefold_plan *plan = plan_of(type, op, 3, 1);
            unsigned char items[3 * 16] __attribute__((aligned(16))), every[5 * 3 * 16] __attribute__((aligned(16)));
            unsigned char result[16] __attribute__((aligned(16))), expected[16] __attribute__((aligned(16)));
            size_t bytes = type == TREEFOLD_C64 ? 16 : type == TREEFOLD_F64 || type == TREEFOLD_C32 || type == TREEFOLD_I64 || type == TREEFOLD_U64 ? 8
                                                   : type == TREEFOLD_F32 || type == TREEFOLD_I32 || type == TREEFOLD_U32                          ? 4
                                                   : type == TREEFOLD_I16 || type == TREEFOLD_U16                                                 ? 2
                                                                                                                                                  : 1;
            for (size_t i = 0; i < 5 * 3 * bytes; i++)
                every[i] = (unsigned char)(17 * i + 3);
            memcpy(items, every + (size_t)rank * 3 * bytes, 3 * bytes);
            OK(treefold_fold(type, op, every, 3 * (size_t)size, expected));
            OK(treefold_allreduce(plan, items, 3, result, 1));
            CHECK(memcmp(result, expected, bytes) == 0);
            OK(treefold_plan_destroy(&plan));
        }
    }
}

static treefold_plan *exact_plan_of(treefold_type type, int32_t figure, size_t width)
{
    treefold_builder *builder = NULL;
    treefold_plan *plan = NULL;
    OK(treefold_builder_create_exact(comm, type, figure, &builder));
    OK(treefold_builder_width(builder, width));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    return plan;
}

/* Numbers whose sums lose all they have, and more, if they are rounded on the way. Rank 0 has none. */
static double wide[N];

static void wide_numbers(void)
{
    for (size_t i = 0; i < N; i++)
        wide[i] = ldexp(number(i), (int)(i * 7 % 300) - 150);
}

static void exact_sums(void)
{
    size_t begin = rank == 0 ? 0 : begin_of(N, rank), n = rank == 0 && size > 1 ? 0 : begin_of(N, rank + 1) - begin;
    size_t first = size > 1 ? begin_of(N, 1) : 0; /* The items of all ranks begin here. */
    const double *x = wide + first, *local = wide + begin;
    double sum, norm, dot, expected, prefixes[N], again[N];
    int mine = -1;
    const char *name;
    treefold_run *run = NULL;
    treefold_plan *plan;

    for (size_t a = 0; a < treefold_algorithm_count(); a++) {
        treefold_builder *builder;
        OK(treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, &builder));
        OK(treefold_builder_algorithm(builder, treefold_algorithm_name(a)));
        OK(treefold_plan_build(builder, &plan));
        OK(treefold_builder_destroy(&builder));
        OK(treefold_allreduce(plan, local, n, &sum, 1));
        OK(treefold_exact_sum_f64(x, N - first, &expected));
        CHECK(bits(sum) == bits(expected));
        OK(treefold_plan_destroy(&plan));
    }
    plan = exact_plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 1);
    /* Another number of items, none of them on any rank. */
    OK(treefold_allreduce(plan, NULL, 0, &sum, 1));
    CHECK(bits(sum) == bits(0.0));
    OK(treefold_reduce(plan, local, n, rank == 0 ? &sum : NULL, rank == 0 ? 1 : 0, &mine));
    CHECK(mine == (rank == 0) && (rank != 0 || bits(sum) == bits(expected)));
    OK(treefold_start_allreduce(plan, local, n, &run));
    OK(treefold_wait(&run, &sum, 1, NULL));
    CHECK(bits(sum) == bits(expected));
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        if (inclusive)
            OK(treefold_scan(plan, local, n, prefixes, n));
        else
            OK(treefold_exscan(plan, local, n, prefixes, n));
        for (size_t i = 0; i < n; i += 29) {
            OK(treefold_exact_sum_f64(x, begin - first + i + (size_t)inclusive, &expected));
            CHECK(bits(prefixes[i]) == bits(expected));
        }
        if (inclusive)
            OK(treefold_start_scan(plan, local, n, &run));
        else
            OK(treefold_start_exscan(plan, local, n, &run));
        OK(treefold_wait(&run, again, n, NULL));
        CHECK(same(prefixes, again, n));
    }
    OK(treefold_plan_algorithm(plan, TREEFOLD_BROADCAST, &name));
    CHECK(name == NULL);
    OK(treefold_plan_algorithm(plan, TREEFOLD_SCAN, &name));
    CHECK(name != NULL);
    EXPECT(TREEFOLD_UNSUPPORTED, "broadcast", treefold_broadcast(plan, &sum, 1));
    OK(treefold_allreduce(plan, local, n, &sum, 1));
    OK(treefold_plan_destroy(&plan));

    plan = exact_plan_of(TREEFOLD_F64, TREEFOLD_EXACT_NORM, 1);
    OK(treefold_allreduce(plan, local, n, &norm, 1));
    OK(treefold_exact_norm_f64(x, N - first, &expected));
    CHECK(bits(norm) == bits(expected));
    OK(treefold_plan_destroy(&plan));

    double y[N];
    for (size_t i = 0; i < N; i++)
        y[i] = wide[(i * 31 + 5) % N];
    OK(treefold_exact_dot_f64(x, N - first, y + first, N - first, &expected));
    for (int32_t figure = TREEFOLD_EXACT_DOT; figure <= TREEFOLD_EXACT_VDOT; figure++) {
        plan = exact_plan_of(TREEFOLD_F64, figure, 1);
        OK(treefold_allreduce_dot(plan, local, n, y + begin, n, &dot, 1));
        CHECK(bits(dot) == bits(expected));
        OK(treefold_reduce_dot(plan, local, n, y + begin, n, rank == 0 ? &dot : NULL, rank == 0, &mine));
        CHECK(mine == (rank == 0) && (rank != 0 || bits(dot) == bits(expected)));
        OK(treefold_start_allreduce_dot(plan, local, n, y + begin, n, &run));
        OK(treefold_wait(&run, &dot, 1, NULL));
        CHECK(bits(dot) == bits(expected));
        OK(treefold_start_reduce_dot(plan, local, n, y + begin, n, &run));
        OK(treefold_wait(&run, &dot, 1, &mine));
        CHECK(mine == (rank == 0));
        OK(treefold_plan_algorithm(plan, TREEFOLD_REDUCE, &name));
        CHECK(name != NULL);
        OK(treefold_plan_algorithm(plan, TREEFOLD_SCAN, &name));
        CHECK(name == NULL);
        EXPECT(TREEFOLD_ARGUMENT, "two arrays", treefold_allreduce(plan, local, n, &dot, 1));
        OK(treefold_plan_destroy(&plan));
    }
}

/* Dot products in tree order: of items, and of the columns of rows. */
static void tree_dots(void)
{
    size_t n = count_of(N), begin = begin_of(N, rank), rows = count_of(ROWS);
    double x[N], y[N], column[ROWS], expected, dot, dots[WIDTH], result[WIDTH];
    float single[N], expected_single, single_dot;
    treefold_run *run;
    int mine = 7;
    for (size_t i = 0; i < N; i++) {
        x[i] = wide[i];
        y[i] = wide[(i * 31 + 5) % N];
        single[i] = (float)(i % 97) / 7;
    }
    OK(treefold_dot_f64(x, N, y, N, &expected));
    treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, n, 1);
    OK(treefold_allreduce_dot(plan, x + begin, n, y + begin, n, &dot, 1));
    CHECK(bits(dot) == bits(expected));
    OK(treefold_reduce_dot(plan, x + begin, n, y + begin, n, rank == 0 ? &dot : NULL, rank == 0, &mine));
    CHECK(mine == (rank == 0) && (rank != 0 || bits(dot) == bits(expected)));
    OK(treefold_start_allreduce_dot(plan, x + begin, n, y + begin, n, &run));
    OK(treefold_wait(&run, &dot, 1, NULL));
    CHECK(bits(dot) == bits(expected));
    OK(treefold_start_reduce_dot(plan, x + begin, n, y + begin, n, &run));
    OK(treefold_wait(&run, &dot, 1, &mine));
    CHECK(mine == (rank == 0));
    OK(treefold_plan_destroy(&plan));

    OK(treefold_dot_f32(single, N, single, N, &expected_single));
    plan = plan_of(TREEFOLD_F32, TREEFOLD_SUM, n, 1);
    OK(treefold_allreduce_dot(plan, single + begin, n, single + begin, n, &single_dot, 1));
    CHECK(memcmp(&single_dot, &expected_single, sizeof single_dot) == 0);
    OK(treefold_plan_destroy(&plan));

    for (size_t c = 0; c < WIDTH; c++) {
        for (size_t r = 0; r < ROWS; r++)
            column[r] = row[r][c];
        OK(treefold_dot_f64(column, ROWS, column, ROWS, dots + c));
    }
    const double *local = row[begin_of(ROWS, rank)];
    plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, rows, WIDTH);
    OK(treefold_allreduce_dot(plan, local, rows * WIDTH, local, rows * WIDTH, result, WIDTH));
    CHECK(same(result, dots, WIDTH));
    OK(treefold_start_allreduce_dot(plan, local, rows * WIDTH, local, rows * WIDTH, &run));
    OK(treefold_wait(&run, result, WIDTH, NULL));
    CHECK(same(result, dots, WIDTH));
    OK(treefold_plan_destroy(&plan));

    /* Arrays that lie apart. */
    double pair_results[3], of_pairs[3];
    const void *xs[3] = {x + begin, x + begin, y + begin}, *ys[3] = {y + begin, x + begin, y + begin};
    OK(treefold_dot_f64(x, N, y, N, pair_results));
    OK(treefold_dot_f64(x, N, x, N, pair_results + 1));
    OK(treefold_dot_f64(y, N, y, N, pair_results + 2));
    plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, n, 3);
    OK(treefold_allreduce_dots(plan, xs, ys, 3, n, of_pairs, 3));
    CHECK(same(of_pairs, pair_results, 3));
    memset(of_pairs, 0, sizeof of_pairs);
    OK(treefold_start_allreduce_dots(plan, xs, ys, 3, n, &run));
    OK(treefold_wait(&run, of_pairs, 3, NULL));
    CHECK(same(of_pairs, pair_results, 3));
    OK(treefold_plan_destroy(&plan));
    OK(treefold_exact_dot_f64(x, N, y, N, pair_results));
    OK(treefold_exact_dot_f64(x, N, x, N, pair_results + 1));
    OK(treefold_exact_dot_f64(y, N, y, N, pair_results + 2));
    plan = exact_plan_of(TREEFOLD_F64, TREEFOLD_EXACT_DOT, 3);
    OK(treefold_allreduce_dots(plan, xs, ys, 3, n, of_pairs, 3));
    CHECK(same(of_pairs, pair_results, 3));
    OK(treefold_start_allreduce_dots(plan, xs, ys, 3, n, &run));
    OK(treefold_wait(&run, of_pairs, 3, NULL));
    CHECK(same(of_pairs, pair_results, 3));
    OK(treefold_plan_destroy(&plan));
    plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, n, 3);
    EXPECT(TREEFOLD_LENGTH, "the plan's width is 3", treefold_allreduce_dots(plan, xs, ys, 2, n, of_pairs, 3));
    OK(treefold_plan_destroy(&plan));
    plan = plan_of(TREEFOLD_F64, TREEFOLD_MAX, n, 3);
    EXPECT(TREEFOLD_ARGUMENT, "no dot products", treefold_allreduce_dots(plan, xs, ys, 3, n, of_pairs, 3));
    OK(treefold_plan_destroy(&plan));

    plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, n, 1);
    EXPECT(TREEFOLD_LENGTH, "elements, but", treefold_allreduce_dot(plan, x, n + 1, y, n, &dot, 1));
    OK(treefold_plan_destroy(&plan));
}

/* Rows: several sums, norms or dot products at once. Complex numbers are rows of two for sums. */
static void exact_rows(void)
{
    size_t rows = count_of(ROWS), n = rows * WIDTH, begin, end;
    const double *local = row[begin_of(ROWS, rank)];
    double column[ROWS], sums[WIDTH], norms[WIDTH], dots[WIDTH], result[WIDTH], prefixes[ROWS * WIDTH], again[ROWS * WIDTH];
    treefold_run *run;
    for (size_t c = 0; c < WIDTH; c++) {
        for (size_t r = 0; r < ROWS; r++)
            column[r] = row[r][c];
        OK(treefold_exact_sum_f64(column, ROWS, sums + c));
        OK(treefold_exact_norm_f64(column, ROWS, norms + c));
        OK(treefold_exact_dot_f64(column, ROWS, column, ROWS, dots + c));
    }
    treefold_plan *plan = exact_plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM, WIDTH);
    OK(treefold_allreduce(plan, local, n, result, WIDTH));
    CHECK(same(result, sums, WIDTH));
    OK(treefold_plan_scattered_columns(plan, &begin, &end));
    OK(treefold_reduce_scatter(plan, local, n, result, end - begin));
    CHECK(same(result, sums + begin, end - begin));
    OK(treefold_start_reduce_scatter(plan, local, n, &run));
    OK(treefold_wait(&run, result, end - begin, NULL));
    CHECK(same(result, sums + begin, end - begin));
    OK(treefold_scan(plan, local, n, prefixes, n));
    CHECK(rank != size - 1 || rows == 0 || same(prefixes + n - WIDTH, sums, WIDTH));
    OK(treefold_start_scan(plan, local, n, &run));
    OK(treefold_wait(&run, again, n, NULL));
    CHECK(same(prefixes, again, n));
    OK(treefold_plan_destroy(&plan));
    plan = exact_plan_of(TREEFOLD_F64, TREEFOLD_EXACT_NORM, WIDTH);
    OK(treefold_allreduce(plan, local, n, result, WIDTH));
    CHECK(same(result, norms, WIDTH));
    OK(treefold_plan_destroy(&plan));
    plan = exact_plan_of(TREEFOLD_F64, TREEFOLD_EXACT_DOT, WIDTH);
    OK(treefold_allreduce_dot(plan, local, n, local, n, result, WIDTH));
    CHECK(same(result, dots, WIDTH));
    OK(treefold_plan_destroy(&plan));

    /* Complex: (1 + 2i)(3 + 4i) on each rank, and its like with the first conjugated. */
    const double z[2] = {1, 2}, w[2] = {3, 4};
    double of_complex[2];
    plan = exact_plan_of(TREEFOLD_C64, TREEFOLD_EXACT_SUM, 1);
    OK(treefold_allreduce(plan, z, 1, of_complex, 1));
    CHECK(of_complex[0] == size && of_complex[1] == 2 * size);
    OK(treefold_plan_destroy(&plan));
    plan = exact_plan_of(TREEFOLD_C64, TREEFOLD_EXACT_DOT, 1);
    OK(treefold_allreduce_dot(plan, z, 1, w, 1, of_complex, 1));
    CHECK(of_complex[0] == -5 * size && of_complex[1] == 10 * size);
    OK(treefold_plan_destroy(&plan));
    plan = exact_plan_of(TREEFOLD_C64, TREEFOLD_EXACT_VDOT, 1);
    OK(treefold_allreduce_dot(plan, z, 1, w, 1, of_complex, 1));
    CHECK(of_complex[0] == 11 * size && of_complex[1] == -2 * size);
    OK(treefold_plan_destroy(&plan));

    const float singles[3] = {1e30f, 1.0f, -1e30f};
    float single;
    plan = exact_plan_of(TREEFOLD_F32, TREEFOLD_EXACT_SUM, 1);
    OK(treefold_allreduce(plan, singles, 3, &single, 1));
    CHECK(single == (float)size);
    OK(treefold_plan_destroy(&plan));
}

/* Mistakes of one rank, and of all. */
static void exact_mistakes(void)
{
    double x[3] = {1, 2, 3}, sum[2];
    treefold_builder *builder = NULL;
    EXPECT(TREEFOLD_ARGUMENT, "`type`", treefold_builder_create_exact(comm, 99, TREEFOLD_EXACT_SUM, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "`figure`", treefold_builder_create_exact(comm, TREEFOLD_F64, 5, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "`figure`", treefold_builder_create_exact(comm, TREEFOLD_F64, 0, &builder));
    EXPECT(TREEFOLD_UNSUPPORTED, "norm", treefold_builder_create_exact(comm, TREEFOLD_C64, TREEFOLD_EXACT_NORM, &builder));
    EXPECT(TREEFOLD_UNSUPPORTED, "integers", treefold_builder_create_exact(comm, TREEFOLD_I64, TREEFOLD_EXACT_SUM, &builder));
    EXPECT(TREEFOLD_NULL, "`comm`", treefold_builder_create_exact(NULL, TREEFOLD_F64, TREEFOLD_EXACT_SUM, &builder));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, NULL));
    OK(treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, &builder));
    EXPECT(TREEFOLD_ARGUMENT, "numbers", treefold_builder_local_items(builder, 1));
    EXPECT(TREEFOLD_ARGUMENT, "numbers", treefold_builder_items(builder, 1));
    EXPECT(TREEFOLD_ARGUMENT, "numbers", treefold_builder_even(builder, 1));
    EXPECT(TREEFOLD_ARGUMENT, "numbers", treefold_builder_block_cyclic(builder, 1, 1));
    EXPECT(TREEFOLD_ARGUMENT, "numbers", treefold_builder_extents(builder, NULL, 0));
    OK(treefold_builder_destroy(&builder));
    if (size > 1) {
        treefold_plan *plan = NULL;
        int32_t figure = rank == 0 ? TREEFOLD_EXACT_SUM : TREEFOLD_EXACT_NORM;
        OK(treefold_builder_create_exact(comm, TREEFOLD_F64, figure, &builder));
        EXPECT(TREEFOLD_DISAGREE, "", treefold_plan_build(builder, &plan));
        OK(treefold_builder_destroy(&builder));
    }
    for (int mistake = 0; mistake < 9; mistake++) {
        treefold_plan *plan = exact_plan_of(TREEFOLD_F64, mistake < 4 ? TREEFOLD_EXACT_SUM : TREEFOLD_EXACT_DOT, 2);
        treefold_status status, expected = TREEFOLD_RANK_FAILED;
        if (rank != 0) {
            status = mistake < 4 ? treefold_allreduce(plan, x, 2, sum, 2) : treefold_allreduce_dot(plan, x, 2, x, 2, sum, 2);
            CHECK(treefold_last_error_rank() == 0);
        } else if (mistake == 0) {
            status = treefold_allreduce(plan, x, 3, sum, 2);
            expected = TREEFOLD_LENGTH;
        } else if (mistake == 1) {
            status = treefold_allreduce(plan, x, 2, sum, 1);
            expected = TREEFOLD_LENGTH;
        } else if (mistake == 2) {
            status = treefold_allreduce_dot(plan, x, 2, x, 2, sum, 2);
            expected = TREEFOLD_ARGUMENT;
        } else if (mistake == 3) {
            status = treefold_allreduce(plan, NULL, 2, sum, 2);
            expected = TREEFOLD_NULL;
        } else if (mistake == 4) {
            status = treefold_allreduce(plan, x, 2, sum, 2);
            expected = TREEFOLD_ARGUMENT;
        } else if (mistake == 5) {
            status = treefold_allreduce_dot(plan, x, 2, x, 0, sum, 2);
            expected = TREEFOLD_LENGTH;
        } else if (mistake == 6) {
            status = treefold_allreduce_dot(plan, x, 2, NULL, 2, sum, 2);
            expected = TREEFOLD_NULL;
        } else if (mistake == 7) {
            status = treefold_allreduce_dot(plan, x, 2, sum, 2, sum, 2);
            expected = TREEFOLD_ARGUMENT;
        } else {
            treefold_run *run;
            status = treefold_start_allreduce_dot(plan, x, 3, x, 3, &run);
            expected = TREEFOLD_LENGTH;
        }
        if (status != expected)
            fprintf(stderr, "rank %d, exact mistake %d: %s\n", rank, mistake, treefold_status_name(status));
        CHECK(status == expected);
        OK(treefold_plan_destroy(&plan));
    }
    treefold_plan *tree = plan_of(TREEFOLD_F64, TREEFOLD_MAX, 1, 1);
    EXPECT(TREEFOLD_ARGUMENT, "dot products", treefold_allreduce_dot(tree, x, 1, x, 1, sum, 1));
    OK(treefold_plan_destroy(&tree));
    /* A scan's wait with room for other items: the run ends well. */
    treefold_plan *plan = exact_plan_of(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 1);
    treefold_run *run;
    OK(treefold_start_scan(plan, x, 2, &run));
    EXPECT(TREEFOLD_LENGTH, "elements", treefold_wait(&run, sum, 1, NULL));
    CHECK(run == NULL);
    OK(treefold_allreduce(plan, x, 3, sum, 1));
    CHECK(sum[0] == 6 * size);
    OK(treefold_plan_destroy(&plan));
}

/* Handles are of no use in another thread. */
static void *elsewhere(void *plan)
{
    double one = 1, sum;
    int number;
    EXPECT(TREEFOLD_ARGUMENT, "another thread", treefold_allreduce(plan, &one, 1, &sum, 1));
    EXPECT(TREEFOLD_ARGUMENT, "another thread", treefold_comm_rank(comm, &number));
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, 1, 1);
    CHECK(pthread_create(&thread, NULL, elsewhere, plan) == 0);
    pthread_join(thread, NULL);
    double one = 1, sum;
    OK(treefold_allreduce(plan, &one, 1, &sum, 1));
    CHECK(sum == size);
    OK(treefold_plan_destroy(&plan));
}

int main(int argc, char **argv)
{
    EXPECT(TREEFOLD_MPI, "not initialised", treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    for (size_t i = 0; i < N; i++)
        all[i] = number(i);
    rows_of_all();
    communicators();
    distributions_and_algorithms();
    builders();
    setters();
    queries();
    collectives();
    split_phase();
    mistakes();
    user_operators();
    types();
    wide_numbers();
    exact_sums();
    tree_dots();
    exact_rows();
    exact_mistakes();
    threads();
    /* Handles may outlive MPI. */
    treefold_plan *plan = plan_of(TREEFOLD_F64, TREEFOLD_SUM, 1, 1);
    int others;
    MPI_Allreduce(&failures, &others, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    double one = 1, sum;
    if (size > 1)
        EXPECT(TREEFOLD_MPI, "finalised", treefold_allreduce(plan, &one, 1, &sum, 1));
    OK(treefold_plan_destroy(&plan));
    OK(treefold_comm_destroy(&comm));
    EXPECT(TREEFOLD_MPI, "finalised", treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    return failures + others != 0;
}
