// Computes sums and variances of prices by shop, and keeps a sum between calls. docs/tutorial-by-key.md shows this program.
#include <cstdio>
#include <vector>

#include <treefold.hpp>

namespace statistic = treefold::statistic;

int main()
{
    const std::vector<int> shop{0, 2, 0, 1, 2, 0};
    const std::vector<double> price{0.1, 1e9, 0.2, 5, 1e9 + 2, 0.3};
    const auto sums = treefold::by_key(statistic::sum, shop, price, 3);
    for (const double sum : sums)
        std::printf("%.17g\n", sum);

    treefold::keyed<double> shops(statistic::variance, 3);
    shops.add(shop, price);
    const auto variances = shops.values(statistic::variance, {.ddof = 1});
    std::printf("variance %.17g\n", variances[2]);

    treefold::accumulator<double> total(statistic::sum);
    total.add(price);
    total.remove(1e9);
    total.remove(1e9 + 2);
    std::printf("the others %.17g\n", total.value(statistic::sum));
}
