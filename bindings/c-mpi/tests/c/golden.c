/* Checks the golden vectors, in one process and with a plan over the ranks. xtask/lab/gate/src/c/golden.rs describes their file format. */
#include "ranks.h"

#include <inttypes.h>

static const char *const types[] = {"", "f32", "f64", "c32", "c64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
static const char *const ops[] = {"", "sum", "product", "min", "max"};
static const char *const statistics[] = {"sum", "norm", "dot", "conjugate_dot"};
static const treefold_statistic codes[] = {TREEFOLD_EXACT_SUM, TREEFOLD_EXACT_NORM, TREEFOLD_EXACT_DOT, TREEFOLD_EXACT_VDOT, -1};

/* A test case: n items; k second factors, if the case is a dot product; and the m elements of the expected result. */
struct golden {
    treefold_type type;
    treefold_op op;
    int is_exact;
    char operation[16];
    size_t width, n, k, m;
    unsigned char *items, *others, *expected;
};

static int is(const struct golden *g, const char *operation)
{
    return strcmp(g->operation, operation) == 0;
}

/* Returns the index of `name` in `names`, or n if it is not there. */
static size_t find(const char *const *names, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* Reads n elements of type `type`. */
static unsigned char *read_elements(FILE *file, treefold_type type, size_t n)
{
    const size_t bytes = bytes_of(part_of(type)), words = n * bytes_of(type) / bytes;
    unsigned char *elements = malloc(words * bytes + 16);
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        if (fscanf(file, "%" SCNx64, &word) != 1)
            exit(3);
        /* The test runs on little-endian processors. */
        memcpy(elements + i * bytes, &word, bytes);
    }
    return elements;
}

/* Generates the items of ISO C++ paper P4016. For such a case, the file holds only the number of items. */
static void generate(struct golden *g)
{
    uint64_t state = 0x243F6A8885A308D3, count;
    memcpy(&count, g->items, sizeof count);
    free(g->items);
    g->n = (size_t)count;
    g->items = malloc(g->n * sizeof(double));
    for (size_t i = 0; i < g->n; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double item = (double)((int64_t)(state >> 11) - (INT64_C(1) << 52)) / 4503599627370496.0;
        memcpy(g->items + i * sizeof item, &item, sizeof item);
    }
}

/* Reads the next case. Returns 0 at the end of the file. */
static int read_case(FILE *file, struct golden *g)
{
    char type_name[8], op_name[16];
    if (fscanf(file, "%7s %15s %15s %zu %zu %zu %zu", type_name, op_name, g->operation, &g->width, &g->n, &g->k, &g->m) != 7)
        return 0;
    g->type = (treefold_type)find(types, 13, type_name);
    g->is_exact = strcmp(op_name, "exact") == 0;
    g->op = g->is_exact ? TREEFOLD_SUM : (treefold_op)find(ops, 5, op_name);
    if (g->type > TREEFOLD_U64 || g->op > TREEFOLD_MAX || g->width == 0)
        exit(3);
    g->items = read_elements(file, g->type, g->n);
    g->others = read_elements(file, g->type, g->k);
    g->expected = read_elements(file, g->type, g->m);
    if (is(g, "p4016"))
        generate(g);
    return 1;
}

/* Returns the exact statistic that a case computes, or -1 if it computes none. */
static treefold_statistic statistic_of(const struct golden *g)
{
    return g->is_exact ? codes[find(statistics, 4, g->operation)] : -1;
}

/* Computes a case in this process. Returns 0 if there is no function for the case. */
static int locally(const struct golden *g, void *result)
{
    const treefold_type type = g->type;
    const treefold_statistic statistic = statistic_of(g);
    if (is(g, "reduce") || is(g, "p4016"))
        OK(treefold_fold_rows(type, g->op, g->items, g->n, g->width, result, g->m));
    else if (statistic >= TREEFOLD_EXACT_DOT)
        OK(treefold_exact(type, statistic, 0, g->items, g->n, g->others, g->k, result));
    else if (statistic >= 0)
        OK(treefold_exact(type, statistic, 0, g->items, g->n, NULL, 0, result));
    else if (!g->is_exact && is(g, "dot"))
        OK(treefold_dot(type, g->items, g->n, g->others, g->k, result));
    else if (is(g, "squared_norm"))
        OK(treefold_dot(type, g->items, g->n, g->items, g->n, result));
    else
        return 0;
    return 1;
}

/* Computes a case with a plan, where each rank has some of the rows. Returns 0 if no plan computes the case. This rank's result is *count
   elements of the expected result, beginning with element *first. */
static int by_plan(const struct golden *g, void *result, size_t *first, size_t *count)
{
    const int is_exact = statistic_of(g) >= 0;
    const struct recipe recipe = {is_exact ? EXACT : TREE, g->type, is_exact ? statistic_of(g) : g->op, g->n / g->width, g->width, NULL};
    const size_t item = bytes_of(g->type), begin = begin_of(&recipe, rank) * g->width, own = count_of(&recipe) * g->width;
    const unsigned char *x = g->items + begin * item, *y = g->others + begin * item;
    if (!is_exact && (is(g, "dot") || is(g, "squared_norm")))
        return 0;
    treefold_plan *plan = plan_of(&recipe);
    *first = 0;
    *count = g->m;
    if (is(g, "scan") || is(g, "exscan")) {
        *first = begin;
        *count = own;
        OK((is(g, "scan") ? treefold_scan : treefold_exscan)(plan, x, own, result, own));
    } else if (g->is_exact && g->k == g->n && (is(g, "dot") || is(g, "conjugate_dot"))) {
        OK(treefold_run_dot(plan, TREEFOLD_ALLREDUCE, x, own, y, own, result, g->m, NULL));
    } else {
        OK(treefold_allreduce(plan, x, own, result, g->m));
    }
    end_plan(&plan);
    return 1;
}

int main(int argc, char **argv)
{
    int cases = 0;
    struct golden g;
    begin_ranks(&argc, &argv);
    FILE *file = fopen(argc > 1 ? argv[1] : "", "r");
    if (file == NULL) {
        fprintf(stderr, "golden: cannot open the file that the first argument names\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    while (read_case(file, &g)) {
        size_t item = bytes_of(g.type), first, count;
        unsigned char *result = calloc(g.m + 1, item);
        int before = failures, ways = 0;
        if (locally(&g, result)) {
            CHECK(memcmp(result, g.expected, g.m * item) == 0);
            ways++;
        }
        memset(result, 0, g.m * item);
        if (by_plan(&g, result, &first, &count)) {
            CHECK(memcmp(result, g.expected + first * item, count * item) == 0);
            ways++;
        }
        CHECK(ways > 0);
        if (failures != before)
            fprintf(stderr, "case %d: %s %s %s, %zu elements\n", cases, types[g.type], g.is_exact ? "exact" : ops[g.op],
                    g.operation, g.n);
        free(g.items);
        free(g.others);
        free(g.expected);
        free(result);
        cases++;
    }
    CHECK(feof(file));
    fclose(file);
    OK(treefold_comm_destroy(&comm));
    if (rank == 0)
        printf("%d cases\n", cases);
    CHECK(cases >= 380);
    return end_ranks();
}
