"""Exact sums of groups of rows and of windows of pandas, rounded once: they depend on their rows alone, and not on the order of these.

>>> import pandas as pd
>>> from treefold import pandas as tp
>>> frame = pd.DataFrame({"k": ["a", "b", "a", "a"], "x": [1e300, 0.5, 1.0, -1e300]})
>>> tp.groupby(frame, "k").sum("x").to_dict()
{'a': 1.0, 'b': 0.5}
>>> tp.rolling(frame["x"], 2).sum().tolist()
[nan, 1e+300, 1.5, -1e+300]

Importing this module registers `Series.exact` and `DataFrame.exact`:

>>> float(frame["x"].exact.sum()), frame.exact.groupby("k").max("x").to_dict()
(1.5, {'a': 1e+300, 'b': 0.5})
"""

import math
from typing import Any

import numpy as np
import pandas as pd

from . import exact
from ._groups import GroupBy as _Groups

__all__ = ["DataFrameAccessor", "GroupBy", "RollingWindows", "SeriesAccessor", "groupby", "rolling"]


def _places(index: pd.Index, present: pd.Index) -> Any:
    """Where the groups that have rows are in an index of all."""
    if isinstance(index, pd.MultiIndex):
        # A missing key is a value of a level in one of them, and none in the other.
        codes = [level.get_indexer(present.get_level_values(number)) for number, level in enumerate(index.levels)]
        present = pd.MultiIndex(index.levels, codes)
    return index.get_indexer(present)


def _frame(columns: list[Any], index: pd.Index, names: Any) -> pd.DataFrame:
    """A DataFrame of columns, of which some may have one name."""
    frame = pd.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = names
    return frame


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

    @classmethod
    def _of(cls, frame: pd.DataFrame, groups: _Groups) -> "GroupBy":
        made = object.__new__(cls)
        made._frame, made._groups = frame, groups
        return made

    def _applied(self, x: Any, statistic: str, *others: Any, **options: Any) -> Any:
        index = self._groups.keys
        if isinstance(x, list):
            return _frame([self._named(statistic, (name, *others), options) for name in x], index, x)
        return pd.Series(self._named(statistic, (x, *others), options), index=index, name=x)

    def _named(self, statistic: str, names: tuple[Any, ...], options: dict[str, Any]) -> Any:
        columns = [self._frame[name] for name in names]
        for name, column in zip(names, columns):
            if not isinstance(column, pd.Series):
                raise ValueError(f"x: {name!r} names {column.shape[1]} columns")
        try:
            if "ddof" not in options:
                return getattr(self._groups, statistic)(*columns, **options)
            ddof = float(options["ddof"])
            slots = self._groups._slots(statistic, columns, options["skipna"])
            values = slots.values(statistic, ddof, True)
            # pandas has no infinity there.
            values[slots.counts() <= ddof] = np.nan
            return values
        except (TypeError, OverflowError) as error:
            raise type(error)(f"column {names[0]!r}: {error}") from None

    def sum(self, x: Any, *, skipna: bool = True, min_count: int = 0) -> Any:
        """The exact sum of each group's items, rounded once; NaN where there are fewer than `min_count`.

        Sums of integers are integers of 64 bits; one beyond is an OverflowError.
        """
        return self._applied(x, "sum", skipna=skipna, min_count=min_count)

    def count(self, x: Any) -> Any:
        """The number of each group's items that are not missing."""
        return self._applied(x, "count", skipna=True)

    def mean(self, x: Any, *, skipna: bool = True) -> Any:
        """The exact mean of each group's items, rounded once."""
        return self._applied(x, "mean", skipna=skipna)

    def var(self, x: Any, ddof: float = 1, *, skipna: bool = True) -> Any:
        """The exact variance of each group's items, rounded once."""
        return self._applied(x, "var", skipna=skipna, ddof=ddof)

    def std(self, x: Any, ddof: float = 1, *, skipna: bool = True) -> Any:
        """The square root of the exact variance of each group's items, rounded once."""
        return self._applied(x, "std", skipna=skipna, ddof=ddof)

    def skew(self, x: Any, *, skipna: bool = True) -> Any:
        """The exact skewness G1 of each group's items, rounded once; NaN where they are fewer than three, or all alike."""
        return self._applied(x, "skewness", skipna=skipna, bias=False)

    def kurt(self, x: Any, *, skipna: bool = True) -> Any:
        """The exact excess kurtosis G2 of each group's items, rounded once; NaN where they are fewer than four, or all alike."""
        return self._applied(x, "kurtosis", skipna=skipna, bias=False)

    def min(self, x: Any, *, skipna: bool = True) -> Any:
        """The least of each group's items."""
        return self._applied(x, "min", skipna=skipna)

    def max(self, x: Any, *, skipna: bool = True) -> Any:
        """The greatest of each group's items."""
        return self._applied(x, "max", skipna=skipna)

    def average(self, x: Any, weights: Any, *, skipna: bool = True) -> Any:
        """The exact mean of each group's items with the weights in another column, rounded once. Rows where either is missing are skipped."""
        return self._applied(x, "average", weights, skipna=skipna)

    def cov(self, x: Any, y: Any, ddof: float = 1, *, skipna: bool = True) -> Any:
        """The exact covariance of two columns in each group, rounded once."""
        return self._applied(x, "cov", y, skipna=skipna, ddof=ddof)

    def corr(self, x: Any, y: Any, *, skipna: bool = True) -> Any:
        """The exact correlation of two columns in each group, rounded once."""
        return self._applied(x, "corr", y, skipna=skipna)


@pd.api.extensions.register_series_accessor("exact")
class SeriesAccessor:
    """`Series.exact`: exact statistics of all items, each rounded once, by pandas' names and with its defaults.

    They are `sum`, `count`, `mean`, `var`, `std`, `skew`, `kurt`, `min` and `max`; with another Series, whose rows are those of the same index,
    `cov`, `corr` and `average`. Options, such as `ddof` and `skipna`, are keywords: those of `GroupBy`.
    """

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def cov(self, other: pd.Series, **options: Any) -> Any:
        """`GroupBy.cov` of all rows of the same index."""
        return self._value("cov", other, **options)

    def corr(self, other: pd.Series, **options: Any) -> Any:
        """`GroupBy.corr` of all rows of the same index."""
        return self._value("corr", other, **options)

    def average(self, weights: pd.Series, **options: Any) -> Any:
        """`GroupBy.average` of all rows of the same index."""
        return self._value("average", weights, **options)

    def _value(self, statistic: str, *others: pd.Series, **options: Any) -> Any:
        for other in others:
            _check_series(other, "other")
        columns = dict(enumerate(others, 1)) | {0: self._series}
        frame = pd.concat(columns, axis=1, join="inner") if others else self._series.to_frame(0)
        groups = _Groups._of_codes(np.zeros(len(frame), np.int64), pd.RangeIndex(1))
        return getattr(GroupBy._of(frame, groups), statistic)(0, *range(1, len(columns)), **options)[0]


@pd.api.extensions.register_dataframe_accessor("exact")
class DataFrameAccessor:
    """`DataFrame.exact`: those of `Series.exact` that are of one column, for each column; and `groupby(by)`."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def _value(self, statistic: str, **options: Any) -> Any:
        values = [getattr(column.exact, statistic)(**options) for _, column in self._frame.items()]
        return pd.Series(values, index=self._frame.columns)

    def groupby(self, by: Any, **options: Any) -> GroupBy:
        """`treefold.pandas.groupby` of the frame."""
        return groupby(self._frame, by, **options)


def _method(accessor: type, name: str) -> None:
    def method(self: Any, **options: Any) -> Any:
        return self._value(name, **options)

    method.__name__, method.__qualname__ = name, f"{accessor.__name__}.{name}"
    method.__doc__ = f"`GroupBy.{name}` of all rows."
    setattr(accessor, name, method)


for _name in ("sum", "count", "mean", "var", "std", "skew", "kurt", "min", "max"):
    _method(SeriesAccessor, _name)
    _method(DataFrameAccessor, _name)


def groupby(frame: pd.DataFrame, by: Any, **options: Any) -> GroupBy:
    """Groups the rows of a DataFrame: `groupby(frame, by).sum(x)`, `.mean(x)`, `.cov(x, y)` and other statistics.

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


def _check_series(column: Any, name: str) -> None:
    if not isinstance(column, pd.Series):
        raise TypeError(f"{name} is a {type(column).__name__}, not a Series")


def _items(column: Any, name: str) -> Any:
    """A column of floats, NaN where one is missing."""
    _check_series(column, name)
    dtype = column.dtype if isinstance(column.dtype, np.dtype) else getattr(column.dtype, "numpy_dtype", np.dtype(object))
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} has elements of type {column.dtype}, not floats or integers")
    return column.to_numpy(dtype=dtype if dtype.kind == "f" and dtype.itemsize > 2 else np.float64, na_value=np.nan)


class RollingWindows:
    """Windows that move over a column, or over each of a DataFrame's: `rolling` makes it.

    Functions return a Series or a DataFrame with the index of the rows. Integers are converted to float64 first. Names and defaults are
    pandas': `ddof` is 1, skewness and kurtosis are without bias. Missing items do not count; of two columns, rows where either is missing.
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
            columns = [self._of_column(column, statistic, (), least, options) for _, column in self._rows.items()]
            return _frame(columns, self._rows.index, self._rows.columns)
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
        windows = dict(self._options)
        if least > 0:
            # Of no more than so many items pandas has no infinity.
            windows["min_periods"] = max(windows["min_periods"], math.floor(min(least, len(items))) + 1)
        return getattr(exact.rolling(items, **windows), statistic)(*others, **options)

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
    if min_periods is None:
        min_periods = window if on is None and window is not None else 1
    options = {"window": window, "min_periods": min_periods, "on": on, "placement": placement, "skipna": True}
    return RollingWindows(rows, options)
