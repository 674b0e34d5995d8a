/* Reduces more elements than an int can count, with functions of MPI 4. The buffers are long, and map the same few MiB of memory
   repeatedly. Runs on one rank, unless TREEFOLD_LARGE is set: two ranks take minutes to exchange 16 GiB. */
#include "check.h"

#if MPI_VERSION >= 4

#include <sys/mman.h>
#include <unistd.h>

/* The size of a piece of memory, and how often it is mapped: slightly more than 2^31 floats in all. */
enum { PIECE_BYTES = 1 << 24, PIECES = (1 << 9) + 1 };

static float *repeated(void)
{
    int file = memfd_create("treefold", 0);
    char *all = mmap(NULL, (size_t)PIECE_BYTES * PIECES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (file < 0 || ftruncate(file, PIECE_BYTES) != 0 || all == MAP_FAILED)
        abort();
    for (size_t i = 0; i < PIECES; i++)
        if (mmap(all + i * PIECE_BYTES, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            abort();
    close(file);
    return (float *)all;
}

static void reduce(MPI_Comm comm)
{
    int r, p;
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &p);
    size_t piece = PIECE_BYTES / sizeof(float), wrong_count = 0;
    MPI_Count count = (MPI_Count)piece * PIECES;
    float *x = repeated(), *y = repeated();
    DOING("Allreduce of %lld floats on %d ranks", (long long)count, p);
    for (size_t i = 0; i < piece; i++) {
        x[i] = (float)((int)(i % 1009) + r);
        y[i] = -1;
    }
    OK(MPI_Allreduce_c(x, y, count, MPI_FLOAT, MPI_SUM, comm));
    for (size_t i = 0; i < piece; i++)
        wrong_count += y[i] != (float)(p * (int)(i % 1009) + p * (p - 1) / 2);
    CHECK(wrong_count == 0);
    munmap(x, (size_t)PIECE_BYTES * PIECES);
    munmap(y, (size_t)PIECE_BYTES * PIECES);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank == 0)
        reduce(MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 1 && getenv("TREEFOLD_LARGE") != NULL)
        reduce(MPI_COMM_WORLD);
    return end("large");
}

#else

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return skip("large counts, as this MPI library has none");
}

#endif
