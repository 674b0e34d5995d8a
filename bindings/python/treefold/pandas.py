"""Exact sums of groups of rows and of windows of pandas, rounded once: they depend on their rows alone, and not on the order of these.

>>> import pandas as pd
>>> from treefold import pandas as tp
>>> frame = pd.DataFrame({"k": ["a", "b", "a", "a"], "x": [1e300, 0.5, 1.0, -1e300]})
>>> tp.groupby(frame, "k").sum("x").to_dict()
{'a': 1.0, 'b': 0.5}
>>> tp.rolling(frame["x"], 2).sum().tolist()
[nan, 1e+300, 1.5, -1e+300]
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from . import exact
from ._groups import GroupBy as _Groups

__all__ = ["GroupBy", "RollingWindows", "groupby", "rolling"]


def _places(index: pd.Index, present: pd.Index) -> Any:
    """Where the groups that have rows are in an index of all."""
    if isinstance(index, pd.MultiIndex):
        # A missing key is a value of a level in one of them, and none in the other.
        codes = [level.get_indexer(present.get_level_values(number)) for number, level in enumerate(index.levels)]
        present = pd.MultiIndex(index.levels, codes)
    return index.get_indexer(present)


def _codes(frame: pd.DataFrame, by: Any, options: dict[str, Any]) -> tuple[Any, pd.Index]:
    """The place of each row's group in the index of pandas' results, or -1 if it has none; and this index."""
    grouped = frame.groupby(by, **options)
    sizes = grouped.size()
    index, places = sizes.index, None
    levels = index.levels if isinstance(index, pd.MultiIndex) else [index]
    if isinstance(by, pd.Grouper) or any(isinstance(level.dtype, pd.CategoricalDtype) for level in levels):
        # Some groups of the index may have no rows. `ngroup` numbers the others, in an order of their own; and those of a lone Grouper have the rows
        # in another order.
        grouped = frame.groupby([by] if isinstance(by, pd.Grouper) else by, **{**options, "observed": True})
        places = _places(index, grouped.size().index)
    codes = grouped.ngroup().to_numpy()
    if codes.dtype.kind == "f":
        # Rows without a group.
        codes = np.where(np.isnan(codes), -1, codes)
    codes = codes.astype(np.int64, copy=False)
    if places is not None:
        codes = np.append(places, -1)[codes].astype(np.int64, copy=False)
    if not np.array_equal(np.bincount(codes + 1, minlength=len(sizes) + 1)[1:], sizes):
        raise RuntimeError(f"by: pandas {pd.__version__} does not tell which rows are in which of the groups of these keys")
    return codes, index


class GroupBy:
    """Rows in groups: `groupby` makes it.

    A function takes the name of a column and returns a Series, or a list of names and returns a DataFrame; the index is that of pandas' own
    sums. NaN and missing items are skipped unless `skipna` is false.
    """

    __slots__ = ("_frame", "_groups")

    def __init__(self, frame: pd.DataFrame, by: Any, options: dict[str, Any]) -> None:
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(f"frame is a {type(frame).__name__}, not a DataFrame")
        self._frame = frame
        self._groups = _Groups._of_codes(*_codes(frame, by, options))

    def _applied(self, x: Any, figure: Callable[[Any], Any]) -> Any:
        index = self._groups.keys
        if isinstance(x, list):
            return pd.DataFrame({name: self._named(figure, name) for name in x}, index=index)
        return pd.Series(self._named(figure, x), index=index, name=x)

    def _named(self, figure: Callable[[Any], Any], name: Any) -> Any:
        column = self._frame[name]
        if not isinstance(column, pd.Series):
            raise ValueError(f"x: {name!r} names {column.shape[1]} columns")
        try:
            return figure(column)
        except (TypeError, OverflowError) as error:
            raise type(error)(f"column {name!r}: {error}") from None

    def sum(self, x: Any, *, skipna: bool = True, min_count: int = 0) -> Any:
        """The exact sum of each group's items, rounded once; NaN where there are fewer than `min_count`.

        Sums of integers are integers of 64 bits; one beyond is an OverflowError.
        """
        return self._applied(x, lambda column: self._groups.sum(column, skipna=skipna, min_count=min_count))

    def count(self, x: Any) -> Any:
        """The number of each group's items that are not missing."""
        return self._applied(x, lambda column: self._groups.count(column, skipna=True))

    def mean(self, x: Any, *, skipna: bool = True) -> Any:
        """The exact mean of each group's items, rounded once."""
        return self._applied(x, lambda column: self._groups.mean(column, skipna=skipna))

    def var(self, x: Any, ddof: float = 1, *, skipna: bool = True) -> Any:
        """The exact variance of each group's items, rounded once."""
        return self._applied(x, lambda column: self._spread("var", column, ddof, skipna))

    def std(self, x: Any, ddof: float = 1, *, skipna: bool = True) -> Any:
        """The square root of the exact variance of each group's items, rounded once."""
        return self._applied(x, lambda column: self._spread("std", column, ddof, skipna))

    def _spread(self, statistic: str, column: Any, ddof: float, skipna: bool) -> Any:
        spread = getattr(self._groups, statistic)(column, ddof, skipna=skipna)
        # pandas has no infinity there.
        spread[self._groups.count(column, skipna=skipna) <= ddof] = np.nan
        return spread


def groupby(frame: pd.DataFrame, by: Any, **options: Any) -> GroupBy:
    """Groups the rows of a DataFrame: `groupby(frame, by).sum(x)`, `.mean(x)`, `.var(x)`, `.std(x)`, `.count(x)`.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    by, **options
        As in `DataFrame.groupby`, which finds the groups: `sort`, `dropna`, `observed`, `level`.

    Returns
    -------
    GroupBy
    """
    if not options.get("as_index", True):
        raise ValueError("as_index: groups are the index of a result; call its reset_index()")
    return GroupBy(frame, by, options)


def _items(column: Any, name: str) -> Any:
    """A column of floats, NaN where one is missing."""
    if not isinstance(column, pd.Series):
        raise TypeError(f"{name} is a {type(column).__name__}, not a Series")
    dtype = column.dtype if isinstance(column.dtype, np.dtype) else getattr(column.dtype, "numpy_dtype", np.dtype(object))
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} has elements of type {column.dtype}, not floats or integers")
    return column.to_numpy(dtype=dtype if dtype.kind == "f" and dtype.itemsize > 2 else np.float64, na_value=np.nan)


class RollingWindows:
    """Windows that move over a column, or over each of a DataFrame's: `rolling` makes it.

    Functions return a Series or a DataFrame with the index of the rows. Names and defaults are pandas': `ddof` is 1, skewness and kurtosis
    are without bias, and missing items do not count, of two columns together.
    """

    __slots__ = ("_options", "_rows")

    def __init__(self, rows: Any, options: dict[str, Any]) -> None:
        if not isinstance(rows, (pd.Series, pd.DataFrame)):
            raise TypeError(f"rows is a {type(rows).__name__}, not a Series or a DataFrame")
        self._rows, self._options = rows, options

    def _of(self, statistic: str, *others: Any, least: float = 0, **options: Any) -> Any:
        if isinstance(self._rows, pd.DataFrame):
            if others:
                raise TypeError(f"{statistic}: rows is a DataFrame, not a Series")
            columns = {place: self._of_column(self._rows.iloc[:, place], statistic, (), least, options) for place in range(self._rows.shape[1])}
            frame = pd.DataFrame(columns, index=self._rows.index)
            frame.columns = self._rows.columns
            return frame
        for other in others:
            if isinstance(other, pd.Series) and not other.index.equals(self._rows.index):
                raise ValueError("other: its index is not that of the rows")
        values = self._of_column(self._rows, statistic, tuple(_items(other, "other") for other in others), least, options)
        name = self._rows.name if all(other.name == self._rows.name for other in others) else None
        return pd.Series(values, index=self._rows.index, name=name)

    def _of_column(self, column: Any, statistic: str, others: tuple[Any, ...], least: float, options: dict[str, Any]) -> Any:
        items = _items(column, f"column {column.name!r}")
        if statistic == "count":
            # As in pandas, `min_periods` is a number of rows here.
            return exact.rolling(1.0 - np.isnan(items), **{**self._options, "skipna": False}).sum()
        windows = exact.rolling(items, **self._options)
        values = getattr(windows, statistic)(*others, **options)
        if least:
            # pandas has no infinity there.
            values[~(exact.rolling(items, **{**self._options, "min_periods": 0}).count() > least)] = np.nan
        return values

    def count(self) -> Any:
        """The number of items that are not missing; NaN of fewer than `min_periods` rows."""
        return self._of("count")

    def sum(self) -> Any:
        """The exact sum, rounded once."""
        return self._of("sum")

    def mean(self) -> Any:
        """The exact mean, rounded once."""
        return self._of("mean")

    def min(self) -> Any:
        """The least item."""
        return self._of("min")

    def max(self) -> Any:
        """The greatest item."""
        return self._of("max")

    def var(self, ddof: float = 1) -> Any:
        """The exact variance, rounded once; NaN of no more than `ddof` items."""
        return self._of("var", ddof=ddof, least=ddof)

    def std(self, ddof: float = 1) -> Any:
        """The square root of the exact variance, rounded once."""
        return self._of("std", ddof=ddof, least=ddof)

    def skew(self) -> Any:
        """The exact skewness without bias, rounded once; NaN of fewer than three items, and where all are alike."""
        return self._of("skewness", bias=False)

    def kurt(self) -> Any:
        """The exact excess kurtosis without bias, rounded once; NaN of fewer than four items, and where all are alike."""
        return self._of("kurtosis", bias=False)

    def cov(self, other: Any, ddof: float = 1) -> Any:
        """The exact covariance with another Series of the same index, rounded once."""
        return self._of("cov", other, ddof=ddof)

    def corr(self, other: Any) -> Any:
        """The exact correlation with another Series of the same index, rounded once."""
        return self._of("corr", other)


def rolling(
    rows: Any,
    window: Any = None,
    min_periods: int | None = None,
    on: Any = None,
    *,
    placement: str = "trailing",
) -> RollingWindows:
    """Windows that move over rows: `rolling(rows, window).mean()`, `.std()`, `.skew()`, `.corr(other)`, ….

    Parameters
    ----------
    rows : Series or DataFrame
        Floats, or integers, of which some may be missing.
    window : int, or a duration, optional
        As in `treefold.exact.rolling`. If it is a duration and `on` is not given, the rows' index has the times. Without a window, each has all
        rows from the first one on.
    min_periods : int, optional
        Windows of fewer items that are not missing have the value NaN.
    on : array_like or str, optional
        An ascending index for each row, or the name of a DataFrame's column that has it, which is then no column of the result.
    placement : str
        "trailing", "forward", or "centred", which is pandas' `center=True`.

    Returns
    -------
    RollingWindows
    """
    if isinstance(rows, pd.DataFrame) and isinstance(on, str):
        rows, on = rows.drop(columns=on), rows[on]
    if on is None and window is not None and not isinstance(window, (int, np.integer)):
        on = rows.index
    options = {"window": window, "min_periods": min_periods, "on": on, "placement": placement, "skipna": True}
    return RollingWindows(rows, options)
