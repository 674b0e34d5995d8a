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
from ._engine import Items, given, tell
from ._groups import GroupBy, groupby
from ._keyed import add_at, bincount, histogram, reduceat
from ._keyed_accumulator import KeyedAccumulator
from ._products import _matched, _matched_items, _matched_rows, _operands
from ._rolling import RollingWindows, rolling
from ._state import State
from ._statistics import average, mean, nanmean, nanstd, nansum, nanvar, std, statistic, sum, types, var

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


def _summed(x, y, dtype, axes, name="product"):
    items = Items(x, axes).times(y)
    chosen, work = types(items, dtype, None, "dot")
    plain = x.ndim == 1 and x.dtype == y.dtype == work
    if plain and name == "product" and all(one.flags.carray and one.dtype.isnative for one in (x, y)):
        result = np.asarray(_native.exact_dot(x, y))
    else:
        result = statistic(name, items, work)
    if not np.isfinite(result).all():
        tell(False, result, items, work, name="dot")
    return given(result, items, False, None, chosen)


def _inexact(x, y):
    x, y, dtype = _operands(x, y)
    if dtype.kind not in "fc":
        raise TypeError(f"x has elements of type {x.dtype}, and y {y.dtype}, whose sums do not round: use treefold.dot")
    return x, y, dtype


def dot(x, y):
    """The exact sums of products, each rounded once to nearest, with the shapes of `numpy.dot`.

    No product is rounded, overflows or underflows on the way. Of complex numbers, both parts are rounded once.

    Parameters
    ----------
    x, y : array_like
        Vectors of the same length, of floats or complex numbers; or arrays, as in `treefold.dot`. If their types differ, NumPy's common
        type is used.

    Returns
    -------
    A scalar, or an array, of that type.

    Raises
    ------
    TypeError, FloatingPointError
        As in `sum`.
    ValueError
        The axes differ in length.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.dot([1e200, 3.0, 1e200], [1e200, 4.0, -1e200]))
    12.0
    """
    x, y, dtype = _inexact(x, y)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(x, y)
    return _summed(*_matched(x, y), dtype, -1)


def inner(x, y):
    """`dot` along the last axis of both, with the shapes of `numpy.inner`.

    Examples
    --------
    >>> from treefold import exact
    >>> exact.inner([[1e200, 3.0, 1e200]], [1e200, 4.0, -1e200]).tolist()
    [12.0]
    """
    x, y, dtype = _inexact(x, y)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(x, y)
    return _summed(*_matched_rows(x, y), dtype, -1)


def vdot(x, y):
    """`dot` of the items of two arrays, of which those of `x` are conjugated.

    Parameters
    ----------
    x, y : array_like
        Arrays of the same number of items, of any shapes. If their types differ, NumPy's common type is used.

    Examples
    --------
    >>> from treefold import exact
    >>> complex(exact.vdot([1 + 2j], [3 + 4j]))
    (11-2j)
    """
    x, y, dtype = _inexact(x, y)
    return _summed(*_matched_items(x, y), dtype, None, "conjugate_product" if dtype.kind == "c" else "product")


def norm(x):
    """The Euclidean norm of all items: the square root of the exact sum of their squares, rounded once to nearest.

    No square overflows or underflows on the way. Of complex numbers the items are their parts. Integers are converted to float64.

    Parameters
    ----------
    x : array_like
        An array of any shape.

    Returns
    -------
    A float of the type of the items, or of their parts.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.norm([3 * 2.0**900, 4 * 2.0**900])) == 5 * 2.0**900
    True
    """
    items = Items(x)
    chosen, work = types(items, None, None)
    return given(statistic("norm", items, work).real, items, False, None, chosen.type(0).real.dtype)


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
