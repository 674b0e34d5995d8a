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

The same with names of Polars' own kind:

>>> frame.select(pl.col("x").exact.sum()).item(), frame["x"].exact.mean(), frame.exact.sum().item()
(1.5, 0.375, 1.5)
"""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from polars.plugins import register_plugin_function

from . import _native, exact

_Column: TypeAlias = "pl.Expr | pl.Series | str"

__all__ = [
    "RollingWindows",
    "exact_average",
    "exact_comoments_state",
    "exact_corr",
    "exact_corr_of",
    "exact_count_of",
    "exact_cov",
    "exact_cov_of",
    "exact_dot",
    "exact_dot_of",
    "exact_dot_state",
    "exact_intercept",
    "exact_intercept_of",
    "exact_kurtosis",
    "exact_kurtosis_of",
    "exact_list_dot",
    "exact_list_mean",
    "exact_list_std",
    "exact_list_sum",
    "exact_list_var",
    "exact_mean",
    "exact_mean_of",
    "exact_merge",
    "exact_moments_state",
    "exact_powers_state",
    "exact_skewness",
    "exact_skewness_of",
    "exact_slope",
    "exact_slope_of",
    "exact_std",
    "exact_std_of",
    "exact_sum",
    "exact_sum_of",
    "exact_sum_state",
    "exact_var",
    "rolling",
    "exact_var_of",
    "tree_sum",
]

# The first Polars whose names are used here.
_OLDEST = (1, 0)

if tuple(map(int, pl.__version__.split(".")[:2])) < _OLDEST:
    raise ImportError(f"treefold.polars needs Polars {'.'.join(map(str, _OLDEST))} or newer, and this is {pl.__version__}")


def _called(function: str, *arguments: _Column) -> pl.Expr:
    """The call of a function of the plugin: of each row of columns of lists, or of a whole column."""
    of_rows = "list" in function or function.endswith("_of") or function == "tree_sum"
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


def _bias(bias: bool) -> pl.Expr:
    """`bias` as an expression."""
    return pl.lit(float(bool(bias)), pl.Float64)


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


def exact_average(x: _Column, weights: _Column) -> pl.Expr:
    """The exact mean of a column with weights, rounded once; null if these add up to zero.

    It is of type Float64, as all that follow, and rows with a null in either column are skipped.
    """
    return _called("exact_average", x, weights)


def exact_cov(x: _Column, y: _Column, ddof: float = 1) -> pl.Expr:
    """The exact covariance of two columns, rounded once; null if they have no more than `ddof` rows."""
    return _called("exact_cov", x, y, _freedom(ddof))


def exact_corr(x: _Column, y: _Column) -> pl.Expr:
    """The exact correlation of two columns, rounded once; null if one is constant."""
    return _called("exact_corr", x, y)


def exact_slope(y: _Column, x: _Column) -> pl.Expr:
    """The slope of the line y = a + b x with the least squares of errors in y, rounded once; null if x is constant."""
    return _called("exact_slope", y, x)


def exact_intercept(y: _Column, x: _Column) -> pl.Expr:
    """The height a of that line at x = 0."""
    return _called("exact_intercept", y, x)


def exact_skewness(x: _Column, bias: bool = True) -> pl.Expr:
    """The exact skewness of a column, rounded once; null if all items are alike, or less than 3 without a bias.

    Parameters
    ----------
    bias : bool
        As in Polars' `skew`: whether it is g1, or G1.
    """
    return _called("exact_skewness", x, _bias(bias))


def exact_kurtosis(x: _Column, bias: bool = True) -> pl.Expr:
    """The exact excess kurtosis of a column, rounded once; null if all items are alike, or less than 4 without a bias.

    Parameters
    ----------
    bias : bool
        As in Polars' `kurtosis`: whether it is g2, or G2.
    """
    return _called("exact_kurtosis", x, _bias(bias))


def exact_sum_state(x: _Column) -> pl.Expr:
    """The state of a column's sum and mean: bytes that `exact_merge` merges, and `exact_sum_of` reads.

    States are the same in DuckDB, and in `treefold.exact.State`. That of no items is null.
    """
    return _called("exact_sum_state", x)


def exact_moments_state(x: _Column) -> pl.Expr:
    """The state of a column's sum, mean, variance and standard deviation. See `exact_sum_state`."""
    return _called("exact_moments_state", x)


def exact_powers_state(x: _Column) -> pl.Expr:
    """The state of a column's moments, skewness and kurtosis. See `exact_sum_state`."""
    return _called("exact_powers_state", x)


def exact_dot_state(x: _Column, y: _Column) -> pl.Expr:
    """The state of the sum of two columns' products. See `exact_sum_state`."""
    return _called("exact_dot_state", x, y)


def exact_comoments_state(y: _Column, x: _Column) -> pl.Expr:
    """The state of two columns' covariance, correlation and regression line. See `exact_sum_state`."""
    return _called("exact_comoments_state", y, x)


def exact_merge(state: _Column) -> pl.Expr:
    """The state of all rows of a column of states, which must be of one kind. Nulls are skipped."""
    return _called("exact_merge", state)


def exact_count_of(state: _Column) -> pl.Expr:
    """The number of rows of each state, as Float64; null where it is."""
    return _called("exact_count_of", state)


def exact_sum_of(state: _Column) -> pl.Expr:
    """The sum of each state of a column; null where it is."""
    return _called("exact_sum_of", state)


def exact_mean_of(state: _Column) -> pl.Expr:
    """The mean of each state of a column."""
    return _called("exact_mean_of", state)


def exact_var_of(state: _Column, ddof: float = 1) -> pl.Expr:
    """The variance of each state of a column, of moments or of powers."""
    return _called("exact_var_of", state, _freedom(ddof))


def exact_std_of(state: _Column, ddof: float = 1) -> pl.Expr:
    """The standard deviation of each state of a column."""
    return _called("exact_std_of", state, _freedom(ddof))


def exact_dot_of(state: _Column) -> pl.Expr:
    """The sum of products of each state of a column."""
    return _called("exact_dot_of", state)


def exact_skewness_of(state: _Column, bias: bool = True) -> pl.Expr:
    """The skewness of each state of a column of powers."""
    return _called("exact_skewness_of", state, _bias(bias))


def exact_kurtosis_of(state: _Column, bias: bool = True) -> pl.Expr:
    """The kurtosis of each state of a column of powers."""
    return _called("exact_kurtosis_of", state, _bias(bias))


def exact_cov_of(state: _Column, ddof: float = 1) -> pl.Expr:
    """The covariance of each state of a column of co-moments."""
    return _called("exact_cov_of", state, _freedom(ddof))


def exact_corr_of(state: _Column) -> pl.Expr:
    """The correlation of each state of a column of co-moments."""
    return _called("exact_corr_of", state)


def exact_slope_of(state: _Column) -> pl.Expr:
    """The slope of the regression line of each state of a column of co-moments."""
    return _called("exact_slope_of", state)


def exact_intercept_of(state: _Column) -> pl.Expr:
    """The height at x = 0 of the regression line of each state of a column of co-moments."""
    return _called("exact_intercept_of", state)


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

    Functions return expressions. Rows with a null, of two columns in either, do not count. A statistic is null where too few items do, or
    where it has a zero denominator. Integers are converted to Float64 first, and results have this type. As in Polars, `ddof` is 1, and
    skewness and kurtosis are with a bias.
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
            if not odd.any():
                return odd
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


# What the namespaces have: `exact_NAME` for each.
_OF_A_COLUMN = ("sum", "mean", "var", "std", "skewness", "kurtosis")
_WITH_ANOTHER = ("dot", "average", "cov", "corr", "slope", "intercept")
_STATES = ("sum_state", "moments_state", "powers_state", "dot_state", "comoments_state", "merge")
_OF_STATES = tuple(f"{name}_of" for name in ("count", *_OF_A_COLUMN, "dot", "cov", "corr", "slope", "intercept"))
_NAMES = (*_OF_A_COLUMN, *_WITH_ANOTHER, *_STATES, *_OF_STATES)


def _function(name: str) -> Callable[..., pl.Expr]:
    function: Callable[..., pl.Expr] = globals()[f"exact_{name}"]
    return function


class _Namespace:
    """Functions by their names without `exact_`."""

    _names: "tuple[str, ...]" = _NAMES
    _what = "`exact`"

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> "Callable[..., Any]":
        if name not in self._names:
            raise AttributeError(f"{name}: {self._what} has {', '.join(self._names)}")
        return partial(self._called, name)

    def __dir__(self) -> "list[str]":
        return list(self._names)

    def _called(self, name: str, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError


@pl.api.register_expr_namespace("exact")
class ExprNamespace(_Namespace):
    """`pl.col("x").exact.sum()` is `exact_sum("x")`, and `x.exact.cov(y)` is `exact_cov(x, y)`. It has the functions of columns and of
    states, not those of lists."""

    def _called(self, name: str, *arguments: Any, **named: Any) -> pl.Expr:
        return _function(name)(self._of, *arguments, **named)


@pl.api.register_series_namespace("exact")
class SeriesNamespace(_Namespace):
    """`series.exact.sum()` and `series.exact.cov(other)` are numbers. Of a series of states, `.exact.sum_of()` is a series."""

    def _called(self, name: str, *arguments: Any, **named: Any) -> Any:
        literals = [pl.lit(argument) if isinstance(argument, pl.Series) else argument for argument in arguments]
        result = pl.select(_function(name)(pl.lit(self._of), *literals, **named)).to_series()
        return result if name in _OF_STATES else result.item()


class _OfFrames(_Namespace):
    _names = _OF_A_COLUMN
    _what = "`exact` of frames"

    def _called(self, name: str, *arguments: Any, **named: Any) -> Any:
        kinds = self._of.collect_schema()
        numbers = [column for column, kind in kinds.items() if kind.is_integer() or kind in (pl.Float32, pl.Float64)]
        return self._of.select(_function(name)(column, *arguments, **named) for column in numbers)


@pl.api.register_dataframe_namespace("exact")
class DataFrameNamespace(_OfFrames):
    """`frame.exact.sum()` is a frame of one row: the sums of the columns of numbers. So are `mean`, `var`, `std`, `skewness`, `kurtosis`."""


@pl.api.register_lazyframe_namespace("exact")
class LazyFrameNamespace(_OfFrames):
    """The same of a lazy frame."""
