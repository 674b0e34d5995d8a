// treefold_states.hpp: exact statistics that a program keeps between calls. treefold.hpp includes this header.
//
//     treefold::accumulator<double> total(treefold::statistic::variance);
//     total.add(x);
//     total.remove(x[0]);
//     double mean = total.value(treefold::statistic::mean), sample = total.value(treefold::statistic::variance, {.ddof = 1});
//
//     treefold::keyed<double> shops(treefold::statistic::sum, groups);
//     shops.add(keys, x);
//     std::vector<double> sums = shops.values(treefold::statistic::sum);
//
// An object is created for one statistic, and also has the other statistics that follow from the same sums, as treefold.h lists them. Calls
// for any other statistic fail with code::unsupported.
//
// Objects can be moved; clone() copies an object. Any thread may use an object, and several threads may read it at once. A failed call
// changes nothing.
#ifndef TREEFOLD_STATES_HPP
#define TREEFOLD_STATES_HPP

#include <treefold_exact.hpp>

#ifdef TREEFOLD_HPP_IS_COMPLETE

namespace treefold {

namespace detail {

// Returns the bytes of the object that a handle names.
template <auto ToBytes, class H> std::vector<std::byte> bytes_of(const H *handle)
{
    auto needed = got<ToBytes, std::size_t>(handle, nullptr, 0);
    std::vector<std::byte> result(needed);
    check(ToBytes(handle, result.data(), result.size(), &needed));
    return result;
}

} // namespace detail

// Exact statistics of items that are added in any order and in any number of calls: count, sum, mean, variance, standard_deviation, norm,
// dot or vdot.
template <class T> requires floating<T> || complex_number<T>
class accumulator {
public:
    // Creates an accumulator without items.
    template <treefold_statistic S> requires has_statistic<T, S>
    explicit accumulator(statistic_of<S>)
    {
        detail::check(treefold_accumulator_create(detail::type_of<T>, S, state_.address()));
    }

    // Creates an accumulator from the bytes() of another accumulator, which was created for the same statistic.
    template <treefold_statistic S> [[nodiscard]] static accumulator of_bytes(statistic_of<S> of, std::span<const std::byte> bytes)
    {
        accumulator result(of);
        detail::check(treefold_accumulator_of_bytes(result.handle(), bytes.data(), bytes.size()));
        return result;
    }

    // Returns a copy.
    [[nodiscard]] accumulator clone() const
    {
        accumulator result;
        detail::check(treefold_accumulator_copy(handle(), result.state_.address()));
        return result;
    }

    // Adds or removes a range of items, one item, or the pairs (x[i], y[i]) of two ranges of equal length. It is an error to remove more
    // items, NaNs, infinities of one sign or negative zeros than were added. Otherwise, removing an item that was never added goes undetected.
    template <range_of<T> X, range_of<T>... Y> requires(sizeof...(Y) <= 1)
    void add(const X &x, const Y &...y)
    {
        change<treefold_accumulator_add, treefold_accumulator_add_pairs>(x, y...);
    }
    template <range_of<T> X, range_of<T>... Y> requires(sizeof...(Y) <= 1)
    void remove(const X &x, const Y &...y)
    {
        change<treefold_accumulator_remove, treefold_accumulator_remove_pairs>(x, y...);
    }
    void add(const T &item) { add(std::span(std::addressof(item), 1)); }
    void remove(const T &item) { remove(std::span(std::addressof(item), 1)); }

    // Adds or removes all items of another accumulator, which may be this one.
    void merge(const accumulator &other) { detail::check(treefold_accumulator_merge(handle(), other.handle())); }
    void unmerge(const accumulator &other) { detail::check(treefold_accumulator_unmerge(handle(), other.handle())); }

    // Removes all items.
    void clear() { detail::check(treefold_accumulator_clear(handle())); }

    // A statistic of the items, rounded once.
    template <treefold_statistic S> requires has_statistic<T, S>
    [[nodiscard]] result_of<T, S> value(statistic_of<S>, options given = {}) const
    {
        return detail::got<treefold_accumulator_value, result_of<T, S>>(handle(), S, given.ddof);
    }

    // The state as bytes, for files and other programs. Equal objects have the same bytes.
    [[nodiscard]] std::vector<std::byte> bytes() const { return detail::bytes_of<treefold_accumulator_to_bytes>(handle()); }

    // Whether both accumulators have the same sum and equal counts of items, NaNs, infinities and negative zeros. Throws code::argument if
    // they do not hold the same kind of sums.
    [[nodiscard]] friend bool operator==(const accumulator &left, const accumulator &right)
    {
        return detail::got<treefold_accumulator_equal, int>(left.handle(), right.handle()) == 1;
    }

    // The handle to pass to functions of treefold.h. This object still owns the handle.
    [[nodiscard]] treefold_accumulator *handle() const noexcept { return state_.get(); }

private:
    accumulator() noexcept = default;

    template <auto OfItems, auto OfPairs, class X, class... Y> void change(const X &x, const Y &...y)
    {
        if constexpr (sizeof...(Y) == 0)
            detail::check(OfItems(handle(), std::ranges::data(x), std::ranges::size(x)));
        else
            detail::check(OfPairs(handle(), std::ranges::data(x), std::ranges::size(x), std::ranges::data(y)..., std::ranges::size(y)...));
    }

    detail::handle<treefold_accumulator, treefold_accumulator_destroy> state_;
};

// Exact statistics of each key's items. Without K, keys are integers of any type, from 0 to groups - 1. With a 64-bit type K, a key may be
// any value of K, and gets a sum when its first item is added (see `hashed`).
template <class T, class K = void>
    requires(floating<T> || integer<T>) && any_of<K, void, std::int64_t, std::uint64_t>
class keyed {
    static constexpr bool is_hashed = !std::is_void_v<K>;

public:
    // Creates a state without items. With a width, items are rows: add() takes one row for each element of `keys`, and values() returns
    // one row for each group.
    template <treefold_statistic S>
        requires(!is_hashed && has_statistic_by_key<T, S>)
    keyed(statistic_of<S>, std::size_t groups, std::size_t width = 1) : width_(width)
    {
        detail::check(treefold_keyed_create_rows(detail::type_of<T>, S, groups, width, state_.address()));
    }
    keyed()
        requires is_hashed
    {
        detail::check(treefold_keyed_create_hashed(detail::type_of<T>, detail::type_of<K>, state_.address()));
    }

    // Creates a state from the bytes() of one created for the same statistic and width. The new state has as many keys as that one.
    template <treefold_statistic S>
    [[nodiscard]] static keyed of_bytes(statistic_of<S> of, std::span<const std::byte> bytes, std::size_t width = 1)
        requires(!is_hashed)
    {
        keyed result(of, 0, width);
        detail::check(treefold_keyed_of_bytes(result.handle(), bytes.data(), bytes.size()));
        return result;
    }

    // Returns a copy.
    [[nodiscard]] keyed clone() const
    {
        keyed result{nothing()};
        result.width_ = width_;
        detail::check(treefold_keyed_copy(handle(), result.state_.address()));
        return result;
    }

    // Adds or removes a range of items, or the pairs (x[i], y[i]) of two ranges of equal length. Each item, pair or row has one key.
    template <item_range Keys, range_of<T> X, range_of<T>... Y> requires(integer<item_of<Keys>> && sizeof...(Y) <= 1)
    void add(const Keys &keys, const X &x, const Y &...y)
    {
        change<treefold_keyed_add, treefold_keyed_add_pairs>(keys, x, y...);
    }
    template <item_range Keys, range_of<T> X, range_of<T>... Y> requires(integer<item_of<Keys>> && sizeof...(Y) <= 1)
    void remove(const Keys &keys, const X &x, const Y &...y)
    {
        change<treefold_keyed_remove, treefold_keyed_remove_pairs>(keys, x, y...);
    }

    // Adds or removes all items of another state, which may be this one. Both must have the same number of keys, unless they are `hashed`.
    void merge(const keyed &other) { detail::check(treefold_keyed_merge(handle(), other.handle())); }
    void unmerge(const keyed &other) { detail::check(treefold_keyed_unmerge(handle(), other.handle())); }

    // Removes all items.
    void clear() { detail::check(treefold_keyed_clear(handle())); }

    // The number of keys, and the number of columns of a row.
    [[nodiscard]] std::size_t groups() const { return detail::got<treefold_keyed_groups, std::size_t>(handle()); }
    [[nodiscard]] std::size_t width() const noexcept { return width_; }

    // The keys in ascending order, which is also the order of values().
    [[nodiscard]] std::vector<K> keys() const
        requires is_hashed
    {
        return detail::filled<K>(groups(), [this](auto result) { keys_into(result); });
    }
    template <std::same_as<K> Key> requires is_hashed
    void keys_into(std::span<Key> result) const
    {
        detail::check(treefold_keyed_keys(handle(), result.data(), result.size()));
    }

    // A statistic of each key, rounded once.
    template <treefold_statistic S> requires has_statistic_by_key<T, S>
    [[nodiscard]] std::vector<result_of<T, S>> values(statistic_of<S> of, options given = {}) const
    {
        return detail::filled<result_of<T, S>>(groups() * width_, [&](auto result) { values_into(of, result, given); });
    }
    template <treefold_statistic S> requires has_statistic_by_key<T, S>
    void values_into(statistic_of<S>, std::span<result_of<T, S>> result, options given = {}) const
    {
        detail::check(treefold_keyed_values(handle(), S, given.ddof, result.data(), result.size()));
    }

    // The state as bytes, for files and other programs. Equal objects have the same bytes.
    [[nodiscard]] std::vector<std::byte> bytes() const requires(!is_hashed)
    {
        return detail::bytes_of<treefold_keyed_to_bytes>(handle());
    }

    // Whether both states have the same keys with the same sums. Throws code::argument if they do not hold the same kind of sums.
    [[nodiscard]] friend bool operator==(const keyed &left, const keyed &right)
    {
        return detail::got<treefold_keyed_equal, int>(left.handle(), right.handle()) == 1;
    }

    // The handle to pass to functions of treefold.h. This object still owns the handle.
    [[nodiscard]] treefold_keyed *handle() const noexcept { return state_.get(); }

private:
    struct nothing {};
    explicit keyed(nothing) noexcept {}

    template <auto OfItems, auto OfPairs, class Keys, class X, class... Y> void change(const Keys &keys, const X &x, const Y &...y)
    {
        const auto call = [&](auto of, auto... others) {
            return of(handle(), detail::type_of<item_of<Keys>>, std::ranges::data(keys), std::ranges::size(keys), std::ranges::data(x),
                      std::ranges::size(x), others...);
        };
        if constexpr (sizeof...(Y) == 0)
            detail::check(call(OfItems));
        else
            detail::check(call(OfPairs, std::ranges::data(y)..., std::ranges::size(y)...));
    }

    detail::handle<treefold_keyed, treefold_keyed_destroy> state_;
    std::size_t width_ = 1;
};

// Exact sums by key. A key may be any value of the 64-bit type K. A key gets a sum when its first item is added, and keeps this sum when
// all its items are removed.
template <class T, class K = std::int64_t> using hashed = keyed<T, K>;

} // namespace treefold

#endif // C++20 with exceptions

#endif
