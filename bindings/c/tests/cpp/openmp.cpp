// Reductions by threads of OpenMP's, where there are some, and else of this program's: treefold::fold_on, and treefold::par in a parallel
// region.
#include <atomic>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <treefold.hpp>

#include "check.hpp"

namespace {

#ifdef _OPENMP
const char *const threads_of = "OpenMP";
#else
const char *const threads_of = "this program, as there is no OpenMP";
#endif

// Calls part(i) for all i below parts, by several threads.
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

// Numbers of wildly different size.
template <class T> std::vector<T> numbers(std::size_t count)
{
    std::uint64_t state = count + 1;
    std::vector<T> items;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        items.push_back(static_cast<T>(static_cast<double>(state >> 11) / static_cast<double>(std::uint64_t{1} << (state >> 59))));
    }
    return items;
}

template <class T> bool same_bits(const T &one, const T &other)
{
    return std::memcmp(&one, &other, sizeof(T)) == 0;
}

template <class T> void on_callers_threads()
{
    for (const std::size_t count : {0U, 1U, 4095U, 4096U, 4097U, 8192U, 100'000U, 1'000'003U, (1U << 21) + 5U}) {
        const auto x = numbers<T>(count);
        const auto run = [](std::size_t parts, const auto &part) { on_threads(parts, part); };
        CHECK(same_bits(treefold::fold_on(x, treefold::ops::sum, run), treefold::sum(x)));
        if (count > 0)
            CHECK(same_bits(treefold::fold_on(x, treefold::ops::max, run), treefold::max(x)));
        // Backwards, and by one thread.
        const auto backwards = [](std::size_t parts, const auto &part) {
            for (std::size_t i = parts; i > 0; --i)
                part(i - 1);
        };
        CHECK(same_bits(treefold::fold_on(x, treefold::ops::product, backwards), treefold::product(x)));
    }
}

template <class Run> std::string refused(const Run &run)
{
    try {
        static_cast<void>(treefold::fold_on(std::vector<double>(20'000, 1.0), treefold::ops::sum, run));
        return "nothing";
    } catch (const treefold::error &error) {
        CHECK(error.code() == treefold::code::argument);
        return error.what();
    }
}

void wrong_runs()
{
    CHECK(refused([](std::size_t, const auto &) {}) == "`run` has done 0 of 5 parts");
    CHECK(refused([](std::size_t parts, const auto &part) {
              for (std::size_t i = 1; i < parts; ++i)
                  part(i);
          }) == "`run` has done 4 of 5 parts");
    CHECK(refused([](std::size_t parts, const auto &part) {
              for (std::size_t i = 0; i <= parts; ++i)
                  part(i);
          }) == "`run`: there is no part 5 of 5 left");
    CHECK(refused([](std::size_t, const auto &part) {
              part(2);
              part(2);
          }) == "`run`: there is no part 2 of 5 left");
    bool is_mine = false;
    try {
        static_cast<void>(treefold::fold_on(std::vector<double>(20'000, 1.0), treefold::ops::sum, [](std::size_t, const auto &) { throw 7; }));
    } catch (int number) {
        is_mine = number == 7;
    }
    CHECK(is_mine);
}

// Each thread of a parallel region lets the pool work for it.
void pool_in_a_parallel_region()
{
    const auto x = numbers<double>(300'000);
    const auto sum = treefold::sum(x), exact = treefold::exact_sum(x);
    std::atomic<int> right = 0;
    on_threads(12, [&](std::size_t) {
        right += same_bits(treefold::par::sum(x), sum) && same_bits(treefold::par::exact_sum(x), exact);
    });
    CHECK(right == 12);
}

} // namespace

int main()
{
    on_callers_threads<double>();
    on_callers_threads<float>();
    on_callers_threads<std::int64_t>();
    wrong_runs();
    pool_in_a_parallel_region();
    std::printf("fold_on, threads of %s: %d checks failed\n", threads_of, failures);
    return failures == 0 ? 0 : 1;
}
