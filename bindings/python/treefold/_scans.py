"""Implements prefix sums and products."""

import numpy as np

from . import _native


def cumsum(x, axis=None, dtype=None, out=None):
    """Return the prefix sums, in tree order.

    Element k of the result has the bits of the `sum` of items 0 to k.

    Parameters
    ----------
    x, dtype
        As in `sum`; so are the errors.
    axis : None or int, optional
        The axis along which items are added. By default, the items are those
        of the flattened array.
    out : ndarray, optional
        The output array, which may be `x`.

    Returns
    -------
    ndarray
        The sums, in the shape of `x` or, if `axis` is None, as a vector; `out`
        if it was passed.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumsum([1.0, 2.0, 3.0]).tolist()
    [1.0, 3.0, 6.0]
    """
    return _native.scan("sum", False, x, axis, dtype, out)


def cumprod(x, axis=None, dtype=None, out=None):
    """Return the prefix products, in tree order.

    Element k of the result has the bits of the `prod` of items 0 to k.

    Parameters
    ----------
    x, axis, dtype, out
        As in `cumsum`; so are the errors.

    Returns
    -------
    ndarray
        As in `cumsum`.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumprod([1, 2, 3]).tolist()
    [1, 2, 6]
    """
    return _native.scan("prod", False, x, axis, dtype, out)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Return the prefix sums: `cumsum` under the array API's name.

    Parameters
    ----------
    x, dtype, out
        As in `cumsum`; so are the errors.
    axis : int, optional
        As in `cumsum`, but required unless `x` has exactly one axis.
    include_initial : bool, optional
        Whether the result begins with the sum of no items.

    Returns
    -------
    ndarray
        As in `cumsum`.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumulative_sum([1.0, 2.0], include_initial=True).tolist()
    [0.0, 1.0, 3.0]
    """
    return _native.scan("sum", False, x, _one(x, axis), dtype, out, bool(include_initial))


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Return the prefix products: `cumprod` under the array API's name.

    Parameters
    ----------
    x, axis, dtype, out, include_initial
        As in `cumulative_sum`; so are the errors.

    Returns
    -------
    ndarray
        As in `cumsum`.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumulative_prod([3, 2], include_initial=True).tolist()
    [1, 3, 6]
    """
    return _native.scan("prod", False, x, _one(x, axis), dtype, out, bool(include_initial))


def _one(x, axis):
    if axis is None and np.ndim(x) != 1:
        raise ValueError("axis must be specified unless the array has exactly one axis")
    return 0 if axis is None else axis
