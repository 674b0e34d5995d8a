"""Exact sums, means, variances and standard deviations of arrays, each rounded once."""

import numpy as np

from . import _cuda, _native
from ._arrays import contiguous
from ._engine import Items, _parts, arithmetic, check_keepdims, check_out, given, tell
from ._means import freedom, spread_type, weights_for

_DOUBLE = np.dtype(np.float64)


def statistic(name, items, work, ddof=0.0, initial=None):
    """A statistic of items along axes, converted to a type."""
    result = np.empty(items.kept_shape, work)
    plain = items.y is None and initial is None and not items.has_holes and items.x.dtype == work
    parts = _parts(items.x, items.axes) if plain else None
    if parts is not None and name == "sum":
        _native.fold("exact_sum", parts, result.reshape(parts.shape[0], parts.shape[2]), 1)
    elif parts is not None and parts.shape[0] == parts.shape[2] == 1 and name == "norm":
        result[...] = _native.exact_norm(contiguous(items.x))
    elif parts is not None and parts.shape[0] == parts.shape[2] == 1:
        result[...] = _native.exact_statistic(contiguous(items.x), name, ddof)
    else:
        _native.exact_arrays(name, np.empty(0, work), items, ddof, initial, result)
    return result


def types(items, dtype, out, name=None):
    """What is computed in, and what the result becomes. Integers have no exact sums by this name, but means."""
    own = items.dtype
    if own.kind in "mM":
        raise TypeError(f"x has elements of type {own}, which have no exact sums")
    if own.kind in "biu" and dtype is None and name is not None:
        raise TypeError(f"x has elements of type {own}, whose sums do not round: use treefold.{name}, or pass dtype=float")
    default = _DOUBLE if own.kind in "biu" else own.newbyteorder("=")
    chosen, _ = arithmetic(own, dtype, out if own.kind not in "biu" else None, default)
    if chosen.kind not in "fc":
        raise TypeError(f"dtype: elements of type {chosen} have no exact sums: use treefold.{name or 'mean'}")
    # Sums of halves are exact as doubles, unless they are beyond the range of halves.
    is_half = chosen == np.float16
    items.halves = is_half and own != chosen
    return chosen, _DOUBLE if is_half else chosen


def _of(name, x, axis, dtype, out, keepdims, where, skips_nan, ddof=0, initial=None):
    items = Items(x, axis, where, skips_nan)
    keepdims = check_keepdims(keepdims)
    check_out(out, items.shape_of_result(keepdims))
    is_spread = name in ("var", "std")
    if is_spread:
        dtype = spread_type(items.dtype, dtype, out)
    chosen, work = types(items, dtype, out, "sum" if name == "sum" else None)
    if initial is not None:
        initial = np.array(initial, chosen).astype(work)
    result = statistic(name, items, work, float(ddof), initial)
    if is_spread:
        result, chosen = result.real, chosen.type(0).real.dtype
    elif not np.isfinite(result).all():
        tell(False, result, items, work, initial)
    return given(result, items, keepdims, out, chosen, name != "var")


def sum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The exact sum of the items, or of those along axes, rounded once to nearest.

    The sum of nothing is 0.0, and that of -0.0 alone is -0.0. It is NaN if there is a NaN, or infinities of both signs; it is infinite
    if there is another infinity, or if the exact sum is beyond the range. Both parts of complex numbers have sums of their own.

    Parameters
    ----------
    x : array_like
        Floats or complex numbers, as in `treefold.sum`.
    axis : None, int or tuple of ints, optional
        The axes to be reduced; all of them by default.
    dtype : dtype, optional
        What each item is rounded to first, and the result. Without it that is `out`'s type, or the items' own.
    out : ndarray, optional
        Where the result goes.
    keepdims : bool, optional
        Whether reduced axes stay, with length 1.
    initial : number, optional
        One more item.
    where : array_like of bool, optional
        Which items count.

    Returns
    -------
    A scalar, or an array of the shape of the axes that stay; `out` if it was passed.

    Raises
    ------
    TypeError
        The elements have another type. Integers, which `treefold.sum` adds without rounding, are among them, without `dtype`.
    FloatingPointError
        This thread flushes subnormal numbers to zero, or does not round to nearest.

    Examples
    --------
    >>> import numpy as np
    >>> from treefold import exact
    >>> x = np.array([[1e300, 0.1], [1.0, 0.2], [-1e300, 0.3]])
    >>> exact.sum(x, axis=0).tolist()
    [1.0, 0.6]
    >>> exact.sum(x, axis=0, keepdims=True).shape
    (1, 2)
    """
    if axis is None and dtype is None and out is None and initial is None and keepdims is False and where is True:
        result = _native.fold_all("exact_sum", x, 1)
        if result is not None:
            return result
    if _cuda.is_on_device(x):
        if (dtype, initial) != (None, None) or where is not True:
            raise TypeError("x is in GPU memory, where there is neither dtype, initial nor where")
        return _cuda.reduction("exact_sum", x, axis, out, keepdims)
    return _of("sum", x, axis, dtype, out, keepdims, where, False, initial=initial)


def nansum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """`sum` of the items that are no NaN.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.nansum([1e300, float("nan"), 1.0, -1e300]))
    1.0
    """
    return _of("sum", x, axis, dtype, out, keepdims, where, True, initial=initial)


def mean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The exact mean of the items, or of those along axes, rounded once to nearest; of halves, to double first.

    Parameters
    ----------
    x : array_like
        Floats or complex numbers; integers are converted to float64.
    axis, dtype, out, keepdims, where
        As in `sum`.

    Returns
    -------
    A scalar of the type of the items, or an array. The mean of nothing is NaN.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.mean([1e300, 1e300, 1.0, -2e300]))
    0.25
    """
    return _of("mean", x, axis, dtype, out, keepdims, where, False)


def nanmean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """`mean` of the items that are no NaN.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.nanmean([1.0, float("nan"), 2.0]))
    1.5
    """
    return _of("mean", x, axis, dtype, out, keepdims, where, True)


def var(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """The exact variance of the items, or of those along axes, rounded once to nearest.

    It is NaN if an item is NaN or infinite. The sum of squares is divided by the number of items less `ddof`; where that is not positive, the
    variance is NaN if items are alike, or else infinite.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where
        As in `mean`. The variance of complex numbers is real.
    ddof : float, optional
        "Delta degrees of freedom"; `correction` is another name for it.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.var([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16], ddof=1))
    30.0
    """
    return _of("var", x, axis, dtype, out, keepdims, where, False, freedom(ddof, correction))


def nanvar(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """`var` of the items that are no NaN.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.nanvar([1.0, float("nan"), 3.0]))
    1.0
    """
    return _of("var", x, axis, dtype, out, keepdims, where, True, freedom(ddof, correction))


def std(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """The square root of the exact variance, rounded once to nearest: see `var`.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.std([1e9, 1e9 + 2]))
    1.0
    """
    return _of("std", x, axis, dtype, out, keepdims, where, False, freedom(ddof, correction))


def nanstd(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """`std` of the items that are no NaN.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.nanstd([1.0, float("nan"), 5.0]))
    2.0
    """
    return _of("std", x, axis, dtype, out, keepdims, where, True, freedom(ddof, correction))


def average(x, axis=None, weights=None, returned=False, *, keepdims=False):
    """The exact weighted mean of the items, or of those along axes: the sum of products over the sum of the weights, rounded once.

    Parameters
    ----------
    x, axis, keepdims
        As in `mean`.
    weights : array_like, optional
        Floats, of the shape of `x`, or of that of the reduced axes. Without them it is the mean.
    returned : bool, optional
        Whether the exact sum of the weights is returned, too.

    Raises
    ------
    ZeroDivisionError
        A sum of weights is zero.

    Examples
    --------
    >>> from treefold import exact
    >>> float(exact.average([1e200, 3.0, -1e200], weights=[1e200, 2.0, 1e200]))
    3e-200
    """
    items = Items(x, axis)
    keepdims = check_keepdims(keepdims)
    if weights is None:
        weights = np.ones((1,) * items.x.ndim)
        weights = np.broadcast_to(weights, items.x.shape)
        result = mean(x, axis, keepdims=keepdims)
    else:
        weights = weights_for(weights, items, axis)
        if weights.dtype.kind == "c":
            raise TypeError(f"weights have type {weights.dtype}, not floats")
        _, own = types(items, None, None)
        work = np.result_type(own.type(0).real.dtype, weights.dtype if weights.dtype.kind == "f" else _DOUBLE)
        work = np.dtype(np.float64) if work.itemsize < 4 or work == np.float16 else work
        result = np.asarray(_weighted(items, weights, work))
        chosen = items.dtype.newbyteorder("=") if items.dtype == np.float16 and weights.dtype == np.float16 else result.dtype
        result = given(result, items, keepdims, None, chosen)
    if not returned:
        return result
    total = sum(weights, items.axes, dtype=np.float64 if weights.dtype.kind in "biu" else None, keepdims=keepdims)
    return result, total


def _weighted(items, weights, work):
    """Part by part, if the items are complex."""
    whole = items.x
    items.times(weights)
    if whole.dtype.kind != "c":
        return statistic("average", items, work)
    result = np.empty(items.kept_shape, np.result_type(work, whole.dtype))
    items.x = whole.real
    result.real = statistic("average", items, work)
    items.x = whole.imag
    result.imag = statistic("average", items, work)
    items.x = whole
    return result
