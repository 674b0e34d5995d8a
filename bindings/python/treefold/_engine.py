"""From NumPy's arguments to the native half: which items are reduced, in which type, and where the result goes."""

import warnings

import numpy as np

from . import _native
from ._arrays import as_operand, contiguous, reduced_axes, size, unreduced

_NO_COUNTS = np.zeros(0, np.int64)
_HALF, _FLOAT, _LONG = np.dtype("f2"), np.dtype("f4"), np.dtype("i8")
# What is reduced, as its bytes are but halves.
_REDUCED = {np.dtype(f"{kind}{size}") for kind, sizes in (("i", "1248"), ("u", "1248"), ("f", "248")) for size in sizes}
_REDUCED |= {np.dtype("?"), np.dtype("c8"), np.dtype("c16")}
_MESSAGES = {"over": "overflow", "invalid": "invalid value"}


class Items:
    """The items of an array along axes, and which of them count. The native half reads the attributes without an underscore."""

    __slots__ = ("_given", "_unit", "axes", "halves", "masks", "skips_nan", "x", "y")

    def __init__(self, x, axis=None, where=True, skips_nan=False, name="x"):
        self.masks = []
        if isinstance(x, np.ma.MaskedArray):
            if x.mask is not np.ma.nomask:
                self.masks.append((x.mask, True))
            x = x.data
        self._given = x
        array = as_operand(x, name)
        if type(array) is not np.ndarray:
            array = array.view(np.ndarray)
        self._unit = array.dtype if array.dtype.kind in "mM" else None
        if self._unit is None and array.dtype.newbyteorder("=") not in _REDUCED:
            raise unreduced(name, array.dtype)
        self.x, self.y = array, None
        self.axes = reduced_axes(axis, array.ndim)
        self.halves = False
        self.skips_nan = skips_nan and array.dtype.kind in "fc"
        if where is not True:
            self.masks.append((_mask(where, array.shape), False))

    @property
    def dtype(self):
        return self.x.dtype

    @property
    def unit(self):
        """The type of times and dates; None of numbers."""
        return self._unit

    @property
    def has_holes(self):
        return self.skips_nan or bool(self.masks)

    @property
    def kept_shape(self):
        shape = self.x.shape
        return tuple([shape[axis] for axis in range(len(shape)) if axis not in self.axes])

    @property
    def count(self):
        """The number of items of a result, of which some may not count."""
        return size([self.x.shape[axis] for axis in self.axes])

    def shape_of_result(self, keepdims):
        if not keepdims:
            return self.kept_shape
        return tuple([1 if axis in self.axes else length for axis, length in enumerate(self.x.shape)])

    def times(self, y):
        """These items with factors, weights, of the same shape."""
        self.y = y
        return self

    def fold(self, op, work, leaf="value", means=None, initial=None, out=None):
        """The reduction in a type of arithmetic, of a shape without the reduced axes, and the number of items that count: of each result, if
        some may not."""
        dtype = work.type(0).real.dtype if leaf in ("distance", "magnitude") else work
        result = np.empty(self.kept_shape, dtype) if out is None else out
        if leaf == "value" and initial is None and not self.has_holes and self.x.dtype == work and not self.halves:
            parts = _parts(self.x, self.axes)
            if parts is not None and (parts.shape[1] or op in ("sum", "prod") or not result.size):
                is_finite = _native.fold(op, parts, result.reshape(parts.shape[0], parts.shape[2]), 1)
                return result, self.count, is_finite
        counts = np.zeros(self.kept_shape, np.int64) if self.has_holes else _NO_COUNTS
        if initial is not None:
            initial = np.array(initial, dtype)
        # The native half has no names for times.
        view, self.x = self.x, self.x.view(_LONG.newbyteorder(self.x.dtype.byteorder)) if self._unit else self.x
        try:
            is_complete, is_finite = _native.reduce_arrays(op, leaf, np.empty(0, work), self, means, initial, result, counts)
        finally:
            self.x = view
        if not is_complete:
            name = {"min": "minimum", "max": "maximum"}[op]
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        return result, counts if self.has_holes else self.count, is_finite

    def wrapped(self, result):
        """A result as the type of the given array has it: of quantities, with a unit."""
        given = self._given
        if type(given) is np.ndarray or not isinstance(given, np.ndarray):
            return result
        if type(given) is np.memmap or isinstance(given, np.matrix) and np.ndim(result) == 0:
            return result
        if isinstance(given, np.matrix) and result.ndim == len(self.axes) == 1:
            # A column, if the items of each row were reduced.
            result = result.reshape(self.shape_of_result(True))
        try:
            return given.__array_wrap__(np.asarray(result), None, np.ndim(result) == 0)
        except TypeError:
            return given.__array_wrap__(np.asarray(result))


def _mask(where, shape):
    mask = np.asarray(where)
    if mask.dtype.kind not in "biu":
        raise TypeError(f"where has elements of type {mask.dtype}, and not bool")
    if mask.dtype.kind != "b":
        mask = mask.astype(bool)
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"where has the shape {mask.shape}, which does not broadcast to {shape}") from None


def _parts(array, axes):
    """A contiguous array as what is before, in and after the reduced axes, without a copy; None if that cannot be."""
    flags = array.flags
    if not flags.aligned or not array.dtype.isnative:
        return None
    if not flags.c_contiguous:
        # Which of the axes that stay comes first would change where results go.
        kept = array.ndim - len(axes)
        if not flags.f_contiguous or len(axes) != 1 or kept > 1:
            return None
        array, axes = array.T, tuple(array.ndim - 1 - axis for axis in axes)
    shape = array.shape
    first, end = (axes[0], axes[-1] + 1) if axes else (len(shape), len(shape))
    if end - first != len(axes):
        return None
    return array.reshape(size(shape[:first]), size(shape[first:end]), size(shape[end:]))


def arithmetic(own, dtype, out, default):
    """The type that items are converted to, which is the result's, and that of the arithmetic: halves are added as floats."""
    if dtype is not None:
        try:
            chosen = np.dtype(dtype).newbyteorder("=")
        except TypeError as error:
            raise TypeError(f"dtype: {error}") from None
    else:
        chosen = default if out is None else out.dtype.newbyteorder("=")
    if chosen not in _REDUCED:
        raise TypeError(f"dtype: treefold does not reduce elements of type {chosen}")
    if own.kind == "c" and chosen.kind != "c":
        warnings.warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning, stacklevel=4)
    return chosen, _FLOAT if chosen == _HALF else chosen


def check_out(out, shape):
    """Whether a result of a shape can go there."""
    if out is None:
        return
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is a {type(out).__name__}, and not an ndarray")
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}, and the result {shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")


def check_keepdims(keepdims):
    if not isinstance(keepdims, (bool, np.bool_)):
        raise TypeError(f"keepdims: {keepdims!r} is not a bool")
    return bool(keepdims)


def given(result, items, keepdims, out, dtype=None, wraps=True):
    """A result of a type as its caller wants it: a scalar, an array with or without the reduced axes, or `out`. It has the unit of the items,
    unless it is said not to."""
    if dtype is not None and result.dtype != dtype:
        result = result.astype(dtype)
    result = result.reshape(items.shape_of_result(keepdims))
    if out is not None:
        np.copyto(out, result, casting="unsafe")
        return out
    return items.wrapped(result[()]) if wraps else result[()]


def tell(is_finite, result, items, work, initial=None, name="reduce"):
    """Says that a reduction overflowed, or had an invalid operation, as `numpy.errstate` asks. The name is NumPy's."""
    if is_finite or work.kind not in "fc" or initial is not None and not np.isfinite(initial):
        return
    state = np.geterr()
    if state["over"] == state["invalid"] == "ignore":
        return
    factors, items.y = items.y, None
    greatest = items.fold("max", work, "magnitude", initial=0)[0]
    items.y = factors
    if factors is not None:
        own, items.x = items.x, factors
        greatest = np.maximum(greatest, items.fold("max", work, "magnitude", initial=0)[0])
        items.x = own
    # Where nothing counts there was no operation.
    if (~np.isfinite(result) & np.isfinite(greatest) & (greatest > 0)).any():
        float_error("over", name)
    if (np.isnan(result) & (greatest > 0)).any():
        float_error("invalid", name)


def float_error(kind, name):
    """What `numpy.errstate` asks for."""
    what, message = np.geterr()[kind], f"{_MESSAGES[kind]} encountered in {name}"
    if what == "warn":
        warnings.warn(message, RuntimeWarning, stacklevel=5)
    elif what == "raise":
        raise FloatingPointError(message)
    elif what == "print":
        print(f"Warning: {message}")
    elif what == "call":
        np.geterrcall()(_MESSAGES[kind], 4 if kind == "over" else 8)
    elif what == "log":
        np.geterrcall().write(f"Warning: {message}\n")


def quotient(total, count):
    """An array, or a scalar, divided by numbers, part by part; a NaN is the canonical one."""
    total = np.asarray(total)
    result = np.empty_like(total, order="C")
    real = result.real.dtype
    with np.errstate(all="ignore"), _native.Subnormals():
        count = np.asarray(count).astype(real)
        np.divide(total.real, count, out=result.real)
        if total.dtype.kind == "c":
            np.divide(total.imag, count, out=result.imag)
    return canonical(result)


def canonical(result):
    """With one NaN."""
    parts = contiguous(result).reshape(-1).view(result.real.dtype)
    parts[np.isnan(parts)] = np.nan
    return result
