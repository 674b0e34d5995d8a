"""Writes testthat/cases.csv: statistics of samples, computed in fractions and integer roots, and rounded once. Numbers are hexadecimal.

    python3 tests/cases.py > tests/testthat/cases.csv
"""
import pathlib
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))

import oracle

# For each statistic and ddof, the oracle's name. Statistics that do not depend on ddof are listed only with ddof 1.
STATISTICS = {
    "sum": {1: "sum"},
    "mean": {1: "avg"},
    "var": {0: "var_pop", 1: "var_samp"},
    "sd": {0: "stddev_pop", 1: "stddev_samp"},
    "skewness": {0: "skewness_pop", 1: "skewness"},
    "kurtosis": {0: "kurtosis_pop", 1: "kurtosis"},
    "dot": {1: "dot"},
    "weighted_mean": {1: "weighted_avg"},
    "cov": {0: "covar_pop", 1: "covar_samp"},
    "cor": {1: "corr"},
    "slope": {1: "slope"},
    "intercept": {1: "intercept"},
}

# The values of undefined statistics, such as those of no items. All others are NA.
WITHOUT_A_VALUE = {"sum": (0.0).hex(), "dot": (0.0).hex(), "mean": "NaN", "weighted_mean": "NaN"}


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
        found = oracle.statistics(list(zip(x, y)))
        for name, by_ddof in STATISTICS.items():
            for ddof, statistic in by_ddof.items():
                value = found[statistic]
                value = WITHOUT_A_VALUE.get(name, "NA") if value is None else value.hex()
                hexadecimal = [" ".join(item.hex() for item in items) for items in (x, y)]
                print(name, ddof, value, *hexadecimal, sep=",")


main()
