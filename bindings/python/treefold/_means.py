"""Means, variances and weighted means."""

import warnings

import numpy as np

from . import _native
from ._arrays import size
from ._engine import Items, arithmetic, canonical, check_keepdims, check_out, given, quotient, tell

_DOUBLE = np.dtype(np.float64)


def _types(items, dtype, out):
    """What is computed in, and what the result of a mean becomes."""
    own = items.dtype
    if own.kind in "mM":
        raise TypeError(f"x has elements of type {own}, for which this is not defined")
    default = _DOUBLE if own.kind in "biu" else own.newbyteorder("=")
    chosen, work = arithmetic(own, dtype, out if own.kind not in "biu" else None, default)
    items.halves = chosen == np.float16
    return chosen, work


def spread_type(own, dtype, out):
    """The type that is asked for a variance: that of complex numbers goes to a real `out` with both parts."""
    if dtype is None and out is not None and own.kind == "c" and out.dtype.kind == "f":
        return np.result_type(out.dtype, np.complex64)
    return dtype


def _warn(message):
    warnings.warn(message, RuntimeWarning, stacklevel=4)


def mean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
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
    if dtype is None and out is None and where is True:
        result = _native.reduce_plain("mean", x, axis, keepdims, None)
        if result is not None:
            return result
    return _mean(x, axis, dtype, out, keepdims, where, False)


def _mean(x, axis, dtype, out, keepdims, where, skips_nan):
    items = Items(x, axis, where, skips_nan)
    keepdims = check_keepdims(keepdims)
    check_out(out, items.shape_of_result(keepdims))
    if items.unit is not None and items.unit.kind == "m":
        return _mean_of_times(items, dtype, out, keepdims)
    chosen, work = _types(items, dtype, out)
    total, count, is_finite = items.fold("sum", work)
    if np.any(np.equal(count, 0)) and total.size:
        _warn("Mean of empty slice" if skips_nan else "Mean of empty slice.")
    tell(is_finite, total, items, work)
    if chosen.kind in "biu":
        return given(np.true_divide(total, count), items, keepdims, out, chosen)
    return given(quotient(total, count), items, keepdims, out, chosen)


def _mean_of_times(items, dtype, out, keepdims):
    from ._reductions import _of_times

    unit = items.unit.newbyteorder("=")
    total = np.asarray(_of_times("sum", items, False, None, dtype, None))
    count = items.fold("sum", np.dtype(np.int64))[1]
    if np.any(np.equal(count, 0)) and total.size:
        _warn("Mean of empty slice.")
        total = np.where(np.equal(count, 0), np.array("NaT", unit), total)
    count = np.maximum(count, 1)
    return given(np.asarray(np.true_divide(total, count)).astype(unit), items, keepdims, out)


def var(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """The mean squared distance from the mean.

    With m = `mean(x)`: the differences x - m are rounded, then their squares (of complex numbers re*re + im*im, each operation), then
    their sum in tree order, and then its quotient by the number of items less `ddof`.

    Parameters, results and errors are those of `mean`, and:

    ddof : float, optional
        "Delta degrees of freedom"; `correction` is another name for it, and there cannot be both.
    mean : array_like, optional
        The mean, if it is known: of the shape that `mean` has with `keepdims=True`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.var([1.0, 2.0, 3.0, 4.0]))
    1.25
    """
    if dtype is None and out is None and where is True and mean is correction is None and type(ddof) is int:
        result = _native.spread_plain(False, x, axis, keepdims, ddof)
        if result is not None:
            return result
    return _spread(x, axis, dtype, out, ddof, keepdims, where, mean, correction, False, False)


def std(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """The square root of the variance, rounded once more.

    Parameters, results and errors are those of `var`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.std([1.0, 5.0]))
    2.0
    """
    if dtype is None and out is None and where is True and mean is correction is None and type(ddof) is int:
        result = _native.spread_plain(True, x, axis, keepdims, ddof)
        if result is not None:
            return result
    return _spread(x, axis, dtype, out, ddof, keepdims, where, mean, correction, False, True)


def freedom(ddof, correction):
    """What is subtracted from the number of items."""
    name, value = "ddof", ddof
    if correction is not None:
        if not isinstance(ddof, int) or ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        name, value = "correction", correction
    try:
        return value if type(value) is int else float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r} is not a number") from None


def _spread(x, axis, dtype, out, ddof, keepdims, where, mean, correction, skips_nan, is_root):
    ddof = freedom(ddof, correction)
    items = Items(x, axis, where, skips_nan)
    keepdims = check_keepdims(keepdims)
    check_out(out, items.shape_of_result(keepdims))
    chosen, work = _types(items, spread_type(items.dtype, dtype, out), out)
    real = chosen.type(0).real.dtype
    if work.kind in "biu":
        raise TypeError(f"dtype: variances are not of type {chosen}")
    if mean is None:
        total, count, _ = items.fold("sum", work)
        mean = quotient(total, count)
    else:
        kept = items.shape_of_result(True)
        try:
            mean = np.broadcast_to(np.asarray(mean), kept)
        except ValueError:
            raise ValueError(f"mean has the shape {np.shape(mean)}, and not {kept}") from None
        mean = np.array(mean, work, order="C", subok=False)
    squares, count, is_finite = items.fold("sum", work, "distance", means=mean.reshape(-1))
    left = np.subtract(count, ddof)
    if np.any(np.less_equal(left, 0)) and squares.size:
        _warn("Degrees of freedom <= 0 for slice.")
    result = quotient(squares, np.maximum(left, 0))
    if skips_nan:
        result[np.less_equal(left, 0)] = np.nan
    tell(is_finite, squares, items, work)
    if is_root:
        with np.errstate(invalid="ignore"), _native.Subnormals():
            result = canonical(np.sqrt(result))
    return given(result, items, keepdims, out, real, is_root)


def weights_for(weights, items, axis):
    """Weights, of the shape of the items or of that of the reduced axes, as an array of the shape of the items."""
    if isinstance(weights, np.ma.MaskedArray):
        raise TypeError("weights is a masked array: pass a mask with x")
    weights, shape = np.asarray(weights), items.x.shape
    if weights.dtype.kind not in "biufc":
        raise TypeError(f"weights have type {weights.dtype}, not numbers")
    if weights.shape == shape:
        return weights
    if axis is None:
        raise TypeError("axis must be specified when shapes of x and weights differ.")
    if weights.shape != tuple(shape[one] for one in items.axes):
        raise ValueError("Shape of weights must be consistent with shape of x along specified axis.")
    return np.broadcast_to(weights.reshape([shape[one] if one in items.axes else 1 for one in range(len(shape))]), shape)


def average(x, axis=None, weights=None, returned=False, *, keepdims=False):
    """The sum of the products of items and weights, in tree order, divided by the sum of the weights.

    Parameters
    ----------
    x, axis, keepdims
        As in `mean`.
    weights : array_like, optional
        Of the shape of `x`, or of that of the reduced axes. Without them it is the mean.
    returned : bool, optional
        Whether the sum of the weights is returned, too.

    Raises
    ------
    ZeroDivisionError
        A sum of weights is zero.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.average([1.0, 2.0, 4.0], weights=[1, 1, 2]))
    2.75
    """
    items = Items(x, axis)
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        count = size([items.x.shape[one] for one in items.axes])
        return (result, np.full_like(result, count)[()]) if returned else result
    weights = weights_for(weights, items, axis)
    dtype = np.result_type(items.dtype, weights.dtype, *([_DOUBLE] if items.dtype.kind in "biu" else []))
    if items.has_holes:
        raise TypeError("x is a masked array: pass weights of zero for masked items")
    chosen, work = arithmetic(np.dtype(dtype), dtype, None, None)
    items.halves = chosen == np.float16
    own = Items(weights, items.axes, name="weights")
    own.halves = items.halves
    scale, _, _ = own.fold("sum", work)
    if np.any(scale == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    total, _, is_finite = items.times(weights).fold("sum", work, "product")
    tell(is_finite, total, items, work)
    with np.errstate(all="ignore"), _native.Subnormals():
        result = canonical(np.asarray(total / scale)) if work.kind == "c" else quotient(total, scale)
    keepdims = check_keepdims(keepdims)
    result = given(result, items, keepdims, None, chosen)
    return (result, given(scale, items, keepdims, None, chosen)) if returned else result
