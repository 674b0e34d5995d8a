// treefold_keyed.hpp: exact sums by key that are held between calls. treefold_exact.hpp includes it.
//
//     treefold::exact::keyed<double> sums(groups);
//     sums.add(keys, x);
//     std::vector<double> values = sums.sums();
//
// T is float or double; items of keyed<T> may be integers, too. All take keys of any type of integers, in a range as long as that of items,
// and have merge(), groups() and ==. Names with `try_` throw nothing, and those with `_into` leave their result in a span.
//
//     keyed<T>                  add, remove                         sums; of integers counts and means, too
//     keyed_moments<T>          add, remove                         counts, means, variances, standard_deviations
//     keyed_dot<T>              add(keys, x, y), remove             sums
//     keyed_weighted_mean<T>    add(keys, x, weights), remove       means
//     keyed_extrema<T>          add                                 minima, maxima
//     keyed_rows<T>             add(keys, rows), remove             sums, a row for each key
//     hashed<T, K>              add, of any keys                    keys, ascending, and sums in their order
//
// keyed<T> of real items and keyed_moments<T> have bytes() and of_bytes().
#ifndef TREEFOLD_KEYED_HPP
#define TREEFOLD_KEYED_HPP

#include <treefold_exact.hpp>

#ifdef TREEFOLD_HPP_IS_COMPLETE

namespace treefold {

namespace detail {

// What keyed states do alike: Self is one of them.
template <class Self, class T, bool TakesPairs, bool CanRemove> class keyed_state {
public:
    // Adds items to those of their keys, or takes back what was added.
    template <item_range K, item_range X>
        requires(!TakesPairs && integer<item_of<K>> && std::same_as<item_of<X>, T>)
    void add(const K &keys, const X &items)
    {
        check(static_cast<treefold_status>(try_add(keys, items)));
    }

    template <item_range K, item_range X>
        requires(!TakesPairs && CanRemove && integer<item_of<K>> && std::same_as<item_of<X>, T>)
    void remove(const K &keys, const X &items)
    {
        check(static_cast<treefold_status>(try_remove(keys, items)));
    }

    template <item_range K, item_range X>
        requires(!TakesPairs && integer<item_of<K>> && std::same_as<item_of<X>, T>)
    code try_add(const K &keys, const X &items) noexcept
    {
        return change<treefold_keyed_add>(keys, items);
    }

    template <item_range K, item_range X>
        requires(!TakesPairs && CanRemove && integer<item_of<K>> && std::same_as<item_of<X>, T>)
    code try_remove(const K &keys, const X &items) noexcept
    {
        return change<treefold_keyed_remove>(keys, items);
    }

    // The same for two ranges of one length.
    template <item_range K, item_range X, item_range Y>
        requires(TakesPairs && integer<item_of<K>> && std::same_as<item_of<X>, T> && std::same_as<item_of<Y>, T>)
    void add(const K &keys, const X &x, const Y &y)
    {
        check(static_cast<treefold_status>(try_add(keys, x, y)));
    }

    template <item_range K, item_range X, item_range Y>
        requires(TakesPairs && integer<item_of<K>> && std::same_as<item_of<X>, T> && std::same_as<item_of<Y>, T>)
    void remove(const K &keys, const X &x, const Y &y)
    {
        check(static_cast<treefold_status>(try_remove(keys, x, y)));
    }

    template <item_range K, item_range X, item_range Y>
        requires(TakesPairs && integer<item_of<K>> && std::same_as<item_of<X>, T> && std::same_as<item_of<Y>, T>)
    code try_add(const K &keys, const X &x, const Y &y) noexcept
    {
        return change_pairs<treefold_keyed_add_dot>(keys, x, y);
    }

    template <item_range K, item_range X, item_range Y>
        requires(TakesPairs && integer<item_of<K>> && std::same_as<item_of<X>, T> && std::same_as<item_of<Y>, T>)
    code try_remove(const K &keys, const X &x, const Y &y) noexcept
    {
        return change_pairs<treefold_keyed_remove_dot>(keys, x, y);
    }

    // The number of keys.
    [[nodiscard]] std::size_t groups() const
    {
        std::size_t result;
        check(treefold_keyed_groups(handle(), &result));
        return result;
    }

    // Adds what another one was given, which may be the same. Both have as many keys, unless these may be any.
    void merge(const Self &other) { check(static_cast<treefold_status>(try_merge(other))); }
    code try_merge(const Self &other) noexcept { return code{treefold_keyed_merge(handle(), other.handle())}; }

    // Whether both have the same keys with the same sums.
    [[nodiscard]] friend bool operator==(const Self &left, const Self &right)
    {
        int result;
        check(treefold_keyed_equal(left.handle(), right.handle(), &result));
        return result == 1;
    }

    [[nodiscard]] treefold_keyed *handle() const noexcept { return state_.get(); }

protected:
    // What a function leaves in a span of so many.
    template <class R, class Write> static std::vector<R> filled(std::size_t count, const Write &write)
    {
        std::vector<R> result(count);
        check(static_cast<treefold_status>(write(std::span<R>(result))));
        return result;
    }

    treefold_keyed **address() noexcept { return state_.address(); }

private:
    template <auto Change, class K, class X> code change(const K &keys, const X &items) noexcept
    {
        return code{Change(handle(), type_of<item_of<K>>, std::ranges::data(keys), std::ranges::size(keys), std::ranges::data(items),
                           std::ranges::size(items))};
    }

    template <auto Change, class K, class X, class Y> code change_pairs(const K &keys, const X &x, const Y &y) noexcept
    {
        return code{Change(handle(), type_of<item_of<K>>, std::ranges::data(keys), std::ranges::size(keys), std::ranges::data(x),
                           std::ranges::size(x), std::ranges::data(y), std::ranges::size(y))};
    }

    detail::handle<treefold_keyed, treefold_keyed_destroy> state_;
};

constexpr bool takes_pairs_by_key(std::int32_t figure)
{
    return figure == TREEFOLD_EXACT_DOT || figure == TREEFOLD_EXACT_WEIGHTED_MEAN;
}

// A figure of the items of each of the keys 0 to groups - 1.
template <class T, std::int32_t Figure>
    requires floating<T> || (integer<T> && Figure == TREEFOLD_EXACT_SUM)
class keyed : public keyed_state<keyed<T, Figure>, T, takes_pairs_by_key(Figure), Figure != TREEFOLD_EXACT_EXTREMA> {
    static constexpr bool has_sums = Figure == TREEFOLD_EXACT_SUM || Figure == TREEFOLD_EXACT_DOT;
    static constexpr bool has_counts = Figure == TREEFOLD_EXACT_MOMENTS || integer<T>;
    static constexpr bool has_means = has_counts || Figure == TREEFOLD_EXACT_WEIGHTED_MEAN;
    static constexpr bool has_variances = Figure == TREEFOLD_EXACT_MOMENTS;
    static constexpr bool has_extrema = Figure == TREEFOLD_EXACT_EXTREMA;
    static constexpr bool has_bytes = floating<T> && (Figure == TREEFOLD_EXACT_SUM || Figure == TREEFOLD_EXACT_MOMENTS);

public:
    // Sums of integers have 64 bits, and means of them are doubles.
    using sum_type = total_of<T>;
    using mean_type = std::conditional_t<integer<T>, double, T>;

    // That of no items.
    explicit keyed(std::size_t groups) { check(treefold_keyed_create(type_of<T>, Figure, groups, this->address())); }

    // What bytes() of such an object has given, with as many keys.
    [[nodiscard]] static keyed of_bytes(std::span<const std::byte> bytes)
        requires has_bytes
    {
        keyed result(0);
        check(treefold_keyed_of_bytes(result.handle(), bytes.data(), bytes.size()));
        return result;
    }

    // For files and other programs. Equal objects have the same bytes.
    [[nodiscard]] std::vector<std::byte> bytes() const
        requires has_bytes
    {
        return bytes_of<treefold_keyed_to_bytes>(this->handle());
    }

    // A result for each key, rounded once.
    [[nodiscard]] std::vector<sum_type> sums() const
        requires has_sums
    {
        return this->template filled<sum_type>(this->groups(), [this](auto result) { return try_sums_into(result); });
    }

    [[nodiscard]] std::vector<std::uint64_t> counts() const
        requires has_counts
    {
        return this->template filled<std::uint64_t>(this->groups(), [this](auto result) { return try_counts_into(result); });
    }

    [[nodiscard]] std::vector<mean_type> means() const
        requires has_means
    {
        return this->template filled<mean_type>(this->groups(), [this](auto result) { return try_means_into(result); });
    }

    [[nodiscard]] std::vector<T> minima() const
        requires has_extrema
    {
        return this->template filled<T>(this->groups(), [this](auto result) { return try_minima_into(result); });
    }

    [[nodiscard]] std::vector<T> maxima() const
        requires has_extrema
    {
        return this->template filled<T>(this->groups(), [this](auto result) { return try_maxima_into(result); });
    }

    [[nodiscard]] std::vector<T> variances(double ddof) const
        requires has_variances
    {
        return this->template filled<T>(this->groups(), [&](auto result) { return try_variances_into(ddof, result); });
    }

    [[nodiscard]] std::vector<T> standard_deviations(double ddof) const
        requires has_variances
    {
        return this->template filled<T>(this->groups(), [&](auto result) { return try_standard_deviations_into(ddof, result); });
    }

    code try_sums_into(std::span<sum_type> result) const noexcept
        requires has_sums
    {
        return code{treefold_keyed_sums(this->handle(), result.data(), result.size())};
    }

    code try_counts_into(std::span<std::uint64_t> result) const noexcept
        requires has_counts
    {
        return code{treefold_keyed_counts(this->handle(), result.data(), result.size())};
    }

    code try_means_into(std::span<mean_type> result) const noexcept
        requires has_means
    {
        return code{treefold_keyed_means(this->handle(), result.data(), result.size())};
    }

    code try_minima_into(std::span<T> result) const noexcept
        requires has_extrema
    {
        return code{treefold_keyed_minima(this->handle(), result.data(), result.size())};
    }

    code try_maxima_into(std::span<T> result) const noexcept
        requires has_extrema
    {
        return code{treefold_keyed_maxima(this->handle(), result.data(), result.size())};
    }

    code try_variances_into(double ddof, std::span<T> result) const noexcept
        requires has_variances
    {
        return code{treefold_keyed_variances(this->handle(), ddof, result.data(), result.size())};
    }

    code try_standard_deviations_into(double ddof, std::span<T> result) const noexcept
        requires has_variances
    {
        return code{treefold_keyed_standard_deviations(this->handle(), ddof, result.data(), result.size())};
    }
};

// The sums of each key's rows, column by column.
template <floating T> class keyed_rows : public keyed_state<keyed_rows<T>, T, false, true> {
public:
    keyed_rows(std::size_t groups, std::size_t width) : width_(width)
    {
        check(treefold_keyed_create_rows(type_of<T>, groups, width, this->address()));
    }

    [[nodiscard]] std::size_t width() const noexcept { return width_; }

    // A row for each key.
    [[nodiscard]] std::vector<T> sums() const
    {
        return this->template filled<T>(this->groups() * width_, [this](auto result) { return try_sums_into(result); });
    }

    code try_sums_into(std::span<T> result) const noexcept
    {
        return code{treefold_keyed_sums(this->handle(), result.data(), result.size())};
    }

private:
    std::size_t width_;
};

// The sums of the keys that have items, which may be any of a type.
template <floating T, any_of<std::int64_t, std::uint64_t> K> class hashed : public keyed_state<hashed<T, K>, T, false, false> {
public:
    hashed() { check(treefold_keyed_create_hashed(type_of<T>, type_of<K>, this->address())); }

    // The keys in ascending order, and their sums in this order.
    [[nodiscard]] std::vector<K> keys() const
    {
        return this->template filled<K>(this->groups(), [this](auto result) { return try_keys_into(result); });
    }

    [[nodiscard]] std::vector<T> sums() const
    {
        return this->template filled<T>(this->groups(), [this](auto result) { return try_sums_into(result); });
    }

    code try_keys_into(std::span<K> result) const noexcept
    {
        return code{treefold_keyed_keys(this->handle(), result.data(), result.size())};
    }

    code try_sums_into(std::span<T> result) const noexcept
    {
        return code{treefold_keyed_sums(this->handle(), result.data(), result.size())};
    }
};

} // namespace detail

namespace exact {

template <class T> using keyed = detail::keyed<T, TREEFOLD_EXACT_SUM>;
template <class T> using keyed_moments = detail::keyed<T, TREEFOLD_EXACT_MOMENTS>;
template <class T> using keyed_dot = detail::keyed<T, TREEFOLD_EXACT_DOT>;
template <class T> using keyed_weighted_mean = detail::keyed<T, TREEFOLD_EXACT_WEIGHTED_MEAN>;
template <class T> using keyed_extrema = detail::keyed<T, TREEFOLD_EXACT_EXTREMA>;
template <class T> using keyed_rows = detail::keyed_rows<T>;
template <class T, class K = std::int64_t> using hashed = detail::hashed<T, K>;

} // namespace exact

} // namespace treefold

#endif // C++20 with exceptions

#endif
