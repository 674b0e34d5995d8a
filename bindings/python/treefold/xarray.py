"""`DataArray.treefold` and `Dataset.treefold`: reductions by the names of dimensions, in memory and over dask.

Importing this module registers them. They are shorthands of `reduce`: `array.reduce(treefold.dask.sum, "time", skipna=True)`.

>>> import numpy as np, xarray, treefold.xarray
>>> array = xarray.DataArray([[0.1, np.nan], [0.2, 0.3]], dims=("time", "x"))
>>> array.treefold.sum("time").values.tolist()
[0.30000000000000004, 0.3]
>>> array.treefold.sum("time", min_count=2).values.tolist()
[0.30000000000000004, nan]
"""

import xarray

from . import dask

__all__ = ["Accessor"]


@xarray.register_dataarray_accessor("treefold")
@xarray.register_dataset_accessor("treefold")
class Accessor:
    """The reductions of `treefold.dask`, with dimensions in place of axes.

    `dim` is a name, several, or None for all; `keepdims`, `keep_attrs` are those of `xarray.DataArray.reduce`. `skipna` is true by default, as in xarray:
    items that are NaN do not count. Other keywords, such as `min_count`, `ddof` and `dtype`, are those of the function.
    """

    def __init__(self, array):
        self._array = array

    def _reduce(self, function, dim, skipna, keywords):
        skipna = True if skipna is None else bool(skipna)
        if keywords.get("min_count", 0) is None:
            del keywords["min_count"]
        return self._array.reduce(function, dim, skipna=skipna, **keywords)


def _method(name):
    function = getattr(dask, name)

    def method(self, dim=None, *, skipna=None, **keywords):
        return self._reduce(function, dim, skipna, keywords)

    method.__name__ = name
    method.__qualname__ = f"Accessor.{name}"
    method.__doc__ = f"`treefold.dask.{name}` along dimensions."
    return method


for _name in dask.__all__:
    if _name not in ("GroupBy", "dot", "exact_dot", "exact_groupby"):
        setattr(Accessor, _name, _method(_name))
