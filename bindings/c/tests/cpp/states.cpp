// Exact statistics in C++ that are held between calls, of all items and by key: every statistic that a state is made for, every one that
// it has, and wrong arguments.

#include <array>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"
#include "statistics.hpp"

namespace {

using treefold::accumulator;
using treefold::code;
using treefold::keyed;
using treefold::statistic_of;
namespace statistic = treefold::statistic;

static_assert(!std::copyable<accumulator<double>> && std::movable<accumulator<double>> && std::movable<keyed<float>>);
static_assert(!std::copyable<keyed<float>> && !std::copyable<treefold::hashed<double>>);
static_assert(!std::constructible_from<accumulator<std::complex<double>>, decltype(statistic::norm)>);
static_assert(!std::constructible_from<keyed<int>, decltype(statistic::min), std::size_t>);

// What is held for a statistic, as the table of treefold.h says: statistics of one letter hold the same.
constexpr char holding(treefold_statistic of, bool is_by_key, bool is_integer)
{
    constexpr char letters[] = "msmmmeeddwcccckkd"; // moments, sum, extrema, dot, weighted mean, co-moments, powers
    if (is_integer)
        return of <= TREEFOLD_EXACT_MEAN ? 's' : 'm';
    if (of == TREEFOLD_EXACT_NORM)
        return is_by_key ? 'd' : 'n';
    return of == TREEFOLD_EXACT_COUNT ? 'm' : letters[of];
}

// Whether a state that is made for a statistic has another one.
constexpr bool has(treefold_statistic made_for, treefold_statistic asked, bool is_by_key, bool is_integer)
{
    const char held = holding(made_for, is_by_key, is_integer);
    const bool is_moment = asked <= TREEFOLD_EXACT_STD;
    switch (held) {
    case 'm':
        return is_moment;
    case 's':
        return asked == TREEFOLD_EXACT_SUM || ((!is_by_key || is_integer) && asked <= TREEFOLD_EXACT_MEAN);
    case 'd':
        return asked == TREEFOLD_EXACT_DOT || asked == TREEFOLD_EXACT_VDOT || (is_by_key && asked == TREEFOLD_EXACT_NORM) ||
               (!is_by_key && (asked == TREEFOLD_EXACT_COUNT || asked == TREEFOLD_EXACT_MEAN));
    case 'n':
        return asked == TREEFOLD_EXACT_NORM || asked == TREEFOLD_EXACT_COUNT;
    case 'k':
        return is_moment || asked == TREEFOLD_EXACT_SKEWNESS || asked == TREEFOLD_EXACT_KURTOSIS;
    case 'c':
        return holding(asked, true, false) == 'c' || asked == TREEFOLD_EXACT_COUNT;
    default:
        return holding(asked, true, false) == held;
    }
}

// Calls a function with the keys, if there are some, and the arrays that a state takes.
template <treefold_statistic S, bool IsByKey, class T, class Call> void with(const items<T> &of, const Call &call)
{
    if constexpr (!IsByKey)
        with_arrays<S>(of, call);
    else if constexpr (S == TREEFOLD_EXACT_NORM)
        call(of.keys, of.x, of.x);
    else
        with_arrays<S>(of, [&](const auto &...arrays) { call(of.keys, arrays...); });
}

// What every state does alike, one of all items or by key.
template <bool IsByKey, class T, treefold_statistic S, class State> void walk(statistic_of<S> made_for, State &state, State &other)
{
    const auto all = draw<T>(600), more = draw<T>(700);
    const auto add = [](State &to, const items<T> &of) {
        with<S, IsByKey>(of, [&](const auto &...arrays) { to.add(arrays...); });
    };
    const auto remove = [](State &from, const items<T> &of) {
        with<S, IsByKey>(of, [&](const auto &...arrays) { from.remove(arrays...); });
    };
    const State empty = state.clone();
    add(state, all);
    const State kept = state.clone();
    CHECK(kept == state && state != empty);
    constexpr bool is_removable = !(S == TREEFOLD_EXACT_MIN || S == TREEFOLD_EXACT_MAX);
    if (is_removable) {
        add(state, more);
        remove(state, more);
        CHECK(state == kept);
        state.merge(kept);
        state.merge(state);
        for (int i = 0; i < 3; ++i)
            state.unmerge(kept);
        CHECK(state == kept);
        add(other, all.reversed());
        CHECK(other == kept);
        other.unmerge(other);
        CHECK(other == empty);
    } else {
        CHECK(thrown([&] { remove(state, all); }) == code::unsupported);
        CHECK(thrown([&] { state.unmerge(kept); }) == code::unsupported);
        state.merge(kept);
    }
    if constexpr (requires { State::of_bytes(made_for, kept.bytes()); }) {
        auto bytes = kept.bytes();
        const auto read = State::of_bytes(made_for, bytes);
        CHECK(read == kept && read.bytes() == bytes);
        bytes.pop_back();
        CHECK(thrown("`bytes`", [&] { return State::of_bytes(made_for, bytes); }) == code::length);
        bytes[0] ^= std::byte{1};
        CHECK(thrown("`bytes`", [&] { return State::of_bytes(made_for, bytes); }) == code::argument);
    }
    // A pair that lacks one is an error that changes nothing.
    if constexpr (treefold::of_pairs<S>) {
        auto torn = all;
        torn.y.pop_back();
        CHECK(thrown("`x` has 600 elements, but `y` has 599", [&] { add(state, torn); }) == code::length && state == kept);
    }
    other.clear();
    CHECK(other == empty);
    State moved = std::move(other);
    CHECK(moved == empty && other.handle() == nullptr && thrown([&] { other.clear(); }) == code::null);
    other = std::move(moved);

    // Every statistic, that it has and that it has not.
    for_statistics([&]<treefold_statistic Asked>(statistic_of<Asked> asked) {
        constexpr bool is_shape = Asked == TREEFOLD_EXACT_SKEWNESS || Asked == TREEFOLD_EXACT_KURTOSIS;
        for (const double ddof : {0.0, 1.0}) {
            const treefold::options given{.ddof = ddof};
            if constexpr (IsByKey && treefold::has_statistic_by_key<T, Asked>) {
                const auto values = treefold::try_([&] { return state.values(asked, given); });
                CHECK(values.code() == (has(S, Asked, true, treefold::integer<T>) ? code::ok : code::unsupported));
                std::vector<treefold::result_of<T, Asked>> result(groups), few(groups - 1);
                if (values.code() != code::ok)
                    continue;
                state.values_into(asked, result, given);
                CHECK(same_bits(result, state.values(asked, given)));
                for (std::size_t key = 0; key < groups; ++key) {
                    auto own = all.of_key(key);
                    if (S == TREEFOLD_EXACT_NORM)
                        own.y = own.x;
                    // A norm is the root of the sum of the products that there are.
                    CHECK(is_near(result[key], Asked == TREEFOLD_EXACT_NORM ? std::sqrt(expected<TREEFOLD_EXACT_DOT>(own, 0))
                                                                             : expected<Asked>(own, ddof)));
                }
                CHECK(thrown([&] { state.values_into(asked, few, given); }) == code::length);
            } else if constexpr (!IsByKey && treefold::has_statistic<T, Asked>) {
                auto value = treefold::try_([&] { return state.value(asked, given); });
                CHECK(value.code() == (has(S, Asked, false, false) ? code::ok : code::unsupported));
                if (!value)
                    continue;
                const auto of_products = static_cast<long double>(expected<TREEFOLD_EXACT_DOT>(all, 0)) / 600;
                CHECK(is_near(*value, treefold::of_pairs<S> && Asked == TREEFOLD_EXACT_MEAN ? of_products : expected<Asked>(all, ddof)));
            }
        }
        if constexpr (is_shape && IsByKey && treefold::floating<T>) {
            if (has(S, Asked, true, false))
                CHECK(thrown("ddof", [&] { return state.values(asked, {.ddof = 2}); }) == code::argument);
        }
    });
}

template <class T, treefold_statistic S> void of_all_items(statistic_of<S> made_for)
{
    const bool is_held = S <= TREEFOLD_EXACT_STD || S == TREEFOLD_EXACT_NORM || S == TREEFOLD_EXACT_DOT || S == TREEFOLD_EXACT_VDOT;
    const auto made = treefold::try_([&] { return accumulator<T>(made_for); });
    CHECK(made.code() == (is_held ? code::ok : code::unsupported));
    if (is_held) {
        accumulator<T> state(made_for), other(made_for);
        walk<false, T>(made_for, state, other);
    }
}

template <class T, treefold_statistic S> void by_key(statistic_of<S> made_for)
{
    keyed<T> state(made_for, groups), other(made_for, groups);
    CHECK(state.groups() == groups && state.width() == 1);
    walk<true, T>(made_for, state, other);
    CHECK(thrown([&] { keyed<T>(made_for, 3).merge(state); }) == code::length);
    auto bad = draw<T>(4);
    bad.keys[3] = static_cast<int>(groups);
    const auto add = [&](const auto &...arrays) { state.add(arrays...); };
    CHECK(thrown("item 3 has key 7, and keys are 0 to 6", [&] { with<S, true>(bad, add); }) == code::argument);
    bad.keys.pop_back();
    CHECK(thrown([&] { with<S, true>(bad, add); }) == code::length);
}

template <class T> void one_by_one()
{
    using limits = std::numeric_limits<T>;
    const auto x = some_items<T>(0, 10'000);
    accumulator<T> total(statistic::sum), other(statistic::sum);
    total.add(x);
    total.add(limits::infinity());
    total.add(limits::max());
    total.remove(limits::infinity());
    total.remove(std::array{limits::max()});
    for (auto item = x.rbegin(); item != x.rend(); ++item)
        other.add(*item);
    CHECK(total == other && total.bytes() == other.bytes() && total.value(statistic::sum) == treefold::exact_sum(x));
    CHECK(thrown("10001", [&] { total.remove(some_items<T>(0, 10'001)); }) == code::argument);
    CHECK(thrown("infinit", [&] { total.remove(limits::infinity()); }) == code::argument && total == other);
    const accumulator<T> moments(statistic::mean);
    CHECK(thrown([&] { total.merge(moments); }) == code::argument && total == other);
    CHECK(thrown([&] { total.add(x, x); }) == code::unsupported);
    CHECK(thrown([&] { accumulator<T>(statistic::dot).add(x); }) == code::unsupported);
}

template <class T> void complex_numbers()
{
    using complex = std::complex<T>;
    const std::array<complex, 2> x{complex{1, 2}, complex{100, 7}}, y{complex{3, 4}, complex{-5, 50}};
    accumulator<complex> sum(statistic::sum), dot(statistic::dot), vdot(statistic::vdot), moments(statistic::variance);
    sum.add(x);
    dot.add(x, y);
    vdot.add(x, y);
    sum.remove(x[1]);
    dot.remove(std::array{x[1]}, std::array{y[1]});
    vdot.remove(std::array{x[1]}, std::array{y[1]});
    CHECK(sum.value(statistic::sum) == x[0] && dot.value(statistic::count) == 1);
    CHECK((dot.value(statistic::dot) == complex{-5, 10}) && (vdot.value(statistic::vdot) == complex{11, -2}));
    moments.add(std::array<complex, 2>{complex{1, 1}, complex{2, 3}});
    CHECK(moments.value(statistic::variance) == T{1.25} && (moments.value(statistic::mean) == complex{T{1.5}, 2}));
    CHECK(accumulator<complex>::of_bytes(statistic::vdot, vdot.bytes()) == vdot);
}

template <class T> void rows()
{
    const auto all = draw<T>(1500), more = draw<T>(3000);
    keyed<T> sums(statistic::variance, groups, 2);
    CHECK(sums.width() == 2 && sums.groups() == groups);
    sums.add(all.keys, more.x);
    sums.add(all.keys, more.y);
    sums.remove(all.keys, more.y);
    for (const double ddof : {0.0, 1.0}) {
        const auto expected = treefold::by_key_rows(statistic::variance, all.keys, more.x, 2, groups, {.ddof = ddof});
        CHECK(same_bits(sums.values(statistic::variance, {.ddof = ddof}), expected) && expected.size() == 2 * groups);
    }
    const auto again = sums.clone();
    CHECK(again.width() == 2 && again == sums);
    CHECK(thrown([&] { sums.add(more.keys, more.x); }) == code::length);
    CHECK(thrown("`width`", [] { keyed<T>(statistic::sum, 3, 0); }) == code::argument);
    std::vector<T> short_row(3);
    CHECK(thrown([&] { sums.values_into(statistic::mean, std::span<T>(short_row)); }) == code::length);
}

template <class T, class K> void any_keys()
{
    const auto x = some_items<T>(0, 4000);
    std::map<K, std::vector<T>> alone;
    std::vector<K> keys, few(96);
    for (std::size_t i = 0; i < x.size(); ++i) {
        keys.push_back(static_cast<K>(i % 97 * 0x9E3779B97F4A7C15U));
        alone[keys.back()].push_back(x[i]);
    }
    treefold::hashed<T, K> sums, other;
    sums.add(keys, x);
    sums.add(keys, x);
    sums.remove(keys, x);
    other.add(keys, x);
    CHECK(sums == other && sums == other.clone() && sums.groups() == 97);
    const auto found = sums.keys();
    const auto values = sums.values(statistic::sum);
    std::size_t place = 0;
    for (const auto &[key, items] : alone) {
        CHECK(found[place] == key && values[place] == treefold::exact_sum(items));
        ++place;
    }
    other.merge(sums);
    CHECK(other.keys() == found && other.values(statistic::sum)[0] == 2 * values[0] && sums != other);
    other.unmerge(sums);
    CHECK(sums == other);
    CHECK(thrown([&] { sums.keys_into(std::span<K>(few)); }) == code::length);
    CHECK(thrown([&] { return sums.values(statistic::variance); }) == code::unsupported);
    CHECK(thrown([&] { sums.remove(std::array<K, 1>{5}, std::array<T, 1>{1}); }) == code::argument && sums == other);
    sums.clear();
    CHECK(sums.groups() == 0 && sums.keys().empty());
    keyed<T> of_small(statistic::sum, 3);
    std::vector<std::int64_t> none(3);
    CHECK(treefold_keyed_keys(of_small.handle(), none.data(), 3) == TREEFOLD_UNSUPPORTED);
}

} // namespace

int main()
{
    for_statistics([]<treefold_statistic S>(statistic_of<S> of) {
        for_types<float, double, std::int8_t, std::uint16_t, std::int32_t, std::uint64_t>([of]<class T>() {
            if constexpr (treefold::floating<T>)
                of_all_items<T>(of);
            if constexpr (treefold::has_statistic_by_key<T, S>)
                by_key<T>(of);
        });
    });
    for_types<float, double>([]<class T>() {
        one_by_one<T>();
        complex_numbers<T>();
        rows<T>();
        any_keys<T, std::int64_t>();
        any_keys<T, std::uint64_t>();
    });
    std::printf("states of treefold.hpp: %d checks failed\n", failures);
    return failures == 0 ? 0 : 1;
}
