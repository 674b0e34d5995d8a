// treefold_mpi.hpp: reductions over the ranks of an MPI communicator, for C++20. This header wraps treefold_mpi.h.
//
//     treefold::comm world(MPI_COMM_WORLD);
//     auto plan = treefold::plan_builder<double>(world).local_items(x.size()).build();
//     double total = plan.allreduce(x);
//
// Items are numbered 0 to N - 1 over all ranks. The ranks build a plan together, once, and run it many times. The bits do not depend
// on the number of ranks, on which rank has which items, on the algorithm, or on the MPI library.
//
// Exact sums, norms and dot products need no item numbers. Statistics by key take items and their keys, from 0 to groups - 1. All these
// results are rounded once:
//
//     auto dots = treefold::plan_builder<double>(world, treefold::statistic::dot).build();
//     double dot = dots.allreduce(x, y);
//     auto sums = treefold::plan_builder<double>(world, treefold::statistic::sum, groups).build();
//     std::vector<double> histogram = sums.allreduce(keys, x);
//     treefold::hashed_plan<std::int64_t, double> prices(world);
//     for (const auto &[key, sum] : prices.allreduce(words, x)) {}
//
// "Collective" means: all ranks of the communicator make this call, in the same order relative to the other collective calls on it. A
// failed call throws treefold::error, with code::rank_failed if another rank has failed. A plan whose run failed is spent: it cannot run
// again. treefold_mpi.h has the details.
//
// Communicators, plans and runs can be moved, but not copied. They belong to the thread that created them. An object that was moved from,
// or created without arguments, is empty: its calls fail with code::null. Objects may be destroyed in any order, even after MPI_Finalize
// and, if they are static, after main. Destructors do not wait for other ranks, and print nothing.
//
// Arrays may be in the memory of an NVIDIA GPU: pass spans of device pointers. treefold_mpi.h has the rules.
//
// Link with libtreefold, and compile with any MPI library.
#ifndef TREEFOLD_MPI_HPP
#define TREEFOLD_MPI_HPP

#include <treefold.hpp>

// If this macro is not defined, treefold.hpp has already reported what is missing.
#ifdef TREEFOLD_HPP_IS_COMPLETE

#include <chrono>
#include <optional>
#include <string_view>

#include <treefold_mpi.h>

namespace treefold {

// ---- Internals ---------------------------------------------------------------------------------------------------------------------

namespace detail {

// The exception that a user-defined operator threw during a call of this thread, if any. The operator may belong to another plan than the
// call, because a wait advances all runs.
inline thread_local std::exception_ptr thrown_by_operator;

// Calls a plan's operator, which `context` points to.
template <class T, class F> int combine_in_plan(void *context, const void *left, const void *right, void *out) noexcept
{
    const auto keep = []() noexcept { thrown_by_operator = std::current_exception(); };
    return combine_items<T>(*static_cast<const F *>(context), left, right, out, keep);
}

// If a call failed because an operator threw an exception, rethrows the exception. If it failed for another reason, throws its error.
inline void check_run(treefold_status status)
{
    if (status == TREEFOLD_OK) [[likely]]
        return;
    const auto thrown = std::exchange(thrown_by_operator, nullptr);
    if (status == TREEFOLD_OPERATOR && thrown != nullptr)
        std::rethrow_exception(thrown);
    fail(status);
}

} // namespace detail

// ---- Communicators -----------------------------------------------------------------------------------------------------------------

// The ranks of an MPI communicator. Messages use a duplicate of the communicator.
class comm {
public:
    comm() noexcept = default;

    // Duplicates a communicator. Collective. The program may free its own communicator afterwards.
    explicit comm(MPI_Comm own) { detail::check(treefold_comm_duplicate(own, comm_.address())); }

    // This rank, counted from 0, and the number of ranks.
    [[nodiscard]] int rank() const { return detail::got<treefold_comm_rank, int>(handle()); }
    [[nodiscard]] int size() const { return detail::got<treefold_comm_size, int>(handle()); }

    // Sets the time after which a wait for a silent rank fails with code::mpi; half an hour by default.
    void silence_limit(std::chrono::duration<double> limit) { detail::check(treefold_comm_silence_limit(comm_.get(), limit.count())); }

    // Measures the cost of a message. Plans that are built later use the cost to choose their algorithm. Collective.
    void measure_link() { detail::check(treefold_comm_measure_link(comm_.get())); }

    // Sets a C function that long waits call several times a second. If it returns anything but 0, the wait fails with code::interrupted.
    // The function may destroy objects, but must make no other call to this library.
    void interruption(treefold_interrupted interrupted, void *context = nullptr)
    {
        detail::check(treefold_comm_interruption(comm_.get(), interrupted, context));
    }

    // Frees the duplicate, unless some rank still has a plan or a run on it. Collective. This object is empty afterwards. The destructor
    // does not free the duplicate. MPI_Finalize frees it, unless the next duplication of the same communicator already has.
    void free() { detail::check(treefold_comm_free(comm_.address())); }

    // The handle to pass to functions of treefold_mpi.h. This object still owns the handle.
    [[nodiscard]] const treefold_comm *handle() const noexcept { return comm_.get(); }

private:
    detail::handle<treefold_comm, treefold_comm_destroy> comm_;
};

// ---- Runs under way ----------------------------------------------------------------------------------------------------------------

template <class T> class plan;
template <class T, class R = T> class run;
template <class... T> void wait_all(run<T, bool> &...runs);
template <class T> void wait_all(std::span<run<T, bool>> runs);

namespace detail {

// A run of any type, and the operator that it needs.
class any_run {
public:
    any_run() noexcept = default;
    any_run(any_run &&) noexcept = default;
    any_run &operator=(any_run &&other) noexcept
    {
        any_run former(std::move(other));
        std::swap(run_, former.run_);
        op_.swap(former.op_);
        std::swap(length_, former.length_);
        return *this;
    }
    ~any_run() { cancel(); }

    // Makes progress without waiting. Returns true if a wait would return at once.
    [[nodiscard]] bool test()
    {
        int done = 0;
        check_run(treefold_test(run_.get(), &done));
        return done != 0;
    }

    // Waits for the run, but not longer than `limit`. Returns false if the run is still under way.
    [[nodiscard]] bool wait_for(std::chrono::duration<double> limit)
    {
        const double seconds = limit.count();
        const auto status = treefold_wait_timeout(run_.get(), seconds < 0 ? 0 : seconds);
        if (status != TREEFOLD_TIMED_OUT)
            check_run(status);
        return status == TREEFOLD_OK;
    }

    // The name of the run's algorithm.
    [[nodiscard]] std::string_view algorithm() const { return got<treefold_run_algorithm, const char *>(handle()); }

    // The handle() of the run's plan, or null if the plan has been destroyed.
    [[nodiscard]] const treefold_plan *plan_handle() const { return got<treefold_run_plan, const treefold_plan *>(handle()); }

    // The handle to pass to functions of treefold_mpi.h. This object still owns the handle.
    [[nodiscard]] const treefold_run *handle() const noexcept { return run_.get(); }

    // Abandons the run, if there is one. Its plan then cannot run again, and the runs of the other ranks fail.
    void cancel() noexcept
    {
        // The library does not end a run that belongs to another thread. Such a run may still call the operator, which is then never freed.
        if (run_.end() != TREEFOLD_OK && op_ != nullptr)
            static_cast<void>(new (std::nothrow) std::shared_ptr(std::move(op_)));
    }

protected:
    // Waits for the run. The result goes to `result` or, if null, to the array of the start. Returns true if this rank got a result.
    bool finish(void *result, std::size_t length)
    {
        int is_mine = 0;
        check_run(treefold_wait(run_.address(), result, length, &is_mine));
        return is_mine != 0;
    }

    detail::handle<treefold_run, treefold_cancel> run_;
    std::shared_ptr<const void> op_;
    std::size_t length_ = 0; // the length of the result, in items

private:
    template <class> friend class treefold::plan;
    template <class... T> friend void treefold::wait_all(run<T, bool> &...);
    template <class T> friend void treefold::wait_all(std::span<run<T, bool>>);
};

} // namespace detail

// A run that has started and not yet ended, with items of type T. Runs of several plans may be under way at once; a wait for one run
// advances all of them. A wait ends its run. The destructor abandons the run, as cancel() does. wait() returns an R:
//
//     T                                  the result
//     std::vector<T>                     a row, this rank's columns of a row, or the results of a scan
//     std::optional of one of these      the result on the root, and nothing on the other ranks
//     bool                               whether this rank got a result, in the span that was passed to start_into()
template <class T, class R> class [[nodiscard]] run : public detail::any_run {
    static constexpr bool is_item = std::same_as<R, T>, is_row = std::same_as<R, std::vector<T>>;
    static constexpr bool is_optional_row = std::same_as<R, std::optional<std::vector<T>>>;
    static constexpr bool has_place = std::same_as<R, bool>;

public:
    // Waits for the run.
    R wait()
    {
        if constexpr (has_place) {
            return finish(nullptr, 0);
        } else if constexpr (is_row || is_optional_row) {
            std::vector<T> row(length_);
            const bool is_mine = finish(row.data(), row.size());
            if constexpr (is_optional_row)
                return is_mine ? R(std::move(row)) : std::nullopt;
            else
                return row;
        } else {
            detail::slot<T> item;
            const bool is_mine = finish(std::addressof(item.value), 1);
            if constexpr (is_item)
                return item.value;
            else
                return is_mine ? R(item.value) : std::nullopt;
        }
    }

    // Like wait(), but writes the result to a span or, for a plan by key, to a state. Returns true if this rank got a result; otherwise
    // writes nothing. If the span has the wrong length, the call fails, but the run ends normally and the plan can run again.
    bool wait_into(std::span<T> result) requires(is_row || is_optional_row)
    {
        return finish(result.data(), result.size());
    }
    template <std::same_as<T> U> requires((is_row || is_optional_row) && floating<U>)
    bool wait_into(keyed<U> &state)
    {
        int is_mine = 0;
        detail::check_run(treefold_wait_keyed(run_.address(), state.handle(), &is_mine));
        return is_mine != 0;
    }
};

// Waits for runs that start_into() has started. The runs may be in any order; empty runs are skipped. All runs end, even if one of them
// fails. Then the error of the first run that failed is thrown.
template <class... T> void wait_all(run<T, bool> &...runs)
{
    treefold_run *handles[] = {*runs.run_.address()..., nullptr};
    const auto status = treefold_wait_all(handles, sizeof...(T));
    [[maybe_unused]] auto ended = std::begin(handles);
    ((*runs.run_.address() = *ended++), ...);
    detail::check_run(status);
}
template <class T> void wait_all(std::span<run<T, bool>> runs)
{
    std::vector<treefold_run *> handles;
    for (auto &run : runs)
        handles.push_back(*run.run_.address());
    const auto status = treefold_wait_all(handles.data(), handles.size());
    for (auto ended = handles.cbegin(); auto &run : runs)
        *run.run_.address() = *ended++;
    detail::check_run(status);
}

// ---- Plans -------------------------------------------------------------------------------------------------------------------------

// The operations of plans.
enum class operation : std::int32_t {
    allreduce = TREEFOLD_ALLREDUCE,
    reduce = TREEFOLD_REDUCE,
    reduce_scatter = TREEFOLD_REDUCE_SCATTER,
    scan = TREEFOLD_SCAN,
    exscan = TREEFOLD_EXSCAN,
    broadcast = TREEFOLD_BROADCAST,
};

// Columns `begin` to `end - 1` of a row.
struct columns {
    std::size_t begin, end;

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

// The two arrays of a dot product, which have the same length.
template <class T> using factors = std::pair<std::span<const T>, std::span<const T>>;

// The input of a run, one or two arguments:
//
//     x           this rank's items, `width` elements each: as many items as planned or, for exact sums and norms, any number
//     x, y        the factors of a dot product, or of one dot product for each column; for plans of dot products and of floating-point sums
//     pairs       a range of `width` factors<T>; one message carries all their dot products
//     keys, x     items x and their keys, which are integers of any type; for plans by key
template <class T, class... In> struct input;

template <class T, range_of<T> X> struct input<T, X> {
    static constexpr bool is_row = false;
    std::span<const T> x;

    explicit input(const X &of) : x(detail::view(of)) {}

    treefold_status run(const treefold_plan *plan, std::int32_t operation, void *result, std::size_t m, int *is_mine) const
    {
        *is_mine = 1;
        switch (operation) {
        case TREEFOLD_ALLREDUCE:
            return treefold_allreduce(plan, x.data(), x.size(), result, m);
        case TREEFOLD_REDUCE:
            return treefold_reduce(plan, x.data(), x.size(), result, m, is_mine);
        case TREEFOLD_REDUCE_SCATTER:
            return treefold_reduce_scatter(plan, x.data(), x.size(), result, m);
        case TREEFOLD_SCAN:
            return treefold_scan(plan, x.data(), x.size(), result, m);
        case TREEFOLD_EXSCAN:
            return treefold_exscan(plan, x.data(), x.size(), result, m);
        }
        // The operation is none of these. treefold_start reports this error, also to the other ranks.
        treefold_run *none = nullptr;
        return start(plan, operation, result, m, &none);
    }
    treefold_status start(const treefold_plan *plan, std::int32_t operation, void *result, std::size_t m, treefold_run **run) const
    {
        return treefold_start(plan, operation, x.data(), x.size(), result, m, run);
    }
};

template <class T, range_of<T> X, range_of<T> Y> struct input<T, X, Y> {
    static constexpr bool is_row = false;
    std::span<const T> x, y;

    input(const X &left, const Y &right) : x(detail::view(left)), y(detail::view(right)) {}

    treefold_status run(const treefold_plan *plan, std::int32_t operation, void *result, std::size_t m, int *is_mine) const
    {
        return treefold_run_dot(plan, operation, x.data(), x.size(), y.data(), y.size(), result, m, is_mine);
    }
    treefold_status start(const treefold_plan *plan, std::int32_t operation, void *result, std::size_t m, treefold_run **run) const
    {
        return treefold_start_dot(plan, operation, x.data(), x.size(), y.data(), y.size(), result, m, run);
    }
};

template <floating T, range_of<factors<T>> P> struct input<T, P> {
    static constexpr bool is_row = true;
    std::vector<const void *> x, y;
    std::size_t length = 0;
    bool are_alike = true;

    explicit input(const P &pairs)
    {
        for (const auto &[left, right] : detail::view(pairs)) {
            length = x.empty() ? left.size() : length;
            are_alike = are_alike && left.size() == length && right.size() == length;
            x.push_back(left.data());
            y.push_back(right.data());
        }
    }

    // If the arrays differ in length, no arrays are passed to the library, which then reports an error to the other ranks.
    [[nodiscard]] std::size_t count() const noexcept { return are_alike ? x.size() : 0; }
    [[nodiscard]] treefold_status status(treefold_status of_call) const noexcept
    {
        return are_alike ? of_call : treefold_report(TREEFOLD_LENGTH, "the arrays of the pairs differ in length");
    }

    treefold_status run(const treefold_plan *plan, std::int32_t operation, void *result, std::size_t m, int *is_mine) const
    {
        return status(treefold_run_dots(plan, operation, x.data(), y.data(), count(), length, result, m, is_mine));
    }
    treefold_status start(const treefold_plan *plan, std::int32_t operation, void *result, std::size_t m, treefold_run **run) const
    {
        return status(treefold_start_dots(plan, operation, x.data(), y.data(), count(), length, result, m, run));
    }
};

template <floating T, item_range K, range_of<T> X> requires integer<item_of<K>>
struct input<T, K, X> {
    static constexpr bool is_row = true;
    std::span<const item_of<K>> keys;
    std::span<const T> x;

    input(const K &of, const X &items) : keys(detail::view(of)), x(detail::view(items)) {}

    treefold_status run(const treefold_plan *plan, std::int32_t operation, void *result, std::size_t m, int *is_mine) const
    {
        return treefold_run_by_key(plan, operation, detail::type_of<item_of<K>>, keys.data(), keys.size(), x.data(), x.size(), result, m,
                                   is_mine);
    }
    treefold_status start(const treefold_plan *plan, std::int32_t operation, void *result, std::size_t m, treefold_run **run) const
    {
        return treefold_start_by_key(plan, operation, detail::type_of<item_of<K>>, keys.data(), keys.size(), x.data(), x.size(), result, m,
                                     run);
    }
};

template <class T, class... In> concept run_input = requires(const In &...in) { input<T, In...>(in...); };

// A reduction that the ranks have agreed on: built once by a plan_builder, run many times. All runs are collective. `in` is the input,
// which struct `input` describes. A run does not write to its input, and the result must not overlap the input.
template <class T> class plan {
    // The type that a call returns: an item, or a row if the input consists of pairs or has keys.
    template <class... In> using whole = std::conditional_t<input<T, In...>::is_row, std::vector<T>, T>;

public:
    plan() noexcept = default;

    // The number of elements of a result: the width, or the number of keys.
    [[nodiscard]] std::size_t width() const noexcept { return width_; }

    // The columns of a row, or the keys, that this rank gets from reduce_scatter.
    [[nodiscard]] columns scattered_columns() const
    {
        columns mine{};
        detail::check(treefold_plan_scattered_columns(handle(), &mine.begin, &mine.end));
        return mine;
    }

    // The name of the algorithm that runs an operation; empty if the plan does not offer the operation.
    [[nodiscard]] std::optional<std::string_view> algorithm(operation of) const
    {
        const auto name = detail::got<treefold_plan_algorithm, const char *>(handle(), static_cast<std::int32_t>(of));
        return name == nullptr ? std::nullopt : std::optional<std::string_view>(name);
    }

    // Whether a run is pending, that is, started and neither waited for nor abandoned. A plan has one run at a time.
    [[nodiscard]] bool is_pending() const { return detail::got<treefold_plan_pending, int>(handle()) != 0; }

    // The schedule as text: which rank sends what to whom, and when.
    [[nodiscard]] std::string to_string() const
    {
        auto needed = detail::got<treefold_plan_print, std::size_t>(handle(), nullptr, 0);
        std::string text(needed, '\0');
        detail::check(treefold_plan_print(handle(), text.data(), text.size(), &needed));
        text.resize(needed - 1); // The last byte is C's final 0.
        return text;
    }

    // The handle to pass to functions of treefold_mpi.h. This object still owns the handle.
    [[nodiscard]] const treefold_plan *handle() const noexcept { return plan_.get(); }

    // The reduction of all ranks' items, on every rank: an item, or a row if the input consists of pairs or has keys.
    template <class... In> requires run_input<T, In...>
    [[nodiscard]] whole<In...> allreduce(const In &...in) const
    {
        if constexpr (input<T, In...>::is_row) {
            return allreduce_row(in...);
        } else {
            detail::slot<T> item;
            call(operation::allreduce, input<T, In...>(in...), {std::addressof(item.value), 1});
            return item.value;
        }
    }
    template <class... In> requires run_input<T, In...>
    [[nodiscard]] std::vector<T> allreduce_row(const In &...in) const
    {
        return row(operation::allreduce, width(), in...);
    }

    // The reduction on the root, and nothing on the other ranks.
    template <class... In> requires run_input<T, In...>
    std::optional<whole<In...>> reduce(const In &...in) const
    {
        if constexpr (input<T, In...>::is_row) {
            return reduce_row(in...);
        } else {
            detail::slot<T> item;
            const bool is_mine = call(operation::reduce, input<T, In...>(in...), {std::addressof(item.value), 1});
            return is_mine ? std::optional<T>(item.value) : std::nullopt;
        }
    }
    template <class... In> requires run_input<T, In...>
    std::optional<std::vector<T>> reduce_row(const In &...in) const
    {
        std::vector<T> result(width());
        const bool is_mine = call(operation::reduce, input<T, In...>(in...), result);
        return is_mine ? std::optional(std::move(result)) : std::nullopt;
    }

    // This rank's columns of the reduction, which scattered_columns() gives.
    template <class... In> requires run_input<T, In...>
    [[nodiscard]] std::vector<T> reduce_scatter(const In &...in) const
    {
        return row(operation::reduce_scatter, scattered_columns().size(), in...);
    }

    // For each of this rank's items, the reduction of all items up to it. scan() includes the item itself. exscan() excludes it; for item
    // 0, the result is the operator's value for no items. In plans of exact sums and norms, the items of lower ranks come first.
    template <range_of<T> X> [[nodiscard]] std::vector<T> scan(const X &x) const
    {
        return row(operation::scan, std::ranges::size(x), x);
    }
    template <range_of<T> X> [[nodiscard]] std::vector<T> exscan(const X &x) const
    {
        return row(operation::exscan, std::ranges::size(x), x);
    }

    // Runs any of these operations, and writes the result to a span. Returns true if this rank got a result; otherwise the span is not
    // touched, and may be empty.
    template <class X> requires run_input<T, X>
    bool run_into(operation of, const X &x, std::span<T> result) const { return call(of, input<T, X>(x), result); }
    template <class X, class Y> requires run_input<T, X, Y>
    bool run_into(operation of, const X &x, const Y &y, std::span<T> result) const
    {
        return call(of, input<T, X, Y>(x, y), result);
    }

    // Copies the root's row to every rank. Fails with code::unsupported in plans of exact sums and norms and in plans by key.
    void broadcast(std::span<T> row) const { detail::check_run(treefold_broadcast(handle(), row.data(), row.size())); }

    // Runs a plan by key on a state that has the plan's number of keys and holds the sums that the plan's statistic needs. allreduce
    // replaces each rank's state with the state of all ranks' items. reduce replaces only the root's state. reduce_scatter leaves only this
    // rank's keys in each state, renumbered from 0. Returns true if this rank's state now holds a result.
    template <std::same_as<T> U> requires floating<U>
    bool run_on(operation of, keyed<U> &state) const
    {
        int is_mine = 0;
        detail::check_run(treefold_run_keyed(handle(), static_cast<std::int32_t>(of), state.handle(), &is_mine));
        return is_mine != 0;
    }

    // These functions start a collective, and return when this rank's items are folded. The caller may then change the items. In a plan in
    // tree order, the wait throws this rank's own errors, such as a wrong number of items or an exception of the operator. In a plan that
    // is exact, by key or in lanes, the start throws errors in this rank's items.
    template <class... In> requires run_input<T, In...>
    [[nodiscard]] run<T, whole<In...>> start_allreduce(const In &...in) const
    {
        return start<whole<In...>>(operation::allreduce, input<T, In...>(in...), width());
    }
    template <class... In> requires run_input<T, In...>
    [[nodiscard]] run<T, std::vector<T>> start_allreduce_row(const In &...in) const
    {
        return start<std::vector<T>>(operation::allreduce, input<T, In...>(in...), width());
    }
    template <class... In> requires run_input<T, In...>
    [[nodiscard]] run<T, std::optional<whole<In...>>> start_reduce(const In &...in) const
    {
        return start<std::optional<whole<In...>>>(operation::reduce, input<T, In...>(in...), width());
    }
    template <class... In> requires run_input<T, In...>
    [[nodiscard]] run<T, std::optional<std::vector<T>>> start_reduce_row(const In &...in) const
    {
        return start<std::optional<std::vector<T>>>(operation::reduce, input<T, In...>(in...), width());
    }
    template <class... In> requires run_input<T, In...>
    [[nodiscard]] run<T, std::vector<T>> start_reduce_scatter(const In &...in) const
    {
        return start<std::vector<T>>(operation::reduce_scatter, input<T, In...>(in...), scattered_columns().size());
    }
    template <range_of<T> X> [[nodiscard]] run<T, std::vector<T>> start_scan(const X &x) const
    {
        return start<std::vector<T>>(operation::scan, input<T, X>(x), std::ranges::size(x));
    }
    template <range_of<T> X> [[nodiscard]] run<T, std::vector<T>> start_exscan(const X &x) const
    {
        return start<std::vector<T>>(operation::exscan, input<T, X>(x), std::ranges::size(x));
    }

    // Starts any of these operations. The wait writes the result to the span `result`, which must stay allocated until then. On a rank that
    // gets no result, the span may be empty.
    template <class X> requires run_input<T, X>
    [[nodiscard]] run<T, bool> start_into(operation of, const X &x, std::span<T> result) const
    {
        return start<bool>(of, input<T, X>(x), 0, result);
    }
    template <class X, class Y> requires run_input<T, X, Y>
    [[nodiscard]] run<T, bool> start_into(operation of, const X &x, const Y &y, std::span<T> result) const
    {
        return start<bool>(of, input<T, X, Y>(x, y), 0, result);
    }

private:
    template <class> friend class plan_builder;

    // Runs an operation. Returns true if this rank got a result.
    template <class In> bool call(operation of, const In &in, std::span<T> result) const
    {
        int is_mine = 0;
        detail::check_run(in.run(handle(), static_cast<std::int32_t>(of), result.data(), result.size(), &is_mine));
        return is_mine != 0;
    }

    template <class... In> std::vector<T> row(operation of, std::size_t length, const In &...in) const
    {
        std::vector<T> result(length);
        call(of, input<T, In...>(in...), result);
        return result;
    }

    // Starts a run. The result has `length` items, or is written to `result`.
    template <class R, class In> run<T, R> start(operation of, const In &in, std::size_t length, std::span<T> result = {}) const
    {
        run<T, R> started;
        started.op_ = op_;
        started.length_ = length;
        detail::check_run(in.start(handle(), static_cast<std::int32_t>(of), result.data(), result.size(), started.run_.address()));
        return started;
    }

    detail::handle<treefold_plan, treefold_plan_destroy> plan_;
    std::shared_ptr<const void> op_; // null for a built-in operator
    std::size_t width_ = 0;
};

// ---- Builders ----------------------------------------------------------------------------------------------------------------------

// Items `begin` to `end - 1`.
using range = treefold_range;

// Parameters of algorithms, which treefold_mpi.h describes. They do not change the bits of results.
enum class parameter : std::int32_t {
    blocks = TREEFOLD_BLOCKS,
    ports = TREEFOLD_PORTS,
    node_ranks = TREEFOLD_NODE_RANKS,
    message_limit = TREEFOLD_MESSAGE_LIMIT,
};

// Whether T has exact plans for S. Complex types have no norm; pass n complex numbers as 2n real numbers.
template <class T, treefold_statistic S>
concept has_exact_plan =
    (S == TREEFOLD_EXACT_SUM || S == TREEFOLD_EXACT_NORM || S == TREEFOLD_EXACT_DOT || S == TREEFOLD_EXACT_VDOT) && has_statistic<T, S>;

// Describes a plan: the type of the items, the reduction, and settings. Unless the plan is exact or by key, one setting must say which rank
// has which items. build() checks all settings. A builder may be copied, and may build several plans.
template <class T> class plan_builder {
public:
    // A reduction by a built-in operator; by default the sum.
    template <treefold_op Op = TREEFOLD_SUM> requires reducible<T, Op>
    explicit plan_builder(const comm &world, builtin<Op> = {})
        : plan_builder(world, [](const treefold_comm *on, treefold_builder **result) {
              return treefold_builder_create(on, detail::type_of<T>, Op, result);
          })
    {
    }

    // The exact sum, norm or dot product of all ranks' items, rounded once. The result does not depend on the order of the items, or on
    // which rank has which item. In each run, each rank passes any number of items, or none. With a width, items are rows.
    template <treefold_statistic S> requires has_exact_plan<T, S>
    plan_builder(const comm &world, statistic_of<S>)
        : plan_builder(world, [](const treefold_comm *on, treefold_builder **result) {
              return treefold_builder_create_exact(on, detail::type_of<T>, S, result);
          })
    {
    }

    // A statistic of each key's items. Keys are 0 to groups - 1. For all but sums and means, call run_on() and read the state's statistic.
    template <treefold_statistic S> requires floating<T>
    plan_builder(const comm &world, statistic_of<S>, std::size_t groups)
        : plan_builder(world, [groups](const treefold_comm *on, treefold_builder **result) {
              return treefold_builder_create_by_key(on, detail::type_of<T>, S, groups, result);
          })
    {
        width_ = groups;
    }

    // A reduction by a user-defined operator. T is trivially copyable, and its size is a multiple of 4, up to 512 bytes. op(left, right)
    // returns the combination of two items. It must return the same bits on every rank, and must not communicate. `empty` is the result for
    // no items. The ranks compare `name` and `empty`.
    template <callers_operator F>
    plan_builder(const comm &world, std::string_view name, F op) : plan_builder(world, name, std::move(op), std::optional<T>())
    {
    }
    template <callers_operator F>
    plan_builder(const comm &world, std::string_view name, F op, const T &empty)
        : plan_builder(world, name, std::move(op), std::optional<T>(empty))
    {
    }

    // The next four functions say which rank has which items; one of them is needed. even() and block_cyclic() are rules: all ranks pass
    // the same numbers, and a plan needs no table of which rank has which items.

    // This rank has `items` items, numbered after those of the lower ranks.
    plan_builder &local_items(std::uint64_t items) { return set<treefold_builder_local_items>(items); }
    // This rank has these ranges, in the order of its array. The ranges of all ranks together contain each of the items 0 to N - 1 once.
    plan_builder &extents(std::vector<range> ranges)
    {
        settings_.push_back([ranges = std::move(ranges)](treefold_builder *builder) {
            return treefold_builder_extents(builder, ranges.data(), ranges.size());
        });
        return *this;
    }
    // The p ranks have N = `items` items in total: floor(N / p) each, and each of the first N mod p ranks one more.
    plan_builder &even(std::uint64_t items) { return set<treefold_builder_even>(items); }
    // All ranks together have `items` items, dealt to the ranks round-robin in blocks of `block` items.
    plan_builder &block_cyclic(std::uint64_t items, std::uint64_t block) { return set<treefold_builder_block_cyclic>(items, block); }

    // The total number of items. build() compares it with the items that the ranks have.
    plan_builder &items(std::uint64_t count) { return set<treefold_builder_items>(count); }

    // The number of elements of an item; 1 by default. Items of several elements are rows, which are reduced element by element.
    plan_builder &width(std::size_t elements)
    {
        width_ = elements;
        return set<treefold_builder_width>(elements);
    }

    // The rank that gets the result of reduce(), and whose row broadcast() sends. 0 by default.
    plan_builder &root(int rank) { return set<treefold_builder_root>(rank); }

    // The algorithm, one of algorithm_names(), and its parameters. They do not change the bits of results.
    plan_builder &algorithm(std::string_view name)
    {
        settings_.push_back([name = std::string(name)](treefold_builder *builder) {
            return treefold_builder_algorithm(builder, name.c_str());
        });
        return *this;
    }
    plan_builder &parameter(treefold::parameter of, std::size_t value)
    {
        return set<treefold_builder_parameter>(static_cast<std::int32_t>(of), value);
    }

    // Sums in `count` lanes, in the order of treefold::sum_lanes on all ranks' items.
    plan_builder &lanes(std::size_t count)
        requires floating<T>
    {
        return set<treefold_builder_lanes>(count);
    }

    // Makes build() work without communication. If the items have numbers, their distribution must follow a rule, even() or block_cyclic().
    // All ranks must make the same calls on the builder; treefold does not check this.
    plan_builder &agreed()
    {
        is_agreed_ = true;
        return set<treefold_builder_agreed>();
    }

    // Compares the ranks' settings and builds a plan. Collective. If the build fails, every rank gets the same error, with one exception:
    // if a setting of one rank is invalid on its own, such as an unknown algorithm, that rank gets its own error, and the other ranks get
    // code::argument with the number of that rank.
    [[nodiscard]] plan<T> build() const
    {
        plan<T> result;
        builder_handle builder;
        auto status = prepare(builder);
        if (status == TREEFOLD_OK) {
            status = treefold_plan_build(builder.get(), result.plan_.address());
        } else if (!is_agreed_) {
            refuse();
            status = prepare(builder); // Repeated, because refuse() has replaced the error.
        }
        detail::check(status);
        result.op_ = op_;
        result.width_ = width_;
        return result;
    }

private:
    using builder_handle = detail::handle<treefold_builder, treefold_builder_destroy>;
    using begin = std::function<treefold_status(const treefold_comm *, treefold_builder **)>;

    plan_builder(const comm &world, begin create) : comm_(world.handle()), create_(std::move(create)) {}

    template <class F>
    plan_builder(const comm &world, std::string_view name, F given, const std::optional<T> &empty) : comm_(world.handle())
    {
        detail::check_operator<T, F>();
        const auto op = std::make_shared<const F>(std::move(given));
        op_ = op;
        // The context of a C operator is a pointer to non-const. This operator is const, and nothing writes to it.
        create_ = [op = const_cast<F *>(op.get()), name = std::string(name), empty](const treefold_comm *on, treefold_builder **result) {
            detail::slot<T> nothing;
            if (empty) {
                nothing.load(std::addressof(*empty));
                nothing.clear_padding();
            }
            return treefold_builder_create_user(on, name.c_str(), sizeof(T), &detail::combine_in_plan<T, F>, op,
                                                empty ? &nothing : nullptr, result);
        };
    }

    template <auto Set, class... Values> plan_builder &set(Values... values)
    {
        settings_.push_back([values...](treefold_builder *builder) { return Set(builder, values...); });
        return *this;
    }

    // Creates a C builder, and passes it all settings.
    [[nodiscard]] treefold_status prepare(builder_handle &builder) const
    {
        static_cast<void>(builder.end());
        auto status = create_(comm_, builder.address());
        for (auto setting = settings_.begin(); status == TREEFOLD_OK && setting != settings_.end(); ++setting)
            status = (*setting)(builder.get());
        return status;
    }

    // Makes the build fail on all ranks; otherwise the other ranks would wait for this one. This function builds a plan without saying
    // which items this rank has, so every rank gets an error that names this rank.
    void refuse() const noexcept
    {
        builder_handle builder;
        detail::handle<treefold_plan, treefold_plan_destroy> plan;
        if (treefold_builder_create(comm_, TREEFOLD_F64, TREEFOLD_SUM, builder.address()) == TREEFOLD_OK)
            static_cast<void>(treefold_plan_build(builder.get(), plan.address()));
    }

    // The handle is a name that the library looks up, not an address. After the communicator is destroyed, calls return an error.
    const treefold_comm *comm_;

    // The user-defined operator, at the address that plans use; null for a built-in operator.
    std::shared_ptr<const void> op_;

    begin create_;
    std::vector<std::function<treefold_status(treefold_builder *)>> settings_;
    std::size_t width_ = 1;
    bool is_agreed_ = false;
};

// ---- Sums by keys of 64 bits -------------------------------------------------------------------------------------------------------

// Exact sums by 64-bit keys. A key may be any value, and each run may have other keys. Each key belongs to one rank, which depends only on
// the key and the number of ranks. Results are pairs of a key and its sum, in ascending order of the keys.
template <class K, floating T> requires any_of<K, std::int64_t, std::uint64_t>
class hashed_plan {
public:
    using value_type = std::pair<K, T>;

    hashed_plan() noexcept = default;

    // Compares the ranks' types and roots. Collective: if the call fails, it fails on every rank.
    explicit hashed_plan(const comm &world, int root = 0)
    {
        detail::check(treefold_hashed_create(world.handle(), detail::type_of<K>, detail::type_of<T>, root, plan_.address()));
    }

    // allreduce() returns all keys that have items on any rank. reduce() returns all these keys on the root, and nothing on the other
    // ranks. reduce_scatter() returns the keys that belong to this rank. Collective.
    [[nodiscard]] std::vector<value_type> allreduce(std::span<const K> keys, std::span<const T> x) const
    {
        return run(TREEFOLD_ALLREDUCE, keys, x);
    }
    [[nodiscard]] std::vector<value_type> reduce(std::span<const K> keys, std::span<const T> x) const
    {
        return run(TREEFOLD_REDUCE, keys, x);
    }
    [[nodiscard]] std::vector<value_type> reduce_scatter(std::span<const K> keys, std::span<const T> x) const
    {
        return run(TREEFOLD_REDUCE_SCATTER, keys, x);
    }

    // The handle to pass to functions of treefold_mpi.h. This object still owns the handle.
    [[nodiscard]] const treefold_hashed *handle() const noexcept { return plan_.get(); }

private:
    [[nodiscard]] std::vector<value_type> run(std::int32_t operation, std::span<const K> keys, std::span<const T> x) const
    {
        std::size_t count = 0;
        detail::check_run(treefold_hashed_run(handle(), operation, keys.data(), keys.size(), x.data(), x.size(), &count));
        std::vector<K> found(count);
        std::vector<T> sums(count);
        detail::check_run(treefold_hashed_result(handle(), found.data(), count, sums.data(), count));
        std::vector<value_type> result(count);
        for (std::size_t i = 0; i < count; ++i)
            result[i] = {found[i], sums[i]};
        return result;
    }

    detail::handle<treefold_hashed, treefold_hashed_destroy> plan_;
};

// ---- Algorithms --------------------------------------------------------------------------------------------------------------------

// The names that a builder's algorithm() accepts.
[[nodiscard]] inline std::vector<std::string_view> algorithm_names()
{
    std::vector<std::string_view> names;
    while (const char *name = treefold_algorithm_name(names.size()))
        names.emplace_back(name);
    return names;
}

} // namespace treefold

#endif // TREEFOLD_HPP_IS_COMPLETE

#endif
