"""Writes testthat/cases.csv: statistics of some items, from fractions and integer square roots, each rounded once. Numbers are hexadecimal.

    python3 tests/cases.py > tests/testthat/cases.csv
"""
import math
import random
from fractions import Fraction


def rounded(value):
    """The nearest double."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def root(square, sign=1):
    """The double nearest to the square root of a fraction."""
    places = 2400
    number = (square.numerator << 2 * places) // square.denominator
    below = math.isqrt(number)
    is_exact = below * below * square.denominator == square.numerator << 2 * places
    return sign * rounded(Fraction(2 * below + (not is_exact), 2 << places))


def about(x, power):
    """The sum of the powers of the differences from the mean."""
    mean = sum(x) / len(x)
    return sum((item - mean) ** power for item in x)


def products(x, y):
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))


def sign(value):
    return (value > 0) - (value < 0)


def skewness(x, ddof):
    n, second, third = len(x), about(x, 2), about(x, 3)
    factor = Fraction(n * (n - 1), (n - 2) ** 2) if ddof else 1
    return root(n * third**2 / second**3 * factor, sign(third))


def kurtosis(x, ddof):
    n = len(x)
    plain = n * about(x, 4) / about(x, 2) ** 2 - 3
    return rounded(Fraction(n - 1, (n - 2) * (n - 3)) * ((n + 1) * plain + 6) if ddof else plain)


def slope(x, y):
    return products(x, y) / about(x, 2)


# A statistic, the least number of items for each ddof, and how it is computed.
STATISTICS = {
    "sum": ([0], lambda x, y, ddof: rounded(sum(x))),
    "mean": ([1], lambda x, y, ddof: rounded(sum(x) / len(x))),
    "var": ([1, 2], lambda x, y, ddof: rounded(about(x, 2) / (len(x) - ddof))),
    "sd": ([1, 2], lambda x, y, ddof: root(about(x, 2) / (len(x) - ddof))),
    "skewness": ([2, 3], lambda x, y, ddof: skewness(x, ddof)),
    "kurtosis": ([2, 4], lambda x, y, ddof: kurtosis(x, ddof)),
    "dot": ([0], lambda x, y, ddof: rounded(sum(a * b for a, b in zip(x, y)))),
    "weighted_mean": ([1], lambda x, y, ddof: rounded(sum(a * b for a, b in zip(x, y)) / sum(y))),
    "cov": ([1, 2], lambda x, y, ddof: rounded(products(x, y) / (len(x) - ddof))),
    "cor": ([2], lambda x, y, ddof: root(products(x, y) ** 2 / about(x, 2) / about(y, 2), sign(products(x, y)))),
    "slope": ([2], lambda x, y, ddof: rounded(slope(x, y))),
    "intercept": ([2], lambda x, y, ddof: rounded(sum(y) / len(y) - slope(x, y) * sum(x) / len(x))),
}

WITHOUT_A_VALUE = {"mean": "NaN", "weighted_mean": "NaN"}


def samples():
    random.seed(65)
    yield [], []
    yield [0.1], [3.0]
    yield [0.1, 0.1, 0.1], [1.0, 2.0, 4.0]
    yield [1e300, 0.1, -1e300], [1.0, 2.0, 3.0]
    yield [1.7e308, 1.7e308, -1e308, 5e-324], [1e-320, 1.0, 2.0, 7e305]
    yield [1e9 + 0.25, 1e9 + 0.5, 1e9 + 0.75, 1e9], [1e-9, 3e-9, 2e-9, 5e-9]
    yield [2.0**53, 1.0, 2.0**-53, 1.0, -(2.0**52)], [0.1, 0.2, 0.3, 0.4, 0.5]
    for n in (2, 5, 40):
        for spread in (0, 40, 400):
            yield ([random.gauss(0, 1) * 2.0 ** random.uniform(-spread, spread) for _ in range(n)],
                   [random.random() * 2.0 ** random.uniform(-spread, 1) for _ in range(n)])


def main():
    print("statistic,ddof,value,x,y")
    for x, y in samples():
        a, b = [Fraction(item) for item in x], [Fraction(item) for item in y]
        for name, (least, compute) in STATISTICS.items():
            for ddof, items in enumerate(least):
                ddof = 1 if len(least) == 1 else ddof
                try:
                    value = compute(a, b, ddof).hex() if len(x) >= items else None
                except ZeroDivisionError:
                    value = None
                value = value or WITHOUT_A_VALUE.get(name, "NA")
                hexadecimal = [" ".join(item.hex() for item in items) for items in (x, y)]
                print(name, ddof, value, *hexadecimal, sep=",")


main()
