// Items with integer values, their keys, and their statistics as the C functions compute them. (The tests in C check those functions.)

#pragma once

#include <cstdint>
#include <vector>

#include "check.hpp"

// The number of keys. No item has the last key.
constexpr std::size_t groups = 7;

template <class T> struct items {
    std::vector<T> x, y;
    std::vector<int> keys;

    void push(T of_x, T of_y, int key)
    {
        x.push_back(of_x);
        y.push_back(of_y);
        keys.push_back(key);
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
        return static_cast<T>(static_cast<int>((state >> 40) % 200) - (std::is_unsigned_v<T> ? 0 : 99));
    };
    for (std::size_t i = 0; i < count; ++i) {
        const T x = next(), y = next();
        all.push(x, y, static_cast<int>(i * i % (groups - 1)));
    }
    return all;
}

// What the C functions compute: of_all, a statistic of all items; of_keys, the statistic of each key's items.
template <treefold_statistic S, class T> auto of_all(const items<T> &of, double ddof)
{
    treefold::result_of<T, S> result{};
    const std::size_t others = treefold::of_pairs<S> ? of.y.size() : 0;
    CHECK(treefold_exact(type_of<T>, S, ddof, of.x.data(), of.x.size(), others == 0 ? nullptr : of.y.data(), others, &result) == 0);
    return result;
}
template <treefold_statistic S, class T> auto of_keys(const items<T> &of, double ddof)
{
    std::vector<treefold::result_of<T, S>> result(groups);
    const std::size_t count = of.x.size(), others = treefold::of_pairs<S> ? count : 0;
    CHECK(treefold_by_key(type_of<T>, S, ddof, TREEFOLD_I32, of.keys.data(), count, of.x.data(), count,
                          others == 0 ? nullptr : of.y.data(), others, result.data(), groups) == TREEFOLD_OK);
    return result;
}

// Calls a function with x, or with x and y if the statistic takes two arrays.
template <treefold_statistic S, class T, class Call> auto with_arrays(const items<T> &of, const Call &call)
{
    if constexpr (treefold::of_pairs<S>)
        return call(of.x, of.y);
    else
        return call(of.x);
}

// Calls a function with the keys and with x, or x and y. For a norm, passes x twice, as states by key require.
template <treefold_statistic S, class T, class Call> void with_keys(const items<T> &of, const Call &call)
{
    if constexpr (S == TREEFOLD_EXACT_NORM)
        call(of.keys, of.x, of.x);
    else
        with_arrays<S>(of, [&](const auto &...arrays) { call(of.keys, arrays...); });
}
