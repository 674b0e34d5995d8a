// Keyed states of every figure in C++, and windows by an index: against the exact sums of each key's items alone, and wrong arguments.

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"

namespace {

namespace exact = treefold::exact;
using treefold::code;

// Which members there are depends on the figure.
template <class S> concept has_sums = requires(const S &state) { state.sums(); };
template <class S> concept has_counts = requires(const S &state) { state.counts(); };
template <class S> concept has_means = requires(const S &state) { state.means(); };
template <class S> concept has_extrema = requires(const S &state) { state.minima(), state.maxima(); };
template <class S> concept has_bytes = requires(const S &state) { S::of_bytes(state.bytes()); };
template <class S> concept can_remove = requires(S &state, std::array<int, 1> keys, std::array<double, 1> x) { state.remove(keys, x); };
static_assert(has_sums<exact::keyed<double>> && !has_counts<exact::keyed<double>> && has_bytes<exact::keyed<float>>);
static_assert(has_sums<exact::keyed<int>> && has_counts<exact::keyed<int>> && has_means<exact::keyed<int>> && !has_bytes<exact::keyed<int>>);
static_assert(has_sums<exact::keyed_dot<double>> && !has_means<exact::keyed_dot<double>> && !has_bytes<exact::keyed_dot<double>>);
static_assert(has_means<exact::keyed_weighted_mean<double>> && !has_sums<exact::keyed_weighted_mean<double>>);
static_assert(has_extrema<exact::keyed_extrema<double>> && !has_means<exact::keyed_extrema<double>>);
static_assert(can_remove<exact::keyed<double>> && !can_remove<exact::keyed_extrema<double>> && !can_remove<exact::hashed<double>>);
static_assert(!std::copyable<exact::hashed<double>> && std::movable<exact::keyed_rows<float>>);

constexpr std::size_t groups = 7;

template <class T> struct drawn {
    std::vector<T> x, y;
    std::vector<int> keys;
    std::array<std::vector<T>, groups> x_of, y_of;
};

// Items of many magnitudes; the last key has none.
template <class T> drawn<T> draw(std::size_t count)
{
    drawn<T> all;
    std::uint64_t state = 2026;
    const auto next = [&] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::int32_t>(state >> 33) - (1 << 30);
    };
    for (std::size_t i = 0; i < count; ++i) {
        all.x.push_back(std::ldexp(static_cast<T>(next()) / 3, static_cast<int>(i % 50) - 25));
        all.y.push_back(static_cast<T>(next()) / 7);
        all.keys.push_back(static_cast<int>(i * i % (groups - 1)));
        const auto key = static_cast<std::size_t>(all.keys.back());
        all.x_of[key].push_back(all.x.back());
        all.y_of[key].push_back(all.y.back());
    }
    return all;
}

template <class T> void figures()
{
    const auto all = draw<T>(5000);
    exact::keyed_dot<T> dot(groups), other_dot(groups);
    exact::keyed_weighted_mean<T> mean(groups);
    exact::keyed_extrema<T> extrema(groups);
    dot.add(all.keys, all.x, all.y);
    dot.add(all.keys, all.y, all.y);
    dot.remove(all.keys, all.y, all.y);
    CHECK(other_dot.try_add(all.keys, all.y, all.x) == code::ok && dot == other_dot);
    CHECK(mean.try_add(all.keys, all.x, all.y) == code::ok && mean.try_remove(all.keys, all.x, all.y) == code::ok);
    mean.add(all.keys, all.x, all.y);
    extrema.add(all.keys, all.x);
    const auto dots = treefold::exact_dot_by_key(all.keys, all.x, all.y, groups);
    const auto means = treefold::exact_weighted_mean_by_key(all.keys, all.x, all.y, groups);
    const auto least = treefold::exact_min_by_key(all.keys, all.x, groups), greatest = treefold::exact_max_by_key(all.keys, all.x, groups);
    std::vector<T> result(groups);
    treefold::exact_dot_by_key_into(all.keys, all.x, all.y, result);
    CHECK(dots == result && dots == dot.sums());
    for (std::size_t key = 0; key < groups; ++key) {
        const auto &x = all.x_of[key], &y = all.y_of[key];
        CHECK(dots[key] == treefold::exact_dot(x, y));
        if (x.empty()) {
            CHECK(std::isnan(means[key]) && std::isnan(least[key]) && std::isnan(extrema.maxima()[key]));
            continue;
        }
        // The quotient of two rounded sums is near.
        const T quotient = treefold::exact_dot(x, y) / treefold::exact_sum(y);
        CHECK(std::abs(means[key] - quotient) <= 2 * std::numeric_limits<T>::epsilon() * std::abs(quotient));
        CHECK(means[key] == mean.means()[key]);
        CHECK(least[key] == treefold::min(x) && greatest[key] == treefold::max(x));
        CHECK(extrema.minima()[key] == least[key] && extrema.maxima()[key] == greatest[key]);
    }
    dot.merge(other_dot);
    CHECK(dot.sums()[0] == 2 * dots[0] && dot != other_dot && other_dot.groups() == groups);
    const std::vector<T> fewer(all.y.begin(), all.y.end() - 1);
    CHECK(thrown("`x` has 5000 elements, but `y` has 4999", [&] { dot.add(all.keys, all.x, fewer); }) == code::length);
    CHECK(thrown("36", [&] { exact::keyed_dot<T>(36).merge(dot); }) == code::length);
    CHECK(treefold::try_exact_weighted_mean_by_key_into(all.keys, all.x, fewer, result) == code::length);
    CHECK(treefold::try_exact_min_by_key_into(std::vector<int>(5000, 7), all.x, result) == code::argument);
}

template <class T> void rows()
{
    const auto all = draw<T>(3000);
    const std::vector<int> keys(all.keys.begin(), all.keys.begin() + 1500);
    exact::keyed_rows<T> sums(groups, 2);
    sums.add(keys, all.x);
    sums.add(keys, all.y);
    sums.remove(keys, all.y);
    const auto values = treefold::exact_sum_rows_by_key(keys, all.x, 2, groups);
    CHECK(values == sums.sums() && values.size() == 2 * groups && sums.width() == 2);
    for (std::size_t column = 0; column < 2; ++column) {
        std::vector<T> of_column;
        for (std::size_t row = 0; row < 1500; ++row)
            of_column.push_back(all.x[2 * row + column]);
        const auto expected = treefold::exact_sum_by_key(keys, of_column, groups);
        for (std::size_t key = 0; key < groups; ++key)
            CHECK(values[2 * key + column] == expected[key]);
    }
    CHECK(thrown("keys", [&] { sums.add(all.keys, all.x); }) == code::length);
    CHECK(thrown("`width`", [] { exact::keyed_rows<T>(3, 0); }) == code::argument);
    std::vector<T> short_row(3);
    CHECK(sums.try_sums_into(short_row) == code::length);
}

template <class I> void integers()
{
    std::vector<I> items;
    std::vector<int> keys;
    std::array<std::int64_t, groups> expected{};
    for (int i = 0; i < 1000; ++i) {
        items.push_back(static_cast<I>(i * 7919));
        keys.push_back(i % 6);
        expected[static_cast<std::size_t>(i % 6)] += static_cast<std::int64_t>(items.back());
    }
    exact::keyed<I> sums(groups);
    sums.add(keys, items);
    sums.merge(sums);
    sums.remove(keys, items);
    const auto found = treefold::exact_integer_sum_by_key(keys, items, groups);
    static_assert(std::same_as<decltype(found), const std::vector<std::conditional_t<std::is_signed_v<I>, std::int64_t, std::uint64_t>>>);
    CHECK(found == sums.sums());
    for (std::size_t key = 0; key < groups; ++key)
        CHECK(static_cast<std::int64_t>(found[key]) == expected[key] && sums.counts()[key] == (key < 4 ? 167U : key < 6 ? 166U : 0U));
    CHECK(std::isnan(sums.means()[6]) && std::abs(sums.means()[0] - static_cast<double>(found[0]) / 167) < 1e-9);
}

void beyond_64_bits()
{
    const std::array<std::int64_t, 2> items{std::numeric_limits<std::int64_t>::min(), -1};
    exact::keyed<std::int64_t> sums(2);
    sums.add(std::array{1, 1}, items);
    CHECK(thrown("the sum of key 1 is -9223372036854775809", [&] { static_cast<void>(sums.sums()); }) == code::argument);
    std::array<std::int64_t, 2> result{};
    CHECK(treefold::try_exact_integer_sum_by_key_into(std::array{1, 1}, items, result) == code::argument);
    CHECK(treefold::try_exact_integer_sum_by_key_into(std::array{0, 1}, items, result) == code::ok && result[1] == -1);
}

template <class T, class K> void any_keys()
{
    const auto all = draw<T>(4000);
    std::map<K, std::vector<T>> alone;
    std::vector<K> keys;
    for (std::size_t i = 0; i < all.x.size(); ++i) {
        keys.push_back(static_cast<K>(i % 97 * 0x9E3779B97F4A7C15U));
        alone[keys.back()].push_back(all.x[i]);
    }
    exact::hashed<T, K> sums, other;
    sums.add(keys, all.x);
    CHECK(other.try_add(keys, all.x) == code::ok && sums == other && sums.groups() == 97);
    const auto found = sums.keys();
    const auto values = sums.sums();
    std::size_t place = 0;
    for (const auto &[key, items] : alone) {
        CHECK(found[place] == key && values[place] == treefold::exact_sum(items));
        ++place;
    }
    other.merge(sums);
    CHECK(other.keys() == found && other.sums()[0] == 2 * values[0] && sums != other);
    std::vector<K> few(96);
    CHECK(sums.try_keys_into(few) == code::length);
}

template <class T> void bytes()
{
    const auto all = draw<T>(300);
    exact::keyed<T> sums(groups);
    exact::keyed_moments<T> moments(groups);
    sums.add(all.keys, all.x);
    moments.add(all.keys, all.x);
    moments.add(std::array{6}, std::array{std::numeric_limits<T>::infinity()});
    const auto read = exact::keyed<T>::of_bytes(sums.bytes());
    CHECK(read == sums && read.groups() == groups && read.bytes() == sums.bytes() && read.sums() == sums.sums());
    CHECK(exact::keyed_moments<T>::of_bytes(moments.bytes()) == moments);
    auto cut = sums.bytes();
    cut.pop_back();
    CHECK(thrown("too early", [&] { static_cast<void>(exact::keyed<T>::of_bytes(cut)); }) == code::length);
    CHECK(thrown("sums by key", [&] { static_cast<void>(exact::keyed_moments<T>::of_bytes(sums.bytes())); }) == code::argument);
}

template <class T> void ranges()
{
    const std::vector<T> x{1, std::numeric_limits<T>::infinity(), 2, 3, 5};
    const std::vector<int> days{-3, 0, 2, 2, 9};
    const auto sums = treefold::exact_rolling_sum_by_range(days, x, 2);
    CHECK(sums[0] == 1 && std::isinf(sums[1]) && sums[2] == 2 && sums[3] == 5 && sums[4] == 5);
    const auto means = treefold::exact_rolling_mean_by_range(std::array{0.5, 1.0, 2.0, 2.25, 3.0}, x, 1, 2);
    CHECK(std::isnan(means[2]) && means[3] == T{2.5} && means[4] == 4);
    std::vector<T> result(5);
    treefold::exact_rolling_sum_by_range_into(days, x, 2, 1, result);
    CHECK(result[3] == 5);
    CHECK(treefold::try_exact_rolling_mean_by_range_into(days, x, 0, 1, result) == code::argument);
    CHECK(thrown("index 1 is not", [&] { static_cast<void>(treefold::exact_rolling_sum_by_range(std::array{1, 0, 2, 3, 4}, x, 1)); }) ==
          code::argument);
}

} // namespace

int main()
{
    figures<float>();
    figures<double>();
    rows<float>();
    rows<double>();
    integers<std::int8_t>();
    integers<std::uint16_t>();
    integers<std::int32_t>();
    integers<std::uint64_t>();
    beyond_64_bits();
    any_keys<float, std::uint64_t>();
    any_keys<double, std::int64_t>();
    bytes<float>();
    bytes<double>();
    ranges<float>();
    ranges<double>();
    std::printf("keyed states of treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
