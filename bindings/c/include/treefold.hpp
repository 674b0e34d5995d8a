// treefold.hpp wraps treefold.h for C++20: reductions whose bits depend on the items, their order and the operator, and on nothing else.
//
//     std::vector<double> x = {0.1, 0.2, 0.3, 0.4};
//     double total = treefold::sum(x);
//
// T is the type of an item; `items` is any contiguous range: a std::vector, std::array, std::span or array.
//
//     T sum(items)                   in tree order; 0 if there are no items
//     T product(items)               1 if there are no items
//     T min(items), T max(items)     as in IEEE 754-2019: NaN if an item is NaN; -0 is less than +0; an error if there are no items
//     T sum_lanes(items, lanes)      item i is in lane i mod lanes; adds the sums of the lanes (docs/lanes.md); float and double
//     T canonical_reduce<L>(first, last, init, op)    ISO C++ paper P4016: op(init, reduction in L lanes); op defaults to std::plus
//     T dot(x, y)                    the sum of x[i] * y[i]; float and double
//     T squared_norm(x)              dot(x, x)
//     sums<T> sum_and_absolute_sum(x)
//     T fold(items, op)              with an operator of treefold::ops, or a function T(const T &, const T &)
//     T fold(items, op, empty)       as fold(items, op); `empty` is the result for no items
//     T fold_on(items, op, run)      with an operator of treefold::ops, on the caller's threads, such as OpenMP's
//     T dot_on(x, y, run)
//     vector<T> sum_rows(items, width), fold_rows(items, width, op)    reduce rows of `width` elements, element by element
//     vector<T> fields(fields, op)   one reduction for each of several ranges, which have the same length
//
// Functions whose names end in `_into` write their result to a std::span<T>, the last argument. treefold_exact.hpp has exact statistics,
// and treefold_states.hpp has states that a program keeps between calls; this header includes both.
//
// A failed call throws treefold::error. Exceptions of a user-defined operator pass through unchanged. try_(function, arguments...) calls
// any function, and returns its result or its error.
//
// Link with libtreefold. treefold_mpi.hpp has the reductions over the ranks of MPI.
#ifndef TREEFOLD_HPP
#define TREEFOLD_HPP

// Reports one error and skips the rest of the header, which would cause many.
#if __cplusplus <= 201703L
#error "treefold.hpp and treefold_mpi.hpp need C++20: compile with -std=c++20 or later, or include treefold.h or treefold_mpi.h"
#elif !defined(__cpp_exceptions)
#error "treefold.hpp and treefold_mpi.hpp throw exceptions: compile without -fno-exceptions, or include treefold.h or treefold_mpi.h"
#else
#define TREEFOLD_HPP_IS_COMPLETE

#include <atomic>
#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <treefold.h>

namespace treefold {

// ---- Errors ------------------------------------------------------------------------------------------------------------------------

// A status of treefold.h, which documents the codes.
enum class [[nodiscard]] code : treefold_status {
    ok = TREEFOLD_OK,
    null = TREEFOLD_NULL, // also for calls on an object that was moved from or consumed
    argument = TREEFOLD_ARGUMENT,
    length = TREEFOLD_LENGTH,
    disagree = TREEFOLD_DISAGREE,
    empty = TREEFOLD_EMPTY,
    environment = TREEFOLD_ENVIRONMENT,
    rank_failed = TREEFOLD_RANK_FAILED,
    spent = TREEFOLD_SPENT,
    under_way = TREEFOLD_UNDER_WAY,
    timed_out = TREEFOLD_TIMED_OUT,
    mpi = TREEFOLD_MPI,
    unsupported = TREEFOLD_UNSUPPORTED,
    panic = TREEFOLD_PANIC,
    mismatched = TREEFOLD_MISMATCHED,
    memory = TREEFOLD_MEMORY,
    operator_failed = TREEFOLD_OPERATOR,
    interrupted = TREEFOLD_INTERRUPTED,
};

// The name of a code in treefold.h, such as "TREEFOLD_LENGTH".
[[nodiscard]] inline const char *code_name(code value) noexcept
{
    return treefold_status_name(static_cast<treefold_status>(value));
}

// The exception that a failed call throws. what() names the argument or the rank.
class error : public std::runtime_error {
public:
    error(treefold::code code, int rank, const std::string &what) : std::runtime_error(what), code_(code), rank_(rank) {}

    [[nodiscard]] treefold::code code() const noexcept { return code_; }

    // The rank that the error concerns, or -1 if there is no such rank.
    [[nodiscard]] int rank() const noexcept { return rank_; }

private:
    treefold::code code_;
    int rank_;
};

// The result of a call, or its error.
template <class T> class [[nodiscard]] outcome {
public:
    using value_type = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

    template <class Value> requires std::constructible_from<value_type, Value>
    explicit outcome(Value &&value) : held_(std::in_place_index<0>, std::forward<Value>(value)) {}
    explicit outcome(const error &failed) : held_(std::in_place_index<1>, failed) {}

    [[nodiscard]] explicit operator bool() const noexcept { return held_.index() == 0; }

    // The error code; ok if there is a result.
    treefold::code code() const noexcept { return *this ? treefold::code::ok : std::get<1>(held_).code(); }

    // The error. May be called only if the call failed.
    [[nodiscard]] const treefold::error &error() const { return std::get<1>(held_); }

    // The result. Throws the error if the call failed.
    [[nodiscard]] value_type &value()
    {
        if (!*this)
            throw std::get<1>(held_);
        return std::get<0>(held_);
    }
    [[nodiscard]] value_type &operator*() { return value(); }

private:
    std::variant<value_type, treefold::error> held_;
};

// Calls a function, and returns its result or the error that it throws. std::bad_alloc becomes code::memory. Other exceptions pass through.
//
//     if (auto total = treefold::try_(treefold::sum, x))
//         use(*total);
//     auto built = treefold::try_([&] { return builder.build(); });
template <class F, class... Arguments> requires std::invocable<F, Arguments...>
auto try_(F &&function, Arguments &&...arguments) -> outcome<std::remove_cvref_t<std::invoke_result_t<F, Arguments...>>>
{
    using result = outcome<std::remove_cvref_t<std::invoke_result_t<F, Arguments...>>>;
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<F, Arguments...>>) {
            std::invoke(std::forward<F>(function), std::forward<Arguments>(arguments)...);
            return result(std::monostate());
        } else {
            return result(std::invoke(std::forward<F>(function), std::forward<Arguments>(arguments)...));
        }
    } catch (const error &failed) {
        return result(failed);
    } catch (const std::bad_alloc &) {
        return result(error(code::memory, -1, "there is not enough memory"));
    }
}

// The version of the library. TREEFOLD_VERSION is the version of the header.
[[nodiscard]] inline std::uint32_t version() noexcept { return treefold_version(); }

// ---- Types and operators -----------------------------------------------------------------------------------------------------------

template <class T, class... Ts> concept any_of = (std::same_as<T, Ts> || ...);

// The types that have codes in treefold.h. Characters and bool do not count as numbers.
template <class T> concept floating = any_of<T, float, double>;

template <class T> concept complex_number = any_of<T, std::complex<float>, std::complex<double>>;

template <class T>
concept integer = std::integral<T> && sizeof(T) <= 8 && std::same_as<T, std::remove_cv_t<T>> &&
                  !any_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

template <class T> concept number = floating<T> || complex_number<T> || integer<T>;

// The type of the constant for operator Op of treefold.h.
template <treefold_op Op> struct builtin {};

template <class F>
concept callers_operator = !any_of<F, builtin<TREEFOLD_SUM>, builtin<TREEFOLD_PRODUCT>, builtin<TREEFOLD_MIN>, builtin<TREEFOLD_MAX>>;

namespace ops {
inline constexpr builtin<TREEFOLD_SUM> sum{};
inline constexpr builtin<TREEFOLD_PRODUCT> product{};
inline constexpr builtin<TREEFOLD_MIN> min{};
inline constexpr builtin<TREEFOLD_MAX> max{};
} // namespace ops

// Whether operator Op of treefold.h is defined for T. Complex numbers have no minimum and no maximum.
template <class T, treefold_op Op>
concept reducible = number<T> && !(complex_number<T> && (Op == TREEFOLD_MIN || Op == TREEFOLD_MAX));

// The sum of the numbers, and the sum of their absolute values, which bounds the error of `sum`.
template <floating T> struct sums {
    T sum, absolute_sum;
};

// A range whose items are contiguous in memory.
template <class R> concept item_range = std::ranges::contiguous_range<const R> && std::ranges::sized_range<const R>;

template <item_range R> using item_of = std::ranges::range_value_t<const R>;

template <class R, class T> concept range_of = item_range<R> && std::same_as<item_of<R>, T>;

// Several ranges of items of one type.
template <class F>
concept item_fields = std::ranges::forward_range<const F> && item_range<std::ranges::range_value_t<const F>> &&
                      std::ranges::borrowed_range<std::ranges::range_reference_t<const F>>;

template <item_fields F> using field_item = item_of<std::ranges::range_value_t<const F>>;

// ---- Implementation details --------------------------------------------------------------------------------------------------------

namespace detail {

[[noreturn]] inline void fail(treefold_status status)
{
    throw error(code{status}, treefold_last_error_rank(), treefold_last_error());
}

inline void check(treefold_status status)
{
    if (status != TREEFOLD_OK) [[unlikely]]
        fail(status);
}

// Returns what a C function writes through its last argument.
template <auto Function, class T, class... Arguments> T got(Arguments... arguments)
{
    T result{};
    check(Function(arguments..., &result));
    return result;
}

// Throws an error that this header has detected, and makes it this thread's last error.
[[noreturn]] inline void refuse(code value, const char *message)
{
    fail(treefold_report(static_cast<treefold_status>(value), message));
}

template <item_range R> std::span<const item_of<R>> view(const R &range) noexcept
{
    return {std::ranges::data(range), std::ranges::size(range)};
}

// Returns a vector of `count` items, which `write` fills.
template <class T, class Write> std::vector<T> filled(std::size_t count, const Write &write)
{
    std::vector<T> result(count);
    write(std::span<T>(result));
    return result;
}

// Owns a handle of the library.
template <class T, treefold_status (*End)(T **)> class handle {
public:
    handle() noexcept = default;
    handle(const handle &) = delete;
    handle(handle &&other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    handle &operator=(const handle &) = delete;
    handle &operator=(handle &&other) noexcept
    {
        handle former(std::move(other));
        std::swap(value_, former.value_);
        return *this;
    }
    ~handle() { end(); }

    [[nodiscard]] T *get() const noexcept { return value_; }
    [[nodiscard]] T **address() noexcept { return &value_; }

    // Destroys the handle. Fails if the handle belongs to another thread; the destructor ignores this error.
    treefold_status end() noexcept
    {
        const auto status = value_ == nullptr ? TREEFOLD_OK : End(&value_);
        value_ = nullptr;
        return status;
    }

private:
    T *value_ = nullptr;
};

template <number T> inline constexpr treefold_type type_of = [] {
    if constexpr (floating<T>)
        return std::same_as<T, float> ? TREEFOLD_F32 : TREEFOLD_F64;
    else if constexpr (complex_number<T>)
        return std::same_as<T, std::complex<float>> ? TREEFOLD_C32 : TREEFOLD_C64;
    else // The codes of integers are ordered by size.
        return (std::signed_integral<T> ? TREEFOLD_I8 : TREEFOLD_U8) + std::countr_zero(sizeof(T));
}();

// Checks an item type and its user-defined operator. Users read these messages in the compiler's output.
template <class T, class F> consteval void check_operator()
{
    static_assert(std::is_trivially_copyable_v<T>,
                  "treefold: an item must be trivially copyable (std::pair and std::tuple are not; use a struct)");
    static_assert(sizeof(T) % 4 == 0, "treefold: the size of an item of your own operator must be a multiple of 4 bytes");
    static_assert(sizeof(T) <= TREEFOLD_ITEM_BYTES_MAX, "treefold: an item of your own operator must have at most 512 bytes");
    static_assert(std::is_invocable_v<const F &, const T &, const T &>,
                  "treefold: a const operator must be callable as op(const T &, const T &); a mutable lambda is not");
    if constexpr (std::is_invocable_v<const F &, const T &, const T &>)
        static_assert(std::same_as<std::remove_cvref_t<std::invoke_result_t<const F &, const T &, const T &>>, T>,
                      "treefold: an operator must return the type of the items, not a type that converts to it");
}

// Storage for an item; T needs no default constructor. Items are copied, because the library aligns them to 8 bytes only and T may need
// more. Compilers turn these copies into loads.
template <class T> union slot {
    T value;

    slot() noexcept {}

    void load(const void *bytes) noexcept { std::memcpy(static_cast<void *>(std::addressof(value)), bytes, sizeof(T)); }

    // Zeroes the padding of the item if the compiler can. Padding has undefined bits, and ranks compare the bytes of empty values.
    void clear_padding() noexcept
    {
#ifdef __has_builtin
#if __has_builtin(__builtin_clear_padding)
        __builtin_clear_padding(std::addressof(value));
#endif
#endif
    }
};

// Keeps the exception that ended a reduction. If several threads throw, the first exception is kept.
class first_exception {
public:
    void keep() noexcept
    {
        if (!is_taken_.exchange(true))
            exception_ = std::current_exception();
    }

    // Throws the kept exception, if any. Must be called after the reduction, when no other thread is in keep().
    void rethrow() const
    {
        if (exception_ != nullptr)
            std::rethrow_exception(exception_);
    }

private:
    std::atomic<bool> is_taken_ = false;
    std::exception_ptr exception_;
};

// Combines two items and returns 0. If the operator throws, calls keep(), which may store the exception, and returns 1.
//
// A template cannot have C linkage, so the functions that the library calls back have C++ linkage. The calling conventions of C and C++ are
// the same in all compilers for 64-bit processors.
template <class T, class F, class Keep>
int combine_items(const F &op, const void *left, const void *right, void *out, Keep keep) noexcept
{
    try {
        slot<T> first, second, combined;
        first.load(left);
        second.load(right);
        std::construct_at(std::addressof(combined.value), std::invoke(op, std::as_const(first.value), std::as_const(second.value)));
        combined.clear_padding();
        std::memcpy(out, std::addressof(combined.value), sizeof(T));
        return 0;
    } catch (...) {
        keep();
        return 1;
    }
}

// The context of a treefold_combine: a user-defined operator, and the exception that it threw.
template <class T, class F> struct guarded {
    const F &op;
    first_exception thrown{};

    static int combine(void *context, const void *left, const void *right, void *out) noexcept
    {
        auto &self = *static_cast<guarded *>(context);
        return combine_items<T>(self.op, left, right, out, [&self]() noexcept { self.thrown.keep(); });
    }
};

// The function that the caller's threads call with the number of a part.
struct part_of_job {
    treefold_part part;
    void *job;
    void operator()(std::size_t number) const noexcept { part(job, number); }
};

template <class Run> concept callers_threads = std::invocable<Run, std::size_t, part_of_job>;

// The context of a treefold_team: the function that runs parts on the caller's threads, and the exception that it threw.
template <class Run> struct team {
    Run &run;
    first_exception thrown{};

    static void work(void *context, std::size_t parts, treefold_part part, void *job) noexcept
    {
        auto &self = *static_cast<team *>(context);
        try {
            std::invoke(self.run, parts, part_of_job{part, job});
        } catch (...) {
            self.thrown.keep();
        }
    }
};

// Returns the result of a C function that runs on the caller's threads. If `run` throws, rethrows its exception, not the resulting error.
template <auto Function, class T, class Run, class... Arguments> T got_on(Run &run, Arguments... arguments)
{
    team<Run> threads{run};
    T result{};
    const treefold_status status = Function(arguments..., &team<Run>::work, &threads, &result);
    threads.thrown.rethrow();
    check(status);
    return result;
}

// ---- The functions are function objects, so that argument-dependent lookup finds no others and try_ accepts them as arguments

template <treefold_op Op> struct reduce_function {
    template <item_range R> requires reducible<item_of<R>, Op>
    [[nodiscard]] item_of<R> operator()(const R &range) const
    {
        using T = item_of<R>;
        const auto items = view(range);
        // A sum of floats has its own function, which skips the dispatch on type and operator.
        if constexpr (Op == TREEFOLD_SUM && std::same_as<T, float>)
            return got<treefold_sum_f32, T>(items.data(), items.size());
        else if constexpr (Op == TREEFOLD_SUM && std::same_as<T, double>)
            return got<treefold_sum_f64, T>(items.data(), items.size());
        else
            return got<treefold_fold, T>(type_of<T>, Op, items.data(), items.size());
    }
};

struct dot_function {
    template <item_range X, range_of<item_of<X>> Y> requires floating<item_of<X>>
    [[nodiscard]] item_of<X> operator()(const X &left, const Y &right) const
    {
        const auto x = view(left), y = view(right);
        return got<treefold_dot, item_of<X>>(type_of<item_of<X>>, x.data(), x.size(), y.data(), y.size());
    }
};

struct squared_norm_function {
    template <item_range X> requires floating<item_of<X>>
    [[nodiscard]] item_of<X> operator()(const X &x) const { return dot_function{}(x, x); }
};

struct sum_lanes_function {
    template <item_range X> requires floating<item_of<X>>
    [[nodiscard]] item_of<X> operator()(const X &items, std::size_t lanes) const
    {
        const auto x = view(items);
        return got<treefold_sum_lanes, item_of<X>>(type_of<item_of<X>>, x.data(), x.size(), lanes);
    }
};

struct sums_function {
    template <item_range X> requires floating<item_of<X>>
    [[nodiscard]] sums<item_of<X>> operator()(const X &items) const
    {
        const auto x = view(items);
        sums<item_of<X>> result;
        check(treefold_sum_and_absolute_sum(type_of<item_of<X>>, x.data(), x.size(), &result.sum, &result.absolute_sum));
        return result;
    }
};

struct fold_function {
    template <item_range R, treefold_op Op> requires reducible<item_of<R>, Op>
    [[nodiscard]] item_of<R> operator()(const R &items, builtin<Op>) const { return reduce_function<Op>{}(items); }

    template <item_range R, callers_operator F> [[nodiscard]] item_of<R> operator()(const R &items, const F &op) const
    {
        return run(view(items), op, static_cast<const item_of<R> *>(nullptr));
    }

    template <item_range R, callers_operator F>
    [[nodiscard]] item_of<R> operator()(const R &items, const F &op, const item_of<R> &empty) const
    {
        return run(view(items), op, std::addressof(empty));
    }

private:
    template <class T, class F> static T run(std::span<const T> items, const F &op, const T *empty)
    {
        check_operator<T, F>();
        guarded<T, F> function{op};
        slot<T> result;
        const auto status = treefold_fold_user(items.data(), items.size(), sizeof(T), &guarded<T, F>::combine, &function, empty,
                                               std::addressof(result.value));
        function.thrown.rethrow();
        check(status);
        return result.value;
    }
};

struct fold_on_function {
    template <item_range R, treefold_op Op, callers_threads Run> requires reducible<item_of<R>, Op>
    [[nodiscard]] item_of<R> operator()(const R &range, builtin<Op>, Run &&run) const
    {
        const auto items = view(range);
        return got_on<treefold_fold_on, item_of<R>>(run, type_of<item_of<R>>, Op, items.data(), items.size());
    }
};

struct dot_on_function {
    template <item_range X, range_of<item_of<X>> Y, callers_threads Run> requires floating<item_of<X>>
    [[nodiscard]] item_of<X> operator()(const X &left, const Y &right, Run &&run) const
    {
        const auto x = view(left), y = view(right);
        return got_on<treefold_dot_on, item_of<X>>(run, type_of<item_of<X>>, x.data(), x.size(), y.data(), y.size());
    }
};

struct fold_rows_into_function {
    template <item_range R, treefold_op Op> requires reducible<item_of<R>, Op>
    void operator()(const R &range, std::size_t width, builtin<Op>, std::span<item_of<R>> result) const
    {
        const auto items = view(range);
        check(treefold_fold_rows(type_of<item_of<R>>, Op, items.data(), items.size(), width, result.data(), result.size()));
    }
};

struct fold_rows_function {
    template <item_range R, treefold_op Op> requires reducible<item_of<R>, Op>
    [[nodiscard]] std::vector<item_of<R>> operator()(const R &items, std::size_t width, builtin<Op> op) const
    {
        return filled<item_of<R>>(width, [&](auto result) { fold_rows_into_function{}(items, width, op, result); });
    }
};

struct sum_rows_function {
    template <item_range R> requires number<item_of<R>>
    [[nodiscard]] std::vector<item_of<R>> operator()(const R &items, std::size_t width) const
    {
        return fold_rows_function{}(items, width, ops::sum);
    }
};

struct fields_into_function {
    template <item_fields F, treefold_op Op> requires reducible<field_item<F>, Op>
    void operator()(const F &fields, builtin<Op>, std::span<field_item<F>> result) const
    {
        std::vector<const void *> addresses;
        std::size_t length = 0;
        for (auto &&field : fields) {
            const std::span<const field_item<F>> items = view(field);
            if (!addresses.empty() && items.size() != length)
                refuse(code::length, "the fields do not have the same number of items");
            length = items.size();
            addresses.push_back(items.data());
        }
        if (addresses.size() != result.size())
            refuse(code::length, "the result does not have one item for each field");
        check(treefold_fields(type_of<field_item<F>>, Op, addresses.data(), addresses.size(), length, result.data()));
    }
};

struct fields_function {
    template <item_fields F, treefold_op Op> requires reducible<field_item<F>, Op>
    [[nodiscard]] std::vector<field_item<F>> operator()(const F &fields, builtin<Op> op) const
    {
        const auto count = static_cast<std::size_t>(std::ranges::distance(fields));
        return filled<field_item<F>>(count, [&](auto result) { fields_into_function{}(fields, op, result); });
    }
};

} // namespace detail

// ---- Threads -----------------------------------------------------------------------------------------------------------------------

// Sets how many threads later calls of this thread may use. 1, the default, is the calling thread alone; 0 is one thread per core. The
// number of threads changes no bit. With more than one, several threads call a user-defined operator concurrently. treefold.h lists the
// functions that use several threads.
inline void threads(int count)
{
    detail::check(treefold_threads(count));
}

// The number of threads that this thread has set; 1 by default.
[[nodiscard]] inline int thread_count() noexcept { return treefold_thread_count(); }

// Sets this thread's number of threads. Its destructor, which must run in the same thread, restores the old number.
//
//     treefold::thread_scope all(0);
//     double total = treefold::sum(x);
class [[nodiscard]] thread_scope {
public:
    explicit thread_scope(int count) { threads(count); }
    thread_scope(const thread_scope &) = delete;
    thread_scope &operator=(const thread_scope &) = delete;
    ~thread_scope() { static_cast<void>(treefold_threads(before_)); }

private:
    int before_ = thread_count();
};

// ---- One process -------------------------------------------------------------------------------------------------------------------

inline constexpr detail::reduce_function<TREEFOLD_SUM> sum{};
inline constexpr detail::reduce_function<TREEFOLD_PRODUCT> product{};
inline constexpr detail::reduce_function<TREEFOLD_MIN> min{};
inline constexpr detail::reduce_function<TREEFOLD_MAX> max{};
inline constexpr detail::sum_lanes_function sum_lanes{};
inline constexpr detail::dot_function dot{};
inline constexpr detail::squared_norm_function squared_norm{};
inline constexpr detail::sums_function sum_and_absolute_sum{};
inline constexpr detail::fold_function fold{};
inline constexpr detail::sum_rows_function sum_rows{};
inline constexpr detail::fold_rows_function fold_rows{};
inline constexpr detail::fold_rows_into_function fold_rows_into{};
inline constexpr detail::fields_function fields{};
inline constexpr detail::fields_into_function fields_into{};

// Like fold(items, op) and dot(x, y), with the same bits, but on the caller's threads. The caller's run(parts, part) must call part(i) once
// for each i below parts, in any order and on any threads, and return after all calls have returned. part(i) never throws. For a short
// array, the calling thread does the work and does not call `run`.
//
//     treefold::fold_on(items, treefold::ops::sum, [](std::size_t parts, const auto &part) {
//     #pragma omp parallel for schedule(dynamic)
//         for (std::size_t i = 0; i < parts; ++i)
//             part(i);
//     });
inline constexpr detail::fold_on_function fold_on{};
inline constexpr detail::dot_on_function dot_on{};

// ---- ISO C++ paper P4016 -----------------------------------------------------------------------------------------------------------

namespace detail {

// Reduces rows of L items lane by lane, in tree order, with a binary counter. The last row may be shorter.
template <std::size_t L, class T, class F> class lane_rows {
public:
    explicit lane_rows(F &op) : op_(op) {}

    // Adds the next row. Every row but the last has L values.
    void push(std::vector<T> row)
    {
        for (auto carries = std::countr_one(count_++); carries > 0; --carries)
            row = joined(std::move(row));
        waiting_.push_back(std::move(row));
    }

    // The reduction of the lane values. There must be at least one row.
    T value()
    {
        auto row = take();
        while (!waiting_.empty())
            row = joined(std::move(row));
        for (; row.size() > 1; row = pairs(row))
            ;
        return std::move(row.front());
    }

private:
    std::vector<T> take()
    {
        auto row = std::move(waiting_.back());
        waiting_.pop_back();
        return row;
    }

    // Combines the last waiting row with the row on its right. Lanes that the right row lacks do not change.
    std::vector<T> joined(std::vector<T> right)
    {
        auto left = take();
        for (std::size_t lane = 0; lane < right.size(); ++lane)
            left[lane] = combined(left[lane], right[lane]);
        return left;
    }

    std::vector<T> pairs(std::vector<T> &nodes)
    {
        std::vector<T> parents;
        parents.reserve(nodes.size() / 2 + 1);
        for (std::size_t node = 0; node + 1 < nodes.size(); node += 2)
            parents.push_back(combined(nodes[node], nodes[node + 1]));
        if (nodes.size() % 2 == 1)
            parents.push_back(std::move(nodes.back()));
        return parents;
    }

    T combined(T &left, T &right) { return std::invoke(op_, std::move(left), std::move(right)); }

    F &op_;
    std::uint64_t count_ = 0;
    std::vector<std::vector<T>> waiting_{};
};

} // namespace detail

// The canonical reduction of ISO C++ paper P4016. Returns op(init, r), where r is the reduction of [first, last) in L lanes, or init if
// there are no items. Items are converted to T first. Sums of arrays of float or double call sum_lanes, and throw its errors.
template <std::size_t L, std::input_iterator I, std::sentinel_for<I> S, class T, class F = std::plus<>>
    requires std::convertible_to<std::iter_reference_t<I>, T> && std::convertible_to<std::invoke_result_t<F &, T, T>, T>
[[nodiscard]] T canonical_reduce(I first, S last, T init, F op = {})
{
    static_assert(1 <= L && L <= std::size_t{1} << 20, "treefold: the number of lanes must be from 1 to 2^20");
    if (first == last)
        return init;
    if constexpr (std::contiguous_iterator<I> && std::sized_sentinel_for<S, I> && floating<T> && std::same_as<std::iter_value_t<I>, T> &&
                  any_of<F, std::plus<>, std::plus<T>>) {
        const std::span<const T> items(std::to_address(first), static_cast<std::size_t>(last - first));
        return init + sum_lanes(items, L);
    } else {
        detail::lane_rows<L, T, F> rows(op);
        while (first != last) {
            std::vector<T> row;
            row.reserve(L);
            for (; row.size() < L && first != last; ++first)
                row.push_back(static_cast<T>(*first));
            rows.push(std::move(row));
        }
        return std::invoke(op, std::move(init), rows.value());
    }
}

} // namespace treefold

#include <treefold_exact.hpp>
#include <treefold_states.hpp>

#endif // C++20 with exceptions

#endif
