/* Runs plans on arrays in GPU memory. The bits of the results must be those for the same arrays in host memory. Needs CUDA's driver and a
   GPU, which the ranks may share. Without a GPU, prints that the test is skipped. */
#define _POSIX_C_SOURCE 200809L

#include "ranks.h"

#include <dlfcn.h>

/* The functions of CUDA's driver that the program calls. The driver represents addresses of GPU memory as integers. */
static struct {
    int (*start)(unsigned);
    int (*count)(int *);
    int (*device)(int *, int);
    int (*retain)(void **, int);
    int (*create)(void **, unsigned, int);
    int (*set)(void *);
    int (*get)(void **);
    int (*allocate)(uintptr_t *, size_t);
    int (*allocate_managed)(uintptr_t *, size_t, unsigned);
    int (*release)(uintptr_t);
    int (*in)(uintptr_t, const void *, size_t);
    int (*out)(void *, uintptr_t, size_t);
} driver;

static int device_of_rank;
static void *context;

/* Returns whether there is a GPU. If there is one, makes its primary context current. */
static int has_gpu(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int count = 0;
    if (library == NULL)
        return 0;
    const struct {
        const char *name;
        void *place;
    } functions[] = {
        {"cuInit", &driver.start}, {"cuDeviceGetCount", &driver.count}, {"cuDeviceGet", &driver.device},
        {"cuDevicePrimaryCtxRetain", &driver.retain}, {"cuCtxCreate_v2", &driver.create}, {"cuCtxSetCurrent", &driver.set},
        {"cuCtxGetCurrent", &driver.get}, {"cuMemAlloc_v2", &driver.allocate}, {"cuMemAllocManaged", &driver.allocate_managed},
        {"cuMemFree_v2", &driver.release}, {"cuMemcpyHtoD_v2", &driver.in}, {"cuMemcpyDtoH_v2", &driver.out},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        CHECK(function != NULL);
        if (function == NULL)
            return 0;
        memcpy(functions[i].place, &function, sizeof function);
    }
    if (driver.start(0) != 0 || driver.count(&count) != 0 || count == 0)
        return 0;
    CHECK(driver.device(&device_of_rank, rank % count) == 0);
    CHECK(driver.retain(&context, device_of_rank) == 0);
    CHECK(driver.set(context) == 0);
    return 1;
}

/* Allocates an array on the GPU, and copies `count` bytes to it. */
static void *on_device(const void *bytes, size_t count)
{
    uintptr_t array = 0;
    CHECK(driver.allocate(&array, count + 1) == 0);
    CHECK(driver.in(array, bytes, count) == 0);
    return (void *)array;
}

static void free_on_device(void *array) { CHECK(driver.release((uintptr_t)array) == 0); }

/* Returns whether an array on the GPU holds the expected bytes. */
static int has_bytes(const void *array, const void *expected, size_t count)
{
    unsigned char *found = malloc(count + 1);
    CHECK(driver.out(found, (uintptr_t)array, count) == 0);
    int is_same = memcmp(found, expected, count) == 0;
    free(found);
    return is_same;
}

static const treefold_type types[] = {TREEFOLD_F32, TREEFOLD_F64, TREEFOLD_C32, TREEFOLD_C64, TREEFOLD_I8, TREEFOLD_U64};

enum { TYPES = sizeof types / sizeof *types };

/* Returns n elements of type `type`, the same on every rank. */
static unsigned char *elements(treefold_type type, size_t n, uint64_t seed)
{
    const size_t bytes = bytes_of(part_of(type)), words = n * bytes_of(type) / bytes;
    unsigned char *all = malloc(bytes * words + 16);
    for (size_t i = 0; i < words; i++) {
        const double value = number(seed + i);
        const float narrow = (float)value;
        const uint64_t whole = bits(value) >> 9;
        memcpy(all + i * bytes, type >= TREEFOLD_I8 ? (const void *)&whole : bytes == 4 ? (const void *)&narrow : &value, bytes);
    }
    return all;
}

/* Checks all operations of a plan, with arrays in GPU memory on some ranks and in host memory on others. */
static void check_plan(const treefold_plan *plan, const unsigned char *local, size_t n, size_t width, size_t bytes)
{
    size_t begin, end;
    OK(treefold_plan_scattered_columns(plan, &begin, &end));
    void *items = on_device(local, n * bytes);
    for (int operation = TREEFOLD_ALLREDUCE; operation <= TREEFOLD_EXSCAN; operation++) {
        int is_scan = operation >= TREEFOLD_SCAN;
        size_t m = is_scan ? n : operation == TREEFOLD_REDUCE_SCATTER ? end - begin : width;
        /* The bytes of both arrays are 7 before a call, so that bytes that the call does not write are compared, too. */
        unsigned char *expected = malloc(m * bytes + 1), *found = malloc(m * bytes + 1);
        memset(expected, 7, m * bytes);
        OK(run_by(BLOCKING, plan, operation, &(struct input){.x = local, .n = n}, expected, m, &(int){0}));
        for (int turn = 0; turn < 2 * WAYS; turn++) {
            int is_here = (rank + turn) % 4 == 3, is_result_there = turn & 1;
            memset(found, 7, m * bytes);
            void *result = is_result_there ? on_device(found, m * bytes) : found;
            const struct input in = {.x = is_here ? (const void *)local : items, .n = n};
            OK(run_by((enum way)(turn / 2), plan, operation, &in, result, m, &(int){0}));
            CHECK(is_result_there ? has_bytes(result, expected, m * bytes) : memcmp(result, expected, m * bytes) == 0);
            if (is_result_there)
                free_on_device(result);
        }
        free(expected);
        free(found);
    }
    CHECK(has_bytes(items, local, n * bytes));
    free_on_device(items);
}

static void check_recipe(const struct recipe *recipe)
{
    const size_t bytes = bytes_of(recipe->type), width = recipe->width;
    unsigned char *all = elements(recipe->type, recipe->rows * width, recipe->rows);
    treefold_plan *plan = plan_of(recipe);
    check_plan(plan, all + begin_of(recipe, rank) * width * bytes, count_of(recipe) * width, width, bytes);
    end_plan(&plan);
    free(all);
}

static void trees_and_exact_sums(void)
{
    const size_t shapes[][2] = {{1, 1}, {1000, 1}, {40001, 1}, {333, 3}, {50, 200}};
    for (size_t type = 0; type < TYPES; type++)
        for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
            const size_t rows = shapes[shape][0], width = shapes[shape][1];
            for (treefold_op op = TREEFOLD_SUM; op <= TREEFOLD_PRODUCT; op++)
                check_recipe(&(struct recipe){TREE, types[type], op, rows, width, NULL});
            if (types[type] < TREEFOLD_I8 && width < 200)
                check_recipe(&(struct recipe){EXACT, types[type], TREEFOLD_EXACT_SUM, rows, width, NULL});
        }
}

/* Checks every algorithm, including those that cannot use a partial result that the GPU has computed. */
static void algorithms(void)
{
    struct recipe recipe = {TREE, TREEFOLD_F64, TREEFOLD_SUM, 5000, 1, NULL};
    const size_t n = count_of(&recipe);
    unsigned char *all = elements(TREEFOLD_F64, recipe.rows, 11);
    void *items = on_device(all + begin_of(&recipe, rank) * 8, n * 8);
    double expected = tree_sum((const double *)(const void *)all, recipe.rows);
    for (size_t i = 0; (recipe.algorithm = treefold_algorithm_name(i)) != NULL; i++) {
        treefold_plan *plan = plan_of(&recipe);
        double result = 7;
        OK(treefold_allreduce(plan, items, n, &result, 1));
        CHECK(bits(result) == bits(expected));
        end_plan(&plan);
    }
    free_on_device(items);
    free(all);
}

/* Checks dot products of two arrays, each in host memory or on the GPU. */
static void dots(void)
{
    const struct recipe recipe = {EXACT, TREEFOLD_F64, TREEFOLD_EXACT_DOT, 2000, 1, NULL};
    const size_t n = count_of(&recipe), begin = begin_of(&recipe, rank);
    unsigned char *x = elements(TREEFOLD_F64, recipe.rows, 3), *y = elements(TREEFOLD_F64, recipe.rows, 4);
    const void *here[2] = {x + begin * 8, y + begin * 8};
    void *there[2] = {on_device(here[0], n * 8), on_device(here[1], n * 8)};
    treefold_plan *plan = plan_of(&recipe);
    double expected = 0, nothing = 7;
    OK(treefold_exact_dot_f64((const void *)x, recipe.rows, (const void *)y, recipe.rows, &expected));
    for (int turn = 0; turn < 4 * WAYS; turn++) {
        const void *first = turn & 1 ? there[0] : here[0], *second = turn & 2 ? there[1] : here[1];
        const struct input in = {.form = PAIRS, .x = first, .y = second, .n = n};
        void *result = on_device(&nothing, 8);
        OK(run_by((enum way)(turn / 4), plan, TREEFOLD_ALLREDUCE, &in, result, 1, &(int){0}));
        CHECK(has_bytes(result, &expected, 8));
        free_on_device(result);
    }
    end_plan(&plan);
    free_on_device(there[0]);
    free_on_device(there[1]);
    free(x);
    free(y);
}

/* An operator: the greater of two items of 12 bytes, which are compared byte by byte. */
static int greater(void *unused, const void *left, const void *right, void *out)
{
    (void)unused;
    memcpy(out, memcmp(left, right, 12) < 0 ? right : left, 12);
    return 0;
}

static void users(void)
{
    treefold_builder *builder = NULL;
    treefold_plan *plan = NULL;
    const struct recipe recipe = {.rows = 100};
    const size_t n = count_of(&recipe);
    unsigned char *all = elements(TREEFOLD_F32, 3 * recipe.rows, 9);
    OK(treefold_builder_create_user(comm, "greater", 12, greater, NULL, all, &builder));
    OK(treefold_builder_local_items(builder, n));
    OK(treefold_builder_root(builder, last()));
    plan = built(builder);
    check_plan(plan, all + begin_of(&recipe, rank) * 12, n, 1, 12);
    end_plan(&plan);
    free(all);
}

static void broadcasts(void)
{
    const double row[3] = {1, 2, 3}, nothing[3] = {7, 7, 7};
    treefold_plan *plan = plan_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_SUM, 10, 3, NULL});
    void *there = on_device(rank == last() ? row : nothing, sizeof row);
    OK(treefold_broadcast(plan, there, 3));
    CHECK(has_bytes(there, row, sizeof row));
    free_on_device(there);
    end_plan(&plan);
}

/* Checks managed memory, and calls while different contexts are current. */
static void memories(void)
{
    const struct recipe recipe = {TREE, TREEFOLD_F64, TREEFOLD_SUM, 1000, 1, NULL};
    const size_t n = count_of(&recipe);
    unsigned char *all = elements(TREEFOLD_F64, recipe.rows, 6);
    const unsigned char *local = all + begin_of(&recipe, rank) * 8;
    double expected = tree_sum((const double *)(const void *)all, recipe.rows), result = 7;
    treefold_plan *plan = plan_of(&recipe);
    uintptr_t managed = 0;
    CHECK(driver.allocate_managed(&managed, n * 8 + 8, 1) == 0);
    CHECK(driver.in(managed, local, n * 8) == 0);
    OK(treefold_allreduce(plan, (void *)managed, n, &result, 1));
    CHECK(bits(result) == bits(expected));
    OK(treefold_allreduce(plan, (void *)managed, n, (char *)managed + n * 8, 1));
    CHECK(has_bytes((char *)managed + n * 8, &expected, 8));

    void *items = on_device(local, n * 8), *own = NULL, *current = NULL, *there;
    CHECK(driver.create(&own, 0, device_of_rank) == 0);
    OK(treefold_allreduce(plan, items, n, &result, 1));
    CHECK(driver.get(&current) == 0 && current == own);
    /* Each call with NULL removes the top context from the thread's stack. */
    while (driver.get(&current) == 0 && current != NULL)
        CHECK(driver.set(NULL) == 0);
    OK(treefold_allreduce(plan, items, n, &result, 1));
    CHECK(driver.get(&current) == 0 && current == NULL);
    CHECK(driver.set(own) == 0);
    there = on_device(local, n * 8);
    EXPECT(TREEFOLD_ARGUMENT, "another context", treefold_allreduce(plan, there, n, &result, 1));
    free_on_device(there);
    CHECK(driver.set(context) == 0);
    free_on_device(items);
    free_on_device((void *)managed);
    end_plan(&plan);
    free(all);
}

/* If one rank makes a mistake, that rank gets its own error, and the other ranks get an error too. */
static void errors(void)
{
    const struct recipe recipe = {TREE, TREEFOLD_F64, TREEFOLD_SUM, 1000, 1, NULL};
    const size_t n = count_of(&recipe);
    double *all = calloc(recipe.rows + 1, 8), result = 7;
    double *items = on_device(all, (recipe.rows + 1) * 8);
    for (int what = 0; what < 3; what++) {
        treefold_plan *plan = plan_of(&recipe);
        int is_wrong = rank == size - 1;
        const void *local = is_wrong && what == 1 ? (const char *)items + 4 : (const char *)items;
        void *into = is_wrong && what == 2 ? (void *)(items + 1) : (void *)&result;
        treefold_status status = treefold_allreduce(plan, local, is_wrong && what == 0 ? n + 1 : n, into, 1);
        CHECK(status == (is_wrong ? what == 0 ? TREEFOLD_LENGTH : TREEFOLD_ARGUMENT : TREEFOLD_RANK_FAILED));
        CHECK(!is_wrong || strstr(treefold_last_error(), what == 0 ? "the plan is for" : what == 1 ? "aligned" : "overlap") != NULL);
        end_plan(&plan);
    }
    free_on_device(items);
    free(all);
}

/* Calls a plan that was built before the program loaded the driver. This is the plan's first call. */
static void before_the_driver(const treefold_plan *plan)
{
    const double items[3] = {0.1, 0.2, 0.3};
    double expected = 0, result = 7;
    void *there = on_device(items, sizeof items);
    OK(treefold_allreduce(plan, there, 3, &result, 1));
    OK(treefold_allreduce(plan, items, 3, &expected, 1));
    CHECK(bits(result) == bits(expected));
    free_on_device(there);
}

int main(int argc, char **argv)
{
    begin_ranks(&argc, &argv);
    treefold_plan *plan = plan_of(&(struct recipe){TREE, TREEFOLD_F64, TREEFOLD_SUM, 3 * (size_t)size, 1, NULL});
    if (has_gpu()) {
        before_the_driver(plan);
        trees_and_exact_sums();
        algorithms();
        dots();
        users();
        broadcasts();
        memories();
        errors();
        if (rank == 0)
            printf("device: %d ranks, %d failures\n", size, failures);
    } else if (rank == 0) {
        printf("skipped: no GPU\n");
    }
    end_plan(&plan);
    OK(treefold_comm_destroy(&comm));
    return end_ranks();
}
