// Walks the exact plans of treefold_mpi.hpp on any number of ranks, with right and wrong arguments, and compares bits with the exact
// functions of treefold.hpp.

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <treefold_mpi.hpp>

namespace {

using treefold::call;
using treefold::code;
using treefold::figure;
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

template <class T> bool same_bits(const T &one, const T &other)
{
    return std::memcmp(&one, &other, sizeof(T)) == 0;
}

template <class T> bool same_bits(const std::vector<T> &one, const std::vector<T> &other)
{
    return one.size() == other.size() && (one.empty() || std::memcmp(one.data(), other.data(), sizeof(T) * one.size()) == 0);
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

int last_rank()
{
    return ranks - 1;
}

// A plan by which the ranks agree that they all go on.
void go_on(const treefold::comm &world)
{
    const std::array one{1.0};
    CHECK(treefold::plan_builder<double>(world).even(static_cast<std::uint64_t>(ranks)).build().allreduce(one) == ranks);
}

// Plans in tree order have dot products, too.
void tree_dots(const treefold::comm &world)
{
    const auto tree = treefold::plan_builder<double>(world).local_items(2).build();
    const std::vector<double> x{1.5, 2}, y{2, 4};
    CHECK(tree.dot(x, y) == 11 * ranks && tree.start_dot(x, y).wait() == 11 * ranks);
    CHECK(tree.norm2(y) == std::sqrt(20.0 * ranks));
    const auto wide = treefold::plan_builder<double>(world).local_items(2).width(2).build();
    const std::vector<treefold::factors<double>> pairs{{x, y}, {y, y}};
    std::vector<double> sums(2);
    wide.dots(pairs, sums);
    const std::vector<double> expected{11.0 * ranks, 20.0 * ranks};
    CHECK(sums == expected && wide.start_dots(pairs).wait() == expected);
    const std::vector<treefold::factors<double>> torn{{x, y}, {y, std::span(y).first(1)}};
    CHECK(thrown([&] { wide.dots(torn, sums); }) == code::length);
}

// ---- Items

// Numbers of many magnitudes and both signs, whose sum loses what it has if it is rounded on the way.
template <class T> T wide(std::uint64_t number)
{
    if constexpr (treefold::complex_number<T>) {
        using part = typename T::value_type;
        return {wide<part>(2 * number), wide<part>(2 * number + 1)};
    } else {
        const int spread = sizeof(T) == 4 ? 60 : 300;
        const T fraction = static_cast<T>(1) / static_cast<T>(number + 1);
        const T scaled = std::ldexp(fraction, static_cast<int>(number * 7 % static_cast<unsigned>(spread)) - spread / 2);
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

// ---- Types

template <class T> void walk_type(const treefold::comm &world)
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

// ---- Calls

// Every call of a sum's plan.
void sums(const treefold::comm &world)
{
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
    CHECK(same_bits(plan.start_scan(local).wait(), inclusive));
    CHECK(same_bits(plan.start_exscan(local).wait(), exclusive));

    std::array row{1.0};
    CHECK(plan.try_broadcast(row) == code::unsupported);
    CHECK(same_bits(plan.allreduce(local), right)); // It is not spent.
}

// Several sums, norms or dot products at once, one for each column.
void rows(const treefold::comm &world)
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
    const auto totals = treefold::exact_sum_rows(all, width);

    const auto sum = treefold::exact_plan_builder<double>(world).width(width).build();
    const auto norm = treefold::exact_plan_builder<double, figure::norm>(world).width(width).build();
    const auto dot = treefold::exact_plan_builder<double, figure::dot>(world).width(width).build();
    CHECK(sum.width() == width && dot.width() == width);
    CHECK(same_bits(sum.allreduce_row(local), totals));
    CHECK(same_bits(norm.allreduce_row(local), norms));
    CHECK(same_bits(norm.reduce_row(local).value_or(norms), norms));
    const auto columns = sum.scattered_columns();
    const std::vector<double> mine(totals.begin() + static_cast<long>(columns.begin), totals.begin() + static_cast<long>(columns.end));
    CHECK(same_bits(sum.reduce_scatter(local), mine));
    CHECK(same_bits(sum.start_reduce_scatter(local).wait(), mine));

    const auto prefixes = sum.scan(local);
    CHECK(prefixes.size() == local.size());
    if (rank == last_rank() && !local.empty())
        CHECK(same_bits(std::vector(prefixes.end() - static_cast<long>(width), prefixes.end()), totals));

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

// ---- Mistakes

// What rank 0 does wrong, of which the others hear.
template <class Plan, class Right, class Wrong>
void expect_mistake(const treefold::comm &world, const Plan &plan, code expected, const Right &right, const Wrong &wrong)
{
    const auto seen = thrown([&] { rank == 0 ? wrong(plan) : right(plan); });
    CHECK(seen == (rank == 0 ? expected : code::rank_failed));
    CHECK(thrown([&] { right(plan); }) == code::spent);
    go_on(world);
}

void mistakes(const treefold::comm &world)
{
    using row_plan = treefold::plan<double>;
    using pair_plan = treefold::dot_plan<double>;
    const std::array<double, 4> x{1, 2, 3, 4};
    const auto two = std::span(x).first(2), three = std::span(x).first(3);
    std::array<double, 3> row{};

    const auto of_rows = treefold::exact_plan_builder<double>(world).width(2);
    const auto right_row = [&](const row_plan &plan) { static_cast<void>(plan.allreduce_row(two)); };
    expect_mistake(world, of_rows.build(), code::length, right_row,
                   [&](const row_plan &plan) { static_cast<void>(plan.allreduce_row(three)); });
    expect_mistake(world, of_rows.build(), code::length, right_row,
                   [&](const row_plan &plan) { plan.allreduce_into(two, row); });
    expect_mistake(world, of_rows.build(), code::length, right_row,
                   [&](const row_plan &plan) { static_cast<void>(plan.allreduce(two)); });

    const auto pairs = treefold::exact_plan_builder<double, figure::dot>(world);
    const auto right_pair = [&](const pair_plan &plan) { static_cast<void>(plan.allreduce(x, x)); };
    expect_mistake(world, pairs.build(), code::length, right_pair, [&](const pair_plan &plan) { static_cast<void>(plan.allreduce(x, two)); });
    expect_mistake(world, pairs.build(), code::length, right_pair, [&](const pair_plan &plan) { static_cast<void>(plan.allreduce({}, two)); });
    expect_mistake(world, pairs.build(), code::argument, right_pair, [&](const pair_plan &plan) {
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

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    {
        const treefold::comm world(MPI_COMM_WORLD);
        walk_type<float>(world);
        walk_type<double>(world);
        walk_type<std::complex<float>>(world);
        walk_type<std::complex<double>>(world);
        tree_dots(world);
        sums(world);
        rows(world);
        mistakes(world);
    }
    int all_failures = 0;
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        std::printf("exact plans of treefold_mpi.hpp, %d ranks: %d checks failed\n", ranks, all_failures);
    return failures == 0 && all_failures == 0 ? 0 : 1;
}
