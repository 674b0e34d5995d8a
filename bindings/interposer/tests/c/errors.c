/* Passes wrong arguments: the program gets the MPI library's error, through the error handler of its communicator. */
#include "calls.h"

static double x[64], y[64];
/* Makes a call on a duplicate, so that messages of a failed call cannot reach the next call. */
static int class_on_duplicate(const struct call *c, int (*make)(const struct call *))
{
    struct call own = *c;
    if (c->comm == MPI_COMM_NULL)
        return class_of(make(c));
    MPI_Comm_dup(c->comm, &own.comm);
    handled_count = 0;
    int class = class_of(make(&own));
    MPI_Barrier(c->comm);
    MPI_Comm_free(&own.comm);
    return class;
}

/* Checks that a call and the library's own call both succeed, or both fail with the same error and call the handler equally often. */
static void compare(const char *what, const struct call *c, bool has_handler)
{
    DOING("%s: %s", entry_names[c->entry], what);
    int own = class_on_duplicate(c, call_blocking), own_handled_count = handled_count, own_handled_class = handled_class;
    int library = class_on_duplicate(c, call_library);
    CHECK(own == library);
    CHECK(!has_handler || own_handled_count == handled_count);
    CHECK(!has_handler || handled_count == 0 || own_handled_class == handled_class);
}

/* MPICH 4.0 crashes with most negative counts, as it does not check them. */
static bool checks_counts(enum entry entry)
{
#ifdef MPICH
    return entry == REDUCE_SCATTER;
#else
    (void)entry;
    return true;
#endif
}

static int counts[64];

static struct call right(enum entry entry, MPI_Comm comm)
{
    return (struct call){entry, x, y, 2, counts, MPI_DOUBLE, MPI_SUM, 0, comm};
}

/* Every rank makes the same mistake, so that no rank waits for another one. */
static void wrong_arguments(MPI_Comm comm, bool has_handler)
{
    static int negative_counts[64];
    const char *mode = getenv("TREEFOLD_PMPI");
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(2, MPI_DOUBLE, &uncommitted);
    for (int i = 0; i < 64; i++) {
        counts[i] = 2;
        negative_counts[i] = -1;
    }
    for (enum entry entry = 0; entry < ENTRIES; entry++) {
        const struct wrong {
            const char *what;
            MPI_Datatype type;
            MPI_Op op;
        } wrong[] = {
            {"nothing wrong", MPI_DOUBLE, MPI_SUM},
            {"no type", MPI_DATATYPE_NULL, MPI_SUM},
            {"a type that is not committed", uncommitted, MPI_SUM},
            {"no operator", MPI_DOUBLE, MPI_OP_NULL},
            {"an operator that the type does not have", MPI_DOUBLE, MPI_BAND},
            {"an operator of pairs", MPI_DOUBLE, MPI_MINLOC},
            {"a type that the operator does not have", MPI_DOUBLE_INT, MPI_SUM},
            {"the maximum of complex numbers", MPI_C_DOUBLE_COMPLEX, MPI_MAX},
            {"an operator of windows", MPI_DOUBLE, MPI_REPLACE},
        };
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            struct call c = right(entry, comm);
            c.type = wrong[i].type;
            c.op = wrong[i].op;
            compare(wrong[i].what, &c, has_handler);
        }
        struct call c = right(entry, comm);
        c.count = -1;
        c.counts = negative_counts;
        if (checks_counts(entry))
            compare("a negative count", &c, has_handler);
        c = right(entry, comm);
        c.recv = MPI_IN_PLACE;
        /* In a Reduce, only the root's arguments would be wrong, and the other ranks may wait for the root. In Exscan, Open MPI 4.1 writes
           to the address MPI_IN_PLACE. */
        if (entry != REDUCE && entry != EXSCAN)
            compare("results in place", &c, has_handler);
        DOING("MPI_Exscan: results in place");
        if (entry == EXSCAN && size > 1 && is_interposed() && strcmp(mode == NULL ? "on" : mode, "off") != 0)
            CHECK(class_on_duplicate(&c, call_blocking) == MPI_ERR_BUFFER && (!has_handler || handled_count == 1));
    }
    for (int root = -3; root <= size; root += size + 3) {
        struct call c = right(REDUCE, comm);
        c.root = root;
        compare("a root that is no rank", &c, has_handler);
    }
    struct call c = right(REDUCE, comm);
    c.root = MPI_PROC_NULL;
    compare("no root, within a group", &c, has_handler);
    MPI_Type_free(&uncommitted);
    OK(MPI_Allreduce(x, y, 2, MPI_DOUBLE, MPI_SUM, comm));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Errhandler handler;
    begin(&argc, &argv);
    /* Errors about an invalid communicator, and in Open MPI errors about buffers, go to the handlers of these communicators. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    wrong_arguments(comm, false);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    wrong_arguments(comm, true);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    for (enum entry entry = 0; entry < ENTRIES; entry++) {
        struct call c = right(entry, MPI_COMM_NULL);
        compare("no communicator", &c, false);
    }
    return end("errors");
}
