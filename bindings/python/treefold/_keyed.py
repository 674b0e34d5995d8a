"""Exact sums by key, in the forms of NumPy."""

import numpy as np

from . import _native
from ._arrays import as_array, as_float, as_unmasked, contiguous, counted, index, zeros


def as_vector(x, name):
    """A vector of floats or complex numbers; integers become float64."""
    array = as_float(as_array(x, name))
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} axes, not one")
    return contiguous(array)


def as_keys(keys):
    """Keys as a vector of int64."""
    array = as_unmasked(keys, "keys")
    if array.dtype.kind not in "biu":
        if array.size:
            raise TypeError(f"keys have type {array.dtype}, not integers")
        array = array.astype(np.int64)
    if array.ndim != 1:
        raise ValueError(f"keys have {array.ndim} axes, not one")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise IndexError(f"item {int(array.argmax())} has key {array.max()}, which is too large")
    return contiguous(array.astype(np.int64, copy=False))


def distinct_of(keys):
    """The distinct keys of a vector, ascending, and which of them each key is."""
    if keys.dtype.kind in "biu" and keys.dtype != np.uint64:
        distinct, codes = _native.factorize(as_keys(keys))
        return distinct.astype(keys.dtype), codes
    distinct, codes = np.unique(keys, return_inverse=True)
    return distinct, contiguous(codes.astype(np.int64))


def as_exact_floats(array, name):
    """An array with integers as float64, of which none is rounded."""
    if array.dtype.kind in "iu" and array.size:
        for wrong in np.flatnonzero((array > 2**53) | (array < -(2**53)))[:1]:
            raise ValueError(f"{name}: item {wrong} is {array[wrong]}, beyond 2^53, which float64 may round: convert it, or sum integers")
    return as_float(array)


def slots_of(statistic, keys, columns, groups):
    """What a statistic needs of the items of each of the keys 0 to `groups` - 1: a vector of keys, and one or two columns of a type."""
    slots = _native.ExactSlots(statistic, columns[0][:0], groups)
    slots.change(keys, columns, False)
    return slots


def of_parts(x, function):
    """What a function of vectors of floats makes of a vector, part by part if it is complex."""
    if x.dtype.kind != "c":
        return function(x)
    return as_complex(function(x.real.copy()), function(x.imag.copy()))


def as_complex(real, imaginary):
    """One array of both parts, whatever they are: NumPy's sum of them makes a NaN of an infinity."""
    result = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), np.result_type(real, imaginary, np.complex64))
    result.real, result.imag = real, imaginary
    return result


# The native half has some memory for each sum. Of more sums, most of them without an item, it computes the others alone.
_MANY = 1 << 24


def by_key(keys, x, sums):
    """The exact sum of the items of each of the keys 0 to `sums` - 1: keys and items are ready for the native half."""
    if sums > max(_MANY, 16 * len(keys)):
        result = zeros(sums, x.dtype)
        distinct, codes = _native.factorize(keys)
        for wrong in np.flatnonzero((keys < 0) | (keys >= sums))[:1]:
            raise IndexError(f"item {wrong} has key {keys[wrong]}, and keys are 0 to {sums - 1}")
        result[distinct] = by_key(codes, x, len(distinct))
        return result
    return of_parts(x, lambda part: _native.exact_by_key(keys, part, sums))


def bincount(keys, weights=None, minlength=0):
    """The exact sum of the weights of each of the keys 0, 1, …, rounded once, as `numpy.bincount` has them.

    A sum depends on which weights have its key, and not on their order. It starts at +0.0.

    Parameters
    ----------
    keys : array_like of ints
        A vector of keys that are not negative.
    weights : array_like, optional
        As many floats or complex numbers; integers are converted to float64. Without them, keys are counted.
    minlength : int, optional
        The least number of sums.

    Returns
    -------
    An array of the type of the weights, as long as the largest key and 1, or as `minlength`.

    Raises
    ------
    ValueError
        A key is negative, or there are not as many weights as keys.
    TypeError
        Keys are not integers, or weights have no exact sums.

    Examples
    --------
    >>> from treefold import exact
    >>> exact.bincount([0, 2, 0, 2, 0], weights=[1e300, 0.1, 1.0, 0.2, -1e300]).tolist()
    [1.0, 0.0, 0.30000000000000004]
    """
    keys = as_keys(keys)
    minlength = index(minlength, "minlength")
    if minlength < 0:
        raise ValueError(f"minlength: {minlength} is negative")
    if weights is None:
        return np.bincount(keys, minlength=minlength)
    weights = as_vector(weights, "weights")
    sums = max(int(keys.max()) + 1 if keys.size else 0, minlength)
    try:
        return by_key(keys, weights, max(sums, 0))
    except IndexError as error:
        raise ValueError(str(error)) from None


def add_at(sums, keys, x):
    """Adds items to the sums of their keys, in place: `sums[k]` becomes the exact sum of itself and its items, rounded once.

    It is `numpy.add.at` without its order. Sums to which nothing is added keep their bits.

    Parameters
    ----------
    sums : ndarray
        A vector of floats or complex numbers.
    keys : array_like of ints
        For each item, which of the sums.
    x : array_like
        The items. They are converted to the type of `sums`, which must hold them.

    Raises
    ------
    IndexError
        A key is negative, or not less than the number of sums. The sums are as they were.

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
        raise TypeError("sums is not a vector of floats or complex numbers")
    keys, x = as_keys(keys), as_vector(x, "x")
    if not np.can_cast(x.dtype, sums.dtype):
        raise TypeError(f"x has elements of type {x.dtype}, which sums of type {sums.dtype} do not hold")
    if len(keys) != len(x):
        raise ValueError(f"{counted(len(keys), 'key')} for {counted(len(x), 'item')}")
    items = np.concatenate([x.astype(sums.dtype), sums])
    added = by_key(np.concatenate([keys, np.arange(len(sums))]), items, len(sums))
    changed = np.zeros(len(sums), bool)
    changed[keys] = True
    sums[changed] = added[changed]


def histogram(x, bins=10, range=None, weights=None):
    """The exact sum of the weights in each bin, rounded once, with NumPy's bins: all but the last are half open.

    Parameters
    ----------
    x : array_like
        The items.
    bins, range
        As in `numpy.histogram`.
    weights : array_like, optional
        As many floats or complex numbers. Without them, items are counted.

    Returns
    -------
    The sums, and the edges of the bins.

    Examples
    --------
    >>> from treefold import exact
    >>> sums, edges = exact.histogram([1.0, 1.5, 4.0], bins=[0, 2, 4], weights=[1e300, 0.1, 0.2])
    >>> sums.tolist(), edges.tolist()
    ([1e+300, 0.2], [0, 2, 4])
    """
    if weights is None:
        return np.histogram(x, bins, range)
    x, weights = np.ravel(as_unmasked(x, "x")), as_unmasked(weights, "weights")
    edges = np.histogram_bin_edges(x, bins, range)
    weights = as_vector(np.ravel(weights), "weights")
    if len(x) != len(weights):
        raise ValueError(f"{counted(len(weights), 'weight')} for {counted(len(x), 'item')}")
    keys = np.searchsorted(edges, x, side="right") - 1
    keys[x == edges[-1]] = len(edges) - 2
    inside = (keys >= 0) & (keys < len(edges) - 1) & (x <= edges[-1])
    return by_key(as_keys(keys[inside]), weights[inside], len(edges) - 1), edges


def reduceat(x, indices):
    """The exact sum of each of the slices `x[indices[i]:indices[i + 1]]`, rounded once, as `numpy.add.reduceat` has them.

    The last slice ends with `x`. One that would end before it begins is its first item.

    Examples
    --------
    >>> from treefold import exact
    >>> exact.reduceat([1e300, 1.0, -1e300, 0.5], [0, 3]).tolist()
    [1.0, 0.5]
    """
    x, starts = as_vector(x, "x"), as_keys(indices)
    for place, start in enumerate(starts):
        if not 0 <= start < len(x):
            raise IndexError(f"index {place} is {start}, and x has {counted(len(x), 'item')}")
    lengths = np.maximum(np.append(starts[1:], len(x)) - starts, 1) if len(starts) else starts
    first = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    items = x[first + np.arange(len(first))]
    return by_key(np.repeat(np.arange(len(starts)), lengths), items, len(starts))
