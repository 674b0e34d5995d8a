/* Spawns processes, and connects to the same processes at a port. They have another MPI_COMM_WORLD, which numbers its communicators
   independently. Both sides build plans together, and free communicators in several orders. */
#include "ranks.h"

enum { CHILDREN = 2, ROUNDS = 2, MOST_OWN = 3 };

/* The two sides of the intercommunicator. */
enum { PARENTS = 0, CHILDREN_SIDE = 1 };

/* Checks that a plan over the ranks of a communicator computes the sum of 1 to p exactly. */
static void check_sum(treefold_comm *of)
{
    int r = -1, p = -1;
    double sum = 0;
    treefold_builder *builder = NULL;
    OK(treefold_comm_rank(of, &r));
    OK(treefold_comm_size(of, &p));
    const double item = r + 1;
    OK(treefold_builder_create(of, TREEFOLD_F64, TREEFOLD_SUM, &builder));
    OK(treefold_builder_local_items(builder, 1));
    treefold_plan *plan = built(builder);
    OK(treefold_allreduce(plan, &item, 1, &sum, 1));
    CHECK(sum == p * (p + 1) / 2);
    end_plan(&plan);
}

static treefold_comm *duplicate(MPI_Comm comm)
{
    treefold_comm *copy = NULL;
    OK(treefold_comm_duplicate(comm, &copy));
    check_sum(copy);
    return copy;
}

/* Checks communicators over both sides. Each side also has communicators of its own, and one side has more of these than the other. */
static void together(MPI_Comm between, int side)
{
    treefold_comm *own[MOST_OWN], *both, *again;
    MPI_Comm merged;
    int count = side == PARENTS ? 1 : MOST_OWN;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++)
            own[i] = duplicate(MPI_COMM_WORLD);
        MPI_Intercomm_merge(between, side, &merged);
        both = duplicate(merged);
        for (int i = 0; i < count && round % 2 == 0; i++)
            OK(treefold_comm_free(&own[i]));
        /* A treefold_comm that was destroyed is freed when its MPI communicator is duplicated again. */
        OK(treefold_comm_destroy(&both));
        both = duplicate(merged);
        again = duplicate(merged);
        OK(treefold_comm_free(&both));
        check_sum(again);
        OK(treefold_comm_free(&again));
        MPI_Comm_free(&merged);
        for (int i = 0; i < count && round % 2 != 0; i++) {
            check_sum(own[i]);
            OK(treefold_comm_free(&own[i]));
        }
    }
}

/* Connects the same processes again, at a port. */
static void meet(MPI_Comm between, int side)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm met;
    int root = side == CHILDREN_SIDE ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (side == PARENTS && rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, between);
    if (side == PARENTS)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
    together(met, side);
    MPI_Comm_disconnect(&met);
    if (side == PARENTS && rank == 0)
        MPI_Close_port(port);
}

/* Spawns more processes of this program. Returns MPI_COMM_NULL if the MPI library cannot spawn processes. */
static MPI_Comm started(const char *program)
{
    int codes[CHILDREN], code;
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Comm_spawn(program, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, codes);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return code == MPI_SUCCESS ? between : MPI_COMM_NULL;
}

int main(int argc, char **argv)
{
    MPI_Comm between, all;
    int all_failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    treefold_comm *world = duplicate(MPI_COMM_WORLD);
    MPI_Comm_get_parent(&between);
    int side = between == MPI_COMM_NULL ? PARENTS : CHILDREN_SIDE;
    if (side == PARENTS)
        between = started(argv[0]);
    if (between == MPI_COMM_NULL) {
        if (rank == 0)
            printf("skipped: spawn.c: this MPI library starts no processes here\n");
    } else {
        together(between, side);
        meet(between, side);
        MPI_Intercomm_merge(between, side, &all);
        MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, all);
        /* Open MPI 4.1 fails in MPI_Finalize if a communicator over both sides remains: a process of the other side may have ended. */
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&between);
        if (rank == 0 && all_failures == 0)
            printf("spawn.c: passed, %d ranks %s\n", size, side == PARENTS ? "and those that they started" : "that were started");
    }
    check_sum(world);
    OK(treefold_comm_destroy(&world));
    MPI_Finalize();
    return failures != 0 || all_failures != 0;
}
