/* A program that uses the sessions of MPI 4. Without MPI_Init, it has no MPI_COMM_WORLD and no MPI_COMM_SELF. */
#include "check.h"

#if MPI_VERSION >= 4

static void reduce(MPI_Comm comm)
{
    double x[3] = {rank + 1, -rank, 1}, y[3] = {0};
    DOING("Allreduce in a session");
    OK(MPI_Allreduce(x, y, 3, MPI_DOUBLE, MPI_SUM, comm));
    CHECK(y[0] == size * (size + 1) / 2 && y[1] == -size * (size - 1) / 2 && y[2] == size);
    DOING("Scan in a session");
    OK(MPI_Scan(x, y, 3, MPI_DOUBLE, MPI_SUM, comm));
    CHECK(y[0] == (rank + 1) * (rank + 2) / 2 && y[2] == rank + 1);
}

/* Runs a session from its start to its end. */
static void run_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, copy;
    DOING("a session");
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "treefold", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    reduce(comm);
    MPI_Comm_dup(comm, &copy);
    reduce(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    OK(MPI_Session_finalize(&session));
}

int main(void)
{
    run_session();
    if (failures == 0 && rank == 0)
        printf("sessions: passed, p = %d\n", size);
    return failures != 0;
}

#else

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return skip("sessions, as this MPI library has none");
}

#endif
