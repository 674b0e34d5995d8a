"""Reductions whose bits depend on the items, their order and the operator alone.

Not on threads, chunks, processes, memory layout, or the processor. Every function combines items in treefold's tree order, pairs of
neighbours first; so the error of a sum grows with the logarithm of the number of items, as that of `numpy.sum` does. Reductions of more than 16 KiB
release the interpreter's lock: other threads must not write to the array meanwhile.

>>> import treefold
>>> float(treefold.sum([0.1, 0.2, 0.3, 0.4])) == (0.1 + 0.2) + (0.3 + 0.4)
True
"""

from ._interpreter import check_interpreter

check_interpreter()

from . import exact  # noqa: E402 - it loads the native half
from ._partial import Partial
from ._reductions import cumsum, dot, max, mean, min, norm, prod, sum, var, vdot
from ._threads import set_by_environment, threads

set_by_environment()

__version__ = "0.1.0"

__all__ = [
    "Partial",
    "cumsum",
    "dot",
    "exact",
    "max",
    "mean",
    "min",
    "norm",
    "prod",
    "sum",
    "threads",
    "var",
    "vdot",
]
