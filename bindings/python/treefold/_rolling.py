"""Exact sums of windows that move, in the forms of pandas."""

import datetime
import math
import numbers
from fractions import Fraction

import numpy as np

from . import _native
from ._arrays import as_unmasked, contiguous, counted, index
from ._keyed import as_vector, of_parts

_UINT_MAX = np.iinfo(np.uint64).max
# The units of times, in months and in attoseconds: a month has no fixed number of these.
_MONTHS = {"Y": 12, "M": 1}
_ATTOSECONDS = {unit: seconds * 10**18 for unit, seconds in zip("WDhms", (604_800, 86_400, 3_600, 60, 1))}
_ATTOSECONDS |= {unit: 1_000**place for place, unit in enumerate(("as", "fs", "ps", "ns", "us", "ms"))}


def _time(one):
    """A time, a date or a duration of Python's or pandas' as NumPy's, in UTC; anything else as it is."""
    if hasattr(one, "asm8"):
        return one.asm8
    if isinstance(one, datetime.timedelta):
        return np.timedelta64(one)
    if isinstance(one, datetime.datetime) and one.tzinfo is not None:
        one = one.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return np.datetime64(one) if isinstance(one, datetime.date) else one


def _as_index(on):
    """An array of numbers, times or durations."""
    dtype = getattr(on, "dtype", None)
    # Of pandas, with a zone.
    has_zone = hasattr(dtype, "tz") and hasattr(dtype, "unit")
    on = np.asarray(on, f"M8[{dtype.unit}]") if has_zone else as_unmasked(on, "on")
    if on.dtype.kind == "O":
        on = np.array([_time(one) for one in on.flat]).reshape(on.shape)
    if on.dtype.kind not in "iufmM":
        raise TypeError(f"on has elements of type {on.dtype}, not numbers or times")
    lost = np.flatnonzero(np.isnan(on))
    if lost.size:
        raise ValueError(f"on: element {lost[0]} is {on.flat[lost[0]]}")
    return on


def _as_numbers(on):
    """An index as uint64 or float64, with the same differences."""
    if on.dtype.kind == "f":
        return contiguous(on.astype(np.float64))
    if on.dtype.kind == "u":
        return contiguous(on.astype(np.uint64))
    return contiguous(on.astype(np.int64)).view(np.uint64) ^ np.uint64(1 << 63)


def _duration(window):
    """What pandas reads or has as a duration of NumPy's; anything else as it is."""
    if isinstance(window, str) or hasattr(window, "freqstr"):
        try:
            import pandas as pd
        except ImportError:
            raise TypeError(f"window: {window!r} is read by pandas, which is not installed: pass a numpy.timedelta64") from None
        try:
            offset = pd.tseries.frequencies.to_offset(window)
            window = pd.Timedelta(days=offset.n) if isinstance(offset, pd.offsets.Day) else pd.Timedelta(offset)
        except (TypeError, ValueError):
            raise ValueError(f"window: {window!r} has no fixed length") from None
    return _time(window)


def _in_units(window, dtype):
    """A duration of NumPy's in units of a type of times."""
    (unit, count), (own, step) = np.datetime_data(window.dtype), np.datetime_data(dtype)
    number = int(window.astype(np.int64))
    if unit == "generic":
        return Fraction(number)
    for sizes in (_MONTHS, _ATTOSECONDS):
        if unit in sizes and own in sizes:
            return Fraction(number * count * sizes[unit], step * sizes[own])
    raise TypeError(f"window: {window!r} has no fixed length in units of on, which has elements of type {dtype}")


def _check_width(width, window):
    if not width > 0:
        raise ValueError(f"window: {window} is not positive")


def _width(window, dtype):
    """The width of a window in units of an index of a type. Between integers it is rounded up, which leaves out the same items."""
    width = _duration(window)
    is_duration = isinstance(width, np.timedelta64)
    if dtype.kind in "mM":
        width = _in_units(width, dtype) if is_duration else index(width, "window")
    elif is_duration or isinstance(width, (bool, np.bool_)) or not isinstance(width, numbers.Real):
        raise TypeError(f"window: {window!r} is not a number, as on has elements of type {dtype}")
    _check_width(width, window)
    return float(width) if dtype.kind == "f" else math.ceil(min(width, 1 << 64))


class RollingWindows:
    """Windows that move over a vector: `rolling` makes it."""

    __slots__ = ("_index", "_least", "_width", "_x")

    def __init__(self, x, window, min_periods, on):
        self._x = as_vector(x, "x")
        length = len(self._x)
        if on is None:
            self._index, width = None, index(window, "window")
            _check_width(width, window)
            self._width, least = min(width, max(length, 1)), width
        else:
            on = _as_index(on)
            if on.shape != self._x.shape:
                raise ValueError(f"on has {counted(on.size, 'element')}, and x {counted(length, 'item')}")
            self._index, self._width, least = _as_numbers(on), _width(window, on.dtype), 1
            if on.dtype.kind != "f" and self._width > _UINT_MAX:
                if length and int(self._index[-1]) - int(self._index[0]) == _UINT_MAX:
                    raise ValueError(f"window: {window} is more than 2^64 - 1, as far as elements of on are apart")
                self._width = _UINT_MAX
        least = index(least if min_periods is None else min_periods, "min_periods")
        if least < 0:
            raise ValueError(f"min_periods: {least} is negative")
        self._least = min(least, length + 1)

    def _values(self, is_mean):
        def of_part(x):
            if self._index is None:
                return _native.exact_rolling(x, self._width, self._least, is_mean)
            return _native.exact_rolling_range(x, self._index, self._width, self._least, is_mean)

        return of_parts(self._x, of_part)

    def sum(self):
        """The exact sum of each window, rounded once."""
        return self._values(False)

    def mean(self):
        """The exact mean of each window, rounded once."""
        return self._values(True)


def rolling(x, window, min_periods=None, on=None):
    """Windows that end at each item: `rolling(x, window).sum()`, `.mean()`.

    Items that leave a window are taken back exactly, so nothing drifts, and nothing is left of an infinity or a NaN.

    Parameters
    ----------
    x : array_like
        A vector of floats or complex numbers; integers are converted to float64.
    window : int, or a width of `on`
        The items of a window; with `on`, how far back it reaches: it has the items whose index is more than that of its last item less the
        width. Where `on` has times, it is a duration of NumPy's, Python's or pandas', as `"36h"`, or an int, which counts units of `on`.
    min_periods : int, optional
        Windows of fewer items have the value NaN; by default those of fewer than `window` items, with `on` none.
    on : array_like, optional
        An ascending index for each item: numbers, times or durations, without NaN. Times with a zone are those of UTC.

    Returns
    -------
    RollingWindows

    Raises
    ------
    ValueError
        The window is not positive; `on` has a NaN, a not-a-time, or other elements than `x` has items. From `sum` and `mean`: `on` descends.
    TypeError
        The window is no duration that has a fixed length in units of `on`.

    Examples
    --------
    >>> from treefold import exact
    >>> exact.rolling([1e300, 0.1, 0.2, 0.5], 2).sum().tolist()
    [nan, 1e+300, 0.30000000000000004, 0.7]
    >>> exact.rolling([0.5, 1.0, 2.0, 4.0], 2, on=[1, 2, 2, 9]).mean().tolist()
    [0.5, 0.75, 1.1666666666666667, 4.0]
    """
    return RollingWindows(x, window, min_periods, on)
