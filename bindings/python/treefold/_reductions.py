"""The functions, with NumPy's conventions for axes, types, empty input and errors."""

import operator
import warnings

import numpy as np

from . import _cuda, _native
from ._arrays import (
    as_array,
    as_float,
    check_inexact,
    contiguous,
    counted,
    delivered,
    finished,
    in_three_parts,
    reduced_axes,
    size,
    widened,
)

def reduction(op, x, axis, out, keepdims, lanes=1):
    """What `sum` and its kin do: `_reduce`, without detours where an array can be reduced as it is."""
    if axis is None and out is None and keepdims is False and type(x) is np.ndarray and x.dtype.kind in "fc":
        result = _native.fold_all(op, x, lanes)
        if result is not None:
            return result
    if _cuda.is_on_device(x):
        if lanes != 1:
            raise TypeError("x is in GPU memory, where there are no sums in lanes")
        return _cuda.reduction(op, x, axis, out, keepdims)
    array = as_array(x, "x")
    if op in ("sum", "prod"):
        array = widened(array)
    elif op == "exact_sum":
        check_inexact(array.dtype, "x")
    elif array.dtype.kind == "b":
        result = np.asarray(_reduce(op, array.view(np.uint8), axis, None, keepdims))
        return delivered(result.view(np.bool_), out)
    return _reduce(op, array, axis, out, keepdims, lanes)

def _reduce(op, array, axis, out, keepdims, lanes=1):
    axes = reduced_axes(axis, array.ndim)
    shape = array.shape
    parts, order = in_three_parts(array, axes)
    before, length, after = parts.shape
    if length == 0 and before * after > 0 and op in ("min", "max"):
        raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
    result = np.empty((before, after), parts.dtype)
    _native.fold(op, parts, result, lanes)
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    result = result.reshape([shape[axis] for axis in order])
    result = result.transpose([order.index(axis) for axis in kept])
    return finished(result, shape, axes, out, keepdims)

LANES_MAX = 1 << 20

def _lanes(lanes):
    if type(lanes) is int and lanes == 1:
        return 1
    try:
        count = operator.index(lanes)
    except TypeError:
        raise TypeError(f"lanes: {lanes!r} is not an integer") from None
    if not 1 <= count <= LANES_MAX:
        raise ValueError(f"lanes: {lanes} is not from 1 to {LANES_MAX}")
    return count

def sum(x, axis=None, *, lanes=1, out=None, keepdims=False):
    """The sum of the items, or of those along axes, in tree order.

    Parameters
    ----------
    x : array_like
        Floats of 32 or 64 bits, complex numbers of such floats, integers or bool: an array, a sequence, or whatever has
        `__array__`, `__dlpack__` or a buffer. Missing numbers in columns of Arrow and Polars are NaN. Floats and complex numbers may be in GPU memory, contiguous, as PyTorch, CuPy or JAX
        have them; the result is in the host's. Integers of fewer than 64 bits are added as 64 bits, and wrap, as in NumPy.
    axis : None, int or tuple of ints, optional
        The axes to be reduced; all of them by default. Items along several axes are taken in C order, the last axis fastest, however
        `x` lies in memory.
    lanes : int, optional
        L, from 1 to 2**20: item i belongs to lane i mod L, each lane is summed in tree order, and then their sums, as in ISO C++'s
        P4016. Floats in 16, 32, 64 or 128 lanes are the fastest. Not for items in GPU memory.
    out : ndarray, optional
        Where the result goes.
    keepdims : bool, optional
        Whether reduced axes stay, with length 1.

    Returns
    -------
    A scalar of the type of the items, or an array; `out` if it was passed.

    Raises
    ------
    TypeError
        The elements have another type, or are masked.
    ValueError
        `lanes` is not from 1 to 2**20.
    FloatingPointError
        This thread flushes subnormal numbers to zero, or does not round to nearest: the bits would be others.

    Examples
    --------
    >>> import numpy as np, treefold
    >>> x = np.array([[0.1, 0.2, 0.3], [1e20, -1e20, 0.5]])
    >>> float(treefold.sum(x[0])) == (0.1 + 0.2) + 0.3
    True
    >>> treefold.sum(x, axis=0).shape
    (3,)
    """
    return reduction("sum", x, axis, out, keepdims, _lanes(lanes))

def prod(x, axis=None, *, out=None, keepdims=False):
    """The product of the items, or of those along axes, in tree order.

    Parameters, results and errors are those of `sum`. The product of nothing is 1.

    Examples
    --------
    >>> import treefold
    >>> int(treefold.prod([2, 3, 7]))
    42
    """
    return reduction("prod", x, axis, out, keepdims)

def min(x, axis=None, *, out=None, keepdims=False):
    """The least item, or the least along axes. NaN if one of the items is NaN; -0.0 is below 0.0.

    Parameters, results and errors are those of `sum`; complex numbers have no minimum.

    Raises
    ------
    ValueError
        There are no items.

    Examples
    --------
    >>> import treefold
    >>> treefold.min([[3, 1], [2, 5]], axis=1).tolist()
    [1, 2]
    """
    return reduction("min", x, axis, out, keepdims)

def max(x, axis=None, *, out=None, keepdims=False):
    """The greatest item, or the greatest along axes. NaN if one of the items is NaN; 0.0 is above -0.0.

    Parameters, results and errors are those of `min`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.max([0.5, 2.5]))
    2.5
    """
    return reduction("max", x, axis, out, keepdims)

def cumsum(x, axis=None, *, out=None):
    """The sums of all beginnings: element k has the bits of `sum` of the elements 0 to k along the axis.

    Parameters
    ----------
    x : array_like
        As in `sum`.
    axis : None or int, optional
        The axis along which items are added; without one, those of the flattened array.
    out : ndarray, optional
        Where the result goes.

    Returns
    -------
    An array of the shape of `x`, or of one axis if `axis` is None; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumsum([1.0, 2.0, 3.0]).tolist()
    [1.0, 3.0, 6.0]
    """
    array = widened(as_array(x, "x"))
    if axis is None or array.ndim == 0:
        reduced_axes(axis, array.ndim)
        array, axis = np.ravel(array), 0
    (axis,) = reduced_axes((axis,), array.ndim)
    array = contiguous(array)
    parts = array.shape[:axis], array.shape[axis : axis + 1], array.shape[axis + 1 :]
    parts = array.reshape([size(part) for part in parts])
    result = np.empty_like(parts)
    _native.cumsum(parts, result)
    return delivered(result.reshape(array.shape), out)

def _pair(x, y):
    x, y = as_array(x, "x"), as_array(y, "y")
    dtype = np.result_type(x, y)
    if dtype.kind == "b":
        dtype = np.dtype(np.int64)
    return as_array(x.astype(dtype, copy=False), "x"), as_array(y.astype(dtype, copy=False), "y")

def vectors(x, y):
    """What `dot` takes, contiguous and of one type."""
    x, y = _pair(x, y)
    for name, array in (("x", x), ("y", y)):
        if array.ndim != 1:
            raise ValueError(f"{name} has {array.ndim} axes; dot takes vectors, and vdot takes arrays of any shape")
    return _of_a_length(x, y)

def conjugated(x, y):
    """What `vdot` takes, as `dot` takes it: `x` is conjugated."""
    x, y = _pair(x, y)
    x = np.ravel(x)
    return _of_a_length(np.conjugate(x) if x.dtype.kind == "c" else x, np.ravel(y))

def _of_a_length(x, y):
    if x.size != y.size:
        raise ValueError(f"y has {counted(y.size, 'item')}, and x {x.size}")
    return contiguous(x), contiguous(y)

def dot(x, y):
    """The sum of the products of two vectors, in tree order. Each product is rounded once: there is no fused multiply-add.

    Parameters
    ----------
    x, y : array_like
        Vectors of the same length. If their types differ, NumPy's common type is used.

    Returns
    -------
    A scalar of that type.

    Raises
    ------
    ValueError
        They are not vectors, or have different lengths.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    return _native.dot(*vectors(x, y))

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
    return _native.dot(*conjugated(x, y))

def norm(x):
    """The Euclidean norm of all items: the square root of the sum of their squares, in tree order of the flattened array.

    Each square is rounded, then the sum is taken, and the root is rounded. Of complex numbers the items are their parts, real before
    imaginary. Integers are converted to float64.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.norm([3.0, 4.0]))
    5.0
    """
    array = contiguous(np.ravel(as_float(as_array(x, "x"))))
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    return np.sqrt(_native.dot(array, array))

def mean(x, axis=None, *, out=None, keepdims=False):
    """The sum of the items in tree order, divided by their number: the sum is rounded as `sum` does, and the quotient once.

    The number is rounded to the type of the items first, which matters for more than 2^24 items of float32. Of complex numbers, both
    parts are divided. Integers are converted to float64. Parameters, results and errors are those of `sum`. The mean of nothing is NaN,
    with a RuntimeWarning.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.mean([1, 2, 4.5]))
    2.5
    """
    array = as_float(as_array(x, "x"))
    axes = reduced_axes(axis, array.ndim)
    count = size(array.shape[axis] for axis in axes)
    if count == 0:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=2)
    return finished(quotient(_sums(array, axes), count), array.shape, axes, out, keepdims)

def var(x, axis=None, *, ddof=0, out=None, keepdims=False):
    """The mean squared distance from the mean.

    With m = `mean(x)`: the differences x - m are rounded, then their squares (of complex numbers re*re + im*im, each operation), then
    their sum in tree order, and then its quotient by the number of items less `ddof`.

    Parameters, results and errors are those of `mean`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.var([1.0, 2.0, 3.0, 4.0]))
    1.25
    """
    array = as_float(as_array(x, "x"))
    axes = reduced_axes(axis, array.ndim)
    count = size(array.shape[axis] for axis in axes)
    try:
        freedom = count - (ddof if type(ddof) is int else float(ddof))
    except (TypeError, ValueError):
        raise TypeError(f"ddof: {ddof!r} is not a number") from None
    if freedom <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=2)
        freedom = 0
    middle = quotient(_sums(array, axes), count)
    middle = middle.reshape([1 if axis in axes else length for axis, length in enumerate(array.shape)])
    with np.errstate(all="ignore"), _native.Subnormals():
        distance = array - middle
        if array.dtype.kind == "c":
            squares = distance.real * distance.real + distance.imag * distance.imag
        else:
            squares = distance * distance
    return finished(quotient(_sums(squares, axes), freedom), array.shape, axes, out, keepdims)

def _sums(array, axes):
    return np.asarray(_reduce("sum", array, axes, None, False))

def quotient(total, count):
    """An array, or a scalar, divided by a number, part by part; a NaN is the canonical one."""
    total = np.asarray(total)
    parts = contiguous(total).reshape(-1).view(total.real.dtype)
    with np.errstate(all="ignore"), _native.Subnormals():
        parts = parts / parts.dtype.type(count)
    parts[np.isnan(parts)] = np.nan
    return parts.view(total.dtype).reshape(total.shape)
