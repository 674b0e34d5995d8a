/* Checks that sums and products of numbers of very different magnitudes have the bits of the tree that docs/order.md defines. If the MPI
   library runs the reductions, checks only the floating-point mode. */
#include "wild.h"

#include <fenv.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

static void all_cases(const struct type *type, const int *counts, int counts_count, MPI_Comm comm)
{
    int p;
    MPI_Comm_size(comm, &p);
    for (int c = 0; c < counts_count; c++)
        for (enum entry entry = 0; entry < ENTRIES; entry++)
            for (int in_place = 0; in_place < 2; in_place++)
                for (enum form form = BLOCKING; form < FORMS; form++)
                    if (has_form(form)) {
                        run_case(&wild_data, entry, form, type, MPI_SUM, "sum", counts[c], c % p, in_place != 0, comm);
                        run_case(&wild_data, entry, form, type, MPI_PROD, "product", counts[c], c % p, in_place != 0, comm);
                    }
}

static void trees(void)
{
    static const int counts[] = {1, 2, 17, 1000, 9001}, one_count = 5;
    struct type types[MOST_TYPES];
    int count = predefined_types(types);
    for (int t = 0; t < count; t++) {
        if (t < 4)
            all_cases(&types[t], counts, t == 0 ? 5 : 4, MPI_COMM_WORLD);
        else if (types[t].kind == F32 || types[t].kind == F64 || types[t].kind == C32 || types[t].kind == C64)
            all_cases(&types[t], &one_count, 1, MPI_COMM_WORLD);
    }
    struct type f90 = {"F90_REAL", MPI_DATATYPE_NULL, F64, FLOATING};
    MPI_Type_create_f90_real(15, 300, &f90.type);
    all_cases(&f90, &one_count, 1, MPI_COMM_WORLD);
    f90 = (struct type){"F90_COMPLEX", MPI_DATATYPE_NULL, C32, COMPLEX};
    MPI_Type_create_f90_complex(6, 30, &f90.type);
    all_cases(&f90, &one_count, 1, MPI_COMM_WORLD);
    /* The tree follows the communicator's rank order. */
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    all_cases(&types[0], &one_count, 1, turned);
    MPI_Comm_free(&turned);
}

/* With more than one rank, every result that is NaN is the canonical NaN on all ranks. */
static void nans(void)
{
    double x[3] = {rank == size - 1 ? -NAN : 1, rank == 0 ? INFINITY : rank == 1 ? -INFINITY : 1, -0.0}, y[3];
    if (size < 2)
        return;
    DOING("sums that are NaN, and negative zero");
    OK(MPI_Allreduce(x, y, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    uint64_t bits[3];
    memcpy(bits, y, sizeof bits);
    CHECK(bits[0] == 0x7FF8000000000000u && bits[1] == 0x7FF8000000000000u);
    CHECK(bits[2] == 0x8000000000000000u);
}

/* A program may flush subnormal numbers, or round upwards. The tree is computed in the default mode, and then the program's mode is
   restored. */
static void modes(bool tree)
{
    struct type type = {"DOUBLE", MPI_DOUBLE, F64, FLOATING};
    double tiny = 4.9406564584124654e-324, x, product, expected, sum = 0;
    contribution(&type, MPI_PROD, rank, 0, &x);
    result(&type, MPI_PROD, size, 0, &expected);
#ifdef __GLIBC__
    /* A program may also enable traps. The sum of the greatest numbers overflows, and would trap in the MPI library. */
    double big[1] = {1.7976931348623157e308}, all_big[1] = {0};
    const int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
    DOING("traps");
    feenableexcept(traps);
    if (tree && size > 1)
        OK(MPI_Allreduce(big, all_big, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(&x, &product, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD));
    CHECK(fegetexcept() == traps);
    fedisableexcept(FE_ALL_EXCEPT);
    CHECK(!tree || size == 1 || isinf(all_big[0]));
    CHECK(!tree || same_bits(&type, &product, &expected));
#endif
    DOING("rounding upwards");
    fesetround(FE_UPWARD);
    OK(MPI_Allreduce(&x, &product, 1, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD));
    CHECK(fegetround() == FE_UPWARD);
    fesetround(FE_TONEAREST);
    CHECK(!tree || same_bits(&type, &product, &expected));
#ifdef __SSE__
    /* Flush to zero, denormals are zero. */
    const unsigned flush = 0x8040, before = _mm_getcsr();
    uint64_t bits;
    DOING("flushing subnormal numbers");
    _mm_setcsr(before | flush);
    OK(MPI_Allreduce(&tiny, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK((_mm_getcsr() & ~0x3Fu) == ((before | flush) & ~0x3Fu));
    _mm_setcsr(before);
    memcpy(&bits, &sum, sizeof bits);
    CHECK(!tree || size == 1 || bits == (uint64_t)size);
#endif
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    bool tree = expects_tree();
    if (tree) {
        DOING("what is loaded");
        CHECK(is_interposed());
        trees();
        nans();
    }
    modes(tree);
    return end("bits");
}
