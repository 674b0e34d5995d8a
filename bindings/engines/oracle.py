"""Computes the expected values for the tests of the engines: SQL's statistics, computed by definition in fractions and rounded once."""

import math
from fractions import Fraction

# For each aggregate of rows: its arguments, and the name of the statistic that it returns.
FUNCTIONS = {
    "exact_sum": ("x", "sum"),
    "exact_avg": ("x", "avg"),
    "exact_mean": ("x", "avg"),
    "exact_dot": ("x, y", "dot"),
    "exact_weighted_avg": ("x, y", "weighted_avg"),
    "exact_wavg": ("x, y", "weighted_avg"),
    "exact_var_pop": ("x", "var_pop"),
    "exact_var_population": ("x", "var_pop"),
    "exact_var_samp": ("x", "var_samp"),
    "exact_var_sample": ("x", "var_samp"),
    "exact_var": ("x", "var_samp"),
    "exact_variance": ("x", "var_samp"),
    "exact_stddev_pop": ("x", "stddev_pop"),
    "exact_stddev_samp": ("x", "stddev_samp"),
    "exact_stddev": ("x", "stddev_samp"),
    "exact_skewness": ("x", "skewness"),
    "exact_kurtosis": ("x", "kurtosis"),
    "exact_kurtosis_pop": ("x", "kurtosis_pop"),
    "exact_covar_pop": ("y, x", "covar_pop"),
    "exact_covar_samp": ("y, x", "covar_samp"),
    "exact_covar": ("y, x", "covar_samp"),
    "exact_corr": ("y, x", "corr"),
    "exact_regr_slope": ("y, x", "slope"),
    "exact_regr_intercept": ("y, x", "intercept"),
}


def nearest(fraction):
    """Rounds a fraction to the nearest double, with ties to even."""
    try:
        return float(fraction)
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def root(square, sign=1):
    """Returns the double nearest to the square root of a fraction, with the sign of `sign`. The root is computed with more bits than
    rounding needs; its last bit is set if the root is inexact."""
    shift = 2 * (1200 + square.denominator.bit_length())
    scaled, rest = divmod(square.numerator << shift, square.denominator)
    whole = math.isqrt(scaled)
    value = nearest(Fraction(2 * whole + (rest != 0 or whole * whole != scaled), 2 << shift // 2))
    return -value if sign < 0 else value


def statistics(rows):
    """Returns all statistics of rows (x, y) of finite numbers, by name. Statistics of x skip rows whose x is None. Statistics of x and y
    skip rows whose x or y is None. A statistic that is None stands for NULL."""
    x = [Fraction(x) for x, _ in rows if x is not None]
    pairs = [(Fraction(x), Fraction(y)) for x, y in rows if x is not None and y is not None]
    return {**of_one(x), **of_two(pairs)}


def by_call(rows, without=()):
    """Returns statistics(rows), keyed by the text of the SQL call, such as "exact_corr(y, x)". `without` lists functions to omit."""
    found = statistics(rows)
    return {f"{name}({arguments})": found[statistic] for name, (arguments, statistic) in FUNCTIONS.items() if name not in without}


def of_one(x):
    n = len(x)
    names = ["sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp", "skewness", "skewness_pop", "kurtosis", "kurtosis_pop"]
    found = dict.fromkeys(names)
    if n == 0:
        return found
    mean = sum(x) / n
    second, third, fourth = (sum((item - mean) ** power for item in x) for power in (2, 3, 4))
    found.update(sum=nearest(sum(x)), avg=nearest(mean), var_pop=nearest(second / n), stddev_pop=root(second / n))
    if n > 1:
        found.update(var_samp=nearest(second / (n - 1)), stddev_samp=root(second / (n - 1)))
    if second:
        square, excess = n * third**2 / second**3, n * fourth / second**2 - 3
        found.update(skewness_pop=root(square, third), kurtosis_pop=nearest(excess))
        if n > 2:
            found.update(skewness=root(square * n * (n - 1) / (n - 2) ** 2, third))
        if n > 3:
            found.update(kurtosis=nearest((n - 1) * ((n + 1) * excess + 6) / ((n - 2) * (n - 3))))
    return found


def of_two(pairs):
    n = len(pairs)
    found = dict.fromkeys(["dot", "weighted_avg", "covar_pop", "covar_samp", "corr", "slope", "intercept"])
    if n == 0:
        return found
    dot, total_x, total_y = sum(x * y for x, y in pairs), sum(x for x, _ in pairs), sum(y for _, y in pairs)
    mean_x, mean_y = total_x / n, total_y / n
    both = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    of_x, of_y = sum((x - mean_x) ** 2 for x, _ in pairs), sum((y - mean_y) ** 2 for _, y in pairs)
    found.update(dot=nearest(dot), covar_pop=nearest(both / n))
    if n > 1:
        found.update(covar_samp=nearest(both / (n - 1)))
    if total_y:
        found.update(weighted_avg=nearest(dot / total_y))
    if of_x:
        found.update(slope=nearest(both / of_x), intercept=nearest(mean_y - both / of_x * mean_x))
        if of_y:
            found.update(corr=root(both**2 / (of_x * of_y), both))
    return found
