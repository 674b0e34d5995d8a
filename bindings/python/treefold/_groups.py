"""Exact statistics of groups of items, in the forms of pandas."""

import functools
import sys

import numpy as np

from ._arrays import as_array, contiguous, counted, index
from ._keyed import as_exact_floats, by_key, distinct_of, slots_of


class Column:
    """Numbers of which some may be missing: an array, and a boolean one that tells which are there, or `None`."""

    __slots__ = ("_found", "values")

    def __init__(self, x):
        self._found = None
        arrow = _arrow(x)
        if arrow is not None:
            self._take_arrow(arrow)
        elif _is_extension(x):
            self._take_extension(x)
        elif _is_polars(x) and x.null_count():
            self.values = contiguous(_widened(as_array(x.fill_null(0), "x")))
            self._miss(np.asarray(x.is_null()))
        else:
            self.values = contiguous(_widened(as_array(x, "x")))
        if self.values.ndim != 1:
            raise ValueError(f"x has {self.values.ndim} axes, not one")

    def _take_arrow(self, array):
        """An array of Arrow's, without a copy unless it is in chunks."""
        try:
            dtype = np.dtype(array.type.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            dtype = np.dtype(object)
        if (dtype.kind, dtype.itemsize) not in _NUMBERS:
            raise TypeError(f"x has elements of Arrow's type {array.type}, not floats or integers")
        first, length = array.offset, len(array)
        values = np.frombuffer(array.buffers()[1], dtype)[first : first + length] if length else np.empty(0, dtype)
        self.values = contiguous(_widened(values))
        if array.null_count:
            self._found = array.is_valid().to_numpy(zero_copy_only=False)

    def _take_extension(self, x):
        """A column of pandas whose type has missing items of its own."""
        dtype = getattr(x.dtype, "numpy_dtype", np.dtype(object))
        if dtype.kind not in "b" and (dtype.kind, dtype.itemsize) not in _NUMBERS:
            raise TypeError(f"x has elements of type {x.dtype}, not floats or integers")
        self.values = contiguous(_widened(x.to_numpy(dtype=dtype, na_value=dtype.type(0))))
        self._miss(np.asarray(x.isna()))

    def _miss(self, missing):
        """Items that a boolean array tells are missing."""
        if missing.any():
            self._found = ~missing

    def __len__(self):
        return len(self.values)

    def present(self, skipna):
        """Which items are not missing; `None` if all are there."""
        if skipna and self.values.dtype.kind in "fc":
            missing = np.isnan(self.values)
            if missing.any():
                return _both(~missing, self._found)
        return self._found


def _both(one, other):
    """Where both are true; `None` is true everywhere."""
    return one if other is None else other if one is None else one & other


# Integers have these themselves, however large they are.
_OF_INTEGERS = ("sum", "mean", "var", "std")
_NUMBERS = {("f", 4), ("f", 8), *((kind, size) for kind in "iu" for size in (1, 2, 4, 8))}


def _widened(array):
    """With integers of 64 bits."""
    if array.dtype.kind not in "biu":
        return array
    return array.astype(np.uint64 if array.dtype.kind == "u" else np.int64, copy=False)


def _arrow(x):
    """`x` as one array of pyarrow, if it is one, or several, or a column of pandas that holds them."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None:
        return None
    if hasattr(x, "dtype") and hasattr(x.dtype, "pyarrow_dtype"):
        x = getattr(x, "array", x).__arrow_array__()
    if isinstance(x, pyarrow.ChunkedArray):
        x = x.chunk(0) if x.num_chunks == 1 else x.combine_chunks()
    return x if isinstance(x, pyarrow.Array) else None


def _is_polars(x):
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(x, polars.Series)


def _is_extension(x):
    dtype = getattr(x, "dtype", None)
    return dtype is not None and not isinstance(dtype, np.dtype) and hasattr(x, "isna") and hasattr(x, "to_numpy")


class GroupBy:
    """Items in groups of equal keys: `groupby` makes it.

    All functions of items take columns of Arrow and of pandas, too, and skip what is missing there. With `skipna`, NaNs are skipped.

    Attributes
    ----------
    keys : ndarray
        The distinct keys, ascending: the groups, in the order of all results.
    """

    __slots__ = ("_codes", "_kept", "keys")

    def __init__(self, keys, dropna=True):
        self._kept = None
        arrow = _arrow(keys)
        lost = np.asarray(keys.isna()) if _is_extension(keys) else np.ma.getmask(keys)
        keys = np.asarray(keys if arrow is None else self._of_arrow(arrow, dropna))
        if keys.ndim != 1:
            raise ValueError(f"keys have {keys.ndim} axes, not one")
        if arrow is None and lost is not np.ma.nomask:
            keys = self._without(lost, keys, dropna)
        if keys.dtype.kind in "fcmM" and dropna:
            keys = self._without(np.isnan(keys), keys)
        elif keys.dtype.kind == "O":
            # What does not equal itself is a NaN or a not-a-time, which has no place in an order.
            keys = self._without(np.array([key is None or key != key for key in keys], bool), keys, dropna)
        self.keys, self._codes = distinct_of(keys)

    @classmethod
    def _of_codes(cls, codes, keys):
        """Groups whose numbers are known; items of negative numbers have none."""
        made, kept = object.__new__(cls), codes >= 0
        made._kept, made._codes, made.keys = None if kept.all() else kept, contiguous(codes[kept]), keys
        return made

    def _of_arrow(self, keys, dropna):
        """Keys without nulls."""
        if not keys.null_count:
            return keys
        self._without(keys.is_null().to_numpy(zero_copy_only=False), None, dropna)
        return keys.drop_null()

    def _without(self, places, keys, dropna=True):
        """The keys without those at places that a boolean array tells, of the items that are left."""
        if not places.any():
            return keys
        if not dropna:
            raise ValueError("keys have nulls, which are no keys: fill them, or pass dropna=True")
        kept = ~places
        if self._kept is None:
            self._kept = kept
        else:
            self._kept[self._kept] = kept
        return keys if keys is None else keys[kept]

    def _columns(self, arrays, skipna):
        """The codes and the items of what is not missing in any of some columns."""
        columns = [Column(x) for x in arrays]
        items = len(self._codes) if self._kept is None else len(self._kept)
        for column in columns:
            if len(column) != items:
                raise ValueError(f"{counted(items, 'key')} for {counted(len(column), 'item')}")
        codes, kept = self._codes, self._kept
        present = functools.reduce(_both, (column.present(skipna) for column in columns), None)
        if present is not None:
            codes, kept = codes[present if kept is None else present[kept]], _both(present, kept)
        arrays = [column.values for column in columns]
        if kept is not None:
            # Places are faster than a boolean array.
            places = np.flatnonzero(kept)
            arrays = [array.take(places) for array in arrays]
        return codes, [contiguous(array) for array in arrays]

    def _slots(self, statistic, arrays, skipna):
        """What is held of each group for a statistic."""
        codes, columns = self._columns(arrays, skipna)
        if any(column.dtype.kind == "c" for column in columns):
            raise TypeError("x has complex elements, whose groups have sums alone")
        if statistic not in _OF_INTEGERS or columns[0].dtype.kind == "f":
            columns = [as_exact_floats(column, name) for name, column in zip(("x", "y"), columns)]
            dtype = np.result_type(*columns)
            columns = [column.astype(dtype, copy=False) for column in columns]
        return slots_of(statistic, codes, columns, len(self.keys))

    def _statistic(self, statistic, arrays, skipna, ddof=0, bias=True):
        return self._slots(statistic, arrays, skipna).values(statistic, float(ddof), bool(bias))

    def sum(self, x, *, skipna=False, min_count=0):
        """The exact sum of each group's items, rounded once.

        Sums of integers are integers of 64 bits; one beyond is an OverflowError. Groups of fewer than `min_count` items have the sum NaN.
        """
        min_count = index(min_count, "min_count")
        codes, (items,) = self._columns((x,), skipna)
        if items.dtype.kind == "c" and (skipna or min_count > 0):
            raise TypeError("x has complex elements, whose sums have neither skipna nor min_count")
        if items.dtype.kind in "fc":
            sums = by_key(codes, items, len(self.keys))
        else:
            sums = self._integers(slots_of("sum", codes, [items], len(self.keys)), items.dtype)
        if min_count > 0:
            few = np.bincount(codes, minlength=len(self.keys)) < min_count
            if few.any():
                sums = sums.astype(np.result_type(sums, np.float32 if sums.dtype.kind == "f" else np.float64))
                sums[few] = np.nan
        return sums

    def _integers(self, slots, dtype):
        try:
            return slots.values("sum", 0.0, True)
        except OverflowError as error:
            group, value = error.args
            key = self.keys[group : group + 1].tolist()[0]
            raise OverflowError(f"the sum of key {key!r} is {value}, beyond {dtype}: convert x to float64") from None

    def count(self, x=None, *, skipna=False):
        """The number of items of each group; without any, of keys."""
        return np.bincount(self._columns(() if x is None else (x,), skipna)[0], minlength=len(self.keys))

    def mean(self, x, *, skipna=False):
        """The exact mean of each group's items, rounded once; NaN where there are none."""
        return self._statistic("mean", (x,), skipna)

    def var(self, x, ddof=1, *, skipna=False):
        """The exact variance of each group's items, rounded once; NaN where there are no more than `ddof` items, all alike."""
        return self._statistic("var", (x,), skipna, ddof)

    def std(self, x, ddof=1, *, skipna=False):
        """The square root of the exact variance of each group's items, rounded once."""
        return self._statistic("std", (x,), skipna, ddof)

    def skewness(self, x, bias=True, *, skipna=False):
        """The exact skewness g1 of each group's items, or without bias G1, rounded once; NaN where items are too few, or all alike."""
        return self._statistic("skewness", (x,), skipna, bias=bias)

    def kurtosis(self, x, bias=True, *, skipna=False):
        """The exact excess kurtosis g2 of each group's items, or without bias G2, rounded once."""
        return self._statistic("kurtosis", (x,), skipna, bias=bias)

    def min(self, x, *, skipna=False):
        """The least of each group's items; NaN where there are none."""
        return self._statistic("min", (x,), skipna)

    def max(self, x, *, skipna=False):
        """The greatest of each group's items; NaN where there are none."""
        return self._statistic("max", (x,), skipna)

    def average(self, x, weights, *, skipna=False):
        """The exact weighted mean of each group's items, rounded once. With `skipna`, pairs are skipped where one is missing."""
        return self._statistic("average", (x, weights), skipna)

    def cov(self, x, y, ddof=1, *, skipna=False):
        """The exact covariance of each group's pairs, rounded once."""
        return self._statistic("cov", (x, y), skipna, ddof)

    def corr(self, x, y, *, skipna=False):
        """The exact correlation of each group's pairs, rounded once; NaN of fewer than two, or where a column is constant."""
        return self._statistic("corr", (x, y), skipna)


def groupby(keys, dropna=True):
    """Groups items by keys: `groupby(keys).sum(x)`, `.mean(x)`, `.cov(x, y)` and other statistics.

    Parameters
    ----------
    keys : array_like
        A vector of integers, floats, strings, or whatever else NumPy sorts, or a column of Arrow. -0.0 and 0.0 are one key. Items whose key is
        masked, null or `None` are left out.
    dropna : bool, optional
        Whether items whose key is a NaN or a not-a-time are left out, or are the last group. Nulls are then an error.

    Returns
    -------
    GroupBy

    Examples
    --------
    >>> from treefold import exact
    >>> groups = exact.groupby(["pear", "plum", "pear"])
    >>> groups.keys.tolist(), groups.sum([0.1, 5.0, 0.2]).tolist()
    (['pear', 'plum'], [0.30000000000000004, 5.0])
    """
    return GroupBy(keys, dropna)
