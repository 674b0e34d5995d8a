/* A program that looks up MPI's functions by the handle of their library, as MPI.jl does, and so bypasses preloaded libraries. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    Dl_info info;
    void *library;
    int rank = 0;
    if (dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &info) == 0 || (library = dlopen(info.dli_fname, RTLD_NOW)) == NULL)
        return 1;
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    if (init(NULL, NULL) != MPI_SUCCESS)
        return 1;
    /* This call makes the linker keep the library. */
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return finalize() != MPI_SUCCESS || rank < 0;
}
