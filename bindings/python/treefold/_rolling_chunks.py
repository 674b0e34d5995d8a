"""Exact statistics of windows that move over dask arrays."""

import functools
import inspect
from typing import Any, SupportsIndex

import dask.array as da
import numpy as np

from . import exact
from ._arrays import index


class RollingWindows:
    """Windows that move over a vector: `exact_rolling` makes it. It has the methods of `treefold.exact.RollingWindows`."""

    def __init__(self, x: Any, window: SupportsIndex, min_periods: SupportsIndex | None) -> None:
        if np.ndim(x) != 1:
            raise ValueError(f"x has {np.ndim(x)} axes, not one")
        if isinstance(x, da.Array) and np.isnan(x.shape[0]):
            raise ValueError("x has chunks of unknown sizes: call x.compute_chunk_sizes()")
        self._x, self._window, self._min_periods = x, index(window, "window"), min_periods
        # It checks the others.
        exact.rolling(np.zeros(0), self._window, min_periods)

    def _values(self, statistic, others, options):
        values = functools.partial(_of_windows, statistic=statistic, window=self._window, least=self._min_periods, options=options)
        arrays = (self._x, *others)
        if not any(isinstance(array, da.Array) for array in arrays):
            return values(*arrays)
        arrays = [da.asanyarray(array) for array in arrays]
        dtype = values(*(np.zeros(1, array.dtype) for array in arrays)).dtype
        before = {0: (min(self._window - 1, arrays[0].shape[0]), 0)}
        return da.overlap.map_overlap(values, *arrays, depth=before, boundary="none", dtype=dtype, meta=np.empty(0, dtype))


def _of_windows(*blocks, statistic, window, least, options):
    x, *others = blocks
    return getattr(exact.rolling(x, window, least), statistic)(*others, **options)


def _rolling_method(name):
    signature = inspect.signature(getattr(exact.RollingWindows, name))
    # Columns have no default, and options have one.
    columns = [parameter.name for parameter in signature.parameters.values() if parameter.default is parameter.empty][1:]

    def method(self, *arguments, **keywords):
        options = signature.bind(self, *arguments, **keywords).arguments
        del options["self"]
        return self._values(name, [options.pop(column) for column in columns], options)

    method.__name__, method.__qualname__, method.__signature__ = name, f"RollingWindows.{name}", signature
    method.__doc__ = f"`treefold.exact.RollingWindows.{name}`."
    setattr(RollingWindows, name, method)


for _name in vars(exact.RollingWindows):
    if not _name.startswith("_"):
        _rolling_method(_name)


def exact_rolling(x: Any, window: SupportsIndex, min_periods: SupportsIndex | None = None) -> RollingWindows:
    """Windows that end at each item, as `treefold.exact.rolling` has them: `exact_rolling(x, window).sum()`, `.mean()` and others.

    Parameters
    ----------
    x : dask.array.Array or array_like
        A vector, whose chunks have known sizes. Each takes the last `window` - 1 items before it from its neighbours.
    window : int
        The items of a window.
    min_periods : int, optional
        Windows of fewer items have the value NaN; by default those of fewer than `window` items.
    """
    return RollingWindows(x, window, min_periods)
