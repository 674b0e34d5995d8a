"""What a chunk of the items contributes, as a value that can be pickled."""

import numpy as np

from . import _native
from ._arrays import as_array, index, items_along, row_width, size, widened

_VERSION = 1
_OPERATORS = ("sum", "prod", "min", "max")


def _restored(version, op, dtype, shape, total, nodes):
    if version != _VERSION:
        raise ValueError(f"a pickled partial of version {version}; this treefold reads version {_VERSION}")
    dtype = np.dtype(dtype)
    if not dtype.isnative:
        native_dtype = dtype.newbyteorder("=")
        nodes = [(x, y, np.frombuffer(row, dtype).astype(native_dtype).tobytes()) for x, y, row in nodes]
        dtype = native_dtype
    native = _native.Partial.from_nodes(op, total, row_width(shape), nodes)
    partial = object.__new__(Partial)
    partial._set(native, dtype, tuple(shape))
    return partial


class Partial:
    """What some of `total` items contribute to their reduction.

    Partials of different items merge, in any grouping, and that of all items has the bits of the reduction of all: of `sum`, or of
    what `op` names. So a reduction by chunks, in a pool of processes or over a file that is read in pieces does not depend on the
    chunks. A partial of a run of items holds at most 2 log2(total) results.

    Parameters
    ----------
    x : array_like
        The items, as in `sum`.
    start : int, optional
        The number of the first of them, counted from 0.
    total : int
        The number of all items.
    extents : sequence of (int, int), optional
        In place of `start`: the runs of items in `x`, each from its first number to the one after its last, in the order of `x`. So
        a block of a matrix has an extent for each of its rows.
    op : str, optional
        "sum", "prod", "min" or "max".
    axis : int, optional
        The axis of `x` along which the items lie; the others are reduced element by element. Without one, the items are those of the
        flattened array.

    Raises
    ------
    ValueError
        The items are not among those of `total`, or not as many as `extents` says.

    Examples
    --------
    >>> import numpy as np, pickle, treefold
    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> parts = [treefold.Partial(x[k : k + 300], k, total=1000) for k in range(0, 1000, 300)]
    >>> parts = [pickle.loads(pickle.dumps(part)) for part in parts]
    >>> bool((parts[3] + parts[1] + parts[0] + parts[2]).value() == treefold.sum(x))
    True
    """

    __slots__ = ("_dtype", "_native", "_shape")

    def __init__(self, x, start=None, total=None, *, extents=None, op="sum", axis=None):
        if total is None:
            raise TypeError("total is missing: the number of all items")
        if (start is None) == (extents is None):
            raise TypeError("either start or extents says which items x holds")
        if not isinstance(op, str) or op not in _OPERATORS:
            raise ValueError(f"op: {op!r} is none of {', '.join(_OPERATORS)}")
        array = as_array(x, "x")
        if op in ("sum", "prod"):
            array = widened(array)
        elif array.dtype.kind == "b":
            raise TypeError(f"x has elements of type bool, for which op={op} is not defined")
        rows, shape = items_along(array, axis)
        if extents is None:
            start = _natural(start, "start")
            _natural(start + rows.shape[0], "start: the end of x")
            extents = [(start, start + rows.shape[0])]
        else:
            extents = _pairs(extents)
        native = _native.Partial.new(op, _natural(total, "total"), extents, rows)
        self._set(native, array.dtype, shape)

    def _set(self, native, dtype, shape):
        self._native, self._dtype, self._shape = native, dtype, shape

    def merge(self, other):
        """Adds the items of another partial: `+` makes a new one.

        Raises
        ------
        ValueError
            They are of another `total`, operator, type or shape, or an item is in both.
        """
        if not isinstance(other, Partial):
            raise TypeError(f"other is a {type(other).__name__}, and not a Partial")
        if (self._dtype, self._shape) != (other._dtype, other._shape):
            raise ValueError(
                f"other has items of type {other._dtype} and shape {other._shape}; these have {self._dtype} and {self._shape}"
            )
        self._native = self._native.merge(other._native, np.empty(0, self._dtype))

    def __add__(self, other):
        if not isinstance(other, Partial):
            return NotImplemented
        merged = object.__new__(Partial)
        merged._set(self._native, self._dtype, self._shape)
        merged.merge(other)
        return merged

    def value(self):
        """The reduction of all items: a scalar, or an array if the items have axes.

        Raises
        ------
        ValueError
            Items are missing.
        """
        result = np.empty(row_width(self._shape), self._dtype)
        self._native.result(result)
        return result[: size(self._shape)].reshape(self._shape)[()]

    @property
    def op(self):
        """The name of the operator."""
        return self._native.op

    @property
    def total(self):
        """The number of all items."""
        return self._native.total

    def __reduce__(self):
        return _restored, (_VERSION, self.op, self._dtype.str, self._shape, self.total, self._native.nodes())

    def __repr__(self):
        return f"<treefold.Partial: op={self.op}, total={self.total}, {self._native.nodes_count} subtrees>"


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
