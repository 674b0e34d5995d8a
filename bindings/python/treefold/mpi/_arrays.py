"""Arrays of a plan's type from what callers pass."""

from typing import Any

import numpy as np

from .. import _cuda, _native

#: Where an argument of a plan is.
Array = np.ndarray | _cuda.OnDevice


def on_device(name: str, given: Any, dtype: np.dtype[Any]) -> _cuda.OnDevice:
    """An array of a type in the memory of a GPU. It is not converted."""
    array = _cuda.described(name, given)
    if array.dtype != dtype:
        raise TypeError(f"{name} has elements of type {array.dtype} in GPU memory, which are not converted: the plan's are of type {dtype}")
    if array.pointer:
        # The C library looks for the driver in a plan's first call alone; this tells it.
        _native.cuda_device_of(array.pointer, None)
    return array


def is_read_only(given: Any) -> bool:
    """Whether an array in the memory of a GPU says that it is not to be written to."""
    interface = getattr(given, "__cuda_array_interface__", None)
    return interface is not None and bool(interface["data"][1])


def may_overlap(one: Array, other: Array) -> bool:
    """Whether two arrays may have memory in common."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    (begin, end), (first, last) = ((array.pointer, array.pointer + array.size * array.dtype.itemsize) for array in (one, other))
    return bool(begin < last and first < end)


def converted(name: str, given: Any, items: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """The same items as a contiguous array of a type, if that type has all of them."""
    # NumPy calls it safe to round large integers.
    rounds = items.dtype.kind in "iu" and dtype.kind in "fc"
    if np.can_cast(items.dtype, dtype, "safe") and not rounds:
        return np.require(items, dtype, ["C", "A"])
    # A type that somebody chose is not narrowed; that of a list is NumPy's guess.
    is_guessed = not hasattr(given, "dtype")
    if is_guessed and not items.size:
        return items.astype(dtype)
    if not (is_guessed or rounds) or not np.can_cast(items.dtype, dtype, "same_kind"):
        raise TypeError(f"{name} has elements of type {items.dtype}, which are not converted to {dtype}")
    with np.errstate(all="ignore"):
        result = np.require(items, dtype, ["C", "A"])
        back = result.real.astype(items.dtype) if rounds else result.astype(items.dtype)
    if not ((back == items) | (items != items)).all():
        raise ValueError(f"{name} has elements that are no {dtype}")
    return result


def one_item(name: str, given: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """One item as its bytes; bytes that no field and no number uses are zero."""
    item = np.zeros(1, dtype)
    if dtype.fields is None and dtype.kind in "iufc":
        value = np.asarray(given)
        if value.shape != ():
            raise ValueError(f"{name} is an array of shape {value.shape}, and not one item")
        item[0] = converted(name, given if hasattr(given, "dtype") else None, value, dtype)[()]
    else:
        try:
            item[0] = given
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{name}: {error}") from None
    data = item.view(np.uint8)
    if dtype.type in (np.longdouble, np.clongdouble) and np.finfo(np.longdouble).nmant == 63:
        # x86's numbers of 80 bits.
        data.reshape(-1, np.dtype(np.longdouble).itemsize)[:, 10:] = 0
    return data
