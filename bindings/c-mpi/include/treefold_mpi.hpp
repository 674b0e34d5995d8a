// treefold_mpi.hpp: treefold_mpi.h for C++20. Reductions over the ranks of an MPI communicator.
//
//     treefold::comm world(MPI_COMM_WORLD);
//     auto plan = treefold::plan_builder<double>(world).local_items(x.size()).build();
//     double total = plan.allreduce(x);
//
// Items are numbered 0 to N - 1 over all ranks. The ranks build a plan together, once, and run it many times: the bits do not depend
// on the number of ranks, on who has which items, on the algorithm, or on the MPI library.
//
// Exact sums, norms and dot products need no numbers; they are rounded once:
//
//     using treefold::figure;
//     auto dots = treefold::exact_plan_builder<double, figure::dot>(world).build();
//     double dot = dots.allreduce(x, y);
//
// Sums by key, in treefold_mpi_keyed.hpp, take items with their keys, 0 to groups - 1:
//
//     auto sums = treefold::keyed_plan_builder<double>(world, groups).build();
//     std::vector<double> histogram = sums.allreduce(keys, x);
//
// "Collective" means: all ranks of the communicator make this call, in the same order with regard to the other collective calls on
// it. Errors are those of treefold.hpp: a failure throws treefold::error, and functions named `try_…` return a code instead. A failure
// on one rank reaches the others as code::rank_failed; a plan whose run failed is spent. treefold_mpi.h has the details.
//
// comm, plans and pending can be moved, not copied. They belong to the thread that made them. One that was moved from, or made
// without arguments, is empty: its calls fail with code::null. They may be destroyed in any order, also after MPI_Finalize and, as static
// objects, after main; destructors do not communicate, and print nothing.
//
// Arrays may be in the memory of an NVIDIA GPU, as spans of device pointers; treefold_mpi.h says more.
//
// Link with libtreefold, and compile with any MPI library.
#ifndef TREEFOLD_MPI_HPP
#define TREEFOLD_MPI_HPP

#include <treefold.hpp>

// treefold.hpp has said what is missing.
#ifdef TREEFOLD_HPP_IS_COMPLETE

#include <array>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <treefold_mpi.h>

namespace treefold {

// ---- Behind the classes ------------------------------------------------------------------------------------------------------------

namespace detail {

// What an operator of the caller's has thrown in this thread's call, if that failed. The call that runs an operator need not be one
// on its own plan: a wait drives all runs.
inline thread_local std::exception_ptr thrown_by_operator;

// The function of a plan's operator, to which the context points.
template <class T, class F> int combine_in_plan(void *context, const void *left, const void *right, void *out) noexcept
{
    const auto keep = []() noexcept { thrown_by_operator = std::current_exception(); };
    return combine_items<T>(*static_cast<const F *>(context), left, right, out, keep);
}

// Throws what the operator has thrown, or else an error.
[[noreturn]] inline void fail_run(treefold_status status)
{
    const auto thrown = std::exchange(thrown_by_operator, nullptr);
    if (status == TREEFOLD_OPERATOR && thrown != nullptr)
        std::rethrow_exception(thrown);
    fail(status);
}

inline void check_run(treefold_status status)
{
    if (status != TREEFOLD_OK) [[unlikely]]
        fail_run(status);
}

// The code of a call. What the operator has thrown is dropped.
inline code settle_run(treefold_status status) noexcept
{
    if (status != TREEFOLD_OK) [[unlikely]]
        thrown_by_operator = nullptr;
    return code{status};
}

} // namespace detail

// ---- Communicators -----------------------------------------------------------------------------------------------------------------

// The ranks of a communicator, on a duplicate of it.
class comm {
public:
    comm() noexcept = default;

    // Duplicates a communicator of the program's. Collective. The program may free its own one afterwards.
    explicit comm(MPI_Comm own) { detail::check(treefold_comm_duplicate(own, comm_.address())); }
    static code try_duplicate(MPI_Comm own, comm &result) noexcept
    {
        comm duplicate;
        const auto status = treefold_comm_duplicate(own, duplicate.comm_.address());
        if (status == TREEFOLD_OK)
            result = std::move(duplicate);
        return code{status};
    }

    // This rank, from 0 on, and the number of ranks.
    [[nodiscard]] int rank() const
    {
        int rank = 0;
        detail::check(treefold_comm_rank(handle(), &rank));
        return rank;
    }
    [[nodiscard]] int size() const
    {
        int size = 0;
        detail::check(treefold_comm_size(handle(), &size));
        return size;
    }

    // How long a wait tolerates that another rank says nothing; half an hour by default. Then it ends with code::mpi.
    void silence_limit(std::chrono::duration<double> limit)
    {
        detail::check(treefold_comm_silence_limit(comm_.get(), limit.count()));
    }
    code try_silence_limit(std::chrono::duration<double> limit) noexcept
    {
        return code{treefold_comm_silence_limit(comm_.get(), limit.count())};
    }

    // Measures what a message costs: plans that are built later choose their algorithm by it. Collective.
    void measure_link() { detail::check(treefold_comm_measure_link(comm_.get())); }
    code try_measure_link() noexcept { return code{treefold_comm_measure_link(comm_.get())}; }

    // What waits that last ask some times a second: any number but 0 ends them with code::interrupted. It is a function of C's, which
    // may destroy objects, and makes no other call of this library.
    void interruption(treefold_interrupted interrupted, void *context = nullptr)
    {
        detail::check(treefold_comm_interruption(comm_.get(), interrupted, context));
    }
    code try_interruption(treefold_interrupted interrupted, void *context = nullptr) noexcept
    {
        return code{treefold_comm_interruption(comm_.get(), interrupted, context)};
    }

    // Frees MPI's own communicator, unless some rank still has a plan or a run of it; the destructor leaves it to MPI_Finalize, or to the
    // next duplicate of the same communicator. Collective. The object is empty then.
    void free() { detail::check(treefold_comm_free(comm_.address())); }
    code try_free() noexcept { return code{treefold_comm_free(comm_.address())}; }

    // For treefold_mpi.h. It stays this object's.
    [[nodiscard]] const treefold_comm *handle() const noexcept { return comm_.get(); }

private:
    detail::handle<treefold_comm, treefold_comm_destroy> comm_;
};

// ---- Runs under way ----------------------------------------------------------------------------------------------------------------

// Which call a run is, by the type of its result.
enum class call {
    allreduce,      // T
    reduce,         // std::optional<T>: on the root
    allreduce_row,  // std::vector<T>
    reduce_row,     // std::optional<std::vector<T>>: on the root
    reduce_scatter, // std::vector<T>: this rank's columns
    scan,           // std::vector<T>: a prefix for each of this rank's items, which the wait takes again
};

namespace detail {
template <class T> class any_plan;
}

// States by key of treefold_exact.hpp.
template <class State>
concept state_by_key = requires(State &state) {
    { state.handle() } -> std::same_as<treefold_keyed *>;
};

// A run between its start and its end. Several plans may be under way at once; waiting for one drives all. A wait ends it. One that is
// destroyed is abandoned, as by cancel().
template <class T, call Call = call::allreduce> class [[nodiscard]] pending {
    static constexpr bool is_row = Call == call::allreduce_row || Call == call::reduce_scatter || Call == call::scan;

public:
    pending() noexcept = default;
    pending(pending &&) noexcept = default;
    pending &operator=(pending &&other) noexcept
    {
        if (this != &other) {
            cancel();
            run_ = std::move(other.run_);
            op_ = std::move(other.op_);
            length_ = other.length_;
        }
        return *this;
    }
    ~pending() { cancel(); }

    // Makes progress without waiting; true if a wait would return at once.
    [[nodiscard]] bool test()
    {
        int done = 0;
        detail::check_run(treefold_test(run_.get(), &done));
        return done != 0;
    }
    code try_test(bool &is_done) noexcept
    {
        int done = 0;
        const auto status = treefold_test(run_.get(), &done);
        is_done = done != 0;
        return detail::settle_run(status);
    }

    // Waits until the run is over, so long at most. False if it goes on then; the twin returns code::timed_out.
    [[nodiscard]] bool wait_for(std::chrono::duration<double> limit)
    {
        const auto status = wait_so_long(limit);
        if (status == TREEFOLD_TIMED_OUT)
            return false;
        detail::check_run(status);
        return true;
    }
    code try_wait_for(std::chrono::duration<double> limit) noexcept
    {
        return detail::settle_run(wait_so_long(limit));
    }

    // Waits for the run and returns its result.
    [[nodiscard]] T wait()
        requires(Call == call::allreduce)
    {
        detail::slot<T> result;
        detail::check_run(wait_one(std::addressof(result.value), nullptr));
        return result.value;
    }
    code try_wait(T &result) noexcept
        requires(Call == call::allreduce)
    {
        return detail::settle_run(wait_one(std::addressof(result), nullptr));
    }

    // The same on the root; nothing on the other ranks.
    std::optional<T> wait()
        requires(Call == call::reduce)
    {
        std::optional<T> result;
        detail::check_run(wait_root(result));
        return result;
    }
    code try_wait(std::optional<T> &result) noexcept
        requires(Call == call::reduce)
    {
        return detail::settle_run(wait_root(result));
    }

    // Waits for the run and returns a row, this rank's columns of it, or the prefixes of a scan. If the span of wait_into has another length, the run ends
    // well, and the plan can be run again.
    [[nodiscard]] std::vector<T> wait()
        requires is_row
    {
        std::vector<T> result(length_);
        wait_into(result);
        return result;
    }
    void wait_into(std::span<T> result)
        requires is_row
    {
        detail::check_run(wait_row(result, nullptr));
    }
    code try_wait_into(std::span<T> result) noexcept
        requires is_row
    {
        return detail::settle_run(wait_row(result, nullptr));
    }

    // The same on the root; nothing on the other ranks, whose span is left alone. wait_into says whether this is the root.
    std::optional<std::vector<T>> wait()
        requires(Call == call::reduce_row)
    {
        std::vector<T> row(length_);
        const bool is_mine = wait_into(row);
        return is_mine ? std::optional(std::move(row)) : std::nullopt;
    }
    bool wait_into(std::span<T> result)
        requires(Call == call::reduce_row)
    {
        int is_mine = 0;
        detail::check_run(wait_row(result, &is_mine));
        return is_mine != 0;
    }
    code try_wait_into(std::span<T> result, bool &is_mine) noexcept
        requires(Call == call::reduce_row)
    {
        int mine = 0;
        const auto status = wait_row(result, &mine);
        is_mine = mine != 0;
        return detail::settle_run(status);
    }

    // The same of a plan by key, where a state becomes the result, if this rank gets one: that is said.
    template <state_by_key State>
        requires(is_row || Call == call::reduce_row)
    bool wait_into(State &state)
    {
        int is_mine = 0;
        detail::check_run(treefold_wait_keyed(run_.address(), state.handle(), &is_mine));
        return is_mine != 0;
    }
    template <state_by_key State>
        requires(is_row || Call == call::reduce_row)
    code try_wait_into(State &state, bool &is_mine) noexcept
    {
        int mine = 0;
        const auto status = treefold_wait_keyed(run_.address(), state.handle(), &mine);
        is_mine = mine != 0;
        return detail::settle_run(status);
    }

    // The name of the algorithm by which the run goes.
    [[nodiscard]] std::string_view algorithm() const
    {
        const char *name = nullptr;
        detail::check_run(treefold_run_algorithm(run_.get(), &name));
        return name == nullptr ? std::string_view() : std::string_view(name);
    }

    // The plan of the run by its handle(); null if that plan has ended.
    [[nodiscard]] const treefold_plan *plan_handle() const
    {
        const treefold_plan *of = nullptr;
        detail::check_run(treefold_run_plan(run_.get(), &of));
        return of;
    }

    // Abandons the run. Its plan is spent, and the other ranks are told. There need
    // be no run.
    void cancel() noexcept
    {
        // The library does not end a run of another thread's: the operator must stay for it, for ever.
        if (run_.end() != TREEFOLD_OK && op_ != nullptr)
            static_cast<void>(new (std::nothrow) std::shared_ptr(std::move(op_)));
    }

private:
    template <class U> friend class detail::any_plan;

    [[nodiscard]] treefold_status wait_so_long(std::chrono::duration<double> limit) const noexcept
    {
        const double seconds = limit.count();
        return treefold_wait_timeout(run_.get(), seconds < 0 ? 0 : seconds);
    }
    [[nodiscard]] treefold_status wait_one(T *result, int *is_mine) noexcept
    {
        return treefold_wait(run_.address(), result, 1, is_mine);
    }
    [[nodiscard]] treefold_status wait_row(std::span<T> result, int *is_mine) noexcept
    {
        return treefold_wait(run_.address(), result.data(), result.size(), is_mine);
    }
    [[nodiscard]] treefold_status wait_root(std::optional<T> &result) noexcept
    {
        detail::slot<T> value;
        int is_mine = 0;
        const auto status = wait_one(std::addressof(value.value), &is_mine);
        result.reset();
        if (status == TREEFOLD_OK && is_mine != 0)
            result.emplace(value.value);
        return status;
    }

    detail::handle<treefold_run, treefold_cancel> run_;
    std::shared_ptr<const void> op_;
    std::size_t length_ = 0; // of the result, in items
};

// ---- Plans -------------------------------------------------------------------------------------------------------------------------

// What plans can do.
enum class operation : std::int32_t {
    allreduce = TREEFOLD_ALLREDUCE,
    reduce = TREEFOLD_REDUCE,
    reduce_scatter = TREEFOLD_REDUCE_SCATTER,
    scan = TREEFOLD_SCAN,
    exscan = TREEFOLD_EXSCAN,
    broadcast = TREEFOLD_BROADCAST,
};

// The columns begin to end - 1 of a row.
struct columns {
    std::size_t begin;
    std::size_t end;

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

// The arrays of a dot product, of one length.
template <class T> using factors = std::pair<std::span<const T>, std::span<const T>>;

namespace detail {

template <class Builder, class Plan> class plan_settings;

// The functions of treefold_mpi.h for one array of items, and for two.
template <std::size_t Arrays> struct functions;

template <> struct functions<1> {
    static constexpr auto allreduce = &treefold_allreduce;
    static constexpr auto reduce = &treefold_reduce;
    static constexpr auto start_allreduce = &treefold_start_allreduce;
    static constexpr auto start_reduce = &treefold_start_reduce;
};

template <> struct functions<2> {
    static constexpr auto allreduce = &treefold_allreduce_dot;
    static constexpr auto reduce = &treefold_reduce_dot;
    static constexpr auto start_allreduce = &treefold_start_allreduce_dot;
    static constexpr auto start_reduce = &treefold_start_reduce_dot;
};

// Pairs of arrays of one length, as C takes them.
template <class T> class factors_of {
public:
    // If the arrays differ in length, C gets no pairs: it says so to the other ranks.
    explicit factors_of(std::span<const factors<T>> pairs) : length_(pairs.empty() ? 0 : pairs.front().first.size())
    {
        for (const auto &[x, y] : pairs) {
            are_alike_ = are_alike_ && x.size() == length_ && y.size() == length_;
            x_.push_back(x.data());
            y_.push_back(y.data());
        }
    }

    [[nodiscard]] const void *const *x() const noexcept { return x_.data(); }
    [[nodiscard]] const void *const *y() const noexcept { return y_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return are_alike_ ? x_.size() : 0; }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }

    // What a call with them returned.
    void check(treefold_status status) const
    {
        if (!are_alike_)
            throw error(code::length, -1, "the arrays of the pairs differ in length");
        check_run(status);
    }

private:
    std::vector<const void *> x_, y_;
    std::size_t length_;
    bool are_alike_ = true;
};

// What all plans have, whatever their calls take.
template <class T> class any_plan {
public:
    // The name of the algorithm that runs for an operation; none if the plan does not offer the operation.
    [[nodiscard]] std::optional<std::string_view> algorithm(operation of) const
    {
        const char *name = nullptr;
        check_run(treefold_plan_algorithm(handle(), static_cast<std::int32_t>(of), &name));
        return name == nullptr ? std::nullopt : std::optional<std::string_view>(name);
    }

    // Whether a run is pending: started, and neither waited for nor abandoned. A plan has one run at a time.
    [[nodiscard]] bool is_pending() const
    {
        int pending = 0;
        check_run(treefold_plan_pending(handle(), &pending));
        return pending != 0;
    }

    // Who sends what to whom, and when.
    [[nodiscard]] std::string to_string() const
    {
        std::size_t needed = 0;
        check_run(treefold_plan_print(handle(), nullptr, 0, &needed));
        std::string text(needed, '\0');
        check_run(treefold_plan_print(handle(), text.data(), text.size(), &needed));
        text.resize(needed - 1); // The last byte is C's final 0.
        return text;
    }

    // For treefold_mpi.h. It stays this object's.
    [[nodiscard]] const treefold_plan *handle() const noexcept { return plan_.get(); }

protected:
    any_plan() noexcept = default;

    // The elements of a result.
    [[nodiscard]] std::size_t row() const noexcept { return row_; }

    // This rank's part of a result that is scattered.
    [[nodiscard]] treefold_status scattered(columns &mine) const noexcept
    {
        return treefold_plan_scattered_columns(handle(), &mine.begin, &mine.end);
    }

    // Starts a run whose result has so many items, by a call that takes where its handle goes.
    template <call Call, class Start> [[nodiscard]] pending<T, Call> launch(std::size_t length, const Start &start) const
    {
        pending<T, Call> started = announce<Call>(length);
        check_run(start(started.run_.address()));
        return started;
    }

    template <call Call, class Start> code try_launch(std::size_t length, const Start &start, pending<T, Call> &run) const noexcept
    {
        pending<T, Call> started = announce<Call>(length);
        const auto status = start(started.run_.address());
        if (status == TREEFOLD_OK)
            run = std::move(started);
        return settle_run(status);
    }

private:
    template <class Builder, class Plan> friend class plan_settings;

    // A run that is about to start.
    template <call Call> [[nodiscard]] pending<T, Call> announce(std::size_t length) const noexcept
    {
        pending<T, Call> run;
        run.op_ = op_;
        run.length_ = length;
        return run;
    }

    detail::handle<treefold_plan, treefold_plan_destroy> plan_;
    std::shared_ptr<const void> op_; // null for an operator of treefold's
    std::size_t row_ = 0;
};

// What plans of items without keys can do. Arrays are the spans that a call takes, one or two.
template <class T, class... Arrays> class reductions : public any_plan<T> {
    using library = functions<sizeof...(Arrays)>;

public:
    // The elements of an item: more than one if items are rows.
    [[nodiscard]] std::size_t width() const noexcept { return this->row(); }

    // The reduction of all ranks' items, on every rank. Of rows: allreduce_row and allreduce_into.
    [[nodiscard]] T allreduce(Arrays... local) const
    {
        slot<T> result;
        check_run(run(library::allreduce, {local...}, one(std::addressof(result.value))));
        return result.value;
    }
    [[nodiscard]] std::vector<T> allreduce_row(Arrays... local) const
    {
        std::vector<T> row(this->row());
        allreduce_into(local..., row);
        return row;
    }
    void allreduce_into(Arrays... local, std::span<T> row) const { check_run(run(library::allreduce, {local...}, row)); }
    code try_allreduce(Arrays... local, T &result) const noexcept
    {
        return settle_run(run(library::allreduce, {local...}, one(std::addressof(result))));
    }
    code try_allreduce_into(Arrays... local, std::span<T> row) const noexcept
    {
        return settle_run(run(library::allreduce, {local...}, row));
    }

    // The same on the root; nothing on the other ranks, whose span is left alone. reduce_into says whether this is the root.
    std::optional<T> reduce(Arrays... local) const
    {
        std::optional<T> result;
        check_run(run_reduce({local...}, result));
        return result;
    }
    std::optional<std::vector<T>> reduce_row(Arrays... local) const
    {
        std::vector<T> row(this->row());
        const bool is_mine = reduce_into(local..., row);
        return is_mine ? std::optional(std::move(row)) : std::nullopt;
    }
    bool reduce_into(Arrays... local, std::span<T> row) const
    {
        int is_mine = 0;
        check_run(run(library::reduce, {local...}, row, &is_mine));
        return is_mine != 0;
    }
    code try_reduce(Arrays... local, std::optional<T> &result) const noexcept { return settle_run(run_reduce({local...}, result)); }
    code try_reduce_into(Arrays... local, std::span<T> row, bool &is_mine) const noexcept
    {
        int mine = 0;
        const auto status = run(library::reduce, {local...}, row, &mine);
        is_mine = mine != 0;
        return settle_run(status);
    }

    // Start a collective, and return when this rank's items are folded: they are free then, except that the wait for a scan takes them
    // again. An error of this rank's own, such as a wrong length or an exception of the operator, comes from the wait; of exact sums,
    // norms and dot products it comes from the start.
    [[nodiscard]] pending<T> start_allreduce(Arrays... local) const
    {
        return start<call::allreduce>(library::start_allreduce, {local...}, 1);
    }
    [[nodiscard]] pending<T, call::allreduce_row> start_allreduce_row(Arrays... local) const
    {
        return start<call::allreduce_row>(library::start_allreduce, {local...}, this->row());
    }
    [[nodiscard]] pending<T, call::reduce> start_reduce(Arrays... local) const
    {
        return start<call::reduce>(library::start_reduce, {local...}, 1);
    }
    [[nodiscard]] pending<T, call::reduce_row> start_reduce_row(Arrays... local) const
    {
        return start<call::reduce_row>(library::start_reduce, {local...}, this->row());
    }

    code try_start_allreduce(Arrays... local, pending<T> &run) const noexcept
    {
        return try_start(library::start_allreduce, {local...}, 1, run);
    }
    code try_start_allreduce_row(Arrays... local, pending<T, call::allreduce_row> &run) const noexcept
    {
        return try_start(library::start_allreduce, {local...}, this->row(), run);
    }
    code try_start_reduce(Arrays... local, pending<T, call::reduce> &run) const noexcept
    {
        return try_start(library::start_reduce, {local...}, 1, run);
    }
    code try_start_reduce_row(Arrays... local, pending<T, call::reduce_row> &run) const noexcept
    {
        return try_start(library::start_reduce, {local...}, this->row(), run);
    }

protected:
    using arrays = std::array<std::span<const T>, sizeof...(Arrays)>;

    reductions() noexcept = default;

    // Runs a function of C's, which may take more than the result.
    template <class Function, class... More>
    [[nodiscard]] treefold_status run(Function function, arrays local, std::span<T> result, More... more) const noexcept
    {
        return pass(function, local, result.data(), result.size(), more...);
    }

    // Starts a run whose result has so many items.
    template <call Call, class Function>
    [[nodiscard]] pending<T, Call> start(Function function, arrays local, std::size_t length) const
    {
        return this->template launch<Call>(length, [&](treefold_run **run) { return pass(function, local, run); });
    }

    template <call Call, class Function>
    code try_start(Function function, arrays local, std::size_t length, pending<T, Call> &run) const noexcept
    {
        return this->try_launch(length, [&](treefold_run **started) { return pass(function, local, started); }, run);
    }

private:
    [[nodiscard]] static std::span<T> one(T *item) noexcept { return {item, 1}; }

    [[nodiscard]] treefold_status run_reduce(arrays local, std::optional<T> &result) const noexcept
    {
        slot<T> value;
        int is_mine = 0;
        const auto status = run(library::reduce, local, one(std::addressof(value.value)), &is_mine);
        result.reset();
        if (status == TREEFOLD_OK && is_mine != 0)
            result.emplace(value.value);
        return status;
    }

    // Passes the plan, each array's address and length, and what else there is.
    template <class Function, class... More>
    [[nodiscard]] treefold_status pass(Function function, arrays local, More... more) const noexcept
    {
        if constexpr (sizeof...(Arrays) == 1)
            return function(this->handle(), local[0].data(), local[0].size(), more...);
        else
            return function(this->handle(), local[0].data(), local[0].size(), local[1].data(), local[1].size(), more...);
    }
};

} // namespace detail

// A reduction that the ranks have agreed on: built once by a plan_builder or an exact_plan_builder, run many times.
//
// All runs are collective. `local` are this rank's items, times the width: as many as planned, or of exact sums and norms as many as it
// likes. Nothing is written to them, and the result must not overlap them.
//
// allreduce, reduce, their twins and the other calls for any plan are those of detail::reductions.
template <class T> class plan : public detail::reductions<T, std::span<const T>> {
public:
    plan() noexcept = default;

    // The columns of a row that this rank gets from reduce_scatter.
    [[nodiscard]] columns scattered_columns() const
    {
        columns result{};
        detail::check_run(this->scattered(result));
        return result;
    }

    // This rank's scattered_columns() of the reduction.
    [[nodiscard]] std::vector<T> reduce_scatter(std::span<const T> local) const
    {
        std::vector<T> result(scattered_columns().size());
        reduce_scatter_into(local, result);
        return result;
    }
    void reduce_scatter_into(std::span<const T> local, std::span<T> result) const
    {
        detail::check_run(this->run(treefold_reduce_scatter, {local}, result));
    }
    code try_reduce_scatter_into(std::span<const T> local, std::span<T> result) const noexcept
    {
        return detail::settle_run(this->run(treefold_reduce_scatter, {local}, result));
    }

    // For each of this rank's items, the reduction of all items up to it, itself included. Exact sums go over the items of the ranks
    // below first.
    [[nodiscard]] std::vector<T> scan(std::span<const T> local) const
    {
        std::vector<T> result(local.size());
        scan_into(local, result);
        return result;
    }
    void scan_into(std::span<const T> local, std::span<T> result) const
    {
        detail::check_run(this->run(treefold_scan, {local}, result));
    }
    code try_scan_into(std::span<const T> local, std::span<T> result) const noexcept
    {
        return detail::settle_run(this->run(treefold_scan, {local}, result));
    }

    // The same without the item itself; item 0 gets the operator's value for nothing.
    [[nodiscard]] std::vector<T> exscan(std::span<const T> local) const
    {
        std::vector<T> result(local.size());
        exscan_into(local, result);
        return result;
    }
    void exscan_into(std::span<const T> local, std::span<T> result) const
    {
        detail::check_run(this->run(treefold_exscan, {local}, result));
    }
    code try_exscan_into(std::span<const T> local, std::span<T> result) const noexcept
    {
        return detail::settle_run(this->run(treefold_exscan, {local}, result));
    }

    // The sum of x[i] * y[i] over all ranks' items in tree order, by plans of sums of single floats or doubles: that of treefold::dot in
    // one process. No array of products is made.
    [[nodiscard]] T dot(std::span<const T> x, std::span<const T> y) const
        requires std::floating_point<T>
    {
        T result{};
        detail::check_run(treefold_allreduce_dot(this->handle(), x.data(), x.size(), y.data(), y.size(), &result, 1));
        return result;
    }
    // Several dot products as one message: element j of the result is that of pairs[j], of which there are as many as the plan's width.
    void dots(std::span<const factors<T>> pairs, std::span<T> result) const
        requires std::floating_point<T>
    {
        const detail::factors_of<T> of(pairs);
        of.check(treefold_allreduce_dots(this->handle(), of.x(), of.y(), of.size(), of.length(), result.data(), result.size()));
    }
    // As start_allreduce.
    [[nodiscard]] pending<T, call::allreduce_row> start_dots(std::span<const factors<T>> pairs) const
        requires std::floating_point<T>
    {
        const detail::factors_of<T> of(pairs);
        return this->template launch<call::allreduce_row>(pairs.size(), [&](treefold_run **run) {
            const auto status = treefold_start_allreduce_dots(this->handle(), of.x(), of.y(), of.size(), of.length(), run);
            of.check(status);
            return status;
        });
    }
    // The square root of dot(x, x).
    [[nodiscard]] T norm2(std::span<const T> x) const
        requires std::floating_point<T>
    {
        return std::sqrt(dot(x, x));
    }
    // As start_allreduce.
    [[nodiscard]] pending<T> start_dot(std::span<const T> x, std::span<const T> y) const
        requires std::floating_point<T>
    {
        return this->template launch<call::allreduce>(1, [&](treefold_run **run) {
            return treefold_start_allreduce_dot(this->handle(), x.data(), x.size(), y.data(), y.size(), run);
        });
    }

    // Copies the root's row to every rank's. Plans of exact sums and norms have no broadcast: code::unsupported.
    void broadcast(std::span<T> row) const { detail::check_run(treefold_broadcast(this->handle(), row.data(), row.size())); }
    code try_broadcast(std::span<T> row) const noexcept
    {
        return detail::settle_run(treefold_broadcast(this->handle(), row.data(), row.size()));
    }

    // As start_allreduce.
    [[nodiscard]] pending<T, call::reduce_scatter> start_reduce_scatter(std::span<const T> local) const
    {
        return this->template start<call::reduce_scatter>(treefold_start_reduce_scatter, {local}, scattered_columns().size());
    }
    [[nodiscard]] pending<T, call::scan> start_scan(std::span<const T> local) const
    {
        return this->template start<call::scan>(treefold_start_scan, {local}, local.size());
    }
    [[nodiscard]] pending<T, call::scan> start_exscan(std::span<const T> local) const
    {
        return this->template start<call::scan>(treefold_start_exscan, {local}, local.size());
    }

    code try_start_reduce_scatter(std::span<const T> local, pending<T, call::reduce_scatter> &run) const noexcept
    {
        columns mine{};
        const auto status = this->scattered(mine);
        return status == TREEFOLD_OK ? this->try_start(treefold_start_reduce_scatter, {local}, mine.size(), run) : code{status};
    }
    code try_start_scan(std::span<const T> local, pending<T, call::scan> &run) const noexcept
    {
        return this->try_start(treefold_start_scan, {local}, local.size(), run);
    }
    code try_start_exscan(std::span<const T> local, pending<T, call::scan> &run) const noexcept
    {
        return this->try_start(treefold_start_exscan, {local}, local.size(), run);
    }
};

// Exact dot products that the ranks have agreed on: built once by an exact_plan_builder, run many times.
//
// It has the calls of detail::reductions, which take two arrays: allreduce(x, y), reduce(x, y), start_allreduce(x, y) and so on. x and y
// have the same length; else the call is code::length. With a width they are rows: several dot products at once, one for each column.
template <class T>
    requires(floating<T> || complex_number<T>)
class dot_plan : public detail::reductions<T, std::span<const T>, std::span<const T>> {
};

// ---- Builders ----------------------------------------------------------------------------------------------------------------------

// The items begin to end - 1.
using range = treefold_range;

namespace detail {

// The settings of every builder, whose type is Builder.
template <class Builder, class Plan> class plan_settings {
public:
    // The elements of an item: with more than one, items are rows, which are reduced element by element. 1 by default.
    Builder &width(std::size_t elements) noexcept { return set(width_, elements); }

    // The rank that gets the result of reduce(), and whose row broadcast() sends. 0 by default.
    Builder &root(int rank) noexcept { return set(root_, rank); }

    // Who talks to whom, by a name of algorithm_names(). No algorithm changes a bit.
    Builder &algorithm(std::string_view name)
    {
        algorithm_ = name;
        return self();
    }

    // Parameters of algorithms, as in treefold_mpi.h. They change no bit either.
    Builder &blocks(std::size_t count) noexcept { return set(blocks_, count); }
    Builder &ports(std::size_t count) noexcept { return set(ports_, count); }
    Builder &node_ranks(std::size_t count) noexcept { return set(node_ranks_, count); }
    Builder &message_limit(std::size_t elements) noexcept { return set(message_limit_, elements); }

    // Builds without communicating: the items, if they have numbers, follow a rule, and all ranks call the builder alike, which is not
    // checked.
    Builder &agreed() noexcept
    {
        is_agreed_ = true;
        return self();
    }

    // Compares the ranks' settings and builds a plan. Collective: if it fails, then with the same error on every rank; but a rank with a
    // setting that cannot be at all, such as an algorithm of an unknown name, has the error of that, and the others have
    // code::argument, which names the rank.
    [[nodiscard]] Plan build() const
    {
        Plan result;
        check(make(result));
        return result;
    }
    code try_build(Plan &result) const noexcept
    try {
        Plan built;
        const auto status = make(built);
        if (status == TREEFOLD_OK)
            result = std::move(built);
        return code{status};
    } catch (const std::bad_alloc &) {
        return code::memory;
    }

protected:
    using builder_handle = handle<treefold_builder, treefold_builder_destroy>;

    explicit plan_settings(const comm &world, std::shared_ptr<const void> op = nullptr) noexcept
        : comm_(world.handle()), op_(std::move(op))
    {
    }

    [[nodiscard]] const treefold_comm *world() const noexcept { return comm_; }

    // The elements of a result.
    [[nodiscard]] std::size_t row() const noexcept { return width_.value_or(1); }
    [[nodiscard]] const void *op() const noexcept { return op_.get(); }

    template <class Value> Builder &set(std::optional<Value> &setting, Value value) noexcept
    {
        setting = value;
        return self();
    }

private:
    [[nodiscard]] Builder &self() noexcept { return static_cast<Builder &>(*this); }

    [[nodiscard]] treefold_status make(Plan &result) const
    {
        builder_handle builder;
        auto status = prepare(builder);
        if (status == TREEFOLD_OK) {
            status = treefold_plan_build(builder.get(), result.plan_.address());
        } else if (!is_agreed_) {
            refuse();
            status = prepare(builder); // Once more: the error that is told is this one.
        }
        result.op_ = op_;
        result.row_ = static_cast<const Builder &>(*this).row();
        return status;
    }

    // Begins a builder, and passes it all settings.
    [[nodiscard]] treefold_status prepare(builder_handle &builder) const noexcept
    {
        static_cast<void>(builder.end());
        const auto status = static_cast<const Builder &>(*this).begin(builder);
        return status == TREEFOLD_OK ? pass_settings(builder.get()) : status;
    }

    // Takes part in building a plan without being able to: it says nothing of this rank's items, so that it fails on all ranks, and names
    // this one. Without it the others would wait.
    void refuse() const noexcept
    {
        builder_handle builder;
        handle<treefold_plan, treefold_plan_destroy> plan;
        if (treefold_builder_create(comm_, TREEFOLD_F64, TREEFOLD_SUM, builder.address()) == TREEFOLD_OK)
            static_cast<void>(treefold_plan_build(builder.get(), plan.address()));
    }

    [[nodiscard]] treefold_status pass_settings(treefold_builder *builder) const noexcept
    {
        treefold_status status = TREEFOLD_OK;
        const auto set = [&](auto function, const auto &setting) {
            if (status == TREEFOLD_OK && setting)
                status = function(builder, *setting);
        };
        set(treefold_builder_width, width_);
        set(treefold_builder_root, root_);
        set(treefold_builder_blocks, blocks_);
        set(treefold_builder_ports, ports_);
        set(treefold_builder_node_ranks, node_ranks_);
        set(treefold_builder_message_limit, message_limit_);
        if (status == TREEFOLD_OK && algorithm_)
            status = treefold_builder_algorithm(builder, algorithm_->c_str());
        if (status == TREEFOLD_OK && is_agreed_)
            status = treefold_builder_agreed(builder);
        return status;
    }

    // A name that the library knows, not an address: after the end of the comm it is an error.
    const treefold_comm *comm_;

    // The caller's operator, at the address that plans know; null for one of treefold's.
    std::shared_ptr<const void> op_;

    std::optional<std::size_t> width_;
    std::optional<int> root_;
    std::optional<std::string> algorithm_;
    std::optional<std::size_t> blocks_;
    std::optional<std::size_t> ports_;
    std::optional<std::size_t> node_ranks_;
    std::optional<std::size_t> message_limit_;
    bool is_agreed_ = false;
};

} // namespace detail

// What a plan is to be: the type of the items, the operator, and settings, of which one that says who has which items is needed. All
// settings are looked at in build(). A builder may be copied, and build several plans.
//
// build(), width() and the other settings of any plan are those of detail::plan_settings.
template <class T> class plan_builder : public detail::plan_settings<plan_builder<T>, plan<T>> {
    using settings = detail::plan_settings<plan_builder<T>, plan<T>>;

public:
    // Items of a type and an operator of treefold's; their sum by default.
    template <treefold_op Op = TREEFOLD_SUM>
        requires reducible<T, Op>
    explicit plan_builder(const comm &world, builtin<Op> = {}) noexcept : settings(world), builtin_(Op)
    {
    }

    // Items of any trivially copyable type of 4, 8, … up to 512 bytes, and an operator of the caller's: op(left, right) returns their
    // combination, with the same bits on every rank, and does not communicate. Ranks compare the name and the value for nothing.
    template <callers_operator F>
    plan_builder(const comm &world, std::string_view name, F op)
        : settings(world, std::make_shared<const F>(std::move(op))), name_(name), combine_(&detail::combine_in_plan<T, F>)
    {
        detail::check_operator<T, F>();
    }
    template <callers_operator F>
    plan_builder(const comm &world, std::string_view name, F op, const T &empty) : plan_builder(world, name, std::move(op))
    {
        empty_.emplace(empty);
    }

    // Who has which items: one of these four is needed. The latter two are rules: all ranks give the same numbers, and a plan needs no
    // table of the ranks.

    // This rank has so many, which follow those of the ranks below.
    plan_builder &local_items(std::uint64_t items) noexcept { return set_share(share::local_items, items); }
    // This rank has these ranges, in the order in which `local` holds them. With those of all ranks they are 0 to N - 1, each once.
    plan_builder &extents(std::vector<range> ranges) noexcept
    {
        extents_ = std::move(ranges);
        return set_share(share::extents);
    }
    // So many items on all ranks: floor(N / p) on each of p ranks, and one more on the first N mod p.
    plan_builder &even(std::uint64_t items) noexcept { return set_share(share::even, items); }
    // Blocks of so many of the items of all ranks, dealt to the ranks in turn.
    plan_builder &block_cyclic(std::uint64_t items, std::uint64_t block) noexcept
    {
        return set_share(share::block_cyclic, items, block);
    }

    // The items on all ranks, to be checked against what they have.
    plan_builder &items(std::uint64_t count) noexcept { return this->set(items_, count); }

private:
    friend settings;
    using typename settings::builder_handle;

    enum class share { none, local_items, extents, even, block_cyclic };

    plan_builder &set_share(share kind, std::uint64_t items = 0, std::uint64_t block = 0) noexcept
    {
        share_ = kind;
        share_items_ = items;
        share_block_ = block;
        return *this;
    }

    // Begins a plan, and says who has which items.
    [[nodiscard]] treefold_status begin(builder_handle &builder) const noexcept
    {
        auto status = create(builder);
        if (status == TREEFOLD_OK)
            status = pass_share(builder.get());
        if (status == TREEFOLD_OK && items_)
            status = treefold_builder_items(builder.get(), *items_);
        return status;
    }

    [[nodiscard]] treefold_status create(builder_handle &builder) const noexcept
    {
        if (this->op() == nullptr) {
            if constexpr (number<T>)
                return treefold_builder_create(this->world(), detail::type_of<T>, builtin_, builder.address());
        }
        detail::slot<T> empty;
        if (empty_) {
            empty.load(std::addressof(*empty_));
            empty.clear_padding();
        }
        // C's context is not const; what it points to is, and is not written to.
        return treefold_builder_create_user(this->world(), name_.c_str(), sizeof(T), combine_, const_cast<void *>(this->op()),
                                            empty_ ? &empty : nullptr, builder.address());
    }

    [[nodiscard]] treefold_status pass_share(treefold_builder *builder) const noexcept
    {
        switch (share_) {
        case share::local_items:
            return treefold_builder_local_items(builder, share_items_);
        case share::extents:
            return treefold_builder_extents(builder, extents_.data(), extents_.size());
        case share::even:
            return treefold_builder_even(builder, share_items_);
        case share::block_cyclic:
            return treefold_builder_block_cyclic(builder, share_items_, share_block_);
        case share::none:
            break; // The ranks tell each other that one is needed.
        }
        return TREEFOLD_OK;
    }

    treefold_op builtin_ = TREEFOLD_SUM;

    // What ranks compare of an operator of the caller's, and its function.
    std::string name_;
    treefold_combine combine_ = nullptr;
    std::optional<T> empty_;

    share share_ = share::none;
    std::uint64_t share_items_ = 0;
    std::uint64_t share_block_ = 0;
    std::vector<range> extents_;
    std::optional<std::uint64_t> items_;
};

// GCC says that these names hide treefold::sum and treefold::dot, which the names of an enum class do not.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
// What an exact plan makes of the items.
enum class figure : std::int32_t {
    sum = TREEFOLD_EXACT_SUM,
    norm = TREEFOLD_EXACT_NORM, // the square root of the sum of squares
    dot = TREEFOLD_EXACT_DOT,   // the sum of products x[i] * y[i]
    vdot = TREEFOLD_EXACT_VDOT, // the same with the complex conjugate of x[i]
};
#pragma GCC diagnostic pop

// Whether an exact plan exists: that of a norm takes complex numbers as twice as many real ones.
template <class T, figure Figure>
concept has_figure = floating<T> || (complex_number<T> && Figure != figure::norm);

// What an exact plan is to be: a plan<T> of a sum or a norm, a dot_plan<T> of a dot product.
//
// The result is the exact one of all ranks' items, rounded once, to nearest with ties to even: it depends neither on the order of the
// items nor on who has which. So nothing says who has which items: in each run each rank gives as many as it likes, none included. With
// a width, items are rows, of which each rank gives any number of whole ones.
//
// build(), width() and the other settings are those of detail::plan_settings.
template <class T, figure Figure = figure::sum>
    requires has_figure<T, Figure>
class exact_plan_builder
    : public detail::plan_settings<exact_plan_builder<T, Figure>,
                                   std::conditional_t<Figure == figure::dot || Figure == figure::vdot, dot_plan<T>, plan<T>>> {
    using settings = typename exact_plan_builder::plan_settings;

public:
    explicit exact_plan_builder(const comm &world) noexcept : settings(world) {}

private:
    friend settings;

    [[nodiscard]] treefold_status begin(typename settings::builder_handle &builder) const noexcept
    {
        return treefold_builder_create_exact(this->world(), detail::type_of<T>, static_cast<std::int32_t>(Figure), builder.address());
    }
};

// ---- Algorithms --------------------------------------------------------------------------------------------------------------------

// The names that a builder's algorithm() takes.
[[nodiscard]] inline std::vector<std::string_view> algorithm_names()
{
    std::vector<std::string_view> names;
    for (std::size_t index = 0; index < treefold_algorithm_count(); ++index)
        names.emplace_back(treefold_algorithm_name(index));
    return names;
}

} // namespace treefold

#include <treefold_mpi_keyed.hpp>

#endif // TREEFOLD_HPP_IS_COMPLETE

#endif
