// Exact sums in C++ that are held between calls, by key and of windows: values that only an exact sum gives, and wrong arguments.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"

namespace {

namespace exact = treefold::exact;
using treefold::code;

// Which members there are depends on what is added up.
template <class S> concept has_mean = requires(const S &sum) { sum.mean(); };
template <class S> concept has_variance = requires(const S &sum) { sum.variance(0.0); };
template <class S> concept takes_items = requires(S &sum, std::array<double, 1> x) { sum.add(x); };
template <class S> concept takes_pairs = requires(S &sum, std::array<double, 1> x) { sum.add(x, x); };
static_assert(has_mean<exact::sum<double>> && !has_variance<exact::sum<double>> && !has_mean<exact::norm<double>>);
static_assert(has_variance<exact::moments<double>> && has_mean<exact::dot<double>> && !has_variance<exact::vdot<double>>);
static_assert(takes_items<exact::sum<double>> && takes_items<exact::norm<double>> && !takes_items<exact::dot<double>>);
static_assert(takes_pairs<exact::dot<double>> && !takes_pairs<exact::moments<double>> && !takes_items<exact::sum<float>>);
static_assert(!std::copyable<exact::sum<double>> && std::movable<exact::sum<double>> && std::movable<exact::keyed<float>>);

template <class T> std::vector<T> some_items(std::size_t count)
{
    std::vector<T> items;
    std::uint64_t state = 2026 + count;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto next = static_cast<std::int32_t>(state >> 33) - (1 << 30);
        items.push_back(std::ldexp(static_cast<T>(next) / 3, static_cast<int>(i % 50) - 25));
    }
    return items;
}

template <class T> void sums()
{
    const auto x = some_items<T>(10'000);
    auto shuffled = x;
    std::ranges::reverse(shuffled);
    exact::sum<T> total, other;
    total.add(x);
    total.add(std::numeric_limits<T>::infinity());
    total.add(std::numeric_limits<T>::max());
    total.remove(std::numeric_limits<T>::infinity());
    total.remove(std::array{std::numeric_limits<T>::max()});
    for (const T item : shuffled)
        CHECK(other.try_add(item) == code::ok);
    CHECK(total == other && total.value() == treefold::exact_sum(x) && total.count() == 10'000);
    CHECK(total.bytes() == other.bytes());
    CHECK(exact::sum<T>::of_bytes(other.bytes()) == total);
    total.merge(other);
    total.merge(total);
    CHECK(total.value() == 4 * other.value() && total != other);
    total.unmerge(other);
    total.unmerge(other);
    total.unmerge(other);
    T value{}, mean{};
    CHECK(total.try_value(value) == code::ok && value == other.value());
    CHECK(total.try_mean(mean) == code::ok && mean == other.mean());
    CHECK(total.try_unmerge(total) == code::ok && total.count() == 0);
    CHECK(total.try_remove(x) == code::argument);
    CHECK(thrown("10000 items cannot be removed of 0", [&] { total.remove(x); }) == code::argument);
    CHECK(thrown("`other`", [&] { total.unmerge(other); }) == code::argument);

    exact::norm<T> norm;
    norm.add(std::array<T, 3>{3, 4, 1000});
    norm.remove(T{1000});
    CHECK(norm.value() == 5 && norm.count() == 2);

    exact::moments<T> moments;
    moments.add(std::array<T, 3>{1, 2, 6});
    CHECK(moments.mean() == 3 && moments.value() == 9 && moments.variance(1) == 7);
    CHECK(moments.standard_deviation(1) == std::sqrt(T{7}));
    T variance{}, deviation{};
    CHECK(moments.try_variance(3, variance) == code::ok && std::isinf(variance));
    CHECK(moments.try_standard_deviation(0, deviation) == code::ok && deviation > 2);
    auto bytes = moments.bytes();
    CHECK(exact::moments<T>::of_bytes(bytes) == moments);
    bytes.pop_back();
    CHECK(thrown("`bytes`", [&] { static_cast<void>(exact::moments<T>::of_bytes(bytes)); }) == code::length);
    CHECK(thrown("moments", [&] { static_cast<void>(exact::sum<T>::of_bytes(bytes)); }) == code::argument);
}

template <class T> void complex_numbers()
{
    using complex = std::complex<T>;
    const std::array<complex, 2> x{complex{1, 2}, complex{100, 7}}, y{complex{3, 4}, complex{-5, 50}};
    exact::sum<complex> sum;
    exact::dot<complex> dot;
    exact::vdot<complex> vdot;
    exact::moments<complex> moments;
    sum.add(x);
    dot.add(x, y);
    vdot.add(x, y);
    sum.remove(x[1]);
    dot.remove(std::array{x[1]}, std::array{y[1]});
    CHECK(vdot.try_remove(std::array{x[1]}, std::array{y[1]}) == code::ok);
    CHECK(sum.value() == x[0] && (dot.value() == complex{-5, 10}) && (vdot.value() == complex{11, -2}) && dot.count() == 1);
    moments.add(std::array<complex, 2>{complex{1, 1}, complex{2, 3}});
    const T variance = moments.variance(0);
    CHECK(variance == T{1.25} && (moments.mean() == complex{T{1.5}, 2}));
    CHECK(thrown("`x` has 2 elements, but `y` has 1", [&] { dot.add(x, std::array{y[0]}); }) == code::length);
    CHECK(dot.try_add(x, std::array{y[0]}) == code::length && dot.count() == 1);
}

void moved_from()
{
    exact::sum<double> first;
    first.add(1.5);
    exact::sum<double> second = std::move(first);
    CHECK(second.value() == 1.5 && first.handle() == nullptr);
    CHECK(first.try_add(1.0) == code::null);
    first = std::move(second);
    CHECK(first.value() == 1.5);
    first = exact::sum<double>();
    CHECK(first.value() == 0 && first.count() == 0);
}

template <class T, class K> void by_key()
{
    constexpr std::size_t groups = 7;
    const auto x = some_items<T>(20'000);
    std::vector<K> keys;
    std::array<exact::moments<T>, groups> alone;
    for (std::size_t i = 0; i < x.size(); ++i) {
        keys.push_back(static_cast<K>(i * i % (groups - 1)));
        alone[static_cast<std::size_t>(keys[i])].add(x[i]);
    }
    exact::keyed<T> sums(groups);
    exact::keyed_moments<T> moments(groups);
    sums.add(keys, x);
    CHECK(sums.try_add(keys, x) == code::ok && sums.groups() == groups);
    sums.remove(keys, x);
    moments.add(keys, x);
    moments.add(keys, x);
    moments.remove(keys, x);
    const auto values = sums.sums();
    std::vector<T> result(groups);
    CHECK(values == treefold::exact_sum_by_key(keys, x, groups));
    CHECK(values == treefold::par::exact_sum_by_key(keys, x, groups));
    treefold::exact_sum_by_key_into(keys, x, result);
    CHECK(values == result);
    CHECK(treefold::par::try_exact_sum_by_key_into(keys, x, result) == code::ok && values == result);
    const auto counts = moments.counts();
    const auto means = treefold::exact_mean_by_key(keys, x, groups), variances = treefold::exact_variance_by_key(keys, x, groups, 1);
    const auto deviations = treefold::exact_standard_deviation_by_key(keys, x, groups, 0);
    for (std::size_t key = 0; key < groups; ++key) {
        CHECK(counts[key] == alone[key].count());
        CHECK(values[key] == alone[key].value());
        if (counts[key] == 0) {
            CHECK(std::isnan(means[key]) && std::isnan(variances[key]));
            continue;
        }
        CHECK(means[key] == alone[key].mean() && means[key] == moments.means()[key]);
        CHECK(variances[key] == alone[key].variance(1) && variances[key] == moments.variances(1)[key]);
        CHECK(deviations[key] == alone[key].standard_deviation(0) && deviations[key] == moments.standard_deviations(0)[key]);
    }
    treefold::exact_variance_by_key_into(keys, x, 1, result);
    CHECK(result[0] == variances[0]);
    moments.merge(moments);
    CHECK(moments.counts()[0] == 2 * counts[0] && moments.means()[0] == means[0]);

    keys[3] = static_cast<K>(groups);
    CHECK(thrown("item 3 has key 7, and keys are 0 to 6", [&] { sums.add(keys, x); }) == code::argument);
    CHECK(sums.try_remove(keys, x) == code::argument && sums.sums() == values);
    CHECK(thrown("item 3", [&] { static_cast<void>(treefold::exact_sum_by_key(keys, x, groups)); }) == code::argument);
    keys.pop_back();
    CHECK(treefold::try_exact_mean_by_key_into(keys, x, result) == code::length);
    CHECK(thrown("has 7 keys, but", [&] { exact::keyed<T>(3).merge(sums); }) == code::length);
}

template <class T> void windows()
{
    const std::vector<T> x{1, std::numeric_limits<T>::infinity(), 2, 3, 5};
    const auto sums = treefold::exact_rolling_sum(x, 2), shorter = treefold::exact_rolling_sum(x, 2, 1);
    CHECK(std::isnan(sums[0]) && std::isinf(sums[2]) && sums[3] == 5 && sums[4] == 8);
    CHECK(shorter[0] == 1 && shorter[4] == 8);
    std::vector<T> means(5);
    treefold::exact_rolling_mean_into(x, 2, 1, means);
    CHECK(means[0] == 1 && means[3] == T{2.5} && treefold::exact_rolling_mean(x, 2, 1)[3] == T{2.5});
    CHECK(treefold::try_exact_rolling_sum_into(x, 0, 1, means) == code::argument);
    means.pop_back();
    CHECK(treefold::try_exact_rolling_sum_into(x, 2, 1, means) == code::length);
}

} // namespace

int main()
{
    sums<float>();
    sums<double>();
    complex_numbers<float>();
    complex_numbers<double>();
    moved_from();
    by_key<float, std::int32_t>();
    by_key<double, std::int64_t>();
    by_key<double, std::uint8_t>();
    by_key<double, std::size_t>();
    windows<float>();
    windows<double>();
    std::printf("accumulators and keyed states of treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
