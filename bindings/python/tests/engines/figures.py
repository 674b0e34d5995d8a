"""Computes the expected values of an engine's exact statistics with fractions, and holds the data of public bug reports."""

import math

import by_fractions
import numpy as np
from test_keyed import drawn

# Items that engines sum wrongly or with varying results, and their sum or mean.
SUMS = {
    # polars#25163: the sum of a group changed from run to run.
    "polars-25163": ([5.2, 5.0, 6.5, 5.3, 5.2, 5.4, 5.9], 38.5),
    # polars#25337: 1.2 in a frame, 1.2000000000000002 in a group.
    "polars-25337": ([0.1] * 12, math.fsum([0.1] * 12)),
    # Parts of a whole, whose float sum is 1 or not, depending on the order.
    "parts-of-4024": ([n * (1 / 4024) for n in (390, 1006, 2628)], 0.9999999999999999),
}
MEANS = {
    # datafusion#11264: the average overflowed, or not, depending on the order of rows.
    "datafusion-11264": (
        [1.5753477614031765e308, 1.0520311921422949e308, -1.3151865100063228e308, -1.2830593404326414e308],
        7.283275776626794e305,
    ),
    "three-large": ([1.7e308] * 3, 1.7e308),
}

# Averages over windows of two rows. The third average is 1, but engines that update a running sum kept an error.
WINDOWS = ([2.0**54, 1.0, 1.0], [None, 2.0**53, 1.0])


def expected(items, figure, dtype="f8", ddof=1):
    """A statistic of floats or integers; `None` if it is undefined. Zeros are +0.0."""
    n = len(items)
    if figure in ("var", "std") and n <= ddof or figure == "mean" and not n:
        return None
    special = [item for item in items if not math.isfinite(item)]
    if special:
        # Sums and means of infinities of one sign are infinite.
        alone = len(set(special)) == 1 and not math.isnan(special[0]) and figure in ("sum", "mean")
        return np.dtype(dtype).type(special[0] if alone else np.nan)
    return by_fractions.expected(figure, items, dtype=dtype, ddof=ddof)


def hexed(value):
    """A float as text with all its bits, for comparisons."""
    return None if value is None else "nan" if math.isnan(value) else float(value).hex()


def columns(random, rows):
    """Named columns of Python numbers, with difficult items: missing items, many magnitudes, zeros, special items, large
    integers."""

    def with_missing(items, share):
        return [None if lost else item for item, lost in zip(items, random.random(len(items)) < share)]

    special = drawn(random, rows, "f8").tolist()
    for place, item in zip(random.permutation(rows), [math.inf, -math.inf, math.nan, math.inf, -0.0, 0.0] * 2):
        special[place] = item
    large = [int(item) for item in random.integers(-(2**63), 2**63, rows, dtype=np.int64) // 64]
    return {
        "whole": ("f8", drawn(random, rows, "f8").tolist()),
        "some": ("f8", with_missing(drawn(random, rows, "f8", 500).tolist(), 0.2)),
        "few": ("f8", with_missing(drawn(random, rows, "f8", 5).tolist(), 0.95)),
        "special": ("f8", with_missing(special, 0.1)),
        "single": ("f4", with_missing([float(item) for item in drawn(random, rows, "f4", 20)], 0.1)),
        "small": ("i1", with_missing([int(item) for item in random.integers(-128, 128, rows)], 0.1)),
        "large": ("i8", with_missing(large, 0.1)),
        "unsigned": ("u8", [int(item) for item in random.integers(0, 2**52, rows)]),
        "zeros": ("f8", [-0.0] * rows),
    }
