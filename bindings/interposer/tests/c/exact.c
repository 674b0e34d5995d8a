/* Checks every reduction of small integers, in every predefined type. The results do not depend on the order, so they are the same with
   and without the interposer. */
#include "cases.h"

/* A contribution. It is so small that the sum over 30 ranks fits into one byte. */
static long number(const struct type *type, MPI_Op op, int r, size_t i)
{
    long n = r * 7 + (long)(i % 1009) * 3;
    bool is_unsigned = type->kind == U8 || type->kind == U16 || type->kind == U32 || type->kind == U64;
    if (type->class == LOGICAL || op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return n % 4 != 0;
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return (n * 5) & 0x7F;
    if (op == MPI_PROD)
        return n % 5 == 0 ? 2 : 1;
    return is_unsigned ? n % 5 : n % 6 - 2;
}

/* A complex factor is a unit, or 1 + i: products of a few factors are exact. */
static void parts(const struct type *type, MPI_Op op, int r, size_t i, long *re, long *im)
{
    static const long factors[5][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}};
    *re = number(type, op, r, i);
    *im = number(type, op, r + 3, i + 1);
    if (is_complex(type->kind) && op == MPI_PROD) {
        *re = factors[((size_t)r + i) % 5][0];
        *im = factors[((size_t)r + i) % 5][1];
    }
}

static void contribution(const struct type *type, MPI_Op op, int of_rank, size_t i, void *to)
{
    long re, im;
    parts(type, op, of_rank, i, &re, &im);
    put(type->kind, to, re, im);
}

static long combined(MPI_Op op, long x, long y)
{
    if (op == MPI_SUM)
        return x + y;
    if (op == MPI_PROD)
        return x * y;
    if (op == MPI_MIN)
        return x < y ? x : y;
    if (op == MPI_MAX)
        return x > y ? x : y;
    if (op == MPI_LAND)
        return x && y;
    if (op == MPI_LOR)
        return x || y;
    if (op == MPI_LXOR)
        return !x != !y;
    return op == MPI_BAND ? (x & y) : op == MPI_BOR ? (x | y) : (x ^ y);
}

static void result(const struct type *type, MPI_Op op, int ranks, size_t i, void *to)
{
    long re, im, x, y;
    parts(type, op, 0, i, &re, &im);
    for (int r = 1; r < ranks; r++) {
        parts(type, op, r, i, &x, &y);
        if (is_complex(type->kind) && op == MPI_PROD) {
            long before = re;
            re = before * x - im * y;
            im = before * y + im * x;
        } else {
            re = combined(op, re, x);
            im = combined(op, im, y);
        }
    }
    put(type->kind, to, re, im);
}

static const struct data exact = {contribution, result, same_value};

static const struct {
    const char *name;
    MPI_Op op;
    /* The classes that have the operator, one bit for each class. */
    unsigned classes;
} ops[] = {
    {"sum", MPI_SUM, 1 << INTEGER | 1 << FORTRAN_INTEGER | 1 << FLOATING | 1 << COMPLEX},
    {"product", MPI_PROD, 1 << INTEGER | 1 << FORTRAN_INTEGER | 1 << FLOATING | 1 << COMPLEX},
    {"minimum", MPI_MIN, 1 << INTEGER | 1 << FORTRAN_INTEGER | 1 << FLOATING},
    {"maximum", MPI_MAX, 1 << INTEGER | 1 << FORTRAN_INTEGER | 1 << FLOATING},
    {"logical and", MPI_LAND, 1 << INTEGER | 1 << LOGICAL},
    {"logical or", MPI_LOR, 1 << INTEGER | 1 << LOGICAL},
    {"logical exclusive or", MPI_LXOR, 1 << INTEGER | 1 << LOGICAL},
    {"and", MPI_BAND, 1 << INTEGER | 1 << FORTRAN_INTEGER | 1 << BYTE},
    {"or", MPI_BOR, 1 << INTEGER | 1 << FORTRAN_INTEGER | 1 << BYTE},
    {"exclusive or", MPI_BXOR, 1 << INTEGER | 1 << FORTRAN_INTEGER | 1 << BYTE},
};

/* Tests every operator on every type in every blocking call. */
static void all_types(void)
{
    struct type types[MOST_TYPES];
    int count = predefined_types(types);
    for (int t = 0; t < count; t++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (enum entry entry = 0; entry < ENTRIES; entry++)
                if ((ops[o].classes >> types[t].class & 1) != 0)
                    run_case(&exact, entry, BLOCKING, &types[t], ops[o].op, ops[o].name, 17, (t + (int)o) % size,
                             ((int)entry + t + (int)o) % 2 == 0, MPI_COMM_WORLD);
}

/* In a long Reduce_scatter in place, MPICH 4.0 copies memory onto itself, which ends the program. */
static bool is_lost(enum entry entry, int count, bool in_place)
{
#ifdef MPICH
    return entry == REDUCE_SCATTER && count > 1000 && in_place;
#else
    (void)entry, (void)count, (void)in_place;
    return false;
#endif
}

/* Tests every form, in place and not in place, with few and with many elements. */
static void all_forms(MPI_Comm comm)
{
    static const int counts[] = {0, 1, 2, 3, 17, 1000, 100003};
    struct type types[MOST_TYPES];
    predefined_types(types);
    int p;
    MPI_Comm_size(comm, &p);
    for (int t = 0; t < 3; t++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (enum entry entry = 0; entry < ENTRIES; entry++)
                for (enum form form = 0; form < FORMS; form++)
                    for (int in_place = 0; in_place < 2; in_place++)
                        if (has_form(form) && (counts[c] <= 1000 || t == 0) && !is_lost(entry, counts[c], in_place != 0))
                            run_case(&exact, entry, form, &types[t], MPI_SUM, "sum", counts[c], (int)c % p, in_place != 0, comm);
}

static void all_roots(void)
{
    struct type types[MOST_TYPES];
    predefined_types(types);
    for (int root = 0; root < size; root++)
        for (int in_place = 0; in_place < 2; in_place++)
            for (enum form form = 0; form < FORMS; form++)
                if (has_form(form))
                    run_case(&exact, REDUCE, form, &types[0], MPI_PROD, "product", 3, root, in_place != 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    all_types();
    all_forms(MPI_COMM_WORLD);
    all_forms(MPI_COMM_SELF);
    all_roots();
    return end("exact");
}
