// Sums 1/i for i = 1 to 1000, and reduces these items with a user-defined operator. docs/tutorial-c.md shows this program.
#include <cmath>
#include <cstdio>
#include <vector>

#include <treefold.hpp>

int main()
{
    std::vector<double> x;
    for (int i = 1; i <= 1000; ++i)
        x.push_back(1.0 / i);
    std::printf("sum   %.17g\n", treefold::sum(x));

    // An operator of your own takes two items and returns one.
    const auto hypotenuse = [](double left, double right) {
        return std::sqrt(left * left + right * right);
    };
    std::printf("norm  %.17g\n", treefold::fold(x, hypotenuse));
}
