"""Computes exact statistics as Polars expressions, rounded once.

Results depend only on the items, not on threads, chunks or the order of items.

>>> import polars as pl
>>> from treefold import polars as tp
>>> frame = pl.DataFrame(
...     {"k": ["a", "b", "a", "a"], "x": [1e300, 0.5, 1.0, -1e300]}
... )
>>> frame.select(tp.exact_sum("x")).item()
1.5
>>> frame.group_by("k").agg(tp.exact_sum("x")).sort("k").rows()
[('a', 1.0), ('b', 0.5)]

Polars calls a function once for each group. With many groups, lists are
faster, since one call sums them all:

>>> lists = frame.group_by("k").agg("x")
>>> lists.with_columns(tp.exact_list_sum("x")).sort("k").rows()
[('a', 1.0), ('b', 0.5)]

Moving windows:

>>> frame.select(tp.rolling("x", 2).sum()).to_series().to_list()
[None, 1e+300, 1.5, -1e+300]

The namespaces `exact` of expressions, series and frames have the same
functions, under names without the prefix `exact_`:

>>> frame.select(pl.col("x").exact.sum()).item()
1.5
>>> frame["x"].exact.mean(), frame.exact.sum().item()
(0.375, 1.5)
"""

import datetime
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeAlias

import numpy as np
import polars as pl
from polars.plugins import register_plugin_function

from . import _native, exact
from ._functions import docstring, made, number

# The oldest Polars version that has the names used here.
_OLDEST = (1, 0)

if tuple(map(int, pl.__version__.split(".")[:2])) < _OLDEST:
    raise ImportError(f"treefold.polars needs Polars {'.'.join(map(str, _OLDEST))} or newer, but this is {pl.__version__}")

_P = ParamSpec("_P")
_Column: TypeAlias = pl.Expr | pl.Series | str
_Arguments: TypeAlias = list[_Column]
_Window: TypeAlias = float | str | datetime.timedelta | np.timedelta64 | None

# Each of these functions has the parameters of some public functions, and converts them to the plugin's arguments.


def _x(x: _Column) -> _Arguments:
    return [x]


def _x_ddof(x: _Column, ddof: float = 1) -> _Arguments:
    return [x, _freedom(ddof)]


def _x_bias(x: _Column, bias: bool = True) -> _Arguments:
    return [x, _bias(bias)]


def _x_y(x: _Column, y: _Column) -> _Arguments:
    return [x, y]


def _x_y_ddof(x: _Column, y: _Column, ddof: float = 1) -> _Arguments:
    return [x, y, _freedom(ddof)]


def _x_weights(x: _Column, weights: _Column) -> _Arguments:
    return [x, weights]


def _y_x(y: _Column, x: _Column) -> _Arguments:
    return [y, x]


def _state(state: _Column) -> _Arguments:
    return [state]


def _state_ddof(state: _Column, ddof: float = 1) -> _Arguments:
    return [state, _freedom(ddof)]


def _state_bias(state: _Column, bias: bool = True) -> _Arguments:
    return [state, _bias(bias)]


def _freedom(ddof: float) -> pl.Expr:
    return pl.lit(number(ddof, "ddof"), pl.Float64)


def _bias(bias: bool) -> pl.Expr:
    return pl.lit(float(bool(bias)), pl.Float64)


_COLUMN = "Expr, Series or str\n    A column of floats or integers."
_TEXTS = {
    "x": _COLUMN,
    "y": _COLUMN,
    "weights": "Expr, Series or str\n    A column of floats or integers: the weight of each item.",
    "state": "Expr, Series or str\n    A column of states.",
}
_RETURNS = """
Returns
-------
Expr

Raises
------
polars.exceptions.ComputeError
    A column has another type. The error is raised when the query runs.
"""

# All functions, by their names without the prefix `exact_`.
_FUNCTIONS: dict[str, Callable[..., pl.Expr]] = {}


def _function(name: str, like: Callable[_P, _Arguments], *summary: str) -> Callable[_P, pl.Expr]:
    """Makes the Python function that calls the plugin's function `name`, with the parameters of `like`."""
    is_of_lists = "list" in name or name == "tree_sum"
    of_rows = is_of_lists or name.endswith("_of")

    def called(*arguments: _P.args, **named: _P.kwargs) -> pl.Expr:
        return register_plugin_function(
            plugin_path=Path(_native.__file__),
            function_name=name,
            args=like(*arguments, **named),
            is_elementwise=of_rows,
            returns_scalar=not of_rows,
        )

    items = "column of lists of floats" if is_of_lists else "column of floats"
    texts = {key: text.replace("column of floats", items) for key, text in _TEXTS.items()}
    rest = _RETURNS if name == "exact_sum" else f"{_RETURNS}\nSee Also\n--------\nexact_sum : Describes what these functions have in common.\n"
    signature = inspect.signature(like).replace(return_annotation=pl.Expr)
    function: Callable[_P, pl.Expr] = made(name, signature, called, docstring("\n".join(summary), signature, texts, rest))
    _FUNCTIONS[name.removeprefix("exact_")] = function
    return function


exact_sum = _function(
    "exact_sum",
    _x,
    "The exact sum of a column, rounded once.",
    "",
    "Nulls are skipped, and the sum of no items is 0. A sum is NaN if there is a",
    "NaN, or infinities of both signs. It is infinite if there are infinities of",
    "one sign, or if the exact sum is beyond the type's range. Sums of integers",
    "have type Int64 or UInt64; a sum beyond that type's range is an error.",
)
exact_mean = _function("exact_mean", _x, "The exact mean of a column, rounded once; null without items.")
exact_var = _function("exact_var", _x_ddof, "The exact variance of a column, rounded once; null for up to `ddof` items.")
exact_std = _function("exact_std", _x_ddof, "The square root of the exact variance of a column, rounded once.")
exact_skewness = _function("exact_skewness", _x_bias, "The exact skewness of a column, rounded once; null if all items are equal.")
exact_kurtosis = _function("exact_kurtosis", _x_bias, "The exact excess kurtosis of a column, rounded once; null if all are equal.")
_OF_A_COLUMN = tuple(_FUNCTIONS)

# Statistics of two columns. Rows with a null in either column are skipped. All results except those of `exact_dot` are Float64.
exact_dot = _function(
    "exact_dot",
    _x_y,
    "The exact sum of the products of two columns, rounded once.",
    "",
    "The sum has type Float32 if both columns have this type, otherwise Float64.",
    "Integers that Float64 cannot represent are an error.",
)
exact_average = _function("exact_average", _x_weights, "The exact weighted mean of a column, rounded once; null if weights add up to 0.")
exact_cov = _function("exact_cov", _x_y_ddof, "The exact covariance of two columns, rounded once; null for up to `ddof` rows.")
exact_corr = _function("exact_corr", _x_y, "The exact correlation of two columns, rounded once; null if one is constant.")
exact_slope = _function("exact_slope", _y_x, "The exact slope of the regression line of y on x; null if x is constant.")
exact_intercept = _function("exact_intercept", _y_x, "The exact height of the regression line of y on x where x is 0.")

# States, with the same bytes as in DuckDB and `treefold.exact.State`.
exact_sum_state = _function(
    "exact_sum_state",
    _x,
    "The state of a column's sum and mean, as bytes; null without items.",
    "",
    "`exact_merge` merges states, and `exact_sum_of` returns the sum of each state.",
    "States have the same bytes in DuckDB and in `treefold.exact.State`.",
)
exact_moments_state = _function("exact_moments_state", _x, "The state of a column's sum, mean, variance and standard deviation.")
exact_powers_state = _function("exact_powers_state", _x, "The state of a column's moments, skewness and kurtosis.")
exact_dot_state = _function("exact_dot_state", _x_y, "The state of the sum of the products of two columns.")
exact_comoments_state = _function("exact_comoments_state", _y_x, "The state of two columns' covariance, correlation and regression line.")
exact_merge = _function("exact_merge", _state, "Merges a column of states of one kind into one state. Skips nulls.")
exact_count_of = _function("exact_count_of", _state, "The number of rows of each state, as Float64; null where the state is null.")
exact_sum_of = _function("exact_sum_of", _state, "The sum of each state; null where the state is null.")
exact_mean_of = _function("exact_mean_of", _state, "The mean of each state.")
exact_var_of = _function("exact_var_of", _state_ddof, "The variance of each state of moments or powers.")
exact_std_of = _function("exact_std_of", _state_ddof, "The standard deviation of each state of moments or powers.")
exact_skewness_of = _function("exact_skewness_of", _state_bias, "The skewness of each state of powers.")
exact_kurtosis_of = _function("exact_kurtosis_of", _state_bias, "The excess kurtosis of each state of powers.")
exact_dot_of = _function("exact_dot_of", _state, "The sum of products of each state of products.")
exact_cov_of = _function("exact_cov_of", _state_ddof, "The covariance of each state of co-moments.")
exact_corr_of = _function("exact_corr_of", _state, "The correlation of each state of co-moments.")
exact_slope_of = _function("exact_slope_of", _state, "The slope of the regression line of each state of co-moments.")
exact_intercept_of = _function("exact_intercept_of", _state, "The height of the regression line at x = 0 of each state of co-moments.")

_OF_COLUMNS_AND_STATES = tuple(_FUNCTIONS)

# Functions of each row's list or array; null if the list is null.
exact_list_sum = _function("exact_list_sum", _x, "`exact_sum` of each list of a column.")
exact_list_mean = _function("exact_list_mean", _x, "`exact_mean` of each list of a column.")
exact_list_var = _function("exact_list_var", _x_ddof, "`exact_var` of each list of a column.")
exact_list_std = _function("exact_list_std", _x_ddof, "`exact_std` of each list of a column.")
exact_list_dot = _function("exact_list_dot", _x_y, "`exact_dot` of the two lists of each row, which must be equally long.")
tree_sum = _function("tree_sum", _x, "The sum of each list in tree order: `treefold.sum` of its non-null items.")

__all__ = ["RollingWindows", "rolling", *(function.__name__ for function in _FUNCTIONS.values())]


def _expression(column: _Column) -> pl.Expr:
    return pl.col(column) if isinstance(column, str) else pl.lit(column) if isinstance(column, pl.Series) else column


def _items(series: pl.Series) -> tuple[Any, Any]:
    """A column's items, with 0 for nulls, and a mask of the nulls."""
    if not series.dtype.is_numeric():
        raise pl.exceptions.InvalidOperationError(f"rolling: a column has elements of type {series.dtype}, not numbers")
    return series.cast(pl.Float64).fill_null(0.0).to_numpy(), series.is_null().to_numpy()


class RollingWindows:
    """Moving windows over a column, created by `rolling`.

    Methods return expressions of type Float64; integers are converted to
    Float64 first. Rows with a null in a column are skipped. A statistic is null
    if too few rows are left or if its divisor is zero. The defaults are those
    of Polars: `ddof` is 1, and skewness and kurtosis are not corrected for bias.
    """

    __slots__ = ("_on", "_options", "_x")

    def __init__(self, x: _Column, on: _Column | None, options: dict[str, Any]) -> None:
        self._x, self._on, self._options = x, on, options

    def _of(self, statistic: str, *others: _Column, **options: Any) -> pl.Expr:
        named = [_expression(self._x)]
        named += [_expression(other).alias(f"other {place}") for place, other in enumerate(others)]
        if self._on is not None:
            named.append(_expression(self._on).alias("on"))
        return pl.struct(named).map_batches(lambda rows: self._values(rows, statistic, options), return_dtype=pl.Float64)

    def _values(self, rows: pl.Series, statistic: str, options: dict[str, Any]) -> pl.Series:
        columns = rows.struct.unnest().get_columns()
        windows = {**self._options, "on": None if self._on is None else columns.pop().to_numpy()}
        items, nulls = zip(*map(_items, columns))
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
        """The smallest item."""
        return self._of("min")

    def max(self) -> pl.Expr:
        """The largest item."""
        return self._of("max")

    def var(self, ddof: float = 1) -> pl.Expr:
        """The exact variance, rounded once.

        Parameters
        ----------
        ddof : float, optional
            The divisor is the number of items minus `ddof`.
        """
        return self._of("var", ddof=ddof)

    def std(self, ddof: float = 1) -> pl.Expr:
        """The square root of the exact variance; `ddof` is as in `var`."""
        return self._of("std", ddof=ddof)

    def skew(self, bias: bool = True) -> pl.Expr:
        """The exact skewness, rounded once.

        Parameters
        ----------
        bias : bool, optional
            True for the skewness of the items (g1), false for the estimate
            for a population (G1).
        """
        return self._of("skewness", bias=bias)

    def kurtosis(self, bias: bool = True) -> pl.Expr:
        """The exact excess kurtosis, rounded once; `bias` is as in `skew`."""
        return self._of("kurtosis", bias=bias)

    def cov(self, y: _Column, ddof: float = 1) -> pl.Expr:
        """The exact covariance with column `y`; `ddof` is as in `var`."""
        return self._of("cov", y, ddof=ddof)

    def corr(self, y: _Column) -> pl.Expr:
        """The exact correlation with column `y`, rounded once."""
        return self._of("corr", y)


def rolling(
    x: _Column,
    window: _Window = None,
    min_periods: int | None = None,
    on: _Column | None = None,
    *,
    placement: Literal["trailing", "forward", "centred"] = "trailing",
) -> RollingWindows:
    """Moving windows over a column: `rolling(x, window).mean()`, ….

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

    Examples
    --------
    >>> import polars as pl
    >>> from treefold import polars as tp
    >>> frame = pl.DataFrame({"x": [1.0, 2.0, 4.0], "t": [1, 2, 9]})
    >>> frame.select(tp.rolling("x", 2, on="t").sum())["x"].to_list()
    [1.0, 3.0, 4.0]
    """
    return RollingWindows(x, on, {"window": window, "min_periods": min_periods, "placement": placement})


class _Namespace:
    """A namespace of functions, under their names without the prefix `exact_`."""

    _names = _OF_COLUMNS_AND_STATES
    _what = "`exact`"

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._names:
            raise AttributeError(f"{name}: {self._what} has no such function, only {', '.join(self._names)}")

        @functools.wraps(_FUNCTIONS[name])
        def called(*arguments: Any, **named: Any) -> Any:
            return self._called(name, *arguments, **named)

        return called

    def __dir__(self) -> list[str]:
        return list(self._names)

    def _called(self, name: str, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError


@pl.api.register_expr_namespace("exact")
class ExprNamespace(_Namespace):
    """Functions of columns and states. The expression is their first argument.

    `pl.col("x").exact.cov("y")` is `exact_cov("x", "y")`.
    """

    def _called(self, name: str, *arguments: Any, **named: Any) -> pl.Expr:
        return _FUNCTIONS[name](self._of, *arguments, **named)


@pl.api.register_series_namespace("exact")
class SeriesNamespace(_Namespace):
    """Functions of columns and states. The series is their first argument.
    `series.exact.sum()` and `series.exact.cov(other)` are numbers. For a series
    of states, `.exact.sum_of()` is a series.
    """

    def _called(self, name: str, *arguments: Any, **named: Any) -> Any:
        literals = [pl.lit(argument) if isinstance(argument, pl.Series) else argument for argument in arguments]
        result = pl.select(_FUNCTIONS[name](pl.lit(self._of), *literals, **named)).to_series()
        return result if name.endswith("_of") else result.item()


class _OfFrames(_Namespace):
    _names = _OF_A_COLUMN
    _what = "`exact` of frames"

    def _called(self, name: str, *arguments: Any, **named: Any) -> Any:
        kinds = self._of.collect_schema()
        numbers = [column for column, kind in kinds.items() if kind.is_integer() or kind in (pl.Float32, pl.Float64)]
        return self._of.select(_FUNCTIONS[name](column, *arguments, **named) for column in numbers)


@pl.api.register_dataframe_namespace("exact")
class DataFrameNamespace(_OfFrames):
    """Functions of one column, applied to each column of numbers.

    `frame.exact.sum()` is a frame of one row.
    """


@pl.api.register_lazyframe_namespace("exact")
class LazyFrameNamespace(_OfFrames):
    """The functions of `DataFrameNamespace`, for a lazy frame."""
