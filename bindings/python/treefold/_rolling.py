"""Computes exact statistics of moving windows, with pandas' signatures."""

import datetime
import math
import numbers
from fractions import Fraction
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._arrays import as_unmasked, contiguous, counted, index
from ._keyed import as_vector, of_parts


class _Offset(Protocol):
    """A duration of pandas."""

    @property
    def freqstr(self) -> str: ...


_Window: TypeAlias = SupportsIndex | float | str | datetime.timedelta | np.timedelta64 | _Offset | None
_Floats: TypeAlias = NDArray[np.floating[Any]]

_UINT_MAX = np.iinfo(np.uint64).max
# The units of times. Some are given in months and the others in attoseconds, because a month has no fixed length.
_MONTHS = {"Y": 12, "M": 1}
_ATTOSECONDS = {unit: seconds * 10**18 for unit, seconds in zip("WDhms", (604_800, 86_400, 3_600, 60, 1))}
_ATTOSECONDS |= {unit: 1_000**place for place, unit in enumerate(("as", "fs", "ps", "ns", "us", "ms"))}


def _time(one):
    """Converts a time, date or duration of Python or pandas to NumPy's type, in UTC; returns anything else unchanged."""
    if hasattr(one, "asm8"):
        return one.asm8
    if isinstance(one, datetime.timedelta):
        return np.timedelta64(one)
    if isinstance(one, datetime.datetime) and one.tzinfo is not None:
        one = one.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return np.datetime64(one) if isinstance(one, datetime.date) else one


def _as_index(on):
    """An index as an array of numbers, times or durations."""
    dtype = getattr(on, "dtype", None)
    # Only a pandas type with a time zone has both attributes.
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
    """An index as uint64 or float64. Differences between elements are unchanged."""
    if on.dtype.kind == "f":
        return contiguous(on.astype(np.float64))
    if on.dtype.kind == "u":
        return contiguous(on.astype(np.uint64))
    return contiguous(on.astype(np.int64)).view(np.uint64) ^ np.uint64(1 << 63)


def _duration(window):
    """Converts a duration of pandas, or a string that it can parse, to NumPy's type; returns anything else unchanged."""
    if isinstance(window, str) or hasattr(window, "freqstr"):
        try:
            import pandas as pd
        except ImportError:
            raise TypeError(f"window: reading {window!r} needs pandas, which is not installed; pass a numpy.timedelta64") from None
        try:
            offset = pd.tseries.frequencies.to_offset(window)
            window = pd.Timedelta(days=offset.n) if isinstance(offset, pd.offsets.Day) else pd.Timedelta(offset)
        except (TypeError, ValueError):
            raise ValueError(f"window: {window!r} has no fixed length") from None
    return _time(window)


def _in_units(window, dtype):
    """Converts a NumPy duration to a number of units of `dtype`, a type of times."""
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


def _width(window, dtype, is_centred):
    """The width of a window in units of an index whose type is `dtype`. If the index has integers, the width is rounded to an
    integer that gives windows of the same items."""
    width = _duration(window)
    is_duration = isinstance(width, np.timedelta64)
    if dtype.kind in "mM":
        width = _in_units(width, dtype) if is_duration else index(width, "window")
    elif is_duration or isinstance(width, (bool, np.bool_)) or not isinstance(width, numbers.Real):
        raise TypeError(f"window: {window!r} is not a number, but on has elements of type {dtype}")
    _check_width(width, window)
    if dtype.kind == "f":
        return float(width)
    width = min(width, 1 << 66)
    # A centred window reaches half its width to each side. If half the width is not an integer, no item is exactly at that distance.
    return math.floor(width) // 2 * 2 + 1 if is_centred and width != int(width) else math.ceil(width)


def _range(window, on, is_centred):
    """An index and the width of windows in its units, as numbers for the native code."""
    width, on = _width(window, on.dtype, is_centred), _as_numbers(on)
    if on.dtype == np.uint64 and width > _UINT_MAX:
        if np.any(on[1:] < on[:-1]):
            # The native code reports where the index descends.
            return on, 1
        if is_centred and on.size and 2 * (int(on[-1]) - int(on[0])) >= width:
            raise ValueError(f"window: {window} is more than 2^64 - 1, so all elements of on must be less than half a window apart")
        # The width exceeds all distances, so an index of zeros gives the same windows.
        return np.zeros_like(on), 1
    return on, width


class RollingWindows:
    """Moving windows over a vector, created by `rolling`.

    Each method returns the statistic of each window, rounded once: a vector of
    the type of `x`, or the common type of `x` and `y`. Complex items support
    only `sum` and `mean`. Methods of two columns raise ValueError if the columns
    differ in length.

    Parameters of all methods
    -------------------------
    y, weights : array_like
        A vector with the same number of items as `x`.
    ddof : float, optional
        The divisor is the number of items minus `ddof`.
    bias : bool, optional
        True, the default, for the statistic of the items; false for the
        estimate for a population.
    """

    __slots__ = ("_windows", "_x")

    def __init__(
        self,
        x: ArrayLike,
        window: _Window = None,
        min_periods: SupportsIndex | None = None,
        on: ArrayLike | None = None,
        placement: Literal["trailing", "forward", "centred"] = "trailing",
        skipna: bool = False,
    ) -> None:
        self._x = as_vector(x, "x")
        length = len(self._x)
        if on is not None and window is not None:
            on = _as_index(on)
            if on.shape != self._x.shape:
                raise ValueError(f"on has {counted(on.size, 'element')}, but x has {counted(length, 'item')}")
            on, width = _range(window, on, placement == "centred")
            least = 1
        elif on is not None:
            raise ValueError("window is missing: without it, all windows begin at the first item, and `on` would have no effect")
        elif window is None:
            if placement != "trailing":
                raise ValueError(f"placement: {placement!r} needs a window")
            width, least = None, 1
        else:
            least = index(window, "window")
            _check_width(least, window)
            width = min(least, 2 * max(length, 1))
        least = index(least if min_periods is None else min_periods, "min_periods")
        if least < 0:
            raise ValueError(f"min_periods: {least} is negative")
        self._windows = _native.ExactWindows.of(width, on, placement, min(least, length + 1), bool(skipna))

    def _of(self, statistic, y=None, ddof=0.0, bias=True):
        x = self._x
        if y is not None:
            y = as_vector(y, "y")
            if y.shape != x.shape:
                raise ValueError(f"y has {counted(len(y), 'item')}, but x has {counted(len(x), 'item')}")
            dtype = np.result_type(x, y)
            x, y = (contiguous(column.astype(dtype, copy=False)) for column in (x, y))
        elif x.dtype.kind == "c" and statistic in ("sum", "mean"):
            return of_parts(x, lambda part: self._windows.values(part, None, statistic, 0.0, True))
        if x.dtype.kind == "c":
            raise TypeError(f"`{statistic}` of windows accepts only real numbers, not {x.dtype}")
        return self._windows.values(x, y, statistic, float(ddof), bool(bias))

    def count(self) -> _Floats:
        """The number of items. With `skipna`, NaNs are not counted."""
        return self._of("count")

    def sum(self) -> NDArray[np.inexact[Any]]:
        """The sum."""
        return self._of("sum")

    def mean(self) -> NDArray[np.inexact[Any]]:
        """The mean."""
        return self._of("mean")

    def min(self) -> _Floats:
        """The smallest item."""
        return self._of("min")

    def max(self) -> _Floats:
        """The largest item."""
        return self._of("max")

    def var(self, ddof: float = 0) -> _Floats:
        """The variance. The divisor is the number of items minus `ddof`."""
        return self._of("var", ddof=ddof)

    def std(self, ddof: float = 0) -> _Floats:
        """The square root of the exact variance."""
        return self._of("std", ddof=ddof)

    def skewness(self, bias: bool = True) -> _Floats:
        """The skewness (g1, or G1), as in `scipy.stats.skew`."""
        return self._of("skewness", bias=bias)

    def kurtosis(self, bias: bool = True) -> _Floats:
        """The excess kurtosis (g2, or G2), as in `scipy.stats.kurtosis`."""
        return self._of("kurtosis", bias=bias)

    def norm(self) -> _Floats:
        """The square root of the sum of the squares."""
        return self._of("norm")

    def dot(self, y: ArrayLike) -> _Floats:
        """The sum of the products of `x` and `y`."""
        return self._of("dot", y)

    def average(self, weights: ArrayLike) -> _Floats:
        """The weighted mean of `x`."""
        return self._of("average", weights)

    def cov(self, y: ArrayLike, ddof: float = 1) -> _Floats:
        """The covariance of `x` and `y`."""
        return self._of("cov", y, ddof=ddof)

    def corr(self, y: ArrayLike) -> _Floats:
        """The correlation of `x` and `y`."""
        return self._of("corr", y)

    def slope(self, y: ArrayLike) -> _Floats:
        """The slope of the regression line of `y` on `x`."""
        return self._of("slope", y)

    def intercept(self, y: ArrayLike) -> _Floats:
        """The value at `x` = 0 of the regression line of `y` on `x`."""
        return self._of("intercept", y)


def rolling(
    x: ArrayLike,
    window: _Window = None,
    min_periods: SupportsIndex | None = None,
    on: ArrayLike | None = None,
    *,
    placement: Literal["trailing", "forward", "centred"] = "trailing",
    skipna: bool = False,
) -> RollingWindows:
    """A moving window for each item: `rolling(x, window).sum()`, `.corr(y)`, ….

    Items that leave a window are removed exactly, so errors do not accumulate.
    An infinity or a NaN affects only the windows that contain it. Defaults are
    as in NumPy and SciPy: `ddof` is 0, or 1 for covariances; `bias` is true.

    Parameters
    ----------
    x : array_like
        A vector of floats or, for sums and means, of complex numbers. Integers
        are converted to float64.
    window : int, or a width of `on`, optional
        The number of items in a window. With `on`, the width of a window:
        "trailing" windows have the items whose index is greater than the last
        item's index minus the width. If `on` has times, the width is a duration
        of NumPy, Python or pandas, such as "36h", or an int in units of `on`.
        Without this argument, all windows begin at the first item.
    min_periods : int, optional
        The value of a window with fewer items is NaN. The default is `window`,
        or 1 with `on` or without `window`.
    on : array_like, optional
        An ascending index for each item: numbers, times or durations, without
        NaN. Times with a time zone are compared in UTC.
    placement : str, optional
        Where the item is in its window: at the end of a "trailing" window, at
        the beginning of a "forward" one, in the middle of a "centred" one, as
        with pandas' `center=True`. A centred window has (window - 1) // 2
        items after its item; with `on`, it reaches from half the width before
        its item (excluded) to half the width after it (included).
    skipna : bool, optional
        Whether to leave out items that are NaN in `x` or `y`. These items do not
        count for `min_periods` either.

    Returns
    -------
    RollingWindows

    Raises
    ------
    ValueError
        The window is not positive; or `on` descends, has a NaN or a not-a-time,
        or differs from `x` in length.
    TypeError
        The window is not a duration of fixed length in units of `on`.

    Examples
    --------
    >>> from treefold import exact
    >>> exact.rolling([1e300, 0.1, 0.2, 0.5], 2).sum().tolist()
    [nan, 1e+300, 0.30000000000000004, 0.7]
    >>> exact.rolling([0.5, 1.0, 2.0, 4.0], 2, on=[1, 2, 2, 9]).mean().tolist()
    [0.5, 0.75, 1.1666666666666667, 4.0]
    >>> windows = exact.rolling([1e16, 1.0, 2.0, 4.0], 3, placement="centred")
    >>> windows.var().tolist()
    [nan, 2.2222222222222215e+31, 1.5555555555555556, nan]
    """
    return RollingWindows(x, window, min_periods, on, placement, skipna)
