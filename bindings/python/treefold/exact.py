"""Exact sums, rounded once. They depend only on the items, not on their order.

Items are added in a fixed-point number that holds any sum of floats exactly. So the bits of a result are the same for every order of the
items and for all chunks, threads and processes. The result is the number nearest to the exact sum, ties to even, whatever the cancellation.

>>> from treefold import exact
>>> float(exact.sum([1e300, 1.0, -1e300]))
1.0
"""

from ._accumulator import Accumulator
from ._groups import GroupBy, groupby
from ._histograms import histogram, histogram2d, histogramdd
from ._keyed import add_at, bincount, reduceat
from ._keyed_accumulator import KeyedAccumulator
from ._matrices import corrcoef, cov
from ._partial import ExactPartial as Partial
from ._rolling import RollingWindows, rolling
from ._state import State
from ._statistics import average, cumsum, dot, inner, mean, nanmean, nanstd, nansum, nanvar, norm, std, sum, var, vdot

__all__ = [
    "Accumulator",
    "GroupBy",
    "KeyedAccumulator",
    "Partial",
    "RollingWindows",
    "State",
    "add_at",
    "average",
    "bincount",
    "corrcoef",
    "cov",
    "cumsum",
    "dot",
    "groupby",
    "histogram",
    "histogram2d",
    "histogramdd",
    "inner",
    "mean",
    "nanmean",
    "nanstd",
    "nansum",
    "nanvar",
    "norm",
    "reduceat",
    "rolling",
    "std",
    "sum",
    "var",
    "vdot",
]
