"""Means, variances and standard deviations, and an accumulator of them."""

import math

import numpy as np

from . import _native
from ._arrays import as_array, as_float, contiguous, counted, reduced_axes


def _items(x, name="x"):
    """An array of floats or complex numbers; integers become float64."""
    return as_float(as_array(x, name))


def _along(axes, keepdims, dtype, function, *arrays):
    """What a function makes of the items along axes of arrays of one shape, for each place of the other axes."""
    (lengths,) = {array.shape for array in arrays}
    kept = tuple(one for one in range(len(lengths)) if one not in axes)
    shape = tuple(lengths[one] for one in kept)
    items = math.prod(lengths[one] for one in axes)
    rows = [contiguous(array.transpose(kept + axes)).reshape(*shape, items) for array in arrays]
    result = np.empty(shape, dtype)
    for place in np.ndindex(shape):
        result[place] = function(*(row[place] for row in rows))
    return (np.expand_dims(result, axes) if keepdims else result)[()]


def _statistic(x, axis, keepdims, statistic, ddof):
    array, ddof = _items(x), float(ddof)
    dtype = array.dtype if statistic == "mean" else array.real.dtype
    axes = reduced_axes(axis, array.ndim)
    return _along(axes, keepdims, dtype, lambda row: _native.exact_statistic(row, statistic, ddof), array)


def mean(x, axis=None, *, keepdims=False):
    """The exact mean of the items, or of those along axes, rounded once to nearest.

    Parameters
    ----------
    x : array_like
        Floats or complex numbers; integers are converted to float64.
    axis : None, int or tuple of ints, optional
        The axes to be reduced; all of them by default.
    keepdims : bool, optional
        Whether reduced axes stay, with length 1.

    Returns
    -------
    A scalar of the type of the items, or an array. The mean of nothing is NaN.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.mean([1e300, 1e300, 1.0, -2e300]))
    0.25
    """
    return _statistic(x, axis, keepdims, "mean", 0)


def var(x, axis=None, *, ddof=0, keepdims=False):
    """The exact variance of the items, or of those along axes, rounded once to nearest.

    It is NaN if an item is NaN or infinite. The sum of squares is divided by the number of items less `ddof`; where that is not positive, the
    variance is NaN if items are alike, or else infinite.

    Parameters
    ----------
    x, axis, keepdims
        As in `mean`. The variance of complex numbers is real.
    ddof : float, optional
        "Delta degrees of freedom".

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.var([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16], ddof=1))
    30.0
    """
    return _statistic(x, axis, keepdims, "var", ddof)


def std(x, axis=None, *, ddof=0, keepdims=False):
    """The square root of the exact variance, rounded once to nearest: see `var`.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.std([1e9, 1e9 + 2]))
    1.0
    """
    return _statistic(x, axis, keepdims, "std", ddof)


def average(x, axis=None, weights=None, *, keepdims=False):
    """The exact weighted mean of the items, or of those along axes: the sum of products over the sum of the weights, rounded once.

    Parameters
    ----------
    x, axis, keepdims
        As in `mean`.
    weights : array_like, optional
        Floats, of the shape of `x`, or of that of one axis. Without them it is the mean.

    Raises
    ------
    ZeroDivisionError
        A sum of weights is zero.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.average([1e200, 3.0, -1e200], weights=[1e200, 2.0, 1e200]))
    3e-200
    """
    if weights is None:
        return mean(x, axis, keepdims=keepdims)
    array, weights = _items(x), _items(weights, "weights")
    if weights.dtype.kind == "c":
        raise TypeError(f"weights have type {weights.dtype}, not floats")
    axes = reduced_axes(axis, array.ndim)
    if weights.shape != array.shape:
        if len(axes) != 1 or weights.shape != (array.shape[axes[0]],):
            raise ValueError(f"weights of shape {weights.shape} for items of shape {array.shape}")
        shape = [1] * array.ndim
        shape[axes[0]] = -1
        weights = np.broadcast_to(weights.reshape(shape), array.shape)
    dtype = np.result_type(array.real.dtype, weights.dtype)

    def of_part(part):
        return _along(axes, keepdims, dtype, _native.exact_average, part.astype(dtype), weights.astype(dtype))

    if array.dtype.kind != "c":
        return of_part(array)
    real = of_part(array.real)
    result = np.empty(real.shape, np.result_type(dtype, array.dtype))
    result.real, result.imag = real, of_part(array.imag)
    return result[()]


class Accumulator:
    """Items that are added one array after the other, and may be removed again: their exact sum, mean, variance and standard deviation.

    It depends on the items alone: not on their order, nor on how they came. Items that were added and are removed leave no trace.

    Parameters
    ----------
    dtype : dtype, optional
        The type of the items, float64 by default: float32, complex64 and complex128 are the others. What is added is converted to it, and must
        fit.

    Examples
    --------
    >>> from treefold import exact
    >>> a = exact.Accumulator()
    >>> a.add([1e300, 4.0, 7.0])
    >>> a.remove(1e300)
    >>> float(a.value()), float(a.mean()), float(a.var()), a.count
    (11.0, 5.5, 2.25, 2)
    """

    __slots__ = ("_dtype", "_native")

    def __init__(self, dtype=np.float64):
        self._dtype = np.dtype(dtype).newbyteorder("=")
        if self._dtype.kind not in "fc":
            raise TypeError(f"dtype: {self._dtype} is not a type of floats or complex numbers")
        self._native = _native.ExactAccumulator.of(np.zeros(0, self._dtype))

    def _array(self, x):
        array = _items(x)
        if not np.can_cast(array.dtype, self._dtype):
            raise TypeError(f"x has elements of type {array.dtype}, which an accumulator of {self._dtype} does not hold")
        return contiguous(np.ravel(array).astype(self._dtype, copy=False))

    @property
    def dtype(self):
        """The type of the items."""
        return self._dtype

    @property
    def count(self):
        """The number of items."""
        return self._native.items()

    def add(self, x):
        """Adds the items of an array of any shape."""
        self._native.add(self._array(x))

    def remove(self, x):
        """Removes items that were added.

        Raises
        ------
        ValueError
            There are fewer items, or fewer of a kind: NaNs, infinities, negative zeros. The accumulator is as it was. That other items are removed
            than were added is not noticed.
        """
        self._native.remove(self._array(x))

    def merge(self, other):
        """Adds the items of another accumulator.

        Raises
        ------
        TypeError
            It has items of another type.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"other is a {type(other).__name__}, and not an Accumulator")
        if other is self:
            other = _restored(*self.__reduce__()[1])
        self._native.merge(other._native)

    def value(self):
        """The sum of the items, rounded once."""
        return self._native.value()

    def mean(self):
        """The mean of the items, rounded once; NaN if there are none."""
        return self._native.statistic("mean", 0.0)

    def var(self, ddof=0):
        """The variance of the items, rounded once: see `treefold.exact.var`."""
        return self._native.statistic("var", float(ddof))

    def std(self, ddof=0):
        """The standard deviation of the items, rounded once: see `treefold.exact.std`."""
        return self._native.statistic("std", float(ddof))

    def __eq__(self, other):
        if not isinstance(other, Accumulator):
            return NotImplemented
        return self._dtype == other._dtype and self._native.equals(other._native)

    def __reduce__(self):
        return _restored, (self._dtype.str, self._native.to_bytes())

    def __repr__(self):
        return f"<treefold.exact.Accumulator: {counted(self.count, 'item')} of type {self._dtype}>"


def _restored(dtype, state):
    accumulator = Accumulator(dtype)
    accumulator._native = _native.ExactAccumulator.of_bytes(np.zeros(0, accumulator._dtype), state)
    return accumulator
