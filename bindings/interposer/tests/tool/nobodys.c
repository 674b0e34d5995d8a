/* A program that uses the library in nobody.c: calls are passed on, and a call of a function that the library lacks fails, with or without
   the interposer. */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Allreduce(const void *items, void *results, int count, void *datatype, void *op, void *comm);
int MPI_Scan(const void *items, void *results, int count, void *datatype, void *op, void *comm) __attribute__((weak));

int main(int argc, char **argv)
{
    double x = 3, sum = 0;
    int code = MPI_Init(&argc, &argv);
    if (code != 0 || MPI_Allreduce(&x, &sum, 1, NULL, NULL, NULL) != 0 || sum != 3) {
        fprintf(stderr, "nobodys: the sum is %g\n", sum);
        return 1;
    }
    if (MPI_Scan != NULL && MPI_Scan(&x, &sum, 1, NULL, NULL, NULL) == 0) {
        fprintf(stderr, "nobodys: MPI_Scan succeeded, but the library has no such function\n");
        return 1;
    }
    return 0;
}
