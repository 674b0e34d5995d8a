// Tests fold_on, dot_on and, in a parallel region, treefold's thread pool. The threads are OpenMP's; without OpenMP, std::jthread's.
#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"

namespace {

using treefold::code;

#ifdef _OPENMP
const char *const threads_of = "OpenMP";
#else
const char *const threads_of = "this program, as there is no OpenMP";
#endif

// Calls part(i) for each i < parts, on several threads.
template <class Part> void on_threads(std::size_t parts, const Part &part)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(3)
    for (std::size_t i = 0; i < parts; ++i)
        part(i);
#else
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < parts; i = next++)
            part(i);
    };
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread)
        threads.emplace_back(work);
#endif
}

template <class T> void on_callers_threads()
{
    std::atomic<int> calls = 0;
    const auto run = [&calls](std::size_t parts, const auto &part) {
        calls += parts > 1;
        on_threads(parts, part);
    };
    // Calls the parts in descending order, on one thread.
    const auto backwards = [](std::size_t parts, const auto &part) {
        for (std::size_t i = parts; i > 0; --i)
            part(i - 1);
    };
    for (const std::size_t count : {0U, 1U, 4096U, 100'000U, (1U << 21) + 5U}) {
        const auto x = some_items<T>(0, count), y = some_items<T>(count, 2 * count);
        CHECK(same_bits(treefold::fold_on(x, treefold::ops::sum, run), treefold::sum(x)));
        CHECK(same_bits(treefold::fold_on(x, treefold::ops::product, backwards), treefold::product(x)));
        if constexpr (!treefold::complex_number<T>) {
            auto greatest = treefold::try_(treefold::fold_on, x, treefold::ops::max, run);
            CHECK(count == 0 ? greatest.code() == code::empty : same_bits(greatest.value(), treefold::max(x)));
        }
        if constexpr (treefold::floating<T>) {
            CHECK(same_bits(treefold::dot_on(x, y, run), treefold::dot(x, y)));
            CHECK(thrown([&] { return treefold::dot_on(x, std::vector<T>(count + 1), run); }) == code::length);
        }
    }
    CHECK(calls > 0);
}

void wrong_runs()
{
    const std::vector<double> ones(200'000, 1.0);
    const auto both = [&](const auto &run) {
        const auto folded = thrown([&] { return treefold::fold_on(ones, treefold::ops::sum, run); });
        return folded == code::argument && thrown([&] { return treefold::dot_on(ones, ones, run); }) == folded;
    };
    CHECK(both([](std::size_t, const auto &) {}));
    CHECK(both([](std::size_t parts, const auto &part) {
        for (std::size_t i = 1; i < parts; ++i)
            part(i);
    }));
    // An exception that `run` throws reaches the caller.
    int number = 0;
    try {
        static_cast<void>(treefold::fold_on(ones, treefold::ops::sum, [](std::size_t, const auto &) { throw 7; }));
    } catch (int thrown) {
        number = thrown;
    }
    CHECK(number == 7);
}

// Tests that each thread of a parallel region can reduce with several threads of treefold's pool.
void pool_in_a_parallel_region()
{
    const auto x = some_items<double>(0, 300'000);
    const auto sum = treefold::sum(x), exact = treefold::exact_sum(x);
    std::atomic<int> right = 0;
    on_threads(12, [&](std::size_t) {
        const treefold::thread_scope scope(2);
        right += same_bits(treefold::sum(x), sum) && same_bits(treefold::exact_sum(x), exact);
    });
    CHECK(right == 12);
}

} // namespace

int main()
{
    for_types<float, double, std::int64_t, std::complex<float>>([]<class T>() { on_callers_threads<T>(); });
    wrong_runs();
    pool_in_a_parallel_region();
    std::printf("fold_on and dot_on, threads of %s: %d checks failed\n", threads_of, failures);
    return failures == 0 ? 0 : 1;
}
