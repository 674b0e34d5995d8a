/* libtreefold beside libtreefold_mpi, as two of a program's libraries may load them: the program makes a handle by the first, and passes it to
   the second. It starts itself again with libtreefold before all others. */
#define _GNU_SOURCE

#include "../../../c/tests/c/check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <treefold_mpi.h>
#include <unistd.h>

static const char NAME[] = "libtreefold.so", AGAIN[] = "COPIES_AGAIN";

/* The folder of the library with a function. */
static char *folder_of(const char *function)
{
    static char path[4096];
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, function);
    if (address == NULL || dladdr(address, &info) == 0 || strstr(info.dli_fname, "libtreefold") == NULL)
        return NULL;
    snprintf(path, sizeof path, "%s", info.dli_fname);
    *strrchr(path, '/') = 0;
    return path;
}

static void checks(void)
{
    treefold_comm *comm = NULL;
    treefold_builder *builder = NULL;
    treefold_plan *plan = NULL;
    treefold_keyed *keyed = NULL;
    int32_t key = 0;
    double x = 1;
    OK(treefold_comm_duplicate(MPI_COMM_WORLD, &comm));
    OK(treefold_builder_create_by_key(comm, TREEFOLD_F64, TREEFOLD_EXACT_SUM, 1, &builder));
    OK(treefold_plan_build(builder, &plan));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 1, &keyed));
    OK(treefold_keyed_add(keyed, TREEFOLD_I32, &key, 1, &x, 1));
    EXPECT(TREEFOLD_ARGUMENT, "it is no handle of this kind here, but may be one of ", treefold_allreduce_keyed(plan, keyed));
    CHECK(strstr(treefold_last_error(), NAME) != NULL);
    /* The errors of each are told, the last one first. */
    EXPECT(TREEFOLD_NULL, "`keyed` is NULL", treefold_keyed_add(NULL, TREEFOLD_I32, &key, 1, &x, 1));
    EXPECT(TREEFOLD_NULL, "`builder` is NULL", treefold_plan_build(NULL, &plan));
    OK(treefold_keyed_destroy(&keyed));
    OK(treefold_plan_destroy(&plan));
    OK(treefold_builder_destroy(&builder));
    OK(treefold_comm_destroy(&comm));
}

int main(int argc, char **argv)
{
    char *folder = folder_of("treefold_mpi_library");
    if (folder == NULL) {
        printf("skipped: copies: the library is a part of this program\n");
        return 0;
    }
    if (getenv(AGAIN) == NULL) {
        /* A path may have a space, which ends a name in LD_PRELOAD. */
        setenv(AGAIN, "1", 1);
        setenv("LD_LIBRARY_PATH", folder, 1);
        setenv("LD_PRELOAD", NAME, 1);
        execvp(argv[0], argv);
        return 1;
    }
    MPI_Init(&argc, &argv);
    checks();
    MPI_Finalize();
    return failures != 0;
}
