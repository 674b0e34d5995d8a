"""Exact statistics by key, with NumPy's signatures.

Keys are slot numbers, counted from 0. `values_by_key` computes any statistic of the items of each key, and `by_key` computes sums. All
functions of keys, groups and bins call one of these two.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._arrays import as_array, as_float, as_unmasked, contiguous, counted, index, reduced_axes, size, zeros

# The statistics that are exact for integers of any size.
_OF_INTEGERS = ("sum", "mean", "var", "std")
# Beyond this limit, float64 may round integers.
_EXACT = 2**53


def as_vector(x, name):
    """A vector of floats or complex numbers; integers become float64."""
    array = as_float(as_array(x, name))
    check_axes(array, name)
    return contiguous(array)


def check_axes(array, name):
    """Checks that an array is a vector."""
    if array.ndim != 1:
        raise ValueError(f"{name} must have one axis, not {array.ndim}")


def as_keys(keys, name="keys"):
    """Keys as a vector of int64."""
    array = as_unmasked(keys, name)
    if array.dtype.kind not in "biu":
        if array.size:
            raise TypeError(f"{name} must be integers, not {array.dtype}")
        array = array.astype(np.int64)
    check_axes(array, name)
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise IndexError(f"{name}: {array.max()} (item {int(array.argmax())}) is beyond int64")
    return contiguous(array.astype(np.int64, copy=False))


def check_items(keys, items, noun="key"):
    """Checks that the number of keys (or weights and so on) equals the number of items."""
    if keys != items:
        raise ValueError(f"{counted(keys, noun)} for {counted(items, 'item')}")


def _check_keys(keys, sums):
    """Checks that all keys are in range."""
    for wrong in np.flatnonzero((keys < 0) | (keys >= sums))[:1]:
        why = "negative: keys start at 0" if keys[wrong] < 0 else f"out of bounds: keys must be less than {sums}"
        raise IndexError(f"key {keys[wrong]} (item {wrong}) is {why}")


def distinct_of(keys):
    """The distinct keys of a vector, ascending, and the index of each key among them."""
    if keys.dtype.kind in "biu" and keys.dtype != np.uint64:
        distinct, codes = _native.factorize(as_keys(keys))
        return distinct.astype(keys.dtype), codes
    distinct, codes = np.unique(keys, return_inverse=True)
    return distinct, contiguous(codes.astype(np.int64))


def _rounds(array):
    """Whether float64 may round an array's integers."""
    return array.dtype.kind in "iu" and array.size > 0 and not (-_EXACT <= array.min() and array.max() <= _EXACT)


def as_exact_floats(array, name):
    """An array with its integers converted to float64. Raises ValueError if one could be rounded."""
    if _rounds(array):
        wrong = np.flatnonzero((array > _EXACT) | (array < -_EXACT))[0]
        raise ValueError(f"{name}: item {wrong} is {array.flat[wrong]}, but float64 may round integers beyond 2^53: convert the items to floats first")
    return as_float(array)


def _in_doubles(keys, x):
    """Items as floats, with their keys. If an integer is beyond 2^53, each integer becomes two doubles, without rounding."""
    if not _rounds(x):
        return keys, as_float(x)
    halves = (x >> 32).astype(np.float64) * 2.0**32, (x & 0xFFFF_FFFF).astype(np.float64)
    return np.concatenate([keys, keys]), np.concatenate(halves)


def of_parts(x, function):
    """Applies a function of float vectors to a vector. The real and imaginary parts of a complex vector are passed separately."""
    if x.dtype.kind != "c":
        return function(x)
    return as_complex(function(x.real.copy()), function(x.imag.copy()))


def as_complex(real, imaginary):
    """A complex array from real and imaginary parts. NumPy's `x + 1j * y` would turn an infinity into a NaN."""
    result = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), np.result_type(real, imaginary, np.complex64))
    result.real, result.imag = real, imaginary
    return result


def slots_of(statistic, keys, columns, groups):
    """The state of a statistic for each of the keys 0 to `groups` - 1, from a vector of keys and one or two columns of equal type."""
    slots = _native.ExactSlots(statistic, columns[0][:0], groups)
    slots.change(keys, columns, False)
    return slots


def columns_for(statistic, columns):
    """The columns converted to a type that the slots of a statistic accept."""
    kind = columns[0].dtype.kind
    if statistic in _OF_INTEGERS and kind in "biu":
        return [columns[0].astype(np.uint64 if kind == "u" else np.int64, copy=False)]
    columns = [as_exact_floats(column, name) for column, name in zip(columns, ("x", "y"))]
    dtype = np.result_type(*columns)
    if dtype.kind == "c":
        raise TypeError(f"`{statistic}` by key accepts only real numbers, not {dtype}")
    return [contiguous(column.astype(dtype, copy=False)) for column in columns]


def values_by_key(statistic, keys, columns, groups, ddof=0.0, bias=True):
    """A statistic of the items of each of the keys 0 to `groups` - 1. Keys and items are vectors."""
    x = columns[0]
    if statistic == "sum" and x.dtype.kind in "fc":
        return by_key(keys, x, groups)
    if statistic == "mean" and x.dtype.kind == "c":
        return of_parts(x, lambda part: values_by_key(statistic, keys, [part], groups))
    if statistic in _EXTREMA and x.dtype.kind in "iu":
        return _extrema(statistic, keys, x, groups)
    slots = slots_of(statistic, keys, columns_for(statistic, columns), groups)
    return slots.values(statistic, float(ddof), bool(bias))


# The native code finds extrema of floats only. Extrema of integers are left to NumPy, as they do not depend on the order.
_EXTREMA = {"min": (np.minimum, "max"), "max": (np.maximum, "min")}


def _extrema(statistic, keys, x, groups):
    """The smallest or largest integer of each key, in the type of `x`. If some key has no items, as float64, with NaN for that key."""
    function, farthest = _EXTREMA[statistic]
    result = np.full(groups, getattr(np.iinfo(x.dtype), farthest), x.dtype)
    function.at(result, keys, x)
    has_none = np.bincount(keys, minlength=groups) == 0
    if has_none.any():
        result[has_none] = 0
        result = as_exact_floats(result, statistic)
        result[has_none] = np.nan
    return result


def spread(keys, width):
    """The keys of all values in rows of items. Value i of a row with key k gets the key width * k + i."""
    return keys if width == 1 else (keys[:, None] * width + np.arange(width)).ravel()


# The native code needs memory for each sum. If there are more sums than this and most have no items, it is called only for those with items.
_MANY = 1 << 24


def by_key(keys, x, sums):
    """The exact sums of the items of the keys 0 to `sums` - 1. The first axis of `x` numbers items; that of the result, keys."""
    check_items(len(keys), len(x))
    keys, x = _in_doubles(keys, x)
    row = x.shape[1:]
    if sums > max(_MANY, 16 * len(keys)):
        result = zeros((sums, *row), x.dtype)
        _check_keys(keys, sums)
        distinct, codes = _native.factorize(keys)
        result[distinct] = by_key(codes, x, len(distinct))
        return result
    if row:
        _check_keys(keys, sums)
    keys, items, count = spread(keys, size(row)), contiguous(x.reshape(-1)), sums * size(row)
    try:
        found = of_parts(items, lambda part: _native.exact_by_key(keys, part, count))
    except IndexError:
        _check_keys(keys, sums)
        raise
    return found.reshape(sums, *row)


def bincount(keys, weights=None, minlength=0, *, axis=None):
    """The exact sum of the weights of each key 0, 1, …, rounded once.

    The signature is that of `numpy.bincount`. A sum depends only on the weights
    of its key, not on their order. Each sum starts at +0.0.

    Parameters
    ----------
    keys : array_like of ints
        A vector of keys, none of them negative.
    weights : array_like, optional
        A number for each key, real or complex. Sums of integers are exact,
        too, and rounded to float64. Without weights, keys are counted.
    minlength : int, optional
        The minimum number of sums.
    axis : int, optional
        The axis of the weights that has an element for each key.
        In the result, this axis has an element for each sum.

    Returns
    -------
    ndarray
        The sums, in the type of the weights. Their number is the largest key
        plus 1, or `minlength` if that is larger.

    Raises
    ------
    ValueError
        A key is negative, or the numbers of weights and keys differ.
    TypeError
        Keys are not integers, or weights have a type without exact sums.

    Examples
    --------
    >>> from treefold import exact
    >>> keys, weights = [0, 2, 0, 2, 0], [1e300, 0.1, 1.0, 0.2, -1e300]
    >>> exact.bincount(keys, weights).tolist()
    [1.0, 0.0, 0.30000000000000004]
    >>> exact.bincount([1, 1], [[1.0, 2.0], [3.0, 4.0]], axis=1).tolist()
    [[0.0, 3.0], [0.0, 7.0]]
    """
    keys, minlength = as_keys(keys), index(minlength, "minlength")
    if minlength < 0:
        raise ValueError(f"minlength: {minlength} is negative")
    sums = max(int(keys.max(initial=-1)) + 1, minlength)
    if weights is None:
        if axis is not None:
            raise TypeError("axis was passed without weights: it is an axis of the weights")
    else:
        weights = as_array(weights, "weights")
        if axis is None:
            check_axes(weights, "weights")
        else:
            (axis,) = reduced_axes((axis,), weights.ndim)
            weights = np.moveaxis(weights, axis, 0)
    try:
        if weights is None:
            if keys.min(initial=0) < 0:
                _check_keys(keys, sums)
            return np.bincount(keys, minlength=minlength)
        found = by_key(keys, weights, sums)
    except IndexError as error:
        raise ValueError(str(error)) from None
    return found if axis is None else np.moveaxis(found, 0, axis)


def add_at(sums: NDArray[np.inexact[Any]], keys: ArrayLike, x: ArrayLike) -> None:
    """Adds items to the sums of their keys, in place.

    `sums[k]` becomes the exact sum of its old value and the items with key k,
    rounded once. Unlike in `numpy.add.at`, the result does not depend on the
    order of the items. Sums without new items keep their bits.

    Parameters
    ----------
    sums : ndarray
        A vector of floats or complex numbers.
    keys : array_like of ints
        The index of the sum for each item.
    x : array_like
        The items. The type of `sums` must be able to hold their type. Integers
        are added exactly.

    Returns
    -------
    None
        `sums` is changed in place.

    Raises
    ------
    IndexError
        A key is negative, or not less than the number of sums. Then `sums` is
        unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from treefold import exact
    >>> sums = np.array([1.0, 2.0])
    >>> exact.add_at(sums, [0, 0, 0], [1e300, 0.5, -1e300])
    >>> sums.tolist()
    [1.5, 2.0]
    """
    if not isinstance(sums, np.ndarray) or sums.ndim != 1 or sums.dtype.kind not in "fc":
        raise TypeError("sums must be a vector of floats or complex numbers")
    keys, x = as_keys(keys), as_array(x, "x")
    check_axes(x, "x")
    if not np.can_cast(x.dtype, sums.dtype):
        raise TypeError(f"x has elements of type {x.dtype}, which sums of type {sums.dtype} cannot hold")
    check_items(len(keys), len(x))
    _check_keys(keys, len(sums))
    keys, x = _in_doubles(keys, x)
    items = np.concatenate([x.astype(sums.dtype), sums])
    added = by_key(np.concatenate([keys, np.arange(len(sums))]), items, len(sums))
    changed = np.zeros(len(sums), bool)
    changed[keys] = True
    sums[changed] = added[changed]


def reduceat(x, indices):
    """The exact sum of each of the slices `x[indices[i]:indices[i + 1]]`.

    Each sum is rounded once. As in `numpy.add.reduceat`, the last slice ends
    with `x`, and a slice that would be empty is the item `x[indices[i]]`.

    Parameters
    ----------
    x : array_like
        A vector. Sums of integers are exact, too, and rounded to float64.
    indices : array_like of ints
        The beginnings of the slices.

    Returns
    -------
    ndarray
        A sum for each index.

    Raises
    ------
    IndexError
        An index is negative, or not less than the number of items.

    Examples
    --------
    >>> from treefold import exact
    >>> exact.reduceat([1e300, 1.0, -1e300, 0.5], [0, 3]).tolist()
    [1.0, 0.5]
    """
    x, starts = as_array(x, "x"), as_keys(indices, "indices")
    check_axes(x, "x")
    for wrong in np.flatnonzero((starts < 0) | (starts >= len(x)))[:1]:
        raise IndexError(f"indices[{wrong}] is {starts[wrong]}, which is out of bounds for {counted(len(x), 'item')}")
    lengths = np.maximum(np.append(starts[1:], len(x)) - starts, 1) if len(starts) else starts
    first = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    items = x[first + np.arange(len(first))]
    return by_key(np.repeat(np.arange(len(starts)), lengths), items, len(starts))
