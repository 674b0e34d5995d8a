"""Exact reductions by group for flox, and so for xarray's groups, in memory and over dask: no bit depends on chunks, cohorts or order.

>>> import numpy as np, flox, treefold.flox
>>> labels = np.array([2, 1, 2, 1])
>>> x = np.array([1e300, 0.1, -1e300, 0.2])
>>> sums, groups = flox.groupby_reduce(x, labels, func=treefold.flox.aggregation("sum"))
>>> sums.tolist(), groups.tolist()
([0.30000000000000004, 0.0], [1, 2])

Of two arrays, as an array and its weights:

>>> pairs = treefold.flox.pairs(x, [1.0, 1.0, 1.0, 3.0])
>>> means, _ = flox.groupby_reduce(pairs, labels, func=treefold.flox.aggregation("average"))
>>> means.tolist()
[0.17500000000000002, 0.0]
"""

import functools
import operator
import sys
from typing import Any

import numpy as np
from flox import Aggregation

from . import _native, exact
from ._arrays import as_array, contiguous
from ._keyed import as_complex, as_exact_floats, slots_of

__all__ = ["aggregation", "pairs"]

# Of complex items as well, and of no items without a type; of pairs, which are complex numbers to flox; the others.
_OF_ACCUMULATORS = ("sum", "mean", "var", "std")
_OF_PAIRS = ("average", "cov", "corr")
_STATISTICS = (*_OF_ACCUMULATORS, "skewness", "kurtosis", *_OF_PAIRS)


class _Empty:
    """The state of a group without items in a block, whatever their type."""

    def __add__(self, other):
        return other

    def __reduce__(self):
        return "_EMPTY"

    def __dask_tokenize__(self):
        return "treefold.flox._EMPTY"


_EMPTY = _Empty()


def _groups(group_idx, items):
    """Each group's number, and its items along the last axis."""
    group_idx = np.asarray(group_idx).ravel()
    order = np.argsort(group_idx, kind="stable")
    numbers, starts = np.unique(group_idx[order], return_index=True)
    for number, places in zip(numbers.tolist(), np.split(order, starts[1:])):
        if number >= 0 and len(places):
            yield number, items[..., places]


def _state(row, dtype, statistic):
    """What is held of some items: an accumulator, or else slots of one key."""
    if statistic not in _OF_ACCUMULATORS:
        columns = [part.astype(np.float64) for part in (row.real, row.imag)] if statistic in _OF_PAIRS else [as_exact_floats(row, "array")]
        return slots_of(statistic, np.zeros(len(row), np.int64), [contiguous(column) for column in columns], 1)
    state = exact.Accumulator(dtype)
    state.add(row)
    return state


def _states(group_idx, array, *, statistic, size=None, skipna=False, **_):
    """A state for each place and group."""
    items = as_array(array, "array")
    if statistic in _OF_PAIRS and items.dtype.kind != "c":
        raise TypeError(f"array has elements of type {items.dtype}, and `{statistic}` is of pairs: treefold.flox.pairs makes them")
    dtype = items.dtype if items.dtype.kind in "fc" else np.float64
    size = int(np.max(group_idx, initial=-1)) + 1 if size is None else size
    states = np.full((*items.shape[:-1], size), _EMPTY, object)
    for number, some in _groups(group_idx, items):
        for at in np.ndindex(some.shape[:-1]):
            row = some[at]
            states[(*at, number)] = _state(row[~np.isnan(row)] if skipna else row, dtype, statistic)
    return states


def _merged(states):
    """One of several, which stay as they are."""
    return functools.reduce(operator.add, (state for state in states if state is not _EMPTY), _EMPTY)


def _combined(*arguments, axis=None, keepdims=True, size=None, **_):
    """Along axes, if it is given an array of states; by group, if it is given groups before."""
    if len(arguments) == 1:
        (states,) = arguments
        axes = tuple(one % states.ndim for one in (axis if isinstance(axis, tuple) else (axis,)))
        moved = np.moveaxis(states, axes, range(len(axes)))
        result = np.empty(moved.shape[len(axes) :], object)
        rows = moved.reshape(-1, *result.shape)
        for at in np.ndindex(result.shape):
            result[at] = _merged(rows[(slice(None), *at)])
        return np.expand_dims(result, axes) if keepdims else result
    group_idx, states = arguments
    result = np.full((*states.shape[:-1], size), _EMPTY, object)
    for number, some in _groups(group_idx, states):
        for at in np.ndindex(some.shape[:-1]):
            result[(*at, number)] = _merged(some[at])
    return result


def _values(states, statistic, ddof, bias):
    def value(state):
        if state is _EMPTY:
            return 0.0 if statistic == "sum" else np.nan
        if statistic not in _OF_ACCUMULATORS:
            return state.values(statistic, ddof, bias)[0]
        if statistic in ("sum", "mean"):
            return state.value() if statistic == "sum" else state.mean()
        return getattr(state, statistic)(ddof)

    values = [value(state) for state in states.ravel()]
    dtypes = {value.dtype for value in values if isinstance(value, np.generic)} or {np.dtype(np.float64)}
    return np.array(values, np.result_type(*dtypes)).reshape(states.shape)


def _at_once(group_idx, array, *, statistic, skipna, size=None, ddof, bias, **_):
    return _values(_states(group_idx, array, statistic=statistic, size=size, skipna=skipna), statistic, ddof, bias)


def _finalized(states, *, statistic, ddof, bias):
    # What flox reduces in memory has values already.
    return _values(states, statistic, ddof, bias) if states.dtype == object else states


def aggregation(statistic: str, *, ddof: float | None = None, bias: bool = True, skipna: bool = False) -> Aggregation:
    """What `flox.groupby_reduce` and `flox.xarray.xarray_reduce` take as `func`.

    Parameters
    ----------
    statistic : str
        "sum", "mean", "var", "std", "skewness" or "kurtosis", as `treefold.exact` has them: rounded once. Of arrays that `pairs` makes:
        "average", "cov" or "corr". The sum of nothing is 0.0, the others are NaN.
    ddof : float, optional
        For variances 0 by default, and for covariances 1, as in `treefold.exact`.
    bias : bool, optional
        Whether a skewness or kurtosis is that of the items (g1, g2), or the estimate of a population's (G1, G2).
    skipna : bool, optional
        Whether items that are NaN, or pairs of which one is, do not count.

    Returns
    -------
    flox.Aggregation
        Its states between blocks are arrays of objects, one for each place and group.

    Raises
    ------
    ValueError
        There is no such statistic.
    """
    if statistic not in _STATISTICS:
        raise ValueError(f"statistic: {statistic!r} is none of {', '.join(_STATISTICS)}")
    ddof = _native.statistic_defaults(statistic)[1] if ddof is None else float(ddof)
    options = {"statistic": statistic, "ddof": ddof, "bias": bool(bias)}
    return Aggregation(
        f"treefold_exact_{statistic}",
        numpy=functools.partial(_at_once, skipna=bool(skipna), **options),
        chunk=functools.partial(_states, statistic=statistic, skipna=bool(skipna)),
        combine=(_combined,),
        finalize=functools.partial(_finalized, **options),
        fill_value=_EMPTY,
        final_fill_value=0.0 if statistic == "sum" else np.nan,
        dtypes=object,
        final_dtype=np.float64 if statistic in _OF_PAIRS else np.floating,
    )


def pairs(x: Any, y: Any) -> Any:
    """Two arrays as one of pairs, since flox groups one array.

    Parameters
    ----------
    x, y : array_like, dask.array.Array or xarray.DataArray
        Floats, or integers up to 2^53. They are broadcast, those of xarray by the names of dimensions. For an average, y has the weights.

    Returns
    -------
    An array of complex numbers, lazy if one of the two is: x are their real parts, and y the imaginary ones.
    """
    xarray, da = sys.modules.get("xarray"), sys.modules.get("dask.array")
    if xarray is not None and any(isinstance(one, (xarray.DataArray, xarray.Dataset)) for one in (x, y)):
        return xarray.apply_ufunc(pairs, x, y, dask="allowed")
    if da is not None and any(isinstance(one, da.Array) for one in (x, y)):
        return da.core.elemwise(_pairs, x, y, dtype=np.complex128)
    return _pairs(x, y)


def _pairs(x, y):
    columns = [as_exact_floats(as_array(one, name), name) for one, name in ((x, "x"), (y, "y"))]
    for name, column in zip("xy", columns):
        if column.dtype.kind == "c":
            raise TypeError(f"{name} has elements of type {column.dtype}, not floats or integers")
    return as_complex(*(column.astype(np.float64, copy=False) for column in columns))
