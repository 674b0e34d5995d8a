// Runs the plans in tree order of treefold_mpi.hpp on any number of ranks, with valid and with invalid arguments. The bits of the results
// must be those that docs/order.md defines.

#include <algorithm>
#include <array>
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

#include "ranks.hpp"

namespace {

using treefold::plan_builder;
using treefold::range;
namespace ops = treefold::ops;
using namespace std::chrono_literals;

// An uneven distribution: rank r has 3 r + 1 items, except that rank 1 has none.
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

// ---- Communicators

void communicators(const treefold::comm &world)
{
    CHECK(world.rank() == rank && world.size() == ranks);
    treefold::comm other(MPI_COMM_WORLD);
    other.measure_link();
    other.silence_limit(10min);
    for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN()})
        CHECK(thrown([&] { other.silence_limit(std::chrono::duration<double>(wrong)); }) == code::argument);
    CHECK(thrown([] { treefold::comm none(MPI_COMM_NULL); }) == code::argument);

    treefold::comm brief(MPI_COMM_WORLD);
    brief.interruption(nullptr);
    brief.interruption([](void *) { return 0; });
    brief.free();
    brief.free();
    CHECK(thrown([&] { brief.interruption(nullptr); }) == code::null);

    // The program may free its own communicator.
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &reversed);
    treefold::comm backwards(reversed);
    MPI_Comm_free(&reversed);
    CHECK(backwards.rank() == ranks - 1 - rank);
    const std::array<std::int64_t, 1> mine{rank};
    const auto before = plan_builder<std::int64_t>(backwards).local_items(1).build().exscan(mine);
    CHECK(before.front() == (ranks - 1 - rank) * (ranks + rank) / 2);

    const treefold::comm moved = std::move(other);
    CHECK(moved.size() == ranks && thrown([&] { return other.rank(); }) == code::null);
    CHECK(thrown([&] { other.measure_link(); }) == code::null && thrown([&] { other.silence_limit(1s); }) == code::null);
    CHECK(thrown([&] { return sum_plan(other, 1); }) == code::null);
}

// ---- Types and operators

template <class T, class Op> constexpr bool is_buildable = std::is_constructible_v<plan_builder<T>, const treefold::comm &, Op>;

static_assert(is_buildable<double, decltype(ops::min)> && !is_buildable<std::complex<double>, decltype(ops::min)>);
static_assert(!is_buildable<bool, decltype(ops::sum)> && !is_buildable<long double, decltype(ops::sum)>);

// Checks every call of the plans for a type and an operator, with width 1 and with width 5.
template <class T, treefold_op Op> void walk(const treefold::comm &world, treefold::builtin<Op> op)
{
    const share mine;
    for (const std::size_t width : {1U, 5U}) {
        const auto local = some_items<T>(width * mine.begin, width * mine.end), all = some_items<T>(0, width * mine.all);
        const auto right = treefold::fold_rows(all, width, op);
        const auto plan = plan_builder<T>(world, op).local_items(mine.count()).width(width).root(last_rank()).build();
        walk_reductions(plan, right, last_rank(), local);
        walk_scattered(plan, right, local);
        std::vector<T> row(width, some_item<T>(static_cast<std::uint64_t>(rank)));
        plan.broadcast(row);
        CHECK(same_bits(row, std::vector<T>(width, some_item<T>(static_cast<std::uint64_t>(last_rank())))));

        // The first result of an exclusive scan is the operator's value for no items. Minimum and maximum have none, so exscan fails.
        constexpr bool has_empty = Op <= TREEFOLD_PRODUCT;
        std::vector<T> inclusive, exclusive;
        for (std::size_t i = 0; i < local.size(); ++i) {
            const auto column = columns_of(all, width)[i % width];
            const auto until = std::span(column).first(mine.begin + i / width + 1);
            if (has_empty)
                exclusive.push_back(treefold::fold(until.first(until.size() - 1), op));
            inclusive.push_back(treefold::fold(until, op));
        }
        if (has_empty)
            walk_scans(plan, inclusive, exclusive, local);
        else
            CHECK(same_bits(plan.scan(local), inclusive) && thrown([&] { return plan.exscan(local); }) != code::ok);
    }
}

template <class T> void walk_operators(const treefold::comm &world)
{
    walk<T>(world, ops::sum);
    walk<T>(world, ops::product);
    if constexpr (!treefold::complex_number<T>) {
        walk<T>(world, ops::min);
        walk<T>(world, ops::max);
        CHECK(built(plan_builder<T>(world, ops::max).local_items(0)) == code::empty);
    }
}

// Checks dot products (sums of products in tree order) and sums in lanes.
template <class T> void dots_and_lanes(const treefold::comm &world)
{
    const share mine;
    const auto x = some_items<T>(0, 3 * mine.all), y = some_items<T>(500, 500 + 3 * mine.all);
    const auto own = [&](const std::vector<T> &all, std::size_t width) {
        return part(all, {width * mine.begin, width * mine.end});
    };
    std::vector<T> right;
    std::vector<std::vector<T>> own_x, own_y;
    for (std::size_t c = 0; c < 3; ++c) {
        right.push_back(treefold::dot(columns_of(x, 3)[c], columns_of(y, 3)[c]));
        own_x.push_back(columns_of(own(x, 3), 3)[c]);
        own_y.push_back(columns_of(own(y, 3), 3)[c]);
    }
    const auto builder = plan_builder<T>(world).local_items(mine.count()).root(last_rank());
    const auto with_width = [&](std::size_t width) { return plan_builder<T>(builder).width(width); };
    walk_reductions(with_width(1).build(), {right[0]}, last_rank(), own_x[0], own_y[0]);
    walk_reductions(with_width(3).build(), right, last_rank(), own(x, 3), own(y, 3));
    const std::vector<treefold::factors<T>> pairs{{own_x[0], own_y[0]}, {own_x[1], own_y[1]}, {own_x[2], own_y[2]}};
    walk_reductions(with_width(3).build(), right, last_rank(), pairs);
    auto torn = pairs;
    torn[1].second = own_y[1].empty() ? std::span<const T>(x).first(1) : std::span<const T>();
    CHECK(thrown("the arrays of the pairs differ", [&] { return with_width(3).build().allreduce(torn); }) == code::length);
    go_on(world);

    for (const std::size_t lanes : {1U, 16U}) {
        const auto first = lanes * static_cast<std::uint64_t>(rank), all = lanes * static_cast<std::uint64_t>(ranks);
        const auto plan = plan_builder<T>(world).local_items(lanes).lanes(lanes).root(last_rank()).build();
        const std::vector<T> sum{treefold::sum_lanes(some_items<T>(0, all), lanes)};
        const auto local = some_items<T>(first, first + lanes);
        walk_reductions(plan, sum, last_rank(), local);
    }
    for (const std::size_t wrong : {0U, (1U << 20) + 1})
        CHECK(built(plan_builder<T>(builder).lanes(wrong)) == code::argument);
    CHECK(built(plan_builder<T>(world, ops::max).local_items(1).lanes(2)) == code::unsupported);
}

// ---- Which rank has which items

void shares(const treefold::comm &world)
{
    const std::uint64_t count = 103;
    const auto all = some_items<double>(0, count);
    const double right = treefold::sum(all);
    const auto size = static_cast<std::uint64_t>(ranks), me = static_cast<std::uint64_t>(rank);

    // The blocks of the ranks are in reverse order, and the two halves of each block are swapped.
    const std::uint64_t begin = count * (size - 1 - me) / size, end = count * (size - me) / size, middle = (begin + end) / 2;
    auto local = some_items<double>(middle, end);
    const auto front = some_items<double>(begin, middle);
    local.insert(local.end(), front.begin(), front.end());
    const auto reversed = plan_builder<double>(world).extents({{middle, end}, {begin, middle}}).items(count).build();
    CHECK(same_bits(reversed.allreduce(local), right));
    const auto prefixes = reversed.scan(local);
    CHECK(same_bits(prefixes.front(), treefold::sum(std::span(all).first(middle + 1))));
    CHECK(same_bits(prefixes.back(), treefold::sum(std::span(all).first(middle))));

    const std::uint64_t more = std::min(me, count % size), even_begin = count / size * me + more;
    const auto even_local = some_items<double>(even_begin, even_begin + count / size + (me < count % size));
    CHECK(same_bits(plan_builder<double>(world).even(count).build().allreduce(even_local), right));
    CHECK(same_bits(plan_builder<double>(world).even(count).agreed().build().allreduce(even_local), right));
    std::vector<double> cyclic_local;
    for (std::uint64_t number = 0; number < count; ++number)
        if (number / 4 % size == me)
            cyclic_local.push_back(all[number]);
    CHECK(same_bits(plan_builder<double>(world).block_cyclic(count, 4).build().allreduce(cyclic_local), right));

    // Impossible distributions.
    const auto of_one = [&] { return plan_builder<double>(world).local_items(1); };
    CHECK(built(plan_builder<double>(world)) == code::argument && built(of_one().agreed()) == code::argument);
    CHECK(built(of_one().items(size + 1)) == code::disagree);
    CHECK(built(of_one().width(rank == 0 ? 2 : 3)) == (ranks == 1 ? code::ok : code::disagree));

    // Checks invalid settings, first on every rank, then only on rank 0. In the second case, other ranks get an error that names rank 0.
    using builder = plan_builder<double>;
    const auto wrong = [&](const char *words, auto set) {
        auto everywhere = of_one(), on_first = of_one();
        set(everywhere);
        CHECK(thrown(words, [&] { return everywhere.build(); }) == code::argument);
        if (rank == 0)
            set(on_first);
        CHECK(thrown(rank == 0 ? words : "", [&] { return on_first.build(); }) == code::argument);
        CHECK(rank == 0 || treefold_last_error_rank() == 0);
    };
    wrong("`rank`: -1", [](builder &of) { of.root(-1); });
    wrong("`elements`", [](builder &of) { of.width(0); });
    wrong("{5, 3} ends before it begins", [](builder &of) { of.extents({{5, 3}}); });
    wrong("no such name", [](builder &of) { of.algorithm("no such name"); });
    wrong("parameter", [](builder &of) { of.parameter(treefold::parameter{7}, 1); });
    for (const auto parameter : {treefold::parameter::blocks, treefold::parameter::ports, treefold::parameter::node_ranks,
                                 treefold::parameter::message_limit})
        wrong("0", [parameter](builder &of) { of.parameter(parameter, 0); });
    go_on(world);
}

// ---- Algorithms

void algorithms(const treefold::comm &world)
{
    const share mine;
    const auto local = some_items<double>(5 * mine.begin, 5 * mine.end);
    const auto right = treefold::sum_rows(some_items<double>(0, 5 * mine.all), 5);
    const auto names = treefold::algorithm_names();
    CHECK(names.size() > 20 && std::find(names.begin(), names.end(), "recursive-doubling") != names.end());

    using treefold::parameter;
    auto builder = plan_builder<double>(world).local_items(mine.count()).width(5).parameter(parameter::blocks, 2);
    builder.parameter(parameter::ports, 2).parameter(parameter::node_ranks, 2).parameter(parameter::message_limit, 3);
    for (const auto name : {"binary-pipelined", "bruck", "hierarchical"}) {
        const auto plan = builder.algorithm(name).build();
        CHECK(plan.algorithm(operation::allreduce) == name && same_bits(plan.allreduce_row(local), right));
        CHECK(plan.to_string().size() > 10 && plan.to_string().find('\0') == std::string::npos);
    }
    const auto native = builder.algorithm("mpi-native").build();
    CHECK(!native.algorithm(operation::scan) && thrown([&] { return native.scan(local); }) == code::unsupported);
    CHECK(same_bits(native.allreduce_row(local), right)); // The plan is not spent.
}

// ---- Split phase

template <class R> concept waits_into = requires(treefold::run<double, R> run, std::span<double> result) { run.wait_into(result); };

static_assert(!waits_into<double> && waits_into<std::vector<double>> && waits_into<std::optional<std::vector<double>>>);
static_assert(!waits_into<bool>);
static_assert(std::is_same_v<decltype(std::declval<treefold::run<double, std::optional<double>> &>().wait()), std::optional<double>>);
static_assert(!std::is_copy_constructible_v<treefold::run<double>> && std::is_nothrow_move_constructible_v<treefold::run<double>>);
static_assert(!std::is_copy_constructible_v<treefold::plan<double>> && std::is_nothrow_move_assignable_v<treefold::plan<double>>);
static_assert(!std::is_copy_constructible_v<treefold::comm> && std::is_nothrow_move_constructible_v<treefold::comm>);

void split_phase(const treefold::comm &world)
{
    const share mine;
    auto local = some_items<double>(mine.begin, mine.end);
    const auto kept = local, all = some_items<double>(0, mine.all);
    const double right = treefold::sum(all);
    const auto plan = sum_plan(world, mine.count());
    auto sum = plan.start_allreduce(local);
    std::fill(local.begin(), local.end(), 0.0); // The start has already folded the items.
    CHECK(same_bits(sum.wait(), right));
    local = kept;

    // A plan has one run at a time.
    auto under_way = plan.start_allreduce(local);
    CHECK(thrown([&] { return plan.start_allreduce(local); }) == code::under_way);
    CHECK(under_way.wait_for(10min) && under_way.wait_for(-1s)); // The run is already over.
    CHECK(same_bits(under_way.wait(), right));

    // A run outlives its plan and its communicator.
    treefold::run<double> orphan;
    {
        const treefold::comm other(MPI_COMM_WORLD);
        orphan = sum_plan(other, mine.count()).start_allreduce(local);
    }
    CHECK(same_bits(orphan.wait(), right));
}

// Checks several runs at once. The ranks wait for the runs in different orders, or for all runs with one call.
void several_runs(const treefold::comm &world)
{
    const std::array<double, 3> local{1.0 * rank, 2, 3};
    const auto row_builder = plan_builder<double>(world).local_items(1).width(3).root(last_rank());
    const auto one = row_builder.build(), two = row_builder.build();
    const auto floats = plan_builder<float>(world, ops::max).local_items(1).build();
    const std::vector<double> right{ranks * (ranks - 1) / 2.0, 2.0 * ranks, 3.0 * ranks};
    auto first = one.start_allreduce_row(local), second = two.start_allreduce_row(local);
    auto &early = rank % 2 == 0 ? second : first, &late = rank % 2 == 0 ? first : second;
    CHECK(early.wait() == right && late.wait() == right);

    std::vector<double> sums(3), at_root(3);
    std::array<float, 1> greatest{};
    auto sum_run = one.start_into(operation::allreduce, local, sums);
    auto root_run = two.start_into(operation::reduce, local, rank == last_rank() ? std::span(at_root) : std::span<double>());
    auto float_run = floats.start_into(operation::allreduce, std::array{static_cast<float>(rank)}, greatest);
    treefold::run<double, bool> no_run;
    treefold::wait_all(sum_run, no_run, root_run, float_run);
    CHECK(sums == right && greatest[0] == static_cast<float>(last_rank()));
    CHECK(at_root == (rank == last_rank() ? right : std::vector<double>(3)));
    CHECK(!one.is_pending() && !two.is_pending() && thrown([&] { return sum_run.wait(); }) == code::null);
    treefold::wait_all();
    std::vector<treefold::run<double, bool>> runs(2);
    runs[0] = one.start_into(operation::allreduce, local, sums);
    treefold::wait_all(std::span(runs));
    CHECK(sums == right && thrown([&] { return runs[0].wait(); }) == code::null);

    // If a result span has the wrong length, wait_all fails after all runs have ended, and the plans can run again.
    sum_run = one.start_into(operation::allreduce, local, std::span(sums).first(2));
    root_run = two.start_into(operation::allreduce, local, at_root);
    CHECK(thrown([&] { treefold::wait_all(sum_run, root_run); }) == code::length);
    CHECK(at_root == right && !one.is_pending() && !two.is_pending() && one.allreduce_row(local) == right);
}

// Checks that waits time out. Rank 0 makes its call only after the waits of the other ranks have timed out.
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
    CHECK(!run.test());
    MPI_Send(&word, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
    CHECK(run.wait() == ranks);
}

// ---- User-defined operators

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

// The type has padding bytes, which no rank sets.
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

    // The operator is a lambda with state. The plan owns a copy of the lambda, which remains after the scope ends.
    std::optional<treefold::plan<affine>> plan;
    {
        const auto neutral = std::make_shared<affine>(affine{1, 0});
        const auto op = [neutral](const affine &left, const affine &right) { return after(left, after(*neutral, right)); };
        plan = plan_builder<affine>(world, "affine", op, *neutral).local_items(each).build();
        CHECK(neutral.use_count() > 1);
    }
    const affine right = tree(all, &after);
    const auto before = std::span<const affine>(all).first(first);
    CHECK(same_bits(plan->allreduce(local), right));
    CHECK(same_bits(plan->exscan(local).front(), before.empty() ? affine{1, 0} : tree(before, &after)));

    // The run owns the lambda, too.
    auto orphan = plan->start_allreduce(local);
    plan.reset();
    CHECK(same_bits(orphan.wait(), right));

    // The operator is a function. One builder builds two plans, which run at the same time.
    const auto builder = plan_builder<affine>(world, "affine", &after).local_items(each);
    const auto one = builder.build(), two = builder.build();
    auto one_run = one.start_allreduce(local), two_run = two.start_allreduce(local);
    CHECK(same_bits(two_run.wait(), right) && same_bits(one_run.wait(), right));
    CHECK(thrown([&] { return one.exscan(local); }) == code::empty);

    // Ranks compare the value for no items, but not its padding bytes.
    padded nothing;
    std::memset(static_cast<void *>(&nothing), rank, sizeof nothing);
    nothing.value = 0;
    nothing.count = 0;
    const auto join = [](const padded &l, const padded &r) {
        return padded{l.value + r.value, static_cast<std::int8_t>(l.count + r.count)};
    };
    const auto padded_builder = [&](const char *name) { return plan_builder<padded>(world, name, join, nothing).local_items(1); };
    CHECK(padded_builder("padded").build().allreduce(std::array{padded{0.5, 1}}).count == ranks);
    CHECK(built(padded_builder(rank == 0 ? "one" : "other")) == (ranks == 1 ? code::ok : code::disagree));
    nothing.value = rank;
    CHECK(built(padded_builder("padded")) == (ranks == 1 ? code::ok : code::disagree));
}

struct mine : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Checks a call whose operator throws on the last rank; `run` makes the call.
template <class Run> void expect_failure(const treefold::comm &world, const Run &run)
{
    const std::array<double, 4> local{1, 2, 3, 4};
    const auto op = [](double left, double right) {
        if (rank == last_rank())
            throw mine("by the operator");
        return left + right;
    };
    const auto plan = plan_builder<double>(world, "failing", op).local_items(local.size()).build();
    std::string seen;
    try {
        run(plan, std::span<const double>(local));
    } catch (const mine &error) {
        seen = error.what();
    } catch (const treefold::error &error) {
        CHECK(error.code() == code::rank_failed && error.rank() == last_rank());
        seen = "another rank failed";
    }
    go_on(world);
    CHECK(seen == (rank == last_rank() ? "by the operator" : "another rank failed"));
    CHECK(rank != last_rank() || thrown([&] { return plan.allreduce(local); }) == code::spent);
}

using double_plan = treefold::plan<double>;

void exceptions(const treefold::comm &world)
{
    expect_failure(world, [](const double_plan &plan, std::span<const double> local) { static_cast<void>(plan.allreduce(local)); });
    expect_failure(world, [](const double_plan &plan, std::span<const double> local) {
        static_cast<void>(plan.start_allreduce(local).wait());
    });
    expect_failure(world, [](const double_plan &plan, std::span<const double> local) {
        std::array<double, 1> result{};
        auto run = plan.start_into(operation::allreduce, local, result);
        treefold::wait_all(run);
    });

    const std::array<double, 2> local{1, 2};
    // A wait advances all runs, so a wait for one plan's run may call another plan's operator.
    const auto at_root = [](double left, double right) {
        if (rank == 0)
            throw mine("by the operator");
        return left + right;
    };
    const auto throwing = plan_builder<double>(world, "failing", at_root).local_items(1).algorithm("binomial").build();
    const auto quiet = plan_builder<double>(world).local_items(1).algorithm("binomial").build();
    auto throwing_run = throwing.start_allreduce(std::span(local).first(1));
    auto quiet_run = quiet.start_allreduce(std::span(local).first(1));
    int exceptions_seen = 0;
    for (auto *run : {&quiet_run, &throwing_run})
        try {
            static_cast<void>(run->wait());
        } catch (const mine &) {
            ++exceptions_seen;
        } catch (const treefold::error &error) {
            CHECK(error.code() == code::rank_failed);
        }
    go_on(world);
    CHECK(ranks == 1 || rank != 0 || exceptions_seen > 0);

    // An operator must not communicate. If it makes such a call, the call throws, and the exception reaches the caller of the plan.
    std::optional<treefold::plan<double>> inner = sum_plan(world, 1);
    const auto communicates = [&inner](double left, double right) {
        return left + inner->allreduce(std::array{right});
    };
    const auto outer = plan_builder<double>(world, "communicates", communicates).local_items(2).build();
    CHECK(thrown([&] { return outer.allreduce(local); }) == code::operator_failed);
    go_on(world);
}

// ---- Mistakes in runs

void mistakes(const treefold::comm &world)
{
    const std::array<double, 3> local{1, 2, 3};
    std::array<double, 2> two{};

    // Rank 0 passes too few items. It gets a length error, and the other ranks get rank_failed. After a start, the wait throws.
    const auto given = std::span<const double>(local).first(rank == 0 ? 2 : 3);
    for (const bool is_split : {false, true}) {
        const auto plan = sum_plan(world, 3);
        CHECK(thrown([&] { return is_split ? plan.start_allreduce(given).wait() : plan.allreduce(given); }) == heard(code::length));
        CHECK(thrown([&] { return plan.allreduce(local); }) == code::spent);
        go_on(world);
    }

    // All ranks pass a result span of the wrong length, or start an operation that cannot be started.
    const auto short_plan = sum_plan(world, 3);
    CHECK(thrown([&] { short_plan.run_into(operation::allreduce, local, two); }) == code::length);
    CHECK(thrown([&] { return sum_plan(world, 3).start_into(operation::broadcast, local, two).wait(); }) == code::argument);
    go_on(world);

    // If a wait is given a result span of the wrong length, it throws, but the plan can run again.
    const auto patient = plan_builder<double>(world).local_items(1).width(3).build();
    auto row_run = patient.start_allreduce_row(local);
    CHECK(thrown([&] { row_run.wait_into(two); }) == code::length);
    CHECK(thrown([&] { return row_run.wait(); }) == code::null); // The run has ended.
    CHECK(thrown([&] { return patient.start_allreduce(local).wait(); }) == code::length); // A row is not a single item.
    CHECK(patient.allreduce_row(local) == (std::vector{1.0 * ranks, 2.0 * ranks, 3.0 * ranks}));

    // Rank 0 cancels its run by a call, or by destroying the run.
    for (const bool by_destruction : {false, true}) {
        const auto cancelled = sum_plan(world, 3);
        std::optional started = cancelled.start_allreduce(local);
        if (rank != 0) {
            // The other ranks may already have received what they need from rank 0.
            const auto seen = thrown([&] { return started->wait(); });
            CHECK(seen == code::ok || seen == code::rank_failed);
        } else if (by_destruction) {
            started.reset();
        } else {
            started->cancel();
        }
        CHECK(rank != 0 || thrown([&] { return cancelled.allreduce(local); }) == code::spent);
        go_on(world);
    }
}

void moved_from(const treefold::comm &world)
{
    const std::array<double, 1> x{1};
    std::array<double, 1> row{};
    auto plan = sum_plan(world, 1);
    auto run = plan.start_allreduce(x);
    treefold::run<double> other_run = std::move(run);
    treefold::plan<double> other = std::move(plan);
    CHECK(other_run.wait() == ranks && other.allreduce(x) == ranks);
    run = std::move(other_run);
    run.cancel(); // There is nothing to cancel.

    const auto is_null = [](auto... calls) { return ((thrown(calls) == code::null) && ...); };
    CHECK(is_null([&] { return run.test(); }, [&] { return run.wait_for(1s); }, [&] { return run.wait(); }, [&] { return run.algorithm(); },
                  [&] { return run.plan_handle(); }, [&] { return plan.algorithm(operation::scan); },
                  [&] { return plan.scattered_columns(); }, [&] { return plan.to_string(); }, [&] { return plan.is_pending(); },
                  [&] { plan.broadcast(row); }, [&] { return plan.allreduce(x); }, [&] { return plan.reduce_row(x); },
                  [&] { return plan.exscan(x); }, [&] { return plan.run_into(operation::scan, x, row); },
                  [&] { return plan.allreduce(x, x); }, [&] { return plan.start_allreduce(x); },
                  [&] { return plan.start_into(operation::scan, x, row); }));

    // Moves a plan into a variable that holds another plan.
    plan = std::move(other);
    other = sum_plan(world, 1);
    plan = std::move(other);
    CHECK(plan.allreduce(x) == ranks);
}

// An object belongs to the thread that created it. If another thread destroys the object, the library keeps what the object's handle names.
void threads(const treefold::comm &world)
{
    const std::array<double, 1> local{1};
    const auto op = [state = std::make_shared<double>(0)](double left, double right) { return left + right + *state; };
    const auto plan = plan_builder<double>(world, "sum", op).local_items(1).build();
    code seen = code::ok;
    std::thread([&] { seen = thrown([&] { return plan.allreduce(local); }); }).join();
    CHECK(seen == code::argument);
    CHECK(plan.allreduce(local) == ranks);
    std::thread([&] { seen = thrown([&] { return world.rank(); }); }).join();
    CHECK(seen == code::argument);

    // A run that another thread destroys continues in this thread, and keeps its operator forever.
    const treefold::comm own(MPI_COMM_WORLD);
    std::weak_ptr<double> kept;
    {
        auto state = std::make_shared<double>(0);
        kept = state;
        const auto sum = [state = std::move(state)](double left, double right) { return left + right + *state; };
        const auto other = plan_builder<double>(own, "sum", sum).local_items(1).build();
        auto run = other.start_allreduce(local);
        std::thread([run = std::move(run)] {}).join();
        CHECK(thrown([&] { return other.allreduce(local); }) == code::under_way);
    }
    go_on(own);
    CHECK(!kept.expired());
}

// These objects are destroyed after MPI_Finalize.
struct survivors {
    treefold::comm world;
    treefold::plan<double> plan;
    treefold::run<double> run;
};

} // namespace

int main(int argc, char **argv)
{
    CHECK(thrown([] { return treefold::comm(MPI_COMM_WORLD); }) == code::mpi);
    survivors late;
    const int result = on_ranks(argc, argv, "plans in tree order of treefold_mpi.hpp", [&late](const treefold::comm &world) {
        communicators(world);
        for_types<float, double, std::complex<float>, std::complex<double>, std::int8_t, std::int16_t, std::int32_t, long, long long,
                  std::uint8_t, std::uint16_t, std::uint32_t, unsigned long, unsigned long long>(
            [&world]<class T>() { walk_operators<T>(world); });
        for_types<float, double>([&world]<class T>() { dots_and_lanes<T>(world); });
        for (const auto &test : {shares, algorithms, split_phase, several_runs, time_out, operators, exceptions, mistakes, moved_from,
                                 threads})
            test(world);

        late.world = treefold::comm(MPI_COMM_WORLD);
        late.plan = sum_plan(late.world, 1);
        late.run = late.plan.start_allreduce(std::array{1.0});
        CHECK(late.run.wait_for(10min));
        go_on(world);
    });
    CHECK(thrown([&] { return late.plan.start_allreduce(std::array{1.0}); }) != code::ok);
    return result != 0 || failures != 0;
}
