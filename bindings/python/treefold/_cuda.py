"""Sums arrays in the memory of NVIDIA GPUs, described by DLPack or by `__cuda_array_interface__`: arrays of PyTorch, CuPy, JAX,
Numba and others."""

import ctypes
from typing import Any

import numpy as np

from . import _native
from ._arrays import finished, reduced_axes, size

# DLPack's codes for devices: CUDA memory and CUDA managed memory.
_DEVICES = (2, 13)
# DLPack's codes for kinds of numbers.
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c"}
_SUMMED = tuple(np.dtype(name) for name in ("f4", "f8", "c8", "c16"))
_TYPES = "in GPU memory, treefold sums only float32, float64, complex64 and complex128"
# DLPack's number for the default stream, which treefold uses.
_DEFAULT_STREAM = 1


def is_on_device(x: Any) -> bool:
    """Whether `x` is an array in GPU memory. NumPy arrays, lists and numbers are not."""
    if isinstance(x, (np.ndarray, list, tuple, int, float)):
        return False
    if hasattr(x, "__dlpack_device__"):
        return int(x.__dlpack_device__()[0]) in _DEVICES
    return hasattr(x, "__cuda_array_interface__")


def reduction(op, x, axis, out, keepdims):
    """The sum along axes of an array on a GPU, as a NumPy array or scalar."""
    if op not in ("sum", "exact_sum"):
        raise TypeError(f"treefold cannot reduce arrays in GPU memory by {op}: there it computes only sum and exact.sum")
    array = described("x", x)
    shape, dtype = array.shape, array.dtype
    if dtype not in _SUMMED:
        raise TypeError(f"x has elements of type {dtype}: {_TYPES}")
    axes = reduced_axes(axis, len(shape))
    if axes and axes != tuple(range(axes[0], axes[-1] + 1)):
        raise ValueError(f"axis: {axes} are not adjacent. For an array in GPU memory, the axes must be adjacent; transpose the array and make it contiguous")
    first, end = (axes[0], axes[-1] + 1) if axes else (len(shape), len(shape))
    before, length, after = (size(part) for part in (shape[:first], shape[first:end], shape[end:]))
    # Complex numbers are passed as two columns, their real and imaginary parts.
    parts = 2 if dtype.kind == "c" else 1
    if op == "exact_sum" and after * parts > 1:
        raise TypeError("in GPU memory, exact.sum can sum only real floats, and only along the last axes; copy the array to the host first")
    result = np.empty((before, after), dtype)
    floats = result.view(f"f{dtype.itemsize // parts}")
    _native.cuda_sum(array.device, array.pointer, (before, length, after * parts), op == "exact_sum", floats)
    return finished(result.reshape(shape[:first] + shape[end:]), shape, axes, out, keepdims)


class OnDevice:
    """Describes an array in GPU memory, in C order: its address, its shape, and references that keep the memory alive."""

    def __init__(self, name, given, owner, device, pointer, shape, strides, dtype):
        self.given, self.owner = given, owner
        self.device, self.pointer = device, pointer
        self.shape, self.size, self.dtype = tuple(shape), size(shape), dtype
        if self.size * dtype.itemsize >= 1 << 63:
            raise ValueError(f"{name} has the shape {self.shape}, which is too large for any memory")
        # The strides of C order, in bytes. Axes of one element may have other strides.
        expected = [dtype.itemsize * size(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        if strides and self.size and any(one != due for one, due, length in zip(strides, expected, self.shape) if length > 1):
            raise ValueError(
                f"{name} is not contiguous in GPU memory (in C order): pass {name}.contiguous() or "
                f"cupy.ascontiguousarray({name})"
            )


def described(name: str, given: Any) -> OnDevice:
    """Describes the array `given`, which is in GPU memory. Errors refer to the array by `name`."""
    return _of_dlpack(name, given) if hasattr(given, "__dlpack__") else _of_interface(name, given)


class _Tensor(ctypes.Structure):
    """DLPack's `DLTensor`, the first field of the struct that a capsule points to."""

    _fields_ = [
        ("data", ctypes.c_uint64),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def _of_dlpack(name, given):
    """Describes an array by its `__dlpack__`. The array's library makes the default stream wait until the array has been computed."""
    capsule = given.__dlpack__(stream=_DEFAULT_STREAM)
    tensor = _Tensor.from_address(_pointer_of(capsule, b"dltensor"))
    try:
        dtype = np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8 * tensor.lanes}")
    except (KeyError, TypeError):
        raise TypeError(f"{name} has elements of DLPack's type code {tensor.code} with {tensor.bits} bits: {_TYPES}") from None
    shape, strides = (axes[: tensor.ndim] if axes else None for axes in (tensor.shape, tensor.strides))
    strides = strides and [stride * dtype.itemsize for stride in strides]
    return OnDevice(name, given, capsule, tensor.device, tensor.data + tensor.byte_offset, shape or (), strides, dtype)


def _of_interface(name, given):
    """Describes an array by its `__cuda_array_interface__`."""
    interface = given.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise TypeError(f"{name} has a mask, which treefold would ignore")
    pointer = interface["data"][0] or 0
    # An empty array has no memory, so it is on no device.
    device = _native.cuda_device_of(pointer, interface.get("stream")) if pointer else 0
    strides, dtype = interface.get("strides"), np.dtype(interface["typestr"])
    return OnDevice(name, given, interface, device, pointer, interface["shape"], strides, dtype)
