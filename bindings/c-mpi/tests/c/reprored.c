/* Uses ReproRed's interface as RAxML-NG does: creates two contexts, fills a buffer, reduces it, and reads the buffer again. */
#define _POSIX_C_SOURCE 200809L

#include "../../../c/tests/c/check.h"

#include <binary_tree_summation.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { SITES = 767 };

/* Creates two contexts while REPR_REDUCE asks for another order. Checks that rank 0 prints one message about this, and other ranks none. */
static void contexts(int rank, int begin, int count, ReductionContext *first, ReductionContext *second)
{
    char told[512];
    FILE *errors = tmpfile();
    int before = dup(2);
    dup2(fileno(errors), 2);
    *first = new_reduction_context(begin, count);
    *second = new_reduction_context(begin, count);
    dup2(before, 2);
    close(before);
    rewind(errors);
    size_t length = fread(told, 1, sizeof told - 1, errors);
    told[length] = 0;
    fclose(errors);
    if (rank == 0)
        CHECK(strcmp(told, "treefold: REPR_REDUCE=REPROBLAS: treefold's tree order is used instead\n") == 0);
    else
        CHECK(strstr(told, "treefold") == NULL);
}

int main(int argc, char **argv)
{
    int rank, size;
    setenv("REPR_REDUCE", "REPROBLAS", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    attach_debugger_env();
    attach_debugger(false);

    double sites[SITES], squares[SITES];
    for (int i = 0; i < SITES; i++) {
        sites[i] = number((uint64_t)i);
        squares[i] = sites[i] * sites[i];
    }
    int begin = SITES * rank / size, count = SITES * (rank + 1) / size - begin;
    ReductionContext first, second;
    contexts(rank, begin, count, &first, &second);
    double *buffer = get_reduction_buffer(first);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < count; i++) {
            buffer[i] = sites[begin + i];
            store_summand(second, (uint64_t)i, squares[begin + i]);
        }
        CHECK(bits(reproducible_reduce(first)) == bits(tree_sum(sites, SITES)));
        CHECK(bits(reproducible_reduce(second)) == bits(tree_sum(squares, SITES)));
        /* After a reduction, RAxML-NG reads the items from the buffer. */
        CHECK(get_reduction_buffer(first) == buffer);
        for (int i = 0; i < count; i++)
            CHECK(bits(buffer[i]) == bits(sites[begin + i]));
    }
    CHECK(get_reproducible_reduction_counter() == 6);
    CHECK(strlen(get_reproducible_reduction_mode()) > 0);
    free_reduction_context(first);
    free_reduction_context(second);
    free_reduction_context(NULL);

    /* Checks contexts whose ranks are in reverse order, contexts with empty ranges, and contexts on communicators of the program. */
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
    set_default_reduction_context_communicator((uintptr_t)reversed);
    first = new_reduction_context(rank == 0 ? 0 : SITES, rank == 0 ? SITES : 0);
    second = new_reduction_context_comm(begin, count, (uintptr_t)MPI_COMM_WORLD);
    ReductionContext third = new_reduction_context_comm_k(begin, count, (uintptr_t)reversed, 16);
    if (rank == 0)
        memcpy(get_reduction_buffer(first), sites, sizeof sites);
    memcpy(get_reduction_buffer(second), sites + begin, (size_t)count * sizeof *sites);
    memcpy(get_reduction_buffer(third), sites + begin, (size_t)count * sizeof *sites);
    CHECK(bits(reproducible_reduce(first)) == bits(tree_sum(sites, SITES)));
    CHECK(bits(reproducible_reduce(second)) == bits(tree_sum(sites, SITES)));
    CHECK(bits(reproducible_reduce(third)) == bits(tree_sum(sites, SITES)));
    free_reduction_context(third);
    free_reduction_context(second);
    free_reduction_context(first);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return failures != 0;
}
