"""Connections that have the extension, and the statistics by their definitions in fractions: the oracle of the tests."""

import math
import os
import random
import sqlite3
from fractions import Fraction

SEED = int(os.environ.get("TREEFOLD_SEED", "1"))
EXTENSION = os.environ.get("TREEFOLD_SQLITE", "")  # the file without .so: run.py sets it

# Each function: its arguments, and the statistic of the oracle.
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
# The aggregates that give states, and the functions that read these.
MOMENTS = [name for name in FUNCTIONS if name.startswith(("exact_var", "exact_stddev"))] + ["exact_sum", "exact_avg", "exact_mean"]
STATES = {
    "exact_sum_state": ("x", ["exact_sum", "exact_avg", "exact_mean"]),
    "exact_dot_state": ("x, y", ["exact_dot"]),
    "exact_moments_state": ("x", MOMENTS),
    "exact_powers_state": ("x", [*MOMENTS, "exact_skewness", "exact_kurtosis", "exact_kurtosis_pop"]),
    "exact_comoments_state": ("y, x", [name for name, (arguments, _) in FUNCTIONS.items() if arguments == "y, x"]),
}
READERS = [f"{name}_of" for name, (_, statistic) in FUNCTIONS.items() if statistic != "weighted_avg"]
CALLS = [f"{name}({arguments})" for name, (arguments, _) in FUNCTIONS.items()]


def connect(database=":memory:"):
    connection = sqlite3.connect(database, isolation_level=None)
    connection.enable_load_extension(True)
    connection.load_extension(EXTENSION)
    return connection


def one(connection, sql, parameters=()):
    """The only row."""
    (row,) = connection.execute(sql, parameters).fetchall()
    return row


def bits(values):
    """Values with their types; doubles as all their bits."""
    return [value.hex() if isinstance(value, float) else value for value in values]


def doubles(generator, count, exponents):
    """Numbers of magnitudes from 10^-exponents to 10^exponents."""
    return [generator.gauss(0, 1) * 10.0 ** generator.randint(-exponents, exponents) for _ in range(count)]


def table(connection, generator, rows, groups, exponents):
    """Fills a new table `items` of keys and pairs, and returns its rows."""
    x, y = doubles(generator, rows, exponents), doubles(generator, rows, exponents)
    items = [(generator.randrange(groups), a, a + b) for a, b in zip(x, y)]
    connection.execute("DROP TABLE IF EXISTS items")
    connection.execute("CREATE TABLE items (k, x, y)")
    connection.executemany("INSERT INTO items VALUES (?, ?, ?)", items)
    return items


# ---- The oracle ---------------------------------------------------------------------------------------------------------------------


def nearest(fraction):
    """The nearest double, with ties to even."""
    try:
        return float(fraction)
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def root(square, sign=1):
    """The double that is nearest to the root of a fraction, with a sign: of more bits than a rounding sees, of which the last says
    whether more follow."""
    shift = 2 * (1200 + square.denominator.bit_length())
    scaled, rest = divmod(square.numerator << shift, square.denominator)
    whole = math.isqrt(scaled)
    value = nearest(Fraction(2 * whole + (rest != 0 or whole * whole != scaled), 2 << shift // 2))
    return -value if sign < 0 else value


def oracle(rows):
    """All statistics of rows of finite x and y. Rows that have a None are left out; the result None is NULL."""
    x = [Fraction(x) for x, _ in rows if x is not None]
    pairs = [(Fraction(x), Fraction(y)) for x, y in rows if x is not None and y is not None]
    return {**of_one(x), **of_two(pairs)}


def of_one(x):
    n = len(x)
    found = dict.fromkeys(["sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp", "skewness", "kurtosis", "kurtosis_pop"])
    if n == 0:
        return found
    mean = sum(x) / n
    second, third, fourth = (sum((item - mean) ** power for item in x) for power in (2, 3, 4))
    found.update(sum=nearest(sum(x)), avg=nearest(mean), var_pop=nearest(second / n), stddev_pop=root(second / n))
    if n > 1:
        found.update(var_samp=nearest(second / (n - 1)), stddev_samp=root(second / (n - 1)))
    if second:
        excess = n * fourth / second**2 - 3
        found.update(kurtosis_pop=nearest(excess))
        if n > 2:
            found.update(skewness=root(third**2 * n**2 * (n - 1) / (second**3 * (n - 2) ** 2), third))
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


def expected(rows):
    """What CALLS gives for rows."""
    found = oracle(rows)
    return [found[statistic] for _, statistic in FUNCTIONS.values()]


def generator():
    return random.Random(SEED)
