// Tests the states of exact statistics in C++, which are kept between calls: accumulators of all items, and states by key. Creates a state
// for each statistic, computes every statistic that the state has, and passes wrong arguments.

#include <array>
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

// Computes a statistic of a state with the C function, and returns the status of the call.
template <treefold_statistic S, class T> code in_c(const accumulator<T> &state, double ddof, treefold::result_of<T, S> &right)
{
    return code{treefold_accumulator_value(state.handle(), S, ddof, &right)};
}
template <treefold_statistic S, class T> code in_c(const keyed<T> &state, double ddof, std::vector<treefold::result_of<T, S>> &right)
{
    return code{treefold_keyed_values(state.handle(), S, ddof, right.data(), right.size())};
}

// Calls a function with the arrays that a state's `add` takes.
template <treefold_statistic S, bool IsByKey, class T, class Call> void with(const items<T> &of, const Call &call)
{
    if constexpr (IsByKey)
        with_keys<S>(of, call);
    else
        with_arrays<S>(of, call);
}

// Makes the checks that are the same for accumulators and keyed states.
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
    // If `y` is shorter than `x`, the call fails and does not change the state.
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

    // Asks for every statistic, also for those that the state does not have.
    for_statistics([&]<treefold_statistic Asked>(statistic_of<Asked> asked) {
        for (const double ddof : {0.0, 1.0}) {
            const treefold::options given{.ddof = ddof};
            if constexpr (IsByKey && treefold::has_statistic_by_key<T, Asked>) {
                std::vector<treefold::result_of<T, Asked>> right(groups), result(groups), few(groups - 1);
                auto values = treefold::try_([&] { return kept.values(asked, given); });
                CHECK(values.code() == in_c<Asked>(kept, ddof, right));
                CHECK(thrown([&] { kept.values_into(asked, result, given); }) == values.code());
                CHECK(same_bits(result, right) && (!values || same_bits(*values, right)));
                CHECK(!values || thrown([&] { kept.values_into(asked, few, given); }) == code::length);
                if constexpr (Asked == S)
                    CHECK(same_bits(right, of_keys<S>(all, ddof)));
            } else if constexpr (!IsByKey && treefold::has_statistic<T, Asked>) {
                treefold::result_of<T, Asked> right{};
                auto value = treefold::try_([&] { return kept.value(asked, given); });
                CHECK(value.code() == in_c<Asked>(kept, ddof, right) && (!value || same_bits(*value, right)));
                if constexpr (Asked == S)
                    CHECK(same_bits(right, of_all<S>(all, ddof)));
            }
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
    CHECK(thrown("item 3 has key 7; keys must be 0 to 6", [&] { with<S, true>(bad, add); }) == code::argument);
    bad.keys.pop_back();
    CHECK(thrown([&] { with<S, true>(bad, add); }) == code::length);
}

template <class T> void one_by_one()
{
    using limits = std::numeric_limits<T>;
    const auto x = some_items<T>(0, 1000);
    accumulator<T> total(statistic::sum), other(statistic::sum);
    total.add(x);
    total.add(limits::infinity());
    total.remove(limits::infinity());
    for (auto item = x.rbegin(); item != x.rend(); ++item)
        other.add(*item);
    CHECK(total == other && total.bytes() == other.bytes() && total.value(statistic::sum) == treefold::exact_sum(x));
    CHECK(thrown("1001", [&] { total.remove(some_items<T>(0, 1001)); }) == code::argument);
    CHECK(thrown("infinit", [&] { total.remove(limits::infinity()); }) == code::argument && total == other);
    CHECK(thrown([&] { total.merge(accumulator<T>(statistic::mean)); }) == code::argument && total == other);
    CHECK(thrown([&] { total.add(x, x); }) == code::unsupported);
    CHECK(thrown([&] { accumulator<T>(statistic::dot).add(x); }) == code::unsupported);
}

template <class T> void complex_numbers()
{
    using complex = std::complex<T>;
    const items<complex> all{some_items<complex>(0, 100), some_items<complex>(100, 200), {}};
    const auto walk_one = [&]<treefold_statistic S>(statistic_of<S> of) {
        accumulator<complex> state(of);
        with_arrays<S>(all, [&](const auto &...x) { state.add(x...); });
        with_arrays<S>(all, [&](const auto &...x) { state.add(std::array{x[7]}...); });
        with_arrays<S>(all, [&](const auto &...x) { state.remove(std::array{x[7]}...); });
        CHECK(same_bits(state.value(of), of_all<S>(all, 0)));
        CHECK(accumulator<complex>::of_bytes(of, state.bytes()) == state);
    };
    walk_one(statistic::sum);
    walk_one(statistic::dot);
    walk_one(statistic::vdot);
    walk_one(statistic::variance);
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
    items<T> all = draw<T>(4000);
    all.x = some_items<T>(0, 4000);
    const auto right = of_keys<TREEFOLD_EXACT_SUM>(all, 0);
    std::map<K, T> expected;
    std::vector<K> keys, few(groups);
    for (const int key : all.keys) {
        keys.push_back(static_cast<K>(static_cast<unsigned>(key) * 0x9E3779B97F4A7C15U));
        expected[keys.back()] = right[static_cast<std::size_t>(key)];
    }
    treefold::hashed<T, K> sums, other;
    sums.add(keys, all.x);
    sums.add(keys, all.x);
    sums.remove(keys, all.x);
    other.add(keys, all.x);
    CHECK(sums == other && sums == other.clone() && sums.groups() == expected.size());
    const auto found = sums.keys();
    const auto values = sums.values(statistic::sum);
    for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(same_bits(values[i], expected.at(found[i])) && (i == 0 || found[i - 1] < found[i]));
    other.merge(sums);
    CHECK(other.keys() == found && other.values(statistic::sum)[0] == 2 * values[0] && sums != other);
    other.unmerge(sums);
    CHECK(sums == other);
    CHECK(thrown([&] { sums.keys_into(std::span<K>(few)); }) == code::length);
    CHECK(thrown([&] { return sums.values(statistic::variance); }) == code::unsupported);
    CHECK(thrown([&] { sums.remove(std::array<K, 1>{5}, std::array<T, 1>{1}); }) == code::argument && sums == other);
    sums.clear();
    CHECK(sums.groups() == 0 && sums.keys().empty());
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
