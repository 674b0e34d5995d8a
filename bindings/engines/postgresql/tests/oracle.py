"""What the functions must give, from their definitions: in fractions, each rounded once; sums in tree order, rounded at each node."""

import math
import struct
from fractions import Fraction


def single(number):
    """The float that is nearest to a double."""
    return struct.unpack("f", struct.pack("f", number))[0]


def single_of(fraction):
    """The float that is nearest to a fraction below 2^128."""
    if fraction == 0:
        return 0.0
    exponent = max(math.frexp(float(fraction))[1] - 24, -149)
    return math.ldexp(round(fraction / Fraction(2) ** exponent), exponent)


def root(square, sign=1):
    """The double that is nearest to the root of a fraction, with a sign."""
    if square == 0:
        return 0.0
    shift = 2 * (140 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    integer = math.isqrt((square.numerator << max(shift, 0)) // (square.denominator << max(-shift, 0)))
    is_exact = Fraction(integer) ** 2 == square * Fraction(2) ** shift
    value = float(Fraction(2 * integer + (not is_exact)) / Fraction(2) ** (shift // 2 + 1))
    return value if sign > 0 else -value


def statistics(pairs):
    """All statistics of the rows (x, y), by the call in SQL; None is NULL."""
    of_x = [Fraction(x) for x, _ in pairs if x is not None]
    both = [(Fraction(x), Fraction(y)) for x, y in pairs if x is not None and y is not None]
    return {**of_one(of_x), **of_two(both)}


def value(fraction):
    return None if fraction is None else float(fraction)


def of_one(x):
    n = len(x)
    mean = sum(x) / n if n else None
    second, third, fourth = (sum((item - mean) ** power for item in x) for power in (2, 3, 4))
    sample = second / (n - 1) if n > 1 else None
    skewness = n**2 * (n - 1) * third**2 / (second**3 * (n - 2) ** 2) if n > 2 and second else None
    excess = n * fourth / second**2 - 3 if second else None
    unbiased = (n - 1) * ((n + 1) * excess + 6) / ((n - 2) * (n - 3)) if n > 3 and second else None
    deviation = None if sample is None else root(sample)
    return {
        "exact_sum(x)": value(sum(x)) if n else None,
        "exact_avg(x)": value(mean),
        "exact_var_pop(x)": value(second / n) if n else None,
        "exact_var_samp(x)": value(sample),
        "exact_variance(x)": value(sample),
        "exact_stddev_pop(x)": root(second / n) if n else None,
        "exact_stddev_samp(x)": deviation,
        "exact_stddev(x)": deviation,
        "exact_skewness(x)": None if skewness is None else root(skewness, third),
        "exact_kurtosis(x)": value(unbiased),
        "exact_kurtosis_pop(x)": value(excess),
    }


def of_two(pairs):
    n = len(pairs)
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    mean_x, mean_y = (sum(x) / n, sum(y) / n) if n else (None, None)
    xx, yy = sum((a - mean_x) ** 2 for a in x), sum((b - mean_y) ** 2 for b in y)
    xy, products = sum((a - mean_x) * (b - mean_y) for a, b in pairs), sum(a * b for a, b in pairs)
    return {
        "exact_dot(x, y)": value(products) if n else None,
        "exact_weighted_avg(x, y)": value(products / sum(y)) if sum(y) else None,
        "exact_covar_pop(y, x)": value(xy / n) if n else None,
        "exact_covar_samp(y, x)": value(xy / (n - 1)) if n > 1 else None,
        "exact_corr(y, x)": root(xy**2 / (xx * yy), xy) if xx and yy else None,
        "exact_regr_slope(y, x)": value(xy / xx) if xx else None,
        "exact_regr_intercept(y, x)": value(mean_y - xy / xx * mean_x) if xx else None,
    }


def tree(items, rounded=float):
    """The sum in tree order: neighbours are added in pairs, and a last one without a neighbour moves up."""
    while len(items) > 1:
        pairs = [rounded(left + right) for left, right in zip(items[::2], items[1::2])]
        items = pairs + items[len(pairs) * 2 :]
    return items[0]
