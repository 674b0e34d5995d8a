"""Computes exact statistics of pandas' groups and windows, rounded once.

Statistics of groups depend only on the rows of each group, not on their order.

>>> import pandas as pd
>>> from treefold import pandas as tp
>>> keys, x = ["a", "b", "a", "a"], [1e300, 0.5, 1.0, -1e300]
>>> frame = pd.DataFrame({"k": keys, "x": x})
>>> tp.groupby(frame, "k").sum().to_dict()
{'x': {'a': 1.0, 'b': 0.5}}
>>> tp.rolling(frame["x"], 2).sum().tolist()
[nan, 1e+300, 1.5, -1e+300]

Importing this module registers the accessor `exact` of series and frames:

>>> float(frame["x"].exact.sum())
1.5
>>> frame.exact.groupby("k").max("x").to_dict()
{'a': 1e+300, 'b': 0.5}
"""

import math

import numpy as np
import pandas as pd

from . import exact
from ._functions import STATISTICS, columns_of, docstring, made, number, options_of, signature
from ._groups import GroupBy as _Groups

__all__ = ["DataFrameAccessor", "GroupBy", "RollingWindows", "SeriesAccessor", "groupby", "rolling"]


# Statistics by pandas' method names.
_STATISTICS = {{"skewness": "skew", "kurtosis": "kurt"}.get(name, name): name for name in STATISTICS}
_OF_A_COLUMN = [name for name, statistic in _STATISTICS.items() if len(columns_of(statistic)) == 1]
_DEFAULTS = {"ddof": 1, "min_count": 0, "skipna": True}
_OPTIONS = {
    "min_count": "int, optional\n    The sum of fewer items than this is NaN.",
    "skipna": "bool, optional\n    Whether to skip items that are NaN. Null items are always skipped.",
}


def _frame(columns, index, names):
    """A DataFrame of columns, some of which may have the same name."""
    frame = pd.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = names
    return frame


def _is_numeric(column):
    return pd.api.types.is_numeric_dtype(column.dtype)


def _check_series(column, name):
    if not isinstance(column, pd.Series):
        raise TypeError(f"{name} must be a Series, not {type(column).__name__}")


def _places(index, present):
    """For each group with rows, its position in the index of all groups."""
    if not isinstance(index, pd.MultiIndex):
        return index.get_indexer(present)

    def numbered(keys):
        # A missing key may be a value of a level in one of the two indices, but not in the other.
        columns = [(level, keys.get_level_values(number)) for number, level in enumerate(index.levels)]
        return pd.MultiIndex.from_arrays([np.where(values.isna(), -2, level.get_indexer(values)) for level, values in columns])

    return numbered(index).get_indexer(numbered(present))


def _codes(rows, grouped, by, options):
    """For each row, the position of its group in the index of pandas' results, or -1 if it has no group. Also returns that index."""
    sizes = grouped.size()
    index, places = sizes.index, None
    levels = index.levels if isinstance(index, pd.MultiIndex) else [index]
    if isinstance(by, pd.Grouper) or any(isinstance(level.dtype, pd.CategoricalDtype) for level in levels):
        # The index may have groups without rows. `ngroup` numbers only groups with rows, and in another order. A Grouper that is not in
        # a list would reorder the rows.
        grouped = rows.groupby([by] if isinstance(by, pd.Grouper) else by, **{**options, "observed": True})
        places = _places(index, grouped.size().index)
    codes = grouped.ngroup().to_numpy()
    if codes.dtype.kind == "f":
        # Rows without a group are NaN here.
        codes = np.where(np.isnan(codes), -1, codes)
    codes = codes.astype(np.int64, copy=False)
    if places is not None:
        codes = np.append(places, -1)[codes].astype(np.int64, copy=False)
    if not np.array_equal(np.bincount(codes + 1, minlength=len(sizes) + 1)[1:], sizes):
        raise RuntimeError(f"by: pandas {pd.__version__} does not report the group of each row for these keys")
    return codes, index


def _label(x, how, lists):
    """The name of a result: the column's name or, if any column has a list of statistics, the names of column and statistic."""
    if not any(isinstance(some, list) for some in lists.values()):
        return x
    return (*x, how) if isinstance(x, tuple) else (x, how)


def _pair(label, how):
    """Reads the source column and the statistic of a result from a pair or from pandas' `NamedAgg`."""
    if isinstance(how, pd.NamedAgg) and not (getattr(how, "args", ()) or getattr(how, "kwargs", {})):
        return how.column, how.aggfunc
    if not isinstance(how, tuple) or len(how) != 2:
        raise TypeError(f"{label}: {how!r} is not a pair of a column and a statistic")
    return how


class GroupBy:
    """Rows in groups, created by `groupby`.

    A method of one column returns a Series for the name of a column, and a
    DataFrame for a list of names. Without a name, the method applies to all
    columns of numbers except the keys. If the rows are a Series, methods take
    no name. Keys are the index of the result, as in pandas. Sums of integers
    are 64-bit integers; a larger sum raises OverflowError. Skewness and kurtosis
    are corrected for bias, as in pandas. They are NaN if there are too few items
    or all are equal. The regression line of slope and intercept is of y on x.

    Examples
    --------
    >>> import pandas as pd
    >>> from treefold import pandas as tp
    >>> frame = pd.DataFrame(
    ...     {"k": list("aab"), "x": [0.1, 0.2, 0.5], "y": [1, 3, 4]}
    ... )
    >>> groups = tp.groupby(frame, "k")
    >>> groups.sum("y").to_dict()
    {'a': 4, 'b': 4}
    >>> groups.cov("x", "y").to_dict()
    {'a': 0.1, 'b': nan}
    """

    __slots__ = ("_codes", "_excluded", "_groups", "_rows")

    def __init__(self, rows, codes, index, excluded=frozenset()):
        self._rows, self._codes, self._excluded = rows, codes, excluded
        self._groups = _Groups._of_codes(codes, index)

    def _column(self, name):
        if name not in self._rows.columns:
            raise KeyError(f"x: {name!r} is not one of the columns {list(self._rows.columns)}")
        column = self._rows[name]
        if not isinstance(column, pd.Series):
            raise ValueError(f"x: {name!r} names {column.shape[1]} columns")
        return column

    def _columns(self, x, takes_all=False):
        """The columns that the list `x` names, and their names. If `x` is None, all numeric columns (with `takes_all`, all columns)."""
        rows = self._rows
        if x is not None:
            return [self._column(name) for name in x], rows.head(0)[x].columns
        columns = [rows.iloc[:, place] for place in range(rows.shape[1])]
        kept = [column.name not in self._excluded and (takes_all or _is_numeric(column)) for column in columns]
        return [column for column, is_kept in zip(columns, kept) if is_kept], rows.columns[kept]

    def _applied(self, name, columns, options):
        """A statistic of each column that the first argument names, paired with the other columns, if any."""
        (x, *others), of, index = columns, _STATISTICS[name], self._groups.keys
        if isinstance(self._rows, pd.Series):
            if x is not None:
                raise TypeError(f"x: {x!r} names a column, but the rows are a Series")
            return pd.Series(self._values(of, [self._rows], options), index=index, name=self._rows.name)
        others = [self._column(other) for other in others]
        if x is None or isinstance(x, list):
            columns, names = self._columns(x, takes_all=name == "count")
            return _frame([self._values(of, [column, *others], options) for column in columns], index, names)
        return pd.Series(self._values(of, [self._column(x), *others], options), index=index, name=x)

    def _values(self, statistic, columns, options):
        """A statistic of one or two columns for each group."""
        groups, dtype = self._groups, columns[0].dtype
        skipna, ddof = options.get("skipna"), number(options.get("ddof", 1), "ddof")
        if statistic == "count":
            found = columns[0].notna().to_numpy()
            codes = self._codes if found.all() else self._codes[found]
            return np.bincount(codes + 1, minlength=len(groups.keys) + 1)[1:]
        if statistic in ("min", "max") and (pd.api.types.is_integer_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)):
            # Minima and maxima do not depend on the order. pandas computes them, because its results keep the type.
            keys = pd.Categorical.from_codes(self._codes, range(len(groups.keys)))
            return getattr(columns[0].groupby(keys, observed=False), statistic)().array
        try:
            if statistic == "sum":
                return groups.sum(columns[0], skipna=skipna, min_count=options["min_count"])
            slots = groups._slots(statistic, columns, skipna)
            values = slots.values(statistic, ddof, False)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"column {columns[0].name!r}: {error}") from None
        if "ddof" in options:
            # For up to `ddof` items, pandas returns NaN, not infinity.
            values[slots.counts() <= ddof] = np.nan
        return values

    def agg(self, func=None, /, **named):
        """Computes several statistics at once. Arguments are as in pandas' `agg`.

        Parameters
        ----------
        func : str, list of str or dict, optional
            The name of a method of one column, or a list of such names, for all
            columns of numbers; or a dict from columns to names or lists.
        **named : tuple or str
            Without `func`, each keyword is the name of a column of the result;
            its value is a pair of a column and a statistic or, for a Series,
            only the statistic. With `func`, options of its method.

        Returns
        -------
        DataFrame
            If a column has a list of statistics, names have two levels.

        Raises
        ------
        ValueError
            A statistic does not exist.
        KeyError
            A column does not exist.

        Examples
        --------
        >>> import pandas as pd
        >>> from treefold import pandas as tp
        >>> frame = pd.DataFrame(
        ...     {"k": list("aab"), "x": [0.1, 0.2, 0.5], "y": [1, 3, 4]}
        ... )
        >>> groups = tp.groupby(frame, "k")
        >>> groups.agg({"x": "sum", "y": "max"}).to_dict("list")
        {'x': [0.30000000000000004, 0.5], 'y': [3, 4]}
        >>> groups.agg(total=("x", "sum")).to_dict("list")
        {'total': [0.30000000000000004, 0.5]}
        """
        is_series = isinstance(self._rows, pd.Series)
        if isinstance(func, str):
            return self._named(func)(**named)
        if func is None and named:
            parts, named = [(label, None, how) if is_series else (label, *_pair(label, how)) for label, how in named.items()], {}
        elif isinstance(func, list) and is_series:
            parts = [(how, None, how) for how in func]
        elif isinstance(func, (list, dict)) and not is_series:
            lists = func if isinstance(func, dict) else dict.fromkeys(self._columns(None)[1], func)
            parts = [(_label(x, how, lists), x, how) for x, some in lists.items() for how in (some if isinstance(some, list) else [some])]
        else:
            raise TypeError(f"func: {func!r} is not the name of a statistic, a list of names, or a dict of a DataFrame's columns")
        return _frame([self._named(how)(x, **named) for _, x, how in parts], self._groups.keys, pd.Index([label for label, _, _ in parts]))

    def _named(self, statistic):
        if not isinstance(statistic, str) or statistic not in _OF_A_COLUMN:
            raise ValueError(f"func: {statistic!r} is none of {', '.join(_OF_A_COLUMN)}")
        return getattr(self, statistic)


class _Accessor:
    """The base class of both accessors."""

    def __init__(self, rows):
        self._rows = rows

    def groupby(self, by=None, **options):
        """Groups the rows, as `treefold.pandas.groupby` does."""
        return groupby(self._rows, by, **options)


@pd.api.extensions.register_series_accessor("exact")
class SeriesAccessor(_Accessor):
    """`Series.exact`: exact statistics of all items, each rounded once.

    The methods have pandas' names and defaults. Methods of two columns take
    another Series; rows with the same index are paired.

    Examples
    --------
    >>> import pandas as pd, treefold.pandas
    >>> x, y = pd.Series([0.1, 0.2, 0.4]), pd.Series([1, 2, 4])
    >>> float(x.exact.mean()), float(x.exact.corr(y))
    (0.23333333333333334, 1.0)
    """

    def _applied(self, name, others, options):
        columns = [self._rows, *others]
        for other in others:
            _check_series(other, "other")
        if others:
            frame = pd.concat(dict(enumerate(columns)), axis=1, join="inner")
            columns = [frame[place].rename(column.name) for place, column in enumerate(columns)]
        groups = GroupBy(columns[0], np.zeros(len(columns[0]), np.int64), pd.RangeIndex(1))
        return groups._values(_STATISTICS[name], columns, options)[0]


@pd.api.extensions.register_dataframe_accessor("exact")
class DataFrameAccessor(_Accessor):
    """`DataFrame.exact`: exact statistics of each column of numbers.

    Examples
    --------
    >>> import pandas as pd, treefold.pandas
    >>> frame = pd.DataFrame({"x": [0.1, 0.2], "y": [3, 4], "s": ["a", "b"]})
    >>> frame.exact.sum().to_dict()
    {'x': 0.30000000000000004, 'y': 7.0}
    """

    def _applied(self, name, _, options):
        kept = [name == "count" or _is_numeric(column) for _, column in self._rows.items()]
        values = [getattr(column.exact, name)(**options) for (_, column), is_kept in zip(self._rows.items(), kept) if is_kept]
        return pd.Series(values, index=self._rows.columns[kept])


def groupby(rows, by=None, **options):
    """Groups rows: `groupby(frame, "k").sum()`, `.cov("x", "y")`, `.agg(…)`.

    Parameters
    ----------
    rows : DataFrame or Series
        The rows.
    by, **options
        Arguments of `DataFrame.groupby`, which finds the groups: one key or a
        list of keys, `level`, `sort`, `dropna` and `observed`.

    Returns
    -------
    GroupBy

    Raises
    ------
    TypeError
        The rows are neither a DataFrame nor a Series.
    ValueError
        `as_index` is false, which is not supported: keys are always the index.

    Examples
    --------
    >>> import pandas as pd
    >>> from treefold import pandas as tp
    >>> frame = pd.DataFrame(
    ...     {"k": [1, 1, 2], "l": list("aba"), "x": [0.1, 0.2, 0.3]}
    ... )
    >>> tp.groupby(frame, ["k", "l"]).sum()["x"].to_dict()
    {(1, 'a'): 0.1, (1, 'b'): 0.2, (2, 'a'): 0.3}
    >>> tp.groupby(frame["x"], frame["k"]).mean().to_dict()
    {1: 0.15000000000000002, 2: 0.3}
    """
    if not isinstance(rows, (pd.DataFrame, pd.Series)):
        raise TypeError(f"rows must be a DataFrame or a Series, not {type(rows).__name__}")
    if not options.get("as_index", True):
        raise ValueError("as_index=False is not supported: the keys are always the index of the result; call reset_index() on it")
    grouped = rows.groupby(by, **options)
    return GroupBy(rows, *_codes(rows, grouped, by, options), grouped.exclusions)


def _items(column, name):
    """A column as floats, with NaN for missing items."""
    _check_series(column, name)
    dtype = column.dtype if isinstance(column.dtype, np.dtype) else getattr(column.dtype, "numpy_dtype", np.dtype(object))
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} has elements of type {column.dtype}, not floats or integers")
    return column.to_numpy(dtype=dtype if dtype.kind == "f" and dtype.itemsize > 2 else np.float64, na_value=np.nan)


class RollingWindows:
    """Moving windows over a Series or each column of a DataFrame.

    Created by `rolling`. Methods return a Series or a DataFrame with the index
    of the rows. Integers are converted to float64 first. Missing items are
    skipped. Methods of two columns take another Series with the same index, and
    skip rows in which either item is missing. Skewness and kurtosis are
    corrected for bias, as in pandas.

    Examples
    --------
    >>> import pandas as pd
    >>> from treefold import pandas as tp
    >>> windows = tp.rolling(pd.Series([1e16, 1.0, 3.0, 4.0]), 2)
    >>> windows.mean().tolist()
    [nan, 5000000000000000.0, 2.0, 3.5]
    """

    __slots__ = ("_options", "_rows")

    def __init__(self, rows, options):
        if not isinstance(rows, (pd.Series, pd.DataFrame)):
            raise TypeError(f"rows must be a DataFrame or a Series, not {type(rows).__name__}")
        self._rows, self._options = rows, options

    def _applied(self, name, others, options):
        statistic = _STATISTICS[name]
        if isinstance(self._rows, pd.DataFrame):
            if others:
                raise TypeError(f"{name}: rows must be a Series, not a DataFrame")
            columns = [self._values(column, statistic, (), options) for _, column in self._rows.items()]
            return _frame(columns, self._rows.index, self._rows.columns)
        for other in others:
            if isinstance(other, pd.Series) and not other.index.equals(self._rows.index):
                raise ValueError("other: its index differs from the rows' index")
        values = self._values(self._rows, statistic, tuple(_items(other, "other") for other in others), options)
        name = self._rows.name if all(other.name == self._rows.name for other in others) else None
        return pd.Series(values, index=self._rows.index, name=name)

    def _values(self, column, statistic, others, options):
        items = _items(column, f"column {column.name!r}")
        if statistic == "count":
            # As in pandas, `min_periods` counts rows here, even if their items are missing.
            return exact.rolling(1.0 - np.isnan(items), **{**self._options, "skipna": False}).sum()
        windows = dict(self._options)
        if statistic in ("var", "std") and options["ddof"] > 0:
            # For up to `ddof` items, pandas returns NaN, not infinity.
            windows["min_periods"] = max(windows["min_periods"], math.floor(min(options["ddof"], len(items))) + 1)
        bias = {"bias": False} if statistic in ("skewness", "kurtosis") else {}
        return getattr(exact.rolling(items, **windows), statistic)(*others, **options, **bias)


def rolling(rows, window=None, min_periods=None, on=None, *, placement="trailing"):
    """Moving windows over rows: `rolling(rows, window).mean()`, `.std()`, ….

    Parameters
    ----------
    rows : Series or DataFrame
        Floats or integers, some of which may be missing.
    window : int, or a duration, optional
        As in `treefold.exact.rolling`. If it is a duration and `on` is not
        given, the times are the index of the rows. Without `window`, all windows
        begin at the first row.
    min_periods : int, optional
        The value of a window with fewer items, not counting missing ones, is
        NaN. The default is `window` if that is a number of rows, otherwise 1.
    on : array_like or str, optional
        An ascending index for each row, or the name of a DataFrame's column
        that has the index. The result omits that column.
    placement : str, optional
        "trailing", "forward", or "centred", which is pandas' `center=True`.

    Returns
    -------
    RollingWindows

    Raises
    ------
    TypeError
        The rows are neither a Series nor a DataFrame.
    """
    if isinstance(rows, pd.DataFrame) and isinstance(on, str):
        rows, on = rows.drop(columns=on), rows[on]
    if on is None and window is not None and not isinstance(window, (int, np.integer)):
        on = rows.index
    if min_periods is None:
        min_periods = window if on is None and window is not None else 1
    options = {"window": window, "min_periods": min_periods, "on": on, "placement": placement, "skipna": True}
    return RollingWindows(rows, options)


def _add_methods(of, items, pairs, columns, by_place, by_keyword, texts):
    """Adds the statistics of items and of pairs to a class, as methods with options."""
    for name, statistic in _STATISTICS.items():
        if pairs or name in _OF_A_COLUMN:
            setattr(of, name, _method(of, name, statistic, pairs, items, columns, by_place, by_keyword, texts))


def _method(of, name, statistic, pairs, items, columns, by_place, by_keyword, texts):
    _, *others = columns_of(statistic)
    # In pandas, methods of series and of windows call the second column `other`.
    columns = [*columns, *("other" if other == "y" and "other" in texts else other for other in others)]
    options = {*options_of(statistic), *(["min_count"] if name == "sum" else []), *(["skipna"] if name != "count" else [])}
    by_place, by_keyword = ([option for option in some if option in options] for some in (by_place, by_keyword))

    def body(self, **arguments):
        return self._applied(name, [arguments.pop(column) for column in columns], arguments)

    # Without a name, a statistic applies to all columns.
    parameters = signature(["self", *columns, *by_place], by_keyword, _DEFAULTS if others else _DEFAULTS | {"x": None})
    texts = texts | _OPTIONS | ({"x": "str or list of str\n    The columns, each paired with the other column."} if others else {})
    summary = STATISTICS[statistic].format(pairs if others else items)
    return made(f"{of.__name__}.{name}", parameters, body, docstring(f"{summary}.", parameters, texts))


_NAMES = {
    "x": "str or list of str, optional\n    The columns; by default, all columns of numbers except the keys.",
    "y": "str\n    The other column.",
    "weights": "str\n    The column that has the weight of each item.",
}
_SERIES = {"other": "Series\n    The other column.", "weights": "Series\n    The weight of each item."}
_ALL = ("ddof", "min_count", "skipna")
_add_methods(GroupBy, "each group's items", "two columns in each group", ("x",), ("ddof",), ("min_count", "skipna"), _NAMES)
_add_methods(SeriesAccessor, "all items", "two columns", (), (), _ALL, _SERIES)
_add_methods(DataFrameAccessor, "each column's items", None, (), (), _ALL, {})
_add_methods(RollingWindows, "each window's items", "two columns in each window", (), ("ddof",), (), _SERIES)
