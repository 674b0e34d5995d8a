"""Reduces xarray's arrays along named dimensions, in memory and over dask.

Importing this module registers the accessors `treefold` and `exact` of arrays
and of data sets. Their methods are shorthands for calls of `reduce`, such as
`array.reduce(treefold.dask.sum, "time", skipna=True)`.

>>> import numpy as np, xarray, treefold.xarray
>>> items = [[0.1, np.nan], [0.2, 0.3]]
>>> array = xarray.DataArray(items, dims=("time", "x"))
>>> array.treefold.sum("time").values.tolist()
[0.30000000000000004, 0.3]
>>> array.treefold.sum("time", min_count=2).values.tolist()
[0.30000000000000004, nan]
>>> weights = xarray.DataArray([1.0, 3.0], dims="time")
>>> array.exact.average(weights, "time").values.tolist()
[0.17500000000000002, 0.3]
"""

import functools
import inspect

import xarray

from . import dask
from ._functions import docstring, made, signature

__all__ = ["Accessor", "ExactAccessor"]


class _Accessor:
    """The base class of both accessors, without reductions."""

    def __init__(self, array):
        self._array = array

    def _reduce(self, function, second, dim, others, options):
        if not others:
            return self._array.reduce(function, dim, **options)
        if isinstance(self._array, xarray.Dataset):
            return self._array.map(lambda array: type(self)(array)._reduce(function, second, dim, others, options))
        array, other = xarray.broadcast(*xarray.align(self._array, *others, join="exact"))
        return array.reduce(functools.partial(_of_blocks, function=function, second=second, other=other.data), dim, **options)


def _of_blocks(array, axis=None, *, function, second, other, **options):
    return function(array, axis=axis, **{second: other}, **options)


@xarray.register_dataarray_accessor("treefold")
@xarray.register_dataset_accessor("treefold")
class Accessor(_Accessor):
    """`DataArray.treefold` and `Dataset.treefold`.

    Both have the reductions of `treefold.dask`, with dimensions instead of
    axes. Items that are NaN are skipped by default, as in xarray.
    """


@xarray.register_dataarray_accessor("exact")
@xarray.register_dataset_accessor("exact")
class ExactAccessor(_Accessor):
    """`DataArray.exact` and `Dataset.exact`.

    Both have the exact functions of `treefold.dask` under shorter names. For
    example, `array.exact.mean("time")` calls `treefold.dask.exact_mean`.
    """


_DEFAULTS = {"dim": None, "dtype": None, "bias": True, "skipna": True, "min_count": 0}
_DEFAULTS |= {"split_every": None, "keepdims": False, "keep_attrs": None}
_OPTIONS = ("dtype", "ddof", "bias", "min_count", "split_every")
_OTHER = "DataArray\n    It is broadcast by dimension names. Its coordinates must equal the array's."
_TEXTS = {
    "weights": _OTHER,
    "other": _OTHER,
    "dim": "str, iterable of hashable or None, optional\n    The dimensions to be reduced; all of them by default.",
    **dict.fromkeys(_OPTIONS, "optional\n    As in the function of `treefold.dask`."),
    **dict.fromkeys(("keepdims", "keep_attrs"), "bool, optional\n    As in `xarray.DataArray.reduce`."),
}


def _method(accessor, name, function):
    """Adds a function of `treefold.dask` to an accessor, as a method whose options are keywords."""
    of_axes = inspect.signature(function).parameters
    second = next((column for column in ("weights", "y") if column in of_axes), None)
    others = [] if second is None else ["other" if second == "y" else second]
    options = [option for option in _OPTIONS if option in of_axes]

    def method(self, dim, skipna, **arguments):
        arguments["skipna"] = True if skipna is None else skipna
        if arguments.get("min_count", 0) is None:
            arguments["min_count"] = 0
        return self._reduce(function, second, dim, [arguments.pop(other) for other in others], arguments)

    defaults = _DEFAULTS | ({"ddof": of_axes["ddof"].default} if "ddof" in of_axes else {})
    parameters = signature(["self", *others, "dim"], ["skipna", *options, "keepdims", "keep_attrs"], defaults)
    doc = docstring(f"`treefold.dask.{function.__name__}` along dimensions.", parameters, _TEXTS)
    setattr(accessor, name, made(f"{accessor.__name__}.{name}", parameters, method, doc))


for _name in dask.__all__:
    _function, _short = getattr(dask, _name), _name.removeprefix("exact_")
    _parameters = inspect.signature(_function).parameters
    if "axis" in _parameters:
        if not {"weights", "y"} & set(_parameters):
            _method(Accessor, _name, _function)
        if _name != _short:
            _method(ExactAccessor, _short, _function)
