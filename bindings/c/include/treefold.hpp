// treefold.hpp: treefold.h for C++20. Reductions whose bits depend on the items, their order and the operator, and on nothing else.
//
//     std::vector<double> x = {0.1, 0.2, 0.3, 0.4};
//     double total = treefold::sum(x);
//
// T is the type of an item, and `items` any contiguous range of them: a std::vector, std::array, std::span or array.
//
//     T sum(items)                   in tree order; 0 if there are none
//     T product(items)               1 if there are none
//     T min(items), T max(items)     IEEE 754-2019's: a NaN wins, -0 is less than +0; an error if there are none
//     T sum_lanes(items, lanes)      item i belongs to lane i mod lanes; lanes are summed, then their sums: docs/lanes.md; float and double
//     T canonical_reduce<L>(first, last, init, op)    ISO C++'s P4016: init combined with the reduction in L lanes, by std::plus by default
//     T dot(x, y)                    the sum of x[i] * y[i]; float and double
//     T squared_norm(x)              dot(x, x)
//     sums<T> sum_and_absolute_sum(x)
//     T fold(items, op)              by an operator of treefold::ops, or by a function T(const T &, const T &)
//     T fold(items, op, empty)       the same, with a value for nothing
//     T fold_on(items, op, run)      by an operator of treefold::ops, and threads of the caller's, as OpenMP's
//     vector<T> sum_rows(items, width), fold_rows(items, width, op)    rows of `width` items, element by element
//     vector<T> fields(fields, op)   each of several ranges of one length
//
//     T exact_sum(items), exact_dot(x, y), exact_norm(x)    without rounding errors, rounded once, in no order; float and double
//     vector<T> exact_sum_rows(items, width)
//     vector<T> exact_sum_by_key(keys, items, groups), exact_mean_by_key    of each of the keys 0 to groups - 1
//     vector<T> exact_min_by_key(keys, items, groups), exact_max_by_key
//     vector<T> exact_variance_by_key(keys, items, groups, ddof), exact_standard_deviation_by_key
//     vector<T> exact_dot_by_key(keys, x, y, groups), exact_weighted_mean_by_key(keys, x, weights, groups)
//     vector<T> exact_sum_rows_by_key(keys, items, width, groups)           rows of `width` items, each with a key
//     vector<std::int64_t> exact_integer_sum_by_key(keys, items, groups)    of integers; std::uint64_t of those without a sign
//     vector<T> exact_rolling_sum(items, window), exact_rolling_mean    of the window that ends at each item
//     ... (items, window, least_items)                                  not a number where a window has fewer items
//     vector<T> exact_rolling_sum_by_range(index, items, width), exact_rolling_mean_by_range    of the items whose index is more than the
//     ... (index, items, width, least_items)                                                   last one's less a width
//
// Names with `_into` leave their result in a std::span<T>, the last argument, in place of the number of groups. Namespace treefold::par
// has all of these, with the same bits, by the threads of a pool: of the exact ones, the sums of all items and by key, dot products and
// norms. Namespace treefold::exact has sums that are held between calls: treefold_exact.hpp.
//
// A failure throws treefold::error, and what the caller's operator throws comes through as it is. Each function that returns no vector
// has a twin `try_…` that throws nothing: it takes the result by reference, or as a span, as its last argument and returns a
// treefold::code. The exception of an operator is dropped there, and the code is operator_failed.
//
// Link with libtreefold. treefold_mpi.hpp has the reductions over MPI's ranks.
#ifndef TREEFOLD_HPP
#define TREEFOLD_HPP

// One error, and none of those that what follows would have.
#if __cplusplus <= 201703L
#error "treefold.hpp and treefold_mpi.hpp need C++20: compile with -std=c++20 or later, or include treefold.h or treefold_mpi.h"
#elif !defined(__cpp_exceptions)
#error "treefold.hpp and treefold_mpi.hpp throw exceptions: compile without -fno-exceptions, or include treefold.h or treefold_mpi.h"
#else
#define TREEFOLD_HPP_IS_COMPLETE

#include <algorithm>
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
#include <vector>

#include <treefold.h>

namespace treefold {

// ---- Errors ------------------------------------------------------------------------------------------------------------------------

// What a function of treefold.h returns; the comments are there.
enum class [[nodiscard]] code : treefold_status {
    ok = TREEFOLD_OK,
    null = TREEFOLD_NULL, // also the code of an object that was moved from, or is used up
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

// A call that failed. what() names the argument or the rank.
class error : public std::runtime_error {
public:
    error(treefold::code code, int rank, const std::string &what) : std::runtime_error(what), code_(code), rank_(rank) {}

    [[nodiscard]] treefold::code code() const noexcept { return code_; }

    // The rank that the error is about; -1 if it is about none.
    [[nodiscard]] int rank() const noexcept { return rank_; }

private:
    treefold::code code_;
    int rank_;
};

// The version of the library; that of the header is TREEFOLD_VERSION.
[[nodiscard]] inline std::uint32_t version() noexcept
{
    return treefold_version();
}

// ---- Types and operators -----------------------------------------------------------------------------------------------------------

template <class T, class... Ts>
concept any_of = (std::same_as<T, Ts> || ...);

// The types of which treefold.h has codes. Characters and bool are no numbers here.
template <class T>
concept floating = any_of<T, float, double>;

template <class T>
concept complex_number = any_of<T, std::complex<float>, std::complex<double>>;

template <class T>
concept integer = std::integral<T> && sizeof(T) <= 8 && std::same_as<T, std::remove_cv_t<T>> &&
                  !any_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

template <class T>
concept number = floating<T> || complex_number<T> || integer<T>;

// The operators of treefold.h.
template <treefold_op Op> struct builtin {};

template <class F>
concept callers_operator = !any_of<F, builtin<TREEFOLD_SUM>, builtin<TREEFOLD_PRODUCT>, builtin<TREEFOLD_MIN>, builtin<TREEFOLD_MAX>>;

namespace ops {
inline constexpr builtin<TREEFOLD_SUM> sum{};
inline constexpr builtin<TREEFOLD_PRODUCT> product{};
inline constexpr builtin<TREEFOLD_MIN> min{};
inline constexpr builtin<TREEFOLD_MAX> max{};
} // namespace ops

// Whether an operator of treefold.h exists for a type: complex numbers have no order.
template <class T, treefold_op Op>
concept reducible = number<T> && !(complex_number<T> && (Op == TREEFOLD_MIN || Op == TREEFOLD_MAX));

// The sum of numbers, and that of their absolute values, which bounds the error of the first.
template <floating T> struct sums {
    T sum;
    T absolute_sum;
};

// Items one after the other in memory.
template <class R>
concept item_range = std::ranges::contiguous_range<const R> && std::ranges::sized_range<const R>;

template <item_range R> using item_of = std::ranges::range_value_t<const R>;

// Several ranges of items of one type.
template <class F>
concept item_fields = std::ranges::forward_range<const F> && item_range<std::ranges::range_value_t<const F>> &&
                      std::ranges::borrowed_range<std::ranges::range_reference_t<const F>>;

template <item_fields F> using field_item = item_of<std::ranges::range_value_t<const F>>;

// ---- Behind the functions ----------------------------------------------------------------------------------------------------------

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

template <item_range R> std::span<const item_of<R>> view(const R &range) noexcept
{
    return {std::ranges::data(range), std::ranges::size(range)};
}

// Owns a handle of the library's.
template <class T, treefold_status (*End)(T **)> class handle {
public:
    handle() noexcept = default;
    handle(handle &&other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    handle &operator=(handle &&other) noexcept
    {
        if (this != &other) {
            end();
            value_ = std::exchange(other.value_, nullptr);
        }
        return *this;
    }
    ~handle() { end(); }

    [[nodiscard]] T *get() const noexcept { return value_; }
    [[nodiscard]] T **address() noexcept { return &value_; }

    // Ends the handle. It may be another thread's, which is an error; there is nothing left to end then, either.
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
    if constexpr (std::same_as<T, float>)
        return TREEFOLD_F32;
    else if constexpr (std::same_as<T, double>)
        return TREEFOLD_F64;
    else if constexpr (std::same_as<T, std::complex<float>>)
        return TREEFOLD_C32;
    else if constexpr (std::same_as<T, std::complex<double>>)
        return TREEFOLD_C64;
    else if constexpr (std::signed_integral<T>)
        return sizeof(T) == 1 ? TREEFOLD_I8 : sizeof(T) == 2 ? TREEFOLD_I16 : sizeof(T) == 4 ? TREEFOLD_I32 : TREEFOLD_I64;
    else
        return sizeof(T) == 1 ? TREEFOLD_U8 : sizeof(T) == 2 ? TREEFOLD_U16 : sizeof(T) == 4 ? TREEFOLD_U32 : TREEFOLD_U64;
}();

// What an item of the caller's operator must be. The messages are for whoever reads the compiler's.
template <class T, class F> consteval void check_operator()
{
    static_assert(std::is_trivially_copyable_v<T>,
                  "treefold: an item must be trivially copyable (std::pair and std::tuple are not; use a struct)");
    static_assert(sizeof(T) % 4 == 0, "treefold: the size of an item of your own operator must be a multiple of 4 bytes");
    static_assert(sizeof(T) <= TREEFOLD_ITEM_BYTES_MAX, "treefold: an item of your own operator has at most 512 bytes");
    static_assert(std::is_invocable_v<const F &, const T &, const T &>,
                  "treefold: an operator is called as op(const T &, const T &), and is const itself (no mutable lambda)");
    if constexpr (std::is_invocable_v<const F &, const T &, const T &>)
        static_assert(std::same_as<std::remove_cvref_t<std::invoke_result_t<const F &, const T &, const T &>>, T>,
                      "treefold: an operator returns the type of the items, not one that is converted to it");
}

// Room for an item that needs no default constructor. The library's items are aligned to 8 bytes, and T may want more: all of them
// are copied, which compilers turn into loads.
template <class T> union slot {
    T value;

    slot() noexcept {}

    void load(const void *bytes) noexcept { std::memcpy(static_cast<void *>(std::addressof(value)), bytes, sizeof(T)); }

    // The padding of an item has no defined bits. Where the compiler can, they become zero: ranks compare the bytes of empty values.
    void clear_padding() noexcept
    {
#ifdef __has_builtin
#if __has_builtin(__builtin_clear_padding)
        __builtin_clear_padding(std::addressof(value));
#endif
#endif
    }
};

// The exception that ended a reduction: the first one, should several threads throw.
class first_exception {
public:
    void keep() noexcept
    {
        if (!is_taken_.exchange(true))
            exception_ = std::current_exception();
    }

    // The exception, which is here no longer; null if there is none. The reduction is over: no other thread is in keep().
    [[nodiscard]] std::exception_ptr take() noexcept
    {
        is_taken_ = false;
        return std::exchange(exception_, nullptr);
    }

private:
    std::atomic<bool> is_taken_ = false;
    std::exception_ptr exception_;
};

// Combines two items of the library's, and returns what a treefold_combine returns. keep() may fetch the exception.
//
// A template cannot have C's linkage, so the functions whose addresses the library gets have that of C++. The two are one calling
// convention in all compilers for 64-bit processors.
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

// The caller's operator during a call.
template <class T, class F> struct guarded {
    const F &op;
    first_exception thrown{};

    static int combine(void *context, const void *left, const void *right, void *out) noexcept
    {
        auto &self = *static_cast<guarded *>(context);
        return combine_items<T>(self.op, left, right, out, [&self]() noexcept { self.thrown.keep(); });
    }
};

// Who does the work, and the functions of treefold.h for it.
enum class by { caller, pool };

template <by> struct library;

template <> struct library<by::caller> {
    static constexpr auto sum_f32 = &treefold_sum_f32;
    static constexpr auto sum_f64 = &treefold_sum_f64;
    static constexpr auto fold = &treefold_fold;
    static constexpr auto fold_rows = &treefold_fold_rows;
    static constexpr auto fields = &treefold_fields;
    static constexpr auto fold_user = &treefold_fold_user;
};

template <> struct library<by::pool> {
    static constexpr auto sum_f32 = &treefold_par_sum_f32;
    static constexpr auto sum_f64 = &treefold_par_sum_f64;
    static constexpr auto fold = &treefold_par_fold;
    static constexpr auto fold_rows = &treefold_par_fold_rows;
    static constexpr auto fields = &treefold_par_fields;
    static constexpr auto fold_user = &treefold_par_fold_user;
};

// ---- Calls of the library, typed

template <by By, treefold_op Op, reducible<Op> T> treefold_status reduce(std::span<const T> items, T *result) noexcept
{
    // A sum of floats has a function of its own, which need not look at a type and an operator first.
    if constexpr (Op == TREEFOLD_SUM && std::same_as<T, float>)
        return library<By>::sum_f32(items.data(), items.size(), result);
    else if constexpr (Op == TREEFOLD_SUM && std::same_as<T, double>)
        return library<By>::sum_f64(items.data(), items.size(), result);
    else
        return library<By>::fold(type_of<T>, Op, items.data(), items.size(), result);
}

// Two functions of treefold.h that do the same to floats and to doubles.
template <floating T, auto F32, auto F64, class... Arguments> treefold_status reduce_floats(Arguments... arguments) noexcept
{
    if constexpr (std::same_as<T, float>)
        return F32(arguments...);
    else
        return F64(arguments...);
}

template <auto F32, auto F64, class T> treefold_status reduce_two(std::span<const T> x, std::span<const T> y, T *result) noexcept
{
    return reduce_floats<T, F32, F64>(x.data(), x.size(), y.data(), y.size(), result);
}

template <by By, treefold_op Op, reducible<Op> T>
treefold_status fold_rows(std::span<const T> items, std::size_t width, std::span<T> result) noexcept
{
    return library<By>::fold_rows(type_of<T>, Op, items.data(), items.size(), width, result.data(), result.size());
}

template <by By, class T, class F>
treefold_status fold_user(std::span<const T> items, guarded<T, F> &op, const T *empty, T *result) noexcept
{
    check_operator<T, F>();
    return library<By>::fold_user(items.data(), items.size(), sizeof(T), &guarded<T, F>::combine, &op, empty, result);
}

// The addresses of fields, as treefold_fields takes them.
template <class T> struct field_list {
    std::vector<const void *> addresses{};
    std::size_t length = 0;
    bool is_even = true;

    template <item_fields F> explicit field_list(const F &fields)
    {
        for (auto &&field : fields) {
            const std::span<const T> items = detail::view(field);
            length = addresses.empty() ? items.size() : length;
            is_even = is_even && items.size() == length;
            addresses.push_back(items.data());
        }
    }

    template <by By, treefold_op Op> treefold_status reduce(std::span<T> result) const noexcept
    {
        const auto count = addresses.size();
        return library<By>::fields(type_of<T>, Op, addresses.data(), count, length, result.data());
    }
};

// ---- The functions, as objects: one definition each serves both namespaces, and argument-dependent lookup finds no other

template <by By, treefold_op Op> struct reduce_function {
    template <item_range R>
        requires reducible<item_of<R>, Op>
    [[nodiscard]] item_of<R> operator()(const R &items) const
    {
        item_of<R> result;
        check(detail::reduce<By, Op>(detail::view(items), &result));
        return result;
    }
};

template <by By, treefold_op Op> struct try_reduce_function {
    template <item_range R>
        requires reducible<item_of<R>, Op>
    code operator()(const R &items, item_of<R> &result) const noexcept
    {
        return code{detail::reduce<By, Op>(detail::view(items), &result)};
    }
};

// An array to a number.
template <auto F32, auto F64> struct array_function {
    template <item_range X>
        requires floating<item_of<X>>
    [[nodiscard]] item_of<X> operator()(const X &x) const
    {
        item_of<X> result;
        check(reduce_floats<item_of<X>, F32, F64>(std::ranges::data(x), std::ranges::size(x), &result));
        return result;
    }
};

template <auto F32, auto F64> struct try_array_function {
    template <item_range X>
        requires floating<item_of<X>>
    code operator()(const X &x, item_of<X> &result) const noexcept
    {
        return code{reduce_floats<item_of<X>, F32, F64>(std::ranges::data(x), std::ranges::size(x), &result)};
    }
};

// An array to a number, in lanes.
template <auto F32, auto F64> struct try_lanes_function {
    template <item_range X>
        requires floating<item_of<X>>
    code operator()(const X &x, std::size_t lanes, item_of<X> &result) const noexcept
    {
        return code{reduce_floats<item_of<X>, F32, F64>(std::ranges::data(x), std::ranges::size(x), lanes, &result)};
    }
};

template <auto F32, auto F64> struct lanes_function {
    template <item_range X>
        requires floating<item_of<X>>
    [[nodiscard]] item_of<X> operator()(const X &x, std::size_t lanes) const
    {
        item_of<X> result;
        check(static_cast<treefold_status>(try_lanes_function<F32, F64>{}(x, lanes, result)));
        return result;
    }
};

// Two arrays to a number.
template <auto F32, auto F64> struct arrays_function {
    template <item_range X, item_range Y>
        requires floating<item_of<X>> && std::same_as<item_of<X>, item_of<Y>>
    [[nodiscard]] item_of<X> operator()(const X &x, const Y &y) const
    {
        item_of<X> result;
        check(detail::reduce_two<F32, F64>(detail::view(x), detail::view(y), &result));
        return result;
    }
};

template <auto F32, auto F64> struct try_arrays_function {
    template <item_range X, item_range Y>
        requires floating<item_of<X>> && std::same_as<item_of<X>, item_of<Y>>
    code operator()(const X &x, const Y &y, item_of<X> &result) const noexcept
    {
        return code{detail::reduce_two<F32, F64>(detail::view(x), detail::view(y), &result)};
    }
};

// An array to two numbers.
template <auto F32, auto F64> struct numbers_function {
    template <item_range X>
        requires floating<item_of<X>>
    [[nodiscard]] sums<item_of<X>> operator()(const X &x) const
    {
        sums<item_of<X>> result;
        check(reduce_floats<item_of<X>, F32, F64>(std::ranges::data(x), std::ranges::size(x), &result.sum, &result.absolute_sum));
        return result;
    }
};

template <auto F32, auto F64> struct try_numbers_function {
    template <item_range X>
        requires floating<item_of<X>>
    code operator()(const X &x, sums<item_of<X>> &result) const noexcept
    {
        return code{reduce_floats<item_of<X>, F32, F64>(std::ranges::data(x), std::ranges::size(x), &result.sum, &result.absolute_sum)};
    }
};

// Rows to a row.
template <auto F32, auto F64> struct try_rows_into_function {
    template <item_range R>
        requires floating<item_of<R>>
    code operator()(const R &items, std::size_t width, std::span<item_of<R>> result) const noexcept
    {
        const auto all = detail::view(items);
        return code{reduce_floats<item_of<R>, F32, F64>(all.data(), all.size(), width, result.data(), result.size())};
    }
};

template <auto F32, auto F64> struct rows_into_function {
    template <item_range R>
        requires floating<item_of<R>>
    void operator()(const R &items, std::size_t width, std::span<item_of<R>> result) const
    {
        check(static_cast<treefold_status>(try_rows_into_function<F32, F64>{}(items, width, result)));
    }
};

template <auto F32, auto F64> struct rows_function {
    template <item_range R>
        requires floating<item_of<R>>
    [[nodiscard]] std::vector<item_of<R>> operator()(const R &items, std::size_t width) const
    {
        std::vector<item_of<R>> result(width);
        rows_into_function<F32, F64>{}(items, width, result);
        return result;
    }
};

// Items with keys to a number for each key.
template <auto F32, auto F64> struct try_by_key_into_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    code operator()(const K &keys, const X &items, std::span<item_of<X>> result) const noexcept
    {
        const auto k = detail::view(keys);
        const auto x = detail::view(items);
        return code{reduce_floats<item_of<X>, F32, F64>(type_of<item_of<K>>, k.data(), k.size(), x.data(), x.size(), result.data(),
                                                        result.size())};
    }
};

template <auto F32, auto F64> struct by_key_into_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    void operator()(const K &keys, const X &items, std::span<item_of<X>> result) const
    {
        check(static_cast<treefold_status>(try_by_key_into_function<F32, F64>{}(keys, items, result)));
    }
};

template <auto F32, auto F64> struct by_key_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    [[nodiscard]] std::vector<item_of<X>> operator()(const K &keys, const X &items, std::size_t groups) const
    {
        std::vector<item_of<X>> result(groups);
        by_key_into_function<F32, F64>{}(keys, items, result);
        return result;
    }
};

// The same, less degrees of freedom.
template <auto F32, auto F64> struct try_spread_by_key_into_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    code operator()(const K &keys, const X &items, double ddof, std::span<item_of<X>> result) const noexcept
    {
        const auto k = detail::view(keys);
        const auto x = detail::view(items);
        return code{reduce_floats<item_of<X>, F32, F64>(type_of<item_of<K>>, k.data(), k.size(), x.data(), x.size(), ddof,
                                                        result.data(), result.size())};
    }
};

template <auto F32, auto F64> struct spread_by_key_into_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    void operator()(const K &keys, const X &items, double ddof, std::span<item_of<X>> result) const
    {
        check(static_cast<treefold_status>(try_spread_by_key_into_function<F32, F64>{}(keys, items, ddof, result)));
    }
};

template <auto F32, auto F64> struct spread_by_key_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    [[nodiscard]] std::vector<item_of<X>> operator()(const K &keys, const X &items, std::size_t groups, double ddof) const
    {
        std::vector<item_of<X>> result(groups);
        spread_by_key_into_function<F32, F64>{}(keys, items, ddof, result);
        return result;
    }
};

// Two ranges with keys to a number for each key.
template <auto F32, auto F64> struct try_pairs_by_key_into_function {
    template <item_range K, item_range X, item_range Y>
        requires integer<item_of<K>> && floating<item_of<X>> && std::same_as<item_of<X>, item_of<Y>>
    code operator()(const K &keys, const X &x, const Y &y, std::span<item_of<X>> result) const noexcept
    {
        const auto k = detail::view(keys);
        const auto left = detail::view(x);
        const auto right = detail::view(y);
        return code{reduce_floats<item_of<X>, F32, F64>(type_of<item_of<K>>, k.data(), k.size(), left.data(), left.size(), right.data(),
                                                        right.size(), result.data(), result.size())};
    }
};

template <auto F32, auto F64> struct pairs_by_key_into_function {
    template <item_range K, item_range X, item_range Y>
        requires integer<item_of<K>> && floating<item_of<X>> && std::same_as<item_of<X>, item_of<Y>>
    void operator()(const K &keys, const X &x, const Y &y, std::span<item_of<X>> result) const
    {
        check(static_cast<treefold_status>(try_pairs_by_key_into_function<F32, F64>{}(keys, x, y, result)));
    }
};

template <auto F32, auto F64> struct pairs_by_key_function {
    template <item_range K, item_range X, item_range Y>
        requires integer<item_of<K>> && floating<item_of<X>> && std::same_as<item_of<X>, item_of<Y>>
    [[nodiscard]] std::vector<item_of<X>> operator()(const K &keys, const X &x, const Y &y, std::size_t groups) const
    {
        std::vector<item_of<X>> result(groups);
        pairs_by_key_into_function<F32, F64>{}(keys, x, y, result);
        return result;
    }
};

// Rows with keys to a row for each key.
template <auto F32, auto F64> struct try_rows_by_key_into_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    code operator()(const K &keys, const X &items, std::size_t width, std::span<item_of<X>> result) const noexcept
    {
        const auto k = detail::view(keys);
        const auto x = detail::view(items);
        return code{reduce_floats<item_of<X>, F32, F64>(type_of<item_of<K>>, k.data(), k.size(), x.data(), x.size(), width,
                                                        result.data(), result.size())};
    }
};

template <auto F32, auto F64> struct rows_by_key_into_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    void operator()(const K &keys, const X &items, std::size_t width, std::span<item_of<X>> result) const
    {
        check(static_cast<treefold_status>(try_rows_by_key_into_function<F32, F64>{}(keys, items, width, result)));
    }
};

template <auto F32, auto F64> struct rows_by_key_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && floating<item_of<X>>
    [[nodiscard]] std::vector<item_of<X>> operator()(const K &keys, const X &items, std::size_t width, std::size_t groups) const
    {
        std::vector<item_of<X>> result(width * groups);
        rows_by_key_into_function<F32, F64>{}(keys, items, width, result);
        return result;
    }
};

// Integers with keys to a sum for each key.
template <class T> struct total {
    using type = T;
};

template <integer T> struct total<T> {
    using type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
};

template <class T> using total_of = typename total<T>::type;

struct try_integer_sum_by_key_into_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && integer<item_of<X>>
    code operator()(const K &keys, const X &items, std::span<total_of<item_of<X>>> result) const noexcept
    {
        const auto k = detail::view(keys);
        const auto x = detail::view(items);
        return code{treefold_exact_integer_sum_by_key(type_of<item_of<K>>, k.data(), k.size(), type_of<item_of<X>>, x.data(), x.size(),
                                                      result.data(), result.size())};
    }
};

struct integer_sum_by_key_into_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && integer<item_of<X>>
    void operator()(const K &keys, const X &items, std::span<total_of<item_of<X>>> result) const
    {
        check(static_cast<treefold_status>(try_integer_sum_by_key_into_function{}(keys, items, result)));
    }
};

struct integer_sum_by_key_function {
    template <item_range K, item_range X>
        requires integer<item_of<K>> && integer<item_of<X>>
    [[nodiscard]] std::vector<total_of<item_of<X>>> operator()(const K &keys, const X &items, std::size_t groups) const
    {
        std::vector<total_of<item_of<X>>> result(groups);
        integer_sum_by_key_into_function{}(keys, items, result);
        return result;
    }
};

// Items to a number for each window.
template <auto F32, auto F64> struct try_windows_into_function {
    template <item_range X>
        requires floating<item_of<X>>
    code operator()(const X &items, std::size_t window, std::size_t least_items, std::span<item_of<X>> result) const noexcept
    {
        const auto x = detail::view(items);
        return code{reduce_floats<item_of<X>, F32, F64>(x.data(), x.size(), window, least_items, result.data(), result.size())};
    }
};

template <auto F32, auto F64> struct windows_into_function {
    template <item_range X>
        requires floating<item_of<X>>
    void operator()(const X &items, std::size_t window, std::size_t least_items, std::span<item_of<X>> result) const
    {
        check(static_cast<treefold_status>(try_windows_into_function<F32, F64>{}(items, window, least_items, result)));
    }
};

template <auto F32, auto F64> struct windows_function {
    template <item_range X>
        requires floating<item_of<X>>
    [[nodiscard]] std::vector<item_of<X>> operator()(const X &items, std::size_t window, std::size_t least_items) const
    {
        std::vector<item_of<X>> result(std::ranges::size(items));
        windows_into_function<F32, F64>{}(items, window, least_items, result);
        return result;
    }

    template <item_range X>
        requires floating<item_of<X>>
    [[nodiscard]] std::vector<item_of<X>> operator()(const X &items, std::size_t window) const
    {
        return (*this)(items, window, window);
    }
};

// The same for windows by an index.
template <auto F32, auto F64> struct try_ranges_into_function {
    template <item_range I, item_range X>
        requires(integer<item_of<I>> || floating<item_of<I>>) && floating<item_of<X>>
    code operator()(const I &index, const X &items, item_of<I> width, std::size_t least_items, std::span<item_of<X>> result) const noexcept
    {
        const auto i = detail::view(index);
        const auto x = detail::view(items);
        return code{reduce_floats<item_of<X>, F32, F64>(type_of<item_of<I>>, i.data(), i.size(), x.data(), x.size(),
                                                        std::addressof(width), least_items, result.data(), result.size())};
    }
};

template <auto F32, auto F64> struct ranges_into_function {
    template <item_range I, item_range X>
        requires(integer<item_of<I>> || floating<item_of<I>>) && floating<item_of<X>>
    void operator()(const I &index, const X &items, item_of<I> width, std::size_t least_items, std::span<item_of<X>> result) const
    {
        check(static_cast<treefold_status>(try_ranges_into_function<F32, F64>{}(index, items, width, least_items, result)));
    }
};

template <auto F32, auto F64> struct ranges_function {
    template <item_range I, item_range X>
        requires(integer<item_of<I>> || floating<item_of<I>>) && floating<item_of<X>>
    [[nodiscard]] std::vector<item_of<X>> operator()(const I &index, const X &items, item_of<I> width, std::size_t least_items = 1) const
    {
        std::vector<item_of<X>> result(std::ranges::size(items));
        ranges_into_function<F32, F64>{}(index, items, width, least_items, result);
        return result;
    }
};

template <by By> struct fold_function {
    template <item_range R, treefold_op Op>
        requires reducible<item_of<R>, Op>
    [[nodiscard]] item_of<R> operator()(const R &items, builtin<Op>) const
    {
        return reduce_function<By, Op>{}(items);
    }

    template <item_range R, callers_operator F> [[nodiscard]] item_of<R> operator()(const R &items, const F &op) const
    {
        return run(detail::view(items), op, static_cast<const item_of<R> *>(nullptr));
    }

    template <item_range R, callers_operator F>
    [[nodiscard]] item_of<R> operator()(const R &items, const F &op, const item_of<R> &empty) const
    {
        return run(detail::view(items), op, std::addressof(empty));
    }

private:
    template <class T, class F> static T run(std::span<const T> items, const F &op, const T *empty)
    {
        guarded<T, F> function{op};
        slot<T> result;
        const auto status = detail::fold_user<By>(items, function, empty, std::addressof(result.value));
        if (const auto thrown = function.thrown.take())
            std::rethrow_exception(thrown);
        check(status);
        return result.value;
    }
};

template <by By> struct try_fold_function {
    template <item_range R, treefold_op Op>
        requires reducible<item_of<R>, Op>
    code operator()(const R &items, builtin<Op>, item_of<R> &result) const noexcept
    {
        return try_reduce_function<By, Op>{}(items, result);
    }

    template <item_range R, callers_operator F> code operator()(const R &items, const F &op, item_of<R> &result) const noexcept
    {
        return run(detail::view(items), op, static_cast<const item_of<R> *>(nullptr), result);
    }

    template <item_range R, callers_operator F>
    code operator()(const R &items, const F &op, const item_of<R> &empty, item_of<R> &result) const noexcept
    {
        return run(detail::view(items), op, std::addressof(empty), result);
    }

private:
    template <class T, class F> static code run(std::span<const T> items, const F &op, const T *empty, T &result) noexcept
    {
        guarded<T, F> function{op};
        return code{detail::fold_user<By>(items, function, empty, std::addressof(result))};
    }
};

template <by By> struct fold_rows_function {
    template <item_range R, treefold_op Op>
        requires reducible<item_of<R>, Op>
    [[nodiscard]] std::vector<item_of<R>> operator()(const R &items, std::size_t width, builtin<Op>) const
    {
        std::vector<item_of<R>> result(width);
        check(detail::fold_rows<By, Op>(detail::view(items), width, std::span(result)));
        return result;
    }
};

template <by By> struct fold_rows_into_function {
    template <item_range R, treefold_op Op>
        requires reducible<item_of<R>, Op>
    void operator()(const R &items, std::size_t width, builtin<Op>, std::span<item_of<R>> result) const
    {
        check(detail::fold_rows<By, Op>(detail::view(items), width, result));
    }
};

template <by By> struct try_fold_rows_into_function {
    template <item_range R, treefold_op Op>
        requires reducible<item_of<R>, Op>
    code operator()(const R &items, std::size_t width, builtin<Op>, std::span<item_of<R>> result) const noexcept
    {
        return code{detail::fold_rows<By, Op>(detail::view(items), width, result)};
    }
};

template <by By> struct sum_rows_function {
    template <item_range R>
        requires number<item_of<R>>
    [[nodiscard]] std::vector<item_of<R>> operator()(const R &items, std::size_t width) const
    {
        return fold_rows_function<By>{}(items, width, ops::sum);
    }
};

template <by By> struct sum_rows_into_function {
    template <item_range R>
        requires number<item_of<R>>
    void operator()(const R &items, std::size_t width, std::span<item_of<R>> result) const
    {
        fold_rows_into_function<By>{}(items, width, ops::sum, result);
    }
};

template <by By> struct try_sum_rows_into_function {
    template <item_range R>
        requires number<item_of<R>>
    code operator()(const R &items, std::size_t width, std::span<item_of<R>> result) const noexcept
    {
        return try_fold_rows_into_function<By>{}(items, width, ops::sum, result);
    }
};

template <by By> struct fields_function {
    template <item_fields F, treefold_op Op>
        requires reducible<field_item<F>, Op>
    [[nodiscard]] std::vector<field_item<F>> operator()(const F &fields, builtin<Op>) const
    {
        std::vector<field_item<F>> result(static_cast<std::size_t>(std::ranges::distance(fields)));
        into(field_list<field_item<F>>(fields), builtin<Op>{}, std::span(result));
        return result;
    }

protected:
    template <class T, treefold_op Op> static void into(const field_list<T> &list, builtin<Op>, std::span<T> result)
    {
        if (!list.is_even)
            throw error(code::length, -1, "the fields do not have the same number of items");
        if (list.addresses.size() != result.size())
            throw error(code::length, -1, "the result does not have one item for each field");
        check(list.template reduce<By, Op>(result));
    }
};

template <by By> struct fields_into_function : private fields_function<By> {
    template <item_fields F, treefold_op Op>
        requires reducible<field_item<F>, Op>
    void operator()(const F &fields, builtin<Op>, std::span<field_item<F>> result) const
    {
        this->into(field_list<field_item<F>>(fields), builtin<Op>{}, result);
    }
};

template <by By> struct try_fields_into_function {
    template <item_fields F, treefold_op Op>
        requires reducible<field_item<F>, Op>
    code operator()(const F &fields, builtin<Op>, std::span<field_item<F>> result) const noexcept
    try {
        const field_list<field_item<F>> list(fields);
        if (!list.is_even || list.addresses.size() != result.size())
            return code::length;
        return code{list.template reduce<By, Op>(result)};
    } catch (const std::bad_alloc &) {
        return code::memory;
    }
};

} // namespace detail

// ---- One process -------------------------------------------------------------------------------------------------------------------

// <table: functions of one thread>
inline constexpr detail::reduce_function<detail::by::caller, TREEFOLD_SUM> sum{};
inline constexpr detail::reduce_function<detail::by::caller, TREEFOLD_PRODUCT> product{};
inline constexpr detail::reduce_function<detail::by::caller, TREEFOLD_MIN> min{};
inline constexpr detail::reduce_function<detail::by::caller, TREEFOLD_MAX> max{};
inline constexpr detail::lanes_function<&treefold_sum_lanes_f32, &treefold_sum_lanes_f64> sum_lanes{};
inline constexpr detail::arrays_function<&treefold_dot_f32, &treefold_dot_f64> dot{};
inline constexpr detail::array_function<&treefold_squared_norm_f32, &treefold_squared_norm_f64> squared_norm{};
inline constexpr detail::numbers_function<&treefold_sum_and_absolute_sum_f32, &treefold_sum_and_absolute_sum_f64> sum_and_absolute_sum{};
inline constexpr detail::array_function<&treefold_exact_sum_f32, &treefold_exact_sum_f64> exact_sum{};
inline constexpr detail::arrays_function<&treefold_exact_dot_f32, &treefold_exact_dot_f64> exact_dot{};
inline constexpr detail::array_function<&treefold_exact_norm_f32, &treefold_exact_norm_f64> exact_norm{};
inline constexpr detail::rows_function<&treefold_exact_sum_rows_f32, &treefold_exact_sum_rows_f64> exact_sum_rows{};
inline constexpr detail::rows_into_function<&treefold_exact_sum_rows_f32, &treefold_exact_sum_rows_f64> exact_sum_rows_into{};
inline constexpr detail::by_key_function<&treefold_exact_sum_by_key_f32, &treefold_exact_sum_by_key_f64> exact_sum_by_key{};
inline constexpr detail::by_key_into_function<&treefold_exact_sum_by_key_f32, &treefold_exact_sum_by_key_f64> exact_sum_by_key_into{};
inline constexpr detail::by_key_function<&treefold_exact_mean_by_key_f32, &treefold_exact_mean_by_key_f64> exact_mean_by_key{};
inline constexpr detail::by_key_into_function<&treefold_exact_mean_by_key_f32, &treefold_exact_mean_by_key_f64> exact_mean_by_key_into{};
inline constexpr detail::by_key_function<&treefold_exact_min_by_key_f32, &treefold_exact_min_by_key_f64> exact_min_by_key{};
inline constexpr detail::by_key_into_function<&treefold_exact_min_by_key_f32, &treefold_exact_min_by_key_f64> exact_min_by_key_into{};
inline constexpr detail::by_key_function<&treefold_exact_max_by_key_f32, &treefold_exact_max_by_key_f64> exact_max_by_key{};
inline constexpr detail::by_key_into_function<&treefold_exact_max_by_key_f32, &treefold_exact_max_by_key_f64> exact_max_by_key_into{};
inline constexpr detail::spread_by_key_function<&treefold_exact_variance_by_key_f32, &treefold_exact_variance_by_key_f64>
    exact_variance_by_key{};
inline constexpr detail::spread_by_key_into_function<&treefold_exact_variance_by_key_f32, &treefold_exact_variance_by_key_f64>
    exact_variance_by_key_into{};
inline constexpr detail::spread_by_key_function<&treefold_exact_standard_deviation_by_key_f32, &treefold_exact_standard_deviation_by_key_f64>
    exact_standard_deviation_by_key{};
inline constexpr detail::spread_by_key_into_function<&treefold_exact_standard_deviation_by_key_f32, &treefold_exact_standard_deviation_by_key_f64>
    exact_standard_deviation_by_key_into{};
inline constexpr detail::pairs_by_key_function<&treefold_exact_dot_by_key_f32, &treefold_exact_dot_by_key_f64> exact_dot_by_key{};
inline constexpr detail::pairs_by_key_into_function<&treefold_exact_dot_by_key_f32, &treefold_exact_dot_by_key_f64> exact_dot_by_key_into{};
inline constexpr detail::pairs_by_key_function<&treefold_exact_weighted_mean_by_key_f32, &treefold_exact_weighted_mean_by_key_f64>
    exact_weighted_mean_by_key{};
inline constexpr detail::pairs_by_key_into_function<&treefold_exact_weighted_mean_by_key_f32, &treefold_exact_weighted_mean_by_key_f64>
    exact_weighted_mean_by_key_into{};
inline constexpr detail::rows_by_key_function<&treefold_exact_sum_rows_by_key_f32, &treefold_exact_sum_rows_by_key_f64>
    exact_sum_rows_by_key{};
inline constexpr detail::rows_by_key_into_function<&treefold_exact_sum_rows_by_key_f32, &treefold_exact_sum_rows_by_key_f64>
    exact_sum_rows_by_key_into{};
inline constexpr detail::windows_function<&treefold_exact_rolling_sum_f32, &treefold_exact_rolling_sum_f64> exact_rolling_sum{};
inline constexpr detail::windows_into_function<&treefold_exact_rolling_sum_f32, &treefold_exact_rolling_sum_f64> exact_rolling_sum_into{};
inline constexpr detail::windows_function<&treefold_exact_rolling_mean_f32, &treefold_exact_rolling_mean_f64> exact_rolling_mean{};
inline constexpr detail::windows_into_function<&treefold_exact_rolling_mean_f32, &treefold_exact_rolling_mean_f64>
    exact_rolling_mean_into{};
inline constexpr detail::ranges_function<&treefold_exact_rolling_sum_by_range_f32, &treefold_exact_rolling_sum_by_range_f64>
    exact_rolling_sum_by_range{};
inline constexpr detail::ranges_into_function<&treefold_exact_rolling_sum_by_range_f32, &treefold_exact_rolling_sum_by_range_f64>
    exact_rolling_sum_by_range_into{};
inline constexpr detail::ranges_function<&treefold_exact_rolling_mean_by_range_f32, &treefold_exact_rolling_mean_by_range_f64>
    exact_rolling_mean_by_range{};
inline constexpr detail::ranges_into_function<&treefold_exact_rolling_mean_by_range_f32, &treefold_exact_rolling_mean_by_range_f64>
    exact_rolling_mean_by_range_into{};

inline constexpr detail::try_reduce_function<detail::by::caller, TREEFOLD_SUM> try_sum{};
inline constexpr detail::try_reduce_function<detail::by::caller, TREEFOLD_PRODUCT> try_product{};
inline constexpr detail::try_reduce_function<detail::by::caller, TREEFOLD_MIN> try_min{};
inline constexpr detail::try_reduce_function<detail::by::caller, TREEFOLD_MAX> try_max{};
inline constexpr detail::try_lanes_function<&treefold_sum_lanes_f32, &treefold_sum_lanes_f64> try_sum_lanes{};
inline constexpr detail::try_arrays_function<&treefold_dot_f32, &treefold_dot_f64> try_dot{};
inline constexpr detail::try_array_function<&treefold_squared_norm_f32, &treefold_squared_norm_f64> try_squared_norm{};
inline constexpr detail::try_numbers_function<&treefold_sum_and_absolute_sum_f32, &treefold_sum_and_absolute_sum_f64>
    try_sum_and_absolute_sum{};
inline constexpr detail::try_array_function<&treefold_exact_sum_f32, &treefold_exact_sum_f64> try_exact_sum{};
inline constexpr detail::try_arrays_function<&treefold_exact_dot_f32, &treefold_exact_dot_f64> try_exact_dot{};
inline constexpr detail::try_array_function<&treefold_exact_norm_f32, &treefold_exact_norm_f64> try_exact_norm{};
inline constexpr detail::try_rows_into_function<&treefold_exact_sum_rows_f32, &treefold_exact_sum_rows_f64> try_exact_sum_rows_into{};
inline constexpr detail::try_by_key_into_function<&treefold_exact_sum_by_key_f32, &treefold_exact_sum_by_key_f64>
    try_exact_sum_by_key_into{};
inline constexpr detail::try_by_key_into_function<&treefold_exact_mean_by_key_f32, &treefold_exact_mean_by_key_f64>
    try_exact_mean_by_key_into{};
inline constexpr detail::try_by_key_into_function<&treefold_exact_min_by_key_f32, &treefold_exact_min_by_key_f64>
    try_exact_min_by_key_into{};
inline constexpr detail::try_by_key_into_function<&treefold_exact_max_by_key_f32, &treefold_exact_max_by_key_f64>
    try_exact_max_by_key_into{};
inline constexpr detail::try_spread_by_key_into_function<&treefold_exact_variance_by_key_f32, &treefold_exact_variance_by_key_f64>
    try_exact_variance_by_key_into{};
inline constexpr detail::try_spread_by_key_into_function<&treefold_exact_standard_deviation_by_key_f32, &treefold_exact_standard_deviation_by_key_f64>
    try_exact_standard_deviation_by_key_into{};
inline constexpr detail::try_pairs_by_key_into_function<&treefold_exact_dot_by_key_f32, &treefold_exact_dot_by_key_f64>
    try_exact_dot_by_key_into{};
inline constexpr detail::try_pairs_by_key_into_function<&treefold_exact_weighted_mean_by_key_f32, &treefold_exact_weighted_mean_by_key_f64>
    try_exact_weighted_mean_by_key_into{};
inline constexpr detail::try_rows_by_key_into_function<&treefold_exact_sum_rows_by_key_f32, &treefold_exact_sum_rows_by_key_f64>
    try_exact_sum_rows_by_key_into{};
inline constexpr detail::try_windows_into_function<&treefold_exact_rolling_sum_f32, &treefold_exact_rolling_sum_f64>
    try_exact_rolling_sum_into{};
inline constexpr detail::try_windows_into_function<&treefold_exact_rolling_mean_f32, &treefold_exact_rolling_mean_f64>
    try_exact_rolling_mean_into{};
inline constexpr detail::try_ranges_into_function<&treefold_exact_rolling_sum_by_range_f32, &treefold_exact_rolling_sum_by_range_f64>
    try_exact_rolling_sum_by_range_into{};
inline constexpr detail::try_ranges_into_function<&treefold_exact_rolling_mean_by_range_f32, &treefold_exact_rolling_mean_by_range_f64>
    try_exact_rolling_mean_by_range_into{};
// </table>

inline constexpr detail::integer_sum_by_key_function exact_integer_sum_by_key{};
inline constexpr detail::integer_sum_by_key_into_function exact_integer_sum_by_key_into{};
inline constexpr detail::try_integer_sum_by_key_into_function try_exact_integer_sum_by_key_into{};

inline constexpr detail::fold_function<detail::by::caller> fold{};
inline constexpr detail::sum_rows_function<detail::by::caller> sum_rows{};
inline constexpr detail::sum_rows_into_function<detail::by::caller> sum_rows_into{};
inline constexpr detail::fold_rows_function<detail::by::caller> fold_rows{};
inline constexpr detail::fold_rows_into_function<detail::by::caller> fold_rows_into{};
inline constexpr detail::fields_function<detail::by::caller> fields{};
inline constexpr detail::fields_into_function<detail::by::caller> fields_into{};

inline constexpr detail::try_fold_function<detail::by::caller> try_fold{};
inline constexpr detail::try_sum_rows_into_function<detail::by::caller> try_sum_rows_into{};
inline constexpr detail::try_fold_rows_into_function<detail::by::caller> try_fold_rows_into{};
inline constexpr detail::try_fields_into_function<detail::by::caller> try_fields_into{};

// ---- ISO C++'s P4016 ---------------------------------------------------------------------------------------------------------------

namespace detail {

// Rows of lanes, by a binary counter. The last row may be shorter.
template <std::size_t L, class T, class F> class lane_rows {
public:
    explicit lane_rows(F &op) : op_(op) {}

    // Adds the next row; all but the last have L values.
    void push(std::vector<T> row)
    {
        for (auto carries = std::countr_one(count_++); carries > 0; --carries)
            row = joined(std::move(row));
        waiting_.push_back(std::move(row));
    }

    // The reduction of the lanes' values. There are rows.
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

    // The last row that waits, combined with one on its right. Lanes that the right one lacks stay.
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

// The canonical reduction of ISO C++'s P4016: op(init, r), where r is the reduction of [first, last) in L lanes; init if there are no
// items. Items become a T first. Sums of arrays of float and double are the library's, and throw what sum_lanes throws.
template <std::size_t L, std::input_iterator I, std::sentinel_for<I> S, class T, class F = std::plus<>>
    requires std::convertible_to<std::iter_reference_t<I>, T> && std::convertible_to<std::invoke_result_t<F &, T, T>, T>
[[nodiscard]] T canonical_reduce(I first, S last, T init, F op = {})
{
    static_assert(1 <= L && L <= std::size_t{1} << 20, "treefold: there are 1 to 2^20 lanes");
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

// ---- One process, the caller's threads ---------------------------------------------------------------------------------------------

namespace detail {

// Subtrees of the items, reduced one by one. Not all threads are as fast: there are more parts than threads.
template <treefold_op Op, class T> class subtrees {
public:
    explicit subtrees(std::span<const T> items)
        : items_(items), length_(std::max(std::bit_ceil(items.size()) / most, least)), roots_((items.size() + length_ - 1) / length_),
          begun_(roots_.size())
    {
    }

    [[nodiscard]] std::size_t size() const noexcept { return roots_.size(); }

    void reduce(std::size_t part) noexcept
    {
        try {
            if (part >= size() || begun_[part].exchange(true))
                throw error(code::argument, -1, "`run`: there is no part " + std::to_string(part) + " of " + std::to_string(size()) + " left");
            const auto first = part * length_;
            const auto own = items_.subspan(first, std::min(length_, items_.size() - first));
            check(detail::reduce<by::caller, Op>(own, &roots_[part]));
            ++done_;
        } catch (...) {
            thrown_.keep();
        }
    }

    T value()
    {
        if (const auto thrown = thrown_.take())
            std::rethrow_exception(thrown);
        if (done_ != size())
            throw error(code::argument, -1, "`run` has done " + std::to_string(done_) + " of " + std::to_string(size()) + " parts");
        T result;
        check(detail::reduce<by::caller, Op>(std::span<const T>(roots_), &result));
        return result;
    }

private:
    static constexpr std::size_t most = 256, least = 4096;

    std::span<const T> items_;
    std::size_t length_;
    std::vector<T> roots_;
    std::vector<std::atomic<bool>> begun_;
    std::atomic<std::size_t> done_ = 0;
    first_exception thrown_{};
};

} // namespace detail

// The reduction of items by threads of the caller's, with the bits of fold(items, op): run(parts, part) calls part(i) once for each i
// below parts, in any order and on any threads, and returns when all are done. part(i) throws nothing.
//
//     treefold::fold_on(items, treefold::ops::sum, [](std::size_t parts, const auto &part) {
//     #pragma omp parallel for schedule(dynamic)
//         for (std::size_t i = 0; i < parts; ++i)
//             part(i);
//     });
template <item_range R, treefold_op Op, class Run>
    requires reducible<item_of<R>, Op>
[[nodiscard]] item_of<R> fold_on(const R &items, builtin<Op>, Run &&run)
{
    detail::subtrees<Op, item_of<R>> subtrees(detail::view(items));
    if (subtrees.size() <= 1)
        return detail::reduce_function<detail::by::caller, Op>{}(items);
    const auto part = [&subtrees](std::size_t number) noexcept { subtrees.reduce(number); };
    std::invoke(run, subtrees.size(), part);
    return subtrees.value();
}

// ---- One process, all threads ------------------------------------------------------------------------------------------------------

// An operator of the caller's is called by several threads at once here.
namespace par {

// <table: functions of all threads>
inline constexpr detail::reduce_function<detail::by::pool, TREEFOLD_SUM> sum{};
inline constexpr detail::reduce_function<detail::by::pool, TREEFOLD_PRODUCT> product{};
inline constexpr detail::reduce_function<detail::by::pool, TREEFOLD_MIN> min{};
inline constexpr detail::reduce_function<detail::by::pool, TREEFOLD_MAX> max{};
inline constexpr detail::lanes_function<&treefold_par_sum_lanes_f32, &treefold_par_sum_lanes_f64> sum_lanes{};
inline constexpr detail::arrays_function<&treefold_par_dot_f32, &treefold_par_dot_f64> dot{};
inline constexpr detail::array_function<&treefold_par_squared_norm_f32, &treefold_par_squared_norm_f64> squared_norm{};
inline constexpr detail::numbers_function<&treefold_par_sum_and_absolute_sum_f32, &treefold_par_sum_and_absolute_sum_f64>
    sum_and_absolute_sum{};
inline constexpr detail::array_function<&treefold_par_exact_sum_f32, &treefold_par_exact_sum_f64> exact_sum{};
inline constexpr detail::arrays_function<&treefold_par_exact_dot_f32, &treefold_par_exact_dot_f64> exact_dot{};
inline constexpr detail::array_function<&treefold_par_exact_norm_f32, &treefold_par_exact_norm_f64> exact_norm{};
inline constexpr detail::by_key_function<&treefold_par_exact_sum_by_key_f32, &treefold_par_exact_sum_by_key_f64> exact_sum_by_key{};
inline constexpr detail::by_key_into_function<&treefold_par_exact_sum_by_key_f32, &treefold_par_exact_sum_by_key_f64>
    exact_sum_by_key_into{};

inline constexpr detail::try_reduce_function<detail::by::pool, TREEFOLD_SUM> try_sum{};
inline constexpr detail::try_reduce_function<detail::by::pool, TREEFOLD_PRODUCT> try_product{};
inline constexpr detail::try_reduce_function<detail::by::pool, TREEFOLD_MIN> try_min{};
inline constexpr detail::try_reduce_function<detail::by::pool, TREEFOLD_MAX> try_max{};
inline constexpr detail::try_lanes_function<&treefold_par_sum_lanes_f32, &treefold_par_sum_lanes_f64> try_sum_lanes{};
inline constexpr detail::try_arrays_function<&treefold_par_dot_f32, &treefold_par_dot_f64> try_dot{};
inline constexpr detail::try_array_function<&treefold_par_squared_norm_f32, &treefold_par_squared_norm_f64> try_squared_norm{};
inline constexpr detail::try_numbers_function<&treefold_par_sum_and_absolute_sum_f32, &treefold_par_sum_and_absolute_sum_f64>
    try_sum_and_absolute_sum{};
inline constexpr detail::try_array_function<&treefold_par_exact_sum_f32, &treefold_par_exact_sum_f64> try_exact_sum{};
inline constexpr detail::try_arrays_function<&treefold_par_exact_dot_f32, &treefold_par_exact_dot_f64> try_exact_dot{};
inline constexpr detail::try_array_function<&treefold_par_exact_norm_f32, &treefold_par_exact_norm_f64> try_exact_norm{};
inline constexpr detail::try_by_key_into_function<&treefold_par_exact_sum_by_key_f32, &treefold_par_exact_sum_by_key_f64>
    try_exact_sum_by_key_into{};
// </table>

inline constexpr detail::fold_function<detail::by::pool> fold{};
inline constexpr detail::sum_rows_function<detail::by::pool> sum_rows{};
inline constexpr detail::sum_rows_into_function<detail::by::pool> sum_rows_into{};
inline constexpr detail::fold_rows_function<detail::by::pool> fold_rows{};
inline constexpr detail::fold_rows_into_function<detail::by::pool> fold_rows_into{};
inline constexpr detail::fields_function<detail::by::pool> fields{};
inline constexpr detail::fields_into_function<detail::by::pool> fields_into{};

inline constexpr detail::try_fold_function<detail::by::pool> try_fold{};
inline constexpr detail::try_sum_rows_into_function<detail::by::pool> try_sum_rows_into{};
inline constexpr detail::try_fold_rows_into_function<detail::by::pool> try_fold_rows_into{};
inline constexpr detail::try_fields_into_function<detail::by::pool> try_fields_into{};

} // namespace par

} // namespace treefold

#include <treefold_exact.hpp>

#endif // C++20 with exceptions

#endif
