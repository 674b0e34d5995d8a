"""Computes exact statistics by key of dask arrays."""

import functools

import dask.array as da
import numpy as np

from . import _chunks
from ._arrays import as_array, as_doubles, as_unmasked, contiguous
from ._functions import STATISTICS, columns_of, docstring, made, number, options_of, signature
from ._keyed import as_complex, as_exact_floats, slots_of

# The defaults of the methods' options. `ddof` is as in pandas' `groupby`.
_DEFAULTS = {"ddof": 1, "bias": True, "split_every": None}
_TEXTS = dict.fromkeys(("x", "y", "weights"), "dask.array.Array or array_like\n    As many items as there are keys.")


class GroupBy:
    """Items in groups of equal keys, created by `exact_groupby`.

    Methods return a dask array with a result for each group, or a NumPy array
    if no argument is a dask array. Without items, counts and sums are 0, and
    the other results are NaN.

    Attributes
    ----------
    keys : ndarray
        The keys of the groups, in the order of the results.
    """

    def __init__(self, keys, groups):
        if np.ndim(keys) != 1:
            raise ValueError(f"keys have {np.ndim(keys)} axes, not one")
        self._array, self.keys = keys, as_unmasked(groups, "groups")
        if self.keys.ndim != 1:
            raise ValueError(f"groups have {self.keys.ndim} axes, not one")
        distinct, counts = np.unique(self.keys, return_counts=True)
        for twice in distinct[counts > 1][:1].tolist():
            raise ValueError(f"groups: key {twice!r} occurs twice")

    def _reduced(self, statistic, columns, split_every, ddof=0, bias=True):
        keys, *columns = _chunks.vectors((self._array, *columns), ("keys", "x", "y"))
        dtype = np.result_type(*(np.float64 if one.dtype.kind not in "fc" else one.dtype for one in columns))
        if dtype.kind == "c" and statistic not in ("sum", "count"):
            raise TypeError("x has complex elements, whose only exact statistics by group are sum and count")
        state = functools.partial(_state, groups=self.keys, statistic=statistic, dtype=dtype)
        finish = functools.partial(_values, statistic=statistic, ddof=number(ddof, "ddof"), bias=bool(bias))
        result = np.dtype(np.int64) if statistic == "count" else dtype
        if isinstance(keys, da.Array):
            return _chunks.reduced(state, (keys, *columns), (0,), finish, result, split_every=split_every, groups=len(self.keys))
        return finish(*state(keys, *columns))


def _codes(keys, groups):
    """For each key, the index of its group, and whether it has a group."""
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
    """The state of the items. The last `beyond` items are removed instead of added."""
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


def exact_groupby(keys, groups):
    """Groups the items of dask arrays: `exact_groupby(keys, groups).sum(x)`, ….

    Parameters
    ----------
    keys : dask.array.Array or array_like
        A vector of keys that NumPy can sort; items with masked keys are left out.
        Chunks may have unknown sizes, if the items have the same chunks.
    groups : array_like
        The keys to return results for, each once. Items with other keys
        are left out.

    Returns
    -------
    GroupBy

    Raises
    ------
    ValueError
        Keys or groups are not a vector, or a group occurs twice.

    Examples
    --------
    >>> import dask.array as da
    >>> import treefold.dask
    >>> keys = da.from_array([3, 1, 3, 7], chunks=3)
    >>> x = da.from_array([1e300, 0.5, -1e300, 2.0], chunks=3)
    >>> groups = treefold.dask.exact_groupby(keys, [1, 3])
    >>> groups.sum(x).compute().tolist()
    [0.5, 0.0]
    """
    return GroupBy(keys, groups)


def _method(name):
    # `count` counts keys, not items.
    columns = columns_of(name) if name != "count" else []

    def method(self, split_every, **arguments):
        return self._reduced(name, [arguments.pop(column) for column in columns] or [self._array], split_every, **arguments)

    parameters = signature(["self", *columns, *options_of(name), "split_every"], [], _DEFAULTS)
    summary = STATISTICS[name].format("each group's pairs" if len(columns) == 2 else "each group's items")
    return made(f"GroupBy.{name}", parameters, method, docstring(f"{summary}.", parameters, _TEXTS))


for _name in STATISTICS:
    setattr(GroupBy, _name, _method(_name))


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


def exact_dot(x, y, split_every):
    """Implements `treefold.dask.exact_dot`, which rounds no product."""
    x, y = _chunks.vectors((x, y), ("x", "y"))
    dtype = np.result_type(x.dtype, y.dtype)
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    state = functools.partial(_products, dtype=dtype)
    if not isinstance(x, da.Array):
        return _product_value(*state(x, y))
    return _chunks.reduced(state, (x, y), (0,), _product_value, dtype, split_every=split_every)
