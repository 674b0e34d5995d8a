/* Reduces on communicators that are freed at once, have the program's attributes and error handlers, or live until MPI_Finalize. */
#include "check.h"

static void made_and_freed(void)
{
    DOING("communicators that are made and freed");
    for (int i = 0; i < 200; i++) {
        MPI_Comm half, copy;
        MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, -rank, &half);
        check_sum(half, MPI_DOUBLE);
        MPI_Comm_dup(half, &copy);
        /* The order of freeing must not matter. */
        if (i % 2 == 0)
            MPI_Comm_free(&half);
        check_sum(copy, MPI_FLOAT);
        MPI_Comm_free(&copy);
        CHECK(copy == MPI_COMM_NULL);
        if (i % 2 != 0)
            MPI_Comm_disconnect(&half);
    }
    DOING("many communicators at once");
    MPI_Comm comms[100];
    for (int i = 0; i < 100; i++) {
        MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : comms[i - 1], &comms[i]);
        check_sum(comms[i], MPI_DOUBLE);
    }
    for (int i = 0; i < 100; i++)
        check_sum(comms[99 - i], MPI_DOUBLE);
    for (int i = 0; i < 100; i++)
        MPI_Comm_free(&comms[i]);
}

/* Only some ranks are in a communicator; the other ranks continue without reducing. */
static void parts(void)
{
    MPI_Group all, some;
    MPI_Comm comm;
    int first = 0, root_only[1] = {0};
    DOING("a communicator of some ranks");
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank == 0));
    for (int i = 0; comm != MPI_COMM_NULL && i < 10; i++)
        check_sum(comm, MPI_DOUBLE);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (size > 1)
        MPI_Group_excl(all, 1, &first, &some);
    else
        MPI_Group_incl(all, 1, root_only, &some);
    if (rank > 0 || size == 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 3, &comm);
        check_sum(comm, MPI_DOUBLE);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    DOING("a ring of ranks");
    int dims[1] = {size}, periods[1] = {1}, kind, got;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &comm);
    check_sum(comm, MPI_DOUBLE);
    MPI_Topo_test(comm, &kind);
    MPI_Cart_get(comm, 1, dims, periods, &got);
    CHECK(kind == MPI_CART && dims[0] == size && periods[0] == 1);
    MPI_Comm_free(&comm);
    DOING("MPI_Comm_idup");
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    check_sum(MPI_COMM_WORLD, MPI_DOUBLE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum(comm, MPI_DOUBLE);
    MPI_Comm_free(&comm);
    DOING("a communicator's first reduction during MPI_Comm_idup");
    for (int i = 0; i < 10; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_idup(comm, &copy, &request);
        check_sum(comm, MPI_DOUBLE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_sum(copy, MPI_DOUBLE);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&comm);
    }
    DOING("MPI_COMM_SELF, on one rank only");
    if (rank == size - 1)
        check_sum(MPI_COMM_SELF, MPI_DOUBLE);
}

/* Each group gets the sum of the other group. */
static void between_groups(void)
{
    MPI_Comm half, between, merged;
    if (size < 2)
        return;
    int side = rank % 2, p, others;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 9, &between);
    MPI_Comm_size(between, &p);
    MPI_Comm_remote_size(between, &others);
    double x[12], y[12] = {0}, sum = 0;
    for (int i = 0; i < 12; i++)
        x[i] = rank + 1;
    for (int r = 1 - side; r < size; r += 2)
        sum += r + 1;
    for (int i = 0; i < 3; i++) {
        DOING("Allreduce between groups");
        OK(MPI_Allreduce(x, y, 12, MPI_DOUBLE, MPI_SUM, between));
        CHECK(y[0] == sum && y[11] == sum);
        DOING("Reduce between groups");
        y[0] = -1;
        int root = side == 0 ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
        OK(MPI_Reduce(x, y, 1, MPI_DOUBLE, MPI_SUM, root, between));
        CHECK(y[0] == (rank == 0 ? sum : -1));
    }
    if (p == others) {
        DOING("Reduce_scatter_block between groups");
        OK(MPI_Reduce_scatter_block(x, y, 1, MPI_DOUBLE, MPI_SUM, between));
        CHECK(y[0] == sum);
    }
    DOING("merged groups");
    MPI_Intercomm_merge(between, side, &merged);
    check_sum(merged, MPI_DOUBLE);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static int copies_count, deletes_count;

static int copy_attribute(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)state;
    copies_count++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    deletes_count++;
    return MPI_SUCCESS;
}

/* The program's callbacks are called only for calls that the program makes itself. */
static void own_state(void)
{
    MPI_Comm comm, copy;
    MPI_Errhandler handler;
    int key, flag, length;
    void *value;
    char name[MPI_MAX_OBJECT_NAME] = "";
    DOING("attributes, names and error handlers");
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, key, &copies_count);
    MPI_Comm_set_name(comm, "the program's own");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++)
        check_sum(comm, i == 1 ? MPI_FLOAT : MPI_DOUBLE);
    CHECK(copies_count == 0 && deletes_count == 0);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(flag && value == &copies_count);
    MPI_Comm_get_name(comm, name, &length);
    CHECK(strcmp(name, "the program's own") == 0 && length == (int)strlen(name));
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(handler == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);

    MPI_Comm_dup(comm, &copy);
    CHECK(copies_count == 1);
    check_sum(copy, MPI_DOUBLE);
    CHECK(copies_count == 1 && deletes_count == 0);
    MPI_Comm_free(&copy);
    CHECK(deletes_count == 1);
    MPI_Comm_free(&comm);
    CHECK(copies_count == 1 && deletes_count == 2);
    MPI_Comm_free_keyval(&key);
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF: MPI can still be called then. */
static int reduce_at_the_end(MPI_Comm self, int key, void *value, void *state)
{
    int finalized;
    (void)self, (void)key, (void)value, (void)state;
    DOING("reductions in MPI_Finalize");
    MPI_Finalized(&finalized);
    CHECK(!finalized);
    check_sum(MPI_COMM_WORLD, MPI_DOUBLE);
    check_sum(*(MPI_Comm *)value, MPI_FLOAT);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static MPI_Comm alive, unused;
    int key;
    begin(&argc, &argv);
    /* This attribute is set before the first reduction, so it is deleted last. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &alive);
    made_and_freed();
    parts();
    between_groups();
    own_state();
    /* These communicators live until MPI_Finalize. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &alive);
    MPI_Comm_dup(MPI_COMM_WORLD, &unused);
    check_sum(alive, MPI_DOUBLE);
    int status = end("communicators");
    return status != 0 || failures != 0;
}
