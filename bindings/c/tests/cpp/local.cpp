// Tests the functions of treefold.hpp that reduce in tree order, with one thread and with several, and with wrong arguments. The bits of
// the results must be those of the C functions; for user-defined operators, those that docs/order.md defines.

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <list>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"

namespace {

using treefold::code;

// The numbers of items to test: none, a few, and enough for several threads.
const std::size_t counts[] = {0, 1, 2, 17, 4097, 300'000};

// ---- Operators

template <class T, treefold_op Op, class Reduce> void walk_operator(treefold::builtin<Op> op, const Reduce &reduce)
{
    const auto is = [](auto made, code status, const auto &right) {
        return made.code() == status && (!made || same_bits(*made, right));
    };
    for (const std::size_t count : counts) {
        const auto x = some_items<T>(0, count);
        T right{};
        const code status{treefold_fold(type_of<T>, Op, x.data(), count, &right)};
        CHECK(is(treefold::try_(reduce, x), status, right) && is(treefold::try_(treefold::fold, x, op), status, right));
    }
    const std::size_t width = 3;
    for (const std::size_t rows : {0U, 1U, 17U}) {
        const auto x = some_items<T>(0, rows * width);
        const auto columns = columns_of(x, width);
        std::vector<T> right(width), row(width), field(width);
        const code status{treefold_fold_rows(type_of<T>, Op, x.data(), x.size(), width, right.data(), width)};
        CHECK(is(treefold::try_(treefold::fold_rows, x, width, op), status, right));
        CHECK(is(treefold::try_(treefold::fields, columns, op), status, right));
        CHECK(thrown([&] { treefold::fold_rows_into(x, width, op, row); }) == status && same_bits(row, right));
        CHECK(thrown([&] { treefold::fields_into(columns, op, field); }) == status && same_bits(field, right));
        if constexpr (Op == TREEFOLD_SUM)
            CHECK(same_bits(treefold::sum_rows(x, width), right));
    }
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
    CHECK(treefold::fields(std::vector<std::vector<double>>{}, sum).empty());
}

// ---- Ranges

void ranges()
{
    double array[4] = {0.1, 0.2, 0.3, 0.4};
    const double right = (0.1 + 0.2) + (0.3 + 0.4);
    const std::vector<double> vector(array, array + 4);
    const std::array standard{0.1, 0.2, 0.3, 0.4};
    for (const double sum : {treefold::sum(array), treefold::sum(vector), treefold::sum(standard), treefold::sum(std::span(array)),
                             treefold::sum(std::span<const double>(array))})
        CHECK(same_bits(sum, right));
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
        const auto x = some_items<T>(0, count), y = some_items<T>(count, 2 * count), longer = some_items<T>(0, count + 1);
        T dot = 0, square = 0, sum = 0, absolute_sum = 0, in_lanes = 0;
        CHECK(treefold_dot(type_of<T>, x.data(), count, y.data(), count, &dot) == TREEFOLD_OK);
        CHECK(treefold_dot(type_of<T>, x.data(), count, x.data(), count, &square) == TREEFOLD_OK);
        CHECK(treefold_sum_and_absolute_sum(type_of<T>, x.data(), count, &sum, &absolute_sum) == TREEFOLD_OK);
        CHECK(same_bits(treefold::dot(x, y), dot) && same_bits(treefold::squared_norm(x), square));
        const auto both = treefold::sum_and_absolute_sum(x);
        CHECK(same_bits(both.sum, sum) && same_bits(both.absolute_sum, absolute_sum));
        CHECK(treefold::try_(treefold::dot, x, longer).code() == code::length);
        for (const std::size_t lanes : {1U, 3U, 1U << 20}) {
            CHECK(treefold_sum_lanes(type_of<T>, x.data(), count, lanes, &in_lanes) == TREEFOLD_OK);
            CHECK(same_bits(treefold::sum_lanes(x, lanes), in_lanes));
        }
        for (const std::size_t lanes : {0U, (1U << 20) + 1})
            CHECK(treefold::try_(treefold::sum_lanes, x, lanes).code() == code::argument);
    }
}

template <std::size_t L> void canonical_reduce_in()
{
    const auto plus = [](double left, double right) { return left + right; };
    for (const std::size_t count : {0U, 1U, 15U, 17U, 4097U}) {
        const auto x = some_items<double>(0, count);
        const std::list<float> floats(x.begin(), x.end());
        const std::vector<double> widened(floats.begin(), floats.end());
        const double sum = count == 0 ? 0.1 : 0.1 + tree_in_lanes(x, L, plus);
        CHECK(same_bits(treefold::canonical_reduce<L>(x.begin(), x.end(), 0.1), sum));
        CHECK(same_bits(treefold::canonical_reduce<L>(x.data(), x.data() + count, 0.1, std::plus<double>{}), sum));
        // The library does not know this operator. The iterators of `floats` are not contiguous, and its items are converted to the type
        // of the initial value.
        CHECK(same_bits(treefold::canonical_reduce<L>(x.begin(), x.end(), 0.1, plus), sum));
        const auto wide = treefold::canonical_reduce<L>(floats.begin(), floats.end(), 0.5);
        CHECK(same_bits(wide, count == 0 ? 0.5 : 0.5 + tree_in_lanes(widened, L, plus)));
        // `join` is not commutative: the operands must stay in order.
        std::vector<std::string> letters;
        for (std::size_t i = 0; i < count; ++i)
            letters.push_back(std::to_string(i));
        const auto join = [](const std::string &left, const std::string &right) { return "(" + left + " " + right + ")"; };
        const auto expected = count == 0 ? "init" : join("init", tree_in_lanes(letters, L, join));
        CHECK(treefold::canonical_reduce<L>(letters.begin(), letters.end(), std::string("init"), join) == expected);
    }
}

// ---- User-defined operators

// A type that has no default constructor, and whose alignment is greater than the library guarantees.
struct alignas(64) broad {
    double value;
    explicit broad(double given) : value(given) {}

    // The sanitizer would report this access if the items had not been copied to aligned memory.
    [[nodiscard]] broad joined(const broad &other) const { return broad(value - other.value / 3); }
};

struct padded {
    double value;
    std::int32_t count;
};

void operators()
{
    const auto x = some_items<double>(0, 1001);
    const auto difference = [](double left, double right) { return left - right; };
    CHECK(same_bits(treefold::fold(x, difference), tree(x, difference)));
    CHECK(same_bits(treefold::fold(x, [](const double &l, const double &r) -> const double & { return r < l ? r : l; }), treefold::min(x)));

    // An operator is not copied, so it may hold anything that threads can share.
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
    const padded joined = treefold::fold(with_padding, join);
    CHECK(same_bits(joined.value, tree(x, difference)) && joined.count == 1001);

    // Without items, fold throws an error or returns the given value.
    const std::vector<double> none;
    CHECK(thrown([&] { return treefold::fold(none, difference); }) == code::empty);
    CHECK(treefold::fold(none, difference, 7.0) == 7.0);

    // An operator may call a reduction.
    const auto nested = [](double left, double right) { return treefold::sum(std::array{left, right}); };
    CHECK(same_bits(treefold::fold(x, nested), treefold::sum(x)));
}

void exceptions()
{
    const auto x = some_items<double>(0, 200'000);
    // Many threads throw exceptions of their own. One of the exceptions reaches the caller, also if the caller uses try_.
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> thrown_count = 0;
        const auto failing = [&thrown_count](double, double) -> double { throw ++thrown_count; };
        try {
            static_cast<void>(round % 2 == 0 ? treefold::fold(x, failing) : *treefold::try_(treefold::fold, x, failing));
            CHECK(false);
        } catch (int number) {
            CHECK(number >= 1 && number <= thrown_count);
        }
    }

    // If an operator throws treefold::error, the caller receives that error, as with any other exception.
    const auto empty = [](double, double) { return treefold::min(std::vector<double>{}); };
    CHECK(thrown([&] { return treefold::fold(x, empty); }) == code::empty);

    // The exceptions do not affect later reductions.
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
    CHECK(made.code() == code::mpi && made.rank() == 3 && std::string(static_cast<const std::runtime_error &>(made).what()) == "text");

    const std::array three{1.0, 2.0, 3.0}, one{1.0, 2.0, 4.0};
    auto good = treefold::try_(treefold::dot, three, one);
    CHECK(good && good.code() == code::ok && *good == 17 && good.value() == 17);
    auto bad = treefold::try_(treefold::dot, three, std::array{1.0});
    CHECK(!bad && bad.code() == code::length && bad.error().rank() == -1);
    CHECK(std::string(bad.error().what()) == treefold_last_error());
    CHECK(thrown([&] { return *bad; }) == code::length);
    CHECK(treefold::try_([] { throw std::bad_alloc(); }).code() == code::memory);
    CHECK(treefold::try_(treefold::threads, 1).code() == code::ok);

    const std::span<const double> nowhere(static_cast<const double *>(nullptr), 2);
    CHECK(thrown([&] { return treefold::sum(nowhere); }) == code::null);
    std::fesetround(FE_UPWARD);
    const auto upward = thrown([&] { return treefold::sum(one); });
    std::fesetround(FE_TONEAREST);
    CHECK(upward == code::environment && treefold::sum(std::array{1.0, 2.0}) == 3.0);
}

// Tests that several threads can call functions at the same time, each with its own exceptions and its own thread count.
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
    std::vector<std::jthread> all(4);
    for (int thread = 0; thread < 4; ++thread)
        all[static_cast<std::size_t>(thread)] = std::jthread([&x, &wrong, right, thread] {
            wrong += treefold::thread_count() != 1;
            treefold::threads(thread);
            for (int round = 0; round < 50; ++round) {
                wrong += !same_bits(treefold::sum(x), right);
                try {
                    static_cast<void>(treefold::fold(x, [thread](double, double) -> double { throw thread; }));
                    ++wrong;
                } catch (int thrown) {
                    wrong += thrown != thread;
                }
            }
        });
    all.clear();
    CHECK(wrong == 0);
}

} // namespace

int main()
{
    for (const int count : {1, 3}) {
        const treefold::thread_scope scope(count);
        for_types<float, double, std::complex<float>, std::complex<double>, std::int8_t, std::int16_t, std::int32_t, long, long long,
                  std::uint8_t, std::uint16_t, std::uint32_t, unsigned long, unsigned long long>([]<class T>() {
            walk_operator<T>(treefold::ops::sum, treefold::sum);
            walk_operator<T>(treefold::ops::product, treefold::product);
            if constexpr (!treefold::complex_number<T>) {
                walk_operator<T>(treefold::ops::min, treefold::min);
                walk_operator<T>(treefold::ops::max, treefold::max);
            }
        });
        for_types<float, double>([]<class T>() { leaves_and_lanes<T>(); });
        wrong_rows_and_fields();
        operators();
        exceptions();
    }
    canonical_reduce_in<1>();
    canonical_reduce_in<3>();
    canonical_reduce_in<16>();
    ranges();
    errors();
    threads();
    std::printf("treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
