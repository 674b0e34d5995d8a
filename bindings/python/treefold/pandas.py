"""Exact sums of groups of rows of pandas, rounded once: they depend on the rows of a group alone, and not on their order.

>>> import pandas as pd
>>> from treefold import pandas as tp
>>> frame = pd.DataFrame({"k": ["a", "b", "a", "a"], "x": [1e300, 0.5, 1.0, -1e300]})
>>> tp.groupby(frame, "k").sum("x").to_dict()
{'a': 1.0, 'b': 0.5}
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ._groups import GroupBy as _Groups

__all__ = ["GroupBy", "groupby"]


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
