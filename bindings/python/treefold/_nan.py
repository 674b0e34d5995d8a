"""Reductions that skip NaNs. A NaN leaves a hole in the order, like an item that `where` excludes."""

from . import _native
from ._reductions import freedom


def nansum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the sum of the items that are not NaN, in tree order.

    The other items keep their positions. A NaN leaves a hole, which changes no
    bit. The sum of no items is 0.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, initial, where
        As in `treefold.sum`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The sums; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nansum([3.0, float("nan"), 2.0]))
    5.0
    """
    return _native.reduce("sum", False, x, axis, dtype, out, keepdims, initial, where, True)


def nanprod(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the product of the items that are not NaN, as `nansum` their sum.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, initial, where
        As in `treefold.prod`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The products; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanprod([3.0, float("nan"), 2.0]))
    6.0
    """
    return _native.reduce("prod", False, x, axis, dtype, out, keepdims, initial, where, True)


def nanmin(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Return the smallest of the items that are not NaN.

    If all items are NaN, the result is NaN, and a RuntimeWarning is issued.

    Parameters
    ----------
    x, axis, out, keepdims, initial, where
        As in `treefold.min`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The minima; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmin([3.0, float("nan"), 2.0]))
    2.0
    """
    return _native.reduce("min", False, x, axis, None, out, keepdims, initial, where, True)


def nanmax(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Return the largest of the items that are not NaN.

    If all items are NaN, the result is NaN, and a RuntimeWarning is issued.

    Parameters
    ----------
    x, axis, out, keepdims, initial, where
        As in `treefold.max`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The maxima; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmax([3.0, float("nan"), 2.0]))
    3.0
    """
    return _native.reduce("max", False, x, axis, None, out, keepdims, initial, where, True)


def nanmean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Return the mean of the items that are not NaN: their `nansum`, divided.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where
        As in `treefold.mean`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The means; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmean([1.0, float("nan"), 2.0]))
    1.5
    """
    return _native.reduce("mean", False, x, axis, dtype, out, keepdims, None, where, True)


def nanvar(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Return the variance of the items that are not NaN.

    The result is NaN if there are too few such items.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, mean, correction
        As in `treefold.var`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The variances; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanvar([1.0, float("nan"), 5.0]))
    4.0
    """
    return _native.reduce("var", False, x, axis, dtype, out, keepdims, None, where, True, freedom(ddof, correction), mean)


def nanstd(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Return the standard deviation of the items that are not NaN.

    The result is NaN if there are too few such items.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, mean, correction
        As in `treefold.std`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The standard deviations; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanstd([1.0, float("nan"), 5.0]))
    2.0
    """
    return _native.reduce("std", False, x, axis, dtype, out, keepdims, None, where, True, freedom(ddof, correction), mean)
