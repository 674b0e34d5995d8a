"""Reductions of the items that are numbers: NaNs are holes, as items are that `where` leaves out."""

import warnings

import numpy as np

from ._engine import Items
from ._means import _mean, _spread
from ._reductions import reduction


def nansum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """`sum` of the items that are no NaN: these keep their numbers, and a NaN leaves a hole. Parameters and results are those of `sum`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nansum([1.0, float("nan"), 2.0]))
    3.0
    """
    return reduction("sum", x, axis, dtype, out, keepdims, initial, where, True)


def nanprod(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """`prod` of the items that are no NaN, as `nansum` adds them.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanprod([3.0, float("nan"), 2.0]))
    6.0
    """
    return reduction("prod", x, axis, dtype, out, keepdims, initial, where, True)


def _extreme(op, x, axis, out, keepdims, initial, where):
    if initial is None and np.asarray(x).dtype.kind == "f":
        # Without numbers it is NaN, with a warning.
        items = Items(x, axis, where, True)
        bound = np.inf if op == "min" else -np.inf
        count = items.fold("sum", np.dtype(np.float64))[1] if items.has_holes else items.count
        if items.count and np.any(np.equal(count, 0)):
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
            result = np.asarray(reduction(op, x, axis, None, None, keepdims, bound, where, True))
            result = np.where(np.equal(count, 0).reshape(result.shape), np.array(np.nan, result.dtype), result)
            if out is None:
                return result[()]
            np.copyto(out, result, casting="unsafe")
            return out
    return reduction(op, x, axis, None, out, keepdims, initial, where, True)


def nanmin(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """`min` of the items that are no NaN. Where there are none, it is NaN, with a RuntimeWarning.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmin([3.0, float("nan"), 2.0]))
    2.0
    """
    return _extreme("min", x, axis, out, keepdims, initial, where)


def nanmax(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """`max` of the items that are no NaN. Where there are none, it is NaN, with a RuntimeWarning.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmax([3.0, float("nan"), 2.0]))
    3.0
    """
    return _extreme("max", x, axis, out, keepdims, initial, where)


def nanmean(x, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """`mean` of the items that are no NaN, as `nansum` adds them.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanmean([1.0, float("nan"), 2.0]))
    1.5
    """
    return _mean(x, axis, dtype, out, keepdims, where, True)


def nanvar(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """`var` of the items that are no NaN; NaN where there are too few.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanvar([1.0, float("nan"), 3.0]))
    1.0
    """
    return _spread(x, axis, dtype, out, ddof, keepdims, where, mean, correction, True, False)


def nanstd(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    """`std` of the items that are no NaN; NaN where there are too few.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.nanstd([1.0, float("nan"), 5.0]))
    2.0
    """
    return _spread(x, axis, dtype, out, ddof, keepdims, where, mean, correction, True, True)
