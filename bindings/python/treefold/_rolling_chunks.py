"""Computes exact statistics of moving windows over dask arrays."""

import functools

import dask.array as da
import numpy as np

from . import exact
from ._arrays import index
from ._functions import STATISTICS, columns_of, ddof_of, docstring, made, options_of, signature

_TEXTS = {
    "y": "dask.array.Array or array_like\n    As many items as `x` has.",
    "weights": "dask.array.Array or array_like\n    The weight of each item.",
}


class RollingWindows:
    """Moving windows over a vector, created by `exact_rolling`.

    The methods are those of `treefold.exact.RollingWindows`. They return a dask
    array with a result for each item, or a NumPy array if no argument is a dask
    array.
    """

    def __init__(self, x, window, min_periods):
        if np.ndim(x) != 1:
            raise ValueError(f"x has {np.ndim(x)} axes, not one")
        if isinstance(x, da.Array) and np.isnan(x.shape[0]):
            raise ValueError("x has chunks of unknown sizes: call x.compute_chunk_sizes()")
        self._x, self._window, self._min_periods = x, index(window, "window"), min_periods
        # This call only checks the arguments.
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


def _method(name):
    _, *others = columns_of(name)

    def method(self, **arguments):
        return self._values(name, [arguments.pop(other) for other in others], arguments)

    parameters = signature(["self", *others, *options_of(name)], [], {"ddof": ddof_of(name), "bias": True})
    summary = STATISTICS[name].format("each window's pairs" if others else "each window's items")
    return made(f"RollingWindows.{name}", parameters, method, docstring(f"{summary}.", parameters, _TEXTS))


for _name in STATISTICS:
    setattr(RollingWindows, _name, _method(_name))


def exact_rolling(x, window, min_periods=None):
    """A window that ends at each item: `exact_rolling(x, window).sum()`, ….

    Parameters
    ----------
    x : dask.array.Array or array_like
        A vector whose chunks have known sizes. Each chunk gets the last
        `window` - 1 items before it from earlier chunks.
    window : int
        The number of items in a window.
    min_periods : int, optional
        The value of a window with fewer items is NaN. The default is `window`.

    Returns
    -------
    RollingWindows

    Raises
    ------
    ValueError
        The window is not positive, or chunks have unknown sizes.

    Examples
    --------
    >>> import dask.array as da
    >>> import treefold.dask
    >>> x = da.from_array([1e16, 1.0, 3.0, 4.0], chunks=2)
    >>> treefold.dask.exact_rolling(x, 2).mean().compute().tolist()
    [nan, 5000000000000000.0, 2.0, 3.5]
    """
    return RollingWindows(x, window, min_periods)
