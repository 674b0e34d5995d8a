/* A child made by fork has none of its parent's threads: the pool of treefold_par_... is built anew in it. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 300000 };

static double x[MANY];
static struct {
    double sum, dot, square, absolute, row[2], exact, norm;
} expected;

static int add(void *context, const void *left, const void *right, void *out)
{
    (void)context;
    *(double *)out = *(const double *)left + *(const double *)right;
    return 0;
}

/* Every kind of reduction by the pool. */
static void reduce(void)
{
    double result, absolute, row[2];
    const void *field[1] = {x};
    OK(treefold_par_sum_f64(x, MANY, &result));
    CHECK(bits(result) == bits(expected.sum));
    OK(treefold_par_dot_f64(x, MANY, x, MANY, &result));
    CHECK(bits(result) == bits(expected.dot));
    OK(treefold_par_squared_norm_f64(x, MANY, &result));
    CHECK(bits(result) == bits(expected.square));
    OK(treefold_par_sum_and_absolute_sum_f64(x, MANY, &result, &absolute));
    CHECK(bits(absolute) == bits(expected.absolute));
    OK(treefold_par_fold(TREEFOLD_F64, TREEFOLD_SUM, x, MANY, &result));
    CHECK(bits(result) == bits(expected.sum));
    OK(treefold_par_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, x, MANY, 2, row, 2));
    CHECK(bits(row[0]) == bits(expected.row[0]) && bits(row[1]) == bits(expected.row[1]));
    OK(treefold_par_fields(TREEFOLD_F64, TREEFOLD_SUM, field, 1, MANY, &result));
    CHECK(bits(result) == bits(expected.sum));
    OK(treefold_par_fold_user(x, MANY, sizeof *x, add, NULL, NULL, &result));
    CHECK(bits(result) == bits(expected.sum));
    OK(treefold_par_exact_sum_f64(x, MANY, &result));
    CHECK(bits(result) == bits(expected.exact));
    OK(treefold_par_exact_norm_f64(x, MANY, &result));
    CHECK(bits(result) == bits(expected.norm));
}

/* Reduces in a child, and in a child of that. */
static void in_children(int generations)
{
    int told[2];
    CHECK(pipe(told) == 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        /* Ends a child that waits for ever. */
        alarm(60);
        reduce();
        if (generations > 1)
            in_children(generations - 1);
        /* It ends so that nobody looks for lost memory: that of the parent's threads, which are not here, is. */
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
    double sum;
    for (size_t i = 0; i < MANY; i++)
        x[i] = number(i);
    OK(treefold_sum_f64(x, MANY, &expected.sum));
    CHECK(bits(expected.sum) == bits(tree_sum(x, MANY)));
    OK(treefold_dot_f64(x, MANY, x, MANY, &expected.dot));
    OK(treefold_squared_norm_f64(x, MANY, &expected.square));
    OK(treefold_sum_and_absolute_sum_f64(x, MANY, &sum, &expected.absolute));
    OK(treefold_fold_rows(TREEFOLD_F64, TREEFOLD_SUM, x, MANY, 2, expected.row, 2));
    OK(treefold_exact_sum_f64(x, MANY, &expected.exact));
    OK(treefold_exact_norm_f64(x, MANY, &expected.norm));
    /* Before this process has a pool, with one, and with one of its own that its children do not disturb. */
    in_children(1);
    reduce();
    in_children(2);
    reduce();
    return failures != 0;
}
