"""Converts arguments to arrays that the native code accepts, and results to what callers request."""

import operator
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

# Kinds of elements: signed, unsigned, floating-point, complex.
_SIZES = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (4, 8), "c": (8, 16)}


def as_array(x, name):
    """`x` as an array in native byte order. Its elements are bools, or can be reduced without conversion."""
    if isinstance(x, np.ma.MaskedArray):
        raise _masked(name)
    array = as_operand(x, name)
    dtype = array.dtype
    if dtype.kind != "b" and dtype.itemsize not in _SIZES.get(dtype.kind, ()):
        raise unreduced(name, dtype)
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    return array


def as_operand(x, name):
    """`x` as an array of any numbers, without conversion."""
    if type(x) is np.ndarray:
        array = x
    elif not hasattr(x, "__array__") and hasattr(x, "__dlpack__"):
        array = np.from_dlpack(x)
    elif x is None:
        raise TypeError(f"{name} is None: it must be an array or a sequence of numbers")
    elif hasattr(x, "__next__") and not hasattr(x, "__array__"):
        raise TypeError(f"{name} is a {type(x).__name__}, not an array or a sequence: pass list({name}), or numpy.fromiter({name}, float)")
    elif hasattr(x, "toarray") and hasattr(x, "nnz"):
        raise TypeError(f"{name} is a sparse {type(x).__name__}: pass {name}.toarray(), or {name}.data to reduce only the stored items")
    else:
        array = np.asarray(x)
    if array.dtype.kind == "O":
        raise TypeError(f"{name} has elements of type object, which treefold does not reduce: convert {name}, for example with {name}.astype(float)")
    return array


def _masked(name):
    return TypeError(f"{name} is a masked array, but its mask would be ignored: pass {name}.compressed(), or fill the masked items")


def check_unmasked(x, name):
    """Checks that no item is masked, for functions that ignore masks."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise _masked(name)


def as_unmasked(x: Any, name: str) -> Any:
    """`x` as an array of any elements, none of which is masked."""
    check_unmasked(x, name)
    return np.asarray(x)


def unreduced(name, dtype):
    """The error for elements that cannot be reduced."""
    return TypeError(f"{name} has elements of type {dtype}, which treefold does not reduce")


def contiguous(array):
    """The array in C order and aligned, copied if necessary."""
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.array(array, order="C")


def zeros(count, dtype):
    """A vector of zeros. Raises MemoryError if there is too little memory."""
    try:
        return np.zeros(count, dtype)
    except (OverflowError, ValueError):
        raise MemoryError(f"there is not enough memory for {count} elements of type {np.dtype(dtype)}") from None


def counted(number, noun):
    """A number with its noun, as in "1 item" and "2 items"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def index(value, name):
    """An argument as an int. Raises TypeError if it is not an integer."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: {value!r} is not an integer")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not an integer") from None


def widened(array):
    """The array with small integers widened to 64 bits, as in NumPy's sums and products."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "b" or kind == "i" and size < 8:
        return array.astype(np.int64)
    if kind == "u" and size < 8:
        return array.astype(np.uint64)
    return array


def as_float(array):
    """The array with integers converted to float64, as in NumPy's means."""
    return array.astype(np.float64) if array.dtype.kind in "biu" else array


def as_doubles(x):
    """Converts integers to doubles for a state. Returns the doubles, and how many of them, at the end, must be removed instead of added.

    The state then has the integers' count, sum and sum of squares. If any integer is beyond 2^53, each integer 2^32 h + l is replaced by
    2^32 h, l and 2^16 (h + l), which must be added, and by 2^16 h and 2^16 l, which must be removed.
    """
    if not x.size or x.dtype.kind == "b" or -(2**53) <= x.min() and x.max() <= 2**53:
        return x.astype(np.float64), 0
    high, low = (part.astype(np.float64) for part in (x >> 32, x & 0xFFFF_FFFF))
    return np.concatenate([high * 2.0**32, low, (high + low) * 2.0**16, high * 2.0**16, low * 2.0**16]), 2 * x.size


def check_inexact(dtype, name):
    """Checks that a type is a type of floats or complex numbers, whose sums may need rounding."""
    if dtype.kind not in "fc":
        raise TypeError(f"{name} has elements of type {dtype}, whose sums are never rounded: use the function of the same name in treefold, not in exact")


def items_along(array, axis):
    """The items along an axis as the rows of a contiguous matrix, and the shape of an item.

    Without an axis, the items are those of the flattened array. An item without values gets one value that is never read.
    """
    if axis is None:
        items, shape = np.ravel(array), ()
    else:
        (axis,) = reduced_axes((axis,), array.ndim)
        items = np.moveaxis(array, axis, 0)
        shape = items.shape[1:]
    width = row_width(shape)
    if width != size(shape):
        items = np.zeros((items.shape[0], width), array.dtype)
    return contiguous(items).reshape(items.shape[0], width), shape


def row_width(shape):
    """The number of values in the row of an item: at least 1."""
    return size(shape) or 1


def reduced_axes(axis, ndim):
    """The numbers of the axes to reduce, ascending."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = [index(one, "axis") for one in axes]
    if ndim == 0 and axes in ([0], [-1]):
        return ()
    for one in axes:
        if not -ndim <= one < ndim:
            raise AxisError(one, ndim)
    axes = sorted(one % ndim for one in axes)
    if len(set(axes)) < len(axes):
        raise ValueError("duplicate value in 'axis'")
    return tuple(axes)


def size(shape):
    """The number of elements of a shape."""
    product = 1
    for length in shape:
        product *= length
    return product


def finished(result, shape, axes, out, keepdims):
    """A result in the form that the caller requested: with reduced axes of length 1, as a scalar, or in `out`."""
    if not isinstance(keepdims, (bool, np.bool_)):
        raise TypeError(f"keepdims: {keepdims!r} is not a bool")
    if keepdims:
        result = result.reshape([1 if axis in axes else length for axis, length in enumerate(shape)])
    return result[()] if out is None else put(result, out, "same_kind")


def put(result, out, casting="unsafe"):
    """Writes a result to `out`, cast by one of NumPy's rules, and returns `out`."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is a {type(out).__name__}, not an ndarray")
    if out.shape != np.shape(result):
        raise ValueError(f"out has the shape {out.shape}, but the result has {np.shape(result)}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    if not np.can_cast(result.dtype, out.dtype, casting=casting):
        raise TypeError(f"out has elements of type {out.dtype}, to which {result.dtype} cannot be cast")
    np.copyto(out, result, casting=casting)
    return out
