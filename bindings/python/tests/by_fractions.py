"""Computes statistics by their definitions, with fractions, and rounds them once: the oracle of all tests of exact statistics."""

import math
from fractions import Fraction

import numpy as np
from test_exact import nearest


def root(square, dtype):
    """The square root of a fraction, rounded once. The root is computed with more bits than rounding needs, and its last bit is set
    if the root is not exact."""
    shift = 2 * (1200 + square.denominator.bit_length())
    scaled, rest = divmod(square.numerator << shift, square.denominator)
    whole = math.isqrt(scaled)
    return nearest(Fraction(2 * whole + (rest != 0 or whole * whole != scaled), 2 << shift // 2), dtype)


def fractions_of(column):
    return [Fraction(item) for item in (column.tolist() if isinstance(column, np.ndarray) else column)]


def total(products):
    return sum(products, Fraction(0))


def centred(column):
    """The differences of the items from their mean."""
    mean = total(column) / len(column)
    return [item - mean for item in column]


def moment(column, power):
    """The mean of a power of the items' differences from their mean."""
    return total(item**power for item in centred(column)) / len(column)


def mixed(x, y):
    """The mean of the products of the differences of x and y from their means."""
    return total(one * other for one, other in zip(centred(x), centred(y))) / len(x)


def skewness(x, bias):
    """The square of g1 or G1, and a number that has the sign of g1."""
    n, third = len(x), moment(x, 3)
    square = third**2 / moment(x, 2) ** 3
    return (square if bias else square * n * (n - 1) / (n - 2) ** 2), third


def kurtosis(x, bias):
    """g2 or G2."""
    n, excess = len(x), moment(x, 4) / moment(x, 2) ** 2 - 3
    return excess if bias else ((n + 1) * excess + 6) * (n - 1) / ((n - 2) * (n - 3))


# Functions of x, y, the number of items minus ddof, and bias. Statistics that are square roots return the square and a sign.
QUOTIENTS = {
    "sum": lambda x, y, free, bias: total(x),
    "dot": lambda x, y, free, bias: total(one * other for one, other in zip(x, y)),
    "mean": lambda x, y, free, bias: total(x) / len(x),
    "average": lambda x, y, free, bias: total(one * other for one, other in zip(x, y)) / total(y),
    "var": lambda x, y, free, bias: moment(x, 2) * len(x) / free,
    "cov": lambda x, y, free, bias: mixed(x, y) * len(x) / free,
    "slope": lambda x, y, free, bias: mixed(x, y) / moment(x, 2),
    "intercept": lambda x, y, free, bias: (total(y) - total(x) * mixed(x, y) / moment(x, 2)) / len(x),
    "kurtosis": lambda x, y, free, bias: kurtosis(x, bias),
    "min": lambda x, y, free, bias: min(x),
    "max": lambda x, y, free, bias: max(x),
}
ROOTS = {
    "norm": lambda x, y, free, bias: (total(item * item for item in x), 1),
    "std": lambda x, y, free, bias: (moment(x, 2) * len(x) / free, 1),
    "corr": lambda x, y, free, bias: (mixed(x, y) ** 2 / (moment(x, 2) * moment(y, 2)), mixed(x, y)),
    "skewness": lambda x, y, free, bias: skewness(x, bias),
}


def expected(statistic, x, y=None, dtype="f8", ddof=0, bias=True):
    """A statistic of finite numbers; NaN where it is undefined, and infinity for a variance of too few items that differ."""
    x = fractions_of(x)
    y = x if y is None else fractions_of(y)
    if statistic == "count":
        return len(x)
    free = len(x) - Fraction(ddof)
    if statistic in ("var", "std") and free <= 0:
        return np.dtype(dtype).type(math.inf if len(set(x)) > 1 else math.nan)
    # If a divisor or a correction for bias is 0, the statistic is undefined.
    is_defined = statistic != "cov" or free > 0
    try:
        if is_defined and statistic in QUOTIENTS:
            return nearest(QUOTIENTS[statistic](x, y, free, bias), dtype)
        if is_defined:
            square, sign = ROOTS[statistic](x, y, free, bias)
            return root(square, dtype) * (-1 if sign < 0 else 1)
    except ZeroDivisionError:
        pass
    return np.dtype(dtype).type(math.nan)
