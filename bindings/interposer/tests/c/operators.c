/* Reductions that the interposer passes on: pairs with positions, derived types, user-defined operators, buffers at MPI_BOTTOM. */
#include "calls.h"

/* The count of every call. */
enum { COUNT = 7 };

/* Returns the number of ranks whose contributions this rank's result combines. Sets the result's first element and number of elements. */
static int ranks_of(enum entry entry, int *first, int *elements)
{
    *first = entry == REDUCE_SCATTER || entry == REDUCE_SCATTER_BLOCK ? rank * COUNT : 0;
    *elements = (entry == REDUCE && rank != size - 1) || (entry == EXSCAN && rank == 0) ? 0 : COUNT;
    return entry == SCAN ? rank + 1 : entry == EXSCAN ? rank : size;
}

/* Makes a call in a form with COUNT elements for each rank. */
static void reduce(enum entry entry, enum form form, const void *send, void *recv, MPI_Datatype type, MPI_Op op)
{
    int *counts = allocate((size_t)size * sizeof *counts);
    for (int r = 0; r < size; r++)
        counts[r] = COUNT;
    struct call c = {entry, send, recv, COUNT, counts, type, op, size - 1, MPI_COMM_WORLD};
    OK(call(&c, form));
    free(counts);
}

static long value_of(int r, int i)
{
    return (r * 5 + i * 3) % 7;
}

/* Checks MPI_MINLOC and MPI_MAXLOC, which give the extreme value and the least index with this value. */
#define DEFINE_PAIRS(name, real, integer)                                                                                              \
    static void name(const char *title, MPI_Datatype type)                                                                             \
    {                                                                                                                                  \
        struct pair {                                                                                                                  \
            real value;                                                                                                                \
            integer index;                                                                                                             \
        } *x = calloc((size_t)size * COUNT, sizeof *x), *y = calloc((size_t)size * COUNT, sizeof *y);                                  \
        for (int i = 0; i < size * COUNT; i++)                                                                                         \
            x[i] = (struct pair){(real)value_of(rank, i), (integer)(rank + 1)};                                                        \
        for (enum entry entry = 0; entry < ENTRIES; entry++)                                                                           \
            for (int is_max = 0; is_max < 2; is_max++) {                                                                               \
                int first, elements, ranks = ranks_of(entry, &first, &elements);                                                       \
                DOING("%s of %s, %s", entry_names[entry], title, is_max ? "maximum" : "minimum");                                      \
                reduce(entry, BLOCKING, x, y, type, is_max ? MPI_MAXLOC : MPI_MINLOC);                                                 \
                for (int i = 0; i < elements; i++) {                                                                                   \
                    int best = 0;                                                                                                      \
                    for (int r = 1; r < ranks; r++) {                                                                                  \
                        long mine = value_of(r, first + i), its = value_of(best, first + i);                                           \
                        if (is_max ? mine > its : mine < its)                                                                          \
                            best = r;                                                                                                  \
                    }                                                                                                                  \
                    CHECK(y[i].value == (real)value_of(best, first + i) && y[i].index == (integer)(best + 1));                         \
                }                                                                                                                      \
            }                                                                                                                          \
        free(x);                                                                                                                       \
        free(y);                                                                                                                       \
    }

DEFINE_PAIRS(float_int, float, int)
DEFINE_PAIRS(double_int, double, int)
DEFINE_PAIRS(long_int, long, int)
DEFINE_PAIRS(short_int, short, int)
DEFINE_PAIRS(int_int, int, int)
DEFINE_PAIRS(extended_int, long double, int)
DEFINE_PAIRS(float_float, float, float)
DEFINE_PAIRS(double_double, double, double)

static void pairs(void)
{
    float_int("FLOAT_INT", MPI_FLOAT_INT);
    double_int("DOUBLE_INT", MPI_DOUBLE_INT);
    long_int("LONG_INT", MPI_LONG_INT);
    short_int("SHORT_INT", MPI_SHORT_INT);
    int_int("2INT", MPI_2INT);
    extended_int("LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT);
    if (MPI_2REAL != MPI_DATATYPE_NULL)
        float_float("2REAL", MPI_2REAL);
    if (MPI_2DOUBLE_PRECISION != MPI_DATATYPE_NULL)
        double_double("2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION);
    if (MPI_2INTEGER != MPI_DATATYPE_NULL)
        int_int("2INTEGER", MPI_2INTEGER);
}

/* The function x -> a x + b, modulo a prime. Composition is associative, not commutative, and exact. */
struct affine {
    double a, b;
};

static struct affine composed(struct affine first, struct affine second)
{
    const long prime = 10007;
    long a = (long)first.a * (long)second.a % prime, b = ((long)second.a * (long)first.b + (long)second.b) % prime;
    return (struct affine){(double)a, (double)b};
}

static void compose(void *first, void *both, int *length, MPI_Datatype *type)
{
    struct affine *x = first, *y = both;
    (void)type;
    for (int i = 0; i < *length; i++)
        y[i] = composed(x[i], y[i]);
}

/* The type's extent may exceed its size: the gaps between elements must not be touched. */
static void add_first(void *first, void *both, int *length, MPI_Datatype *type)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *length; i++)
        *(double *)((char *)both + i * extent) += *(double *)((char *)first + i * extent);
}

/* A user-defined operator on a predefined type is never treated as a sum. */
static int calls_count = 0;

static void subtract_one(void *first, void *both, int *length, MPI_Datatype *type)
{
    double *x = first, *y = both;
    calls_count++;
    CHECK(*type == MPI_DOUBLE);
    for (int i = 0; i < *length; i++)
        y[i] = x[i] + y[i] - 1;
}

static struct affine affine_of(int r, int i)
{
    return (struct affine){(double)(r * 3 + i % 5 + 2), (double)(r + i * 7)};
}

static void own_operators(void)
{
    MPI_Datatype pair, padded;
    MPI_Op composition, addition, own;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 3 * sizeof(double), &padded);
    MPI_Type_commit(&padded);
    MPI_Op_create(compose, 0, &composition);
    MPI_Op_create(add_first, 1, &addition);
    MPI_Op_create(subtract_one, 1, &own);
    size_t items = (size_t)size * COUNT;
    struct affine *x = allocate(items * sizeof *x), *y = allocate(items * sizeof *y);
    double *wide = calloc(3 * items, sizeof *wide), *wide_sum = calloc(3 * items, sizeof *wide), *flat = calloc(items, sizeof *flat),
           *flat_sum = calloc(items, sizeof *flat);
    for (enum entry entry = 0; entry < ENTRIES; entry++)
        for (enum form form = 0; form < FORMS; form++) {
            int first, elements, ranks = ranks_of(entry, &first, &elements);
            if (!has_form(form))
                continue;
            DOING("%s %s by operators of the program", form_names[form], entry_names[entry]);
            for (size_t i = 0; i < items; i++) {
                x[i] = affine_of(rank, (int)i);
                wide[3 * i] = flat[i] = (double)value_of(rank, (int)i);
                wide[3 * i + 1] = wide_sum[3 * i + 1] = -5;
            }
            reduce(entry, form, x, y, pair, composition);
            reduce(entry, form, wide, wide_sum, padded, addition);
            calls_count = 0;
            reduce(entry, form, flat, flat_sum, MPI_DOUBLE, own);
            for (int i = 0; i < elements; i++) {
                struct affine expected = affine_of(0, first + i);
                double sum = (double)value_of(0, first + i);
                for (int r = 1; r < ranks; r++) {
                    expected = composed(expected, affine_of(r, first + i));
                    sum += (double)value_of(r, first + i);
                }
                CHECK(y[i].a == expected.a && y[i].b == expected.b);
                CHECK(wide_sum[3 * i] == sum && wide_sum[3 * i + 1] == -5);
                CHECK(flat_sum[i] == sum - (ranks - 1));
            }
        }
    free(x);
    free(y);
    free(wide);
    free(wide_sum);
    free(flat);
    free(flat_sum);
    MPI_Op_free(&composition);
    MPI_Op_free(&addition);
    MPI_Op_free(&own);
    MPI_Type_free(&pair);
    MPI_Type_free(&padded);
}

/* The address of the number in a type that is relative to MPI_BOTTOM. The address differs between ranks. */
static MPI_Aint from_bottom;

static void add_from_bottom(void *first, void *both, int *length, MPI_Datatype *type)
{
    (void)type;
    CHECK(*length == 1);
    *(double *)((char *)both + from_bottom) += *(double *)((char *)first + from_bottom);
}

static void bottom(void)
{
    double *values = allocate(((size_t)rank + 4) * sizeof *values), *value = values + rank;
    MPI_Datatype type;
    MPI_Op addition;
    int one = 1, expected = size * (size + 1) / 2;
    MPI_Get_address(value, &from_bottom);
    MPI_Type_create_hindexed(1, &one, &from_bottom, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_from_bottom, 1, &addition);
    for (enum form form = 0; form < FORMS; form++) {
        if (!has_form(form))
            continue;
        DOING("%s Allreduce at MPI_BOTTOM", form_names[form]);
        *value = rank + 1;
        struct call c = {ALLREDUCE, MPI_IN_PLACE, MPI_BOTTOM, 1, NULL, type, addition, 0, MPI_COMM_WORLD};
        OK(call(&c, form));
        CHECK(*value == expected);
        DOING("%s Scan at MPI_BOTTOM", form_names[form]);
        *value = rank + 1;
        c.entry = SCAN;
        OK(call(&c, form));
        CHECK(*value == (rank + 1) * (rank + 2) / 2);
    }
    /* With a count of 0, the address of a contribution may be MPI_BOTTOM or NULL. */
    DOING("no elements at MPI_BOTTOM");
    OK(MPI_Allreduce(MPI_BOTTOM, MPI_BOTTOM, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(MPI_IN_PLACE, NULL, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    MPI_Op_free(&addition);
    MPI_Type_free(&type);
    free(values);
}

/* A handle may be freed while a reduction that uses it is under way, and a new type or operator may get the same handle. */
static void reused_handles(void)
{
    DOING("types and operators that are freed and made again");
    for (int i = 0; i < 50; i++) {
        MPI_Op op;
        MPI_Datatype type;
        MPI_Request request;
        double x[2] = {rank, 1}, y[2] = {0, 0};
        MPI_Op_create(i % 2 == 0 ? add_first : subtract_one, 1, &op);
        OK(MPI_Iallreduce(x, y, 2, MPI_DOUBLE, op, MPI_COMM_WORLD, &request));
        MPI_Op_free(&op);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(y[1] == (i % 2 == 0 ? size : 1));
        MPI_Type_dup(MPI_DOUBLE, &type);
        MPI_Op_create(add_first, 1, &op);
        OK(MPI_Allreduce(x, y, 2, type, op, MPI_COMM_WORLD));
        CHECK(y[1] == size);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    pairs();
    own_operators();
    bottom();
    reused_handles();
    return end("operators");
}
