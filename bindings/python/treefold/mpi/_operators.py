"""Operators and types, as the C library takes them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._load import ffi, lib

_TYPES = {
    "f4": lib.TREEFOLD_F32,
    "f8": lib.TREEFOLD_F64,
    "c8": lib.TREEFOLD_C32,
    "c16": lib.TREEFOLD_C64,
    "i1": lib.TREEFOLD_I8,
    "i2": lib.TREEFOLD_I16,
    "i4": lib.TREEFOLD_I32,
    "i8": lib.TREEFOLD_I64,
    "u1": lib.TREEFOLD_U8,
    "u2": lib.TREEFOLD_U16,
    "u4": lib.TREEFOLD_U32,
    "u8": lib.TREEFOLD_U64,
}
_OPERATORS = {
    "sum": lib.TREEFOLD_SUM,
    "prod": lib.TREEFOLD_PRODUCT,
    "min": lib.TREEFOLD_MIN,
    "max": lib.TREEFOLD_MAX,
}
STATISTICS = {
    "exact_sum": lib.TREEFOLD_EXACT_SUM,
    "exact_norm": lib.TREEFOLD_EXACT_NORM,
    "exact_dot": lib.TREEFOLD_EXACT_DOT,
    "exact_vdot": lib.TREEFOLD_EXACT_VDOT,
}
_NAMED = _OPERATORS | STATISTICS


def type_code(dtype: np.dtype[Any]) -> int:
    """The C library's number of a type of elements."""
    code = _TYPES.get(f"{dtype.kind}{dtype.itemsize}")
    if code is None or not dtype.isnative:
        raise TypeError(f"dtype: there are no reductions of {dtype} by a named operator")
    return code


def operator_code(name: str) -> int:
    """The C library's number of an operator, or of an exact statistic."""
    if name not in _NAMED:
        raise ValueError(f"op: {name!r} is none of {', '.join(_NAMED)}")
    return _NAMED[name]


def name_of(op: Any, dtype: np.dtype[Any]) -> str:
    """By which the ranks compare their operators and the types of their items."""
    function = getattr(op, "__wrapped__", op)
    name = getattr(function, "__qualname__", None) or getattr(op, "native_name", None) or type(op).__qualname__
    return f"{getattr(function, '__module__', None)}.{name} of {dtype.descr if dtype.fields else dtype.str}"


def is_compiled(op: Any) -> bool:
    """Whether an operator is an address that C can call."""
    return isinstance(getattr(op, "address", None), int)


def combine_of(op: Any, dtype: np.dtype[Any], raised: list[BaseException]) -> Any:
    """A function for C that combines two items, to be kept as long as C may call it. What it raises is added to a list."""
    if is_compiled(op):
        _check_signature(op)
        return ffi.cast("treefold_combine", op.address)
    if not callable(op):
        raise TypeError(f"op is neither a name, nor a function of two items, nor a numba.cfunc: {op!r}")

    def keep(_class: object, error: BaseException, _traceback: object) -> None:
        raised.append(error)

    return ffi.callback("treefold_combine", _calls(op, dtype), error=1, onerror=keep)


def _check_signature(op: Any) -> None:
    """Checks that of a `numba.cfunc`; other objects with an address do not tell theirs."""
    signature = getattr(op, "_sig", None)
    if signature is None:
        return
    are_pointers = [str(argument).endswith("*") for argument in signature.args]
    if str(signature.return_type) != "int32" or are_pointers != [True] * 4:
        raise TypeError(f"op has the signature {signature}, and not that of treefold_combine: four pointers that give an intc")


def _calls(op: Callable[[Any, Any], Any], dtype: np.dtype[Any]) -> Callable[[Any, Any, Any, Any], int]:
    size = dtype.itemsize

    def item(place: Any) -> Any:
        return np.frombuffer(ffi.buffer(place, size), dtype)

    def combine(_context: Any, left: Any, right: Any, out: Any) -> int:
        # Copies: the operator may keep them.
        value = op(item(left).copy()[0], item(right).copy()[0])
        if value is None:
            raise TypeError("the operator returned None")
        if dtype.kind in "iu" and np.asarray(value).dtype.kind not in "iub":
            raise TypeError(f"the operator returned {value!r}, and items are of type {dtype}")
        item(out)[0] = value
        return 0

    return combine
