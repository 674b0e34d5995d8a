// Walks the functions of treefold_mpi.hpp on any number of ranks, with right and wrong arguments, and compares bits with the
// definition in docs/order.md.

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
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

    // What cannot be on one rank alone: it has its own error, and the others hear of it.
    const auto lonely = [&](auto builder, code own, const char *words) {
        const auto status = builder.try_build(plan);
        if (rank == 0)
            CHECK(status == own && std::strstr(treefold_last_error(), words) != nullptr);
        else
            CHECK(status == code::argument && treefold_last_error_rank() == 0);
        CHECK(thrown([&] { static_cast<void>(builder.build()); }) == (rank == 0 ? own : code::argument));
    };
    const auto on_first = [&](auto wrong) {
        auto builder = treefold::plan_builder<double>(world).local_items(1);
        return rank == 0 ? wrong(builder) : builder;
    };
    using real_builder = treefold::plan_builder<double>;
    lonely(on_first([](real_builder b) { return b.root(-1); }), code::argument, "`rank`: -1");
    lonely(on_first([&](real_builder b) { return b.root(ranks); }), code::argument, "is no rank of");
    lonely(on_first([](real_builder b) { return b.width(0); }), code::argument, "`elements`: 0");
    lonely(on_first([](real_builder b) { return b.extents({{5, 3}}); }), code::argument, "{5, 3} ends before it begins");
    lonely(on_first([](real_builder b) { return b.blocks(0); }), code::argument, "`blocks`: 0");
    lonely(on_first([](real_builder b) { return b.algorithm("no such name"); }), code::argument, "no such name");

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
    CHECK(same_bits(plan.start_scan(local).wait(), prefixes));
}

// ---- Split phase

template <class T, call Call>
concept waits_alone = requires(treefold::pending<T, Call> run) { run.wait(); };

template <class T, call Call>
concept waits_into = requires(treefold::pending<T, Call> run, std::span<T> result) { run.wait_into(result); };

static_assert(waits_alone<double, call::allreduce> && !waits_into<double, call::allreduce>);
static_assert(waits_alone<double, call::reduce> && !waits_into<double, call::reduce>);
static_assert(waits_alone<double, call::reduce_row> && waits_into<double, call::reduce_row>);
static_assert(waits_alone<double, call::reduce_scatter> && waits_into<double, call::reduce_scatter>);
static_assert(waits_alone<double, call::scan> && waits_into<double, call::scan>);
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

    CHECK(!plan.is_pending());
    auto sum = plan.start_allreduce(local);
    CHECK(plan.is_pending() && sum.plan_handle() == plan.handle());
    CHECK(sum.algorithm() == plan.algorithm(treefold::operation::allreduce).value_or("none"));
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
    CHECK(same_bits(plan.start_scan(local).wait(), plan.scan(local)));
    CHECK(plan.try_start_scan(local, scan) == code::ok && scan.try_wait_into(prefixes) == code::ok);
    CHECK(same_bits(prefixes, plan.scan(local)));
    CHECK(plan.try_start_exscan(local, scan) == code::ok);
    std::fill(local.begin(), local.end(), 0.0); // A scan is of what it was started with.
    scan.wait_into(prefixes);
    local = kept;
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
