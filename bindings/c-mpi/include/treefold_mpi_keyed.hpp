// treefold_mpi_keyed.hpp: exact sums by key over the ranks of an MPI communicator. treefold_mpi.hpp includes it.
//
//     auto plan = treefold::keyed_plan_builder<double>(world, groups).build();
//     std::vector<double> sums = plan.allreduce(keys, x);
//
//     treefold::hashed_plan<std::int64_t, double> prices(world);
//     for (const auto &[key, sum] : prices.allreduce(words, x)) {}
//
// Each rank gives any number of items, each with its key: an array of keys, integers of any type, and one of items, of float or double.
// A result has the bits of treefold::exact_sum_by_key of all ranks' items, whatever the number of ranks, who has which and the algorithm.
// Arrays are in ordinary memory.
#ifndef TREEFOLD_MPI_KEYED_HPP
#define TREEFOLD_MPI_KEYED_HPP

#include <treefold_mpi.hpp>

#ifdef TREEFOLD_HPP_IS_COMPLETE

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace treefold {

// Arrays, or other contiguous ranges, of keys and of items.
template <class K, class X, class T>
concept keyed_items = item_range<K> && item_range<X> && integer<item_of<K>> && std::same_as<item_of<X>, T>;

// Exact sums, or means, of the items of each of the keys 0 to groups() - 1: built once by a keyed_plan_builder, run many times, with other
// keys in each run. Collective. A key that is not one of these is code::argument, and other than as many keys as items code::length; the
// other ranks get code::rank_failed.
//
// algorithm(), to_string() and the other calls of any plan are those of detail::any_plan.
template <floating T> class keyed_plan : public detail::any_plan<T> {
public:
    keyed_plan() noexcept = default;

    // The number of keys.
    [[nodiscard]] std::size_t groups() const noexcept { return this->row(); }

    // The keys whose values this rank gets from reduce_scatter.
    [[nodiscard]] columns scattered_keys() const
    {
        columns result{};
        detail::check_run(this->scattered(result));
        return result;
    }

    // The value of each key, on every rank.
    template <class K, class X>
        requires keyed_items<K, X, T>
    [[nodiscard]] std::vector<T> allreduce(const K &keys, const X &x) const
    {
        std::vector<T> result(groups());
        allreduce_into(keys, x, result);
        return result;
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    void allreduce_into(const K &keys, const X &x, std::span<T> result) const
    {
        detail::check_run(pass(treefold_allreduce_by_key, keys, x, result.data(), result.size()));
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    code try_allreduce_into(const K &keys, const X &x, std::span<T> result) const noexcept
    {
        return detail::settle_run(pass(treefold_allreduce_by_key, keys, x, result.data(), result.size()));
    }

    // The same on the root; nothing on the other ranks, whose span is left alone. reduce_into says whether this is the root.
    template <class K, class X>
        requires keyed_items<K, X, T>
    std::optional<std::vector<T>> reduce(const K &keys, const X &x) const
    {
        std::vector<T> result(groups());
        const bool is_mine = reduce_into(keys, x, result);
        return is_mine ? std::optional(std::move(result)) : std::nullopt;
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    bool reduce_into(const K &keys, const X &x, std::span<T> result) const
    {
        int is_mine = 0;
        detail::check_run(pass(treefold_reduce_by_key, keys, x, result.data(), result.size(), &is_mine));
        return is_mine != 0;
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    code try_reduce_into(const K &keys, const X &x, std::span<T> result, bool &is_mine) const noexcept
    {
        int mine = 0;
        const auto status = pass(treefold_reduce_by_key, keys, x, result.data(), result.size(), &mine);
        is_mine = mine != 0;
        return detail::settle_run(status);
    }

    // The values of this rank's scattered_keys().
    template <class K, class X>
        requires keyed_items<K, X, T>
    [[nodiscard]] std::vector<T> reduce_scatter(const K &keys, const X &x) const
    {
        std::vector<T> result(scattered_keys().size());
        reduce_scatter_into(keys, x, result);
        return result;
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    void reduce_scatter_into(const K &keys, const X &x, std::span<T> result) const
    {
        detail::check_run(pass(treefold_reduce_scatter_by_key, keys, x, result.data(), result.size()));
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    code try_reduce_scatter_into(const K &keys, const X &x, std::span<T> result) const noexcept
    {
        return detail::settle_run(pass(treefold_reduce_scatter_by_key, keys, x, result.data(), result.size()));
    }

    // The same on a state: a treefold::exact::keyed<T>, or of means a keyed_moments<T>, of as many keys. This rank's becomes that of all
    // ranks, of reduce on the root alone, which it says. After an error it is as it was.
    template <state_by_key State> void allreduce(State &state) const
    {
        detail::check_run(treefold_allreduce_keyed(this->handle(), state.handle()));
    }
    template <state_by_key State> code try_allreduce(State &state) const noexcept
    {
        return detail::settle_run(treefold_allreduce_keyed(this->handle(), state.handle()));
    }
    template <state_by_key State> bool reduce(State &state) const
    {
        int is_mine = 0;
        detail::check_run(treefold_reduce_keyed(this->handle(), state.handle(), &is_mine));
        return is_mine != 0;
    }
    template <state_by_key State> code try_reduce(State &state, bool &is_mine) const noexcept
    {
        int mine = 0;
        const auto status = treefold_reduce_keyed(this->handle(), state.handle(), &mine);
        is_mine = mine != 0;
        return detail::settle_run(status);
    }

    // Start a collective, and return when this rank's items are added up: keys and items are free then. A run's wait_into() takes a span,
    // or a state that becomes the result.
    template <class K, class X>
        requires keyed_items<K, X, T>
    [[nodiscard]] pending<T, call::allreduce_row> start_allreduce(const K &keys, const X &x) const
    {
        return start<call::allreduce_row>(treefold_start_allreduce_by_key, keys, x, groups());
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    [[nodiscard]] pending<T, call::reduce_row> start_reduce(const K &keys, const X &x) const
    {
        return start<call::reduce_row>(treefold_start_reduce_by_key, keys, x, groups());
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    [[nodiscard]] pending<T, call::reduce_scatter> start_reduce_scatter(const K &keys, const X &x) const
    {
        return start<call::reduce_scatter>(treefold_start_reduce_scatter_by_key, keys, x, scattered_keys().size());
    }

    template <class K, class X>
        requires keyed_items<K, X, T>
    code try_start_allreduce(const K &keys, const X &x, pending<T, call::allreduce_row> &run) const noexcept
    {
        return try_start(treefold_start_allreduce_by_key, keys, x, groups(), run);
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    code try_start_reduce(const K &keys, const X &x, pending<T, call::reduce_row> &run) const noexcept
    {
        return try_start(treefold_start_reduce_by_key, keys, x, groups(), run);
    }
    template <class K, class X>
        requires keyed_items<K, X, T>
    code try_start_reduce_scatter(const K &keys, const X &x, pending<T, call::reduce_scatter> &run) const noexcept
    {
        columns mine{};
        const auto status = this->scattered(mine);
        return status == TREEFOLD_OK ? try_start(treefold_start_reduce_scatter_by_key, keys, x, mine.size(), run) : code{status};
    }

private:
    // Passes the plan, keys, items, and what else there is.
    template <class Function, class K, class X, class... More>
    [[nodiscard]] treefold_status pass(Function function, const K &keys, const X &x, More... more) const noexcept
    {
        const auto k = detail::view(keys);
        const auto items = detail::view(x);
        return function(this->handle(), detail::type_of<item_of<K>>, k.data(), k.size(), items.data(), items.size(), more...);
    }

    template <call Call, class Function, class K, class X>
    [[nodiscard]] pending<T, Call> start(Function function, const K &keys, const X &x, std::size_t length) const
    {
        return this->template launch<Call>(length, [&](treefold_run **run) { return pass(function, keys, x, run); });
    }

    template <call Call, class Function, class K, class X>
    code try_start(Function function, const K &keys, const X &x, std::size_t length, pending<T, Call> &run) const noexcept
    {
        return this->try_launch(length, [&](treefold_run **started) { return pass(function, keys, x, started); }, run);
    }
};

// What a plan by key is to be: it has no width, and nothing says who has which items. build() and the other settings are those of
// detail::plan_settings.
template <floating T> class keyed_plan_builder : public detail::plan_settings<keyed_plan_builder<T>, keyed_plan<T>> {
    using settings = detail::plan_settings<keyed_plan_builder<T>, keyed_plan<T>>;

public:
    // The sums of the items of the keys 0 to groups - 1.
    keyed_plan_builder(const comm &world, std::size_t groups) noexcept : settings(world), groups_(groups) {}

    // Their means.
    keyed_plan_builder &means() noexcept
    {
        figure_ = TREEFOLD_EXACT_MOMENTS;
        return *this;
    }

private:
    friend settings;

    [[nodiscard]] treefold_status begin(typename settings::builder_handle &builder) const noexcept
    {
        return treefold_builder_create_by_key(this->world(), detail::type_of<T>, figure_, groups_, builder.address());
    }

    [[nodiscard]] std::size_t row() const noexcept { return groups_; }

    std::size_t groups_;
    std::int32_t figure_ = TREEFOLD_EXACT_SUM;
};

// Exact sums by keys of 64 bits, which may be any, and others in each run. Each key is owned by one rank, which depends on the key and the
// number of ranks alone. Pairs of a key and its sum are in ascending order of the keys.
template <class K, floating T>
    requires(std::same_as<K, std::int64_t> || std::same_as<K, std::uint64_t>)
class hashed_plan {
public:
    using value_type = std::pair<K, T>;

    hashed_plan() noexcept = default;

    // Compares the ranks' types and roots. Collective: if it fails, then on every rank.
    explicit hashed_plan(const comm &world, int root = 0) { detail::check(static_cast<treefold_status>(try_build(world, root, *this))); }
    static code try_build(const comm &world, int root, hashed_plan &result) noexcept
    {
        hashed_plan built;
        const auto status =
            treefold_hashed_create(world.handle(), detail::type_of<K>, detail::type_of<T>, root, built.plan_.address());
        if (status == TREEFOLD_OK)
            result = std::move(built);
        return code{status};
    }

    // All keys that have items anywhere, on every rank. Collective.
    [[nodiscard]] std::vector<value_type> allreduce(std::span<const K> keys, std::span<const T> x) const
    {
        return run(treefold_hashed_allreduce, keys, x);
    }
    code try_allreduce(std::span<const K> keys, std::span<const T> x, std::vector<value_type> &result) const noexcept
    {
        return try_run(treefold_hashed_allreduce, keys, x, result);
    }

    // The same on the root; nothing on the other ranks. Collective.
    [[nodiscard]] std::vector<value_type> reduce(std::span<const K> keys, std::span<const T> x) const
    {
        return run(treefold_hashed_reduce, keys, x);
    }
    code try_reduce(std::span<const K> keys, std::span<const T> x, std::vector<value_type> &result) const noexcept
    {
        return try_run(treefold_hashed_reduce, keys, x, result);
    }

    // The keys that this rank owns. Collective.
    [[nodiscard]] std::vector<value_type> reduce_scatter(std::span<const K> keys, std::span<const T> x) const
    {
        return run(treefold_hashed_reduce_scatter, keys, x);
    }
    code try_reduce_scatter(std::span<const K> keys, std::span<const T> x, std::vector<value_type> &result) const noexcept
    {
        return try_run(treefold_hashed_reduce_scatter, keys, x, result);
    }

    // For treefold_mpi.h. It stays this object's.
    [[nodiscard]] const treefold_hashed *handle() const noexcept { return plan_.get(); }

private:
    template <class Function>
    [[nodiscard]] std::vector<value_type> run(Function function, std::span<const K> keys, std::span<const T> x) const
    {
        std::vector<value_type> result;
        detail::check_run(fetch(function, keys, x, result));
        return result;
    }

    template <class Function>
    code try_run(Function function, std::span<const K> keys, std::span<const T> x, std::vector<value_type> &result) const noexcept
    try {
        return detail::settle_run(fetch(function, keys, x, result));
    } catch (const std::bad_alloc &) {
        return code::memory;
    }

    template <class Function>
    [[nodiscard]] treefold_status fetch(Function function, std::span<const K> keys, std::span<const T> x,
                                        std::vector<value_type> &result) const
    {
        std::size_t count = 0;
        auto status = function(handle(), keys.data(), keys.size(), x.data(), x.size(), &count);
        if (status != TREEFOLD_OK)
            return status;
        std::vector<K> found(count);
        std::vector<T> sums(count);
        status = treefold_hashed_result(handle(), found.data(), count, sums.data(), count);
        if (status != TREEFOLD_OK)
            return status;
        result.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            result[i] = {found[i], sums[i]};
        return TREEFOLD_OK;
    }

    detail::handle<treefold_hashed, treefold_hashed_destroy> plan_;
};

} // namespace treefold

#endif // TREEFOLD_HPP_IS_COMPLETE

#endif
