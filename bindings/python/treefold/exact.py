"""Sums without rounding errors, rounded once: they depend on the items alone, and not on their order.

A fixed-point number holds any sum of floats. So the bits of a result are the same for every order of the items, and for all chunks,
threads and processes; and the result is the number nearest to the exact sum, ties to even, however much cancels.

>>> from treefold import exact
>>> float(exact.sum([1e300, 1.0, -1e300]))
1.0
"""

import numpy as np

from . import _native
from ._accumulator import Accumulator
from ._arrays import as_array, check_inexact, counted, items_along, row_width, size
from ._groups import GroupBy, groupby
from ._keyed import add_at, bincount, histogram, reduceat
from ._keyed_accumulator import KeyedAccumulator
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
    "cumsum",
    "dot",
    "groupby",
    "histogram",
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

_VERSION = 2


def _restored(version, dtype, shape, words):
    if version != _VERSION:
        raise ValueError(f"a pickled partial of version {version}; this treefold reads version {_VERSION}")
    dtype = np.dtype(dtype)
    partial = _made(_native.ExactPartial.from_words(words), dtype.newbyteorder("="), tuple(shape))
    # It refuses words that no sums have.
    partial._native.items(partial._values())
    return partial


def _made(native, dtype, shape):
    partial = object.__new__(Partial)
    partial._set(native, dtype, shape)
    return partial


class Partial:
    """The exact sum of some items, which is not rounded yet.

    Partials merge in any order and grouping, and that of all items has the bits of `sum`. Unlike those of `treefold.Partial`, the items
    have no numbers and no known total. However many they are, a partial holds 320 bytes for a sum of float64, 88 for one of float32,
    and twice as many for complex numbers.

    Parameters
    ----------
    x : array_like
        The items, as in `sum`.
    axis : int, optional
        The axis of `x` along which the items lie; the others are reduced element by element. Without one, the items are those of the
        flattened array.

    Raises
    ------
    TypeError, FloatingPointError
        As in `sum`.

    Examples
    --------
    >>> import numpy as np, pickle
    >>> from treefold import exact
    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> first, second = exact.Partial(x[::3]), exact.Partial(x[1::3])
    >>> third = pickle.loads(pickle.dumps(exact.Partial(x[2::3])))
    >>> bool((third + first + second).value() == exact.sum(x))
    True
    """

    __slots__ = ("_dtype", "_native", "_shape")

    def __init__(self, x, *, axis=None):
        array = as_array(x, "x")
        check_inexact(array.dtype, "x")
        rows, shape = items_along(array, axis)
        self._set(_native.ExactPartial.new(rows), array.dtype, shape)

    def _set(self, native, dtype, shape):
        self._native, self._dtype, self._shape = native, dtype, shape

    def _values(self):
        return np.empty(row_width(self._shape), self._dtype)

    def merge(self, other):
        """Adds the items of another partial: `+` makes a new one.

        Raises
        ------
        TypeError
            They have items of different types.
        ValueError
            They have items of different shapes.
        """
        if not isinstance(other, Partial):
            raise TypeError(f"other is a {type(other).__name__}, and not an exact Partial")
        if (self._dtype, self._shape) != (other._dtype, other._shape):
            raised = TypeError if self._dtype != other._dtype else ValueError
            raise raised(
                f"other has items of type {other._dtype} and shape {other._shape}; these have {self._dtype} and {self._shape}"
            )
        self._native = self._native.merge(other._native, self._values())

    def __add__(self, other):
        if not isinstance(other, Partial):
            return NotImplemented
        merged = _made(self._native, self._dtype, self._shape)
        merged.merge(other)
        return merged

    def value(self):
        """The sum of the items, rounded once: a scalar, or an array if the items have axes."""
        result = self._values()
        self._native.result(result)
        return result[: size(self._shape)].reshape(self._shape)[()]

    def __reduce__(self):
        return _restored, (_VERSION, self._dtype.str, self._shape, self._native.words())

    def __repr__(self):
        return f"<treefold.exact.Partial: {counted(self._native.items(self._values()), 'item')} of type {self._dtype} and shape {self._shape}>"
