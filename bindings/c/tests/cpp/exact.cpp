// Exact statistics in C++, of all items, by key and of windows: values that only an exact sum gives, the definitions, and wrong arguments.

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <span>
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
    using limits = std::numeric_limits<T>;
    const T large = std::ldexp(T{1}, limits::max_exponent - 2), most = limits::max();
    const auto sum = [](auto... x) { return treefold::exact_sum(std::array{x...}); };
    CHECK(same_bits(sum(large, T{1}, -large), T{1}) && same_bits(sum(most, most, -most), most));
    CHECK(same_bits(sum(most, most), limits::infinity()) && same_bits(sum(T{-0.0}, T{-0.0}), T{-0.0}));
    CHECK(same_bits(sum(T{1}, T{-1}), T{0}) && same_bits(sum(T{1}, -limits::quiet_NaN()), limits::quiet_NaN()));
    CHECK(same_bits(treefold::exact_dot(std::array{large, T{3}, large}, std::array{large, T{4}, -large}), T{12}));
    CHECK(same_bits(treefold::exact_norm(std::array{3 * (large / 8), 4 * (large / 8)}), 5 * (large / 8)));
    CHECK(same_bits(treefold::exact_norm(std::array{most}), most));
    CHECK(same_bits(treefold::exact(statistic::mean, std::array{most, most, T{0}, T{0}}), most / 2));

    const std::array<T, 2> two{};
    const std::array<T, 3> three{};
    CHECK(treefold::try_(treefold::exact_dot, two, three).code() == code::length);
    CHECK(treefold::try_(treefold::exact, statistic::slope, two, three).code() == code::length);
    CHECK(treefold::try_(treefold::exact, statistic::kurtosis, two, treefold::options{.ddof = 2}).code() == code::argument);
    const std::span<const T> nowhere(static_cast<const T *>(nullptr), 2);
    CHECK(thrown([&] { return treefold::exact_sum(nowhere); }) == code::null);
    CHECK(std::isinf(treefold::exact(statistic::variance, std::array<T, 2>{1, 2}, {.ddof = 2})));

    // Sums do not depend on the order, the number of threads or the rounding.
    for (const std::size_t count : {1, 2, 3, 9, 100, 4097, 500'000}) {
        auto x = some_items<T>(0, count), y = some_items<T>(count, 2 * count);
        const T total = treefold::exact_sum(x), dot = treefold::exact_dot(x, y), norm = treefold::exact_norm(x);
        const T root = std::sqrt(treefold::exact_dot(x, x));
        CHECK(norm == root || std::nextafter(norm, root) == root);
        std::ranges::reverse(x);
        std::ranges::reverse(y);
        const treefold::thread_scope scope(3);
        std::fesetround(FE_UPWARD);
        const T again = treefold::exact_sum(x), dot_again = treefold::exact_dot(x, y), norm_again = treefold::exact_norm(x);
        std::fesetround(FE_TONEAREST);
        CHECK(same_bits(again, total) && same_bits(dot_again, dot) && same_bits(norm_again, norm));
    }
}

template <class T> void complex_numbers()
{
    using complex = std::complex<T>;
    const std::array<complex, 2> x{complex{1, 2}, complex{3, 8}}, y{complex{3, 4}, complex{-5, 5}};
    CHECK((treefold::exact_sum(x) == complex{4, 10}) && (treefold::exact(statistic::mean, x) == complex{2, 5}));
    CHECK((treefold::exact_dot(x, y) == complex{-60, -15}) && (treefold::exact(statistic::vdot, x, y) == complex{36, 53}));
    CHECK(treefold::exact(statistic::count, x) == 2 && treefold::exact(statistic::variance, x) == 10);
    CHECK(treefold::exact(statistic::standard_deviation, x, {.ddof = 1}) == std::sqrt(T{20}));
}

// ---- All statistics

template <class T, treefold_statistic S> void walk(statistic_of<S> of, double ddof)
{
    const treefold::options given{.ddof = ddof};
    const auto all = draw<T>(900);
    if constexpr (treefold::floating<T>) {
        const auto of_all = [&](const auto &...arrays) { return treefold::exact(of, arrays..., given); };
        const auto whole = with_arrays<S>(all, of_all);
        CHECK(is_near(whole, expected<S>(all, ddof)));
        CHECK(same_bits(with_arrays<S>(all.reversed(), of_all), whole));
    }

    // Each key alone.
    using R = treefold::result_of<T, S>;
    const auto of_keys = [&](const auto &...arrays) { return treefold::by_key(of, all.keys, arrays..., groups, given); };
    const auto values = with_arrays<S>(all, of_keys);
    static_assert(std::same_as<decltype(values), const std::vector<R>>);
    std::vector<R> result(groups), fewer(groups - 3);
    with_arrays<S>(all, [&](const auto &...arrays) { treefold::by_key_into(of, all.keys, arrays..., result, given); });
    for (std::size_t key = 0; key < groups; ++key)
        CHECK(is_near(values[key], expected<S>(all.of_key(key), ddof)));
    CHECK(same_bits(values, result));
    const auto wrong = [&](const auto &...arrays) { treefold::by_key_into(of, all.keys, arrays..., fewer, given); };
    CHECK(thrown("key 4, and keys are 0 to 3", [&] { with_arrays<S>(all, wrong); }) == code::argument);
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
    const auto by_key = treefold::by_key_rows(of, keys, all.x, width, groups, given);
    const auto whole = treefold::exact_rows(of, all.x, width, given);
    treefold::by_key_rows_into(of, keys, all.x, width, result, given);
    treefold::exact_rows_into(of, all.x, width, row, given);
    CHECK(same_bits(by_key, result) && same_bits(whole, row));
    for (std::size_t c = 0; c < width; ++c) {
        const auto of_column = treefold::by_key(of, keys, columns[c], groups, given);
        const auto of_keys = treefold::exact(of, columns[c], given);
        CHECK(same_bits(whole[c], of_keys));
        for (std::size_t key = 0; key < groups; ++key)
            CHECK(same_bits(by_key[key * width + c], of_column[key]));
    }
    CHECK(thrown([&] { return treefold::exact_rows(of, all.x, 7, given); }) == code::length);
    CHECK(thrown([&] { treefold::exact_rows_into(of, all.x, width, wrong, given); }) == code::length);
    CHECK(thrown([&] { return treefold::by_key_rows(of, keys, all.x, width + 1, groups, given); }) == code::length);
    // No rows are not one key's.
    const std::vector<T> none;
    CHECK(treefold::by_key_rows(of, std::vector<int>(), none, width, groups, given).size() == groups * width);
}

// Each window alone.
template <class T, treefold_statistic S, class Index> void walk_windows(statistic_of<S> of, double ddof)
{
    const treefold::options given{.ddof = ddof};
    const auto all = draw<T>(60);
    std::vector<Index> days(60);
    std::iota(days.begin(), days.end(), Index(1));
    const auto check_windows = [&](const window &over, auto first, auto last) {
        const auto values = with_arrays<S>(all, [&](const auto &...arrays) { return treefold::rolling(of, arrays..., over, given); });
        std::vector<T> result(60);
        with_arrays<S>(all, [&](const auto &...arrays) { treefold::rolling_into(of, arrays..., over, result, given); });
        CHECK(same_bits(values, result));
        for (int i = 0; i < 60; ++i) {
            items<T> own;
            for (int other = std::max(first(i), 0); other <= std::min(last(i), 59); ++other)
                own.push(all.x[static_cast<std::size_t>(other)], all.y[static_cast<std::size_t>(other)], 0);
            const T value = values[static_cast<std::size_t>(i)];
            if (own.x.size() < over.least_items) {
                CHECK(std::isnan(value));
                continue;
            }
            if (own.x.size() < 6)
                continue; // Some statistics have too few items.
            const auto alone = with_arrays<S>(own, [&](const auto &...arrays) { return treefold::exact(of, arrays..., given); });
            CHECK(same_bits(value, static_cast<T>(alone)) || (std::isnan(value) && alone != alone));
        }
    };
    const auto same = [](int i) { return i; };
    const auto before = [](int i) { return i - 8; };
    using treefold::placement;
    for (const std::size_t least : {0U, 9U}) {
        check_windows({.items = 9, .least_items = least}, before, same);
        check_windows({.index = {days, 9}, .least_items = least}, before, same);
        check_windows({.items = 9, .placement = placement::forward, .least_items = least}, same, [](int i) { return i + 8; });
        check_windows({.items = 9, .placement = placement::centred}, [](int i) { return i - 4; }, [](int i) { return i + 4; });
        check_windows({.placement = placement::expanding}, [](int) { return 0; }, same);
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

template <class T> void windows()
{
    const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> x{1, infinity, 2, nan, 3, 5}, none;
    const auto sums = treefold::rolling(statistic::sum, x, window{.items = 2, .skip_nan = true});
    CHECK(sums[0] == 1 && std::isinf(sums[1]) && std::isinf(sums[2]) && sums[3] == 2 && sums[4] == 3 && sums[5] == 8);
    const auto times = std::array{0.5, 1.0, 2.0, 2.25, 2.5, 3.0};
    const auto means = treefold::rolling(statistic::mean, x, window{.index = {times, 1}, .least_items = 2, .skip_nan = true});
    CHECK(std::isnan(means[0]) && std::isinf(means[1]) && std::isnan(means[3]) && means[4] == T{2.5} && means[5] == 4);
    CHECK(treefold::rolling(statistic::sum, none, window{.items = 2}).empty());
    CHECK(treefold::rolling(statistic::sum, none, window{.index = {std::vector<int>(), 2}}).empty());
}

void beyond_64_bits()
{
    const std::array<std::int64_t, 2> items{std::numeric_limits<std::int64_t>::min(), -1};
    CHECK(thrown("key 1", [&] { return treefold::by_key(statistic::sum, std::array{1, 1}, items, 2); }) == code::argument);
    CHECK(treefold::by_key(statistic::sum, std::array{0, 1}, items, 2)[1] == -1);
}

} // namespace

int main()
{
    for_types<float, double>([]<class T>() {
        values<T>();
        complex_numbers<T>();
        windows<T>();
    });
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
    beyond_64_bits();
    std::printf("exact statistics of treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
