// Walks the exact plans of treefold_mpi.hpp on any number of ranks, with right and wrong arguments, and compares bits with the exact
// functions of treefold.hpp.

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

// The items, or rows of so many, that a rank has in a step: other ones in each, and in step 0 all of them are the last rank's.
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

// A statistic of all columns, by every algorithm, on items that the ranks have in different ways.
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
    auto builder = plan_builder<T>(world, of).width(width).root(last_rank());
    for (const auto name : treefold::algorithm_names()) {
        auto by_name = builder;
        const auto plan = treefold::try_([&] { return by_name.algorithm(name).build(); });
        CHECK(plan.code() == code::ok || plan.code() == code::unsupported);
        if (plan.code() != code::ok)
            continue;
        const auto local = dealt(x, 1, rank, width), other = dealt(y, 1, rank, width);
        if constexpr (treefold::of_pairs<S>)
            CHECK(same_bits(by_name.build().allreduce_row(local, other), right));
        else
            CHECK(same_bits(by_name.build().allreduce_row(local), right));
    }
    const auto plan = builder.agreed().build();
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
            // The items of the ranks below come first.
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
            CHECK(thrown([&] { plan.broadcast(row); }) == code::unsupported); // It is not spent.
        }
    }
    const std::span<const T> nothing;
    if constexpr (treefold::of_pairs<S>)
        CHECK(same_bits(plan.allreduce_row(nothing, nothing), std::vector<T>(width)));
    else
        CHECK(same_bits(plan.allreduce_row(nothing), std::vector<T>(width)));
}

// ---- Mistakes

// What rank 0 does wrong, of which the others hear.
template <class T, class Right, class Wrong>
void expect_mistake(const treefold::comm &world, const plan_builder<T> &builder, code expected, const Right &right, const Wrong &wrong)
{
    const auto plan = builder.build();
    CHECK(thrown([&] { rank == 0 ? wrong(plan) : right(plan); }) == heard(expected));
    CHECK(thrown([&] { right(plan); }) == code::spent);
    go_on(world);
}

void mistakes(const treefold::comm &world)
{
    using plan = treefold::plan<double>;
    const std::array<double, 4> x{1, 2, 3, 4};
    const auto two = std::span(x).first(2), three = std::span(x).first(3);
    const std::span<const double> nothing;
    std::array<double, 3> row{};

    const auto of_rows = plan_builder<double>(world, statistic::sum).width(2);
    const auto right_row = [&](const plan &of) { static_cast<void>(of.allreduce_row(two)); };
    expect_mistake(world, of_rows, code::length, right_row, [&](const plan &of) { static_cast<void>(of.allreduce_row(three)); });
    expect_mistake(world, of_rows, code::length, right_row, [&](const plan &of) { of.run_into(operation::allreduce, two, row); });
    expect_mistake(world, of_rows, code::length, right_row, [&](const plan &of) { static_cast<void>(of.allreduce(two)); });
    expect_mistake(world, of_rows, code::argument, right_row, [&](const plan &of) { static_cast<void>(of.allreduce_row(two, two)); });
    const std::array keys{0, 1};
    expect_mistake(world, of_rows, code::argument, right_row, [&](const plan &of) { static_cast<void>(of.allreduce(keys, two)); });
    expect_mistake(world, of_rows, code::argument, right_row, [&](const plan &of) { of.run_into(operation::broadcast, two, row); });

    const auto pairs = plan_builder<double>(world, statistic::dot);
    const auto right_pair = [&](const plan &of) { static_cast<void>(of.allreduce(x, x)); };
    expect_mistake(world, pairs, code::length, right_pair, [&](const plan &of) { static_cast<void>(of.allreduce(x, two)); });
    expect_mistake(world, pairs, code::length, right_pair, [&](const plan &of) { static_cast<void>(of.allreduce(nothing, two)); });
    expect_mistake(world, pairs, code::argument, right_pair, [&](const plan &of) { static_cast<void>(of.allreduce(x)); });
    expect_mistake(world, pairs, code::argument, right_pair, [&](const plan &of) { of.run_into(operation::scan, x, x, row); });
    const std::vector<treefold::factors<double>> torn{{x, two}};
    expect_mistake(world, pairs, code::length, right_pair, [&](const plan &of) { static_cast<void>(of.allreduce(torn)); });

    // In split phase, the start says so, and leaves no run.
    const auto split = pairs.build();
    const auto started = treefold::try_([&] { return split.start_allreduce(x, rank == 0 ? two : std::span(x)); });
    CHECK(started.code() == (rank == 0 ? code::length : code::ok) && split.is_pending() == (rank != 0));
    if (rank != 0)
        CHECK(thrown([&] { return split.allreduce(x, x); }) == code::under_way);
    go_on(world);

    // After a wait that was given a result of the wrong length, the plan runs again.
    const auto patient = plan_builder<double>(world, statistic::dot).width(2).build();
    auto row_run = patient.start_allreduce_row(two, two);
    CHECK(thrown([&] { row_run.wait_into(row); }) == code::length);
    CHECK(patient.allreduce_row(two, two) == (std::vector{1.0 * ranks, 4.0 * ranks}));

    // What cannot be, and what ranks do not agree on.
    const auto copy_of = [](auto builder) { return builder; };
    CHECK(thrown([&] { return plan().allreduce(x, x); }) == code::null);
    CHECK(thrown([&] { return plan().start_allreduce(x, x); }) == code::null);
    CHECK(built(copy_of(pairs).algorithm("no such name")) == code::argument && built(copy_of(pairs).root(ranks)) == code::argument);
    CHECK(built(copy_of(of_rows).width(0)) == code::argument && built(copy_of(of_rows).local_items(1)) == code::argument);
    const auto differs = ranks == 1 ? code::ok : code::disagree;
    CHECK(built(rank == 0 ? pairs : plan_builder<double>(world, statistic::norm)) == differs);
    CHECK(built(rank == 0 ? pairs : plan_builder<double>(world).local_items(1)) == differs);
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
