"""Functions that the native code calls for rare forms of arguments and results, and for warnings.

The native code handles plain NumPy arrays of numbers itself. The functions here convert masked arrays, sequences, times, quantities and
other classes to such arrays, and convert results to what callers expect.
"""

import sys
import warnings

import numpy as np

from ._arrays import as_operand, check_unmasked, counted, unreduced
from ._cuda import is_on_device

_LONG, _DOUBLE = np.dtype(np.int64), np.dtype(np.float64)
_NAT = np.iinfo(np.int64).min
# The types that can be reduced, in either byte order.
_REDUCED = {np.dtype(name) for name in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")}
_MESSAGES = {"over": "overflow", "invalid": "invalid value"}


def described(x, name):
    """`x` as an array of numbers; its mask; its type if it has times; and `x` itself if it is of a subclass. The last three may be None."""
    if is_on_device(x):
        raise TypeError(f"{name} is in GPU memory, where treefold computes only sum and exact.sum")
    mask = None
    if isinstance(x, np.ma.MaskedArray):
        x, mask = x.data, None if x.mask is np.ma.nomask else x.mask
    owner = x if isinstance(x, np.ndarray) and type(x) not in (np.ndarray, np.memmap) else None
    array = as_operand(x, name).view(np.ndarray)
    unit = array.dtype.newbyteorder("=") if array.dtype.kind in "mM" else None
    if unit is not None:
        array = array.view(_LONG.newbyteorder(array.dtype.byteorder))
    elif array.dtype.newbyteorder("=") not in _REDUCED:
        raise unreduced(name, array.dtype)
    return array, mask, unit, owner


def mask(where, shape):
    """`where` as an array of bools, broadcast to a shape."""
    found = np.asarray(where)
    if found.dtype.kind not in "biu":
        raise TypeError(f"where has elements of type {found.dtype}, not bool")
    try:
        return np.broadcast_to(found if found.dtype.kind == "b" else found.astype(bool), shape)
    except ValueError:
        raise ValueError(f"where has the shape {found.shape}, which does not broadcast to {shape}") from None


def initial(value, dtype, work, unit, is_exact):
    """`initial`, converted in the same way as items. Exact sums of integers accept only an integer that `dtype` can hold."""
    if unit is not None:
        return np.array(value, unit).astype(work)
    try:
        found = np.asarray(value)
        if found.ndim or is_exact and dtype.kind in "iu" and int(found) != found:
            raise ValueError
        with np.errstate(all="ignore"):
            result = found.astype(dtype)
        if is_exact and dtype.kind in "iu" and int(result) != int(found):
            raise ValueError
        return result.astype(work)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"initial: {value!r} is not a number of type {dtype}") from None


def means(mean, shape, dtype):
    """The argument `mean` of variances, broadcast to one mean for each result."""
    try:
        found = np.broadcast_to(np.asarray(mean), shape)
    except ValueError:
        raise ValueError(f"mean has the shape {np.shape(mean)}, not {shape}") from None
    return np.array(found, dtype, order="C", subok=False)


def delivered(result, dtype, unit, owner, axes, counts, out):
    """Divides sums by `counts`, if given, and converts the result to its type. Returns it in `out`, as a scalar, or in the class of `owner`."""
    if unit is not None:
        result = result.view(unit)
    if counts is not None:
        if unit is not None:
            result, counts = np.where(np.equal(counts, 0), np.array("NaT", unit), result), np.maximum(counts, 1)
        result = np.asarray(np.true_divide(result, counts))
    if result.dtype != (dtype if unit is None else unit):
        result = result.astype(dtype if unit is None else unit)
    if out is not None:
        np.copyto(out, result, casting="unsafe")
        return out
    return result[()] if owner is None else wrapped(owner, result[()], axes)


def truth(x, skips_nan):
    """Which items are true, that is, not zero and, with `skips_nan`, not NaN."""
    found = np.asarray(x != 0)
    return found & ~np.isnan(x) if skips_nan else found


def wrapped(owner, result, axes):
    """A result in the class of `owner`, such as a quantity with its unit."""
    if isinstance(owner, np.matrix):
        if np.ndim(result) == 0:
            return result
        if result.ndim == len(axes) == 1:
            # If the items of each row were reduced, the result is a column.
            result = np.expand_dims(result, axes)
    try:
        return owner.__array_wrap__(np.asarray(result), None, np.ndim(result) == 0)
    except TypeError:
        return owner.__array_wrap__(np.asarray(result))


def matched(form, is_exact, x, y, out):
    """Arranges operands for NumPy's function `form`. Returns two arrays of one shape, the axis along which to add products, and their type.

    If one operand is a number, returns the product instead.
    """
    arrays = []
    for given, name in ((x, "x"), (y, "y")):
        check_unmasked(given, name)
        array, _, unit, _ = described(given, name)
        if unit is not None:
            raise unreduced(name, unit)
        arrays.append(array)
    x, y = arrays
    dtype = np.result_type(x, y)
    dtype = _LONG if dtype.kind == "b" else dtype
    if form == "vdot":
        if x.size != y.size:
            raise ValueError(f"y has {counted(y.size, 'item')}, but x has {x.size}")
        x, y = (x, y) if x.shape == y.shape else (x.reshape(-1), y.reshape(-1))
        return x, y, None, dtype
    if x.ndim == 0 or y.ndim == 0:
        if is_exact and dtype.kind not in "fc":
            raise TypeError(f"x has elements of type {x.dtype} and y of type {y.dtype}, whose products are never rounded: use treefold.{form}")
        return np.multiply(x, y, out=out)
    if form == "dot" and y.ndim > 1:
        y = np.moveaxis(y, -2, -1)
    if x.shape[-1] != y.shape[-1]:
        axis = "along the axis that is summed over" if form == "dot" else "along its last axis"
        raise ValueError(f"y has {counted(y.shape[-1], 'item')} {axis}, but x has {x.shape[-1]}")
    # Pairs each vector of `x` along the last axis with each vector of `y`.
    left, right, items = x.shape[:-1], y.shape[:-1], x.shape[-1:]
    x = x.reshape(left + (1,) * len(right) + items)
    return np.broadcast_to(x, left + right + items), np.broadcast_to(y, left + right + items), -1, dtype


def may_be_written(out, dtype, x, is_flat):
    """Whether a scan of `x` can write directly to `out`. `out` must either share no memory with `x` or be the same elements in memory."""
    if type(out) is not np.ndarray or out.dtype != dtype or is_flat and not out.flags.c_contiguous or "raise" in np.geterr().values():
        return False
    is_over = out.strides == x.strides and out.shape == x.shape and out.ctypes.data == x.ctypes.data and out.dtype == x.dtype
    return is_over or not np.may_share_memory(out, x)


def after_first(result, axis, first):
    """Writes `first`, the value for no items, to the start of a scan's result, and returns a view of the rest."""
    moved = np.moveaxis(result, axis, 0)
    moved[0] = first
    return np.moveaxis(moved[1:], 0, axis)


def spread_not_a_time(x, result, axis, is_flat):
    """Replaces all results from the first not-a-time on by not-a-times."""
    if is_flat:
        x, result, axis = x.reshape(-1), result.reshape(-1), 0
    result[np.maximum.accumulate(x == _NAT, axis)] = np.array("NaT", result.dtype)


def warn(message, category=RuntimeWarning):
    """Warns at the line that called treefold. Only the frames of Python code must be skipped, because native code has none."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "treefold":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_of_complex():
    warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning)


def heeds_errors():
    """Whether `numpy.errstate` requests any action if a sum overflows or is invalid."""
    state = np.geterr()
    return not state["over"] == state["invalid"] == "ignore"


def float_error(kind, name):
    """Takes the action that `numpy.errstate` requests for an overflow or an invalid value in NumPy's function `name`."""
    what, message = np.geterr()[kind], f"{_MESSAGES[kind]} encountered in {name}"
    if what == "warn":
        warn(message)
    elif what == "raise":
        raise FloatingPointError(message)
    elif what == "print":
        print(f"Warning: {message}")
    elif what == "call":
        np.geterrcall()(_MESSAGES[kind], 4 if kind == "over" else 8)
    elif what == "log":
        np.geterrcall().write(f"Warning: {message}\n")
