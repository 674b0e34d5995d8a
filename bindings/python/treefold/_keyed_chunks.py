"""Exact statistics by key of dask arrays."""

import functools
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike

from . import _chunks
from ._arrays import as_array, as_doubles, as_unmasked, contiguous
from ._keyed import as_complex, as_exact_floats, slots_of


class GroupBy:
    """Items in groups of equal keys: `exact_groupby` makes it.

    Attributes
    ----------
    keys : ndarray
        The groups, in the order of all results.
    """

    __slots__ = ("_array", "keys")

    def __init__(self, array: Any, groups: ArrayLike) -> None:
        if np.ndim(array) != 1:
            raise ValueError(f"keys have {np.ndim(array)} axes, not one")
        self._array, self.keys = array, as_unmasked(groups, "groups")
        if self.keys.ndim != 1:
            raise ValueError(f"groups have {self.keys.ndim} axes, not one")
        if len(np.unique(self.keys)) < len(self.keys):
            raise ValueError("groups: a key is there twice")

    def sum(self, x: Any, split_every: Any = None) -> Any:
        """The exact sum of each group's items, rounded once; that of nothing is 0.0."""
        return self._reduced("sum", (x,), split_every)

    def count(self, split_every: Any = None) -> Any:
        """The number of items of each group."""
        return self._reduced("count", (self._array,), split_every)

    def mean(self, x: Any, split_every: Any = None) -> Any:
        """The exact mean of each group's items, rounded once; NaN where there are none."""
        return self._reduced("mean", (x,), split_every)

    def var(self, x: Any, ddof: float = 1, split_every: Any = None) -> Any:
        """The exact variance of each group's items, rounded once, as `treefold.exact.groupby` has it."""
        return self._reduced("var", (x,), split_every, ddof)

    def std(self, x: Any, ddof: float = 1, split_every: Any = None) -> Any:
        """The square root of `var`, rounded once."""
        return self._reduced("std", (x,), split_every, ddof)

    def skewness(self, x: Any, bias: bool = True, split_every: Any = None) -> Any:
        """The exact skewness of each group's items, rounded once."""
        return self._reduced("skewness", (x,), split_every, bias=bias)

    def kurtosis(self, x: Any, bias: bool = True, split_every: Any = None) -> Any:
        """The exact excess kurtosis of each group's items, rounded once."""
        return self._reduced("kurtosis", (x,), split_every, bias=bias)

    def average(self, x: Any, weights: Any, split_every: Any = None) -> Any:
        """The exact weighted mean of each group's items, rounded once."""
        return self._reduced("average", (x, weights), split_every)

    def cov(self, x: Any, y: Any, ddof: float = 1, split_every: Any = None) -> Any:
        """The exact covariance of each group's pairs, rounded once."""
        return self._reduced("cov", (x, y), split_every, ddof)

    def corr(self, x: Any, y: Any, split_every: Any = None) -> Any:
        """The exact correlation of each group's pairs, rounded once."""
        return self._reduced("corr", (x, y), split_every)

    def _reduced(self, statistic, columns, split_every, ddof=0, bias=True):
        keys, *columns = _chunks.vectors((self._array, *columns), ("keys", "x", "y"))
        dtype = np.result_type(*(np.float64 if one.dtype.kind not in "fc" else one.dtype for one in columns))
        if dtype.kind == "c" and statistic not in ("sum", "count"):
            raise TypeError("x has complex elements, whose groups have sums alone")
        state = functools.partial(_state, groups=self.keys, statistic=statistic, dtype=dtype)
        finish = functools.partial(_values, statistic=statistic, ddof=float(ddof), bias=bool(bias))
        result = np.dtype(np.int64) if statistic == "count" else dtype
        if isinstance(keys, da.Array):
            return _chunks.by_group(state, (keys, *columns), finish, len(self.keys), result, split_every)
        return finish(*state(keys, *columns))


def _codes(keys, groups):
    """For each key, the number of its group, and whether it has one."""
    order = np.argsort(groups, kind="stable")
    if not len(groups):
        return np.zeros(keys.shape, np.int64), np.zeros(keys.shape, bool)
    places = np.minimum(np.searchsorted(groups[order], keys), len(groups) - 1)
    codes = order[places].astype(np.int64)
    return codes, groups[codes] == keys


def _state(keys, *columns, groups, statistic, dtype):
    codes, known = _codes(np.asarray(keys), groups)
    known &= ~np.ma.getmaskarray(keys)
    codes = contiguous(codes[known])
    if statistic == "count":
        return (np.bincount(codes, minlength=len(groups)),)
    columns, beyond = [as_array(one, name)[known] for one, name in zip(columns, ("x", "y"))], 0
    if statistic in ("sum", "mean", "var", "std") and columns[0].dtype.kind in "biu":
        columns[0], beyond = as_doubles(columns[0])
        codes = np.resize(codes, len(columns[0]))
    columns = [as_exact_floats(one, name).astype(dtype, copy=False) for one, name in zip(columns, ("x", "y"))]
    parts = [[columns[0].real], [columns[0].imag]] if dtype.kind == "c" else [columns]
    return tuple(_slots(statistic, codes, [contiguous(column) for column in part], beyond, len(groups)) for part in parts)


def _slots(statistic, codes, columns, beyond, groups):
    """Of all items but so many at the end, which are taken back."""
    kept = len(codes) - beyond
    slots = slots_of(statistic, codes[:kept], [column[:kept] for column in columns], groups)
    if beyond:
        slots.change(codes[kept:], [column[kept:] for column in columns], True)
    return slots


def _values(*states, statistic, ddof, bias):
    if statistic == "count":
        return states[0]
    values = [state.values(statistic, ddof, bias) for state in states]
    return values[0] if len(values) == 1 else as_complex(*values)


def exact_groupby(keys: Any, groups: ArrayLike) -> GroupBy:
    """Groups the items of dask arrays by keys: `exact_groupby(keys, groups).sum(x)`, `.mean(x)`, `.cov(x, y)` and other statistics.

    Parameters
    ----------
    keys : dask.array.Array or array_like
        A vector of what NumPy sorts; items whose keys are masked are left out. Chunks may have unknown sizes, if those of the items are the same.
    groups : array_like
        The keys that results are wanted of, each once. Items with other keys are left out.

    Returns
    -------
    GroupBy, whose methods return dask arrays with a result for each group, or arrays of NumPy's.

    Examples
    --------
    >>> import dask.array as da
    >>> import treefold.dask
    >>> keys, x = da.from_array([3, 1, 3, 7], chunks=3), da.from_array([1e300, 0.5, -1e300, 2.0], chunks=3)
    >>> treefold.dask.exact_groupby(keys, [1, 3]).sum(x).compute().tolist()
    [0.5, 0.0]
    """
    return GroupBy(keys, groups)


def _products(x, y, *, dtype):
    x, y = (contiguous(as_unmasked(one, name).astype(dtype, copy=False)) for one, name in ((x, "x"), (y, "y")))
    if dtype.kind != "c":
        return (_dot(x, y),)
    parts = [contiguous(part) for part in (x.real, x.imag, y.real, y.imag)]
    real = np.concatenate([parts[0], -parts[1]]), np.concatenate([parts[2], parts[3]])
    imaginary = np.concatenate([parts[0], parts[1]]), np.concatenate([parts[3], parts[2]])
    return tuple(_dot(*pair) for pair in (real, imaginary))


def _dot(x, y):
    return slots_of("dot", np.zeros(len(x), np.int64), [x, y], 1)


def _product_value(*states):
    values = [state.values("dot", 0.0, True)[0] for state in states]
    return values[0] if len(values) == 1 else as_complex(*values)[()]


def exact_dot(x: Any, y: Any, *, split_every: Any = None) -> Any:
    """As `treefold.dask.exact_sum`, of `treefold.exact.dot` of two vectors: no product is rounded."""
    x, y = _chunks.vectors((x, y), ("x", "y"))
    dtype = np.result_type(x.dtype, y.dtype)
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    state = functools.partial(_products, dtype=dtype)
    if not isinstance(x, da.Array):
        return _product_value(*state(x, y))
    return _chunks.reduced(state, (x, y), (0,), _product_value, dtype, split_every=split_every)
