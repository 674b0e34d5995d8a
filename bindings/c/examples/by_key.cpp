// Prices of three shops: sums by key that are held between calls. docs/tutorial-by-key.md shows this program.
#include <cstdio>
#include <vector>

#include <treefold.hpp>

int main()
{
    const std::vector<int> shop{0, 2, 0, 1, 2, 0};
    const std::vector<double> price{0.1, 1e9, 0.2, 5, 1e9 + 2, 0.3};
    for (const double sum : treefold::exact_sum_by_key(shop, price, 3))
        std::printf("%.17g\n", sum);

    treefold::exact::keyed_moments<double> shops(3);
    shops.add(shop, price);
    std::printf("variance %.17g\n", shops.variances(1)[2]);

    treefold::exact::sum<double> total;
    total.add(price);
    total.remove(1e9);
    total.remove(1e9 + 2);
    std::printf("the others %.17g\n", total.value());
}
