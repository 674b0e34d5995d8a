/* What the tests over ranks share: how a test begins and ends, how it builds plans from recipes, and all kinds of calls that run a plan. */
#ifndef RANKS_H
#define RANKS_H

#include "../../../c/tests/c/check.h"
#include "../../../c/tests/c/integers.h"

#include <treefold_mpi.h>

static int rank, size;
static treefold_comm *comm;

static inline int last(void) { return size - 1; }

static inline void begin_ranks(int *argc, char ***argv)
{
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    /* If a rank never arrives, the wait fails before the time limit of the test. */
    OK(treefold_comm_silence_limit(comm, 60));
}

/* Ends MPI. Returns the exit status: 1 if a check has failed on any rank. */
static inline int end_ranks(void)
{
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}

/* The kinds of plans: TREE combines items or rows in tree order; EXACT computes a statistic; LANES sums in lanes; BY_KEY has keys. */
enum kind { TREE, EXACT, LANES, BY_KEY };

struct recipe {
    enum kind kind;
    treefold_type type;
    int32_t code;             /* an operator or a statistic; in lanes, the number of lanes */
    size_t rows, width;       /* over all ranks; by key, the width is the number of keys */
    const char *algorithm;    /* NULL for any */
};

/* The number of rank r's first row. For a plan in lanes, it is a multiple of the number of lanes. */
static inline size_t begin_of(const struct recipe *recipe, int r)
{
    const size_t unit = recipe->kind == LANES ? (size_t)recipe->code : 1;
    return r == size ? recipe->rows : recipe->rows / unit * (size_t)r / (size_t)size * unit;
}

static inline size_t count_of(const struct recipe *recipe) { return begin_of(recipe, rank + 1) - begin_of(recipe, rank); }

/* Returns the builder that a recipe describes. The last rank is the root. */
static inline treefold_builder *builder_of(const struct recipe *recipe)
{
    treefold_builder *builder = NULL;
    OK(recipe->kind == EXACT    ? treefold_builder_create_exact(comm, recipe->type, recipe->code, &builder)
       : recipe->kind == BY_KEY ? treefold_builder_create_by_key(comm, recipe->type, recipe->code, recipe->width, &builder)
       : recipe->kind == LANES  ? treefold_builder_create(comm, recipe->type, TREEFOLD_SUM, &builder)
                                : treefold_builder_create(comm, recipe->type, recipe->code, &builder));
    if (recipe->kind == TREE || recipe->kind == LANES)
        OK(treefold_builder_local_items(builder, count_of(recipe)));
    if (recipe->kind == LANES)
        OK(treefold_builder_lanes(builder, (size_t)recipe->code));
    else if (recipe->kind != BY_KEY)
        OK(treefold_builder_width(builder, recipe->width));
    if (recipe->algorithm != NULL)
        OK(treefold_builder_algorithm(builder, recipe->algorithm));
    OK(treefold_builder_root(builder, last()));
    return builder;
}

/* Builds a plan and destroys its builder. */
static inline treefold_plan *built(treefold_builder *builder)
{
    treefold_plan *plan = NULL;
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_builder_destroy(&builder));
    CHECK(builder == NULL);
    return plan;
}

/* Checks that a build fails with an error whose text contains `words`, and destroys the builder. */
#define CANNOT_BUILD(code, words, builder)                                                                                             \
    do {                                                                                                                               \
        treefold_builder *own_ = (builder);                                                                                            \
        EXPECT(code, words, treefold_plan_build(own_, &(treefold_plan *){NULL}));                                                      \
        OK(treefold_builder_destroy(&own_));                                                                                           \
    } while (0)

static inline treefold_plan *plan_of(const struct recipe *recipe) { return built(builder_of(recipe)); }

/* A plan for the sum of one double per rank. */
static inline treefold_plan *plan_of_one(void)
{
    return plan_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_SUM, (size_t)size, 1, NULL});
}

static inline void end_plan(treefold_plan **plan)
{
    OK(treefold_plan_destroy(plan));
    CHECK(*plan == NULL);
}

/* The input of a run: an array, a pair of arrays, separately stored pairs, or items with keys. */
struct input {
    enum { ITEMS, PAIRS, APART, WITH_KEYS } form;
    const void *x, *y;
    size_t n;
    const void *const *xs, *const *ys;
    size_t k;
    treefold_type key_type;
    const void *keys;
};

static inline treefold_status run(const treefold_plan *plan, int32_t operation, const struct input *in, void *result, size_t m,
                                  int *is_mine)
{
    switch (in->form) {
    case PAIRS: return treefold_run_dot(plan, operation, in->x, in->n, in->y, in->n, result, m, is_mine);
    case APART: return treefold_run_dots(plan, operation, in->xs, in->ys, in->k, in->n, result, m, is_mine);
    case WITH_KEYS: return treefold_run_by_key(plan, operation, in->key_type, in->keys, in->n, in->x, in->n, result, m, is_mine);
    default: break;
    }
    if (operation == TREEFOLD_REDUCE)
        return treefold_reduce(plan, in->x, in->n, result, m, is_mine);
    *is_mine = 1;
    return (operation == TREEFOLD_ALLREDUCE        ? treefold_allreduce
            : operation == TREEFOLD_REDUCE_SCATTER ? treefold_reduce_scatter
            : operation == TREEFOLD_SCAN           ? treefold_scan
                                                   : treefold_exscan)(plan, in->x, in->n, result, m);
}

static inline treefold_status start(const treefold_plan *plan, int32_t operation, const struct input *in, void *result, size_t m,
                                    treefold_run **started)
{
    switch (in->form) {
    case PAIRS: return treefold_start_dot(plan, operation, in->x, in->n, in->y, in->n, result, m, started);
    case APART: return treefold_start_dots(plan, operation, in->xs, in->ys, in->k, in->n, result, m, started);
    case WITH_KEYS: return treefold_start_by_key(plan, operation, in->key_type, in->keys, in->n, in->x, in->n, result, m, started);
    default: return treefold_start(plan, operation, in->x, in->n, result, m, started);
    }
}

/* The kinds of calls. BLOCKING makes a blocking call. The others start a run: PLACE_LATE passes the result array to the wait, PLACE_EARLY
   passes it to the start, and WAIT_ALL passes it to the start and calls treefold_wait_all. */
enum way { BLOCKING, PLACE_LATE, PLACE_EARLY, WAIT_ALL, WAYS };

static inline treefold_status run_by(enum way way, const treefold_plan *plan, int32_t operation, const struct input *in, void *result,
                                     size_t m, int *is_mine)
{
    treefold_run *started = NULL;
    if (way == BLOCKING)
        return run(plan, operation, in, result, m, is_mine);
    treefold_status status = start(plan, operation, in, way == PLACE_LATE ? NULL : result, way == PLACE_LATE ? 0 : m, &started);
    if (status != TREEFOLD_OK)
        return status;
    *is_mine = operation != TREEFOLD_REDUCE || rank == last();
    if (way == WAIT_ALL) {
        treefold_run *all[3] = {NULL, started, NULL};
        status = treefold_wait_all(all, 3);
        CHECK(all[1] == NULL);
        return status;
    }
    status = way == PLACE_LATE ? treefold_wait(&started, result, m, is_mine) : treefold_wait(&started, NULL, 0, is_mine);
    CHECK(started == NULL);
    return status;
}

/* Runs an operation with every kind of call. Returns whether each run wrote the expected m elements; on a rank without result, nothing. */
static inline int is_right_in_every_way(const treefold_plan *plan, int32_t operation, const struct input *in, const void *expected,
                                        size_t bytes, size_t m)
{
    unsigned char *found = malloc(bytes + 1);
    const int has_result = operation != TREEFOLD_REDUCE || rank == last();
    int all = 1;
    for (enum way way = BLOCKING; way < WAYS; way++) {
        int is_mine = -1;
        memset(found, 7, bytes);
        /* A rank that gets no result may pass an array or NULL. */
        const int gives = has_result || way % 2 == 1;
        OK(run_by(way, plan, operation, in, gives ? found : NULL, gives ? m : 0, &is_mine));
        CHECK(is_mine == has_result);
        for (size_t i = 0; i < bytes; i++)
            all &= found[i] == (has_result ? ((const unsigned char *)expected)[i] : 7);
    }
    free(found);
    return all;
}

/* The last rank calls `wrong` and must get the error `code`; the others call `right` and must get an error. The plan must then be spent. */
#define ON_LAST(recipe, code, words, wrong, right)                                                                                     \
    do {                                                                                                                               \
        treefold_plan *plan = plan_of(recipe);                                                                                         \
        if (rank == last()) {                                                                                                          \
            EXPECT(code, words, wrong);                                                                                                \
        } else {                                                                                                                       \
            EXPECT(TREEFOLD_RANK_FAILED, "", right);                                                                                   \
            CHECK(treefold_last_error_rank() == last());                                                                               \
        }                                                                                                                              \
        EXPECT(TREEFOLD_SPENT, "", right);                                                                                             \
        end_plan(&plan);                                                                                                               \
    } while (0)

#endif
