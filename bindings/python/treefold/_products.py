"""Sums of products, and norms."""

import numpy as np

from . import _native
from ._arrays import check_unmasked, counted, unreduced
from ._engine import Items, arithmetic, check_keepdims, check_out, given, tell

_LONG = np.dtype(np.int64)


def _operands(x, y):
    """Two arrays, and the type that both are converted to."""
    arrays = []
    for given, name in ((x, "x"), (y, "y")):
        check_unmasked(given, name)
        arrays.append(Items(given, (), name=name).x)
        if arrays[-1].dtype.kind in "mM":
            raise unreduced(name, arrays[-1].dtype)
    x, y = arrays
    dtype = np.result_type(x, y)
    return x, y, _LONG if dtype.kind == "b" else dtype


def _summed(x, y, dtype, axes, out, leaf="product"):
    """The sums of products along axes of two arrays of one shape."""
    items = Items(x, axes).times(y)
    check_out(out, items.kept_shape)
    if out is not None and out.dtype != dtype:
        raise ValueError(f"out has elements of type {out.dtype}, and the result {dtype}")
    chosen, work = arithmetic(dtype, dtype, None, None)
    items.halves = chosen == np.float16
    total, _, is_finite = items.fold("sum", work, leaf)
    tell(is_finite, total, items, work, name="dot")
    result = given(total, items, False, None, chosen)
    if out is None:
        return result
    np.copyto(out, result)
    return out


def _matched(x, y):
    """Views of two arrays for NumPy's `dot`: one shape, whose last axis is summed over."""
    x_axis, y_axis = x.shape[-1], y.shape[-1 if y.ndim == 1 else -2]
    if x_axis != y_axis:
        raise ValueError(f"y has {counted(y_axis, 'item')} along the axis that is summed over, and x {x_axis}")
    if y.ndim > 1:
        y = np.moveaxis(y, -2, -1)
    return _every_pair(x, y)


def _matched_rows(x, y):
    """The same for NumPy's `inner`."""
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"y has {counted(y.shape[-1], 'item')} along its last axis, and x {x.shape[-1]}")
    return _every_pair(x, y)


def _matched_items(x, y):
    """The same for NumPy's `vdot`, which sums over all axes."""
    if x.size != y.size:
        raise ValueError(f"y has {counted(y.size, 'item')}, and x {x.size}")
    return (x, y) if x.shape == y.shape else (x.reshape(-1), y.reshape(-1))


def _every_pair(x, y):
    """Each vector of `x` with each of `y`, along the last axis."""
    left, right = x.shape[:-1], y.shape[:-1]
    shape = left + right + x.shape[-1:]
    x = x.reshape(left + (1,) * len(right) + x.shape[-1:]) if right else x
    return np.broadcast_to(x, shape), np.broadcast_to(y, shape)


def dot(x, y, out=None):
    """The sums of products in tree order, with the shapes of `numpy.dot`. Each product is rounded once: there is no fused multiply-add.

    Parameters
    ----------
    x, y : array_like
        Vectors of the same length; or arrays, with sums over the last axis of `x` and the last but one of `y`, so that matrices are
        multiplied. If their types differ, NumPy's common type is used. A number multiplies.
    out : ndarray, optional
        Where the result goes, of its type.

    Returns
    -------
    A scalar, or an array, of that type.

    Raises
    ------
    ValueError
        The axes differ in length.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    >>> treefold.dot([[1, 2], [3, 4]], [[1, 1], [0, 1]]).tolist()
    [[1, 3], [3, 7]]
    """
    if out is None:
        result = _native.dot_all(x, y)
        if result is not None:
            return result
    x, y, dtype = _operands(x, y)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(x, y, out=out)
    return _summed(*_matched(x, y), dtype, -1, out)


def inner(x, y):
    """The sums of products along the last axis of both, with the shapes of `numpy.inner`; otherwise as `dot`.

    Examples
    --------
    >>> import treefold
    >>> treefold.inner([[1, 2], [3, 4]], [1, 10]).tolist()
    [21, 43]
    """
    x, y, dtype = _operands(x, y)
    if x.ndim == 0 or y.ndim == 0:
        return np.multiply(x, y)
    return _summed(*_matched_rows(x, y), dtype, -1, None)


def vdot(x, y):
    """The sum of the products of the items of two arrays, of which those of `x` are conjugated, in tree order of the flattened arrays.

    Parameters
    ----------
    x, y : array_like
        Arrays of the same number of items. If their types differ, NumPy's common type is used.

    Examples
    --------
    >>> import treefold
    >>> complex(treefold.vdot([1 + 2j], [3 + 4j]))
    (11-2j)
    """
    x, y, dtype = _operands(x, y)
    return _summed(*_matched_items(x, y), dtype, None, None, "conjugate_product")


def norm(x, ord=None, axis=None, keepdims=False):
    """The Euclidean norm of the items, or of those along axes: the square root of the sum of their squares, in tree order.

    Each square is rounded, then the sum is taken, and the root is rounded. Of complex numbers the items are their parts, real before
    imaginary. Integers are converted to float64.

    Parameters
    ----------
    x, axis, keepdims
        As in `sum`.
    ord : None, 1, 2, inf, -inf or "fro", optional
        Of one axis, also the sum of the magnitudes, or the greatest or least one; those of complex numbers are no items of an order that
        treefold specifies. Other norms are no reductions.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.norm([3.0, 4.0]))
    5.0
    """
    if axis is None and ord is None and keepdims is False and type(x) is np.ndarray and x.ndim == 1 and x.dtype.kind == "f":
        squares = _native.dot_all(x, x)
        if squares is not None:
            with _native.Subnormals():
                return np.sqrt(squares)
    items = Items(x, axis)
    if items.unit is not None:
        raise unreduced("x", items.unit)
    keepdims = check_keepdims(keepdims)
    default = np.dtype(np.float64) if items.dtype.kind in "biu" else items.dtype
    chosen, work = arithmetic(items.dtype, default, None, None)
    items.halves = chosen == np.float16
    real = chosen.type(0).real.dtype
    axes = len(items.axes)
    if ord is None or ord == 2 and axes == 1 or ord == "fro" and axes == 2:
        means = np.zeros(items.kept_shape, work).reshape(-1)
        squares, _, is_finite = items.fold("sum", work, "distance", means=means)
        tell(is_finite, squares, items, work)
        with _native.Subnormals():
            root = np.sqrt(squares)
        return given(root, items, keepdims, None, real)
    if axes != 1 or work.kind == "c" or ord not in (1, np.inf, -np.inf):
        raise ValueError(f"ord: {ord!r} is no norm that treefold computes along {counted(axes, 'axis') if axes == 1 else f'{axes} axes'}")
    result, _, is_finite = items.fold({1: "sum", np.inf: "max", -np.inf: "min"}[ord], work, "magnitude")
    tell(is_finite, result, items, work)
    return given(result, items, keepdims, None, real)
