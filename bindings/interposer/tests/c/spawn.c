/* Reduces together with processes that the program spawns, or connects to at a port. These processes have another MPI_COMM_WORLD, and
   number their communicators independently. Both sides free communicators in several orders. */
#include "check.h"

enum { CHILDREN = 2, ROUNDS = 2, MOST_OWN = 3 };

/* The two sides of an intercommunicator between worlds. */
enum { PARENTS = 0, CHILDREN_SIDE = 1 };

static void check_sums(MPI_Comm comm)
{
    for (int i = 0; i < 3; i++)
        check_sum(comm, MPI_DOUBLE);
}

/* Creates communicators of one side, more on one side than on the other. They stay alive while both sides create communicators together. */
static void make_own(MPI_Comm *own, int count)
{
    for (int i = 0; i < count; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
        check_sums(own[i]);
    }
}

static void free_own(MPI_Comm *own, int count)
{
    for (int i = 0; i < count; i++) {
        check_sums(own[i]);
        MPI_Comm_free(&own[i]);
    }
}

/* Creates and frees communicators of both sides while communicators of one side are alive. */
static void together(MPI_Comm between, int side, const char *how)
{
    MPI_Comm own[MOST_OWN], merged, copy, half;
    int r, p, count = side == PARENTS ? 1 : MOST_OWN;
    for (int round = 0; round < ROUNDS; round++) {
        DOING("communicators of one side, round %d of %s", round, how);
        make_own(own, count);
        DOING("communicators of both sides, round %d of %s", round, how);
        MPI_Intercomm_merge(between, side, &merged);
        check_sums(merged);
        MPI_Comm_rank(merged, &r);
        MPI_Comm_size(merged, &p);
        CHECK(r == (side == PARENTS ? rank : p - size + rank));
        MPI_Comm_dup(merged, &copy);
        check_sums(copy);
        MPI_Comm_split(merged, r % 2, -r, &half);
        check_sums(half);
        check_sums(MPI_COMM_WORLD);
        DOING("freeing communicators, round %d of %s", round, how);
        if (round % 2 == 0) {
            free_own(own, count);
            MPI_Comm_free(&merged);
            check_sums(copy);
            MPI_Comm_free(&half);
            MPI_Comm_free(&copy);
        } else {
            MPI_Comm_free(&copy);
            MPI_Comm_free(&half);
            check_sums(merged);
            MPI_Comm_free(&merged);
            free_own(own, count);
        }
        check_sums(MPI_COMM_WORLD);
    }
}

/* The text NAME=VALUE for an environment variable. The launcher may not pass the variable on. */
static char *word_of(const char *name)
{
    const char *value = getenv(name);
    size_t length = strlen(name) + (value == NULL ? 0 : strlen(value)) + 2;
    char *word = allocate(length);
    snprintf(word, length, "%s=%s", name, value == NULL ? "" : value);
    return word;
}

/* Spawns more processes of this program. Returns MPI_COMM_NULL if the MPI library could not spawn them. */
static MPI_Comm start(const char *program)
{
    static const char *const names[] = {"LD_LIBRARY_PATH", "LD_PRELOAD", "TREEFOLD_PMPI", "EXPECTED_BITS"};
    enum { NAMES = sizeof names / sizeof *names };
    char *words[NAMES + 2] = {0};
    int codes[CHILDREN];
    MPI_Comm between = MPI_COMM_NULL;
    for (int i = 0; i < NAMES; i++)
        words[i] = word_of(names[i]);
    words[NAMES] = strcpy(allocate(strlen(program)), program);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Comm_spawn("env", words, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, codes);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < NAMES + 1; i++)
        free(words[i]);
    return code == MPI_SUCCESS ? between : MPI_COMM_NULL;
}

/* Connects the same processes again, at a port. */
static void meet(MPI_Comm between, int side)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm met;
    int root = side == CHILDREN_SIDE ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    DOING("connect and accept");
    if (side == PARENTS && rank == 0)
        OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, between));
    if (side == PARENTS)
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met));
    else
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met));
    together(met, side, "connect and accept");
    DOING("disconnecting");
    OK(MPI_Comm_disconnect(&met));
    if (side == PARENTS && rank == 0)
        OK(MPI_Close_port(port));
}

int main(int argc, char **argv)
{
    MPI_Comm between, all;
    int all_failures = 0;
    begin(&argc, &argv);
    check_sums(MPI_COMM_WORLD);
    MPI_Comm_get_parent(&between);
    int side = between == MPI_COMM_NULL ? PARENTS : CHILDREN_SIDE;
    if (side == PARENTS)
        between = start(argv[0]);
    if (between == MPI_COMM_NULL) {
        if (rank == 0)
            fprintf(stderr, "skipped: spawn: this MPI library could not start processes here\n");
        MPI_Finalize();
        return failures != 0;
    }
    together(between, side, "spawn");
    meet(between, side);
    DOING("the failures of both sides");
    MPI_Intercomm_merge(between, side, &all);
    check_sums(all);
    OK(MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, all));
    /* Open MPI 4.1 fails in MPI_Finalize if two worlds still share communicators and a process of the other world has ended. */
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    int status = end(side == PARENTS ? "spawn" : "spawned");
    return status != 0 || all_failures != 0;
}
