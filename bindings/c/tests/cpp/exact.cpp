// Tests the exact statistics in C++ of all items, by key and of windows. The results must be those of the C functions. Also passes wrong
// arguments.

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"
#include "statistics.hpp"

namespace {

using treefold::code;
using treefold::statistic_of;
using treefold::window;
namespace statistic = treefold::statistic;

template <class X, class S> concept has_exact = requires(const X &x, S of) { treefold::exact(of, x); };
template <class X, class S> concept has_exact_pairs = requires(const X &x, S of) { treefold::exact(of, x, x); };
template <class X, class S> concept has_by_key = requires(const X &x, S of) { treefold::by_key(of, std::array{1}, x, 3); };
template <class X> concept has_exact_sum = requires(const X &x) { treefold::exact_sum(x); };

static_assert(has_exact_sum<std::vector<float>> && has_exact_sum<std::span<const double>> && has_exact_sum<double[3]>);
static_assert(!has_exact_sum<std::vector<int>> && has_exact_sum<std::vector<std::complex<double>>>);
static_assert(has_exact<std::vector<double>, decltype(statistic::kurtosis)> && !has_exact<std::vector<double>, decltype(statistic::dot)>);
static_assert(has_exact_pairs<std::vector<float>, decltype(statistic::slope)>);
static_assert(!has_exact_pairs<std::vector<float>, decltype(statistic::sum)>);
static_assert(!has_exact<std::vector<std::complex<float>>, decltype(statistic::min)>);
static_assert(has_by_key<std::vector<int>, decltype(statistic::variance)> && !has_by_key<std::vector<int>, decltype(statistic::min)>);
static_assert(std::same_as<treefold::result_of<float, TREEFOLD_EXACT_COUNT>, std::uint64_t>);
static_assert(std::same_as<treefold::result_of<std::complex<float>, TREEFOLD_EXACT_STD>, float>);
static_assert(std::same_as<treefold::result_of<std::int8_t, TREEFOLD_EXACT_SUM>, std::int64_t>);
static_assert(std::same_as<treefold::result_of<std::uint16_t, TREEFOLD_EXACT_SUM>, std::uint64_t>);
static_assert(std::same_as<treefold::result_of<int, TREEFOLD_EXACT_MEAN>, double>);

// ---- Values

template <class T> void values()
{
    for (const std::size_t count : {0, 1, 100, 4097}) {
        const items<T> all{some_items<T>(0, count), some_items<T>(count, 2 * count), {}};
        CHECK(same_bits(treefold::exact_sum(all.x), of_all<TREEFOLD_EXACT_SUM>(all, 0)));
        CHECK(same_bits(treefold::exact_dot(all.x, all.y), of_all<TREEFOLD_EXACT_DOT>(all, 0)));
        CHECK(same_bits(treefold::exact(statistic::vdot, all.x, all.y), of_all<TREEFOLD_EXACT_VDOT>(all, 0)));
        if constexpr (treefold::floating<T>)
            CHECK(same_bits(treefold::exact_norm(all.x), of_all<TREEFOLD_EXACT_NORM>(all, 0)));
    }
    const std::array<T, 2> two{};
    const std::array<T, 3> three{};
    CHECK(treefold::try_(treefold::exact_dot, two, three).code() == code::length);
    CHECK(treefold::try_(treefold::exact, statistic::dot, two, three).code() == code::length);
    const std::span<const T> nowhere(static_cast<const T *>(nullptr), 2);
    CHECK(thrown([&] { return treefold::exact_sum(nowhere); }) == code::null);
    if constexpr (treefold::floating<T>)
        CHECK(treefold::try_(treefold::exact, statistic::kurtosis, two, treefold::options{.ddof = 2}).code() == code::argument);
}

// ---- All statistics

template <class T, treefold_statistic S> void walk(statistic_of<S> of, double ddof)
{
    const treefold::options given{.ddof = ddof};
    const auto all = draw<T>(900);
    if constexpr (treefold::has_statistic<T, S>) {
        const auto whole = with_arrays<S>(all, [&](const auto &...arrays) { return treefold::exact(of, arrays..., given); });
        CHECK(same_bits(whole, of_all<S>(all, ddof)));
    }
    using R = treefold::result_of<T, S>;
    const auto values = with_arrays<S>(all, [&](const auto &...x) { return treefold::by_key(of, all.keys, x..., groups, given); });
    static_assert(std::same_as<decltype(values), const std::vector<R>>);
    std::vector<R> result(groups), fewer(groups - 3);
    with_arrays<S>(all, [&](const auto &...arrays) { treefold::by_key_into(of, all.keys, arrays..., result, given); });
    CHECK(same_bits(values, of_keys<S>(all, ddof)) && same_bits(values, result));
    const auto wrong = [&](const auto &...arrays) { treefold::by_key_into(of, all.keys, arrays..., fewer, given); };
    CHECK(thrown("key 4; keys must be 0 to 3", [&] { with_arrays<S>(all, wrong); }) == code::argument);
    const std::vector<int> few(all.keys.begin(), all.keys.end() - 1);
    const auto too_few = [&](const auto &...arrays) { treefold::by_key_into(of, few, arrays..., result, given); };
    CHECK(thrown([&] { with_arrays<S>(all, too_few); }) == code::length);
}

template <class T, treefold_statistic S> void walk_rows(statistic_of<S> of, double ddof)
{
    const treefold::options given{.ddof = ddof};
    const std::size_t width = 3;
    const auto all = draw<T>(300 * width);
    const std::vector<std::uint8_t> keys(all.keys.begin(), all.keys.begin() + 300);
    const auto columns = columns_of(all.x, width);
    using R = treefold::result_of<T, S>;
    std::vector<R> result(groups * width), row(width), wrong(width + 1);
    if (S == TREEFOLD_EXACT_NORM) {
        CHECK(thrown([&] { return treefold::by_key_rows(of, keys, all.x, width, groups); }) == code::unsupported);
        CHECK(thrown([&] { return treefold::exact_rows(of, all.x, width); }) == code::unsupported);
        return;
    }
    treefold::by_key_rows_into(of, keys, all.x, width, result, given);
    treefold::exact_rows_into(of, all.x, width, row, given);
    CHECK(same_bits(treefold::by_key_rows(of, keys, all.x, width, groups, given), result));
    CHECK(same_bits(treefold::exact_rows(of, all.x, width, given), row));
    for (std::size_t c = 0; c < width; ++c) {
        const items<T> column{columns[c], {}, {all.keys.begin(), all.keys.begin() + 300}};
        const auto right = of_keys<S>(column, ddof);
        CHECK(same_bits(row[c], of_all<S>(column, ddof)));
        for (std::size_t key = 0; key < groups; ++key)
            CHECK(same_bits(result[key * width + c], right[key]));
    }
    CHECK(thrown([&] { return treefold::exact_rows(of, all.x, 7, given); }) == code::length);
    CHECK(thrown([&] { treefold::exact_rows_into(of, all.x, width, wrong, given); }) == code::length);
    CHECK(thrown([&] { return treefold::by_key_rows(of, keys, all.x, width + 1, groups, given); }) == code::length);
    // Even without rows and keys, the result has a row for each group.
    const std::vector<T> none;
    CHECK(treefold::by_key_rows(of, std::vector<int>(), none, width, groups, given).size() == groups * width);
}

// Tests windows of every kind. The results must be those of the C function.
template <class T, treefold_statistic S, class Index> void walk_windows(statistic_of<S> of, double ddof)
{
    const treefold::options given{.ddof = ddof};
    auto all = draw<T>(60);
    all.x[20] = std::numeric_limits<T>::quiet_NaN();
    const Index nine = 9;
    std::vector<Index> days(60);
    std::iota(days.begin(), days.end(), Index(1));
    using treefold::placement;
    const std::pair<window, treefold_window> windows[] = {
        {{.items = 9}, {9, nullptr, nullptr, 0, TREEFOLD_TRAILING, 0, 0}},
        {{.items = 9, .placement = placement::forward, .least_items = 7}, {9, nullptr, nullptr, 0, TREEFOLD_FORWARD, 7, 0}},
        {{.items = 9, .placement = placement::centred}, {9, nullptr, nullptr, 0, TREEFOLD_CENTRED, 0, 0}},
        {{.placement = placement::expanding, .skip_nan = true}, {0, nullptr, nullptr, 0, TREEFOLD_EXPANDING, 0, 1}},
        {{.index = {days, 9}, .least_items = 9}, {0, days.data(), &nine, type_of<Index>, TREEFOLD_TRAILING, 9, 0}},
    };
    for (const auto &[over, right_over] : windows) {
        std::vector<T> result(60), right(60);
        const std::size_t others = treefold::of_pairs<S> ? 60 : 0;
        CHECK(treefold_rolling(type_of<T>, S, ddof, &right_over, all.x.data(), 60, others == 0 ? nullptr : all.y.data(), others,
                               right.data(), 60) == TREEFOLD_OK);
        with_arrays<S>(all, [&](const auto &...arrays) {
            treefold::rolling_into(of, arrays..., over, result, given);
            CHECK(same_bits(result, right) && same_bits(treefold::rolling(of, arrays..., over, given), right));
        });
    }
    std::vector<T> result(59);
    const auto into = [&](const window &over) {
        return [&, over](const auto &...arrays) { treefold::rolling_into(of, arrays..., over, result, given); };
    };
    CHECK(thrown([&] { with_arrays<S>(all, into({.items = 9})); }) == code::length);
    result.resize(60);
    CHECK(thrown([&] { with_arrays<S>(all, into({})); }) == code::argument);
    CHECK(thrown([&] { with_arrays<S>(all, into({.index = {days, 0}})); }) == code::argument);
    days[30] = days[28];
    CHECK(thrown("30", [&] { with_arrays<S>(all, into({.index = {days, 9}})); }) == code::argument);
    days.pop_back();
    CHECK(thrown("one number for each item", [&] { with_arrays<S>(all, into({.index = {days, 9}})); }) == code::length);
}

// Tests windows over an empty array, and a sum that does not fit in 64 bits.
void edges()
{
    const std::vector<double> none;
    CHECK(treefold::rolling(statistic::sum, none, window{.items = 2}).empty());
    CHECK(treefold::rolling(statistic::sum, none, window{.index = {std::vector<int>(), 2}}).empty());
    const std::array<std::int64_t, 2> items{std::numeric_limits<std::int64_t>::min(), -1};
    CHECK(thrown("key 1", [&] { return treefold::by_key(statistic::sum, std::array{1, 1}, items, 2); }) == code::argument);
    CHECK(treefold::by_key(statistic::sum, std::array{0, 1}, items, 2)[1] == -1);
}

} // namespace

int main()
{
    for_types<float, double, std::complex<float>, std::complex<double>>([]<class T>() { values<T>(); });
    for (const double ddof : {0.0, 1.0}) {
        for_statistics([ddof]<treefold_statistic S>(statistic_of<S> of) {
            for_types<float, double, std::int8_t, std::uint16_t, std::int32_t, std::uint64_t>([&]<class T>() {
                if constexpr (treefold::has_statistic_by_key<T, S>)
                    walk<T>(of, ddof);
                if constexpr (treefold::floating<T> && !treefold::of_pairs<S>)
                    walk_rows<T>(of, ddof);
            });
            walk_windows<float, S, double>(of, ddof);
            walk_windows<double, S, std::int16_t>(of, ddof);
        });
    }
    edges();
    std::printf("exact statistics of treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
