// What the tests in C++ share: checks, an implementation of tree order (docs/order.md), items, and loops over types and statistics. The
// tests compare the results with those of the C functions; the tests in C compare those functions with the definitions.

#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <treefold.hpp>

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

inline int failures = 0;

// The prefix of messages: this process's rank if the program uses MPI, else empty.
inline std::string where;

inline void check(bool is_true, const char *condition, const char *file, int line)
{
    if (is_true)
        return;
    std::printf("%s:%d: %sfailed: %s\n", file, line, where.c_str(), condition);
    std::fflush(stdout);
    ++failures;
}

// Returns the code of the error that `call` throws, or ok if it throws nothing. Checks that the text of the error contains `words`.
template <class Call> treefold::code thrown(const char *words, const Call &call)
{
    try {
        static_cast<void>(call());
        return treefold::code::ok;
    } catch (const treefold::error &error) {
        if (std::strstr(error.what(), words) == nullptr || std::strlen(error.what()) == 0)
            std::printf("the error is: %s\n", error.what());
        CHECK(std::strstr(error.what(), words) != nullptr && std::strlen(error.what()) > 0);
        return error.code();
    }
}
template <class Call> treefold::code thrown(const Call &call)
{
    return thrown("", call);
}

template <class T> bool same_bits(const T &one, const T &other)
{
    return std::memcmp(&one, &other, sizeof(T)) == 0;
}
template <class T> bool same_bits(const std::vector<T> &one, const std::vector<T> &other)
{
    return one.size() == other.size() && (one.empty() || std::memcmp(one.data(), other.data(), sizeof(T) * one.size()) == 0);
}

// The treefold_type that stands for T.
template <class T> constexpr treefold_type type_of = treefold::detail::type_of<T>;

// for_types calls a function for each of the types T; for_statistics calls it for every statistic.
template <class... T, class Call> void for_types(const Call &call)
{
    (call.template operator()<T>(), ...);
}
template <class Call> void for_statistics(const Call &call)
{
    [&]<std::int32_t... S>(std::integer_sequence<std::int32_t, S...>) {
        (call(treefold::statistic_of<S>()), ...);
    }(std::make_integer_sequence<std::int32_t, TREEFOLD_EXACT_VDOT + 1>());
}

// Reduces items in tree order by recursion. The left child of a node of n items has p items, where p is the greatest power of two below n.
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

// Items whose sums are rounded, so that the bits of the sum depend on the order.
template <class T> T some_item(std::uint64_t number)
{
    const std::uint64_t state = (number + 1) * 6364136223846793005U + 1442695040888963407U;
    const auto next = static_cast<std::int32_t>(state >> 33) - (1 << 30);
    if constexpr (treefold::complex_number<T>)
        return {static_cast<typename T::value_type>(next) / 3, static_cast<typename T::value_type>(number) / 7};
    else if constexpr (treefold::floating<T>)
        return std::ldexp(static_cast<T>(next) / 3, static_cast<int>(number % 50) - 25);
    else
        return static_cast<T>(state >> 29);
}
template <class T> std::vector<T> some_items(std::uint64_t begin, std::uint64_t end)
{
    std::vector<T> items;
    for (std::uint64_t number = begin; number < end; ++number)
        items.push_back(some_item<T>(number));
    return items;
}

// Splits rows of `width` items into their columns.
template <class T> std::vector<std::vector<T>> columns_of(const std::vector<T> &rows, std::size_t width)
{
    std::vector<std::vector<T>> columns(width);
    for (std::size_t i = 0; i < rows.size(); ++i)
        columns[i % width].push_back(rows[i]);
    return columns;
}
