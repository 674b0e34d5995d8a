// Walks the functions of treefold.hpp, with right and wrong arguments, and compares bits with the definition in docs/order.md.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cfenv>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"

namespace {

// ---- The definition

// Node by node: the left child of n items has as many as the greatest power of two below n.
template <class T, class Combine> T tree(std::span<const T> items, const Combine &combine)
{
    if (items.size() == 1)
        return items.front();
    const std::size_t half = std::bit_ceil(items.size()) / 2;
    return combine(tree(items.first(half), combine), tree(items.subspan(half), combine));
}

// A NaN of any bits is one of the positive quiet one's.
template <class T> T canonical(const T &value)
{
    if constexpr (treefold::complex_number<T>)
        return {canonical(value.real()), canonical(value.imag())};
    else if constexpr (treefold::floating<T>)
        return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
    else
        return value;
}

template <class T, class Combine> T tree(const std::vector<T> &items, const Combine &combine)
{
    return canonical(tree(std::span<const T>(items), combine));
}

// Items that a rounding at every step, and a wrong order, would show.
template <class T> std::vector<T> some_items(std::size_t count)
{
    std::vector<T> items;
    std::uint64_t state = count + 1;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto next = static_cast<std::int32_t>(state >> 33) - (1 << 30);
        if constexpr (treefold::complex_number<T>)
            items.emplace_back(static_cast<typename T::value_type>(next) / 3, static_cast<typename T::value_type>(i) / 7);
        else if constexpr (treefold::floating<T>)
            items.push_back(static_cast<T>(next) / static_cast<T>(1 << (i % 30)) / 3);
        else
            items.push_back(static_cast<T>(state >> 29));
    }
    return items;
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

// Integers wrap; in C++ only the unsigned ones do, and small ones are promoted to int.
template <class T> T plus(const T &left, const T &right)
{
    if constexpr (treefold::integer<T>)
        return static_cast<T>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
    else
        return left + right;
}

template <class T> T times(const T &left, const T &right)
{
    if constexpr (treefold::integer<T>)
        return static_cast<T>(static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right));
    else if constexpr (treefold::complex_number<T>)
        return {left.real() * right.real() - left.imag() * right.imag(), left.real() * right.imag() + left.imag() * right.real()};
    else
        return left * right;
}

// The code that a call throws; ok if it throws nothing.
template <class Call> treefold::code thrown(const Call &call)
{
    try {
        call();
        return treefold::code::ok;
    } catch (const treefold::error &error) {
        CHECK(std::strlen(error.what()) > 0);
        CHECK(error.rank() == -1);
        return error.code();
    }
}

// ---- Both namespaces as one argument

#define FUNCTIONS(name, space)                                                                                                          \
    struct name {                                                                                                                       \
        static constexpr auto sum = treefold::space sum;                                                                                \
        static constexpr auto product = treefold::space product;                                                                        \
        static constexpr auto min = treefold::space min;                                                                                \
        static constexpr auto max = treefold::space max;                                                                                \
        static constexpr auto sum_lanes = treefold::space sum_lanes;                                                                    \
        static constexpr auto dot = treefold::space dot;                                                                                \
        static constexpr auto squared_norm = treefold::space squared_norm;                                                              \
        static constexpr auto sum_and_absolute_sum = treefold::space sum_and_absolute_sum;                                              \
        static constexpr auto fold = treefold::space fold;                                                                              \
        static constexpr auto sum_rows = treefold::space sum_rows;                                                                      \
        static constexpr auto sum_rows_into = treefold::space sum_rows_into;                                                            \
        static constexpr auto fold_rows = treefold::space fold_rows;                                                                    \
        static constexpr auto fold_rows_into = treefold::space fold_rows_into;                                                          \
        static constexpr auto fields = treefold::space fields;                                                                          \
        static constexpr auto fields_into = treefold::space fields_into;                                                                \
        static constexpr auto try_sum = treefold::space try_sum;                                                                        \
        static constexpr auto try_product = treefold::space try_product;                                                                \
        static constexpr auto try_min = treefold::space try_min;                                                                        \
        static constexpr auto try_max = treefold::space try_max;                                                                        \
        static constexpr auto try_sum_lanes = treefold::space try_sum_lanes;                                                            \
        static constexpr auto try_dot = treefold::space try_dot;                                                                        \
        static constexpr auto try_squared_norm = treefold::space try_squared_norm;                                                      \
        static constexpr auto try_sum_and_absolute_sum = treefold::space try_sum_and_absolute_sum;                                      \
        static constexpr auto try_fold = treefold::space try_fold;                                                                      \
        static constexpr auto try_sum_rows_into = treefold::space try_sum_rows_into;                                                    \
        static constexpr auto try_fold_rows_into = treefold::space try_fold_rows_into;                                                  \
        static constexpr auto try_fields_into = treefold::space try_fields_into;                                                        \
    }

FUNCTIONS(caller, );
FUNCTIONS(pool, par::);

// Small, at the edges of kernels, and long enough for all threads.
const std::size_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1000, 4097, 300'000};

// ---- Numbers

template <class By, class T> void numbers()
{
    for (const std::size_t count : counts) {
        const auto x = some_items<T>(count);
        CHECK(same_bits(By::sum(x), tree(x, plus<T>)));
        CHECK(same_bits(By::fold(x, treefold::ops::sum), tree(x, plus<T>)));
        CHECK(same_bits(By::product(x), tree(x, times<T>)));
        if constexpr (!treefold::complex_number<T>) {
            CHECK(same_bits(By::min(x), tree(x, [](T left, T right) { return right < left ? right : left; })));
            CHECK(same_bits(By::max(x), tree(x, [](T left, T right) { return left < right ? right : left; })));
            CHECK(same_bits(By::fold(x, treefold::ops::max), By::max(x)));
        }
        T result{};
        CHECK(By::try_sum(x, result) == treefold::code::ok && same_bits(result, By::sum(x)));
        CHECK(By::try_product(x, result) == treefold::code::ok && same_bits(result, By::product(x)));
        CHECK(By::try_fold(x, treefold::ops::product, result) == treefold::code::ok && same_bits(result, By::product(x)));
    }

    const std::vector<T> none;
    CHECK(same_bits(By::sum(none), T{0}));
    CHECK(same_bits(By::product(none), T{1}));
    if constexpr (!treefold::complex_number<T>) {
        T result{};
        CHECK(thrown([&] { static_cast<void>(By::min(none)); }) == treefold::code::empty);
        CHECK(thrown([&] { static_cast<void>(By::max(none)); }) == treefold::code::empty);
        CHECK(By::try_min(none, result) == treefold::code::empty);
        CHECK(By::try_max(none, result) == treefold::code::empty);
    }
}

template <class By> void all_numbers()
{
    numbers<By, float>();
    numbers<By, double>();
    numbers<By, std::complex<float>>();
    numbers<By, std::complex<double>>();
    numbers<By, std::int8_t>();
    numbers<By, std::int16_t>();
    numbers<By, std::int32_t>();
    numbers<By, long>();
    numbers<By, long long>();
    numbers<By, std::uint8_t>();
    numbers<By, std::uint16_t>();
    numbers<By, std::uint32_t>();
    numbers<By, unsigned long>();
    numbers<By, unsigned long long>();
}

template <class By> void special_numbers()
{
    const double nan = std::bit_cast<double>(std::uint64_t{0xFFF8000000001234});
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    CHECK(bits(By::sum(std::array{nan})) == 0x7FF8000000000000);
    CHECK(bits(By::sum(std::array{1.0, nan, 2.0})) == 0x7FF8000000000000);
    CHECK(bits(By::min(std::array{1.0, nan})) == 0x7FF8000000000000);
    CHECK(bits(By::min(std::array{0.0, -0.0})) == bits(-0.0));
    CHECK(bits(By::max(std::array{-0.0, 0.0})) == bits(0.0));
    CHECK(bits(By::sum(std::array{-0.0, -0.0})) == bits(-0.0));
    CHECK(bits(By::sum(std::array{std::numeric_limits<double>::denorm_min(), 0.0})) == 1);

    std::vector<double> harmonic(1000);
    for (std::size_t i = 0; i < harmonic.size(); ++i)
        harmonic[i] = 1.0 / static_cast<double>(i + 1);
    CHECK(bits(By::sum(harmonic)) == 0x401DF11F45F4E619);
}

// ---- Ranges

void ranges()
{
    double array[4] = {0.1, 0.2, 0.3, 0.4};
    const double right = (0.1 + 0.2) + (0.3 + 0.4);
    std::vector<double> vector(array, array + 4);
    const std::array standard{0.1, 0.2, 0.3, 0.4};
    CHECK(same_bits(treefold::sum(array), right));
    CHECK(same_bits(treefold::sum(vector), right));
    CHECK(same_bits(treefold::sum(standard), right));
    CHECK(same_bits(treefold::sum(std::span(array)), right));
    CHECK(same_bits(treefold::sum(std::span<const double>(array)), right));
    CHECK(same_bits(treefold::sum(std::span(vector).subspan(2)), 0.3 + 0.4));
    CHECK(same_bits(treefold::dot(array, standard), treefold::squared_norm(vector)));
}

template <class R>
concept can_sum = requires(const R &range) { treefold::sum(range); };

template <class R>
concept can_min = requires(const R &range) { treefold::min(range); };

template <class R>
concept can_fold_max = requires(const R &range) { treefold::fold(range, treefold::ops::max); };

template <class X, class Y>
concept can_dot = requires(const X &x, const Y &y) { treefold::dot(x, y); };

static_assert(can_sum<std::vector<double>> && can_sum<std::span<const std::complex<float>>> && can_sum<std::array<long long, 3>>);
static_assert(!can_sum<std::vector<bool>> && !can_sum<std::vector<char>> && !can_sum<std::vector<long double>>);
static_assert(!can_sum<std::array<bool, 2>> && !can_sum<std::list<double>> && !can_sum<double>);
static_assert(can_min<std::vector<int>> && !can_min<std::vector<std::complex<double>>>);
static_assert(can_fold_max<std::vector<int>> && !can_fold_max<std::vector<std::complex<double>>>);
static_assert(can_dot<std::vector<float>, std::span<float>> && !can_dot<std::vector<float>, std::vector<double>>);
static_assert(!can_dot<std::vector<int>, std::vector<int>>);
static_assert(noexcept(treefold::try_sum(std::declval<std::vector<double>>(), std::declval<double &>())));
static_assert(std::is_nothrow_copy_constructible_v<treefold::error>);

// ---- Computed leaves

template <class By, class T> void leaves()
{
    for (const std::size_t count : counts) {
        const auto x = some_items<T>(count);
        auto y = some_items<T>(count + 1);
        y.pop_back();
        std::vector<T> products, squares, absolute;
        for (std::size_t i = 0; i < count; ++i) {
            products.push_back(x[i] * y[i]);
            squares.push_back(x[i] * x[i]);
            absolute.push_back(std::abs(x[i]));
        }
        CHECK(same_bits(By::dot(x, y), tree(products, plus<T>)));
        CHECK(same_bits(By::squared_norm(x), tree(squares, plus<T>)));
        const auto [sum, absolute_sum] = By::sum_and_absolute_sum(x);
        CHECK(same_bits(sum, tree(x, plus<T>)));
        CHECK(same_bits(absolute_sum, tree(absolute, plus<T>)));

        T result{};
        treefold::sums<T> sums{};
        CHECK(By::try_dot(x, y, result) == treefold::code::ok && same_bits(result, By::dot(x, y)));
        CHECK(By::try_squared_norm(x, result) == treefold::code::ok && same_bits(result, By::squared_norm(x)));
        CHECK(By::try_sum_and_absolute_sum(x, sums) == treefold::code::ok && same_bits(sums.absolute_sum, absolute_sum));

        y.pop_back();
        CHECK(thrown([&] { static_cast<void>(By::dot(x, y)); }) == treefold::code::length);
        CHECK(By::try_dot(x, y, result) == treefold::code::length);
    }
    const std::vector<T> none;
    CHECK(same_bits(By::dot(none, none), T{0}));
    CHECK(same_bits(By::squared_norm(none), T{0}));
    CHECK(same_bits(By::sum_and_absolute_sum(none).absolute_sum, T{0}));
}

// ---- Lanes

template <class T, class Combine> T tree_in_lanes(const std::vector<T> &items, std::size_t lanes, const Combine &combine)
{
    std::vector<T> values;
    for (std::size_t lane = 0; lane < std::min(lanes, items.size()); ++lane) {
        std::vector<T> own;
        for (std::size_t i = lane; i < items.size(); i += lanes)
            own.push_back(items[i]);
        values.push_back(tree(own, combine));
    }
    return tree(values, combine);
}

template <class By, class T> void lanes()
{
    T result{};
    for (const std::size_t count : counts) {
        const auto x = some_items<T>(count);
        for (const std::size_t lanes : {1U, 3U, 16U, 64U, 1U << 20}) {
            const auto expected = tree_in_lanes(x, lanes, plus<T>);
            CHECK(same_bits(By::sum_lanes(x, lanes), expected));
            CHECK(By::try_sum_lanes(x, lanes, result) == treefold::code::ok && same_bits(result, expected));
        }
        CHECK(thrown([&] { static_cast<void>(By::sum_lanes(x, 0)); }) == treefold::code::argument);
        CHECK(By::try_sum_lanes(x, (1U << 20) + 1, result) == treefold::code::argument);
    }
    CHECK(same_bits(By::sum_lanes(std::vector<T>{}, 16), T{0}));
}

template <std::size_t L> void canonical_reduce_in()
{
    for (const std::size_t count : {0U, 1U, 2U, 15U, 16U, 17U, 100U, 1000U, 4097U}) {
        const auto x = some_items<double>(count);
        const auto sum = [&](double init) { return count == 0 ? init : init + tree_in_lanes(x, L, plus<double>); };
        CHECK(same_bits(treefold::canonical_reduce<L>(x.begin(), x.end(), 0.1), sum(0.1)));
        CHECK(same_bits(treefold::canonical_reduce<L>(x.data(), x.data() + count, 0.0, std::plus<double>{}), sum(0.0)));
        // By iterators that are no pointers, and by an operator that the library does not know.
        const std::list<double> list(x.begin(), x.end());
        CHECK(same_bits(treefold::canonical_reduce<L>(list.begin(), list.end(), 0.1), sum(0.1)));
        CHECK(same_bits(treefold::canonical_reduce<L>(x.begin(), x.end(), 0.1, plus<double>), sum(0.1)));
        // Operands stay in order, and items become what init is.
        std::vector<std::string> letters;
        for (std::size_t i = 0; i < count; ++i)
            letters.push_back(std::to_string(i));
        const auto join = [](const std::string &left, const std::string &right) { return "(" + left + " " + right + ")"; };
        const auto expected = count == 0 ? "init" : join("init", tree_in_lanes(letters, L, join));
        CHECK(treefold::canonical_reduce<L>(letters.begin(), letters.end(), std::string("init"), join) == expected);
        const std::vector<float> floats(x.begin(), x.end());
        const std::vector<double> widened(floats.begin(), floats.end());
        const auto wide = treefold::canonical_reduce<L>(floats.begin(), floats.end(), 0.5);
        CHECK(same_bits(wide, count == 0 ? 0.5 : 0.5 + tree_in_lanes(widened, L, plus<double>)));
    }
}

// ---- Rows and fields

template <class By, class T> void rows_and_fields()
{
    for (const std::size_t width : {1U, 2U, 3U, 8U, 33U}) {
        for (const std::size_t rows : {0U, 1U, 2U, 3U, 17U, 100U, 5000U}) {
            const auto x = some_items<T>(rows * width);
            std::vector<std::vector<T>> columns(width);
            for (std::size_t i = 0; i < x.size(); ++i)
                columns[i % width].push_back(x[i]);
            std::vector<T> sums, products;
            for (const auto &column : columns) {
                sums.push_back(rows == 0 ? T{0} : tree(column, plus<T>));
                products.push_back(rows == 0 ? T{1} : tree(column, times<T>));
            }
            CHECK(same_bits(By::sum_rows(x, width), sums));
            CHECK(same_bits(By::fold_rows(x, width, treefold::ops::product), products));
            CHECK(same_bits(By::fields(columns, treefold::ops::sum), sums));
            CHECK(same_bits(By::fields(columns, treefold::ops::product), products));

            std::vector<T> result(width);
            By::sum_rows_into(x, width, result);
            CHECK(same_bits(result, sums));
            By::fold_rows_into(x, width, treefold::ops::product, result);
            CHECK(same_bits(result, products));
            By::fields_into(columns, treefold::ops::sum, result);
            CHECK(same_bits(result, sums));
            CHECK(By::try_sum_rows_into(x, width, result) == treefold::code::ok && same_bits(result, sums));
            CHECK(By::try_fold_rows_into(x, width, treefold::ops::product, result) == treefold::code::ok);
            CHECK(same_bits(result, products));
            CHECK(By::try_fields_into(columns, treefold::ops::sum, result) == treefold::code::ok && same_bits(result, sums));
        }
    }
}

template <class By> void wrong_rows_and_fields()
{
    const std::vector x = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    std::array<double, 3> three{};
    std::array<double, 2> two{};
    CHECK(thrown([&] { static_cast<void>(By::sum_rows(x, 4)); }) == treefold::code::length);
    CHECK(thrown([&] { static_cast<void>(By::sum_rows(x, 0)); }) == treefold::code::length);
    CHECK(thrown([&] { By::sum_rows_into(x, 3, two); }) == treefold::code::length);
    CHECK(By::try_sum_rows_into(x, 3, two) == treefold::code::length);
    CHECK(By::try_fold_rows_into(x, 4, treefold::ops::max, three) == treefold::code::length);

    const std::vector<std::vector<double>> uneven = {{1, 2}, {3}};
    CHECK(thrown([&] { static_cast<void>(By::fields(uneven, treefold::ops::sum)); }) == treefold::code::length);
    CHECK(By::try_fields_into(uneven, treefold::ops::sum, two) == treefold::code::length);

    const std::array even = {std::span<const double>(x).first(3), std::span<const double>(x).last(3)};
    CHECK(By::fields(even, treefold::ops::max) == (std::vector{3.0, 6.0}));
    CHECK(thrown([&] { By::fields_into(even, treefold::ops::sum, three); }) == treefold::code::length);
    CHECK(By::try_fields_into(even, treefold::ops::sum, three) == treefold::code::length);
    CHECK(By::fields(std::vector<std::vector<double>>{}, treefold::ops::sum).empty());

    const std::vector<std::vector<double>> hollow = {{}, {}};
    CHECK(thrown([&] { static_cast<void>(By::fields(hollow, treefold::ops::min)); }) == treefold::code::empty);
}

// ---- Operators of one's own

// 4 × Words bytes, with a rule that is neither commutative nor associative.
template <std::size_t Words> struct words {
    std::array<std::uint32_t, Words> value;

    static words combine(const words &left, const words &right)
    {
        words result{};
        for (std::size_t i = 0; i < Words; ++i)
            result.value[i] = left.value[i] * 31 + (right.value[i] ^ 0x9E3779B9U) + static_cast<std::uint32_t>(i);
        return result;
    }
};

template <class By, std::size_t Words> void item_size()
{
    using item = words<Words>;
    for (const std::size_t count : {1U, 2U, 3U, 5U, 16U, 100U, 3001U}) {
        std::vector<item> items(count);
        std::uint32_t next = 1;
        for (auto &one : items)
            for (auto &word : one.value)
                word = next = next * 1664525U + 1013904223U;
        const item right = tree(items, &item::combine);
        CHECK(same_bits(By::fold(items, &item::combine), right));
        CHECK(same_bits(By::fold(items, item::combine, item{}), right));
        item result{};
        CHECK(By::try_fold(items, &item::combine, result) == treefold::code::ok && same_bits(result, right));
    }
}

// No default constructor, and an alignment beyond what the library promises.
struct alignas(64) broad {
    double value;
    explicit broad(double given) : value(given) {}

    [[nodiscard]] broad joined(const broad &other) const
    {
        // An access that needs the alignment would fail under the sanitizer if the items had not been copied.
        return broad(value - other.value / 3);
    }
};

struct padded {
    double value;
    std::int32_t count;
};

template <class By> void operators()
{
    item_size<By, 1>();
    item_size<By, 2>();
    item_size<By, 3>();
    item_size<By, 5>();
    item_size<By, 6>();
    item_size<By, 16>();
    item_size<By, 27>();
    item_size<By, 128>();

    const auto x = some_items<double>(1001);
    const auto difference = [](double left, double right) { return left - right; };
    CHECK(same_bits(By::fold(x, difference), tree(x, difference)));
    CHECK(same_bits(By::fold(x, [](const double &left, const double &right) -> const double & { return right < left ? right : left; }),
                    By::min(x)));

    // State is used in place, and may be anything that threads can share.
    std::atomic<int> calls = 0;
    const auto owner = std::make_unique<double>(0.5);
    const auto counting = [&calls, &owner](double left, double right) {
        ++calls;
        return left * *owner - right;
    };
    CHECK(same_bits(By::fold(x, counting), tree(x, [](double left, double right) { return left * 0.5 - right; })));
    CHECK(calls == 1000);

    std::vector<broad> broads;
    for (const double value : x)
        broads.emplace_back(value);
    CHECK(same_bits(By::fold(broads, &broad::joined).value, tree(x, [](double l, double r) { return l - r / 3; })));

    std::vector<padded> with_padding;
    for (const double value : x)
        with_padding.push_back({value, 1});
    const auto join = [](padded left, padded right) { return padded{left.value - right.value, left.count + right.count}; };
    CHECK(same_bits(By::fold(with_padding, join).value, tree(x, difference)));
    CHECK(By::fold(with_padding, join).count == 1001);

    // Nothing.
    const std::vector<double> none;
    double result = 0;
    CHECK(thrown([&] { static_cast<void>(By::fold(none, difference)); }) == treefold::code::empty);
    CHECK(By::try_fold(none, difference, result) == treefold::code::empty);
    CHECK(By::fold(none, difference, 7.0) == 7.0);
    CHECK(By::try_fold(none, difference, 7.0, result) == treefold::code::ok && result == 7.0);

    // Reductions within a reduction.
    const auto nested = [](double left, double right) { return treefold::sum(std::array{left, right}); };
    CHECK(same_bits(By::fold(x, nested), By::sum(x)));
}

template <class By> void exceptions()
{
    const auto x = some_items<double>(200'000);
    const auto mine = std::make_exception_ptr(std::logic_error("mine"));
    const auto failing = [&mine](double left, double right) {
        if (left > right)
            std::rethrow_exception(mine);
        return left;
    };
    for (int round = 0; round < 20; ++round) {
        bool is_mine = false;
        try {
            static_cast<void>(By::fold(x, failing));
        } catch (...) {
            is_mine = std::current_exception() == mine;
        }
        CHECK(is_mine);
    }
    double result = 0;
    CHECK(By::try_fold(x, failing, result) == treefold::code::operator_failed);

    // Many threads throw, each an exception of its own: one arrives, whole.
    std::atomic<int> thrown_count = 0;
    try {
        static_cast<void>(By::fold(x, [&thrown_count](double, double) -> double { throw ++thrown_count; }));
        CHECK(false);
    } catch (int number) {
        CHECK(number >= 1 && number <= thrown_count);
    }

    // A failure of treefold's inside an operator is an exception like others.
    CHECK(thrown([&] {
              static_cast<void>(By::fold(x, [](double, double) { return treefold::min(std::vector<double>{}); }));
          }) == treefold::code::empty);

    // And nothing is left of all that.
    CHECK(same_bits(By::fold(x, [](double left, double right) { return left + right; }), By::sum(x)));
}

// ---- Errors

void errors()
{
    CHECK(std::string(treefold::code_name(treefold::code::length)) == "TREEFOLD_LENGTH");
    CHECK(std::string(treefold::code_name(treefold::code::operator_failed)) == "TREEFOLD_OPERATOR");
    CHECK(std::string(treefold::code_name(treefold::code{-5})) == "unknown");
    CHECK(treefold::version() == TREEFOLD_VERSION);

    const treefold::error made(treefold::code::mpi, 3, "text");
    const std::runtime_error &base = made;
    CHECK(made.code() == treefold::code::mpi && made.rank() == 3 && std::string(base.what()) == "text");

    std::string text;
    try {
        static_cast<void>(treefold::dot(std::array{1.0, 2.0, 3.0}, std::array{1.0}));
    } catch (const treefold::error &error) {
        text = error.what();
    }
    CHECK(text == treefold_last_error());

    // The environment is looked at in every call.
    std::fesetround(FE_UPWARD);
    const auto upward = thrown([] { static_cast<void>(treefold::sum(std::array{1.0, 2.0})); });
    std::fesetround(FE_TONEAREST);
    CHECK(upward == treefold::code::environment);
    CHECK(treefold::sum(std::array{1.0, 2.0}) == 3.0);
}

// Several threads at once, each with its own errors.
void threads()
{
    const auto x = some_items<double>(50'000);
    const double right = treefold::sum(x);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> all;
    for (int thread = 0; thread < 4; ++thread) {
        all.emplace_back([&x, &wrong, right, thread] {
            for (int round = 0; round < 50; ++round) {
                wrong += !same_bits(treefold::sum(x), right);
                wrong += !same_bits(treefold::par::fold(x, [](double l, double r) { return l + r; }), right);
                try {
                    static_cast<void>(treefold::par::fold(x, [thread](double, double) -> double { throw thread; }));
                    ++wrong;
                } catch (int thrown) {
                    wrong += thrown != thread;
                }
            }
        });
    }
    for (auto &thread : all)
        thread.join();
    CHECK(wrong == 0);
}

template <class By> void all()
{
    all_numbers<By>();
    special_numbers<By>();
    leaves<By, float>();
    leaves<By, double>();
    lanes<By, float>();
    lanes<By, double>();
    rows_and_fields<By, float>();
    rows_and_fields<By, double>();
    rows_and_fields<By, std::complex<double>>();
    rows_and_fields<By, std::int16_t>();
    wrong_rows_and_fields<By>();
    operators<By>();
    exceptions<By>();
}

} // namespace

int main()
{
    all<caller>();
    all<pool>();
    canonical_reduce_in<1>();
    canonical_reduce_in<3>();
    canonical_reduce_in<16>();
    canonical_reduce_in<128>();
    ranges();
    errors();
    threads();
    std::printf("treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
