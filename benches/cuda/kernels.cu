// Times the kernels of treefold's and CUB's sums, without the host code that calls them:
//
//     nvcc -std=c++17 -O3 --fmad=false -arch=native -I crates/cuda/src/kernels benches/cuda/kernels.cu -o /tmp/kernels && /tmp/kernels
//
// A round is five consecutive launches. A printed time is the median over all rounds of the time per launch, by the device's clock.

#include "../../crates/cuda/src/kernels/kernels.cu"

#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr u64 MOST_BLOCKS = 2048;
constexpr int ROUNDS = 25;
constexpr int LAUNCHES = 5;

void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

/// Returns the median time per launch, in microseconds.
template <typename Launch> double timed(Launch launch) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    launch();
    std::vector<float> times;
    for (int round = 0; round < ROUNDS; round++) {
        check(cudaEventRecord(begin));
        for (int i = 0; i < LAUNCHES; i++) {
            launch();
        }
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float milliseconds;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        times.push_back(1000 * milliseconds / LAUNCHES);
    }
    check(cudaGetLastError());
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

__device__ u64 random(u64 i) {
    u64 bits = (i + 1) * 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
}

/// Fills `items` with numbers from -1/2 to 1/2. If `width` is not 0, each is multiplied by a power of two from 2^0 to 2^(width - 1).
template <typename T> __global__ void fill(T *items, u64 length, int width) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < length; i += u64(gridDim.x) * blockDim.x) {
        u64 bits = random(i);
        double number = (bits >> 12) * 0x1p-52 - 0.5;
        items[i] = T(ldexp(number, width ? int(bits % width) : 0));
    }
}

template <typename T> struct Kernels;
template <> struct Kernels<float> {
    static constexpr const char *NAME = "f32";
    static constexpr auto sum_runs = sum_runs_f32;
    static constexpr auto exact_sum = exact_sum_f32;
};
template <> struct Kernels<double> {
    static constexpr const char *NAME = "f64";
    static constexpr auto sum_runs = sum_runs_f64;
    static constexpr auto exact_sum = exact_sum_f64;
};

template <typename T> void compare(int power, int multiprocessors) {
    u64 length = u64(1) << power;
    T *items, *partials, *result;
    u32 *arrived;
    i64 *limbs, *sum;
    void *temporary;
    size_t bytes = 0;
    check(cudaMalloc(&items, length * sizeof(T)));
    check(cudaMalloc(&partials, 1 << 20));
    check(cudaMalloc(&result, sizeof(T)));
    check(cudaMalloc(&arrived, sizeof(u32)));
    check(cudaMalloc(&limbs, 1024));
    check(cudaMalloc(&sum, 1024));
    check(cudaMemset(arrived, 0, sizeof(u32)));
    check(cudaMemset(limbs, 0, 1024));
    check(cub::DeviceReduce::Sum(nullptr, bytes, items, result, length));
    check(cudaMalloc(&temporary, bytes));

    Runs runs{};
    runs.count = 1;
    runs.level = sizeof(T) == 4 ? 13 : 12;
    u64 most = runs.level + 5;
    while ((length >> runs.level) > MOST_BLOCKS && runs.level < most) {
        runs.level++;
    }
    u64 blocks = (length + (u64(1) << runs.level) - 1) >> runs.level;
    runs.near_starts[1] = length;
    runs.near_blocks[1] = blocks;
    int resident;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, Kernels<T>::exact_sum, THREADS, 0));
    u64 exact_blocks = std::min((length + 4095) / 4096, u64(resident) * multiprocessors);
    auto exact = [&] { Kernels<T>::exact_sum<<<exact_blocks, THREADS>>>(items, length, limbs, arrived, sum); };

    // Numbers of a wide range are summed last, so that this does not affect the clock and the cache in the other measurements.
    fill<<<1024, 256>>>(items, length, 0);
    double cub = timed([&] { cub::DeviceReduce::Sum(temporary, bytes, items, result, length); });
    double tree = timed([&] { Kernels<T>::sum_runs<<<blocks, THREADS>>>(items, runs, partials, arrived, result); });
    double exactly = timed(exact);
    fill<<<1024, 256>>>(items, length, sizeof(T) == 4 ? 120 : 900);
    double wide = timed(exact);
    std::printf("| %s | 2^%d | %.1f | %.1f | %.2f | %.0f | %.1f | %.2f | %.1f |\n", Kernels<T>::NAME, power, cub, tree, tree / cub,
                length * sizeof(T) / tree / 1000, exactly, exactly / cub, wide);
    std::fflush(stdout);
    for (void *memory : {(void *)items, (void *)partials, (void *)result, (void *)arrived, (void *)limbs, (void *)sum, temporary}) {
        check(cudaFree(memory));
    }
}

int main() {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s, CUB %d.%d.%d\n\n", properties.name, CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    std::printf("| type | items | CUB, µs | tree, µs | ratio | GB/s | exact, µs | ratio | exact, wide range, µs |\n");
    std::printf("|---|---|---|---|---|---|---|---|---|\n");
    int multiprocessors = properties.multiProcessorCount;
    for (int power : {10, 16, 20, 22, 24, 26, 28, 30}) {
        compare<float>(power, multiprocessors);
    }
    for (int power : {10, 16, 20, 22, 24, 26, 28, 30}) {
        compare<double>(power, multiprocessors);
    }
}
