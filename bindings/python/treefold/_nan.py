"""Reductions that skip NaNs. A NaN leaves a hole, like an item that `where` leaves out."""

import numpy as np

from . import _native
from ._arrays import put, reduced_axes
from ._conversions import described, mask, warn, wrapped
from ._reductions import freedom


def nansum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the sum of the items that are not NaN, in tree order.

    The items keep their positions, and a NaN leaves a hole, which changes no
    bit. The sum of no items is 0.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, initial, where
        As in `treefold.sum`.

    Returns
    -------
    scalar or ndarray
        The sums; `out` if it was passed.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `treefold.sum`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nansum([3.0, float("nan"), 2.0]))
    5.0
    """
    return _native.reduce("sum", False, x, axis, dtype, out, keepdims, initial, where, True)


def nanprod(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the product of the items that are not NaN: see `nansum`.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, initial, where
        As in `treefold.prod`.

    Returns
    -------
    scalar or ndarray
        The products; `out` if it was passed.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `treefold.prod`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanprod([3.0, float("nan"), 2.0]))
    6.0
    """
    return _native.reduce("prod", False, x, axis, dtype, out, keepdims, initial, where, True)


def nanmin(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Return the smallest of the items that are not NaN.

    If all items are NaN, the result is NaN, with a RuntimeWarning.

    Parameters
    ----------
    x, axis, out, keepdims, initial, where
        As in `treefold.min`.

    Returns
    -------
    scalar or ndarray
        The minima; `out` if it was passed.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `treefold.min`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmin([3.0, float("nan"), 2.0]))
    2.0
    """
    return _extreme("min", x, axis, out, keepdims, initial, where)


def nanmax(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Return the largest of the items that are not NaN.

    If all items are NaN, the result is NaN, with a RuntimeWarning.

    Parameters
    ----------
    x, axis, out, keepdims, initial, where
        As in `treefold.max`.

    Returns
    -------
    scalar or ndarray
        The maxima; `out` if it was passed.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `treefold.max`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmax([3.0, float("nan"), 2.0]))
    3.0
    """
    return _extreme("max", x, axis, out, keepdims, initial, where)


def nanmean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Return the mean of the items that are not NaN: see `nansum`.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where
        As in `treefold.mean`.

    Returns
    -------
    scalar or ndarray
        The means; `out` if it was passed.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `treefold.mean`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmean([1.0, float("nan"), 2.0]))
    1.5
    """
    return _native.reduce("mean", False, x, axis, dtype, out, keepdims, None, where, True)


def nanvar(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Return the variance of the items that are not NaN.

    It is NaN if there are too few such items.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, mean, correction
        As in `treefold.var`.

    Returns
    -------
    scalar or ndarray
        The variances; `out` if it was passed.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `treefold.var`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanvar([1.0, float("nan"), 5.0]))
    4.0
    """
    return _native.reduce("var", False, x, axis, dtype, out, keepdims, None, where, True, freedom(ddof, correction), mean)


def nanstd(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Return the standard deviation of the items that are not NaN.

    It is NaN if there are too few such items.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, mean, correction
        As in `treefold.std`.

    Returns
    -------
    scalar or ndarray
        The standard deviations; `out` if it was passed.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `treefold.std`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanstd([1.0, float("nan"), 5.0]))
    2.0
    """
    return _native.reduce("std", False, x, axis, dtype, out, keepdims, None, where, True, freedom(ddof, correction), mean)


def _extreme(name, x, axis, out, keepdims, initial, where):
    """A minimum or a maximum of the items that are not NaN; NaN if all are NaN."""
    array, hidden, _, owner = described(x, "x")
    if initial is not None or array.dtype.kind != "f" or not array.size:
        return _native.reduce(name, False, x, axis, None, out, keepdims, initial, where, True)
    counts = ~np.isnan(array)
    if where is not True:
        counts &= mask(where, array.shape)
    if hidden is not None:
        counts &= ~hidden
    bound = np.inf if name == "min" else -np.inf
    result = np.array(_native.reduce(name, False, array, axis, None, None, keepdims, bound, counts))
    if np.any(result == bound):
        is_lost = np.count_nonzero(counts, axis, keepdims=keepdims) == 0
        if np.any(is_lost):
            warn("All-NaN slice encountered")
            result[is_lost] = np.nan
    if out is not None:
        return put(result, out)
    return result[()] if owner is None else wrapped(owner, result[()], reduced_axes(axis, array.ndim))
