"""Reductions whose bits depend only on the items, their order and the operator.

The bits do not depend on threads, chunks, processes, memory layout or the processor. Every function combines items in treefold's tree
order: pairs of neighbours first. So the error of a sum grows with the logarithm of the number of items, as in `numpy.sum`. Reductions of
more than 16 KiB release the GIL, so other threads must not write to the array during the call.

>>> import treefold
>>> float(treefold.sum([0.1, 0.2, 0.3, 0.4])) == (0.1 + 0.2) + (0.3 + 0.4)
True
"""

from ._interpreter import check_interpreter

check_interpreter()

from . import _native, exact  # noqa: E402 - these load native code
from ._nan import nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar
from ._partial import Partial
from ._products import dot, inner, norm, vdot
from ._reductions import average, max, mean, min, prod, ptp, std, sum, var
from ._scans import cumprod, cumsum, cumulative_prod, cumulative_sum
from ._threads import threads

_native.threads_by_environment()

__version__ = "0.1.0"

__all__ = [
    "Partial",
    "average",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "dot",
    "exact",
    "inner",
    "max",
    "mean",
    "min",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "norm",
    "prod",
    "ptp",
    "std",
    "sum",
    "threads",
    "var",
    "vdot",
]
