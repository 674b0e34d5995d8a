// Sums 1/i for i = 1 to 1000, and composes 1000 maps, with the same bits on any number of ranks.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <treefold_mpi.hpp>

// The map y -> scale * y + shift.
struct affine {
    double scale, shift;
};

// Does the work of this rank. Returns whether the bits of this rank's results are right.
static bool run(const treefold::comm &world)
{
    // This rank's share of the items.
    const int begin = 1000 * world.rank() / world.size();
    const int end = 1000 * (world.rank() + 1) / world.size();
    std::vector<double> x;
    std::vector<affine> maps;
    for (int i = begin + 1; i <= end; ++i) {
        x.push_back(1.0 / i);
        maps.push_back({1.0 - 1.0 / (i + 1), 1.0 / i});
    }

    // The ranks build plans together, once, and run them many times.
    const auto sum = treefold::plan_builder<double>(world)
        .local_items(x.size())
        .build();
    const auto after = [](const affine &left, const affine &right) {
        return affine{left.scale * right.scale,
            right.scale * left.shift + right.shift};
    };
    const auto compose =
        treefold::plan_builder<affine>(world, "affine", after)
            .local_items(maps.size())
            .build();

    // The maps are composed while this rank also sums x.
    auto pending = compose.start_allreduce(maps);
    const double total = sum.allreduce(x);
    const affine all = pending.wait();

    if (world.rank() == 0)
        std::printf("sum  %.17g\nmap  y -> %.17g y + %.17g\n",
            total, all.scale, all.shift);
    return std::bit_cast<std::uint64_t>(total) == 0x401DF11F45F4E619
        && std::bit_cast<std::uint64_t>(all.scale) == 0x3F505E1D27A3EEA5
        && std::bit_cast<std::uint64_t>(all.shift) == 0x3FF01A89B722FE1E;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    bool is_right = false;
    try {
        is_right = run(treefold::comm(MPI_COMM_WORLD));
    } catch (const treefold::error &error) {
        std::fprintf(stderr, "%s: %s\n",
            treefold::code_name(error.code()), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
