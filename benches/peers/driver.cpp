// Times the sums of several libraries (peers, see peer.hpp), called in random order. Usage: `driver ROUNDS LENGTHS PEER.so…`, for example
// `driver 31 460,1602 a.so b.so`. Rank 0 prints a line for each length, state and peer: the length, the state, the peer's index, the bits
// of its sum and, for each round, the nanoseconds of a call on the slowest rank. The two states are the same as in `cargo xtask bench
// reduce`. `warm` means that calls follow each other at once. `cold` means that the caches and branch predictors are full of other work
// before each call; the ranks begin that call at a time on which they agreed earlier.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

[[noreturn]] static void fail(const char *reason) {
    std::fprintf(stderr, "%s\n", reason);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

struct Peer {
    decltype(dlopen("", 0)) library;
    MPI_Comm comm;
    void (*open)(MPI_Comm, int, int);
    void (*fill)(const double *);
    double (*sum)();
    void (*close)();
};

template <typename Function> static void find(void *library, const char *name, Function &function) {
    void *address = dlsym(library, name);
    if (address == nullptr) {
        fail(dlerror());
    }
    std::memcpy(&function, &address, sizeof address);
}

static Peer load(const char *path) {
    Peer peer = {};
    peer.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (peer.library == nullptr) {
        fail(dlerror());
    }
    find(peer.library, "peer_open", peer.open);
    find(peer.library, "peer_fill", peer.fill);
    find(peer.library, "peer_sum", peer.sum);
    find(peer.library, "peer_close", peer.close);
    MPI_Comm_dup(MPI_COMM_WORLD, &peer.comm);
    return peer;
}

using Code = uint64_t (*)(uint64_t);

// A template, so that the compiler generates a separate function for each number.
template <uint64_t NUMBER> __attribute__((noinline)) static uint64_t other_code(uint64_t word) {
    for (int i = 0; i < 2; i++) {
        word = (word << 7 | word >> 57) + NUMBER * 0x01010101;
        if (word & (uint64_t{1} << NUMBER % 60)) {
            word = word * (NUMBER | 1) ^ word >> 11;
        } else {
            word = (word - (NUMBER << 3)) ^ word << 5;
        }
        asm volatile("" : "+r"(word));
        word = (word >> 13 | word << 51) * (0xFF51AFD7ED558CCD ^ NUMBER);
        word ^= word >> 33;
        asm volatile("" : "+r"(word));
        word = (word + NUMBER) * (NUMBER << 1 | 1);
        word ^= word << 17;
    }
    return word;
}

template <size_t... NUMBERS> static std::vector<Code> all_code(std::index_sequence<NUMBERS...>) { return {other_code<NUMBERS>...}; }

// Changes 8 MiB of data, and calls 512 functions.
static void other_work() {
    static std::vector<uint64_t> data(1 << 20, 1);
    static const std::vector<Code> code = all_code(std::make_index_sequence<512>());
    static uint64_t seed = 1;
    for (uint64_t &word : data) {
        word = word * 0x9E3779B97F4A7C15 + seed;
    }
    for (size_t i = 0; i < code.size(); i++) {
        uint64_t word = data[i * 64];
        seed = code[(word >> 32) % code.size()](code[i](seed ^ word));
    }
}

static double slowest(Nanoseconds own) {
    double own_ns = own.count(), slowest_ns;
    MPI_Allreduce(&own_ns, &slowest_ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest_ns;
}

// Measures other_work on the slowest rank, and returns 1.5 times its time.
static Nanoseconds longest_work() {
    other_work();
    auto begin = Clock::now();
    other_work();
    return Nanoseconds(1.5 * slowest(Clock::now() - begin));
}

// Measures the mean time of `calls` calls that follow each other.
static double warm_ns(const Peer &peer, int calls) {
    MPI_Barrier(MPI_COMM_WORLD);
    // This call is not timed, because the caches may still hold the data of an earlier peer.
    peer.sum();
    auto begin = Clock::now();
    for (int i = 0; i < calls; i++) {
        peer.sum();
    }
    return slowest(Clock::now() - begin) / calls;
}

// Measures the time of a single call after other work. The ranks begin the call at the same time, `work` after the barrier.
static double cold_ns(const Peer &peer, Nanoseconds work) {
    MPI_Barrier(MPI_COMM_WORLD);
    auto agreed = Clock::now() + work;
    other_work();
    while (Clock::now() < agreed) {
    }
    auto begin = Clock::now();
    peer.sum();
    return slowest(Clock::now() - begin);
}

// Returns item `number`, which SplitMix64 draws. Like log-likelihoods, the items are negative and mostly small.
static double item(uint64_t number) {
    uint64_t z = (number + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    double uniform = static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
    return -(1 + 99 * uniform * uniform);
}

static void measure(const std::vector<Peer> &peers, int length, int rounds) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    auto begin_of = [&](int rank) { return static_cast<int>(static_cast<int64_t>(length) * rank / size); };
    int begin = begin_of(rank), count = begin_of(rank + 1) - begin;
    std::vector<double> items(count);
    for (int i = 0; i < count; i++) {
        items[i] = item(static_cast<uint64_t>(begin + i));
    }
    std::vector<uint64_t> bits;
    for (const Peer &peer : peers) {
        peer.open(peer.comm, begin, count);
        peer.fill(items.data());
        double sum = peer.sum();
        bits.emplace_back();
        std::memcpy(&bits.back(), &sum, sizeof sum);
    }
    Nanoseconds work = longest_work();
    int calls = std::clamp(1000000 / length, 1, 200);
    std::vector<size_t> order(peers.size());
    std::iota(order.begin(), order.end(), 0);
    std::minstd_rand random(length);
    for (bool is_cold : {false, true}) {
        std::vector<std::vector<double>> samples(peers.size());
        for (int round = 0; round < rounds; round++) {
            // All ranks draw the same order. No peer follows itself, since its previous call leaves code and data in the last-level cache.
            size_t last = order.back();
            do {
                std::shuffle(order.begin(), order.end(), random);
            } while (order.size() > 1 && order.front() == last);
            for (size_t turn : order) {
                const Peer &peer = peers[turn];
                peer.fill(items.data());
                samples[turn].push_back(is_cold ? cold_ns(peer, work) : warm_ns(peer, calls));
            }
        }
        for (size_t i = 0; rank == 0 && i < peers.size(); i++) {
            std::printf("%d %s %zu %016" PRIX64, length, is_cold ? "cold" : "warm", i, bits[i]);
            for (double ns : samples[i]) {
                std::printf(" %.1f", ns);
            }
            std::printf("\n");
        }
    }
    for (const Peer &peer : peers) {
        peer.close();
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc < 4) {
        fail("usage: driver ROUNDS LENGTHS PEER.so...");
    }
    std::vector<Peer> peers;
    for (int i = 3; i < argc; i++) {
        peers.push_back(load(argv[i]));
    }
    std::istringstream lengths(argv[2]);
    for (std::string length; std::getline(lengths, length, ',');) {
        measure(peers, std::stoi(length), std::stoi(argv[1]));
    }
    MPI_Finalize();
    return 0;
}
