/* Checks that the error of a reduction that fails in treefold goes through the error handler of the program's communicator. The program
   invalidates a setting after MPI_Init, so that all reductions fail; before MPI_Init, a wrong setting would end the job. */
#include "check.h"

/* Checks that a call has returned the code of a treefold error. */
static void check_code(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    CHECK(code != MPI_SUCCESS);
    MPI_Error_string(code, text, &length);
    CHECK(strncmp(text, "treefold: ", 10) == 0 && strstr(text, "TREEFOLD_SHARED_MEMORY") != NULL);
    CHECK(class_of(code) > MPI_ERR_LASTCODE || class_of(code) == code);
}

static void fails(void)
{
    MPI_Comm returning, handling;
    MPI_Errhandler handler;
    double x = 1, y = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &returning);
    MPI_Comm_set_errhandler(returning, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &handling);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(handling, handler);
    for (int i = 0; i < 3; i++) {
        DOING("a failure that is returned, call %d", i);
        check_code(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, returning));
        DOING("a failure that calls a handler, call %d", i);
        int code = MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, handling);
        check_code(code);
        CHECK(handled_count == i + 1 && handled_code == code && handled_comm == handling);
    }
    DOING("calls that are passed on after failures");
    int one = 1, ones = 0;
    OK(MPI_Allreduce(&one, &ones, 1, MPI_INT, MPI_SUM, returning));
    CHECK(ones == size && handled_count == 3);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&returning);
    MPI_Comm_free(&handling);
}

/* In a check, the program gets the MPI library's results, so no call fails. */
static void does_not_fail(void)
{
    double x = rank + 1, y = -1;
    DOING("a failure that the program does not see");
    OK(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CHECK(y == size * (size + 1) / 2);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    setenv("TREEFOLD_SHARED_MEMORY", "wrong", 1);
    if (expects_tree() && size > 1)
        fails();
    else
        does_not_fail();
    return end("failures");
}
