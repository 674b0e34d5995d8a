// Walks the plans of treefold_mpi_keyed.hpp on any number of ranks, with right and wrong arguments, and compares bits with the sums of
// integers of 128 bits.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <treefold_mpi.hpp>

namespace {

using treefold::call;
using treefold::code;
using treefold::operation;

int failures = 0;
int rank = 0;
int ranks = 1;

#define CHECK(condition) check((condition), #condition, __LINE__)

void check(bool is_true, const char *condition, int line)
{
    if (is_true)
        return;
    std::printf("%s:%d: rank %d of %d: not so: %s\n", __FILE__, line, rank, ranks, condition);
    std::fflush(stdout);
    ++failures;
}

template <class T> bool same_bits(const std::vector<T> &one, const std::vector<T> &other)
{
    return one.size() == other.size() && (one.empty() || std::memcmp(one.data(), other.data(), sizeof(T) * one.size()) == 0);
}

int last_rank()
{
    return ranks - 1;
}

__extension__ using wide = __int128;

constexpr std::size_t groups = 19;

// Items with their keys, and the sums: integers of 24 bits at up to 60 places more.
template <class T> struct lot {
    std::vector<std::uint16_t> keys;
    std::vector<T> x;
};

template <class T> std::pair<lot<T>, std::vector<T>> items(std::size_t count)
{
    lot<T> all;
    std::array<wide, groups> exact{};
    for (std::size_t i = 0; i < count; ++i) {
        const auto mixed = (i + 1) * 0x9E3779B97F4A7C15u;
        const auto integer = static_cast<std::int32_t>(mixed >> 40) - (1 << 23);
        const wide item = static_cast<wide>(integer) * (static_cast<wide>(1) << (mixed >> 8) % 61);
        const auto key = static_cast<std::uint16_t>((mixed >> 16) % (groups - 1));
        all.keys.push_back(key);
        all.x.push_back(static_cast<T>(item));
        exact[key] += item;
    }
    std::vector<T> sums;
    for (const wide sum : exact)
        sums.push_back(static_cast<T>(sum));
    return {all, sums};
}

// What a rank has in a step: in step 0 all is the last rank's.
template <class T> lot<T> own(const lot<T> &all, int step)
{
    lot<T> result;
    for (std::size_t i = 0; i < all.x.size(); ++i) {
        const int owner = step == 0 ? last_rank() : static_cast<int>((i * 7919 + static_cast<std::size_t>(step)) % 11) % ranks;
        if (owner == rank) {
            result.keys.push_back(all.keys[i]);
            result.x.push_back(all.x[i]);
        }
    }
    return result;
}

template <class T> std::vector<T> part(const std::vector<T> &all, treefold::columns of)
{
    return {all.begin() + static_cast<std::ptrdiff_t>(of.begin), all.begin() + static_cast<std::ptrdiff_t>(of.end)};
}

// Every operation of a plan, each way to call it.
template <class T> void check_plan(const treefold::keyed_plan<T> &plan, const lot<T> &mine, const std::vector<T> &sums)
{
    const auto &[keys, x] = mine;
    const bool is_root = rank == last_rank();
    std::vector<T> result(groups);
    bool is_mine = !is_root;
    CHECK(plan.groups() == groups);
    CHECK(same_bits(plan.allreduce(keys, x), sums));
    CHECK(plan.try_allreduce_into(keys, x, result) == code::ok && same_bits(result, sums));
    const auto at_root = plan.reduce(keys, x);
    CHECK(at_root.has_value() == is_root && (!is_root || same_bits(*at_root, sums)));
    CHECK(plan.try_reduce_into(keys, x, result, is_mine) == code::ok && is_mine == is_root);
    if (!plan.algorithm(operation::reduce_scatter))
        return;
    const auto of_own = part(sums, plan.scattered_keys());
    CHECK(same_bits(plan.reduce_scatter(keys, x), of_own));
    std::vector<T> own_result(of_own.size());
    CHECK(plan.try_reduce_scatter_into(keys, x, own_result) == code::ok && same_bits(own_result, of_own));
    auto run = plan.start_allreduce(keys, x);
    CHECK(plan.is_pending());
    CHECK(same_bits(run.wait(), sums) && !plan.is_pending());
    const auto reduced = plan.start_reduce(keys, x).wait();
    CHECK(reduced.has_value() == is_root && (!is_root || same_bits(*reduced, sums)));
    CHECK(same_bits(plan.start_reduce_scatter(keys, x).wait(), of_own));
    treefold::pending<T, call::reduce_scatter> scattered;
    CHECK(plan.try_start_reduce_scatter(keys, x, scattered) == code::ok && same_bits(scattered.wait(), of_own));
    CHECK(plan.try_start_allreduce(keys, x, run) == code::ok && same_bits(run.wait(), sums));
}

template <class T> void every_algorithm(const treefold::comm &world)
{
    const auto [all, sums] = items<T>(600);
    for (const auto name : treefold::algorithm_names()) {
        treefold::keyed_plan<T> plan;
        auto builder = treefold::keyed_plan_builder<T>(world, groups).root(last_rank()).algorithm(name);
        const auto built = builder.try_build(plan);
        CHECK(built == code::ok || built == code::unsupported);
        if (built != code::ok)
            continue;
        for (int step = 0; step < 3; ++step)
            check_plan(plan, own(all, step), sums);
    }
}

// Means, and keys in another kind of range and of another type.
void means(const treefold::comm &world)
{
    auto builder = treefold::keyed_plan_builder<double>(world, 2);
    const auto plan = builder.means().build();
    const std::array<std::int64_t, 2> keys{1, 1};
    const std::array<double, 2> x{1e300 * (rank % 2 == 0 ? 1 : -1), 3.0 * rank};
    const double total = ranks % 2 == 0 ? 1.5 * ranks * (ranks - 1) : 0;
    const auto found = plan.allreduce(keys, std::span<const double>(x));
    CHECK(found[0] != found[0]);
    CHECK(ranks % 2 == 0 ? found[1] == total / (2 * ranks) : found[1] > 1e298);
}

// States by key become those of all ranks.
void states(const treefold::comm &world)
{
    const auto [all, sums] = items<double>(300);
    const auto mine = own(all, 1);
    auto builder = treefold::keyed_plan_builder<double>(world, groups).root(last_rank());
    const auto plan = builder.build();
    treefold::exact::keyed<double> state(groups), again(groups);
    treefold::exact::keyed_moments<double> moments(groups), of_all(groups);
    state.add(mine.keys, mine.x);
    again.add(mine.keys, mine.x);
    moments.add(mine.keys, mine.x);
    of_all.add(all.keys, all.x);
    plan.allreduce(state);
    CHECK(same_bits(state.sums(), sums));
    const bool is_mine = plan.reduce(again);
    CHECK(is_mine == (rank == last_rank()) && (!is_mine || same_bits(again.sums(), sums)));
    // A state that becomes the part of this rank's keys has these alone.
    treefold::exact::keyed<double> own_state(groups);
    CHECK(plan.start_reduce_scatter(mine.keys, mine.x).wait_into(own_state));
    const auto own_sums = part(sums, plan.scattered_keys());
    CHECK(own_state.groups() == own_sums.size() && same_bits(own_state.sums(), own_sums));
    const auto mean_plan = builder.means().build();
    CHECK(mean_plan.try_allreduce(moments) == code::ok);
    CHECK(moments.counts() == of_all.counts() && same_bits(moments.means(), of_all.means()));
    CHECK(same_bits(moments.variances(1), of_all.variances(1)));
    treefold::exact::keyed_moments<double> started(groups);
    CHECK(mean_plan.start_allreduce(mine.keys, mine.x).wait_into(started));
    CHECK(same_bits(started.variances(1), of_all.variances(1)));
    bool is_root = false;
    CHECK(mean_plan.start_reduce(mine.keys, mine.x).try_wait_into(started, is_root) == code::ok && is_root == (rank == last_rank()));
    CHECK(mean_plan.start_allreduce(mine.keys, mine.x).try_wait_into(state, is_root) == code::argument);
    CHECK(plan.try_allreduce(moments) == code::argument);
    CHECK(moments.counts() == of_all.counts());
}

template <class K, class T> void any_keys(const treefold::comm &world)
{
    const auto [all, sums] = items<T>(400);
    const treefold::hashed_plan<K, T> plan(world, last_rank());
    const auto spread = [](std::uint16_t key) { return static_cast<K>((key + 1u) * 0xD1B54A32D192ED03u); };
    std::map<K, T> expected;
    for (const auto key : all.keys)
        expected[spread(key)] = sums[key];
    const std::vector<std::pair<K, T>> pairs(expected.begin(), expected.end());
    for (int step = 0; step < 3; ++step) {
        const auto mine = own(all, step);
        std::vector<K> keys;
        for (const auto key : mine.keys)
            keys.push_back(spread(key));
        CHECK(plan.allreduce(keys, mine.x) == pairs);
        std::vector<std::pair<K, T>> found;
        CHECK(plan.try_allreduce(keys, mine.x, found) == code::ok && found == pairs);
        CHECK(plan.try_reduce_scatter(keys, mine.x, found) == code::ok && found == plan.reduce_scatter(keys, mine.x));
        CHECK(plan.try_reduce(keys, mine.x, found) == code::ok && found.empty() == (rank != last_rank()));
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

template <class Call> code thrown(const Call &made, std::string *said = nullptr)
{
    try {
        made();
        return code::ok;
    } catch (const treefold::error &error) {
        if (said != nullptr)
            *said = error.what();
        return error.code();
    }
}

// A rank's mistake is an error there, and on the others as well.
void mistakes(const treefold::comm &world)
{
    const std::vector<int> good{0, 1}, bad{0, 2}, few{0};
    const std::vector<double> x{1, 2};
    const auto &mine = rank == last_rank() ? bad : good;
    const auto of_last = [](code here) { return rank == last_rank() ? here : code::rank_failed; };
    const treefold::keyed_plan_builder<double> builder(world, 2);
    std::string said;
    CHECK(thrown([&] { static_cast<void>(builder.build().allreduce(mine, x)); }, &said) == of_last(code::argument));
    CHECK(rank != last_rank() || said.find("item 1 has key 2, and keys are 0 to 1") != std::string::npos);
    const auto plan = builder.build();
    treefold::pending<double, call::allreduce_row> run;
    std::vector<double> result(2);
    CHECK(plan.try_start_allreduce(mine, x, run) != code::ok || run.try_wait_into(result) != code::ok);
    CHECK(plan.try_allreduce_into(good, x, result) == code::spent);
    CHECK(builder.build().try_allreduce_into(rank == last_rank() ? few : good, x, result) == of_last(code::length));
    CHECK(thrown([&] { static_cast<void>(treefold::keyed_plan<double>().allreduce(good, x)); }) == code::null);
    treefold::keyed_plan<double> other;
    CHECK(treefold::keyed_plan_builder<double>(world, 0).try_build(other) == code::argument);
    CHECK(treefold::keyed_plan_builder<double>(world, rank == last_rank() ? 0 : 3).try_build(other) == code::argument);
    const treefold::hashed_plan<std::int64_t, double> hashed(world);
    const std::vector<std::int64_t> key{7};
    const std::vector<double> one{1};
    CHECK(thrown([&] { static_cast<void>(hashed.allreduce(key, rank == last_rank() ? x : one)); }) == of_last(code::length));
    CHECK(thrown([&] { treefold::hashed_plan<std::uint64_t, float>(world, ranks); }) == code::argument);
    treefold::hashed_plan<std::uint64_t, float> never;
    CHECK((treefold::hashed_plan<std::uint64_t, float>::try_build(world, -1, never)) == code::argument);
    CHECK(never.handle() == nullptr);
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    {
        const treefold::comm world(MPI_COMM_WORLD);
        every_algorithm<double>(world);
        every_algorithm<float>(world);
        means(world);
        states(world);
        any_keys<std::int64_t, double>(world);
        any_keys<std::uint64_t, float>(world);
        mistakes(world);
    }
    int all_failures = 0;
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        std::printf("plans of treefold_mpi_keyed.hpp, %d ranks: %d checks failed\n", ranks, all_failures);
    return failures == 0 && all_failures == 0 ? 0 : 1;
}
