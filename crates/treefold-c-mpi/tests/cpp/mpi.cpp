// Walks the functions of treefold_mpi.hpp on any number of ranks, with right and wrong arguments, and compares bits with the
// definition in docs/order.md.

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <treefold_mpi.hpp>

namespace {

using treefold::call;
using treefold::code;
using treefold::operation;
using treefold::range;
using namespace std::chrono_literals;

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

// ---- The definition

// Node by node: the left child of n items has as many as the greatest power of two below n.
template <class T, class Combine> T tree(std::span<const T> items, const Combine &combine)
{
    if (items.size() == 1)
        return items.front();
    const std::size_t half = std::bit_ceil(items.size()) / 2;
    return combine(tree(items.first(half), combine), tree(items.subspan(half), combine));
}

template <class T, class Combine> T tree(const std::vector<T> &items, const Combine &combine)
{
    return tree(std::span<const T>(items), combine);
}

template <class T> T plus(const T &left, const T &right)
{
    return static_cast<T>(left + right);
}

// All ranks' items, which every rank can make.
template <class T> T item(std::uint64_t number)
{
    const std::uint64_t mixed = (number + 1) * 6364136223846793005U >> 33;
    if constexpr (treefold::integer<T>)
        return static_cast<T>(mixed % 100);
    else if constexpr (treefold::complex_number<T>)
        return {static_cast<typename T::value_type>(mixed) / 3, static_cast<typename T::value_type>(number) / 7};
    else
        return static_cast<T>(mixed) / static_cast<T>(1 << (number % 30)) / 3;
}

template <class T> std::vector<T> items(std::uint64_t begin, std::uint64_t end)
{
    std::vector<T> result;
    for (std::uint64_t number = begin; number < end; ++number)
        result.push_back(item<T>(number));
    return result;
}

template <class T> bool same_bits(const T &one, const T &other)
{
    return std::memcmp(&one, &other, sizeof(T)) == 0;
}

template <class T> bool same_bits(const std::vector<T> &one, const std::vector<T> &other)
{
    const auto same = [](const T &left, const T &right) { return same_bits(left, right); };
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), same);
}

// The columns of rows, reduced one by one.
std::vector<double> tree_of_rows(const std::vector<double> &rows, std::size_t width)
{
    std::vector<double> result;
    for (std::size_t column = 0; column < width; ++column) {
        std::vector<double> values;
        for (std::size_t i = column; i < rows.size(); i += width)
            values.push_back(rows[i]);
        result.push_back(tree(values, plus<double>));
    }
    return result;
}

// The code that a call throws; ok if it throws nothing.
template <class Call> code thrown(const Call &made)
{
    try {
        made();
        return code::ok;
    } catch (const treefold::error &error) {
        CHECK(std::strlen(error.what()) > 0);
        return error.code();
    }
}

// ---- Shares

// Uneven: rank r of p has 3 r + 1 items, and rank 1 has none.
struct share {
    std::uint64_t begin = 0, end = 0, all = 0;

    share()
    {
        for (int other = 0; other < ranks; ++other) {
            const auto count = other == 1 ? 0 : 3 * static_cast<std::uint64_t>(other) + 1;
            begin = other == rank ? all : begin;
            all += count;
            end = other == rank ? all : end;
        }
    }

    [[nodiscard]] std::uint64_t count() const { return end - begin; }
};

int last_rank()
{
    return ranks - 1;
}

treefold::plan<double> sum_plan(const treefold::comm &world, std::uint64_t count)
{
    return treefold::plan_builder<double>(world).local_items(count).build();
}

// A plan by which the ranks agree that they all go on.
void go_on(const treefold::comm &world)
{
    const std::array one{1.0};
    CHECK(sum_plan(world, 1).allreduce(one) == ranks);
}

// ---- Communicators

void communicators(const treefold::comm &world)
{
    CHECK(world.rank() == rank && world.size() == ranks);

    treefold::comm other;
    CHECK(treefold::comm::try_duplicate(MPI_COMM_WORLD, other) == code::ok);
    CHECK(other.size() == ranks);
    other.measure_link();
    CHECK(other.try_measure_link() == code::ok);
    other.silence_limit(600s);
    CHECK(other.try_silence_limit(10min) == code::ok);
    CHECK(other.try_silence_limit(-1s) == code::argument);
    CHECK(thrown([&] { other.silence_limit(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())); }) ==
          code::argument);

    CHECK(thrown([] { treefold::comm none(MPI_COMM_NULL); }) == code::argument);
    CHECK(treefold::comm::try_duplicate(MPI_COMM_NULL, other) == code::argument);
    CHECK(other.rank() == rank); // It was left alone.

    treefold::comm brief(MPI_COMM_WORLD);
    brief.interruption(nullptr);
    CHECK(brief.try_interruption([](void *) { return 0; }) == code::ok);
    brief.free();
    CHECK(brief.try_free() == code::ok);
    CHECK(thrown([&] { brief.interruption(nullptr); }) == code::null);

    // The program's own communicator may go.
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &reversed);
    treefold::comm backwards(reversed);
    MPI_Comm_free(&reversed);
    CHECK(backwards.rank() == ranks - 1 - rank);
    const std::array<std::int64_t, 1> mine{rank};
    const auto before = treefold::plan_builder<std::int64_t>(backwards).local_items(1).build().exscan(mine);
    CHECK(before.front() == (ranks - 1 - rank) * (ranks + rank) / 2);

    const treefold::comm moved = std::move(other);
    CHECK(moved.size() == ranks);
    CHECK(thrown([&] { static_cast<void>(other.rank()); }) == code::null); // NOLINT: that is what is tested.
    CHECK(thrown([&] { static_cast<void>(other.size()); }) == code::null);
    CHECK(thrown([&] { other.measure_link(); }) == code::null);
    CHECK(other.try_silence_limit(1s) == code::null);
    CHECK(thrown([&] { static_cast<void>(sum_plan(other, 1)); }) == code::null);
}

// ---- Types

template <class T> void type(const treefold::comm &world)
{
    const share mine;
    const auto local = items<T>(mine.begin, mine.end), all = items<T>(0, mine.all);
    const auto sum = treefold::plan_builder<T>(world).local_items(mine.count()).build();
    CHECK(same_bits(sum.allreduce(local), tree(all, plus<T>)));
    if constexpr (!treefold::complex_number<T>) {
        const auto least = treefold::plan_builder<T>(world, treefold::ops::min).local_items(mine.count()).build();
        const auto greatest = treefold::plan_builder<T>(world, treefold::ops::max).local_items(mine.count()).build();
        CHECK(same_bits(least.allreduce(local), *std::min_element(all.begin(), all.end())));
        CHECK(same_bits(greatest.allreduce(local), *std::max_element(all.begin(), all.end())));
    }
}

void types(const treefold::comm &world)
{
    type<float>(world);
    type<double>(world);
    type<std::complex<float>>(world);
    type<std::complex<double>>(world);
    type<std::int8_t>(world);
    type<std::int16_t>(world);
    type<std::int32_t>(world);
    type<long>(world);
    type<long long>(world);
    type<std::uint8_t>(world);
    type<std::uint16_t>(world);
    type<std::uint32_t>(world);
    type<unsigned long>(world);
    type<unsigned long long>(world);
    static_assert(!std::is_constructible_v<treefold::plan_builder<std::complex<double>>, const treefold::comm &,
                                           decltype(treefold::ops::min)>);
    static_assert(!std::is_constructible_v<treefold::plan_builder<bool>, const treefold::comm &>);
}

// ---- Who has which items

void shares(const treefold::comm &world)
{
    const std::uint64_t count = 103;
    const auto all = items<double>(0, count);
    const double right = tree(all, plus<double>);
    const auto size = static_cast<std::uint64_t>(ranks), me = static_cast<std::uint64_t>(rank);

    // The ranks' blocks in reverse order, and each rank's halves exchanged.
    const std::uint64_t begin = count * (size - 1 - me) / size, end = count * (size - me) / size, middle = (begin + end) / 2;
    auto local = items<double>(middle, end);
    const auto front = items<double>(begin, middle);
    local.insert(local.end(), front.begin(), front.end());
    const auto reversed = treefold::plan_builder<double>(world).extents({{middle, end}, {begin, middle}}).items(count).build();
    CHECK(same_bits(reversed.allreduce(local), right));
    const auto prefixes = reversed.scan(local);
    CHECK(same_bits(prefixes.front(), tree(std::span(all).first(middle + 1), plus<double>)));
    CHECK(same_bits(prefixes.back(), tree(std::span(all).first(middle), plus<double>)));

    const std::uint64_t more = std::min(me, count % size);
    const std::uint64_t even_begin = count / size * me + more, even_end = even_begin + count / size + (me < count % size);
    const auto even_local = items<double>(even_begin, even_end);
    CHECK(same_bits(treefold::plan_builder<double>(world).even(count).build().allreduce(even_local), right));
    CHECK(same_bits(treefold::plan_builder<double>(world).even(count).agreed().build().allreduce(even_local), right));

    std::vector<double> cyclic_local;
    for (std::uint64_t number = 0; number < count; ++number) {
        if (number / 4 % size == me)
            cyclic_local.push_back(item<double>(number));
    }
    CHECK(same_bits(treefold::plan_builder<double>(world).block_cyclic(count, 4).build().allreduce(cyclic_local), right));

    // What cannot be.
    treefold::plan<double> plan;
    CHECK(treefold::plan_builder<double>(world).try_build(plan) == code::argument);
    CHECK(thrown([&] { static_cast<void>(treefold::plan_builder<double>(world).local_items(1).agreed().build()); }) == code::argument);
    CHECK(treefold::plan_builder<double>(world).extents({{0, 2}}).items(2).try_build(plan) == (ranks == 1 ? code::ok : code::disagree));
    CHECK(treefold::plan_builder<double>(world).extents({{me + 1, me + 2}}).try_build(plan) == code::disagree);
    CHECK(treefold::plan_builder<double>(world).local_items(1).items(size + 1).try_build(plan) == code::disagree);
    CHECK(treefold::plan_builder<double>(world).local_items(1).root(ranks).try_build(plan) == code::argument);
    CHECK(treefold::plan_builder<double>(world).local_items(1).root(-1).try_build(plan) == code::argument);
    CHECK(treefold::plan_builder<double>(world).local_items(1).width(0).try_build(plan) == code::argument);
    CHECK(treefold::plan_builder<double>(world).local_items(1).algorithm("no such name").try_build(plan) == code::argument);
    CHECK(treefold::plan_builder<double>(world, treefold::ops::max).local_items(0).try_build(plan) == code::empty);

    // What ranks do not agree on.
    const auto disagreed = treefold::plan_builder<double>(world).local_items(1).width(rank == 0 ? 2 : 3).try_build(plan);
    CHECK(disagreed == (ranks == 1 ? code::ok : code::disagree));
    go_on(world);
}

// ---- Algorithms

void algorithms(const treefold::comm &world)
{
    const share mine;
    const auto local = items<double>(mine.begin, mine.end), all = items<double>(0, mine.all);
    const auto rows = items<double>(5 * mine.begin, 5 * mine.end), all_rows = items<double>(0, 5 * mine.all);
    const auto names = treefold::algorithm_names();
    CHECK(names.size() > 20 && std::find(names.begin(), names.end(), "recursive-doubling") != names.end());

    int with_rows = 0;
    for (const auto name : names) {
        treefold::plan_builder<double> builder(world);
        builder.local_items(mine.count()).algorithm(name);
        const auto plan = builder.build();
        CHECK(same_bits(plan.allreduce(local), tree(all, plus<double>)));
        CHECK(plan.algorithm(operation::allreduce).has_value());
        CHECK(plan.to_string().size() > 10 && plan.to_string().find('\0') == std::string::npos);

        treefold::plan<double> row_plan;
        const auto built = builder.width(5).try_build(row_plan);
        CHECK(built == code::ok || built == code::unsupported);
        if (built == code::ok) {
            CHECK(same_bits(row_plan.allreduce_row(rows), tree_of_rows(all_rows, 5)));
            ++with_rows;
        }
    }
    CHECK(with_rows > 20);

    // Parameters change no bit.
    auto builder = treefold::plan_builder<double>(world).local_items(mine.count()).width(5);
    builder.blocks(2).ports(2).node_ranks(2).message_limit(3);
    for (const auto name : {"binary-pipelined", "bruck", "hierarchical"})
        CHECK(same_bits(builder.algorithm(name).build().allreduce_row(rows), tree_of_rows(all_rows, 5)));

    const auto native = treefold::plan_builder<double>(world).local_items(mine.count()).algorithm("mpi-native").build();
    CHECK(!native.algorithm(operation::scan));
    std::vector<double> prefixes(local.size());
    CHECK(native.try_scan_into(local, prefixes) == code::unsupported);
    CHECK(same_bits(native.allreduce(local), tree(all, plus<double>))); // It is not spent.
}

// ---- Blocking collectives

void blocking(const treefold::comm &world)
{
    const share mine;
    const auto local = items<double>(mine.begin, mine.end), all = items<double>(0, mine.all);
    const double right = tree(all, plus<double>);
    const auto plan = treefold::plan_builder<double>(world).local_items(mine.count()).root(last_rank()).build();
    CHECK(plan.width() == 1);

    double result = 0;
    CHECK(same_bits(plan.allreduce(local), right));
    CHECK(plan.try_allreduce(local, result) == code::ok && same_bits(result, right));

    std::optional<double> maybe = 1.0;
    CHECK(plan.reduce(local).has_value() == (rank == last_rank()));
    CHECK(plan.reduce(local).value_or(right) == right);
    CHECK(plan.try_reduce(local, maybe) == code::ok);
    CHECK(maybe.has_value() == (rank == last_rank()) && maybe.value_or(right) == right);

    const auto inclusive = plan.scan(local), exclusive = plan.exscan(local);
    std::vector<double> again(local.size());
    for (std::size_t i = 0; i < local.size(); ++i) {
        const auto before = std::span(all).first(mine.begin + i), until = std::span(all).first(mine.begin + i + 1);
        CHECK(same_bits(inclusive[i], tree(until, plus<double>)));
        CHECK(same_bits(exclusive[i], before.empty() ? 0.0 : tree(before, plus<double>)));
    }
    CHECK(plan.try_scan_into(local, again) == code::ok && same_bits(again, inclusive));
    CHECK(plan.try_exscan_into(local, again) == code::ok && same_bits(again, exclusive));

    std::array row{static_cast<double>(rank)};
    plan.broadcast(row);
    CHECK(row[0] == last_rank());
    row[0] = rank;
    CHECK(plan.try_broadcast(row) == code::ok && row[0] == last_rank());
}

void rows(const treefold::comm &world)
{
    const std::size_t width = 7;
    const share mine;
    const auto local = items<double>(width * mine.begin, width * mine.end), all = items<double>(0, width * mine.all);
    const auto right = tree_of_rows(all, width);
    const auto plan = treefold::plan_builder<double>(world).local_items(mine.count()).width(width).build();
    CHECK(plan.width() == width);

    std::vector<double> result(width);
    CHECK(same_bits(plan.allreduce_row(local), right));
    plan.allreduce_into(local, result);
    CHECK(same_bits(result, right));
    CHECK(plan.try_allreduce_into(local, result) == code::ok && same_bits(result, right));

    bool is_mine = rank != 0;
    CHECK(plan.reduce_row(local).value_or(right) == right);
    CHECK(plan.reduce_into(local, result) == (rank == 0));
    CHECK(same_bits(result, right)); // On the root; the others' is left as it was.
    CHECK(plan.try_reduce_into(local, result, is_mine) == code::ok && is_mine == (rank == 0));

    const auto columns = plan.scattered_columns();
    const std::vector<double> my_columns(right.begin() + static_cast<long>(columns.begin), right.begin() + static_cast<long>(columns.end));
    std::vector<double> scattered(columns.size());
    CHECK(same_bits(plan.reduce_scatter(local), my_columns));
    plan.reduce_scatter_into(local, scattered);
    CHECK(same_bits(scattered, my_columns));
    CHECK(plan.try_reduce_scatter_into(local, scattered) == code::ok && same_bits(scattered, my_columns));

    const auto prefixes = plan.scan(local);
    for (std::size_t i = 0; i < mine.count(); ++i) {
        const std::vector<double> until(all.begin(), all.begin() + static_cast<long>(width * (mine.begin + i + 1)));
        const std::vector<double> prefix(prefixes.begin() + static_cast<long>(width * i), prefixes.begin() + static_cast<long>(width * (i + 1)));
        CHECK(same_bits(prefix, tree_of_rows(until, width)));
    }

    std::vector<double> row(width, rank + 1.0);
    plan.broadcast(row);
    CHECK(row == std::vector<double>(width, 1.0));

    // Two rows under way at once, waited for in different orders.
    const auto second = treefold::plan_builder<double>(world).local_items(mine.count()).width(width).build();
    auto first_run = plan.start_allreduce_row(local);
    auto second_run = second.start_reduce_scatter(local);
    if (rank % 2 == 0) {
        CHECK(same_bits(second_run.wait(), my_columns));
        CHECK(same_bits(first_run.wait(), right));
    } else {
        CHECK(same_bits(first_run.wait(), right));
        CHECK(same_bits(second_run.wait(), my_columns));
    }
    plan.start_allreduce_row(local).wait_into(result);
    CHECK(same_bits(result, right));
    CHECK(plan.start_reduce_row(local).wait().value_or(right) == right);
    CHECK(plan.start_reduce_row(local).wait_into(result) == (rank == 0));
    plan.start_reduce_scatter(local).wait_into(scattered);
    CHECK(same_bits(scattered, my_columns));
    CHECK(same_bits(plan.start_scan(local).wait(local), prefixes));
}

// ---- Split phase

template <class T, call Call>
concept waits_alone = requires(treefold::pending<T, Call> run) { run.wait(); };

template <class T, call Call>
concept waits_with_items = requires(treefold::pending<T, Call> run, std::span<const T> local) { run.wait(local); };

template <class T, call Call>
concept waits_into = requires(treefold::pending<T, Call> run, std::span<T> result) { run.wait_into(result); };

static_assert(waits_alone<double, call::allreduce> && !waits_with_items<double, call::allreduce> && !waits_into<double, call::allreduce>);
static_assert(waits_alone<double, call::reduce> && !waits_with_items<double, call::reduce> && !waits_into<double, call::reduce>);
static_assert(waits_alone<double, call::reduce_row> && waits_into<double, call::reduce_row>);
static_assert(waits_alone<double, call::reduce_scatter> && waits_into<double, call::reduce_scatter>);
static_assert(!waits_alone<double, call::scan> && waits_with_items<double, call::scan> && !waits_into<double, call::scan>);
static_assert(std::is_same_v<decltype(std::declval<treefold::pending<double, call::reduce>>().wait()), std::optional<double>>);
static_assert(!std::is_copy_constructible_v<treefold::pending<double>> && std::is_nothrow_move_constructible_v<treefold::pending<double>>);
static_assert(!std::is_copy_constructible_v<treefold::plan<double>> && std::is_nothrow_move_assignable_v<treefold::plan<double>>);
static_assert(!std::is_copy_constructible_v<treefold::comm> && std::is_nothrow_move_constructible_v<treefold::comm>);

void split_phase(const treefold::comm &world)
{
    const share mine;
    auto local = items<double>(mine.begin, mine.end);
    const auto kept = local, all = items<double>(0, mine.all);
    const double right = tree(all, plus<double>);
    const auto plan = sum_plan(world, mine.count());

    auto sum = plan.start_allreduce(local);
    std::fill(local.begin(), local.end(), 0.0); // They are folded.
    while (!sum.test()) {
    }
    CHECK(same_bits(sum.wait(), right));
    local = kept;

    double result = 0;
    treefold::pending<double> run;
    bool is_done = false;
    CHECK(plan.try_start_allreduce(local, run) == code::ok);
    while (run.try_test(is_done) == code::ok && !is_done) {
    }
    CHECK(is_done && run.try_wait(result) == code::ok && same_bits(result, right));

    auto waited = plan.start_allreduce(local);
    CHECK(waited.wait_for(10min) && waited.try_wait_for(1h) == code::ok);
    CHECK(waited.wait_for(-1s)); // It is over long since.
    CHECK(same_bits(waited.wait(), right));

    std::optional<double> maybe;
    treefold::pending<double, call::reduce> to_root;
    CHECK(plan.start_reduce(local).wait().value_or(right) == right);
    CHECK(plan.try_start_reduce(local, to_root) == code::ok && to_root.try_wait(maybe) == code::ok);
    CHECK(maybe.has_value() == (rank == 0) && maybe.value_or(right) == right);

    std::vector<double> prefixes(local.size());
    treefold::pending<double, call::scan> scan;
    CHECK(same_bits(plan.start_scan(local).wait(local), plan.scan(local)));
    CHECK(plan.try_start_scan(local, scan) == code::ok && scan.try_wait_into(local, prefixes) == code::ok);
    CHECK(same_bits(prefixes, plan.scan(local)));
    CHECK(plan.try_start_exscan(local, scan) == code::ok);
    scan.wait_into(local, prefixes);
    CHECK(same_bits(prefixes, plan.exscan(local)));

    // The twins of rows, on a row of one.
    std::array<double, 1> row{};
    bool is_mine = false;
    treefold::pending<double, call::allreduce_row> row_run;
    treefold::pending<double, call::reduce_row> row_to_root;
    treefold::pending<double, call::reduce_scatter> scattered;
    CHECK(plan.try_start_allreduce_row(local, row_run) == code::ok && row_run.try_wait_into(row) == code::ok);
    CHECK(same_bits(row[0], right));
    CHECK(plan.try_start_reduce_row(local, row_to_root) == code::ok && row_to_root.try_wait_into(row, is_mine) == code::ok);
    CHECK(is_mine == (rank == 0));
    CHECK(plan.try_start_reduce_scatter(local, scattered) == code::ok);
    CHECK(scattered.try_wait_into(std::span(row).first(rank == 0 ? 1 : 0)) == code::ok);

    // A run is a run of one plan.
    auto under_way = plan.start_allreduce(local);
    CHECK(thrown([&] { static_cast<void>(plan.start_allreduce(local)); }) == code::under_way);
    CHECK(plan.try_allreduce(local, result) == code::under_way);
    CHECK(same_bits(under_way.wait(), right));

    // A run lives on without its plan and its communicator.
    treefold::pending<double> orphan;
    {
        const treefold::comm other(MPI_COMM_WORLD);
        orphan = sum_plan(other, mine.count()).start_allreduce(local);
    }
    CHECK(same_bits(orphan.wait(), right));
}

// The other ranks wait for rank 0, which does not start.
void time_out(const treefold::comm &world)
{
    const std::array one{1.0};
    const auto plan = sum_plan(world, 1);
    char word = 0;
    if (rank == 0) {
        for (int other = 1; other < ranks; ++other)
            MPI_Recv(&word, 1, MPI_CHAR, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(plan.allreduce(one) == ranks);
        return;
    }
    auto run = plan.start_allreduce(one);
    CHECK(!run.wait_for(20ms));
    CHECK(run.try_wait_for(1us) == code::timed_out);
    CHECK(!run.test());
    MPI_Send(&word, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
    CHECK(run.wait() == ranks);
}

// ---- Exact sums

using treefold::figure;

// Numbers of many magnitudes and both signs, whose sum loses what it has if it is rounded on the way.
template <class T> T wide(std::uint64_t number)
{
    if constexpr (treefold::complex_number<T>) {
        using part = typename T::value_type;
        return {wide<part>(2 * number), wide<part>(2 * number + 1)};
    } else {
        const int spread = sizeof(T) == 4 ? 60 : 300;
        const T scaled = std::ldexp(item<T>(number), static_cast<int>(number * 7 % static_cast<unsigned>(spread)) - spread / 2);
        return number % 3 == 0 ? -scaled : scaled;
    }
}

template <class T> std::vector<T> wide_items(std::uint64_t begin, std::uint64_t end)
{
    std::vector<T> result;
    for (std::uint64_t number = begin; number < end; ++number)
        result.push_back(wide<T>(number));
    return result;
}

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

// The parts of complex numbers, the imaginary ones times a sign, after those of others.
template <class T> void append_parts(std::vector<T> &parts, const std::vector<std::complex<T>> &numbers, bool swapped, T sign)
{
    for (const auto &number : numbers) {
        parts.push_back(swapped ? number.imag() : number.real());
        parts.push_back(sign * (swapped ? number.real() : number.imag()));
    }
}

// The sums and dot products of treefold.hpp, which has none of complex numbers. Exact ones may be made of the parts in any order.
template <class T> T exact_sum_of(const std::vector<T> &x)
{
    if constexpr (treefold::floating<T>) {
        return treefold::exact_sum(x);
    } else {
        std::vector<typename T::value_type> real, imaginary;
        for (const auto &number : x) {
            real.push_back(number.real());
            imaginary.push_back(number.imag());
        }
        return {treefold::exact_sum(real), treefold::exact_sum(imaginary)};
    }
}

template <class T> T exact_dot_of(const std::vector<T> &x, const std::vector<T> &y, bool conjugated)
{
    if constexpr (treefold::floating<T>) {
        return treefold::exact_dot(x, y);
    } else {
        // (a + ib)(c + id) = ac - bd + i(ad + bc); with a - ib, the signs of b are others.
        using part = typename T::value_type;
        const part sign = conjugated ? -1 : 1;
        std::vector<part> of_x, negated, of_y, swapped;
        append_parts<part>(of_x, x, false, sign);
        append_parts<part>(negated, x, false, -sign);
        append_parts<part>(of_y, y, false, 1);
        append_parts<part>(swapped, y, true, 1);
        return {treefold::exact_dot(negated, of_y), treefold::exact_dot(of_x, swapped)};
    }
}

template <class T> void exact_type(const treefold::comm &world)
{
    const auto x = wide_items<T>(0, 101), y = wide_items<T>(50, 151);
    const auto sum = treefold::exact_plan_builder<T>(world).build();
    const auto dot = treefold::exact_plan_builder<T, figure::dot>(world).build();
    const auto vdot = treefold::exact_plan_builder<T, figure::vdot>(world).build();
    for (int step = 0; step < 3; ++step) {
        const auto local = dealt(x, step, rank), other = dealt(y, step, rank);
        CHECK(same_bits(sum.allreduce(local), exact_sum_of(x)));
        CHECK(same_bits(dot.allreduce(local, other), exact_dot_of(x, y, false)));
        CHECK(same_bits(vdot.allreduce(local, other), exact_dot_of(x, y, true)));
    }
    CHECK(same_bits(sum.allreduce({}), T(0)) && same_bits(dot.allreduce({}, {}), T(0)));
    if constexpr (treefold::floating<T>) {
        const auto norm = treefold::exact_plan_builder<T, figure::norm>(world).build();
        CHECK(same_bits(norm.allreduce(dealt(x, 1, rank)), treefold::exact_norm(x)));
    }
}

template <class T, figure Figure>
concept can_be_exact = requires(const treefold::comm &world) { treefold::exact_plan_builder<T, Figure>(world); };

template <class Plan>
concept takes_one = requires(const Plan &plan, std::span<const double> x) { plan.allreduce(x); };

template <class Plan>
concept takes_two = requires(const Plan &plan, std::span<const double> x) { plan.allreduce(x, x); };

template <class Plan>
concept scans = requires(const Plan &plan, std::span<const double> x) { plan.scan(x); };

template <class Builder>
concept has_numbers = requires(Builder builder) { builder.local_items(1); };

static_assert(can_be_exact<float, figure::norm> && can_be_exact<double, figure::vdot>);
static_assert(can_be_exact<std::complex<float>, figure::sum> && can_be_exact<std::complex<double>, figure::dot>);
static_assert(!can_be_exact<std::complex<double>, figure::norm> && !can_be_exact<std::complex<float>, figure::norm>);
static_assert(!can_be_exact<std::int64_t, figure::sum> && !can_be_exact<long double, figure::sum>);
static_assert(takes_one<treefold::plan<double>> && !takes_two<treefold::plan<double>> && scans<treefold::plan<double>>);
static_assert(!takes_one<treefold::dot_plan<double>> && takes_two<treefold::dot_plan<double>> && !scans<treefold::dot_plan<double>>);
static_assert(has_numbers<treefold::plan_builder<double>> && !has_numbers<treefold::exact_plan_builder<double>>);
static_assert(std::is_same_v<decltype(treefold::exact_plan_builder<double, figure::norm>(std::declval<treefold::comm &>()).build()),
                             treefold::plan<double>>);
static_assert(std::is_same_v<decltype(treefold::exact_plan_builder<double, figure::vdot>(std::declval<treefold::comm &>()).build()),
                             treefold::dot_plan<double>>);
static_assert(!std::is_copy_constructible_v<treefold::dot_plan<double>> && std::is_nothrow_move_assignable_v<treefold::dot_plan<double>>);

// Every call of a sum's plan.
void exact_sums(const treefold::comm &world)
{
    exact_type<float>(world);
    exact_type<double>(world);
    exact_type<std::complex<float>>(world);
    exact_type<std::complex<double>>(world);

    const auto all = wide_items<double>(0, 101);
    const double right = treefold::exact_sum(all);
    const auto local = dealt(all, 1, rank);
    for (const auto name : treefold::algorithm_names()) {
        const auto plan = treefold::exact_plan_builder<double>(world).algorithm(name).build();
        CHECK(same_bits(plan.allreduce(local), right));
    }
    const auto agreed = treefold::exact_plan_builder<double>(world).agreed().build();
    CHECK(same_bits(agreed.allreduce(local), right));

    double result = 0;
    std::optional<double> maybe;
    const auto plan = treefold::exact_plan_builder<double>(world).root(last_rank()).build();
    CHECK(plan.width() == 1 && plan.to_string().size() > 10);
    CHECK(plan.algorithm(operation::scan) && !plan.algorithm(operation::broadcast));
    CHECK(plan.try_allreduce(local, result) == code::ok && same_bits(result, right));
    CHECK(plan.try_reduce(local, maybe) == code::ok);
    CHECK(maybe.has_value() == (rank == last_rank()) && same_bits(maybe.value_or(right), right));
    CHECK(same_bits(plan.start_allreduce(local).wait(), right));
    CHECK(same_bits(plan.start_reduce(local).wait().value_or(right), right));

    // The items of the ranks below come first.
    std::vector<double> before;
    for (int below = 0; below < rank; ++below) {
        const auto theirs = dealt(all, 1, below);
        before.insert(before.end(), theirs.begin(), theirs.end());
    }
    const auto inclusive = plan.scan(local), exclusive = plan.exscan(local);
    for (std::size_t i = 0; i < local.size(); ++i) {
        CHECK(same_bits(exclusive[i], treefold::exact_sum(before)));
        before.push_back(local[i]);
        CHECK(same_bits(inclusive[i], treefold::exact_sum(before)));
    }
    CHECK(same_bits(plan.start_scan(local).wait(local), inclusive));
    CHECK(same_bits(plan.start_exscan(local).wait(local), exclusive));

    std::array row{1.0};
    CHECK(plan.try_broadcast(row) == code::unsupported);
    CHECK(same_bits(plan.allreduce(local), right)); // It is not spent.
}

// Several sums, norms or dot products at once, one for each column.
void exact_rows(const treefold::comm &world)
{
    const std::size_t width = 3;
    const auto all = wide_items<double>(0, 40 * width);
    const auto local = dealt(all, 1, rank, width);
    std::vector<double> norms, dots, result(width);
    for (std::size_t column = 0; column < width; ++column) {
        std::vector<double> values;
        for (std::size_t i = column; i < all.size(); i += width)
            values.push_back(all[i]);
        norms.push_back(treefold::exact_norm(values));
        dots.push_back(treefold::exact_dot(values, values));
    }
    const auto sums = treefold::exact_sum_rows(all, width);

    const auto sum = treefold::exact_plan_builder<double>(world).width(width).build();
    const auto norm = treefold::exact_plan_builder<double, figure::norm>(world).width(width).build();
    const auto dot = treefold::exact_plan_builder<double, figure::dot>(world).width(width).build();
    CHECK(sum.width() == width && dot.width() == width);
    CHECK(same_bits(sum.allreduce_row(local), sums));
    CHECK(same_bits(norm.allreduce_row(local), norms));
    CHECK(same_bits(norm.reduce_row(local).value_or(norms), norms));
    const auto columns = sum.scattered_columns();
    const std::vector<double> mine(sums.begin() + static_cast<long>(columns.begin), sums.begin() + static_cast<long>(columns.end));
    CHECK(same_bits(sum.reduce_scatter(local), mine));
    CHECK(same_bits(sum.start_reduce_scatter(local).wait(), mine));

    const auto prefixes = sum.scan(local);
    CHECK(prefixes.size() == local.size());
    if (rank == last_rank() && !local.empty())
        CHECK(same_bits(std::vector(prefixes.end() - static_cast<long>(width), prefixes.end()), sums));

    // Every call of a dot product's plan.
    bool is_mine = rank != 0;
    CHECK(same_bits(dot.allreduce_row(local, local), dots));
    dot.allreduce_into(local, local, result);
    CHECK(same_bits(result, dots));
    CHECK(dot.try_allreduce_into(local, local, result) == code::ok && same_bits(result, dots));
    const auto on_root = dot.reduce_row(local, local);
    CHECK(on_root.has_value() == (rank == 0) && same_bits(on_root.value_or(dots), dots));
    CHECK(dot.reduce_into(local, local, result) == (rank == 0));
    CHECK(dot.try_reduce_into(local, local, result, is_mine) == code::ok && is_mine == (rank == 0));
    CHECK(same_bits(dot.start_allreduce_row(local, local).wait(), dots));
    CHECK(same_bits(dot.start_reduce_row(local, local).wait().value_or(dots), dots));
    treefold::pending<double, call::allreduce_row> run;
    treefold::pending<double, call::reduce_row> to_root;
    CHECK(dot.try_start_allreduce_row(local, local, run) == code::ok && run.try_wait_into(result) == code::ok);
    CHECK(same_bits(result, dots));
    CHECK(dot.try_start_reduce_row(local, local, to_root) == code::ok && to_root.try_wait_into(result, is_mine) == code::ok);
    CHECK(is_mine == (rank == 0));

    // And with single items.
    const auto x = dealt(all, 2, rank), reversed = dealt(std::vector(all.rbegin(), all.rend()), 2, rank);
    const double right = treefold::exact_dot(all, std::vector(all.rbegin(), all.rend()));
    const auto single = treefold::exact_plan_builder<double, figure::dot>(world).root(last_rank()).algorithm("binomial").build();
    CHECK(single.algorithm(operation::allreduce) == "binomial");
    double value = 0;
    std::optional<double> maybe;
    treefold::pending<double> one_run;
    treefold::pending<double, call::reduce> one_to_root;
    CHECK(single.try_allreduce(x, reversed, value) == code::ok && same_bits(value, right));
    maybe = single.reduce(x, reversed);
    CHECK(maybe.has_value() == (rank == last_rank()) && same_bits(maybe.value_or(right), right));
    CHECK(single.try_reduce(x, reversed, maybe) == code::ok);
    CHECK(maybe.has_value() == (rank == last_rank()) && same_bits(maybe.value_or(right), right));
    CHECK(same_bits(single.start_allreduce(x, reversed).wait(), right));
    CHECK(same_bits(single.start_reduce(x, reversed).wait().value_or(right), right));
    CHECK(single.try_start_allreduce(x, reversed, one_run) == code::ok && one_run.try_wait(value) == code::ok);
    CHECK(same_bits(value, right));
    CHECK(single.try_start_reduce(x, reversed, one_to_root) == code::ok && one_to_root.try_wait(maybe) == code::ok);
    CHECK(maybe.has_value() == (rank == last_rank()));
}

// What rank 0 does wrong, of which the others hear.
template <class Plan, class Right, class Wrong>
void expect_mistake(const treefold::comm &world, const Plan &plan, code expected, const Right &right, const Wrong &wrong)
{
    const auto seen = thrown([&] { rank == 0 ? wrong(plan) : right(plan); });
    CHECK(seen == (rank == 0 ? expected : code::rank_failed));
    CHECK(thrown([&] { right(plan); }) == code::spent);
    go_on(world);
}

void exact_mistakes(const treefold::comm &world)
{
    using sum_plan_of_rows = treefold::plan<double>;
    using dots = treefold::dot_plan<double>;
    const std::array<double, 4> x{1, 2, 3, 4};
    const auto two = std::span(x).first(2), three = std::span(x).first(3);
    std::array<double, 3> row{};

    const auto rows = treefold::exact_plan_builder<double>(world).width(2);
    const auto right_row = [&](const sum_plan_of_rows &plan) { static_cast<void>(plan.allreduce_row(two)); };
    expect_mistake(world, rows.build(), code::length, right_row,
                   [&](const sum_plan_of_rows &plan) { static_cast<void>(plan.allreduce_row(three)); });
    expect_mistake(world, rows.build(), code::length, right_row,
                   [&](const sum_plan_of_rows &plan) { plan.allreduce_into(two, row); });
    expect_mistake(world, rows.build(), code::length, right_row,
                   [&](const sum_plan_of_rows &plan) { static_cast<void>(plan.allreduce(two)); });

    const auto pairs = treefold::exact_plan_builder<double, figure::dot>(world);
    const auto right_pair = [&](const dots &plan) { static_cast<void>(plan.allreduce(x, x)); };
    expect_mistake(world, pairs.build(), code::length, right_pair, [&](const dots &plan) { static_cast<void>(plan.allreduce(x, two)); });
    expect_mistake(world, pairs.build(), code::length, right_pair, [&](const dots &plan) { static_cast<void>(plan.allreduce({}, two)); });
    expect_mistake(world, pairs.build(), code::argument, right_pair, [&](const dots &plan) {
        // By C's functions, a plan can be called as one of another kind.
        double result = 0;
        const auto status = treefold_allreduce(plan.handle(), x.data(), x.size(), &result, 1);
        if (status != TREEFOLD_OK)
            throw treefold::error(code{status}, -1, treefold_last_error());
    });

    // In split phase, the start says so, and leaves no run.
    const auto split = pairs.build();
    treefold::pending<double> run;
    double result = 0;
    const auto started = split.try_start_allreduce(x, rank == 0 ? two : std::span(x), run);
    CHECK(started == (rank == 0 ? code::length : code::ok));
    CHECK(run.try_wait(result) == (rank == 0 ? code::null : code::rank_failed));
    go_on(world);

    // After a wait that was given a result of the wrong length, the plan runs again.
    const auto patient = treefold::exact_plan_builder<double, figure::dot>(world).width(2).build();
    auto row_run = patient.start_allreduce_row(two, two);
    CHECK(row_run.try_wait_into(row) == code::length);
    CHECK(patient.allreduce_row(two, two) == (std::vector{1.0 * ranks, 4.0 * ranks}));

    // What cannot be, and what ranks do not agree on.
    const auto copy_of = [](auto builder) { return builder; };
    treefold::dot_plan<double> dot;
    treefold::plan<double> plan;
    CHECK(thrown([&] { static_cast<void>(dot.allreduce(x, x)); }) == code::null);
    CHECK(dot.try_allreduce(x, x, result) == code::null && dot.try_start_allreduce(x, x, run) == code::null);
    CHECK(copy_of(pairs).algorithm("no such name").try_build(dot) == code::argument);
    CHECK(copy_of(pairs).root(ranks).try_build(dot) == code::argument);
    CHECK(treefold::exact_plan_builder<double>(world).width(0).try_build(plan) == code::argument);
    const auto other_figure = rank == 0 ? treefold::exact_plan_builder<double>(world).try_build(plan)
                                        : treefold::exact_plan_builder<double, figure::norm>(world).try_build(plan);
    CHECK(other_figure == (ranks == 1 ? code::ok : code::disagree));
    const auto other_kind = rank == 0 ? treefold::plan_builder<double>(world).local_items(1).try_build(plan)
                                      : treefold::exact_plan_builder<double>(world).try_build(plan);
    CHECK(other_kind == (ranks == 1 ? code::ok : code::disagree));
    go_on(world);
}

// ---- Operators of one's own

struct affine {
    double scale, shift;
};

affine after(const affine &left, const affine &right)
{
    return {left.scale * right.scale, right.scale * left.shift + right.shift};
}

affine map(std::uint64_t number)
{
    return {1.0 - 1.0 / static_cast<double>(number + 3), 1.0 / static_cast<double>(number + 1)};
}

// 12 bytes, which the library keeps in 16; and bytes between the members that no rank sets.
struct odd {
    std::uint32_t words[3];
};
struct padded {
    double value;
    std::int8_t count;
};

void operators(const treefold::comm &world)
{
    const std::uint64_t each = 10, first = each * static_cast<std::uint64_t>(rank), count = each * static_cast<std::uint64_t>(ranks);
    std::vector<affine> all, local;
    for (std::uint64_t number = 0; number < count; ++number) {
        all.push_back(map(number));
        if (number / each == first / each)
            local.push_back(map(number));
    }

    // A lambda with state that the plan owns: nothing of it is left here.
    std::optional<treefold::plan<affine>> plan;
    {
        const auto neutral = std::make_shared<affine>(affine{1, 0});
        const auto op = [neutral](const affine &left, const affine &right) {
            const affine whole = after(*neutral, right);
            return after(left, whole);
        };
        plan = treefold::plan_builder<affine>(world, "affine", op, *neutral).local_items(each).build();
        CHECK(neutral.use_count() > 1);
    }
    const affine right = tree(all, &after);
    CHECK(same_bits(plan->allreduce(local), right));
    CHECK(same_bits(plan->scan(local).back(), tree(std::span<const affine>(all).first(first + each), &after)));
    const auto before = std::span<const affine>(all).first(first);
    CHECK(same_bits(plan->exscan(local).front(), before.empty() ? affine{1, 0} : tree(before, &after)));

    // The run owns it, too.
    auto orphan = plan->start_allreduce(local);
    plan.reset();
    CHECK(same_bits(orphan.wait(), right));

    // A function, and a builder that builds two plans at once.
    const auto builder = treefold::plan_builder<affine>(world, "affine", &after).local_items(each);
    const auto one = builder.build(), two = builder.build();
    auto one_run = one.start_allreduce(local), two_run = two.start_allreduce(local);
    CHECK(same_bits(two_run.wait(), right) && same_bits(one_run.wait(), right));
    CHECK(thrown([&] { static_cast<void>(one.exscan(local)); }) == code::empty);

    const std::vector<odd> odds(each, odd{{1, 2, static_cast<std::uint32_t>(rank)}});
    const auto odd_sum = treefold::plan_builder<odd>(world, "odd", [](const odd &l, const odd &r) {
                             return odd{{l.words[0] + r.words[0], l.words[1] + r.words[1], std::max(l.words[2], r.words[2])}};
                         }).local_items(each).build();
    const odd odd_result = odd_sum.allreduce(odds);
    CHECK(odd_result.words[0] == count && odd_result.words[1] == 2 * count && odd_result.words[2] == static_cast<unsigned>(last_rank()));

    // Ranks compare the value for nothing, but not the bytes that belong to no member.
    padded nothing;
    std::memset(static_cast<void *>(&nothing), rank, sizeof nothing);
    nothing.value = 0;
    nothing.count = 0;
    treefold::plan<padded> padded_sum;
    const auto join = [](const padded &l, const padded &r) { return padded{l.value + r.value, static_cast<std::int8_t>(l.count + r.count)}; };
    CHECK(treefold::plan_builder<padded>(world, "padded", join, nothing).local_items(1).try_build(padded_sum) == code::ok);
    CHECK(padded_sum.allreduce(std::array{padded{0.5, 1}}).count == ranks);

    nothing.value = rank;
    const auto differs = treefold::plan_builder<padded>(world, "padded", join, nothing).local_items(1).try_build(padded_sum);
    CHECK(differs == (ranks == 1 ? code::ok : code::disagree));
    const auto renamed = treefold::plan_builder<padded>(world, rank == 0 ? "one" : "other", join).local_items(1).try_build(padded_sum);
    CHECK(renamed == (ranks == 1 ? code::ok : code::disagree));
}

struct mine : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a run does on this rank, if the operator throws on the last one.
template <class Run> void expect_failure(const treefold::comm &world, const Run &run)
{
    const std::array<double, 4> local{1, 2, 3, 4};
    const auto op = [](double left, double right) {
        if (rank == last_rank())
            throw mine("by the operator");
        return left + right;
    };
    const auto plan = treefold::plan_builder<double>(world, "failing", op).local_items(local.size()).build();
    bool is_mine = false;
    code seen = code::ok;
    int failed_rank = -1;
    try {
        run(plan, std::span<const double>(local));
    } catch (const mine &error) {
        is_mine = std::string(error.what()) == "by the operator";
    } catch (const treefold::error &error) {
        seen = error.code();
        failed_rank = error.rank();
    }
    go_on(world);
    if (rank == last_rank()) {
        CHECK(is_mine);
        double result = 0;
        CHECK(plan.try_allreduce(local, result) == code::spent);
    } else {
        CHECK(seen == code::rank_failed);
        CHECK(failed_rank == last_rank());
    }
}

using double_plan = treefold::plan<double>;

void exceptions(const treefold::comm &world)
{
    expect_failure(world, [](const double_plan &plan, std::span<const double> local) { static_cast<void>(plan.allreduce(local)); });
    expect_failure(world, [](const double_plan &plan, std::span<const double> local) {
        auto run = plan.start_allreduce(local);
        static_cast<void>(run.wait());
    });

    // The twins drop the exception and say that there was one.
    const std::array<double, 2> local{1, 2};
    const auto op = [](double left, double right) {
        if (rank == last_rank())
            throw mine("by the operator");
        return left + right;
    };
    const auto plan = treefold::plan_builder<double>(world, "failing", op).local_items(2).build();
    double result = 0;
    const auto failed = plan.try_allreduce(local, result);
    go_on(world);
    CHECK(failed == (rank == last_rank() ? code::operator_failed : code::rank_failed));

    // A wait drives all runs, so one plan's wait may run another one's operator.
    const auto at_root = [](double left, double right) {
        if (rank == 0)
            throw mine("by the operator");
        return left + right;
    };
    const auto throwing = treefold::plan_builder<double>(world, "failing", at_root).local_items(1).algorithm("binomial").build();
    const auto quiet = treefold::plan_builder<double>(world).local_items(1).algorithm("binomial").build();
    auto throwing_run = throwing.start_allreduce(std::span(local).first(1));
    auto quiet_run = quiet.start_allreduce(std::span(local).first(1));
    int exceptions_seen = 0;
    const auto wait_for = [&exceptions_seen](treefold::pending<double> &run) {
        try {
            static_cast<void>(run.wait());
        } catch (const mine &) {
            ++exceptions_seen;
        } catch (const treefold::error &error) {
            CHECK(error.code() == code::rank_failed);
        }
    };
    wait_for(quiet_run);
    wait_for(throwing_run);
    go_on(world);
    CHECK(ranks == 1 || rank != 0 || exceptions_seen > 0);

    // An operator cannot communicate: what its call throws comes through.
    std::optional<treefold::plan<double>> inner = sum_plan(world, 1);
    const auto communicates = [&inner](double left, double right) {
        return left + inner->allreduce(std::array{right});
    };
    const auto outer = treefold::plan_builder<double>(world, "communicates", communicates).local_items(2).build();
    CHECK(thrown([&] { static_cast<void>(outer.allreduce(local)); }) == code::operator_failed);
    go_on(world);
}

// ---- Mistakes in runs

void mistakes(const treefold::comm &world)
{
    const std::array<double, 3> local{1, 2, 3};
    std::array<double, 2> two{};
    double result = 0;

    // One rank's items are too few: it says so, the others hear of it.
    const auto plan = sum_plan(world, 3);
    const auto given = std::span<const double>(local).first(rank == 0 ? 2 : 3);
    const auto seen = thrown([&] { static_cast<void>(plan.allreduce(given)); });
    CHECK(seen == (rank == 0 ? code::length : code::rank_failed));
    CHECK(plan.try_allreduce(local, result) == code::spent);
    go_on(world);

    // In split phase, the wait says so.
    const auto split = sum_plan(world, 3);
    auto run = split.start_allreduce(given);
    CHECK(run.try_wait(result) == (rank == 0 ? code::length : code::rank_failed));
    go_on(world);

    // Every rank's result is too long.
    const auto short_plan = sum_plan(world, 3);
    CHECK(thrown([&] { short_plan.allreduce_into(local, two); }) == code::length);
    CHECK(thrown([&] { static_cast<void>(short_plan.allreduce(local)); }) == code::spent);
    go_on(world);

    // After a wait that was given a result of the wrong length, the plan runs again.
    const auto patient = treefold::plan_builder<double>(world).local_items(1).width(3).build();
    auto row_run = patient.start_allreduce_row(local);
    CHECK(thrown([&] { row_run.wait_into(two); }) == code::length);
    CHECK(thrown([&] { static_cast<void>(row_run.wait()); }) == code::null); // It has ended.
    CHECK(patient.allreduce_row(local) == (std::vector{1.0 * ranks, 2.0 * ranks, 3.0 * ranks}));
    CHECK(thrown([&] { static_cast<void>(patient.start_allreduce(local).wait()); }) == code::length); // A row is no item.
    CHECK(patient.allreduce_row(local).size() == 3);

    // A result among the items.
    std::array<double, 4> overlap{1, 2, 3, 4};
    const auto overlapping = treefold::plan_builder<double>(world).local_items(1).width(3).build();
    CHECK(overlapping.try_allreduce_into(std::span(overlap).first(3), std::span(overlap).last(3)) == code::argument);
    go_on(world);

    // Cancelled by one rank, on purpose or because it goes away.
    for (const bool by_destruction : {false, true}) {
        const auto cancelled = sum_plan(world, 3);
        std::optional started = cancelled.start_allreduce(local);
        if (rank != 0) {
            // They may have what they need of rank 0 already.
            const auto heard = started->try_wait(result);
            CHECK(heard == code::ok || heard == code::rank_failed);
        } else if (by_destruction) {
            started.reset();
        } else {
            started->cancel();
        }
        CHECK(rank != 0 || cancelled.try_allreduce(local, result) == code::spent);
        go_on(world);
    }
}

void moved_from(const treefold::comm &world)
{
    const std::array<double, 1> local{1};
    std::array<double, 1> row{};
    double result = 0;
    bool flag = false;
    std::optional<double> maybe;

    auto plan = sum_plan(world, 1);
    auto run = plan.start_allreduce(local);
    treefold::pending<double> other_run = std::move(run);
    treefold::plan<double> other = std::move(plan);
    CHECK(other_run.wait() == ranks);
    CHECK(other.allreduce(local) == ranks);
    run = std::move(other_run);
    run.cancel(); // There is nothing to cancel.

    // NOLINTBEGIN: that is what is tested.
    CHECK(thrown([&] { static_cast<void>(run.test()); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(run.wait_for(1s)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(run.wait()); }) == code::null);
    CHECK(run.try_test(flag) == code::null && run.try_wait_for(1s) == code::null && run.try_wait(result) == code::null);

    CHECK(plan.width() <= 1);
    CHECK(thrown([&] { static_cast<void>(plan.algorithm(operation::allreduce)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.scattered_columns()); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.to_string()); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.allreduce(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.allreduce_row(local)); }) == code::null);
    CHECK(thrown([&] { plan.allreduce_into(local, row); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.reduce(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.reduce_row(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.reduce_into(local, row)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.reduce_scatter(local)); }) == code::null);
    CHECK(thrown([&] { plan.reduce_scatter_into(local, row); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.scan(local)); }) == code::null);
    CHECK(thrown([&] { plan.scan_into(local, row); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.exscan(local)); }) == code::null);
    CHECK(thrown([&] { plan.exscan_into(local, row); }) == code::null);
    CHECK(thrown([&] { plan.broadcast(row); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.start_allreduce(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.start_allreduce_row(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.start_reduce(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.start_reduce_row(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.start_reduce_scatter(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.start_scan(local)); }) == code::null);
    CHECK(thrown([&] { static_cast<void>(plan.start_exscan(local)); }) == code::null);
    CHECK(plan.try_allreduce(local, result) == code::null && plan.try_allreduce_into(local, row) == code::null);
    CHECK(plan.try_reduce(local, maybe) == code::null && plan.try_reduce_into(local, row, flag) == code::null);
    CHECK(plan.try_reduce_scatter_into(local, row) == code::null);
    CHECK(plan.try_scan_into(local, row) == code::null && plan.try_exscan_into(local, row) == code::null);
    CHECK(plan.try_broadcast(row) == code::null && plan.try_start_allreduce(local, run) == code::null);
    // NOLINTEND

    // A plan that takes another's place.
    plan = std::move(other);
    other = sum_plan(world, 1);
    plan = std::move(other);
    CHECK(plan.allreduce(local) == ranks);
}

// Objects belong to the thread that made them. Another thread may destroy them, which abandons what they name.
void threads(const treefold::comm &world)
{
    const std::array<double, 1> local{1};
    const auto op = [state = std::make_shared<double>(0)](double left, double right) { return left + right + *state; };
    const auto plan = treefold::plan_builder<double>(world, "sum", op).local_items(1).build();
    code seen = code::ok;
    std::thread([&] { seen = thrown([&] { static_cast<void>(plan.allreduce(local)); }); }).join();
    CHECK(seen == code::argument);
    CHECK(plan.allreduce(local) == ranks);
    std::thread([&] { seen = thrown([&] { static_cast<void>(world.rank()); }); }).join();
    CHECK(seen == code::argument);

    // A run that another thread destroys goes on here, and keeps its operator, for ever.
    const treefold::comm own(MPI_COMM_WORLD);
    std::weak_ptr<double> kept;
    {
        auto state = std::make_shared<double>(0);
        kept = state;
        const auto sum = [state = std::move(state)](double left, double right) { return left + right + *state; };
        const auto other = treefold::plan_builder<double>(own, "sum", sum).local_items(1).build();
        auto run = other.start_allreduce(local);
        std::thread([run = std::move(run)] {}).join();
        double result = 0;
        CHECK(other.try_allreduce(local, result) == code::under_way);
    }
    go_on(own);
    CHECK(!kept.expired());
}

// They outlive MPI.
struct survivors {
    treefold::comm world;
    treefold::plan<double> plan;
    treefold::pending<double> run;
};

} // namespace

int main(int argc, char **argv)
{
    treefold::comm early;
    CHECK(treefold::comm::try_duplicate(MPI_COMM_WORLD, early) == code::mpi);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    survivors late;
    {
        const treefold::comm world(MPI_COMM_WORLD);
        communicators(world);
        types(world);
        shares(world);
        algorithms(world);
        blocking(world);
        rows(world);
        split_phase(world);
        time_out(world);
        exact_sums(world);
        exact_rows(world);
        exact_mistakes(world);
        operators(world);
        exceptions(world);
        mistakes(world);
        moved_from(world);
        threads(world);

        late.world = treefold::comm(MPI_COMM_WORLD);
        late.plan = sum_plan(late.world, 1);
        late.run = late.plan.start_allreduce(std::array{1.0});
        CHECK(late.run.wait_for(10min));
        go_on(world);
    }
    int all_failures = 0;
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();

    CHECK(late.plan.try_start_allreduce(std::array{1.0}, late.run) != code::ok);
    if (rank == 0)
        std::printf("treefold_mpi.hpp, %d ranks: %d checks failed\n", ranks, all_failures);
    return failures == 0 && all_failures == 0 ? 0 : 1;
}
