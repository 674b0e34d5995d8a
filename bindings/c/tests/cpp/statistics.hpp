// The statistics of integers, by sums of 128 bits and their definitions in treefold.h, and items with keys.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"

__extension__ using wide = __int128;

// The number of keys; the last one has no items.
constexpr std::size_t groups = 7;

// Integers with their keys.
template <class T> struct items {
    std::vector<T> x, y;
    std::vector<int> keys;

    void push(T of_x, T of_y, int key)
    {
        x.push_back(of_x);
        y.push_back(of_y);
        keys.push_back(key);
    }

    [[nodiscard]] items of_key(std::size_t key) const
    {
        items own;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (keys[i] == static_cast<int>(key))
                own.push(x[i], y[i], keys[i]);
        }
        return own;
    }

    [[nodiscard]] items reversed() const
    {
        return {{x.rbegin(), x.rend()}, {y.rbegin(), y.rend()}, {keys.rbegin(), keys.rend()}};
    }
};

template <class T> items<T> draw(std::size_t count)
{
    items<T> all;
    std::uint64_t state = 2026;
    const auto next = [&] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<T>(treefold::integer<T> && std::is_unsigned_v<T> ? static_cast<int>((state >> 40) % 200)
                                                                             : static_cast<int>((state >> 40) % 200) - 99);
    };
    for (std::size_t i = 0; i < count; ++i) {
        const T x = next(), y = next();
        all.push(x, y, static_cast<int>(i * i % (groups - 1)));
    }
    return all;
}

// A statistic of such items, rounded to more places than a double has.
template <treefold_statistic S, class T> long double expected(const items<T> &of, long double ddof)
{
    wide n = 0, x = 0, x2 = 0, x3 = 0, x4 = 0, y = 0, y2 = 0, xy = 0;
    for (std::size_t i = 0; i < of.x.size(); ++i) {
        const auto a = static_cast<wide>(of.x[i]), b = static_cast<wide>(of.y[i]);
        n += 1, x += a, x2 += a * a, x3 += a * a * a, x4 += a * a * a * a, y += b, y2 += b * b, xy += a * b;
    }
    const auto real = [](wide value) { return static_cast<long double>(value); };
    const long double nan = std::numeric_limits<long double>::quiet_NaN(), items = real(n);
    const long double of_x = real(n * x2 - x * x), of_y = real(n * y2 - y * y), of_both = real(n * xy - x * y);
    const long double third = real(n * n * x3 - 3 * n * x * x2 + 2 * x * x * x);
    const long double fourth = real(n * n * n * x4 - 4 * n * n * x * x3 + 6 * n * x * x * x2 - 3 * x * x * x * x);
    const long double variance = of_x / (items * (items - ddof)), skew = third / std::pow(of_x, 1.5L), excess = fourth / (of_x * of_x) - 3;
    switch (S) {
    case TREEFOLD_EXACT_COUNT:
        return items;
    case TREEFOLD_EXACT_SUM:
        return real(x);
    case TREEFOLD_EXACT_MEAN:
        return n == 0 ? nan : real(x) / items;
    case TREEFOLD_EXACT_VARIANCE:
        return n == 0 ? nan : variance;
    case TREEFOLD_EXACT_STD:
        return n == 0 ? nan : std::sqrt(variance);
    case TREEFOLD_EXACT_MIN:
        return n == 0 ? nan : static_cast<long double>(*std::ranges::min_element(of.x));
    case TREEFOLD_EXACT_MAX:
        return n == 0 ? nan : static_cast<long double>(*std::ranges::max_element(of.x));
    case TREEFOLD_EXACT_NORM:
        return std::sqrt(real(x2));
    case TREEFOLD_EXACT_DOT:
    case TREEFOLD_EXACT_VDOT:
        return real(xy);
    case TREEFOLD_EXACT_WEIGHTED_MEAN:
        return real(xy) / real(y);
    case TREEFOLD_EXACT_COVARIANCE:
        return n == 0 ? nan : of_both / (items * (items - ddof));
    case TREEFOLD_EXACT_CORRELATION:
        return of_both / std::sqrt(of_x) / std::sqrt(of_y);
    case TREEFOLD_EXACT_SLOPE:
        return of_both / of_x;
    case TREEFOLD_EXACT_INTERCEPT:
        return real(y * x2 - x * xy) / of_x;
    case TREEFOLD_EXACT_SKEWNESS:
        return ddof == 0 ? skew : skew * std::sqrt(items * (items - 1)) / (items - 2);
    default:
        return ddof == 0 ? excess : ((items + 1) * excess + 6) * (items - 1) / ((items - 2) * (items - 3));
    }
}

// Whether a result is the expected number, rounded to its type: in the last place but one, where the above rounds, too.
template <class R> bool is_near(R result, long double expected)
{
    if (std::isnan(expected))
        return result != result;
    if constexpr (treefold::integer<R>)
        return result == static_cast<R>(expected);
    else
        return std::abs(result - expected) <= 2 * std::numeric_limits<R>::epsilon() * std::max(1.0L, std::abs(expected));
}

// Calls a function with x, or with x and y, as a statistic takes them.
template <treefold_statistic S, class T, class Call> auto with_arrays(const items<T> &of, const Call &call)
{
    if constexpr (treefold::of_pairs<S>)
        return call(of.x, of.y);
    else
        return call(of.x);
}
