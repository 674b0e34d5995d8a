// The sum of 1/i for i = 1 to 1000, and a reduction by an operator of one's own.
//
//     g++ -std=c++20 first_sum.cpp $(pkg-config --cflags --libs treefold) -o first_sum

#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <treefold.hpp>

// Mean and variance of some numbers: how many, their mean, and the sum of squared deviations from it.
struct moments {
    double count, mean, squares;
};

int main()
{
    std::vector<double> x;
    std::vector<moments> single;
    for (int i = 1; i <= 1000; ++i) {
        x.push_back(1.0 / i);
        single.push_back({1.0, 1.0 / i, 0.0});
    }

    const double total = treefold::sum(x);
    std::printf("sum       %.17g, bits %016" PRIX64 "\n", total, std::bit_cast<std::uint64_t>(total));

    const auto join = [](const moments &left, const moments &right) {
        const double count = left.count + right.count;
        const double delta = right.mean - left.mean;
        const double mean = left.mean + delta * (right.count / count);
        const double squares = (left.squares + right.squares) + delta * delta * (left.count * right.count / count);
        return moments{count, mean, squares};
    };
    const moments all = treefold::fold(single, join);
    std::printf("mean      %.17g\nvariance  %.17g\n", all.mean, all.squares / (all.count - 1));
}
