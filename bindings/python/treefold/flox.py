"""Defines exact reductions by group for flox, which xarray uses for its groups.

The bits do not depend on chunks, cohorts or order, in memory or over dask.

>>> import numpy as np, flox, treefold.flox
>>> labels = np.array([2, 1, 2, 1])
>>> x = np.array([1e300, 0.1, -1e300, 0.2])
>>> function = treefold.flox.aggregation("sum")
>>> sums, groups = flox.groupby_reduce(x, labels, func=function)
>>> sums.tolist(), groups.tolist()
([0.30000000000000004, 0.0], [1, 2])

Statistics of two arrays, such as an array and its weights, take pairs:

>>> pairs = treefold.flox.pairs(x, [1.0, 1.0, 1.0, 3.0])
>>> function = treefold.flox.aggregation("average")
>>> means, _ = flox.groupby_reduce(pairs, labels, func=function)
>>> means.tolist()
[0.17500000000000002, 0.0]
"""

import functools
import operator
import sys

import numpy as np
from flox import Aggregation

from . import _native, exact
from ._arrays import as_array, contiguous
from ._functions import columns_of, number
from ._keyed import as_complex, as_exact_floats, slots_of

__all__ = ["aggregation", "pairs"]

# The statistics that complex items support, too.
_OF_ACCUMULATORS = ("sum", "mean", "var", "std")


class _Empty:
    """The state of a group without items in a block, whatever the type of the items."""

    def __add__(self, other):
        return other

    def __reduce__(self):
        return "_EMPTY"

    def __dask_tokenize__(self):
        return "treefold.flox._EMPTY"


_EMPTY = _Empty()


def _groups(group_idx, items):
    """Yields the number of each group, and its items along the last axis."""
    group_idx = np.asarray(group_idx).ravel()
    order = np.argsort(group_idx, kind="stable")
    numbers, starts = np.unique(group_idx[order], return_index=True)
    for number, places in zip(numbers.tolist(), np.split(order, starts[1:])):
        if number >= 0 and len(places):
            yield number, items[..., places]


def _slots(statistic, columns):
    """The slots of items that all have the same key."""
    return slots_of(statistic, np.zeros(len(columns[0]), np.int64), [contiguous(column) for column in columns], 1)


def _state(row, dtype, statistic):
    """The state of the items in a vector."""
    if len(columns_of(statistic)) == 2:
        return _slots(statistic, [part.astype(np.float64) for part in (row.real, row.imag)])
    if statistic not in _OF_ACCUMULATORS:
        return _slots(statistic, [as_exact_floats(row, "array")])
    state = exact.Accumulator(dtype)
    state.add(row)
    return state


def _states(group_idx, array, *, statistic, size=None, skipna=False, **_):
    """An array with a state for each position along the axes before the last, and for each group."""
    items = as_array(array, "array")
    if len(columns_of(statistic)) == 2 and items.dtype.kind != "c":
        raise TypeError(f"array has elements of type {items.dtype}, but `{statistic}` takes pairs: make them with treefold.flox.pairs")
    dtype = items.dtype if items.dtype.kind in "fc" else np.float64
    size = int(np.max(group_idx, initial=-1)) + 1 if size is None else size
    states = np.full((*items.shape[:-1], size), _EMPTY, object)
    for number, some in _groups(group_idx, items):
        for at in np.ndindex(some.shape[:-1]):
            row = some[at]
            states[(*at, number)] = _state(row[~np.isnan(row)] if skipna else row, dtype, statistic)
    return states


def _merged(states):
    """Merges several states without changing them."""
    return functools.reduce(operator.add, (state for state in states if state is not _EMPTY), _EMPTY)


def _combined(*arguments, axis=None, keepdims=True, size=None, **_):
    """Merges an array of states along axes, or states by group if groups are given."""
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


def _value(state, statistic, ddof, bias):
    if state is _EMPTY:
        state = _slots(statistic, [np.empty(0)] * len(columns_of(statistic)))
    if isinstance(state, _native.ExactSlots):
        return state.values(statistic, ddof, bias)[0]
    if statistic in ("sum", "mean"):
        return state.value() if statistic == "sum" else state.mean()
    return getattr(state, statistic)(ddof)


def _values(states, **options):
    found = [None if state is _EMPTY else _value(state, **options) for state in states.ravel()]
    # A group without items has no type.
    dtypes = {value.dtype for value in found if value is not None} or {np.dtype(np.float64)}
    nothing = _value(_EMPTY, **options)
    return np.array([nothing if value is None else value for value in found], np.result_type(*dtypes)).reshape(states.shape)


def _at_once(group_idx, array, *, statistic, skipna, size=None, ddof, bias, **_):
    return _values(_states(group_idx, array, statistic=statistic, size=size, skipna=skipna), statistic=statistic, ddof=ddof, bias=bias)


def _finalized(states, **options):
    # If flox reduces in memory, the results are already values.
    return _values(states, **options) if states.dtype == object else states


def aggregation(statistic, *, ddof=None, bias=True, skipna=False):
    """A reduction to pass as `func` to `flox.groupby_reduce` or `xarray_reduce`.

    Parameters
    ----------
    statistic : str
        "count", "sum", "mean", "var", "std", "min", "max", "norm", "skewness"
        or "kurtosis", rounded once as in `treefold.exact`. For arrays from
        `pairs`: "dot", "average", "cov", "corr", "slope" or "intercept".
        Without items, "count", "sum", "dot" and "norm" are 0; others are NaN.
    ddof : float, optional
        The divisor is the number of items minus `ddof`. The default is 1 for
        "cov" and 0 for the other statistics.
    bias : bool, optional
        True for the skewness or kurtosis of the items (g1, g2), false for
        the estimate for a population (G1, G2).
    skipna : bool, optional
        Whether to skip NaNs and pairs that contain a NaN.

    Returns
    -------
    flox.Aggregation
        Its intermediate states are arrays of objects.

    Raises
    ------
    ValueError
        The statistic is none of these.

    Examples
    --------
    >>> import flox, treefold.flox
    >>> function = treefold.flox.aggregation("var", ddof=1)
    >>> flox.groupby_reduce([1.0, 2.0, 9.0], [0, 0, 1], func=function)[0]
    array([0.5, nan])
    """
    inputs, default = _native.statistic_defaults(statistic)
    options = {"statistic": statistic, "ddof": default if ddof is None else number(ddof, "ddof"), "bias": bool(bias)}
    return Aggregation(
        f"treefold_exact_{statistic}",
        numpy=functools.partial(_at_once, skipna=bool(skipna), **options),
        chunk=functools.partial(_states, statistic=statistic, skipna=bool(skipna)),
        combine=(_combined,),
        finalize=functools.partial(_finalized, **options),
        fill_value=_EMPTY,
        final_fill_value=_value(_EMPTY, **options),
        dtypes=object,
        final_dtype=np.float64 if inputs == 2 else np.floating,
    )


def pairs(x, y):
    """Combines two arrays into one array of pairs, which flox can group.

    Parameters
    ----------
    x, y : array_like, dask.array.Array or xarray.DataArray
        Floats, or integers up to 2^53. The arrays are broadcast; xarray's arrays
        are broadcast by dimension names. For an average, `y` has the weights.

    Returns
    -------
    ndarray, dask.array.Array or xarray.DataArray
        Complex numbers with `x` as real parts and `y` as imaginary parts.

    Examples
    --------
    >>> import treefold.flox
    >>> treefold.flox.pairs([1.0, 2.0], [3, 4])
    array([1.+3.j, 2.+4.j])
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
