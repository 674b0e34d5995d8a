/* Tests that a child made by fork, which has none of its parent's threads, starts its own pool of threads. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 300000 };

static double x[MANY];
static uint8_t keys_of_x[MANY];
/* The result of each kind of reduction by the calling thread alone. Reductions of rows, and with an absolute sum, have two results. */
enum { KINDS = 12 };
static double expected[KINDS][2];

static int add(void *context, const void *left, const void *right, void *out)
{
    (void)context;
    *(double *)out = *(const double *)left + *(const double *)right;
    return 0;
}

static treefold_status reduce(int kind, double *result)
{
    const void *field[1] = {x};
    switch (kind) {
    case 0: return treefold_sum_f64(x, MANY, result);
    case 1: return treefold_dot_f64(x, MANY, x, MANY, result);
    case 2: return treefold_dot(TREEFOLD_F64, x, MANY, x, MANY, result);
    case 3: return treefold_sum_and_absolute_sum(TREEFOLD_F64, x, MANY, result, result + 1);
    case 4: return treefold_fold(TREEFOLD_F64, TREEFOLD_MAX, x, MANY, result);
    case 5: return treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, x, MANY, 2, result, 2);
    case 6: return treefold_fields(TREEFOLD_F64, TREEFOLD_SUM, field, 1, MANY, result);
    case 7: return treefold_fold_user(x, MANY, sizeof *x, add, NULL, NULL, result);
    case 8: return treefold_sum_lanes(TREEFOLD_F64, x, MANY, 16, result);
    case 9: return treefold_exact_sum_f64(x, MANY, result);
    case 10: return treefold_exact(TREEFOLD_F64, TREEFOLD_EXACT_NORM, 0, x, MANY, NULL, 0, result);
    default: return treefold_by_key(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, TREEFOLD_U8, keys_of_x, MANY, x, MANY, NULL, 0, result, 2);
    }
}

static void by_pool(void)
{
    OK(treefold_threads(4));
    for (int kind = 0; kind < KINDS; kind++) {
        double result[2] = {0, 0};
        OK(reduce(kind, result));
        CHECK(memcmp(result, expected[kind], sizeof result) == 0);
    }
}

/* Reduces in a child, and in a child of that child. */
static void in_children(int generations)
{
    int told[2];
    CHECK(pipe(told) == 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        /* The alarm ends a child that waits forever. */
        alarm(60);
        by_pool();
        if (generations > 1)
            in_children(generations - 1);
        /* SIGKILL prevents a leak check at exit, which would report the memory of the parent's threads. These threads
           do not exist here. */
        if (write(told[1], &failures, sizeof failures) == (ssize_t)sizeof failures)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    close(told[1]);
    int in_child = -1, status = 0;
    CHECK(read(told[0], &in_child, sizeof in_child) == (ssize_t)sizeof in_child);
    CHECK(in_child == failures);
    close(told[0]);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int main(void)
{
    for (size_t i = 0; i < MANY; i++)
        x[i] = number(i), keys_of_x[i] = i % 3 == 0;
    for (int kind = 0; kind < KINDS; kind++)
        OK(reduce(kind, expected[kind]));
    CHECK(bits(expected[0][0]) == bits(tree_sum(x, MANY)));
    /* Forks before this process has a pool, and again when it has one. The last call checks that the children have not changed the pool. */
    in_children(1);
    by_pool();
    in_children(2);
    by_pool();
    return failures != 0;
}
