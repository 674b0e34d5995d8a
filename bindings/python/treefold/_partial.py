"""Defines partial reductions of a chunk of items, in tree order or exact. They can be merged and pickled."""

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._accumulator import Mergeable
from ._arrays import as_array, check_inexact, counted, index, items_along, row_width, size, widened

_OPERATORS = ("sum", "prod", "min", "max")
_Self = TypeVar("_Self", bound="_OfItems")


class _OfItems(Mergeable):
    """The base class of both kinds of partials. Native code holds the numbers; this class holds the type and shape of the items."""

    __slots__ = ("_dtype", "_native", "_shape")

    @classmethod
    def _of(cls, native, dtype, shape):
        partial = object.__new__(cls)
        partial._native, partial._dtype, partial._shape = native, dtype, tuple(shape)
        return partial

    def copy(self: _Self) -> _Self:
        """A copy."""
        return self._of(self._native, self._dtype, self._shape)

    def _row(self):
        """A new array, not initialized, for one item's elements."""
        return np.empty(row_width(self._shape), self._dtype)

    def merge(self: _Self, other: _Self) -> None:
        """Adds the items of another partial to this one.

        Raises
        ------
        TypeError
            The other partial's items have another type.
        ValueError
            The other partial has items of another shape or another reduction,
            or both partials have the same item. This partial is then unchanged.
        """
        self._check_other(other)
        for what, own, others, error in (("type", self._dtype, other._dtype, TypeError), ("shape", self._shape, other._shape, ValueError)):
            if own != others:
                raise error(f"other has items of {what} {others}, not {own}")
        self._native = self._native.merge(other._native, self._row())

    def value(self) -> Any:
        """The reduction of the items: a scalar, or an array if items have axes.

        Raises
        ------
        ValueError
            The reduction is in tree order, and items are missing.
        """
        result = self._row()
        self._native.result(result)
        return result[: size(self._shape)].reshape(self._shape)[()]


def _check_version(version, known):
    if version != known:
        raise ValueError(f"the pickled partial has version {version}, but this treefold reads version {known}")


def _restored(version, op, dtype, shape, total, nodes):
    _check_version(version, Partial._VERSION)
    dtype = np.dtype(dtype)
    if not dtype.isnative:
        native_dtype = dtype.newbyteorder("=")
        nodes = [(x, y, np.frombuffer(row, dtype).astype(native_dtype).tobytes()) for x, y, row in nodes]
        dtype = native_dtype
    return Partial._of(_native.Partial.from_nodes(op, total, row_width(shape), nodes), dtype, shape)


class Partial(_OfItems):
    """The partial reduction of some of `total` items.

    Partials of different items are merged by `merge` or `+`, in any grouping.
    The partial of all items has the bits of the reduction of all items by `op`.
    So you may reduce items in chunks, in a pool of processes, or while reading
    a file in pieces: the bits do not depend on the chunks. A partial of
    consecutive items holds at most 2 log2(total) results.

    Parameters
    ----------
    x : array_like
        The items, as in `sum`.
    start : int, optional
        The position of the first item of `x`, counted from 0.
    total : int
        The total number of items.
    extents : sequence of (int, int), optional
        To be passed instead of `start` if `x` has several runs of consecutive
        items: a pair for each run, of its first position and the position after
        its last. For example, a block of a matrix has one run for each row.
    op : str, optional
        "sum", "prod", "min" or "max".
    axis : int, optional
        The axis of `x` along which items are numbered. Items are reduced
        element by element. Without an axis, the items are those of the
        flattened array.

    Raises
    ------
    ValueError
        A position is not below `total`, or `extents` and `x` have different
        numbers of items.

    Examples
    --------
    >>> import numpy as np, pickle, treefold
    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> chunks = [(x[k : k + 400], k) for k in (0, 400, 800)]
    >>> parts = [treefold.Partial(*chunk, total=1000) for chunk in chunks]
    >>> parts = [pickle.loads(pickle.dumps(part)) for part in parts]
    >>> whole = parts[2] + parts[0] + parts[1]
    >>> bool(whole.value() == treefold.sum(x))
    True
    """

    __module__ = "treefold"
    __slots__ = ()
    _VERSION = 1

    def __init__(
        self,
        x: ArrayLike,
        start: SupportsIndex | None = None,
        total: SupportsIndex | None = None,
        *,
        extents: Sequence[tuple[SupportsIndex, SupportsIndex]] | None = None,
        op: str = "sum",
        axis: SupportsIndex | None = None,
    ) -> None:
        if total is None:
            raise TypeError("total is missing: pass the number of all items")
        if (start is None) == (extents is None):
            raise TypeError("pass either start or extents, to say which items x holds")
        if not isinstance(op, str) or op not in _OPERATORS:
            raise ValueError(f"op: {op!r} is none of {', '.join(_OPERATORS)}")
        array = as_array(x, "x")
        if op in ("sum", "prod"):
            array = widened(array)
        elif array.dtype.kind == "b":
            raise TypeError(f"x has elements of type bool, for which op={op} is not defined")
        rows, self._shape = items_along(array, axis)
        if extents is None:
            start = _natural(start, "start")
            extents = [(start, _natural(start + rows.shape[0], "start + the number of items in x"))]
        else:
            extents = _pairs(extents)
        self._native, self._dtype = _native.Partial.new(op, _natural(total, "total"), extents, rows), array.dtype

    @property
    def op(self) -> str:
        """The name of the operator."""
        return self._native.op

    @property
    def total(self) -> int:
        """The number of all items."""
        return self._native.total

    def __reduce__(self):
        return _restored, (self._VERSION, self.op, self._dtype.str, self._shape, self.total, self._native.nodes())

    def __repr__(self):
        return f"<treefold.Partial: op={self.op}, total={self.total}, {counted(self._native.nodes_count, 'subtree')}>"


def _natural(number, name):
    number = index(number, name)
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{name}: {number} is not from 0 to 2^64 - 1")
    return number


def _pairs(extents):
    try:
        pairs = [tuple(pair) for pair in extents]
    except TypeError:
        raise TypeError("extents is not a sequence of pairs") from None
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError("extents has an element that is not a pair")
    return [(_natural(begin, "extents"), _natural(end, "extents")) for begin, end in pairs]


def _restored_exact(version, dtype, shape, words):
    _check_version(version, ExactPartial._VERSION)
    partial = ExactPartial._of(_native.ExactPartial.from_words(words), np.dtype(dtype).newbyteorder("="), shape)
    # This rejects words that are not valid sums.
    partial._native.items(partial._row())
    return partial


class ExactPartial(_OfItems):
    """The exact sum of some items, not yet rounded.

    Partials are merged by `merge` or `+`, in any order and grouping. The partial
    of all items has the bits of `sum`. Unlike in `treefold.Partial`, items have
    no positions, and their total number need not be known. Whatever the number
    of items, a partial of float64 holds 320 bytes, a partial of float32 holds 88
    bytes, and a partial of complex numbers holds twice as many.

    Parameters
    ----------
    x : array_like
        The items, as in `sum`.
    axis : int, optional
        The axis of `x` along which items are numbered. Items are reduced
        element by element. Without an axis, the items are those of the
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

    __module__ = "treefold.exact"
    __qualname__ = "Partial"
    __slots__ = ()
    _VERSION = 2

    def __init__(self, x: ArrayLike, *, axis: SupportsIndex | None = None) -> None:
        array = as_array(x, "x")
        check_inexact(array.dtype, "x")
        rows, self._shape = items_along(array, axis)
        self._native, self._dtype = _native.ExactPartial.new(rows), array.dtype

    def __reduce__(self):
        return _restored_exact, (self._VERSION, self._dtype.str, self._shape, self._native.words())

    def __repr__(self):
        items = counted(self._native.items(self._row()), "item")
        return f"<treefold.exact.Partial: {items} of type {self._dtype} and shape {self._shape}>"


ExactPartial.__name__ = "Partial"
