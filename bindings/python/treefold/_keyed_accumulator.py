"""Defines an accumulator that keeps a statistic by key between calls."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _native
from ._accumulator import Mergeable
from ._arrays import as_array, as_unmasked, contiguous, counted
from ._keyed import as_exact_floats, check_axes, distinct_of

_VERSION = 1
_DTYPES = tuple(np.dtype(name) for name in ("f8", "f4", "i8", "u8"))


def _as_array_of_keys(keys):
    """Keys as an array if NumPy represents them exactly, else as a list."""
    if isinstance(keys, (str, bytes)):
        raise TypeError(f"keys is a single {type(keys).__name__}, not a sequence with a key for each item")
    if hasattr(keys, "dtype") or hasattr(keys, "__arrow_array__") or hasattr(keys, "__array__"):
        array = as_unmasked(keys, "keys")
        check_axes(array, "keys")
        return array if array.dtype.kind in "biufmMSU" else array.tolist()
    keys = list(keys)
    try:
        return np.array(keys, np.int64) if set(map(type, keys)) == {int} else keys
    except OverflowError:
        return keys


def _factorized(keys):
    """The distinct keys as Python objects, and for each item the index of its key."""
    keys = _as_array_of_keys(keys)
    if isinstance(keys, list):
        numbers = {}
        codes = np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), np.int64, len(keys))
        return list(numbers), codes
    distinct, codes = distinct_of(keys)
    # Times stay NumPy scalars, because Python's own times cannot represent fine units.
    return list(distinct) if keys.dtype.kind in "mM" else distinct.tolist(), codes


def _check(keys):
    """Checks that no key is None, NaN or missing: a dictionary could not find such a key again."""
    for key in keys:
        try:
            is_lost = key is None or not key == key
        except TypeError:
            # A comparison with the missing value of pandas is neither true nor false.
            is_lost = True
        if is_lost:
            raise ValueError(f"keys: {key!r} cannot be a key; leave out its items")


class KeyedAccumulator(Mergeable):
    """A statistic by key of items that can be added and removed.

    Each value is rounded once. It depends only on the items of its key, not on
    the order or grouping in which they were added. Adding and then removing
    items changes nothing. A key whose items are all removed disappears, except
    for "dot", "norm" and "average", which do not count items. `a + b` has the
    items of both accumulators.

    Parameters
    ----------
    statistic : str
        "count", "sum", "mean", "var", "std", "min", "max", "norm", "skewness"
        or "kurtosis" of x; "dot", "cov", "corr", "slope" or "intercept" of x
        and y; "average" of x with the weights y. The slope and the intercept
        are those of y on x.
    dtype : dtype, optional
        The type of the items: float64, float32, int64 or uint64. Integer types
        support only "count", "sum", "mean", "var" and "std". float64 also
        accepts integers up to 2^53.

    Raises
    ------
    ValueError
        The statistic is none of these.
    TypeError
        The type is none of these, or does not support the statistic.

    Examples
    --------
    >>> from treefold import exact
    >>> stock = exact.KeyedAccumulator("sum")
    >>> stock.add(["pear", "plum", "pear"], [1e300, 0.5, 0.25])
    >>> stock.remove(["pear", "plum"], [1e300, 0.5])
    >>> dict(zip(stock.keys(), stock.value().tolist()))
    {'pear': 0.25}
    """

    __module__ = "treefold.exact"
    __slots__ = ("_codes", "_ddof", "_dtype", "_has_removed", "_inputs", "_native", "_statistic")

    def __init__(self, statistic: str, dtype: DTypeLike = np.float64) -> None:
        self._statistic, self._dtype = statistic, np.dtype(dtype).newbyteorder("=")
        self._inputs, self._ddof = _native.statistic_defaults(statistic)
        if self._dtype not in _DTYPES:
            raise TypeError(f"dtype: {self._dtype} is none of {', '.join(map(str, _DTYPES))}")
        self._native, self._codes, self._has_removed = self._empty(0), {}, False

    def _empty(self, keys):
        return _native.ExactSlots(self._statistic, np.empty(0, self._dtype), keys)

    @property
    def statistic(self) -> str:
        """The name of the statistic."""
        return self._statistic

    @property
    def dtype(self) -> np.dtype[np.number[Any]]:
        """The type of the items."""
        return self._dtype

    def _columns(self, x, y, keys):
        if (y is None) != (self._inputs == 1):
            raise TypeError(f"`{self._statistic}` takes {'only x' if self._inputs == 1 else 'x and y'}")
        columns = []
        for name, array in zip("xy"[: self._inputs], (x, y)):
            array = as_array(array, name)
            check_axes(array, name)
            if len(array) != keys:
                raise ValueError(f"{counted(keys, 'key')} for {counted(len(array), 'item')} of {name}")
            if self._dtype.kind == "f":
                array = as_exact_floats(array, name)
            if not np.can_cast(array.dtype, self._dtype):
                raise TypeError(f"{name} has elements of type {array.dtype}, which an accumulator of {self._dtype} cannot hold")
            columns.append(contiguous(array.astype(self._dtype, copy=False)))
        return columns

    def _coded(self, keys):
        """The codes of keys, and a dictionary of the new keys, which the caller records after adding items. Makes slots for new keys."""
        known, new = self._codes, {}
        codes = [known[key] if key in known else new.setdefault(key, len(known) + len(new)) for key in keys]
        self._native.grow(len(known) + len(new))
        return np.array(codes, np.int64), new

    def add(self, keys: ArrayLike | Iterable[Hashable], x: ArrayLike, y: ArrayLike | None = None) -> None:
        """Adds items.

        Parameters
        ----------
        keys : array_like
            A vector with the key of each item: any hashable values
            except NaN and `None`.
        x, y : array_like
            An item for each key. `y` is needed for statistics of two columns.

        Raises
        ------
        TypeError, ValueError
            The accumulator does not accept these keys or items. It is then
            unchanged.
        """
        distinct, codes = _factorized(keys)
        columns = self._columns(x, y, len(codes))
        _check(distinct)
        own, new = self._coded(distinct)
        self._native.change(own[codes], columns, False)
        self._codes.update(new)

    def remove(self, keys: ArrayLike | Iterable[Hashable], x: ArrayLike, y: ArrayLike | None = None) -> None:
        """Removes items that were added earlier. Parameters are as in `add`.

        Raises
        ------
        ValueError
            A key has fewer items, NaNs or infinities than to remove, or the
            statistic is a minimum or a maximum. The accumulator is then
            unchanged. Other removals of items that were not added are not
            detected.
        """
        distinct, codes = _factorized(keys)
        columns = self._columns(x, y, len(codes))
        for key in distinct:
            if key not in self._codes:
                raise ValueError(f"key {key!r} has no items")
        try:
            self._native.change(self._coded(distinct)[0][codes], columns, True)
        except ValueError as error:
            if len(error.args) < 2:
                raise
            code, reason = error.args
            raise ValueError(f"key {self._key_of(code)!r}: {reason}") from None
        self._has_removed = True

    def _key_of(self, code):
        return next(key for key, own in self._codes.items() if own == code)

    def _arranged(self, keys):
        """The slots of these keys, in this order."""
        slots = self._empty(len(keys))
        if keys:
            places = np.zeros(self._native.keys, np.uint32)
            places[[self._codes[key] for key in keys]] = np.arange(len(keys))
            slots.merge(self._native, places)
        return slots

    def _forget(self):
        """Removes the keys whose items have all been removed."""
        counts = self._native.counts() if self._has_removed else None
        self._has_removed = False
        if counts is not None and not counts[: len(self._codes)].all():
            kept = [key for key, code in self._codes.items() if counts[code]]
            self._native = self._arranged(kept)
            self._codes = {key: code for code, key in enumerate(kept)}

    def keys(self) -> list[Any]:
        """A list of the keys that have items.

        The keys are in ascending order or, if they cannot be compared, in the
        order in which they were added.
        """
        self._forget()
        try:
            return sorted(self._codes)
        except TypeError:
            return list(self._codes)

    def value(self, *, ddof: float | None = None, bias: bool = True) -> NDArray[np.number[Any]]:
        """The statistic of each key, rounded once.

        Parameters
        ----------
        ddof : float, optional
            The divisor of variances, standard deviations and covariances is the
            number of items minus `ddof`. The default is 1 for covariances and 0
            for the others.
        bias : bool, optional
            True for the skewness or kurtosis of the items (g1, g2), false
            for the estimate for a population (G1, G2).

        Returns
        -------
        ndarray
            The values, in the order of `keys`.

        Raises
        ------
        OverflowError
            A sum of integers is beyond their type.
        """
        codes = [self._codes[key] for key in self.keys()]
        try:
            values = self._native.values(self._statistic, self._ddof if ddof is None else float(ddof), bool(bias))
        except OverflowError as error:
            code, value = error.args
            raise OverflowError(f"the sum of key {self._key_of(code)!r} is {value}, beyond {self._dtype}") from None
        return values[np.array(codes, np.int64)]

    def merge(self, other: "KeyedAccumulator") -> None:
        """Adds the items of another accumulator to this one.

        Raises
        ------
        TypeError
            The other accumulator has another statistic or type.
        """
        self._check_other(other)
        if (self._statistic, self._dtype) != (other._statistic, other._dtype):
            mine, others = (f"`{one._statistic}` of {one._dtype}" for one in (self, other))
            raise TypeError(f"other accumulates {others}, not {mine}")
        other = other.copy() if other is self else other
        other._forget()
        if other._codes:
            places = np.zeros(other._native.keys, np.uint32)
            places[list(other._codes.values())], new = self._coded(other._codes)
            self._native.merge(other._native, places)
            self._codes.update(new)

    def copy(self) -> "KeyedAccumulator":
        """A copy of the accumulator."""
        copied = KeyedAccumulator(self._statistic, self._dtype)
        copied._native, copied._codes, copied._has_removed = self._empty(0) + self._native, dict(self._codes), self._has_removed
        return copied

    def __len__(self) -> int:
        self._forget()
        return len(self._codes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyedAccumulator):
            return NotImplemented
        keys = self.keys()
        is_alike = (self._statistic, self._dtype, self._codes.keys()) == (other._statistic, other._dtype, set(other.keys()))
        return is_alike and self._arranged(keys).to_bytes() == other._arranged(keys).to_bytes()

    def __reduce__(self):
        keys = self.keys()
        return _restored, (_VERSION, self._statistic, self._dtype.str, keys, self._arranged(keys).to_bytes())

    def __repr__(self):
        return f"<treefold.exact.KeyedAccumulator: {self._statistic!r} of {counted(len(self), 'key')} of type {self._dtype}>"


def _restored(version, statistic, dtype, keys, slots):
    if version != _VERSION:
        raise ValueError(f"the pickled KeyedAccumulator has version {version}, but this treefold reads version {_VERSION}")
    accumulator = KeyedAccumulator(statistic, dtype)
    accumulator._native = _native.ExactSlots.of_bytes(statistic, np.empty(0, accumulator._dtype), slots)
    accumulator._codes = {key: code for code, key in enumerate(keys)}
    if not len(accumulator._codes) == len(keys) == accumulator._native.keys:
        raise ValueError(f"the pickled KeyedAccumulator has {counted(len(keys), 'key')} for {counted(accumulator._native.keys, 'slot')}")
    return accumulator
