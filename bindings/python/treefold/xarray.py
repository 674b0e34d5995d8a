"""`DataArray.treefold`, `DataArray.exact` and those of a Dataset: reductions by the names of dimensions, in memory and over dask.

Importing this module registers them. They are shorthands of `reduce`: `array.reduce(treefold.dask.sum, "time", skipna=True)`.

>>> import numpy as np, xarray, treefold.xarray
>>> array = xarray.DataArray([[0.1, np.nan], [0.2, 0.3]], dims=("time", "x"))
>>> array.treefold.sum("time").values.tolist()
[0.30000000000000004, 0.3]
>>> array.treefold.sum("time", min_count=2).values.tolist()
[0.30000000000000004, nan]
>>> array.exact.average(xarray.DataArray([1.0, 3.0], dims="time"), "time").values.tolist()
[0.17500000000000002, 0.3]
"""

import functools

import xarray

from . import dask

__all__ = ["Accessor", "ExactAccessor"]


class _Accessor:
    """What both accessors have: no reduction of their own."""

    def __init__(self, array):
        self._array = array

    def _reduce(self, function, dim, skipna, keywords):
        skipna = True if skipna is None else bool(skipna)
        if keywords.get("min_count", 0) is None:
            del keywords["min_count"]
        return self._array.reduce(function, dim, skipna=skipna, **keywords)


@xarray.register_dataarray_accessor("treefold")
@xarray.register_dataset_accessor("treefold")
class Accessor(_Accessor):
    """The reductions of `treefold.dask`, with dimensions in place of axes.

    `dim` is a name, several, or None for all; `keepdims`, `keep_attrs` are those of `xarray.DataArray.reduce`. `skipna` is true by default, as in xarray:
    items that are NaN do not count. Other keywords, such as `min_count`, `ddof` and `dtype`, are those of the function.
    """


@xarray.register_dataarray_accessor("exact")
@xarray.register_dataset_accessor("exact")
class ExactAccessor(_Accessor):
    """`DataArray.exact` and `Dataset.exact`: the exact functions of `treefold.dask` by their short names, `array.exact.mean("time")`.

    They are `sum`, `mean`, `var`, `std`, `skewness` and `kurtosis`; with another DataArray, to whose dimensions and coordinates the array is
    broadcast, `average(weights, dim)`, `cov(other, dim)` and `corr(other, dim)`: pairs of which one is NaN do not count.
    """

    def _pair(self, function, other, dim, skipna, keywords):
        if isinstance(self._array, xarray.Dataset):
            return self._array.map(lambda array: type(self)(array)._pair(function, other, dim, skipna, keywords))
        array, other = xarray.broadcast(*xarray.align(self._array, other, join="exact"))
        return type(self)(array)._reduce(functools.partial(function, other=other.data), dim, skipna, dict(keywords))


def _method(accessor, name, function):
    def method(self, dim=None, *, skipna=None, **keywords):
        return self._reduce(function, dim, skipna, keywords)

    method.__doc__ = f"`treefold.dask.{function.__name__}` along dimensions."
    _set(accessor, name, method)


def _method_of_pairs(name, function, second):
    def of_blocks(array, axis=None, *, other, **keywords):
        return function(array, axis=axis, **{second: other}, **keywords)

    def method(self, other, dim=None, *, skipna=None, **keywords):
        return self._pair(of_blocks, other, dim, skipna, keywords)

    method.__doc__ = f"`treefold.dask.{function.__name__}` along dimensions."
    _set(ExactAccessor, name, method)


def _set(accessor, name, method):
    method.__name__, method.__qualname__ = name, f"{accessor.__name__}.{name}"
    setattr(accessor, name, method)


_OF_PAIRS = {"average": "weights", "cov": "y", "corr": "y"}
for _name in dask.__all__:
    _function, _short = getattr(dask, _name), _name.removeprefix("exact_")
    if _short in ("GroupBy", "RollingWindows", "dot", "groupby", "rolling"):
        continue
    if _short in _OF_PAIRS:
        _method_of_pairs(_short, _function, _OF_PAIRS[_short])
        continue
    _method(Accessor, _name, _function)
    if _name != _short:
        _method(ExactAccessor, _short, _function)
