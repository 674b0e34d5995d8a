// Functions that the tests on ranks share. They start and end a test, and check every call that a plan offers.

#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <treefold_mpi.hpp>

#include "../../../c/tests/cpp/check.hpp"

using treefold::code;
using treefold::operation;

inline int rank = 0, ranks = 1;

inline int last_rank()
{
    return ranks - 1;
}

// Runs tests on the ranks of MPI_COMM_WORLD. Returns main's exit status: 1 if a check has failed on any rank.
template <class Tests> int on_ranks(int argc, char **argv, const char *title, const Tests &tests)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    where = "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + ": ";
    tests(treefold::comm(MPI_COMM_WORLD));
    int all_failures = 0;
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        std::printf("%s, %d ranks: %d checks failed\n", title, ranks, all_failures);
    return all_failures == 0 ? 0 : 1;
}

inline treefold::plan<double> sum_plan(const treefold::comm &world, std::uint64_t count)
{
    return treefold::plan_builder<double>(world).local_items(count).build();
}

// Runs a plan, to check that all ranks can continue.
inline void go_on(const treefold::comm &world)
{
    CHECK(sum_plan(world, 1).allreduce(std::array{1.0}) == ranks);
}

// Builds a plan. Returns the code of the error if the build fails, else ok.
template <class T> code built(const treefold::plan_builder<T> &builder)
{
    return treefold::try_([&] { return builder.build(); }).code();
}

// The code of the error that this rank gets if rank `of` fails with error `own`.
inline code heard(code own, int of = 0)
{
    return rank == of ? own : code::rank_failed;
}

// Returns the columns of `row` that `of` selects.
template <class T> std::vector<T> part(const std::vector<T> &row, treefold::columns of)
{
    return {row.begin() + static_cast<std::ptrdiff_t>(of.begin), row.begin() + static_cast<std::ptrdiff_t>(of.end)};
}

// Checks all calls that reduce the input `in`. The expected result is `right`.
template <class T, class... In> void walk_reductions(const treefold::plan<T> &plan, const std::vector<T> &right, int root, const In &...in)
{
    const bool is_root = rank == root;
    const std::size_t width = right.size();
    std::vector<T> result(width), other(width);
    std::span<T> at_root = is_root ? std::span<T>(result) : std::span<T>();
    CHECK(plan.width() == width && !plan.is_pending());

    CHECK(same_bits(plan.allreduce_row(in...), right));
    CHECK(plan.run_into(operation::allreduce, in..., result) && same_bits(result, right));
    const auto reduced = plan.reduce_row(in...);
    CHECK(reduced.has_value() == is_root && same_bits(reduced.value_or(right), right));
    CHECK(plan.run_into(operation::reduce, in..., at_root) == is_root);

    // Checks results that a wait returns, and results that a wait writes to a span.
    CHECK(same_bits(plan.start_allreduce_row(in...).wait(), right));
    CHECK(same_bits(plan.start_reduce_row(in...).wait().value_or(right), right));
    auto row_run = plan.start_allreduce_row(in...);
    CHECK(plan.is_pending() && row_run.plan_handle() == plan.handle());
    CHECK(row_run.algorithm() == plan.algorithm(operation::allreduce).value_or("none"));
    while (!row_run.test()) {
    }
    CHECK(row_run.wait_into(other) && same_bits(other, right));
    auto root_run = plan.start_reduce_row(in...);
    CHECK(root_run.wait_into(other) == is_root);
    result.assign(width, T());
    auto placed = plan.start_into(operation::allreduce, in..., result);
    CHECK(placed.wait() && same_bits(result, right));
    placed = plan.start_into(operation::reduce, in..., at_root);
    CHECK(placed.wait() == is_root && same_bits(result, right));

    // Checks the calls that return a single item. For some kinds of input, these calls return a row.
    using whole = decltype(plan.allreduce(in...));
    if constexpr (std::is_same_v<whole, std::vector<T>>) {
        CHECK(same_bits(plan.allreduce(in...), right) && same_bits(plan.start_allreduce(in...).wait(), right));
        CHECK(same_bits(plan.reduce(in...).value_or(right), right) && same_bits(plan.start_reduce(in...).wait().value_or(right), right));
    } else if (width == 1) {
        CHECK(same_bits(plan.allreduce(in...), right[0]) && same_bits(plan.start_allreduce(in...).wait(), right[0]));
        const auto one = plan.reduce(in...), started = plan.start_reduce(in...).wait();
        CHECK(one.has_value() == is_root && started.has_value() == is_root);
        CHECK(same_bits(one.value_or(right[0]), right[0]) && same_bits(started.value_or(right[0]), right[0]));
    }
}

// Checks all calls that reduce the input `in` and scatter the result. The expected result, before it is scattered, is `right`.
template <class T, class... In> void walk_scattered(const treefold::plan<T> &plan, const std::vector<T> &right, const In &...in)
{
    const auto mine = part(right, plan.scattered_columns());
    std::vector<T> result(mine.size());
    CHECK(same_bits(plan.reduce_scatter(in...), mine) && same_bits(plan.start_reduce_scatter(in...).wait(), mine));
    CHECK(plan.run_into(operation::reduce_scatter, in..., result) && same_bits(result, mine));
    CHECK(plan.start_reduce_scatter(in...).wait_into(result) && same_bits(result, mine));
    CHECK(plan.start_into(operation::reduce_scatter, in..., result).wait() && same_bits(result, mine));
}

// Checks all scans of x. The expected results are `inclusive` and `exclusive`.
template <class T>
void walk_scans(const treefold::plan<T> &plan, const std::vector<T> &inclusive, const std::vector<T> &exclusive, const std::vector<T> &x)
{
    std::vector<T> result(x.size());
    CHECK(same_bits(plan.scan(x), inclusive) && same_bits(plan.exscan(x), exclusive));
    plan.run_into(operation::scan, x, result);
    CHECK(same_bits(result, inclusive));
    plan.run_into(operation::exscan, x, result);
    CHECK(same_bits(result, exclusive));
    auto kept = x;
    auto scanning = plan.start_scan(kept);
    kept.assign(x.size(), T()); // The scan must use the items that the start was given.
    CHECK(same_bits(scanning.wait(), inclusive) && same_bits(plan.start_exscan(x).wait(), exclusive));
    plan.start_into(operation::exscan, x, result).wait();
    CHECK(same_bits(result, exclusive));
}
