"""Converts arrays of items and keys, and output arrays, for the C library."""

from math import prod
from typing import Any

import numpy as np

from .._arrays import as_unmasked
from .._cuda import OnDevice, described, is_on_device
from .. import _native
from ._load import ffi

#: An array argument of a plan, in host memory or in GPU memory.
Array = np.ndarray | OnDevice


def taken(name: str, given: Any, dtype: np.dtype[Any]) -> Array:
    """The items as an array of type `dtype` in C order. Items in GPU memory stay there."""
    if type(given) is not np.ndarray:
        if is_on_device(given):
            return _on_device(name, given, dtype)
        items = as_unmasked(given, name)
    else:
        items = given
    flags = items.flags
    if items.dtype == dtype and flags.c_contiguous and flags.aligned:
        return items
    return converted(name, given, items, dtype)


def _on_device(name: str, given: Any, dtype: np.dtype[Any]) -> OnDevice:
    array = described(name, given)
    if array.dtype != dtype:
        raise TypeError(f"{name} has elements of type {array.dtype}, but the plan's have type {dtype}: arrays in GPU memory are not converted")
    if array.pointer:
        # A plan looks for the GPU's driver only in its first call. This call makes it look again.
        _native.cuda_device_of(array.pointer, None)
    return array


def converted(name: str, given: Any, items: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """The same items as a contiguous array of type `dtype`, if that type represents all of them."""
    are_integers, may_be_integers = items.dtype.kind in "iu", dtype.kind in "iu"
    # NumPy considers a cast safe even if it rounds large integers.
    rounds = are_integers and dtype.kind in "fc"
    if np.can_cast(items.dtype, dtype, "safe") and not rounds:
        return np.require(items, dtype, ["C", "A"])
    # The type of an array was chosen by the caller and is not narrowed; the type of a list is NumPy's guess.
    is_guessed = not hasattr(given, "dtype")
    if is_guessed and not items.size:
        return items.astype(dtype)
    is_same_kind = are_integers and may_be_integers or np.can_cast(items.dtype, dtype, "same_kind")
    if not (is_guessed or rounds) or not is_same_kind:
        raise TypeError(f"{name} has elements of type {items.dtype}, which are not converted to {dtype}")
    with np.errstate(all="ignore"):
        result = np.require(items, dtype, ["C", "A"])
        back = result.real.astype(items.dtype) if rounds else result.astype(items.dtype)
    # Negative integers have the same bits as large unsigned integers, so their signs are compared, too.
    is_lossless = (back == items) | (items != items) if not may_be_integers else (back == items) & ((result < 0) == (items < 0))
    if not is_lossless.all():
        raise ValueError(f"{name} has elements that {dtype} cannot represent")
    return result


def with_keys(keys: Any, columns: tuple[Any, ...], dtype: np.dtype[Any], key_dtype: np.dtype[Any] | None = None) -> tuple[Array, ...]:
    """Keys, of type `key_dtype` if it is given, and columns of items."""
    for name, array in zip(("keys", "x", "y"), (keys, *columns)):
        check_host(name, array)
    found = as_unmasked(keys, "keys")
    if not (found.size or hasattr(keys, "dtype")):
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise TypeError(f"keys must be integers, not {found.dtype}")
    found = converted("keys", keys, found, key_dtype or found.dtype.newbyteorder("="))
    return found, *(taken(name, column, dtype) for name, column in zip("xy", columns))


def check_host(name: str, array: Any) -> None:
    """Raises an error if an array is in GPU memory."""
    if is_on_device(array):
        raise TypeError(f"{name} is in GPU memory, but plans by key need arrays in host memory")


def place_of(name: str, out: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Checks the output array that a caller passed, and returns it."""
    place: Any
    if is_on_device(out):
        place = _on_device(name, out, dtype)
        interface = getattr(out, "__cuda_array_interface__", None)
        is_contiguous, is_writeable = True, interface is None or not interface["data"][1]
    elif isinstance(out, np.ndarray):
        place = out
        is_contiguous, is_writeable = out.flags.c_contiguous and out.flags.aligned, out.flags.writeable
    else:
        raise TypeError(f"{name} must be an array, not a {type(out).__name__}")
    if place.dtype != dtype:
        raise TypeError(f"{name} must have the plan's type, {dtype}, not {place.dtype}")
    if place.size != prod(shape):
        raise ValueError(f"{name} has shape {place.shape}, but the result has {shape}")
    if not is_contiguous:
        raise ValueError(f"{name} is not contiguous in C order")
    if not is_writeable:
        raise ValueError(f"{name} is read-only")
    return place


def pointer(array: Array) -> Any:
    """A pointer to an array. The array must outlive the pointer."""
    return ffi.cast("void *", array.pointer) if isinstance(array, OnDevice) else ffi.from_buffer(array)


def buffers(*arrays: Array) -> list[Any]:
    """The pointer and length of each array."""
    passed: list[Any] = []
    for array in arrays:
        passed += pointer(array), array.size
    return passed


def may_overlap(one: Array, other: Array) -> bool:
    """Whether two arrays may have memory in common."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    (begin, end), (first, last) = ((array.pointer, array.pointer + array.size * array.dtype.itemsize) for array in (one, other))
    return bool(begin < last and first < end)


def given_back(result: Array, out: Array | None) -> Any:
    """The return value of a call: the caller's output array, or else a NumPy array or scalar."""
    if isinstance(result, OnDevice):
        return result.given
    return result[()] if out is None else result
