"""Implements sums, products, minima, maxima, means and variances, with NumPy's conventions."""

import operator

import numpy as np

from . import _cuda, _native
from ._arrays import as_array, contiguous, put, reduced_axes, size, widened
from ._conversions import described, wrapped

LANES_MAX = 1 << 20


def sum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True, *, lanes=1):
    """Return the sum of all items, or of the items along axes, in tree order.

    Parameters
    ----------
    x : array_like
        Numbers: an array, a sequence, or an object with `__array__`,
        `__dlpack__` or a buffer. Missing numbers in columns of Arrow and
        Polars are read as NaN. Masked items are skipped. Contiguous arrays of
        floats or complex numbers, such as those of PyTorch, CuPy and JAX, may
        be in GPU memory; the result is in host memory.
    axis : None, int or tuple of ints, optional
        The axes to reduce; all of them by default. Items along several axes
        are numbered in C order, with the last axis fastest, whatever the
        layout of `x` in memory.
    dtype : dtype, optional
        The type of the result, to which each item is converted first. The
        default is the type of `out` or, without `out`, of the items. Integers
        of fewer than 64 bits are added as 64-bit integers, which wrap as in
        NumPy. Items of float16 are added as float32, and the result is rounded.
    out : ndarray, optional
        The output array. An error leaves it unchanged.
    keepdims : bool, optional
        Whether reduced axes are kept, with length 1.
    initial : number, optional
        The left operand of a last operation, whose right operand is the result.
    where : array_like of bool, optional
        Which items to include. All items keep their positions; excluded items
        leave holes, which change no bit. `sum(x[m])` has no holes, so it may
        differ.
    lanes : int, optional
        The number of lanes L, from 1 to 2**20. Item i belongs to lane i mod L.
        Each lane is summed in tree order; then the sums of the lanes are added
        in tree order, as in the ISO C++ paper P4016. Floats are added fastest
        in 16, 32, 64 or 128 lanes. Not supported with `dtype`, `initial`,
        `where` or GPU memory.

    Returns
    -------
    scalar or ndarray
        The sums; `out` if it was passed.

    Raises
    ------
    TypeError
        The elements have an unsupported type.
    ValueError
        `lanes` is not from 1 to 2**20, `out` has another shape, or `where`
        does not broadcast.
    FloatingPointError
        The thread's rounding mode is not to nearest, so the bits would differ;
        or `numpy.errstate` requests this error.

    Examples
    --------
    >>> import numpy as np, treefold
    >>> x = np.array([[0.1, 0.2, 0.3], [1e20, -1e20, 0.5]])
    >>> float(treefold.sum(x[0])) == (0.1 + 0.2) + 0.3
    True
    >>> treefold.sum(x, axis=0).shape
    (3,)
    >>> float(treefold.sum(x, where=x < 1))
    -1e+20
    """
    if lanes != 1 or type(lanes) is not int:
        return _in_lanes(x, axis, out, keepdims, lanes, (dtype, initial) != (None, None) or where is not True)
    if type(x) is not np.ndarray and _cuda.is_on_device(x):
        return _on_device("sum", x, axis, out, keepdims, (dtype, initial) != (None, None) or where is not True)
    return _native.reduce("sum", False, x, axis, dtype, out, keepdims, initial, where)


def prod(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the product of all items, or of the items along axes.

    Items are combined in tree order. The product of no items is 1.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, initial, where
        As in `sum`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The products; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> int(treefold.prod([2, 3, 7]))
    42
    """
    return _native.reduce("prod", False, x, axis, dtype, out, keepdims, initial, where)


def min(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Return the smallest item, or the smallest along axes.

    The result is NaN if an item is NaN; -0.0 is below 0.0.

    Parameters
    ----------
    x, axis, out, keepdims, initial, where
        As in `sum`. Complex numbers have no minimum.

    Returns
    -------
    scalar or ndarray
        The minima; `out` if it was passed.

    Raises
    ------
    TypeError, FloatingPointError
        As in `sum`.
    ValueError
        There are no items, and `initial` was not passed.

    Examples
    --------
    >>> import treefold
    >>> treefold.min([[3, 1], [2, 5]], axis=1).tolist()
    [1, 2]
    """
    return _native.reduce("min", False, x, axis, None, out, keepdims, initial, where)


def max(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Return the largest item, or the largest along axes.

    The result is NaN if an item is NaN; 0.0 is above -0.0.

    Parameters
    ----------
    x, axis, out, keepdims, initial, where
        As in `min`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The maxima; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.max([0.5, 2.5]))
    2.5
    """
    return _native.reduce("max", False, x, axis, None, out, keepdims, initial, where)


def ptp(x, axis=None, out=None, keepdims=False):
    """Return the largest item minus the smallest (peak to peak).

    Differences of integers wrap, as in NumPy.

    Parameters
    ----------
    x, axis, out, keepdims
        As in `min`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The differences; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.ptp([1.0, 4.5, 2.0]))
    3.5
    """
    greatest = max(x, axis, None, keepdims)
    if greatest.dtype.kind == "b":
        raise TypeError("x has elements of type bool, for which ptp is not defined")
    difference = np.subtract(greatest, min(x, axis, None, keepdims))
    return difference if out is None else put(difference, out)


def mean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Return the sum of the items in tree order, divided by their number.

    The sum is rounded as in `sum`, and the quotient is rounded once. Before the
    division, the number of items is rounded to the items' type. This matters
    for more than 2**24 items of float32. The mean of no items is NaN, and a
    RuntimeWarning is issued.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where
        As in `sum`; so are the errors. Integers are converted to float64.

    Returns
    -------
    scalar or ndarray
        The means; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.mean([1, 2, 4.5]))
    2.5
    """
    return _native.reduce("mean", False, x, axis, dtype, out, keepdims, None, where)


def var(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Return the mean squared distance from the mean.

    With m = `mean(x)`, each of these steps rounds its results: the differences
    x - m; their squares (re*re + im*im for complex numbers, where each operation
    is rounded); the sum of the squares, in tree order; and the division of this
    sum by the number of items minus `ddof`.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where
        As in `mean`; so are the errors.
    ddof : float, optional
        The divisor is the number of items minus `ddof`.
    mean : array_like, optional
        The mean, if you know it already, in the shape that the function `mean`
        returns with `keepdims=True`.
    correction : float, optional
        The array API's name for `ddof`. Pass only one of the two.

    Returns
    -------
    scalar or ndarray
        The variances, which are real; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.var([1.0, 2.0, 3.0, 4.0]))
    1.25
    """
    return _native.reduce("var", False, x, axis, dtype, out, keepdims, None, where, False, freedom(ddof, correction), mean)


def std(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """Return the square root of the variance, rounded once more.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, mean, correction
        As in `var`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The standard deviations; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.std([1.0, 5.0]))
    2.0
    """
    return _native.reduce("std", False, x, axis, dtype, out, keepdims, None, where, False, freedom(ddof, correction), mean)


def average(x, axis=None, weights=None, returned=False, *, keepdims=False):
    """Return the weighted mean of all items, or of the items along axes.

    The weighted mean is the sum of the products of items and weights, in tree
    order, divided by the sum of the weights.

    Parameters
    ----------
    x, axis, keepdims
        As in `mean`.
    weights : array_like, optional
        The weights, of the shape of `x` or of the reduced axes. By default all
        items have the same weight.
    returned : bool, optional
        Whether to return the sum of the weights, too.

    Returns
    -------
    scalar or ndarray, or a tuple of two
        The weighted means; with `returned`, also the sums of the weights.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `sum`.
    ZeroDivisionError
        A sum of weights is zero.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.average([1.0, 2.0, 4.0], weights=[1, 1, 2]))
    2.75
    """
    array, mask, unit, owner = described(x, "x")
    axes = reduced_axes(axis, array.ndim)
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        count = size([array.shape[one] for one in axes])
        return (result, np.full_like(result, count)[()]) if returned else result
    weights = weights_for(weights, array.shape, axis)
    if unit is not None:
        raise TypeError(f"x has elements of type {unit}, for which average is not defined")
    if mask is not None:
        raise TypeError("x is a masked array: pass weights of zero for masked items")
    dtype = work = np.result_type(array.dtype, weights.dtype, *["f8"] * (array.dtype.kind in "biu"))
    if dtype == np.float16:
        work = np.dtype(np.float32)
        array, weights = (one.astype(dtype).astype(work) for one in (array, weights))
    scale = np.asarray(_native.reduce("sum", False, weights, axes, work, None, keepdims, None, True))
    if np.any(scale == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    total = np.asarray(_native.reduce("product", False, array, axes, work, None, keepdims, None, True, y=weights))
    result, scale = quotient(total, scale).astype(dtype)[()], scale.astype(dtype)[()]
    if owner is not None:
        result, scale = wrapped(owner, result, axes), wrapped(owner, scale, axes)
    return (result, scale) if returned else result


def freedom(ddof, correction):
    """The value of `ddof`, which callers may also pass as `correction`."""
    if correction is None:
        if type(ddof) is int:
            return ddof
        name, value = "ddof", ddof
    else:
        if not isinstance(ddof, int) or ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        name, value = "correction", correction
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r} is not a number") from None


def weights_for(weights, shape, axis):
    """Broadcasts weights to the shape of the items. The weights have either this shape or the shape of the reduced axes."""
    if isinstance(weights, np.ma.MaskedArray):
        raise TypeError("weights is a masked array: pass a mask with x")
    weights = np.asarray(weights)
    if weights.dtype.kind not in "biufc":
        raise TypeError(f"weights has elements of type {weights.dtype}, not numbers")
    weights, *_ = described(weights, "weights")
    if weights.shape == shape:
        return weights
    if axis is None:
        raise TypeError("axis must be specified when shapes of x and weights differ.")
    axes = reduced_axes(axis, len(shape))
    if weights.shape != tuple(shape[one] for one in axes):
        raise ValueError("Shape of weights must be consistent with shape of x along specified axis.")
    return np.broadcast_to(weights.reshape([length if one in axes else 1 for one, length in enumerate(shape)]), shape)


def quotient(total, count):
    """Divides sums by numbers, with canonical NaNs. A complex sum is divided by a real number part by part."""
    total, count = np.asarray(total), np.asarray(count)
    with np.errstate(all="ignore"), _native.Subnormals():
        if count.dtype.kind == "c":
            result = np.asarray(total / count)
        else:
            parts = total.reshape(-1).view(total.real.dtype).reshape(*total.shape, 1 + (total.dtype.kind == "c"))
            result = np.divide(parts, count[..., None].astype(parts.dtype))
    parts = np.ascontiguousarray(result).reshape(-1).view(result.real.dtype)
    parts[np.isnan(parts)] = np.nan
    return parts.view(total.dtype).reshape(total.shape)


def _on_device(op, x, axis, out, keepdims, has_others):
    if has_others:
        raise TypeError("x is in GPU memory, where dtype, initial and where are not supported")
    return _cuda.reduction(op, x, axis, out, keepdims)


def _in_lanes(x, axis, out, keepdims, lanes, has_others):
    try:
        count = operator.index(lanes)
    except TypeError:
        raise TypeError(f"lanes: {lanes!r} is not an integer") from None
    if not 1 <= count <= LANES_MAX:
        raise ValueError(f"lanes: {lanes} is not from 1 to {LANES_MAX}")
    if has_others:
        raise ValueError("lanes: sums in lanes do not support dtype, initial or where")
    if _cuda.is_on_device(x):
        raise TypeError("x is in GPU memory, where lanes are not supported")
    array = contiguous(widened(as_array(x, "x")))
    axes, shape = reduced_axes(axis, array.ndim), array.shape
    if axes and axes[-1] - axes[0] + 1 == len(axes):
        result = _native.reduce("sum", False, array, axes, None, None, keepdims, None, True, lanes=count)
        return result if out is None else put(result, out)
    # Reduced axes that are not adjacent are moved to the end.
    kept = [one for one in range(array.ndim) if one not in axes]
    lengths = [[array.shape[one] for one in some] for some in (kept, axes)]
    array = contiguous(array.transpose(*kept, *axes)).reshape(*lengths[0], size(lengths[1]))
    result = np.asarray(_native.reduce("sum", False, array, len(kept), None, None, keepdims, None, True, lanes=count))
    if keepdims:
        result = result.reshape([1 if one in axes else length for one, length in enumerate(shape)])
    return result[()] if out is None else put(result, out)
