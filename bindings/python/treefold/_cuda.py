"""Arrays in the memory of NVIDIA GPUs, by DLPack or by `__cuda_array_interface__`: those of PyTorch, CuPy, JAX, Numba and others."""

from typing import Any

import numpy as np

from . import _native
from ._arrays import finished, reduced_axes, size

# DLPack's numbers for devices: CUDA's memory, and its managed memory.
_DEVICES = (2, 13)
# And for types, with their bits.
_DTYPES = {
    (code, bits): np.dtype(f"{kind}{bits // 8}")
    for code, kind, widths in ((0, "i", (8, 16, 32, 64)), (1, "u", (8, 16, 32, 64)), (2, "f", (32, 64)), (5, "c", (64, 128)))
    for bits in widths
}
_SUMMED = tuple(np.dtype(name) for name in ("f4", "f8", "c8", "c16"))
_TYPES = "in GPU memory, treefold sums floats of 32 or 64 bits, or complex numbers of such"
# The default stream, which treefold uses.
_DEFAULT_STREAM = 1


def is_on_device(x: Any) -> bool:
    """Whether `x` is an array in the memory of a GPU. NumPy's arrays and what becomes one are not."""
    if isinstance(x, (np.ndarray, list, tuple, int, float)):
        return False
    if hasattr(x, "__dlpack_device__"):
        return int(x.__dlpack_device__()[0]) in _DEVICES
    return hasattr(x, "__cuda_array_interface__")


def reduction(op, x, axis, out, keepdims):
    """The sum along axes of an array on a GPU, as NumPy's arrays have it: an array or scalar of NumPy."""
    if op not in ("sum", "exact_sum"):
        raise TypeError(f"treefold does not reduce arrays in GPU memory by {op}: only sum and exact.sum")
    array = described("x", x)
    shape, dtype = array.shape, array.dtype
    if dtype not in _SUMMED:
        raise TypeError(f"x has elements of type {dtype}: {_TYPES}")
    is_exact = op == "exact_sum"
    if axis is None and out is None and keepdims is False and dtype.kind == "f":
        return _native.cuda_sum_all(array.device, array.pointer, size(shape), is_exact, dtype.itemsize)
    axes = reduced_axes(axis, len(shape))
    if axes and axes != tuple(range(axes[0], axes[-1] + 1)):
        raise ValueError(f"axis: {axes} are not neighbours, which an array in GPU memory must have; transpose it, and make it contiguous")
    first, end = (axes[0], axes[-1] + 1) if axes else (len(shape), len(shape))
    before, length, after = (size(part) for part in (shape[:first], shape[first:end], shape[end:]))
    kept = shape[:first] + shape[end:]
    # The parts of a complex number are two columns.
    parts = 2 if dtype.kind == "c" else 1
    if is_exact and after * parts > 1:
        raise TypeError("exact.sum takes floats in GPU memory along the last axes only: copy the array to the host")
    result = np.empty((before, after), dtype)
    flat = result.view(np.dtype(f"f{dtype.itemsize // parts}"))
    _native.cuda_sum(array.device, array.pointer, (before, length, after * parts), is_exact, flat)
    return finished(result.reshape(kept), shape, axes, out, keepdims)


def described(name: str, given: Any) -> "OnDevice":
    """Where an argument of this name is that is an array in the memory of a GPU."""
    return _of_dlpack(name, given) if hasattr(given, "__dlpack__") else _of_interface(name, given)


class OnDevice:
    """Where an array is. It holds what keeps the memory."""

    def __init__(self, name, given, owner, device, pointer, shape, strides, dtype):
        self.given = given
        self.owner = owner
        self.device = device
        self.pointer = pointer
        self.shape = tuple(shape)
        self.size = size(self.shape)
        self.dtype = dtype
        if not _is_contiguous(self.shape, strides):
            raise ValueError(
                f"{name} is not contiguous in GPU memory, in C order: make it so first, as by {name}.contiguous() or cupy.ascontiguousarray({name})"
            )


def _is_contiguous(shape, strides):
    """Whether strides, in elements, are those of C order."""
    if strides is None or size(shape) == 0:
        return True
    expected = 1
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length != 1 and stride != expected:
            return False
        expected *= length
    return True


def _of_dlpack(name, given):
    """By `__dlpack__`: the owner makes the default stream wait until the array is there."""
    capsule = given.__dlpack__(stream=_DEFAULT_STREAM)
    device, pointer, shape, strides, (code, bits, lanes) = _native.dlpack(capsule)
    dtype = _DTYPES.get((code, bits))
    if lanes != 1 or dtype is None:
        raise TypeError(f"{name} has elements of DLPack's type {code}, of {bits} bits: {_TYPES}")
    return OnDevice(name, given, capsule, device, pointer, shape, strides, dtype)


def _of_interface(name, given):
    """By `__cuda_array_interface__`."""
    interface = given.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise TypeError(f"{name} has a mask, whose items would count")
    dtype = np.dtype(interface["typestr"])
    strides = interface.get("strides")
    if strides is not None:
        strides = [stride // dtype.itemsize for stride in strides]
    pointer = interface["data"][0] or 0
    # No memory has no device.
    device = _native.cuda_device_of(pointer, interface.get("stream")) if pointer else 0
    return OnDevice(name, given, interface, device, pointer, interface["shape"], strides, dtype)
