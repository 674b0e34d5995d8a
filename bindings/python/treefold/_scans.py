"""Sums and products of all beginnings."""

import numpy as np

from . import _native
from ._engine import Items, arithmetic, check_out, tell
from ._reductions import _default


def _scan(op, x, axis, dtype, out, includes_initial=False):
    items = Items(x, axis)
    if items.masks:
        raise TypeError("x is a masked array, whose masked items would count: fill them")
    if items.x.ndim == 0:
        items.x, items.axes, axis = items.x.reshape(1), (0,), 0
    is_flat = axis is None
    if is_flat:
        shape, axis = [items.x.size], 0
    else:
        (axis,) = items.axes
        shape = list(items.x.shape)
        shape[axis] += includes_initial
    check_out(out, tuple(shape))
    unit = items.unit
    if unit is not None and (unit.kind == "M" or op == "prod"):
        raise TypeError(f"x has elements of type {unit}, for which {'cumsum' if op == 'sum' else 'cumprod'} is not defined")
    if unit is not None:
        chosen, work = unit.newbyteorder("="), np.dtype(np.int64)
        items.x = items.x.view(np.int64)
    else:
        chosen, work = arithmetic(items.dtype, dtype, out, _default(op, items.dtype))
    if chosen.kind == "b":
        raise TypeError("dtype: there are no scans of bool")
    items.halves = chosen == np.float16
    result = out if _may_be_written(out, chosen, items.x, is_flat) else np.empty(shape, chosen)
    into = result
    if includes_initial:
        first, rest = [slice(None)] * len(shape), [slice(None)] * len(shape)
        first[axis], rest[axis] = slice(0, 1), slice(1, None)
        result[tuple(first)] = 0 if op == "sum" else 1
        into = result[tuple(rest)]
    if is_flat:
        into = into.reshape(items.x.shape)
    items.y = into.view(np.int64) if unit is not None else into
    is_finite = _native.scan_arrays(op, np.empty(0, work), items, items.y)
    items.y = None
    if unit is not None:
        _spread_not_a_time(items.x.reshape(result.shape) if is_flat else items.x, result if is_flat else into, axis)
    elif not is_finite:
        last = np.take(result, [-1], axis).astype(work)
        tell(False, last.reshape(items.kept_shape), items, work)
    if result is not out and out is not None:
        np.copyto(out, result, casting="unsafe")
        return out
    return result if out is not None else items.wrapped(result)


def _may_be_written(out, dtype, x, is_flat):
    """Whether a scan can go straight to `out`: to other memory, or over the items that it reads."""
    if out is None or is_flat and not out.flags.c_contiguous or type(out) is not np.ndarray or out.dtype != dtype or "raise" in np.geterr().values():
        return False
    if out.strides == x.strides and out.shape == x.shape and out.ctypes.data == x.ctypes.data and out.dtype == x.dtype:
        return True
    return not np.may_share_memory(out, x)


def _spread_not_a_time(x, result, axis):
    """What follows a not-a-time is none."""
    lost = np.maximum.accumulate(x == np.iinfo(np.int64).min, axis)
    result[lost] = np.array("NaT", result.dtype)


def cumsum(x, axis=None, dtype=None, out=None):
    """The sums of all beginnings: element k has the bits of `sum` of the elements 0 to k along the axis.

    Parameters
    ----------
    x, dtype : array_like and dtype
        As in `sum`.
    axis : None or int, optional
        The axis along which items are added; without one, those of the flattened array.
    out : ndarray, optional
        Where the result goes, which may be `x`.

    Returns
    -------
    An array of the shape of `x`, or of one axis if `axis` is None; `out` if it was passed.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumsum([1.0, 2.0, 3.0]).tolist()
    [1.0, 3.0, 6.0]
    """
    if dtype is None and out is None:
        result = _native.scan_plain("sum", x, axis)
        if result is not None:
            return result
    return _scan("sum", x, _one(axis), dtype, out)


def cumprod(x, axis=None, dtype=None, out=None):
    """The products of all beginnings: element k has the bits of `prod` of the elements 0 to k along the axis.

    Parameters and results are those of `cumsum`.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumprod([1, 2, 3]).tolist()
    [1, 2, 6]
    """
    if dtype is None and out is None:
        result = _native.scan_plain("prod", x, axis)
        if result is not None:
            return result
    return _scan("prod", x, _one(axis), dtype, out)


def _of_array_api(op, x, axis, dtype, out, include_initial):
    if axis is None and np.ndim(x) != 1:
        raise ValueError("axis must be specified for an array of more or less than one axis")
    return _scan(op, x, _one(0 if axis is None else axis), dtype, out, bool(include_initial))


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """`cumsum` by the array API's name.

    Parameters
    ----------
    x, axis, dtype, out
        As in `cumsum`; an array of more than one axis needs `axis`.
    include_initial : bool, optional
        Whether the result begins with the sum of nothing.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumulative_sum([1.0, 2.0], include_initial=True).tolist()
    [0.0, 1.0, 3.0]
    """
    return _of_array_api("sum", x, axis, dtype, out, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """`cumprod` by the array API's name, with the parameters of `cumulative_sum`.

    Examples
    --------
    >>> import treefold
    >>> treefold.cumulative_prod([3, 2], include_initial=True).tolist()
    [1, 3, 6]
    """
    return _of_array_api("prod", x, axis, dtype, out, include_initial)


def _one(axis):
    """An axis as axes to be reduced; there may be none."""
    if isinstance(axis, tuple):
        raise TypeError(f"axis: {axis!r} is not an integer")
    return None if axis is None else (axis,)
