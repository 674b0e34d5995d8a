/* Checks the JSON report: it lists every form of every reduction, as replaced or as passed on, with the number of calls. */
#include "calls.h"

#include <fenv.h>
#include <unistd.h>

/* The number of calls of each entry in each form, on each rank. */
enum { CALLS = 3 };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    char *text = calloc(1 << 20, 1);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return length > 0 ? text : NULL;
}

/* The value of a name in a JSON object that ends at a given address; NULL if the object lacks the name. */
static const char *value_of(const char *object, const char *end, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(object, quoted);
    if (at == NULL || at > end)
        return NULL;
    at += strlen(quoted);
    return at + strspn(at, " \"");
}

/* The sum of a name's values, which are numbers, over all objects of the report. */
static long sum_of(const char *report, const char *name)
{
    char quoted[64];
    long sum = 0;
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    for (const char *at = strstr(report, quoted); at != NULL; at = strstr(at + 1, quoted))
        sum += strtol(at + strlen(quoted), NULL, 10);
    return sum;
}

/* The number of a function's calls that the report lists as passed on for the reason `why` or, if `why` is NULL, as replaced. */
static long calls_of(const char *report, const char *function, const char *why)
{
    char start[64];
    long calls = 0;
    snprintf(start, sizeof start, "\"call\": \"MPI_%s\"", function);
    for (const char *at = strstr(report, start); at != NULL; at = strstr(at + 1, start)) {
        const char *end = strchr(at, '}'), *reason = value_of(at, end, "why"), *count = value_of(at, end, "calls");
        bool is_it = why == NULL ? reason == NULL : reason != NULL && strncmp(reason, why, strlen(why)) == 0;
        CHECK(count != NULL);
        if (is_it && count != NULL)
            calls += strtol(count, NULL, 10);
    }
    return calls;
}

static void call_all(void)
{
    double x[64] = {0}, y[64];
    int counts[64], number = 1, sum;
    for (int r = 0; r < 64; r++)
        counts[r] = 1;
#ifdef __GLIBC__
    /* No result depends on traps. */
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
#endif
    for (enum entry entry = 0; entry < ENTRIES; entry++)
        for (enum form form = 0; form < FORMS; form++)
            for (int i = 0; i < CALLS && has_form(form); i++) {
                struct call c = {entry, x, y, 1, counts, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD};
                DOING("%s %s", form_names[form], entry_names[entry]);
                OK(call(&c, form));
            }
#ifdef __GLIBC__
    fedisableexcept(FE_ALL_EXCEPT);
#endif
    DOING("others");
    OK(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(x, y, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    /* This reduction exceeds treefold's limit for gathering. */
    size_t count = (64 << 20) / sizeof *x / (size_t)size + 1;
    double *from = calloc(count, sizeof *from), *to = calloc(count, sizeof *to);
    MPI_Request request;
    CHECK(from != NULL && to != NULL);
    OK(MPI_Iallreduce(from, to, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(from);
    free(to);
    OK(MPI_Reduce_local(x, y, 1, MPI_DOUBLE, MPI_SUM));
    MPI_Win window;
    double *shared;
    OK(MPI_Win_allocate(sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window));
    OK(MPI_Win_fence(0, window));
    OK(MPI_Accumulate(x, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, MPI_SUM, window));
    OK(MPI_Win_fence(0, window));
    OK(MPI_Win_free(&window));
}

static void check_report(const char *report, bool is_check)
{
    bool is_taken = size > 1;
    const char *why = "one rank";
    for (enum entry entry = 0; entry < ENTRIES; entry++) {
        char name[64];
        long blocking = (has_form(LARGE) ? 2 : 1) * CALLS * size, other = CALLS * size;
        DOING("the report of %s", entry_names[entry]);
        CHECK(calls_of(report, entry_names[entry], size == 1 ? "one rank" : NULL) == blocking);
        snprintf(name, sizeof name, "I%s", entry_names[entry]);
        name[1] |= 0x20;
        CHECK(calls_of(report, name, NULL) == (is_taken ? other : 0) && calls_of(report, name, why) == (is_taken ? 0 : other + (entry == ALLREDUCE)));
        snprintf(name, sizeof name, "%s_init", entry_names[entry]);
        other = has_form(PERSISTENT) ? other : 0;
        CHECK(calls_of(report, name, NULL) == (is_taken ? other : 0) && calls_of(report, name, why) == (is_taken ? 0 : other));
    }
    DOING("the report of others");
    CHECK(calls_of(report, "Allreduce", "another datatype, of 4 bytes\"") == size);
    CHECK(strstr(report, "\"type\": \"MPI_INT\"") != NULL);
    CHECK(calls_of(report, "Allreduce", "TREEFOLD_PMPI_OPS") == size);
    CHECK(size == 1 || calls_of(report, "Iallreduce", "all ranks' contributions have more than 64 MiB") == size);
    CHECK(calls_of(report, "Reduce_local", "local") == size);
    CHECK(calls_of(report, "Accumulate", "into a window") == size);
    DOING("the verdict");
    CHECK(!is_check || strstr(report, "\"verdict\": \"could not tell: ") != NULL);
    CHECK(sum_of(report, "other_environment") == 0);
    const char *ranks = value_of(report, report + strlen(report), "ranks"),
               *counted = value_of(report, report + strlen(report), "ranks_counted");
    CHECK(ranks != NULL && atoi(ranks) == size && counted != NULL && atoi(counted) == size);
}

int main(int argc, char **argv)
{
    const char *mode = getenv("TREEFOLD_PMPI");
    bool reports = is_interposed() && (mode == NULL || strcmp(mode, "off") != 0);
    char path[128];
    /* All ranks have the same parent process, the launcher, so they use the same path. */
    snprintf(path, sizeof path, "/tmp/treefold-report-%ld.json", (long)getppid());
    setenv("TREEFOLD_PMPI_STATS", path, 1);
    begin(&argc, &argv);
    call_all();
    int status = end("report");
    char *report = rank == 0 ? read_file(path) : NULL;
    if (rank == 0) {
        DOING("the report");
        CHECK((report != NULL) == reports);
        if (report != NULL)
            check_report(report, mode != NULL && strcmp(mode, "check") == 0);
        remove(path);
    }
    free(report);
    return status != 0 || failures != 0;
}
