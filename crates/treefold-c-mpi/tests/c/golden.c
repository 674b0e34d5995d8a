/* Checks the golden vectors, locally and by a plan over the ranks. The file's format is in xtask/src/test/c/golden.rs. */
#include "../../../treefold-c/tests/c/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <treefold_mpi.h>

static const struct {
    const char *name;
    treefold_type type;
    size_t bytes, words;
} types[] = {
    {"f32", TREEFOLD_F32, 4, 1}, {"f64", TREEFOLD_F64, 8, 1}, {"c32", TREEFOLD_C32, 4, 2}, {"c64", TREEFOLD_C64, 8, 2},
    {"i8", TREEFOLD_I8, 1, 1},   {"i16", TREEFOLD_I16, 2, 1}, {"i32", TREEFOLD_I32, 4, 1}, {"i64", TREEFOLD_I64, 8, 1},
    {"u8", TREEFOLD_U8, 1, 1},   {"u16", TREEFOLD_U16, 2, 1}, {"u32", TREEFOLD_U32, 4, 1}, {"u64", TREEFOLD_U64, 8, 1},
};

static const char *const ops[] = {"", "sum", "product", "min", "max"};

/* Reads n elements, each of so many words of so many bytes. */
static unsigned char *read_elements(FILE *file, size_t n, size_t bytes, size_t words)
{
    unsigned char *elements = malloc(n * bytes * words + 16);
    for (size_t i = 0; i < n * words; i++) {
        uint64_t word;
        if (fscanf(file, "%" SCNx64, &word) != 1)
            exit(3);
        /* The low bytes come first on the processors that run this. */
        memcpy(elements + i * bytes, &word, bytes);
    }
    return elements;
}

int main(int argc, char **argv)
{
    int rank, size, cases = 0;
    char type_name[8], op_name[16];
    size_t width, n, m;
    treefold_comm *comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    FILE *file = fopen(argc > 1 ? argv[1] : "", "r");
    if (file == NULL) {
        fprintf(stderr, "golden: cannot open the file that the first argument names\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    while (fscanf(file, "%7s %15s %zu %zu %zu", type_name, op_name, &width, &n, &m) == 5) {
        size_t t = 0;
        treefold_op op = 0;
        while (t < sizeof types / sizeof *types && strcmp(types[t].name, type_name) != 0)
            t++;
        while (op <= TREEFOLD_MAX && strcmp(ops[op], op_name) != 0)
            op++;
        CHECK(t < sizeof types / sizeof *types && op <= TREEFOLD_MAX && m == width);
        if (failures != 0)
            return 1;
        size_t item = types[t].bytes * types[t].words;
        unsigned char *items = read_elements(file, n, types[t].bytes, types[t].words);
        unsigned char *expected = read_elements(file, m, types[t].bytes, types[t].words);
        unsigned char *result = malloc(m * item + 16);
        int before = failures;
        OK(treefold_fold_rows(types[t].type, op, items, n, width, result, m));
        CHECK(memcmp(result, expected, m * item) == 0);

        size_t rows = n / width, begin = rows * (size_t)rank / (size_t)size, end = rows * ((size_t)rank + 1) / (size_t)size;
        treefold_builder *builder;
        treefold_plan *plan;
        OK(treefold_builder_create(comm, types[t].type, op, &builder));
        OK(treefold_builder_local_items(builder, end - begin));
        OK(treefold_builder_width(builder, width));
        OK(treefold_plan_build(builder, &plan));
        OK(treefold_builder_destroy(&builder));
        memset(result, 0, m * item);
        OK(treefold_allreduce(plan, items + begin * width * item, (end - begin) * width, result, m));
        CHECK(memcmp(result, expected, m * item) == 0);
        OK(treefold_plan_destroy(&plan));
        if (failures != before)
            fprintf(stderr, "case %d: %s %s, %zu rows of %zu\n", cases, type_name, op_name, rows, width);
        free(items);
        free(expected);
        free(result);
        cases++;
    }
    fclose(file);
    OK(treefold_comm_destroy(&comm));
    if (rank == 0)
        printf("%d cases\n", cases);
    MPI_Finalize();
    return failures != 0 || cases < 50;
}
