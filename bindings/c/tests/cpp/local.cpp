// Walks the functions of treefold.hpp in tree order, with right and wrong arguments, and compares bits with the definition in
// docs/order.md: by one thread, and by several.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"

namespace {

using treefold::code;

// Small, at the edges of kernels, and long enough for all threads.
const std::size_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1000, 4097, 300'000};

// ---- Operators

// An operator, the function that it is here, its definition, and the reduction of nothing, if it has one.
template <class T> auto operators_of()
{
    constexpr auto sum = std::tuple(treefold::ops::sum, treefold::sum, &plus<T>, 0);
    constexpr auto product = std::tuple(treefold::ops::product, treefold::product, &times<T>, 1);
    if constexpr (treefold::complex_number<T>)
        return std::tuple(sum, product);
    else
        return std::tuple(sum, product, std::tuple(treefold::ops::min, treefold::min, &lesser<T>, -1),
                          std::tuple(treefold::ops::max, treefold::max, &greater<T>, -1));
}

template <class T, class Op, class Reduce>
void walk_operator(const std::tuple<Op, Reduce, T (*)(const T &, const T &), int> &row)
{
    const auto &[op, reduce, combine, empty] = row;
    for (const std::size_t count : counts) {
        const auto x = some_items<T>(0, count);
        const T expected = tree(x, combine);
        CHECK(same_bits(reduce(x), expected) && same_bits(treefold::fold(x, op), expected));
        CHECK(same_bits(*treefold::try_(reduce, x), expected));
    }
    const std::vector<T> none;
    const auto of_none = treefold::try_(treefold::fold, none, op);
    CHECK(empty < 0 ? of_none.code() == code::empty : static_cast<bool>(of_none));
    CHECK(empty < 0 || same_bits(reduce(none), T(static_cast<float>(empty))));

    for (const std::size_t width : {1U, 2U, 3U, 33U}) {
        for (const std::size_t rows : {0U, 1U, 2U, 17U, 5000U}) {
            const auto x = some_items<T>(0, rows * width);
            const auto columns = columns_of(x, width);
            std::vector<T> expected(width, T(static_cast<float>(empty))), row_of(width), field_of(width);
            for (std::size_t c = 0; c < width && rows > 0; ++c)
                expected[c] = tree(columns[c], combine);
            const auto made = treefold::try_([&] { return treefold::fold_rows(x, width, op); });
            const auto of_fields = treefold::try_([&] { return treefold::fields(columns, op); });
            if (rows == 0 && empty < 0) {
                CHECK(made.code() == code::empty && of_fields.code() == code::empty);
                continue;
            }
            treefold::fold_rows_into(x, width, op, row_of);
            treefold::fields_into(columns, op, field_of);
            CHECK(same_bits(treefold::fold_rows(x, width, op), expected) && same_bits(row_of, expected));
            CHECK(same_bits(treefold::fields(columns, op), expected) && same_bits(field_of, expected));
            if constexpr (std::same_as<Op, treefold::builtin<TREEFOLD_SUM>>)
                CHECK(same_bits(treefold::sum_rows(x, width), expected));
        }
    }
}

template <class T> void special_numbers()
{
    using limits = std::numeric_limits<T>;
    const T nan = -limits::quiet_NaN(), right = limits::quiet_NaN();
    CHECK(same_bits(treefold::sum(std::array{nan}), right) && same_bits(treefold::sum(std::array{T(1), nan, T(2)}), right));
    CHECK(same_bits(treefold::min(std::array{T(1), nan}), right));
    CHECK(same_bits(treefold::min(std::array{T(0), T(-0.0)}), T(-0.0)) && same_bits(treefold::max(std::array{T(-0.0), T(0)}), T(0)));
    CHECK(same_bits(treefold::sum(std::array{T(-0.0), T(-0.0)}), T(-0.0)));
    CHECK(same_bits(treefold::sum(std::array{limits::denorm_min(), T(0)}), limits::denorm_min()));
}

void wrong_rows_and_fields()
{
    const std::vector x = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    std::array<double, 3> three{};
    std::array<double, 2> two{};
    const auto sum = treefold::ops::sum;
    CHECK(thrown([&] { return treefold::sum_rows(x, 4); }) == code::length);
    CHECK(thrown([&] { return treefold::sum_rows(x, 0); }) == code::length);
    CHECK(thrown([&] { treefold::fold_rows_into(x, 3, sum, two); }) == code::length);
    const std::vector<std::vector<double>> uneven = {{1, 2}, {3}};
    CHECK(thrown("same number of items", [&] { return treefold::fields(uneven, sum); }) == code::length);
    const std::array even = {std::span<const double>(x).first(3), std::span<const double>(x).last(3)};
    CHECK(treefold::fields(even, treefold::ops::max) == (std::vector{3.0, 6.0}));
    CHECK(thrown("one item for each field", [&] { treefold::fields_into(even, sum, three); }) == code::length);
    CHECK(std::string(treefold_last_error()) == "the result does not have one item for each field");
    CHECK(treefold::fields(std::vector<std::vector<double>>{}, sum).empty());
}

// ---- Ranges

void ranges()
{
    double array[4] = {0.1, 0.2, 0.3, 0.4};
    const double right = (0.1 + 0.2) + (0.3 + 0.4);
    std::vector<double> vector(array, array + 4);
    const std::array standard{0.1, 0.2, 0.3, 0.4};
    CHECK(same_bits(treefold::sum(array), right) && same_bits(treefold::sum(vector), right));
    CHECK(same_bits(treefold::sum(standard), right) && same_bits(treefold::sum(std::span(array)), right));
    CHECK(same_bits(treefold::sum(std::span<const double>(array)), right));
    CHECK(same_bits(treefold::sum(std::span(vector).subspan(2)), 0.3 + 0.4));
    CHECK(same_bits(treefold::dot(array, standard), treefold::squared_norm(vector)));
}

template <class R> concept can_sum = requires(const R &range) { treefold::sum(range); };
template <class R> concept can_min = requires(const R &range) { treefold::min(range); };
template <class R> concept can_fold_max = requires(const R &range) { treefold::fold(range, treefold::ops::max); };
template <class X, class Y> concept can_dot = requires(const X &x, const Y &y) { treefold::dot(x, y); };

static_assert(can_sum<std::vector<double>> && can_sum<std::span<const std::complex<float>>> && can_sum<std::array<long long, 3>>);
static_assert(!can_sum<std::vector<bool>> && !can_sum<std::vector<char>> && !can_sum<std::vector<long double>>);
static_assert(!can_sum<std::array<bool, 2>> && !can_sum<std::list<double>> && !can_sum<double>);
static_assert(can_min<std::vector<int>> && !can_min<std::vector<std::complex<double>>>);
static_assert(can_fold_max<std::vector<int>> && !can_fold_max<std::vector<std::complex<double>>>);
static_assert(can_dot<std::vector<float>, std::span<float>> && !can_dot<std::vector<float>, std::vector<double>>);
static_assert(!can_dot<std::vector<int>, std::vector<int>>);
static_assert(std::is_nothrow_copy_constructible_v<treefold::error> && !std::copyable<treefold::thread_scope>);

// ---- Computed leaves, and lanes

template <class T> T tree_in_lanes(const std::vector<T> &items, std::size_t lanes, const auto &combine)
{
    std::vector<T> values;
    for (std::size_t lane = 0; lane < std::min(lanes, items.size()); ++lane) {
        std::vector<T> own;
        for (std::size_t i = lane; i < items.size(); i += lanes)
            own.push_back(items[i]);
        values.push_back(tree(std::span<const T>(own), combine));
    }
    return tree(std::span<const T>(values), combine);
}

template <class T> void leaves_and_lanes()
{
    for (const std::size_t count : counts) {
        const auto x = some_items<T>(0, count);
        auto y = some_items<T>(count, 2 * count);
        std::vector<T> products, squares, absolute;
        for (std::size_t i = 0; i < count; ++i) {
            products.push_back(x[i] * y[i]);
            squares.push_back(x[i] * x[i]);
            absolute.push_back(std::abs(x[i]));
        }
        CHECK(same_bits(treefold::dot(x, y), tree(products, plus<T>)));
        CHECK(same_bits(treefold::squared_norm(x), tree(squares, plus<T>)));
        const auto [sum, absolute_sum] = treefold::sum_and_absolute_sum(x);
        CHECK(same_bits(sum, tree(x, plus<T>)) && same_bits(absolute_sum, tree(absolute, plus<T>)));
        y.pop_back();
        CHECK(treefold::try_(treefold::dot, x, y).code() == code::length);

        for (const std::size_t lanes : {1U, 3U, 16U, 64U, 1U << 20})
            CHECK(same_bits(treefold::sum_lanes(x, lanes), tree_in_lanes(x, lanes, plus<T>)));
        for (const std::size_t lanes : {0U, (1U << 20) + 1})
            CHECK(treefold::try_(treefold::sum_lanes, x, lanes).code() == code::argument);
    }
    const std::vector<T> none;
    CHECK(same_bits(treefold::dot(none, none), T(0)) && same_bits(treefold::squared_norm(none), T(0)));
    CHECK(same_bits(treefold::sum_and_absolute_sum(none).absolute_sum, T(0)) && same_bits(treefold::sum_lanes(none, 16), T(0)));
}

template <std::size_t L> void canonical_reduce_in()
{
    for (const std::size_t count : {0U, 1U, 2U, 15U, 16U, 17U, 100U, 1000U, 4097U}) {
        const auto x = some_items<double>(0, count);
        const auto sum = [&](double init) { return count == 0 ? init : init + tree_in_lanes(x, L, plus<double>); };
        CHECK(same_bits(treefold::canonical_reduce<L>(x.begin(), x.end(), 0.1), sum(0.1)));
        CHECK(same_bits(treefold::canonical_reduce<L>(x.data(), x.data() + count, 0.0, std::plus<double>{}), sum(0.0)));
        // By iterators that are no pointers, and by an operator that the library does not know.
        const std::list<double> list(x.begin(), x.end());
        CHECK(same_bits(treefold::canonical_reduce<L>(list.begin(), list.end(), 0.1), sum(0.1)));
        CHECK(same_bits(treefold::canonical_reduce<L>(x.begin(), x.end(), 0.1, plus<double>), sum(0.1)));
        // Operands stay in order, and items become what init is.
        std::vector<std::string> letters;
        for (std::size_t i = 0; i < count; ++i)
            letters.push_back(std::to_string(i));
        const auto join = [](const std::string &left, const std::string &right) { return "(" + left + " " + right + ")"; };
        const auto expected = count == 0 ? "init" : join("init", tree_in_lanes(letters, L, join));
        CHECK(treefold::canonical_reduce<L>(letters.begin(), letters.end(), std::string("init"), join) == expected);
        const std::vector<float> floats(x.begin(), x.end());
        const std::vector<double> widened(floats.begin(), floats.end());
        const auto wide = treefold::canonical_reduce<L>(floats.begin(), floats.end(), 0.5);
        CHECK(same_bits(wide, count == 0 ? 0.5 : 0.5 + tree_in_lanes(widened, L, plus<double>)));
    }
}

// ---- Operators of one's own

// 4 × Words bytes, with a rule that is neither commutative nor associative.
template <std::size_t Words> struct words {
    std::array<std::uint32_t, Words> value;

    static words combine(const words &left, const words &right)
    {
        words result{};
        for (std::size_t i = 0; i < Words; ++i)
            result.value[i] = left.value[i] * 31 + (right.value[i] ^ 0x9E3779B9U) + static_cast<std::uint32_t>(i);
        return result;
    }
};

template <std::size_t Words> void item_size()
{
    using item = words<Words>;
    for (const std::size_t count : {1U, 2U, 3U, 5U, 16U, 100U, 3001U}) {
        std::vector<item> items(count);
        std::uint32_t next = 1;
        for (auto &one : items)
            for (auto &word : one.value)
                word = next = next * 1664525U + 1013904223U;
        const item right = tree(std::span<const item>(items), &item::combine);
        CHECK(same_bits(treefold::fold(items, &item::combine), right));
        CHECK(same_bits(treefold::fold(items, item::combine, item{}), right));
    }
}

// No default constructor, and an alignment beyond what the library promises.
struct alignas(64) broad {
    double value;
    explicit broad(double given) : value(given) {}

    // An access that needs the alignment would fail under the sanitizer if the items had not been copied.
    [[nodiscard]] broad joined(const broad &other) const { return broad(value - other.value / 3); }
};

struct padded {
    double value;
    std::int32_t count;
};

void operators()
{
    [&]<std::size_t... Words>(std::index_sequence<Words...>) {
        (item_size<Words>(), ...);
    }(std::index_sequence<1, 2, 3, 5, 6, 16, 27, 128>());

    const auto x = some_items<double>(0, 1001);
    const auto difference = [](double left, double right) { return left - right; };
    CHECK(same_bits(treefold::fold(x, difference), tree(x, difference)));
    CHECK(same_bits(treefold::fold(x, [](const double &l, const double &r) -> const double & { return r < l ? r : l; }), treefold::min(x)));

    // State is used in place, and may be anything that threads can share.
    std::atomic<int> calls = 0;
    const auto owner = std::make_unique<double>(0.5);
    const auto counting = [&calls, &owner](double left, double right) {
        ++calls;
        return left * *owner - right;
    };
    CHECK(same_bits(treefold::fold(x, counting), tree(x, [](double left, double right) { return left * 0.5 - right; })));
    CHECK(calls == 1000);

    std::vector<broad> broads;
    std::vector<padded> with_padding;
    for (const double value : x) {
        broads.emplace_back(value);
        with_padding.push_back({value, 1});
    }
    CHECK(same_bits(treefold::fold(broads, &broad::joined).value, tree(x, [](double l, double r) { return l - r / 3; })));
    const auto join = [](padded left, padded right) { return padded{left.value - right.value, left.count + right.count}; };
    CHECK(same_bits(treefold::fold(with_padding, join).value, tree(x, difference)));
    CHECK(treefold::fold(with_padding, join).count == 1001);

    // Nothing.
    const std::vector<double> none;
    CHECK(thrown([&] { return treefold::fold(none, difference); }) == code::empty);
    CHECK(treefold::fold(none, difference, 7.0) == 7.0);

    // Reductions within a reduction.
    const auto nested = [](double left, double right) { return treefold::sum(std::array{left, right}); };
    CHECK(same_bits(treefold::fold(x, nested), treefold::sum(x)));
}

void exceptions()
{
    const auto x = some_items<double>(0, 200'000);
    const auto mine = std::make_exception_ptr(std::logic_error("mine"));
    const auto failing = [&mine](double left, double right) {
        if (left > right)
            std::rethrow_exception(mine);
        return left;
    };
    for (int round = 0; round < 20; ++round) {
        bool is_mine = false;
        try {
            // It comes through try_ as well.
            static_cast<void>(round % 2 == 0 ? treefold::fold(x, failing) : *treefold::try_(treefold::fold, x, failing));
        } catch (...) {
            is_mine = std::current_exception() == mine;
        }
        CHECK(is_mine);
    }

    // Many threads throw, each an exception of its own: one arrives, whole.
    std::atomic<int> thrown_count = 0;
    try {
        static_cast<void>(treefold::fold(x, [&thrown_count](double, double) -> double { throw ++thrown_count; }));
        CHECK(false);
    } catch (int number) {
        CHECK(number >= 1 && number <= thrown_count);
    }

    // A failure of treefold's inside an operator is an exception like others.
    const auto empty = [](double, double) { return treefold::min(std::vector<double>{}); };
    CHECK(thrown([&] { return treefold::fold(x, empty); }) == code::empty);

    // And nothing is left of all that.
    CHECK(same_bits(treefold::fold(x, [](double left, double right) { return left + right; }), treefold::sum(x)));
}

// ---- Errors and threads

void errors()
{
    CHECK(std::string(treefold::code_name(code::length)) == "TREEFOLD_LENGTH");
    CHECK(std::string(treefold::code_name(code::operator_failed)) == "TREEFOLD_OPERATOR");
    CHECK(std::string(treefold::code_name(code{-5})) == "unknown");
    CHECK(treefold::version() == TREEFOLD_VERSION);

    const treefold::error made(code::mpi, 3, "text");
    const std::runtime_error &base = made;
    CHECK(made.code() == code::mpi && made.rank() == 3 && std::string(base.what()) == "text");

    const std::array three{1.0, 2.0, 3.0}, one{1.0, 2.0, 4.0};
    auto good = treefold::try_(treefold::dot, three, one);
    CHECK(good && good.code() == code::ok && *good == 17 && good.value() == 17);
    auto bad = treefold::try_(treefold::dot, three, std::array{1.0});
    CHECK(!bad && bad.code() == code::length && bad.error().rank() == -1);
    CHECK(std::string(bad.error().what()) == treefold_last_error());
    CHECK(thrown([&] { return *bad; }) == code::length);
    CHECK(treefold::try_([] { throw std::bad_alloc(); }).code() == code::memory);
    CHECK(treefold::try_(treefold::threads, 1).code() == code::ok);

    // The environment is looked at in every call.
    std::fesetround(FE_UPWARD);
    const auto upward = thrown([&] { return treefold::sum(one); });
    std::fesetround(FE_TONEAREST);
    CHECK(upward == code::environment && treefold::sum(std::array{1.0, 2.0}) == 3.0);
    const std::span<const double> nowhere(static_cast<const double *>(nullptr), 2);
    CHECK(thrown([&] { return treefold::sum(nowhere); }) == code::null);
}

// Several threads at once, each with its own errors and its own setting.
void threads()
{
    CHECK(treefold::thread_count() == 1);
    {
        const treefold::thread_scope scope(3);
        CHECK(treefold::thread_count() == 3);
        CHECK(thrown([] { treefold::thread_scope(-1); }) == code::argument && treefold::thread_count() == 3);
        CHECK(thrown([] { treefold::threads(65536); }) == code::argument);
        treefold::threads(0);
        CHECK(treefold::thread_count() == 0);
    }
    CHECK(treefold::thread_count() == 1);

    const auto x = some_items<double>(0, 50'000);
    const double right = treefold::sum(x);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> all;
    for (int thread = 0; thread < 4; ++thread) {
        all.emplace_back([&x, &wrong, right, thread] {
            wrong += treefold::thread_count() != 1;
            treefold::threads(thread);
            for (int round = 0; round < 50; ++round) {
                wrong += !same_bits(treefold::sum(x), right);
                wrong += !same_bits(treefold::fold(x, [](double l, double r) { return l + r; }), right);
                try {
                    static_cast<void>(treefold::fold(x, [thread](double, double) -> double { throw thread; }));
                    ++wrong;
                } catch (int thrown) {
                    wrong += thrown != thread;
                }
            }
        });
    }
    for (auto &thread : all)
        thread.join();
    CHECK(wrong == 0);
}

} // namespace

int main()
{
    for (const int count : {1, 3}) {
        const treefold::thread_scope scope(count);
        for_types<float, double, std::complex<float>, std::complex<double>, std::int8_t, std::int16_t, std::int32_t, long, long long,
                  std::uint8_t, std::uint16_t, std::uint32_t, unsigned long, unsigned long long>([]<class T>() {
            std::apply([](const auto &...rows) { (walk_operator<T>(rows), ...); }, operators_of<T>());
        });
        for_types<float, double>([]<class T>() {
            special_numbers<T>();
            leaves_and_lanes<T>();
        });
        wrong_rows_and_fields();
        operators();
        exceptions();
    }
    canonical_reduce_in<1>();
    canonical_reduce_in<3>();
    canonical_reduce_in<16>();
    canonical_reduce_in<128>();
    ranges();
    errors();
    threads();
    std::printf("treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
