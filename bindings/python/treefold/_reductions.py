"""Sums, products, minima and maxima, with NumPy's conventions for axes, types, empty input and errors."""

import operator

import numpy as np

from . import _cuda, _native
from ._arrays import as_array, delivered, in_three_parts, reduced_axes, widened
from ._engine import Items, arithmetic, check_keepdims, check_out, given, tell

LANES_MAX = 1 << 20
_NAT = np.iinfo(np.int64).min


def reduction(op, x, axis, dtype, out, keepdims, initial, where, skips_nan=False):
    """What `sum` and its kin do, but where an array can be reduced as it is."""
    if _cuda.is_on_device(x):
        return _on_device(op, x, axis, out, keepdims, (dtype, initial) != (None, None) or where is not True)
    items = Items(x, axis, where, skips_nan)
    keepdims = check_keepdims(keepdims)
    shape = items.shape_of_result(keepdims)
    check_out(out, shape)
    if items.unit is not None:
        return _of_times(op, items, keepdims, out, dtype, initial)
    chosen, work = arithmetic(items.dtype, dtype, out, _default(op, items.dtype))
    if work.kind == "c" and op in ("min", "max"):
        raise TypeError(f"x has elements of type {items.dtype}, for which {op} is not defined: complex numbers have no order")
    items.halves = chosen.itemsize == 2 and chosen.kind == "f"
    if initial is not None:
        initial = _initial(initial, chosen)
    if chosen.kind == "b":
        # Whether one is true, or all are.
        if items.dtype.kind != "b":
            items.x = items.x != 0
        if initial is None:
            initial = {"sum": False, "prod": True}.get(op)
        op = {"sum": "max", "prod": "min"}.get(op, op)
        items.x, work = items.x.view(np.uint8), np.dtype(np.uint8)
        result, _, _ = items.fold(op, work, initial=initial)
        return given(result.astype(np.bool_), items, keepdims, out)
    direct = _direct(out, work, chosen, items)
    result, _, is_finite = items.fold(op, work, initial=initial, out=direct)
    if op in ("sum", "prod"):
        tell(is_finite, result, items, work, initial)
    if direct is not None:
        return out
    return given(result, items, keepdims, out, chosen, op != "prod")


def _default(op, own):
    """The type of a result: small integers are added and multiplied as 64 bits."""
    if op in ("sum", "prod") and own.kind in "biu" and (own.itemsize < 8 or own.kind == "b"):
        return np.dtype(np.uint64 if own.kind == "u" else np.int64)
    return own.newbyteorder("=")


def _initial(initial, dtype):
    try:
        value = np.asarray(initial)
        if value.ndim:
            raise ValueError
        return value.astype(dtype)
    except (TypeError, ValueError):
        raise ValueError(f"initial: {initial!r} is not a number of type {dtype}") from None


def _direct(out, work, chosen, items):
    """`out`, if the result can be written there as it is computed, with the shape of the native half."""
    if out is None or type(out) is not np.ndarray or out.dtype != work or chosen != work or not out.flags.carray:
        return None
    arrays = [items.x, *(mask for mask, _ in items.masks)]
    if any(np.may_share_memory(out, array) for array in arrays) or "raise" in np.geterr().values():
        return None
    if items.has_holes:
        # A minimum of nothing is found out at the end.
        return None
    return out.reshape(items.kept_shape)


def _of_times(op, items, keepdims, out, dtype, initial):
    """Sums of times, and minima and maxima of times and dates: not-a-time wins."""
    unit = items.unit.newbyteorder("=")
    if dtype is not None and np.dtype(dtype) != unit:
        raise TypeError(f"dtype: elements of type {unit} are reduced as such, not as {np.dtype(dtype)}")
    if op == "prod" or op == "sum" and unit.kind == "M":
        raise TypeError(f"x has elements of type {unit}, for which {op} is not defined")
    if initial is not None:
        initial = np.asarray(initial, unit).astype(np.int64)
    result, _, _ = items.fold(op, np.dtype(np.int64), initial=initial)
    if op != "min":
        least, _, _ = items.fold("min", np.dtype(np.int64), initial=initial if initial is not None else np.iinfo(np.int64).max)
        result[least == _NAT] = _NAT
    return given(result.view(unit), items, keepdims, out)


def _on_device(op, x, axis, out, keepdims, has_others):
    if has_others:
        raise TypeError("x is in GPU memory, where there is neither dtype, initial nor where")
    return _cuda.reduction(op, x, axis, out, keepdims)


def _in_lanes(x, axis, out, keepdims, lanes):
    if _cuda.is_on_device(x):
        raise TypeError("x is in GPU memory, where there are no sums in lanes")
    array = widened(as_array(x, "x"))
    axes = reduced_axes(axis, array.ndim)
    shape = array.shape
    parts, order = in_three_parts(array, axes)
    before, _, after = parts.shape
    result = np.empty((before, after), parts.dtype)
    _native.fold("sum", parts, result, lanes)
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    result = result.reshape([shape[axis] for axis in order]).transpose([order.index(axis) for axis in kept])
    if check_keepdims(keepdims):
        result = result.reshape([1 if axis in axes else length for axis, length in enumerate(shape)])
    return delivered(result, out)


def _lanes(lanes):
    try:
        count = operator.index(lanes)
    except TypeError:
        raise TypeError(f"lanes: {lanes!r} is not an integer") from None
    if not 1 <= count <= LANES_MAX:
        raise ValueError(f"lanes: {lanes} is not from 1 to {LANES_MAX}")
    return count


def sum(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True, *, lanes=1):
    """The sum of the items, or of those along axes, in tree order.

    Parameters
    ----------
    x : array_like
        Numbers: an array, a sequence, or whatever has `__array__`, `__dlpack__` or a buffer. Missing numbers in columns of Arrow and Polars
        are NaN. Masked items do not count. Floats and complex numbers may be in GPU memory, contiguous, as PyTorch, CuPy or JAX have them;
        the result is in the host's.
    axis : None, int or tuple of ints, optional
        The axes to be reduced; all of them by default. Items along several axes are taken in C order, the last axis fastest, however
        `x` lies in memory.
    dtype : dtype, optional
        What each item is converted to first: the type of the arithmetic and of the result. Without it that is `out`'s type, or the
        items' own; integers of fewer than 64 bits are added as 64 bits, and wrap, as in NumPy. Halves are added as float32, and the
        result is rounded once.
    out : ndarray, optional
        Where the result goes. It is left alone if there is an error.
    keepdims : bool, optional
        Whether reduced axes stay, with length 1.
    initial : number, optional
        The left operand of one more combination.
    where : array_like of bool, optional
        Which items count. Items keep their numbers: the others leave holes, which change no bit, so `sum(x, where=m)` may differ from
        `sum(x[m])`.
    lanes : int, optional
        L, from 1 to 2**20: item i belongs to lane i mod L, each lane is summed in tree order, and then their sums, as in ISO C++'s
        P4016. Floats in 16, 32, 64 or 128 lanes are the fastest. Not for items in GPU memory, nor with `dtype`, `initial` or `where`.

    Returns
    -------
    A scalar, or an array; `out` if it was passed.

    Raises
    ------
    TypeError
        The elements have another type.
    ValueError
        `lanes` is not from 1 to 2**20, `out` has another shape, or `where` does not broadcast.
    FloatingPointError
        This thread flushes subnormal numbers to zero, or does not round to nearest: the bits would be others. Or `numpy.errstate` asks for
        it.

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
        lanes = _lanes(lanes)
        if (dtype, initial) != (None, None) or where is not True:
            raise ValueError("lanes: sums in lanes have neither dtype, initial nor where")
        return _in_lanes(x, axis, out, keepdims, lanes)
    if dtype is None and out is None and initial is None:
        result = _native.reduce_plain("sum", x, axis, keepdims, None if where is True else where)
        if result is not None:
            return result
    return reduction("sum", x, axis, dtype, out, keepdims, initial, where)


def prod(x, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The product of the items, or of those along axes, in tree order.

    Parameters, results and errors are those of `sum`. The product of nothing is 1.

    Examples
    --------
    >>> import treefold
    >>> int(treefold.prod([2, 3, 7]))
    42
    """
    if dtype is None and out is None and initial is None:
        result = _native.reduce_plain("prod", x, axis, keepdims, None if where is True else where)
        if result is not None:
            return result
    return reduction("prod", x, axis, dtype, out, keepdims, initial, where)


def min(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The least item, or the least along axes. NaN if one of the items is NaN; -0.0 is below 0.0.

    Parameters, results and errors are those of `sum`; complex numbers have no minimum.

    Raises
    ------
    ValueError
        There are no items, and no `initial`.

    Examples
    --------
    >>> import treefold
    >>> treefold.min([[3, 1], [2, 5]], axis=1).tolist()
    [1, 2]
    """
    if out is None and initial is None:
        result = _native.reduce_plain("min", x, axis, keepdims, None if where is True else where)
        if result is not None:
            return result
    return reduction("min", x, axis, None, out, keepdims, initial, where)


def max(x, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The greatest item, or the greatest along axes. NaN if one of the items is NaN; 0.0 is above -0.0.

    Parameters, results and errors are those of `min`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.max([0.5, 2.5]))
    2.5
    """
    if out is None and initial is None:
        result = _native.reduce_plain("max", x, axis, keepdims, None if where is True else where)
        if result is not None:
            return result
    return reduction("max", x, axis, None, out, keepdims, initial, where)


def ptp(x, axis=None, out=None, keepdims=False):
    """The greatest item less the least one: peak to peak. Differences of integers wrap, as in NumPy.

    Parameters, results and errors are those of `min`.

    Examples
    --------
    >>> import treefold
    >>> float(treefold.ptp([1.0, 4.5, 2.0]))
    3.5
    """
    if type(x) is np.ndarray and x.dtype.kind in "iuf" and out is None:
        return np.subtract(max(x, axis, None, keepdims), min(x, axis, None, keepdims))
    items = Items(x, axis)
    if items.dtype.kind == "b":
        raise TypeError("x has elements of type bool, for which ptp is not defined")
    shape = items.shape_of_result(check_keepdims(keepdims))
    check_out(out, shape)
    greatest, least = max(x, axis, None, keepdims), min(x, axis, None, keepdims)
    difference = np.subtract(greatest, least)
    if out is None:
        return difference
    np.copyto(out, difference, casting="unsafe")
    return out
