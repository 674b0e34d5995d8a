// Exact sums in C++: values that only an exact sum gives, the bits of the C functions, and wrong arguments.

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"

namespace {

template <class T> bool same_bits(const T &one, const T &other)
{
    return std::memcmp(&one, &other, sizeof(T)) == 0;
}

template <class Call> treefold::code thrown(const Call &call)
{
    try {
        call();
        return treefold::code::ok;
    } catch (const treefold::error &error) {
        CHECK(std::strlen(error.what()) > 0);
        return error.code();
    }
}

// ---- Both namespaces as one argument

#define FUNCTIONS(name, space)                                                                                                          \
    struct name {                                                                                                                       \
        static constexpr auto sum = treefold::space exact_sum;                                                                          \
        static constexpr auto dot = treefold::space exact_dot;                                                                          \
        static constexpr auto norm = treefold::space exact_norm;                                                                        \
        static constexpr auto try_sum = treefold::space try_exact_sum;                                                                  \
        static constexpr auto try_dot = treefold::space try_exact_dot;                                                                  \
        static constexpr auto try_norm = treefold::space try_exact_norm;                                                                \
    }

FUNCTIONS(caller, );
FUNCTIONS(pool, par::);

template <class X>
concept has_exact_sum = requires(const X &x) { treefold::exact_sum(x); };

template <class X, class Y>
concept has_exact_dot = requires(const X &x, const Y &y) { treefold::exact_dot(x, y); };

static_assert(has_exact_sum<std::vector<float>> && has_exact_sum<std::span<const double>> && has_exact_sum<double[3]>);
static_assert(!has_exact_sum<std::vector<int>> && !has_exact_sum<std::vector<std::complex<double>>>);
static_assert(has_exact_dot<std::vector<float>, std::span<float>> && !has_exact_dot<std::vector<float>, std::vector<double>>);
static_assert(noexcept(treefold::try_exact_sum(std::declval<std::vector<double>>(), std::declval<double &>())));

// ---- Values

template <class By, class T> void values()
{
    using limits = std::numeric_limits<T>;
    const T large = std::ldexp(T{1}, limits::max_exponent - 2), most = limits::max();
    CHECK(same_bits(By::sum(std::array{large, T{1}, -large}), T{1}));
    CHECK(same_bits(By::sum(std::array{most, most, -most}), most));
    CHECK(same_bits(By::sum(std::array{most, most}), limits::infinity()));
    CHECK(same_bits(By::sum(std::array{T{-0.0}, T{-0.0}}), T{-0.0}));
    CHECK(same_bits(By::sum(std::array{T{1}, T{-1}}), T{0}));
    CHECK(same_bits(By::sum(std::array{T{1}, -limits::quiet_NaN()}), limits::quiet_NaN()));
    CHECK(same_bits(By::dot(std::array{large, T{3}, large}, std::array{large, T{4}, -large}), T{12}));
    CHECK(same_bits(By::norm(std::array{3 * (large / 8), 4 * (large / 8)}), 5 * (large / 8)));
    CHECK(same_bits(By::norm(std::array{most}), most));
    const std::vector<T> none;
    CHECK(same_bits(By::sum(none), T{0}));
    CHECK(same_bits(By::dot(none, none), T{0}));
    CHECK(same_bits(By::norm(none), T{0}));

    T result{};
    CHECK(By::try_sum(std::array{large, T{1}, -large}, result) == treefold::code::ok && result == T{1});
    CHECK(By::try_dot(std::array{T{3}, large}, std::array{T{4}, T{0}}, result) == treefold::code::ok && result == T{12});
    CHECK(By::try_norm(std::array{T{3}, T{4}}, result) == treefold::code::ok && result == T{5});

    const std::array<T, 2> two{};
    const std::array<T, 3> three{};
    CHECK(thrown([&] { static_cast<void>(By::dot(two, three)); }) == treefold::code::length);
    CHECK(By::try_dot(two, three, result) == treefold::code::length);
    const std::span<const T> nowhere(static_cast<const T *>(nullptr), 2);
    CHECK(thrown([&] { static_cast<void>(By::sum(nowhere)); }) == treefold::code::null);
    CHECK(By::try_norm(nowhere, result) == treefold::code::null);
}

// The bits of the C functions, which exact.c compares with integers.
treefold_status c_sum(std::span<const float> x, float &result)
{
    return treefold_exact_sum_f32(x.data(), x.size(), &result);
}

treefold_status c_sum(std::span<const double> x, double &result)
{
    return treefold_exact_sum_f64(x.data(), x.size(), &result);
}

treefold_status c_dot(std::span<const float> x, std::span<const float> y, float &result)
{
    return treefold_exact_dot_f32(x.data(), x.size(), y.data(), y.size(), &result);
}

treefold_status c_dot(std::span<const double> x, std::span<const double> y, double &result)
{
    return treefold_exact_dot_f64(x.data(), x.size(), y.data(), y.size(), &result);
}

template <class T> std::vector<T> some_items(std::size_t count)
{
    std::vector<T> items;
    std::uint64_t state = count + 1;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto next = static_cast<std::int32_t>(state >> 33) - (1 << 30);
        items.push_back(std::ldexp(static_cast<T>(next) / 3, static_cast<int>(i % 50) - 25));
    }
    return items;
}

template <class By, class T> void long_slices()
{
    for (const std::size_t count : {1, 2, 3, 9, 100, 4097, 500'000}) {
        const auto x = some_items<T>(count);
        auto y = some_items<T>(count + 1);
        y.pop_back();
        T sum{}, dot{};
        CHECK(c_sum(x, sum) == TREEFOLD_OK && same_bits(By::sum(x), sum));
        CHECK(c_dot(x, y, dot) == TREEFOLD_OK && same_bits(By::dot(x, y), dot));
        // The square root of a double rounds once more than the norm, by half a unit in the last place.
        const T norm = By::norm(x), root = std::sqrt(By::dot(x, x));
        CHECK(norm == root || std::nextafter(norm, root) == root);

        auto reversed = x;
        std::ranges::reverse(reversed);
        std::ranges::reverse(y);
        CHECK(same_bits(By::sum(reversed), sum));
        CHECK(same_bits(By::dot(reversed, y), dot));
        CHECK(same_bits(By::norm(reversed), norm));
    }
}

template <class T> void rows()
{
    for (const std::size_t width : {1U, 2U, 3U, 8U, 33U}) {
        for (const std::size_t rows : {0U, 1U, 2U, 17U, 2000U}) {
            const auto x = some_items<T>(rows * width);
            std::vector<std::vector<T>> columns(width);
            for (std::size_t i = 0; i < x.size(); ++i)
                columns[i % width].push_back(x[i]);
            const auto sums = treefold::exact_sum_rows(x, width);
            std::vector<T> result(width), tried(width);
            treefold::exact_sum_rows_into(x, width, result);
            CHECK(treefold::try_exact_sum_rows_into(x, width, tried) == treefold::code::ok);
            for (std::size_t c = 0; c < width; ++c) {
                const T sum = treefold::exact_sum(columns[c]);
                CHECK(same_bits(sums[c], sum) && same_bits(result[c], sum) && same_bits(tried[c], sum));
            }
        }
    }
    const std::array<T, 6> x{};
    std::array<T, 2> two{};
    CHECK(thrown([&] { static_cast<void>(treefold::exact_sum_rows(x, 4)); }) == treefold::code::length);
    CHECK(thrown([&] { static_cast<void>(treefold::exact_sum_rows(x, 0)); }) == treefold::code::length);
    CHECK(thrown([&] { treefold::exact_sum_rows_into(x, 3, two); }) == treefold::code::length);
    CHECK(treefold::try_exact_sum_rows_into(x, 3, two) == treefold::code::length);
}

// Sums are right where the processor rounds otherwise.
void environment()
{
    const auto x = some_items<double>(10'000);
    const double sum = treefold::exact_sum(x), norm = treefold::par::exact_norm(x);
    double other_sum{}, other_norm{};
    std::fesetround(FE_UPWARD);
    const auto first = treefold::try_exact_sum(x, other_sum);
    const auto second = treefold::par::try_exact_norm(x, other_norm);
    std::fesetround(FE_TONEAREST);
    CHECK(first == treefold::code::ok && same_bits(sum, other_sum));
    CHECK(second == treefold::code::ok && same_bits(norm, other_norm));
}

template <class By> void all()
{
    values<By, float>();
    values<By, double>();
    long_slices<By, float>();
    long_slices<By, double>();
}

} // namespace

int main()
{
    all<caller>();
    all<pool>();
    rows<float>();
    rows<double>();
    environment();
    std::printf("exact sums of treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
