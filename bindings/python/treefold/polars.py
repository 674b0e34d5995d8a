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
"""

import math
from pathlib import Path
from typing import TypeAlias

import polars as pl
from polars.plugins import register_plugin_function

from . import _native

_Column: TypeAlias = "pl.Expr | pl.Series | str"

__all__ = [
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
