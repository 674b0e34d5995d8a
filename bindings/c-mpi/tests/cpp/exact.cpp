// Runs the exact plans of treefold_mpi.hpp on any number of ranks, with valid and with invalid arguments. The bits of the results must be
// those of the exact functions of treefold.hpp.

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "ranks.hpp"

namespace {

using treefold::plan_builder;
using treefold::statistic_of;
namespace statistic = treefold::statistic;

// Returns the rows of `width` items that rank `to` has in a step. Each step has its own distribution. In step 0, the last rank has all.
template <class T> std::vector<T> dealt(const std::vector<T> &all, int step, int to, std::size_t width = 1)
{
    std::vector<T> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const int owner = step == 0 ? last_rank() : static_cast<int>((i / width * 7919 + static_cast<std::size_t>(step)) % 11) % ranks;
        if (owner == to)
            result.push_back(all[i]);
    }
    return result;
}

template <class T, treefold_statistic S>
concept can_be_exact = std::constructible_from<plan_builder<T>, const treefold::comm &, statistic_of<S>>;

static_assert(can_be_exact<float, TREEFOLD_EXACT_NORM> && can_be_exact<double, TREEFOLD_EXACT_VDOT>);
static_assert(can_be_exact<std::complex<float>, TREEFOLD_EXACT_SUM> && can_be_exact<std::complex<double>, TREEFOLD_EXACT_DOT>);
static_assert(!can_be_exact<std::complex<double>, TREEFOLD_EXACT_NORM> && !can_be_exact<std::int64_t, TREEFOLD_EXACT_SUM>);
static_assert(!can_be_exact<long double, TREEFOLD_EXACT_SUM> && !can_be_exact<double, TREEFOLD_EXACT_VARIANCE>);

// Checks a statistic of all columns, for several distributions of the items.
template <class T, treefold_statistic S> void walk(const treefold::comm &world, statistic_of<S> of, std::size_t width)
{
    const auto x = some_items<T>(0, 60 * width), y = some_items<T>(500, 500 + 60 * width);
    const auto x_of = columns_of(x, width), y_of = columns_of(y, width);
    std::vector<T> right;
    for (std::size_t c = 0; c < width; ++c) {
        if constexpr (treefold::of_pairs<S>)
            right.push_back(treefold::exact(of, x_of[c], y_of[c]));
        else
            right.push_back(treefold::exact(of, x_of[c]));
    }
    const auto plan = plan_builder<T>(world, of).width(width).root(last_rank()).agreed().build();
    for (int step = 0; step < 3; ++step) {
        const auto local = dealt(x, step, rank, width), other = dealt(y, step, rank, width);
        if constexpr (treefold::of_pairs<S>) {
            walk_reductions(plan, right, last_rank(), local, other);
            if constexpr (treefold::floating<T>) {
                std::vector<treefold::factors<T>> pairs;
                const auto own_x = columns_of(local, width), own_y = columns_of(other, width);
                for (std::size_t c = 0; c < width; ++c)
                    pairs.emplace_back(own_x[c], own_y[c]);
                walk_reductions(plan, right, last_rank(), pairs);
            }
        } else {
            walk_reductions(plan, right, last_rank(), local);
            walk_scattered(plan, right, local);
            // The items of the lower ranks come first.
            std::vector<T> before, inclusive, exclusive;
            for (int below = 0; below < rank; ++below) {
                const auto theirs = dealt(x, step, below, width);
                before.insert(before.end(), theirs.begin(), theirs.end());
            }
            const auto of_column = [&](std::size_t c) { return treefold::exact(of, columns_of(before, width)[c]); };
            for (std::size_t i = 0; i < local.size(); ++i) {
                exclusive.push_back(of_column(i % width));
                before.push_back(local[i]);
                inclusive.push_back(of_column(i % width));
            }
            walk_scans(plan, inclusive, exclusive, local);
            std::vector<T> row(width);
            CHECK(thrown([&] { plan.broadcast(row); }) == code::unsupported); // The plan is not spent.
        }
    }
}

// ---- Mistakes

// Makes calls that a plan does not offer, on every rank. (mpi.cpp tests mistakes that only one rank makes.)
void mistakes(const treefold::comm &world)
{
    const std::array<double, 4> x{1, 2, 3, 4};
    const auto two = std::span(x).first(2);
    const std::array keys{0, 1};
    const plan_builder<double> rows = plan_builder<double>(world, statistic::sum).width(2), pairs(world, statistic::dot);
    CHECK(thrown([&] { return rows.build().allreduce(two); }) == code::length);
    CHECK(thrown([&] { return rows.build().allreduce_row(two, two); }) == code::argument);
    CHECK(thrown([&] { return rows.build().allreduce(keys, two); }) == code::argument);
    CHECK(thrown([&] { return pairs.build().allreduce(x); }) == code::argument);
    go_on(world);

    // If a start fails, the plan has no pending run.
    const auto split = pairs.build();
    const auto started = treefold::try_([&] { return split.start_allreduce(x, rank == 0 ? two : std::span(x)); });
    CHECK(started.code() == (rank == 0 ? code::length : code::ok) && split.is_pending() == (rank != 0));
    if (rank != 0)
        CHECK(thrown([&] { return split.allreduce(x, x); }) == code::under_way);
    go_on(world);

    // Passes invalid settings, and settings that differ between ranks.
    CHECK(thrown([&] { return treefold::plan<double>().start_allreduce(x, x); }) == code::null);
    CHECK(built(plan_builder<double>(pairs).local_items(1)) == code::argument);
    CHECK(built(rank == 0 ? pairs : plan_builder<double>(world, statistic::norm)) == (ranks == 1 ? code::ok : code::disagree));
    go_on(world);
}

} // namespace

int main(int argc, char **argv)
{
    return on_ranks(argc, argv, "exact plans of treefold_mpi.hpp", [](const treefold::comm &world) {
        for_statistics([&]<treefold_statistic S>(statistic_of<S> of) {
            for_types<float, double, std::complex<float>, std::complex<double>>([&]<class T>() {
                if constexpr (treefold::has_exact_plan<T, S>) {
                    walk<T>(world, of, 1);
                    walk<T>(world, of, 3);
                }
            });
        });
        mistakes(world);
    });
}
