// treefold_exact.hpp: exact statistics of all items, by key, and of moving windows. Each result is rounded once. treefold.hpp includes this
// header.
//
//     double variance = treefold::exact(treefold::statistic::variance, x, {.ddof = 1});
//     std::vector<double> means = treefold::by_key(treefold::statistic::mean, keys, x, groups);
//     std::vector<double> slopes = treefold::rolling(treefold::statistic::slope, x, y, treefold::window{.items = 20});
//
//     T exact_sum(items), exact_dot(x, y), exact_norm(x)
//     R exact(statistic, items), exact(statistic, x, y)                      a statistic of all items, or of the pairs (x[i], y[i])
//     vector<R> exact_rows(statistic, items, width)                          one for each column of rows
//     vector<R> by_key(statistic, keys, items, groups)                       one for each key; keys are 0 to groups - 1
//     vector<R> by_key(statistic, keys, x, y, groups)
//     vector<R> by_key_rows(statistic, keys, items, width, groups)           one for each column of each key's rows
//     vector<T> rolling(statistic, items, window), rolling(statistic, x, y, window)    one for the window of each item
//
// Functions that take a statistic also take options as an optional last argument, for example {.ddof = 1}. Functions whose names end in
// `_into` write to a std::span. It is passed in place of the number of groups or, if there are no groups, as the last argument before the
// options.
//
// R, the type of the result, is the type of the items, except:
//
//     count                                                std::uint64_t
//     variance, standard_deviation of complex numbers      the type of the real part
//     sum of integers by key                               std::int64_t, or std::uint64_t for unsigned types
//     other statistics of integers by key                  double
#ifndef TREEFOLD_EXACT_HPP
#define TREEFOLD_EXACT_HPP

#include <treefold.hpp>

#ifdef TREEFOLD_HPP_IS_COMPLETE

namespace treefold {

// ---- Statistics --------------------------------------------------------------------------------------------------------------------

// The type of the constant for statistic S.
template <treefold_statistic S> struct statistic_of {};

// Constants for the statistics that treefold.h defines.
namespace statistic {
inline constexpr statistic_of<TREEFOLD_EXACT_COUNT> count{};
inline constexpr statistic_of<TREEFOLD_EXACT_SUM> sum{};
inline constexpr statistic_of<TREEFOLD_EXACT_MEAN> mean{};
inline constexpr statistic_of<TREEFOLD_EXACT_VARIANCE> variance{};
inline constexpr statistic_of<TREEFOLD_EXACT_STD> standard_deviation{};
inline constexpr statistic_of<TREEFOLD_EXACT_MIN> min{};
inline constexpr statistic_of<TREEFOLD_EXACT_MAX> max{};
inline constexpr statistic_of<TREEFOLD_EXACT_NORM> norm{};
inline constexpr statistic_of<TREEFOLD_EXACT_DOT> dot{};
inline constexpr statistic_of<TREEFOLD_EXACT_WEIGHTED_MEAN> weighted_mean{};
inline constexpr statistic_of<TREEFOLD_EXACT_COVARIANCE> covariance{};
inline constexpr statistic_of<TREEFOLD_EXACT_CORRELATION> correlation{};
inline constexpr statistic_of<TREEFOLD_EXACT_SLOPE> slope{};
inline constexpr statistic_of<TREEFOLD_EXACT_INTERCEPT> intercept{};
inline constexpr statistic_of<TREEFOLD_EXACT_SKEWNESS> skewness{};
inline constexpr statistic_of<TREEFOLD_EXACT_KURTOSIS> kurtosis{};
inline constexpr statistic_of<TREEFOLD_EXACT_VDOT> vdot{};
} // namespace statistic

// The delta degrees of freedom: 0 if the items are the whole population, 1 if they are a sample of it.
struct options {
    double ddof = 0;
};

// Whether a statistic takes two arrays.
template <treefold_statistic S>
concept of_pairs = S == TREEFOLD_EXACT_VDOT || (TREEFOLD_EXACT_DOT <= S && S <= TREEFOLD_EXACT_INTERCEPT);

// Whether a statistic exists for integers by key (of_integers), and for complex numbers (of_complex).
template <treefold_statistic S> concept of_integers = TREEFOLD_EXACT_COUNT <= S && S <= TREEFOLD_EXACT_STD;
template <treefold_statistic S>
concept of_complex = of_integers<S> || S == TREEFOLD_EXACT_DOT || S == TREEFOLD_EXACT_VDOT;

template <class T, treefold_statistic S> concept has_statistic = floating<T> || (complex_number<T> && of_complex<S>);
template <class T, treefold_statistic S>
concept has_statistic_by_key = floating<T> || (integer<T> && of_integers<S>);

namespace detail {

template <class T, treefold_statistic S> struct result {
    using type = T;
};
template <class T, treefold_statistic S>
    requires(S == TREEFOLD_EXACT_COUNT)
struct result<T, S> {
    using type = std::uint64_t;
};
template <complex_number T, treefold_statistic S>
    requires(S == TREEFOLD_EXACT_VARIANCE || S == TREEFOLD_EXACT_STD)
struct result<T, S> {
    using type = typename T::value_type;
};
template <integer T, treefold_statistic S>
    requires(S != TREEFOLD_EXACT_COUNT)
struct result<T, S> {
    using type = std::conditional_t<S != TREEFOLD_EXACT_SUM, double, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
};

} // namespace detail

// The result type of statistic S of items of type T.
template <class T, treefold_statistic S> using result_of = typename detail::result<T, S>::type;

// ---- Windows -----------------------------------------------------------------------------------------------------------------------

// Which items are in the window of item i.
enum class placement : std::int32_t {
    trailing = TREEFOLD_TRAILING,   // the window ends at i
    forward = TREEFOLD_FORWARD,     // the window begins at i
    centred = TREEFOLD_CENTRED,     // i is in the middle of the window
    expanding = TREEFOLD_EXPANDING, // the window has all items up to i
};

// An ascending index, such as a time, with one number for each item; and the width of a window in the same unit. The numbers are not
// copied, and must outlive this object.
class window_index {
public:
    window_index() noexcept = default;

    template <item_range I> requires floating<item_of<I>> || integer<item_of<I>>
    window_index(const I &numbers, item_of<I> width) noexcept
        : numbers_(std::ranges::data(numbers)), length_(std::ranges::size(numbers)), type_(detail::type_of<item_of<I>>)
    {
        std::memcpy(width_, std::addressof(width), sizeof width);
    }

    // Whether there is an index. The other members return the values for the fields of treefold_window.
    [[nodiscard]] explicit operator bool() const noexcept { return type_ != 0; }
    [[nodiscard]] const void *numbers() const noexcept { return numbers_; }
    [[nodiscard]] std::size_t size() const noexcept { return length_; }
    [[nodiscard]] const void *width() const noexcept { return width_; }
    [[nodiscard]] treefold_type type() const noexcept { return type_; }

private:
    const void *numbers_ = nullptr;
    std::size_t length_ = 0;
    alignas(8) std::byte width_[8] = {};
    treefold_type type_ = 0;
};

// Windows of a number of items, or of a range of an index: window{.items = 20}, window{.index = {days, 7}}.
struct window {
    std::size_t items = 0;
    window_index index = {};
    treefold::placement placement = treefold::placement::trailing;
    std::size_t least_items = 0; // the result is NaN for a window of fewer items
    bool skip_nan = false;       // whether to skip items that are NaN, and pairs with a NaN
};

// ---- Implementation details --------------------------------------------------------------------------------------------------------

namespace detail {

// A placeholder for the second array of a statistic that takes only one.
template <class T> inline constexpr std::span<const T> no_array{};

// Returns an array's address, never null. To treefold_by_key_rows, null keys would mean that all rows have the same key.
template <class T> const void *address_of(std::span<const T> array) noexcept
{
    static constexpr T none{};
    return array.data() == nullptr && array.empty() ? &none : array.data();
}

struct exact_function {
    template <treefold_statistic S, item_range X> requires has_statistic<item_of<X>, S> && (!of_pairs<S>)
    [[nodiscard]] result_of<item_of<X>, S> operator()(statistic_of<S>, const X &x, options given = {}) const
    {
        const auto items = view(x);
        return got<treefold_exact, result_of<item_of<X>, S>>(type_of<item_of<X>>, S, given.ddof, items.data(), items.size(), nullptr, 0);
    }

    template <treefold_statistic S, item_range X, range_of<item_of<X>> Y> requires has_statistic<item_of<X>, S> && of_pairs<S>
    [[nodiscard]] result_of<item_of<X>, S> operator()(statistic_of<S>, const X &x, const Y &y, options given = {}) const
    {
        const auto left = view(x), right = view(y);
        return got<treefold_exact, result_of<item_of<X>, S>>(type_of<item_of<X>>, S, given.ddof, left.data(), left.size(), right.data(),
                                                             right.size());
    }
};

// Like exact_function, but for one fixed statistic.
template <treefold_statistic S> struct exact_of_function {
    template <item_range... Arrays> [[nodiscard]] auto operator()(const Arrays &...arrays) const
        requires requires { exact_function{}(statistic_of<S>(), arrays...); }
    {
        return exact_function{}(statistic_of<S>(), arrays...);
    }
};

struct by_key_into_function {
    template <treefold_statistic S, item_range K, item_range X>
        requires integer<item_of<K>> && has_statistic_by_key<item_of<X>, S> && (!of_pairs<S>)
    void operator()(statistic_of<S> of, const K &keys, const X &x, std::span<result_of<item_of<X>, S>> result, options given = {}) const
    {
        run(of, view(keys), view(x), no_array<item_of<X>>, result, given);
    }

    template <treefold_statistic S, item_range K, item_range X, range_of<item_of<X>> Y>
        requires integer<item_of<K>> && has_statistic_by_key<item_of<X>, S> && of_pairs<S>
    void operator()(statistic_of<S> of, const K &keys, const X &x, const Y &y, std::span<result_of<item_of<X>, S>> result,
                    options given = {}) const
    {
        run(of, view(keys), view(x), view(y), result, given);
    }

private:
    template <treefold_statistic S, class K, class T, class R>
    static void run(statistic_of<S>, std::span<const K> keys, std::span<const T> x, std::span<const T> y, std::span<R> result,
                    options given)
    {
        check(treefold_by_key(type_of<T>, S, given.ddof, type_of<K>, keys.data(), keys.size(), x.data(), x.size(), y.data(), y.size(),
                              result.data(), result.size()));
    }
};

struct by_key_function {
    template <treefold_statistic S, item_range K, item_range X>
        requires integer<item_of<K>> && has_statistic_by_key<item_of<X>, S> && (!of_pairs<S>)
    [[nodiscard]] std::vector<result_of<item_of<X>, S>> operator()(statistic_of<S> of, const K &keys, const X &x, std::size_t groups,
                                                                   options given = {}) const
    {
        return filled<result_of<item_of<X>, S>>(groups, [&](auto result) { by_key_into_function{}(of, keys, x, result, given); });
    }

    template <treefold_statistic S, item_range K, item_range X, range_of<item_of<X>> Y>
        requires integer<item_of<K>> && has_statistic_by_key<item_of<X>, S> && of_pairs<S>
    [[nodiscard]] std::vector<result_of<item_of<X>, S>> operator()(statistic_of<S> of, const K &keys, const X &x, const Y &y,
                                                                   std::size_t groups, options given = {}) const
    {
        return filled<result_of<item_of<X>, S>>(groups, [&](auto result) { by_key_into_function{}(of, keys, x, y, result, given); });
    }
};

struct by_key_rows_into_function {
    template <treefold_statistic S, item_range K, item_range X> requires integer<item_of<K>> && floating<item_of<X>> && (!of_pairs<S>)
    void operator()(statistic_of<S>, const K &keys, const X &items, std::size_t width, std::span<result_of<item_of<X>, S>> result,
                    options given = {}) const
    {
        const auto k = view(keys);
        const auto x = view(items);
        check(treefold_by_key_rows(type_of<item_of<X>>, S, given.ddof, width, type_of<item_of<K>>, address_of(k), k.size(), x.data(),
                                   x.size(), result.data(), result.size()));
    }
};

struct by_key_rows_function {
    template <treefold_statistic S, item_range K, item_range X> requires integer<item_of<K>> && floating<item_of<X>> && (!of_pairs<S>)
    [[nodiscard]] std::vector<result_of<item_of<X>, S>> operator()(statistic_of<S> of, const K &keys, const X &items, std::size_t width,
                                                                   std::size_t groups, options given = {}) const
    {
        return filled<result_of<item_of<X>, S>>(width * groups,
                                                [&](auto result) { by_key_rows_into_function{}(of, keys, items, width, result, given); });
    }
};

struct exact_rows_into_function {
    template <treefold_statistic S, item_range X> requires floating<item_of<X>> && (!of_pairs<S>)
    void operator()(statistic_of<S>, const X &items, std::size_t width, std::span<result_of<item_of<X>, S>> result,
                    options given = {}) const
    {
        const auto x = view(items);
        check(treefold_by_key_rows(type_of<item_of<X>>, S, given.ddof, width, TREEFOLD_U64, nullptr, 0, x.data(), x.size(), result.data(),
                                   result.size()));
    }
};

struct exact_rows_function {
    template <treefold_statistic S, item_range X> requires floating<item_of<X>> && (!of_pairs<S>)
    [[nodiscard]] std::vector<result_of<item_of<X>, S>> operator()(statistic_of<S> of, const X &items, std::size_t width,
                                                                   options given = {}) const
    {
        return filled<result_of<item_of<X>, S>>(width,
                                                [&](auto result) { exact_rows_into_function{}(of, items, width, result, given); });
    }
};

struct rolling_into_function {
    template <treefold_statistic S, item_range X> requires floating<item_of<X>> && (!of_pairs<S>)
    void operator()(statistic_of<S> of, const X &x, const window &over, std::span<item_of<X>> result, options given = {}) const
    {
        run(of, view(x), no_array<item_of<X>>, over, result, given);
    }

    template <treefold_statistic S, item_range X, range_of<item_of<X>> Y> requires floating<item_of<X>> && of_pairs<S>
    void operator()(statistic_of<S> of, const X &x, const Y &y, const window &over, std::span<item_of<X>> result, options given = {}) const
    {
        run(of, view(x), view(y), over, result, given);
    }

private:
    template <treefold_statistic S, class T>
    static void run(statistic_of<S>, std::span<const T> x, std::span<const T> y, const window &over, std::span<T> result, options given)
    {
        treefold_window of{};
        of.items = over.items;
        if (over.index) {
            if (over.index.size() != x.size())
                refuse(code::length, "the index does not have one number for each item");
            of.index = over.index.size() == 0 ? over.index.width() : over.index.numbers();
            of.width = over.index.width();
            of.index_type = over.index.type();
        }
        of.placement = static_cast<std::int32_t>(over.placement);
        of.least_items = over.least_items;
        of.skip_nan = over.skip_nan;
        check(treefold_rolling(type_of<T>, S, given.ddof, &of, x.data(), x.size(), y.data(), y.size(), result.data(), result.size()));
    }
};

struct rolling_function {
    template <treefold_statistic S, item_range X> requires floating<item_of<X>> && (!of_pairs<S>)
    [[nodiscard]] std::vector<item_of<X>> operator()(statistic_of<S> of, const X &x, const window &over, options given = {}) const
    {
        return filled<item_of<X>>(std::ranges::size(x), [&](auto result) { rolling_into_function{}(of, x, over, result, given); });
    }

    template <treefold_statistic S, item_range X, range_of<item_of<X>> Y> requires floating<item_of<X>> && of_pairs<S>
    [[nodiscard]] std::vector<item_of<X>> operator()(statistic_of<S> of, const X &x, const Y &y, const window &over,
                                                     options given = {}) const
    {
        return filled<item_of<X>>(std::ranges::size(x), [&](auto result) { rolling_into_function{}(of, x, y, over, result, given); });
    }
};

} // namespace detail

// ---- The functions -----------------------------------------------------------------------------------------------------------------

inline constexpr detail::exact_function exact{};
inline constexpr detail::exact_of_function<TREEFOLD_EXACT_SUM> exact_sum{};
inline constexpr detail::exact_of_function<TREEFOLD_EXACT_DOT> exact_dot{};
inline constexpr detail::exact_of_function<TREEFOLD_EXACT_NORM> exact_norm{};
inline constexpr detail::exact_rows_function exact_rows{};
inline constexpr detail::exact_rows_into_function exact_rows_into{};
inline constexpr detail::by_key_function by_key{};
inline constexpr detail::by_key_into_function by_key_into{};
inline constexpr detail::by_key_rows_function by_key_rows{};
inline constexpr detail::by_key_rows_into_function by_key_rows_into{};
inline constexpr detail::rolling_function rolling{};
inline constexpr detail::rolling_into_function rolling_into{};

} // namespace treefold

#endif // C++20 with exceptions

#endif
