"""Implements sums of products, and norms."""

import numpy as np

from . import _native
from ._arrays import counted, reduced_axes, unreduced
from ._conversions import described


def dot(x, y, out=None):
    """Return the sums of products in tree order, with `numpy.dot`'s shapes.

    Each product is rounded once: there is no fused multiply-add.

    Parameters
    ----------
    x, y : array_like
        Two vectors of the same length; two arrays, to be summed over the last
        axis of `x` and the second-to-last axis of `y`, as in a matrix product;
        or a scalar and an array, to be multiplied. If the types differ, NumPy's
        common type is used.
    out : ndarray, optional
        The output array, of the result's type.

    Returns
    -------
    scalar or ndarray
        The sums, of the common type; `out` if it was passed.

    Raises
    ------
    TypeError, FloatingPointError
        As in `sum`.
    ValueError
        The axes differ in length, or `out` has another shape or type.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    >>> treefold.dot([[1, 2], [3, 4]], [[1, 1], [0, 1]]).tolist()
    [[1, 3], [3, 7]]
    """
    return _native.products("dot", False, x, y, out)


def inner(x, y):
    """Return the sums of products along the last axis of both arrays.

    Shapes are those of `numpy.inner`. Types, rounding and errors are as in `dot`.

    Parameters
    ----------
    x, y : array_like
        Arrays whose last axes have the same length.

    Returns
    -------
    scalar or ndarray
        The sums, of the common type.

    Examples
    --------
    >>> import treefold
    >>> treefold.inner([[1, 2], [3, 4]], [1, 10]).tolist()
    [21, 43]
    """
    return _native.products("inner", False, x, y, None)


def vdot(x, y):
    """Return the sum of the products of the items of two arrays.

    Items of `x` are conjugated. Products are summed in the tree order of the
    flattened arrays. Errors are those of `dot`.

    Parameters
    ----------
    x, y : array_like
        Arrays of the same number of items. If their types differ, NumPy's
        common type is used.

    Returns
    -------
    scalar
        The sum, of the common type.

    Examples
    --------
    >>> import treefold
    >>> complex(treefold.vdot([1 + 2j], [3 + 4j]))
    (11-2j)
    """
    return _native.products("vdot", False, x, y, None)


_NORMS = {1: "sum of magnitudes", np.inf: "greatest magnitude", -np.inf: "least magnitude"}


def norm(x, ord=None, axis=None, keepdims=False):
    """Return the Euclidean norm of all items, or of the items along axes.

    Squares are rounded and summed in tree order, and the square root of the
    sum is rounded. A complex number counts as two items: its real part and its
    imaginary part.

    Parameters
    ----------
    x, axis, keepdims
        As in `sum`. Integers are converted to float64.
    ord : None, 1, 2, inf, -inf or "fro", optional
        None, 2 (along one axis) and "fro" (along two) are the Euclidean norm.
        For real numbers along one axis, 1 is the sum of the magnitudes, inf is
        the largest magnitude, and -inf is the smallest. No other norms are
        supported, and only the Euclidean norm for complex numbers.

    Returns
    -------
    scalar or ndarray
        The norms, which are real.

    Raises
    ------
    TypeError, FloatingPointError
        As in `sum`.
    ValueError
        `ord` is a norm that is not supported.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.norm([3.0, 4.0]))
    5.0
    """
    name = "norm" if ord is None else _named(x, ord, axis)
    return _native.reduce(name, False, x, axis, None, None, keepdims, None, True)


def _named(x, ord, axis):
    """The name of the statistic that computes the norm `ord`."""
    array, _, unit, _ = described(x, "x")
    axes = len(reduced_axes(axis, array.ndim))
    if unit is not None:
        raise unreduced("x", unit)
    if ord == 2 and axes == 1 or ord == "fro" and axes == 2:
        return "norm"
    if axes != 1 or array.dtype.kind == "c" or not isinstance(ord, (int, float)) or ord not in _NORMS:
        along = f"along {counted(axes, 'axis')}" if axes == 1 else f"along {axes} axes"
        raise ValueError(f"ord: {ord!r} is not a norm that treefold computes {along}")
    return _NORMS[ord]
