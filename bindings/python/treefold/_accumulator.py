"""Defines an accumulator of exact sums, means, variances and standard deviations."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from . import _native
from ._arrays import as_array, as_doubles, contiguous, counted

_Self = TypeVar("_Self", bound="Mergeable")


class Mergeable:
    """A base class whose `+` copies the left operand and merges the right operand into the copy."""

    __slots__ = ()

    def copy(self: _Self) -> _Self:
        """A copy."""
        make, arguments = self.__reduce__()
        return make(*arguments)

    def __add__(self: _Self, other: _Self) -> _Self:
        """A new object with the items of both operands."""
        if not isinstance(other, type(self)):
            return NotImplemented
        merged = self.copy()
        merged.merge(other)
        return merged

    def _check_other(self, other):
        if not isinstance(other, type(self)):
            raise TypeError(f"other is a {type(other).__name__}, not a {type(self).__module__}.{type(self).__name__}")


class Accumulator(Mergeable):
    """Exact statistics of items that can be added and removed.

    The accumulator computes the exact sum, mean, variance and standard
    deviation of its items. These depend only on the items, not on the order
    or grouping in which they were added. Adding and then removing items
    changes nothing. `a + b` has the items of both accumulators.

    Parameters
    ----------
    dtype : dtype, optional
        The type of the items: float32, float64, complex64 or complex128. Every
        added item must fit this type. float64 and complex128 also accept
        integers of any size, without rounding them.

    Raises
    ------
    TypeError
        `dtype` is none of these types.

    Examples
    --------
    >>> from treefold import exact
    >>> a = exact.Accumulator()
    >>> a.add([1e300, 4.0, 7.0])
    >>> a.remove(1e300)
    >>> float(a.value()), float(a.mean()), float(a.var()), a.count
    (11.0, 5.5, 2.25, 2)
    """

    __module__ = "treefold.exact"
    __slots__ = ("_dtype", "_native")

    def __init__(self, dtype: DTypeLike = np.float64) -> None:
        self._dtype = np.dtype(dtype).newbyteorder("=")
        if self._dtype.kind not in "fc":
            raise TypeError(f"dtype: {self._dtype} is not a type of floats or complex numbers")
        self._native = _native.ExactAccumulator.of(np.zeros(0, self._dtype))

    def _items(self, x):
        """Converts an array to items to add and items to remove, as `as_doubles` explains."""
        array, beyond = np.ravel(as_array(x, "x")), 0
        if array.dtype.kind in "biu":
            array, beyond = as_doubles(array)
        if not np.can_cast(array.dtype, self._dtype):
            raise TypeError(f"x has elements of type {array.dtype}, which an accumulator of {self._dtype} cannot hold")
        array = contiguous(array.astype(self._dtype, copy=False))
        kept = len(array) - beyond
        return array[:kept], array[kept:]

    @property
    def dtype(self) -> np.dtype[np.inexact[Any]]:
        """The type of the items."""
        return self._dtype

    @property
    def count(self) -> int:
        """The number of items."""
        return self._native.items()

    def add(self, x: ArrayLike) -> None:
        """Adds items.

        Parameters
        ----------
        x : array_like
            The items, as an array of any shape.

        Raises
        ------
        TypeError
            The accumulator's type cannot hold the items.
        """
        items, beyond = self._items(x)
        self._native.add(items)
        if beyond.size:
            self._native.remove(beyond)

    def remove(self, x: ArrayLike) -> None:
        """Removes items that were added earlier. `x` is as in `add`.

        Raises
        ------
        ValueError
            More items, NaNs, infinities or negative zeros would be removed
            than were added. The accumulator is then unchanged. Other removals
            of items that were not added are not detected.
        """
        items, beyond = self._items(x)
        if beyond.size:
            self._native.add(beyond)
        try:
            self._native.remove(items)
        except ValueError:
            if beyond.size:
                self._native.remove(beyond)
            raise

    def merge(self, other: "Accumulator") -> None:
        """Adds the items of another accumulator.

        Raises
        ------
        TypeError
            The other accumulator has items of another type.
        """
        self._check_other(other)
        self._native.merge(self.copy()._native if other is self else other._native)

    def value(self) -> np.inexact[Any]:
        """The sum of the items, rounded once: a scalar of their type."""
        return self._native.value()

    def mean(self) -> np.inexact[Any]:
        """The mean of the items, rounded once; NaN if there are no items."""
        return self._native.statistic("mean", 0.0)

    def var(self, ddof: float = 0) -> np.floating[Any]:
        """The variance of the items, rounded once, with `ddof` as in `exact.var`."""
        return self._native.statistic("var", float(ddof))

    def std(self, ddof: float = 0) -> np.floating[Any]:
        """The square root of the exact variance, with `ddof` as in `var`."""
        return self._native.statistic("std", float(ddof))

    def to_bytes(self) -> bytes:
        """The accumulator as bytes. Equal items give equal bytes.

        For float64, the bytes are also those of a `State` of kind "moments".
        """
        return self._native.to_bytes()

    @classmethod
    def of_bytes(cls, data: bytes, dtype: DTypeLike = np.float64) -> "Accumulator":
        """Reads an accumulator from bytes.

        Parameters
        ----------
        data : bytes
            The return value of `to_bytes`.
        dtype : dtype, optional
            The type of the items.

        Raises
        ------
        ValueError
            The bytes do not hold an accumulator of this type.
        """
        return _restored(dtype, bytes(data))

    def __eq__(self, other: object) -> bool:
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
