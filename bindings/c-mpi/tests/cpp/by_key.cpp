// Runs the plans by key of treefold_mpi.hpp on any number of ranks, with valid and with invalid arguments. The bits of the results must be
// those that one process computes from all items.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "../../../c/tests/cpp/statistics.hpp"
#include "ranks.hpp"

namespace {

using treefold::keyed;
using treefold::plan_builder;
using treefold::statistic_of;
namespace statistic = treefold::statistic;

// Returns the items that this rank has in a step. In step 0, the last rank has all items.
template <class T> items<T> own(const items<T> &all, int step)
{
    items<T> result;
    for (std::size_t i = 0; i < all.x.size(); ++i) {
        const int owner = step == 0 ? last_rank() : static_cast<int>((i * 7919 + static_cast<std::size_t>(step)) % 11) % ranks;
        if (owner == rank)
            result.push(all.x[i], all.y[i], all.keys[i]);
    }
    return result;
}

// Checks plans for sums and means that take items with their keys.
template <class T> void walk_items(const treefold::comm &world)
{
    items<T> all = draw<T>(600);
    all.x = some_items<T>(0, 600);
    const auto walk = [&]<treefold_statistic S>(statistic_of<S> of) {
        const auto right = treefold::by_key(of, all.keys, all.x, groups);
        const auto plan = plan_builder<T>(world, of, groups).root(last_rank()).algorithm("recursive-doubling").build();
        for (int step = 0; step < 3; ++step) {
            const auto mine = own(all, step);
            // Keys may be integers of any type.
            const std::vector<std::uint8_t> keys(mine.keys.begin(), mine.keys.end());
            walk_reductions(plan, right, last_rank(), keys, mine.x);
            walk_scattered(plan, right, mine.keys, mine.x);
        }
    };
    walk(statistic::sum);
    walk(statistic::mean);
}

// Checks, for a statistic, that a run replaces the state of this rank's items with the state of all ranks' items.
template <class T, treefold_statistic S> void walk_states(const treefold::comm &world, statistic_of<S> of)
{
    const auto all = draw<T>(300);
    const auto mine = own(all, 1);
    const auto plan = plan_builder<T>(world, of, groups).root(last_rank()).build();
    keyed<T> state(of, groups), of_all(of, groups);
    with_keys<S>(mine, [&](const auto &...in) { state.add(in...); });
    with_keys<S>(all, [&](const auto &...in) { of_all.add(in...); });
    const auto right = of_all.values(of, {.ddof = 1});
    auto reduced = state.clone(), scattered = state.clone();
    CHECK(plan.run_on(operation::allreduce, state) && state == of_all && same_bits(state.values(of, {.ddof = 1}), right));
    const auto kept = reduced.clone();
    const bool is_mine = plan.run_on(operation::reduce, reduced);
    CHECK(is_mine == (rank == last_rank()) && reduced == (is_mine ? of_all : kept));
    const auto own_values = part(right, plan.scattered_columns());
    CHECK(plan.run_on(operation::reduce_scatter, scattered) && scattered.groups() == own_values.size());
    CHECK(same_bits(scattered.values(of, {.ddof = 1}), own_values));
    // A run fails on a state with another number of keys, and on a state that holds other sums.
    const auto again = plan_builder<T>(world, of, groups).build();
    keyed<T> few(of, groups - 1);
    CHECK(thrown([&] { again.run_on(operation::allreduce, few); }) != code::ok);
    const auto other = plan_builder<T>(world, of, groups).build();
    keyed<T> another(statistic::min, groups);
    const bool is_same = S == TREEFOLD_EXACT_MIN || S == TREEFOLD_EXACT_MAX;
    CHECK(thrown([&] { other.run_on(operation::allreduce, another); }) == (is_same ? code::ok : code::argument));
}

// Checks waits that write their results to states.
template <class T> void waits_into_states(const treefold::comm &world)
{
    const auto all = draw<T>(300);
    const auto mine = own(all, 1);
    const auto sums = plan_builder<T>(world, statistic::sum, groups).root(last_rank()).build();
    const auto right = treefold::by_key(statistic::sum, all.keys, all.x, groups);
    keyed<T> state(statistic::sum, groups), moments(statistic::variance, 2), of_all(statistic::mean, groups);
    CHECK(sums.start_allreduce(mine.keys, mine.x).wait_into(state) && same_bits(state.values(statistic::sum), right));
    CHECK(sums.start_reduce(mine.keys, mine.x).wait_into(state) == (rank == last_rank()));
    CHECK(sums.start_reduce_scatter(mine.keys, mine.x).wait_into(state));
    CHECK(same_bits(state.values(statistic::sum), part(right, sums.scattered_columns())));
    of_all.add(all.keys, all.x);
    const auto means = plan_builder<T>(world, statistic::mean, groups).build();
    CHECK(means.start_allreduce(mine.keys, mine.x).wait_into(moments) && moments == of_all);
    CHECK(thrown([&] { means.start_allreduce(mine.keys, mine.x).wait_into(state); }) == code::argument);
    CHECK(moments == of_all);
}

template <class K, class T> void any_keys(const treefold::comm &world)
{
    const auto all = draw<T>(400);
    const treefold::hashed_plan<K, T> plan(world, last_rank());
    const auto spread = [](int key) { return static_cast<K>((static_cast<unsigned>(key) + 1u) * 0xD1B54A32D192ED03u); };
    const auto sums = treefold::by_key(statistic::sum, all.keys, all.x, groups);
    std::map<K, T> expected;
    for (const auto key : all.keys)
        expected[spread(key)] = sums[static_cast<std::size_t>(key)];
    const std::vector<std::pair<K, T>> pairs(expected.begin(), expected.end());
    for (int step = 0; step < 3; ++step) {
        const auto mine = own(all, step);
        std::vector<K> keys;
        for (const auto key : mine.keys)
            keys.push_back(spread(key));
        CHECK(plan.allreduce(keys, mine.x) == pairs);
        CHECK(plan.reduce(keys, mine.x) == (rank == last_rank() ? pairs : std::vector<std::pair<K, T>>()));
        int count = 0;
        for (const auto &[key, sum] : plan.reduce_scatter(keys, mine.x)) {
            CHECK(expected.at(key) == sum);
            ++count;
        }
        int all_counts = 0;
        MPI_Allreduce(&count, &all_counts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(static_cast<std::size_t>(all_counts) == pairs.size());
    }
}

// If one rank makes a mistake, that rank gets its own error, and the other ranks get an error too.
void mistakes(const treefold::comm &world)
{
    const std::vector<int> good{0, 1}, bad{0, 2}, few{0};
    const std::vector<double> x{1, 2}, one{1};
    const auto &mine = rank == last_rank() ? bad : good;
    const auto of_last = [](code own) { return heard(own, last_rank()); };
    const plan_builder<double> builder(world, statistic::sum, 2);
    const char *words = rank == last_rank() ? "item 1 has key 2; keys must be 0 to 1" : "";
    const auto plan = builder.build();
    CHECK(thrown(words, [&] { return plan.allreduce(mine, x); }) == of_last(code::argument));
    CHECK(thrown([&] { return plan.allreduce(good, x); }) == code::spent);
    go_on(world);
    CHECK(thrown([&] { return builder.build().start_allreduce(mine, x).wait(); }) == of_last(code::argument));
    go_on(world);
    CHECK(thrown([&] { return builder.build().allreduce(rank == last_rank() ? few : good, x); }) == of_last(code::length));
    go_on(world);
    CHECK(thrown("by key", [&] { return builder.build().allreduce(x); }) == code::argument);
    go_on(world);
    CHECK(thrown([&] { return treefold::plan<double>().allreduce(good, x); }) == code::null);
    CHECK(built(plan_builder<double>(world, statistic::sum, 0)) == code::argument);
    CHECK(built(plan_builder<double>(world, statistic::sum, 3).width(2)) == code::argument);
    const treefold::hashed_plan<std::int64_t, double> hashed(world);
    const std::vector<std::int64_t> key{7};
    CHECK(thrown([&] { return hashed.allreduce(key, rank == last_rank() ? x : one); }) == of_last(code::length));
    for (const int root : {ranks, -1})
        CHECK(thrown([&] { return treefold::hashed_plan<std::uint64_t, float>(world, root); }) == code::argument);
    const treefold::hashed_plan<std::uint64_t, float> empty;
    CHECK(empty.handle() == nullptr && thrown([&] { return empty.allreduce({}, {}); }) == code::null);
}

} // namespace

int main(int argc, char **argv)
{
    return on_ranks(argc, argv, "plans by key of treefold_mpi.hpp", [](const treefold::comm &world) {
        for_types<float, double>([&]<class T>() {
            walk_items<T>(world);
            for_statistics([&](auto of) { walk_states<T>(world, of); });
            waits_into_states<T>(world);
        });
        any_keys<std::int64_t, double>(world);
        any_keys<std::uint64_t, float>(world);
        mistakes(world);
    });
}
