// treefold_exact.hpp: exact sums that are held between calls. treefold.hpp includes it.
//
//     treefold::exact::sum<double> total;
//     total.add(x);
//     total.remove(x[0]);
//     double value = total.value(), mean = total.mean();
//
// sum<T> and moments<T> take items, norm<T> takes items of real types, and dot<T> and vdot<T> take pairs of them; T is float, double or a
// std::complex of them. treefold_keyed.hpp has those of items with keys.
//
// Objects can be moved, not copied: merge() adds what another one was given. Any thread may use them, and several may read one at once.
// Functions throw treefold::error; those with `try_` throw nothing, take the result by reference or as a span, and return a treefold::code.
// After an error, an object is as it was.
#ifndef TREEFOLD_EXACT_HPP
#define TREEFOLD_EXACT_HPP

#include <treefold.hpp>

#ifdef TREEFOLD_HPP_IS_COMPLETE

namespace treefold {

namespace detail {

template <class T> struct real_part {
    using type = T;
};

template <class T> struct real_part<std::complex<T>> {
    using type = T;
};

template <class T> using real_of = typename real_part<T>::type;

// What a handle names, as bytes.
template <auto ToBytes, class H> std::vector<std::byte> bytes_of(const H *handle)
{
    std::size_t needed;
    check(ToBytes(handle, nullptr, 0, &needed));
    std::vector<std::byte> result(needed);
    check(ToBytes(handle, result.data(), result.size(), &needed));
    return result;
}

// An exact sum, and what an accumulator of treefold.h makes of it.
template <class T, std::int32_t Figure>
    requires floating<T> || (complex_number<T> && Figure != TREEFOLD_EXACT_NORM)
class accumulator {
    static constexpr bool takes_pairs = Figure == TREEFOLD_EXACT_DOT || Figure == TREEFOLD_EXACT_VDOT;
    static constexpr bool has_mean = Figure != TREEFOLD_EXACT_NORM;
    static constexpr bool has_variance = Figure == TREEFOLD_EXACT_MOMENTS;

public:
    // That of no items.
    accumulator() { check(treefold_accumulator_create(type_of<T>, Figure, state_.address())); }

    // What bytes() of such an object has given.
    [[nodiscard]] static accumulator of_bytes(std::span<const std::byte> bytes)
    {
        accumulator result;
        check(treefold_accumulator_of_bytes(result.handle(), bytes.data(), bytes.size()));
        return result;
    }

    // Adds items or one item, or takes back what was added: more than that is an error, as far as it can be seen.
    template <item_range R>
        requires(!takes_pairs && std::same_as<item_of<R>, T>)
    void add(const R &items)
    {
        check(static_cast<treefold_status>(try_add(items)));
    }

    void add(const T &item)
        requires(!takes_pairs)
    {
        check(static_cast<treefold_status>(try_add(item)));
    }

    template <item_range R>
        requires(!takes_pairs && std::same_as<item_of<R>, T>)
    void remove(const R &items)
    {
        check(static_cast<treefold_status>(try_remove(items)));
    }

    void remove(const T &item)
        requires(!takes_pairs)
    {
        check(static_cast<treefold_status>(try_remove(item)));
    }

    template <item_range R>
        requires(!takes_pairs && std::same_as<item_of<R>, T>)
    code try_add(const R &items) noexcept
    {
        return code{treefold_accumulator_add(handle(), std::ranges::data(items), std::ranges::size(items))};
    }

    code try_add(const T &item) noexcept
        requires(!takes_pairs)
    {
        return code{treefold_accumulator_add(handle(), std::addressof(item), 1)};
    }

    template <item_range R>
        requires(!takes_pairs && std::same_as<item_of<R>, T>)
    code try_remove(const R &items) noexcept
    {
        return code{treefold_accumulator_remove(handle(), std::ranges::data(items), std::ranges::size(items))};
    }

    code try_remove(const T &item) noexcept
        requires(!takes_pairs)
    {
        return code{treefold_accumulator_remove(handle(), std::addressof(item), 1)};
    }

    // The same for the products of two ranges of one length.
    template <item_range X, item_range Y>
        requires(takes_pairs && std::same_as<item_of<X>, T> && std::same_as<item_of<Y>, T>)
    void add(const X &x, const Y &y)
    {
        check(static_cast<treefold_status>(try_add(x, y)));
    }

    template <item_range X, item_range Y>
        requires(takes_pairs && std::same_as<item_of<X>, T> && std::same_as<item_of<Y>, T>)
    void remove(const X &x, const Y &y)
    {
        check(static_cast<treefold_status>(try_remove(x, y)));
    }

    template <item_range X, item_range Y>
        requires(takes_pairs && std::same_as<item_of<X>, T> && std::same_as<item_of<Y>, T>)
    code try_add(const X &x, const Y &y) noexcept
    {
        return code{treefold_accumulator_add_dot(handle(), std::ranges::data(x), std::ranges::size(x), std::ranges::data(y),
                                                 std::ranges::size(y))};
    }

    template <item_range X, item_range Y>
        requires(takes_pairs && std::same_as<item_of<X>, T> && std::same_as<item_of<Y>, T>)
    code try_remove(const X &x, const Y &y) noexcept
    {
        return code{treefold_accumulator_remove_dot(handle(), std::ranges::data(x), std::ranges::size(x), std::ranges::data(y),
                                                    std::ranges::size(y))};
    }

    // Adds what another one was given, which may be the same, or takes it back.
    void merge(const accumulator &other) { check(static_cast<treefold_status>(try_merge(other))); }
    void unmerge(const accumulator &other) { check(static_cast<treefold_status>(try_unmerge(other))); }
    code try_merge(const accumulator &other) noexcept { return code{treefold_accumulator_merge(handle(), other.handle())}; }
    code try_unmerge(const accumulator &other) noexcept { return code{treefold_accumulator_unmerge(handle(), other.handle())}; }

    // The number of items, or of products.
    [[nodiscard]] std::uint64_t count() const
    {
        std::uint64_t result;
        check(treefold_accumulator_count(handle(), &result));
        return result;
    }

    // The value and the mean, rounded once.
    [[nodiscard]] T value() const
    {
        T result;
        check(static_cast<treefold_status>(try_value(result)));
        return result;
    }

    [[nodiscard]] T mean() const
        requires has_mean
    {
        T result;
        check(static_cast<treefold_status>(try_mean(result)));
        return result;
    }

    code try_value(T &result) const noexcept { return code{treefold_accumulator_value(handle(), &result)}; }

    code try_mean(T &result) const noexcept
        requires has_mean
    {
        return code{treefold_accumulator_mean(handle(), &result)};
    }

    // The variance and the standard deviation, less so many degrees of freedom.
    [[nodiscard]] real_of<T> variance(double ddof) const
        requires has_variance
    {
        real_of<T> result;
        check(static_cast<treefold_status>(try_variance(ddof, result)));
        return result;
    }

    [[nodiscard]] real_of<T> standard_deviation(double ddof) const
        requires has_variance
    {
        real_of<T> result;
        check(static_cast<treefold_status>(try_standard_deviation(ddof, result)));
        return result;
    }

    code try_variance(double ddof, real_of<T> &result) const noexcept
        requires has_variance
    {
        return code{treefold_accumulator_variance(handle(), ddof, &result)};
    }

    code try_standard_deviation(double ddof, real_of<T> &result) const noexcept
        requires has_variance
    {
        return code{treefold_accumulator_standard_deviation(handle(), ddof, &result)};
    }

    // For files and other programs. Equal objects have the same bytes.
    [[nodiscard]] std::vector<std::byte> bytes() const
    {
        return bytes_of<treefold_accumulator_to_bytes>(handle());
    }

    // Whether both hold the same sum of as many items, of each kind of those that are not numbers, infinite or -0.
    [[nodiscard]] friend bool operator==(const accumulator &left, const accumulator &right)
    {
        int result;
        check(treefold_accumulator_equal(left.handle(), right.handle(), &result));
        return result == 1;
    }

    [[nodiscard]] treefold_accumulator *handle() const noexcept { return state_.get(); }

private:
    detail::handle<treefold_accumulator, treefold_accumulator_destroy> state_;
};

} // namespace detail

namespace exact {

// The sum of the items.
template <class T> using sum = detail::accumulator<T, TREEFOLD_EXACT_SUM>;

// The square root of the sum of their squares.
template <class T> using norm = detail::accumulator<T, TREEFOLD_EXACT_NORM>;

// The sum of products x[i] * y[i], and the same with the complex conjugate of x[i].
template <class T> using dot = detail::accumulator<T, TREEFOLD_EXACT_DOT>;
template <class T> using vdot = detail::accumulator<T, TREEFOLD_EXACT_VDOT>;

// The sum, mean, variance and standard deviation of the items.
template <class T> using moments = detail::accumulator<T, TREEFOLD_EXACT_MOMENTS>;

} // namespace exact

} // namespace treefold

#include <treefold_keyed.hpp>

#endif // C++20 with exceptions

#endif
