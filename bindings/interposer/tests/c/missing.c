/* Calls functions that some libraries lack. Programs that test whether such a function exists, as mpi4py does, find and call the
   interposer's function. */
#include "check.h"

/* A function that the program finds by its name, and whether the MPI library has this function. */
#define FOUND(name) ((name##_type *)dlsym(RTLD_DEFAULT, #name))
#define IS_OWN(name) (dlsym(RTLD_DEFAULT, "P" #name) != NULL)

#define TYPE(name, ...) typedef int name##_type(const void *, void *, __VA_ARGS__)

TYPE(MPI_Allreduce_init, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
TYPE(MPIX_Allreduce_init, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
TYPE(MPI_Reduce_init, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info, MPI_Request *);
TYPE(MPI_Allreduce_c, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
TYPE(MPI_Reduce_c, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
TYPE(MPI_Reduce_scatter_c, const MPI_Count *, MPI_Datatype, MPI_Op, MPI_Comm);
TYPE(MPI_Iallreduce_c, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
TYPE(MPI_Ireduce_scatter_c, const MPI_Count *, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
TYPE(MPI_Reduce_local_c, MPI_Count, MPI_Datatype, MPI_Op);

enum { COUNT = 8, RANKS_MAX = 64 };

/* A count that does not fit an int. */
static const MPI_Count MANY = (MPI_Count)1 << 40;

/* Checks a call of a function that the library lacks: the communicator's error handler is called, and the program continues. */
static void is_refused(int code, bool has_communicator)
{
    CHECK(code == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(handled_class == (has_communicator ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_SUCCESS));
    handled_class = MPI_SUCCESS;
}

/* Calls a function that the program finds and the library lacks. */
#define REFUSED(name, has_communicator, ...)                                                                                           \
    do {                                                                                                                               \
        DOING(#name);                                                                                                                  \
        if (FOUND(name) != NULL && !IS_OWN(name))                                                                                      \
            is_refused(FOUND(name)(__VA_ARGS__), has_communicator);                                                                    \
    } while (0)

static void persistent(void)
{
    double x[COUNT] = {0}, y[COUNT];
    MPI_Request request;
    REFUSED(MPI_Allreduce_init, true, x, y, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    REFUSED(MPIX_Allreduce_init, true, x, y, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    REFUSED(MPI_Reduce_init, true, x, y, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}

/* Passes counts that fit an int, for which the library has functions, to functions with large counts. */
static void small(void)
{
    double x = rank + 1, y = 0;
    int i[RANKS_MAX], j = 0, sum = size * (size + 1) / 2;
    MPI_Count counts[RANKS_MAX];
    MPI_Request request;
    for (int k = 0; k < size; k++) {
        i[k] = rank + 1 + k;
        counts[k] = 1;
    }
    DOING("a large count's function with small ones");
    if (FOUND(MPI_Allreduce_c) != NULL) {
        OK(FOUND(MPI_Allreduce_c)(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        CHECK(y == sum);
        OK(FOUND(MPI_Allreduce_c)(i, &j, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(j == sum);
    }
    if (FOUND(MPI_Reduce_c) != NULL) {
        OK(FOUND(MPI_Reduce_c)(i, &j, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD));
        CHECK(j == sum);
    }
    if (FOUND(MPI_Reduce_scatter_c) != NULL) {
        OK(FOUND(MPI_Reduce_scatter_c)(i, &j, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(j == sum + size * rank);
    }
    if (FOUND(MPI_Iallreduce_c) != NULL) {
        OK(FOUND(MPI_Iallreduce_c)(i, &j, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(j == sum);
    }
    if (FOUND(MPI_Ireduce_scatter_c) != NULL) {
        OK(FOUND(MPI_Ireduce_scatter_c)(i, &j, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(j == sum + size * rank);
    }
    if (FOUND(MPI_Reduce_local_c) != NULL) {
        j = 1;
        OK(FOUND(MPI_Reduce_local_c)(i, &j, 1, MPI_INT, MPI_SUM));
        CHECK(j == rank + 2);
    }
}

/* Passes counts that do not fit an int. */
static void large(void)
{
    int i = 0, j = 0;
    MPI_Request request;
    REFUSED(MPI_Allreduce_c, true, &i, &j, MANY, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    REFUSED(MPI_Iallreduce_c, true, &i, &j, MANY, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    REFUSED(MPI_Reduce_local_c, false, &i, &j, MANY, MPI_INT, MPI_SUM);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    begin(&argc, &argv);
    DOING("the error handler");
    OK(MPI_Comm_create_errhandler(handle, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    /* The second time, the interposer prints nothing. */
    for (int round = 0; round < 2; round++) {
        persistent();
        small();
        large();
    }
    OK(MPI_Errhandler_free(&handler));
    return end("missing");
}
