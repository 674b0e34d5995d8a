"""Computes exact statistics of arrays, each rounded once."""

import numpy as np

from . import _cuda, _native
from ._arrays import reduced_axes
from ._conversions import described, wrapped
from ._reductions import _on_device, freedom, weights_for


def sum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the exact sum of the items, rounded once to nearest.

    The sum of no items is 0.0; if all items are -0.0, the sum is -0.0. The sum
    is NaN if there is a NaN, or infinities of both signs. It is infinite if
    there are infinities of one sign, or if the exact sum is beyond the type's
    range. The two parts of complex numbers are summed separately.

    Parameters
    ----------
    x : array_like
        Numbers, as in `treefold.sum`. Integers and bools are added exactly,
        without conversion.
    axis : None, int or tuple of ints, optional
        The axes to reduce; all of them by default.
    dtype : dtype, optional
        The type of the result, to which each item is rounded first. The
        default is the type of `out` or, without `out`, of the items; for
        integers, int64 or uint64.
    out : ndarray, optional
        The output array. An error leaves it unchanged.
    keepdims : bool, optional
        Whether reduced axes are kept, with length 1.
    initial : number, optional
        One more item of each sum.
    where : array_like of bool, optional
        Which items to add.

    Returns
    -------
    scalar or ndarray
        The sums; `out` if it was passed.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As in `treefold.sum`.
    OverflowError
        A sum of integers has more than 64 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from treefold import exact
    >>> x = np.array([[1e300, 0.1], [1.0, 0.2], [-1e300, 0.3]])
    >>> exact.sum(x, axis=0).tolist()
    [1.0, 0.6]
    >>> int(exact.sum([2**62, 2**62, -1]))
    9223372036854775807
    """
    if type(x) is not np.ndarray and _cuda.is_on_device(x):
        return _on_device("exact_sum", x, axis, out, keepdims, (dtype, initial) != (None, None) or where is not True)
    return _native.reduce("sum", True, x, axis, dtype, out, keepdims, initial, where)


def nansum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the exact sum of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, initial, where
        As in `sum`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The sums; `out` if it was passed.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.nansum([1e300, float("nan"), 1.0, -1e300]))
    1.0
    """
    return _native.reduce("sum", True, x, axis, dtype, out, keepdims, initial, where, True)


def mean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Return the exact mean of the items, rounded once to nearest.

    The mean of no items is NaN. The mean of float16 items is rounded to
    float64 and then to float16.

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
    >>> from treefold import exact
    >>> float(exact.mean([1e300, 1e300, 1.0, -2e300]))
    0.25
    """
    return _native.reduce("mean", True, x, axis, dtype, out, keepdims, None, where)


def nanmean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Return the exact mean of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where
        As in `mean`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The means; `out` if it was passed.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.nanmean([1.0, float("nan"), 2.0]))
    1.5
    """
    return _native.reduce("mean", True, x, axis, dtype, out, keepdims, None, where, True)


def var(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """Return the exact variance of the items, rounded once to nearest.

    The variance is NaN if an item is NaN or infinite. The divisor is the number
    of items minus `ddof`. If the divisor is not positive, the variance of equal
    items is NaN, and any other variance is infinite.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where
        As in `mean`; so are the errors.
    ddof : float, optional
        The divisor is the number of items minus `ddof`.
    correction : float, optional
        The array API's name for `ddof`. Pass only one of the two.

    Returns
    -------
    scalar or ndarray
        The variances, which are real; `out` if it was passed.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.var([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16], ddof=1))
    30.0
    """
    return _native.reduce("var", True, x, axis, dtype, out, keepdims, None, where, False, freedom(ddof, correction))


def nanvar(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """Return the exact variance of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, correction
        As in `var`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The variances; `out` if it was passed.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.nanvar([1.0, float("nan"), 3.0]))
    1.0
    """
    return _native.reduce("var", True, x, axis, dtype, out, keepdims, None, where, True, freedom(ddof, correction))


def std(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """Return the square root of the exact variance, rounded once to nearest.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, correction
        As in `var`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The standard deviations; `out` if it was passed.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.std([1e9, 1e9 + 2]))
    1.0
    """
    return _native.reduce("std", True, x, axis, dtype, out, keepdims, None, where, False, freedom(ddof, correction))


def nanstd(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """Return the exact standard deviation of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, correction
        As in `var`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The standard deviations; `out` if it was passed.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.nanstd([1.0, float("nan"), 5.0]))
    2.0
    """
    return _native.reduce("std", True, x, axis, dtype, out, keepdims, None, where, True, freedom(ddof, correction))


def average(x, axis=None, weights=None, returned=False, *, keepdims=False):
    """Return the exact weighted mean of the items, rounded once.

    The weighted mean is the sum of the products of items and weights, divided
    by the sum of the weights.

    Parameters
    ----------
    x, axis, keepdims
        As in `mean`.
    weights : array_like, optional
        The weights: real numbers, in the shape of `x` or of the reduced axes.
        By default, all items have the same weight.
    returned : bool, optional
        Whether to return the exact sum of the weights, too.

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
    >>> from treefold import exact
    >>> float(exact.average([1e200, 3.0, -1e200], weights=[1e200, 2.0, 1e200]))
    3e-200
    """
    array, mask, unit, owner = described(x, "x")
    axes = reduced_axes(axis, array.ndim)
    if weights is None:
        weights = np.broadcast_to(np.float64(1), array.shape)
        result = mean(x, axis, keepdims=keepdims)
    else:
        weights = weights_for(weights, array.shape, axis)
        if unit is not None:
            raise TypeError(f"x has elements of type {unit}, which have no exact sums")
        if weights.dtype.kind == "c":
            raise TypeError(f"weights has elements of type {weights.dtype}, not real numbers")
        real = array.dtype.type(0).real.dtype
        work = np.result_type(*(one if one.kind == "f" else "f8" for one in (real, weights.dtype)))
        is_half = work == np.float16
        work = np.dtype(np.float64) if is_half else work
        where = True if mask is None else ~mask

        def of(part):
            return _native.reduce("average", True, part, axes, work, None, keepdims, None, where, y=weights)

        if array.dtype.kind == "c":
            result = np.asarray(of(array.real)).astype(np.result_type(work, np.complex64))
            result.imag = of(array.imag)
        else:
            result = np.asarray(of(array)).astype(np.float16 if is_half else work)
        result = result[()] if owner is None else wrapped(owner, result[()], axes)
    if not returned:
        return result
    return result, sum(weights, axes, dtype=np.float64 if weights.dtype.kind in "biu" else None, keepdims=keepdims)


def norm(x, axis=None, keepdims=False):
    """Return the Euclidean norm of all items, or of the items along axes.

    The norm is the square root of the exact sum of the squares, rounded once
    to nearest. No square overflows or underflows. A complex number counts as
    two items: its real part and its imaginary part.

    Parameters
    ----------
    x, axis, keepdims
        As in `mean`; so are the errors.

    Returns
    -------
    scalar or ndarray
        The norms, in the type of the items or, if complex, of their parts.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.norm([3 * 2.0**900, 4 * 2.0**900])) == 5 * 2.0**900
    True
    """
    return _native.reduce("norm", True, x, axis, None, None, keepdims, None, True)


def cumsum(x, axis=None, dtype=None, out=None):
    """Return the exact prefix sums, each rounded once to nearest.

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
    >>> from treefold import exact
    >>> exact.cumsum([1e300, 1.0, -1e300, 0.5]).tolist()
    [1e+300, 1e+300, 1.0, 1.5]
    """
    return _native.scan("sum", True, x, axis, dtype, out)


def dot(x, y, out=None):
    """Return the exact sums of products, with `numpy.dot`'s shapes.

    Each sum, or each part of a complex sum, is rounded once to nearest. No
    product is rounded, overflows or underflows.

    Parameters
    ----------
    x, y : array_like
        Floats or complex numbers, in the shapes that `treefold.dot` accepts. If
        the types differ, NumPy's common type is used.
    out : ndarray, optional
        The output array, of the result's type.

    Returns
    -------
    scalar or ndarray
        The sums, of the common type; `out` if it was passed.

    Raises
    ------
    TypeError
        As in `sum`; or `x` and `y` are integers, for which `treefold.dot`
        computes the sums without rounding.
    FloatingPointError
        As in `sum`.
    ValueError
        The axes differ in length, or `out` has another shape or type.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.dot([1e200, 3.0, 1e200], [1e200, 4.0, -1e200]))
    12.0
    """
    return _native.products("dot", True, x, y, out)


def inner(x, y):
    """Return the exact sums of products along the last axis of both arrays.

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
    >>> from treefold import exact
    >>> exact.inner([[1e200, 3.0, 1e200]], [1e200, 4.0, -1e200]).tolist()
    [12.0]
    """
    return _native.products("inner", True, x, y, None)


def vdot(x, y):
    """Return the exact sum of the products of the items of two arrays.

    Items of `x` are conjugated. Errors are those of `dot`.

    Parameters
    ----------
    x, y : array_like
        Arrays of the same number of items, of any shapes. If their types
        differ, NumPy's common type is used.

    Returns
    -------
    scalar
        The sum, of the common type.

    Examples
    --------
    >>> from treefold import exact
    >>> complex(exact.vdot([1 + 2j], [3 + 4j]))
    (11-2j)
    """
    return _native.products("vdot", True, x, y, None)
