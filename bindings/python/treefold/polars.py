"""Exact sums as expressions of Polars, rounded once: they depend on the items alone, not on threads, chunks or the order of rows.

>>> import polars as pl
>>> from treefold import polars as tp
>>> frame = pl.DataFrame({"k": ["a", "b", "a", "a"], "x": [1e300, 0.5, 1.0, -1e300]})
>>> frame.select(tp.exact_sum("x")).item()
1.5
>>> frame.group_by("k").agg(tp.exact_sum("x")).sort("k").rows()
[('a', 1.0), ('b', 0.5)]

Polars calls a function once for each group. With many groups, lists are faster, which one call sums:

>>> frame.group_by("k").agg("x").with_columns(tp.exact_list_sum("x")).sort("k").rows()
[('a', 1.0), ('b', 0.5)]

Windows that move:

>>> frame.select(tp.rolling("x", 2).sum()).to_series().to_list()
[None, 1e+300, 1.5, -1e+300]
"""

import math
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from polars.plugins import register_plugin_function

from . import _native, exact

_Column: TypeAlias = "pl.Expr | pl.Series | str"

__all__ = [
    "RollingWindows",
    "exact_dot",
    "exact_list_dot",
    "exact_list_mean",
    "exact_list_std",
    "exact_list_sum",
    "exact_list_var",
    "exact_mean",
    "exact_std",
    "exact_sum",
    "exact_var",
    "rolling",
    "tree_sum",
]

# The first Polars whose names are used here.
_OLDEST = (1, 0)

if tuple(map(int, pl.__version__.split(".")[:2])) < _OLDEST:
    raise ImportError(f"treefold.polars needs Polars {'.'.join(map(str, _OLDEST))} or newer, and this is {pl.__version__}")


def _called(function: str, *arguments: _Column) -> pl.Expr:
    """The call of a function of the plugin: of each row of columns of lists, or of a whole column."""
    of_rows = "list" in function or function == "tree_sum"
    return register_plugin_function(
        plugin_path=Path(_native.__file__),
        function_name=function,
        args=list(arguments),
        is_elementwise=of_rows,
        returns_scalar=not of_rows,
    )


def _freedom(ddof: float) -> pl.Expr:
    """`ddof` as an expression."""
    number = float(ddof)
    if math.isnan(number):
        raise ValueError("ddof: nan is not a number")
    return pl.lit(number, pl.Float64)


def exact_sum(x: _Column) -> pl.Expr:
    """The exact sum of a column, rounded once.

    Nulls are skipped, and the sum of nothing is 0. It is NaN if there is a NaN, or infinities of both signs, and infinite if there is another
    infinity or if the exact sum is beyond the range. Integers have sums of type Int64 or UInt64; one beyond that is an error.

    Parameters
    ----------
    x : expression or str
        A column of floats or integers.

    Returns
    -------
    An expression.

    Raises
    ------
    polars.exceptions.ComputeError
        When the query runs: the column has another type.
    """
    return _called("exact_sum", x)


def exact_mean(x: _Column) -> pl.Expr:
    """The exact mean of a column, rounded once; null if all its items are null. See `exact_sum`."""
    return _called("exact_mean", x)


def exact_var(x: _Column, ddof: float = 1) -> pl.Expr:
    """The exact variance of a column, rounded once; null if it has no more than `ddof` items. See `exact_sum`."""
    return _called("exact_var", x, _freedom(ddof))


def exact_std(x: _Column, ddof: float = 1) -> pl.Expr:
    """The square root of the exact variance of a column, rounded once. See `exact_var`."""
    return _called("exact_std", x, _freedom(ddof))


def exact_dot(x: _Column, y: _Column) -> pl.Expr:
    """The exact sum of the products of two columns, rounded once.

    Rows with a null in either are skipped. The result is of type Float32 if both columns are, and Float64 otherwise; integers that Float64 does
    not hold are an error. See `exact_sum`.
    """
    return _called("exact_dot", x, y)


def exact_list_sum(x: _Column) -> pl.Expr:
    """`exact_sum` of each list of a column of lists or arrays; null where the list is."""
    return _called("exact_list_sum", x)


def exact_list_mean(x: _Column) -> pl.Expr:
    """`exact_mean` of each list of a column of lists or arrays."""
    return _called("exact_list_mean", x)


def exact_list_var(x: _Column, ddof: float = 1) -> pl.Expr:
    """`exact_var` of each list of a column of lists or arrays."""
    return _called("exact_list_var", x, _freedom(ddof))


def exact_list_std(x: _Column, ddof: float = 1) -> pl.Expr:
    """`exact_std` of each list of a column of lists or arrays."""
    return _called("exact_list_std", x, _freedom(ddof))


def exact_list_dot(x: _Column, y: _Column) -> pl.Expr:
    """`exact_dot` of the lists in each row of two columns, which have the same length."""
    return _called("exact_list_dot", x, y)


def tree_sum(x: _Column) -> pl.Expr:
    """The sum in tree order of each list of a column of lists or arrays of floats: `treefold.sum` of its items that are not null."""
    return _called("tree_sum", x)


def _expression(column: _Column) -> pl.Expr:
    return pl.col(column) if isinstance(column, str) else pl.lit(column) if isinstance(column, pl.Series) else column


def _column_of(series: pl.Series) -> Any:
    """A column's items, null ones as 0, and which are null."""
    if not series.dtype.is_numeric():
        raise pl.exceptions.InvalidOperationError(f"rolling: a column has elements of type {series.dtype}, not numbers")
    return series.cast(pl.Float64).fill_null(0.0).to_numpy(), series.is_null().to_numpy()


class RollingWindows:
    """Windows that move over a column: `rolling` makes it.

    Functions return expressions. Rows with a null, of two columns in either, do not count. A statistic is null where too few items do, or where
    it has a zero denominator. The result is of type Float64. As in Polars, `ddof` is 1, and skewness and kurtosis are with a bias.
    """

    __slots__ = ("_options", "_x")

    def __init__(self, x: _Column, options: dict[str, Any]) -> None:
        self._x, self._options = x, options

    def _of(self, statistic: str, *others: _Column, **options: Any) -> pl.Expr:
        named = [_expression(self._x)]
        named += [_expression(other).alias(f"other {place}") for place, other in enumerate(others)]
        if self._options["on"] is not None:
            named.append(_expression(self._options["on"]).alias("on"))
        return pl.struct(named).map_batches(lambda rows: self._values(rows, statistic, options), return_dtype=pl.Float64)

    def _values(self, rows: pl.Series, statistic: str, options: dict[str, Any]) -> pl.Series:
        columns = rows.struct.unnest().get_columns()
        windows = {**self._options, "on": None if self._options["on"] is None else columns.pop().to_numpy()}
        items, nulls = zip(*map(_column_of, columns))
        missing = np.any(nulls, axis=0)
        is_nan, is_finite = np.any(np.isnan(items), axis=0), np.all(np.isfinite(items), axis=0)
        x = np.where(missing | is_nan, np.nan, items[0])
        if statistic == "count":
            x = np.where(missing, np.nan, 0.0)
        values = getattr(exact.rolling(x, **windows, skipna=True), statistic)(*items[1:], **options)

        def have(odd: Any) -> Any:
            return exact.rolling((odd & ~missing).astype("f8"), **{**windows, "min_periods": 0}).max() > 0

        if statistic != "count":
            values[have(is_nan)] = np.nan
        result = pl.Series(rows.struct.fields[0], values)
        return result.set(pl.Series(np.isnan(values) & ~have(~is_finite)), None)

    def count(self) -> pl.Expr:
        """The number of items that are not null."""
        return self._of("count")

    def sum(self) -> pl.Expr:
        """The exact sum, rounded once."""
        return self._of("sum")

    def mean(self) -> pl.Expr:
        """The exact mean, rounded once."""
        return self._of("mean")

    def min(self) -> pl.Expr:
        """The least item."""
        return self._of("min")

    def max(self) -> pl.Expr:
        """The greatest item."""
        return self._of("max")

    def var(self, ddof: float = 1) -> pl.Expr:
        """The exact variance, rounded once."""
        return self._of("var", ddof=ddof)

    def std(self, ddof: float = 1) -> pl.Expr:
        """The square root of the exact variance, rounded once."""
        return self._of("std", ddof=ddof)

    def skew(self, bias: bool = True) -> pl.Expr:
        """The exact skewness, rounded once."""
        return self._of("skewness", bias=bias)

    def kurtosis(self, bias: bool = True) -> pl.Expr:
        """The exact excess kurtosis, rounded once."""
        return self._of("kurtosis", bias=bias)

    def cov(self, y: _Column, ddof: float = 1) -> pl.Expr:
        """The exact covariance with another column, rounded once."""
        return self._of("cov", y, ddof=ddof)

    def corr(self, y: _Column) -> pl.Expr:
        """The exact correlation with another column, rounded once."""
        return self._of("corr", y)


def rolling(
    x: _Column,
    window: Any = None,
    min_periods: int | None = None,
    on: "_Column | None" = None,
    *,
    placement: str = "trailing",
) -> RollingWindows:
    """Windows that move over a column: `rolling(x, window).mean()`, `.std()`, `.corr(y)`, ….

    Parameters
    ----------
    x : Expr, Series or str
        A column of numbers.
    window, min_periods, placement
        As in `treefold.exact.rolling`.
    on : Expr, Series or str, optional
        An ascending column of numbers or times.

    Returns
    -------
    RollingWindows
    """
    return RollingWindows(x, {"window": window, "min_periods": min_periods, "on": on, "placement": placement})
