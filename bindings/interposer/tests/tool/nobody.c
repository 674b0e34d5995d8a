/* An MPI library of an unknown family: a few functions, for one rank. */
#include <string.h>

int PMPI_Init(int *argc, char ***argv);
int PMPI_Get_library_version(char *version, int *length);
int PMPI_Allreduce(const void *items, void *results, int count, void *datatype, void *op, void *comm);

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "Nobody's MPI 1.0");
    *length = (int)strlen(version);
    return 0;
}

int PMPI_Allreduce(const void *items, void *results, int count, void *datatype, void *op, void *comm)
{
    (void)datatype;
    (void)op;
    (void)comm;
    memcpy(results, items, (size_t)count * sizeof(double));
    return 0;
}

int MPI_Init(int *argc, char ***argv) __attribute__((weak, alias("PMPI_Init")));
int MPI_Get_library_version(char *version, int *length) __attribute__((weak, alias("PMPI_Get_library_version")));
int MPI_Allreduce(const void *, void *, int, void *, void *, void *) __attribute__((weak, alias("PMPI_Allreduce")));
