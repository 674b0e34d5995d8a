"""Implements `exact.groupby`: exact statistics of groups of items, in the style of pandas."""

import functools
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Generic, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._arrays import as_array, contiguous, counted, index, size
from ._keyed import check_axes, check_items, columns_for, distinct_of, slots_of, spread, values_by_key

_Keys = TypeVar("_Keys")
_Numbers: TypeAlias = NDArray[np.number[Any]]
_Floats: TypeAlias = NDArray[np.floating[Any]]


class Column:
    """Numbers of which some may be missing: an array, and a boolean array that is true for each number present, or None if all are."""

    __slots__ = ("_found", "values")

    def __init__(self, x, name="x"):
        arrow, missing = _arrow(x), None
        if arrow is not None:
            values, missing = _of_arrow(arrow, name)
        elif _is_extension(x):
            dtype = getattr(x.dtype, "numpy_dtype", np.dtype(object))
            _check_numbers(dtype, f"type {x.dtype}", name)
            values, missing = x.to_numpy(dtype=dtype, na_value=dtype.type(0)), np.asarray(x.isna())
        elif _is_polars(x) and x.null_count():
            values, missing = as_array(x.fill_null(0), name), np.asarray(x.is_null())
        else:
            values = as_array(x, name)
        self.values = contiguous(values)
        self._found = None if missing is None or not missing.any() else ~missing
        if self.values.ndim == 0:
            raise ValueError(f"{name} must have an axis for its items")

    def present(self, skipna):
        """A boolean array that is true for each item that is not missing; None if no item is missing. With `skipna`, NaNs are missing."""
        if skipna and self.values.dtype.kind in "fc":
            missing = np.isnan(self.values)
            if missing.any():
                return ~missing if self._found is None else ~missing & self._found
        return self._found


_NUMBERS = {("b", 1), ("f", 4), ("f", 8), *((kind, size) for kind in "iu" for size in (1, 2, 4, 8))}


def _check_numbers(dtype, own, name):
    """Checks that a library's own type corresponds to a NumPy type of numbers."""
    if (dtype.kind, dtype.itemsize) not in _NUMBERS:
        raise TypeError(f"{name} has elements of {own}, not floats or integers")


def _of_arrow(array, name):
    """The numbers of an Arrow array, without a copy, and a mask of the missing numbers."""
    try:
        dtype = np.dtype(array.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        dtype = np.dtype(object)
    # Arrow stores booleans as bits, which NumPy cannot view.
    _check_numbers(np.dtype(object) if dtype.kind == "b" else dtype, f"Arrow's type {array.type}", name)
    values = np.frombuffer(array.buffers()[1], dtype)[array.offset :][: len(array)] if len(array) else np.empty(0, dtype)
    return values, array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None


def _arrow(x):
    """`x` as one pyarrow array, if it is an array, a chunked array or a pandas column of pyarrow; else None."""
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


def _coded(keys, dropna, name):
    """The distinct keys of a vector, ascending, and for each item the index of its key, or -1 if the item has no key."""
    arrow = _arrow(keys)
    if arrow is not None:
        items, nulls = len(arrow), arrow.is_null().to_numpy(zero_copy_only=False)
        keys = np.asarray(arrow.drop_null())
    else:
        nulls = np.asarray(keys.isna()) if _is_extension(keys) else np.ma.getmask(keys)
        keys = np.asarray(keys)
        check_axes(keys, name)
        items, keys = len(keys), keys[~nulls] if nulls.any() else keys
    places = np.flatnonzero(~nulls) if nulls.any() else None
    if keys.dtype.kind == "O":
        # A value that does not equal itself is a NaN or a not-a-time, which has no order.
        lost = np.array([key is None or key != key for key in keys], bool)
    else:
        lost = np.isnan(keys) if keys.dtype.kind in "fcmM" and dropna else np.ma.nomask
    if not dropna and (places is not None or lost.any()):
        raise ValueError(f"{name}: nulls cannot be keys; fill them, or pass dropna=True")
    if lost.any():
        left = np.flatnonzero(~lost)
        keys, places = keys[left], left if places is None else places[left]
    distinct, codes = distinct_of(keys)
    if places is None:
        return distinct, codes
    of_all = np.full(items, -1)
    of_all[places] = codes
    return distinct, of_all


def _combined(coded):
    """The combinations of keys that occur, in lexicographic order, and for each item the index of its combination."""
    items = len(coded[0][1])
    for number, (_, codes) in enumerate(coded):
        if len(codes) != items:
            raise ValueError(f"keys[{number}] has {counted(len(codes), 'item')}, but keys[0] has {items}")
    places = np.flatnonzero(np.logical_and.reduce([codes >= 0 for _, codes in coded]))
    # For each item, the index of its combination of the keys so far.
    found, combined = [], np.zeros(len(places), np.int64)
    for distinct, codes in coded:
        pairs, combined = _native.factorize(combined * len(distinct) + codes[places])
        found = [numbers[pairs // len(distinct)] for numbers in found] + [pairs % len(distinct)]
    of_all = np.full(items, -1)
    of_all[places] = combined
    return tuple(distinct[numbers] for (distinct, _), numbers in zip(coded, found)), of_all


def _are_several(keys):
    """Whether `keys` is a list or a tuple of vectors."""
    is_vector = lambda one: hasattr(one, "__len__") and not isinstance(one, (str, bytes))
    return isinstance(keys, (list, tuple)) and len(keys) > 0 and all(map(is_vector, keys))


class GroupBy(Generic[_Keys]):
    """Items in groups of equal keys, created by `groupby`.

    All methods accept vectors, columns of Arrow and of pandas, and arrays of
    more axes. Missing items of columns are skipped. The rows of an array of more
    axes are the items, and each of its columns has a result. Results are arrays
    with a value for each group, in the order of `keys`. Each value is rounded
    once, to the type of the items or, for integers, to float64. All methods
    raise ValueError if the numbers of items and keys differ. Methods other than
    `count`, `sum`, `mean`, `var`, `std`, `min` and `max` also raise ValueError
    for integers beyond 2^53.

    Parameters of all methods
    -------------------------
    x : array_like
        The items: a row for each key.
    y, weights : array_like
        As many items as `x` has. A vector is paired with each column of `x`.
    skipna : bool
        Whether to skip NaNs and pairs that contain a NaN.

    Attributes
    ----------
    keys : ndarray or tuple of ndarray
        The key of each group, ascending. If `groupby` was given several vectors
        of keys, one array for each; groups are in lexicographic order.
    """

    __slots__ = ("_codes", "_count", "_is_whole", "keys")

    keys: _Keys

    def __init__(self, keys: ArrayLike | Sequence[ArrayLike], dropna: bool = True) -> None:
        if _are_several(keys):
            keys, codes = _combined([_coded(own, dropna, f"keys[{number}]") for number, own in enumerate(keys)])
            self._set(codes, keys, len(keys[0]))
        else:
            keys, codes = _coded(keys, dropna, "keys")
            self._set(codes, keys, len(keys))

    def _set(self, codes, keys, count):
        self._codes, self.keys, self._count = contiguous(codes), keys, count
        self._is_whole = int(codes.min(initial=0)) >= 0

    @classmethod
    def _of_codes(cls, codes, keys):
        """Groups given by the index of each item's group; a negative index means no group."""
        made = object.__new__(cls)
        made._set(codes, keys, len(keys))
        return made

    def _columns(self, arrays, skipna):
        """Returns vectors of the codes and of the items that are missing in no column, and the shape of a row."""
        columns = [Column(x, name) for x, name in zip(arrays, ("x", "y"))]
        for column in columns:
            check_items(len(self._codes), len(column.values))
        shape = max((column.values.shape for column in columns), key=len, default=self._codes.shape)
        if any(column.values.shape not in (shape, shape[:1]) for column in columns):
            raise ValueError(f"y has the shape {columns[1].values.shape}, but x has {columns[0].values.shape}")
        codes = spread(self._codes, size(shape[1:]))
        of_rows = functools.partial(_of_rows, shape=shape)
        present = [found for found in (column.present(skipna) for column in columns) if found is not None]
        if not self._is_whole:
            present.append(codes.reshape(shape) >= 0)
        values = [of_rows(column.values) for column in columns]
        if present:
            # Indices are faster than a boolean array.
            places = np.flatnonzero(np.logical_and.reduce([of_rows(found) for found in present]))
            codes, values = codes.take(places), [column.take(places) for column in values]
        return codes, values, shape[1:]

    def _slots(self, statistic, arrays, skipna):
        """The state of each group for a statistic of vectors."""
        codes, columns, _ = self._columns(arrays, skipna)
        return slots_of(statistic, codes, columns_for(statistic, columns), self._count)

    def _statistic(self, statistic, arrays, skipna, ddof=0, bias=True):
        codes, columns, row = self._columns(arrays, skipna)
        try:
            values = values_by_key(statistic, codes, columns, self._count * size(row), ddof, bias)
        except OverflowError as error:
            group, value = error.args
            key, dtype = self._key(group // size(row)), "uint64" if columns[0].dtype.kind == "u" else "int64"
            raise OverflowError(f"the sum of key {key!r} is {value}, beyond {dtype}: convert x to float64") from None
        return values.reshape(self._count, *row)

    def _key(self, group):
        """The key of a group as a Python object."""
        if isinstance(self.keys, tuple):
            return tuple(keys[group : group + 1].tolist()[0] for keys in self.keys)
        return self.keys[group : group + 1].tolist()[0]

    def agg(self, statistics: Mapping[str, Sequence[str | ArrayLike]], *, skipna: bool = False) -> dict[str, _Numbers]:
        """Computes several statistics in one call.

        Parameters
        ----------
        statistics : mapping
            For the name of each result, a tuple: the name of a method of this
            class, and the columns to call it with.
        skipna : bool, optional
            Whether to skip NaNs and pairs that contain a NaN.

        Returns
        -------
        dict
            An array for each name.

        Raises
        ------
        ValueError
            A tuple does not begin with the name of a statistic.

        Examples
        --------
        >>> from treefold import exact
        >>> price, pieces = [0.5, 5.0, 0.25], [1.0, 2.0, 3.0]
        >>> groups = exact.groupby(["pear", "plum", "pear"])
        >>> wanted = {"paid": ("dot", price, pieces), "n": ("count",)}
        >>> found = groups.agg(wanted)
        >>> found["paid"].tolist(), found["n"].tolist()
        ([1.25, 10.0], [2, 1])
        """
        found = {}
        for name, (statistic, *columns) in statistics.items():
            if statistic not in _STATISTICS:
                raise ValueError(f"statistics[{name!r}]: {statistic!r} is none of {', '.join(_STATISTICS)}")
            found[name] = getattr(self, statistic)(*columns, skipna=skipna)
        return found

    def sum(self, x: ArrayLike, *, skipna: bool = False, min_count: SupportsIndex = 0) -> _Numbers:
        """The exact sum of each group's items.

        Sums of integers are integers of 64 bits.

        Parameters
        ----------
        min_count : int, optional
            The sum of a group with fewer items than this is NaN.

        Raises
        ------
        OverflowError
            A sum of integers is beyond 64 bits.
        """
        min_count = index(min_count, "min_count")
        sums = self._statistic("sum", (x,), skipna)
        if min_count > 0:
            few = self.count(x, skipna=skipna) < min_count
            if few.any():
                sums = sums.astype(np.result_type(sums, np.float32 if sums.dtype.kind == "f" else np.float64))
                sums[few] = np.nan
        return sums

    def count(self, x: ArrayLike | None = None, *, skipna: bool = False) -> NDArray[np.intp]:
        """The number of items in each group. Without `x`, keys are counted."""
        codes, _, row = self._columns(() if x is None else (x,), skipna)
        return np.bincount(codes, minlength=self._count * size(row)).reshape(self._count, *row)

    def mean(self, x: ArrayLike, *, skipna: bool = False) -> NDArray[np.inexact[Any]]:
        """The exact mean of each group's items; NaN where there are none."""
        return self._statistic("mean", (x,), skipna)

    def var(self, x: ArrayLike, ddof: float = 1, *, skipna: bool = False) -> _Floats:
        """The exact variance of each group's items.

        Parameters
        ----------
        ddof : float, optional
            The divisor is the number of items minus `ddof`. A divisor that is
            not positive gives NaN if all items are equal, otherwise infinity.
        """
        return self._statistic("var", (x,), skipna, ddof)

    def std(self, x: ArrayLike, ddof: float = 1, *, skipna: bool = False) -> _Floats:
        """The square root of the exact variance, with `ddof` as in `var`."""
        return self._statistic("std", (x,), skipna, ddof)

    def skewness(self, x: ArrayLike, bias: bool = True, *, skipna: bool = False) -> _Floats:
        """The exact skewness of each group's items.

        It is NaN for a group with too few items or with equal items only.

        Parameters
        ----------
        bias : bool, optional
            True for the skewness of the items (g1), false for the estimate
            for a population (G1).
        """
        return self._statistic("skewness", (x,), skipna, bias=bias)

    def kurtosis(self, x: ArrayLike, bias: bool = True, *, skipna: bool = False) -> _Floats:
        """The exact excess kurtosis (g2 or G2); `bias` is as in `skewness`."""
        return self._statistic("kurtosis", (x,), skipna, bias=bias)

    def min(self, x: ArrayLike, *, skipna: bool = False) -> _Numbers:
        """The smallest of each group's items; NaN if there are none.

        Integers keep their type if each group has items.
        """
        return self._statistic("min", (x,), skipna)

    def max(self, x: ArrayLike, *, skipna: bool = False) -> _Numbers:
        """The largest of each group's items; types are as in `min`."""
        return self._statistic("max", (x,), skipna)

    def norm(self, x: ArrayLike, *, skipna: bool = False) -> _Floats:
        """The square root of the exact sum of each group's squares."""
        return self._statistic("norm", (x,), skipna)

    def dot(self, x: ArrayLike, y: ArrayLike, *, skipna: bool = False) -> _Floats:
        """The exact sum of each group's products of `x` and `y`."""
        return self._statistic("dot", (x, y), skipna)

    def average(self, x: ArrayLike, weights: ArrayLike, *, skipna: bool = False) -> _Floats:
        """The exact weighted mean of each group's items."""
        return self._statistic("average", (x, weights), skipna)

    def cov(self, x: ArrayLike, y: ArrayLike, ddof: float = 1, *, skipna: bool = False) -> _Floats:
        """The exact covariance of each group's pairs; see `var` for `ddof`."""
        return self._statistic("cov", (x, y), skipna, ddof)

    def corr(self, x: ArrayLike, y: ArrayLike, *, skipna: bool = False) -> _Floats:
        """The exact correlation of each group's pairs.

        It is NaN for fewer than two pairs, or if a column is constant.
        """
        return self._statistic("corr", (x, y), skipna)

    def slope(self, x: ArrayLike, y: ArrayLike, *, skipna: bool = False) -> _Floats:
        """The slope of each group's regression line of `y` on `x`."""
        return self._statistic("slope", (x, y), skipna)

    def intercept(self, x: ArrayLike, y: ArrayLike, *, skipna: bool = False) -> _Floats:
        """The value at `x` = 0 of each group's regression line of `y` on `x`."""
        return self._statistic("intercept", (x, y), skipna)


_STATISTICS = [name for name in vars(GroupBy) if not name.startswith("_") and name not in ("agg", "keys")]


def _of_rows(column, shape):
    """A column as a vector of all items. If the column has one item for each row, the item is repeated."""
    if column.shape != shape:
        column = np.broadcast_to(column.reshape(-1, *(1 for _ in shape[1:])), shape)
    return column.reshape(-1)


def groupby(keys, dropna=True):
    """Groups items by keys: `groupby(keys).sum(x)`, `.mean(x)` and others.

    Parameters
    ----------
    keys : array_like, or a list or tuple of array_like
        A vector of integers, floats, strings, or other values that NumPy can
        sort; or a column of Arrow or of pandas. If it is a list or tuple of such
        vectors, each combination of their keys is a group. -0.0 and 0.0 are one
        key. Items whose key is masked, null or `None` are left out.
    dropna : bool, optional
        True to leave out items whose key is a NaN or a not-a-time; false to
        make them the last group, and to reject null keys.

    Returns
    -------
    GroupBy

    Raises
    ------
    ValueError
        Keys are not vectors, differ in length, or have nulls although `dropna`
        is false.

    Examples
    --------
    >>> from treefold import exact
    >>> fruit, price = ["pear", "plum", "pear"], [0.1, 5.0, 0.2]
    >>> groups = exact.groupby(fruit)
    >>> groups.keys.tolist(), groups.sum(price).tolist()
    (['pear', 'plum'], [0.30000000000000004, 5.0])
    >>> groups = exact.groupby([fruit, [2, 1, 1]])
    >>> [keys.tolist() for keys in groups.keys], groups.sum(price).tolist()
    ([['pear', 'pear', 'plum'], [1, 2, 1]], [0.2, 0.1, 5.0])
    """
    return GroupBy(keys, dropna)
