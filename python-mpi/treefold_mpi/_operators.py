"""Operators and types, as the C library takes them."""

import threading
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

# What an operator in Python has raised, until the call that ran it has returned to Python.
_raised = threading.local()


def type_code(dtype: np.dtype[Any]) -> int:
    """The C library's number of a type of elements."""
    code = _TYPES.get(f"{dtype.kind}{dtype.itemsize}")
    if code is None or not dtype.isnative:
        raise TypeError(f"dtype: there are no reductions of {dtype} by a named operator")
    return code


def operator_code(name: str) -> int:
    """The C library's number of an operator."""
    if name not in _OPERATORS:
        raise ValueError(f"op: {name!r} is none of {', '.join(_OPERATORS)}")
    return _OPERATORS[name]


def name_of(op: Any) -> str:
    """By which the ranks compare their operators."""
    function = getattr(op, "__wrapped__", op)
    name = getattr(function, "__qualname__", None) or getattr(op, "native_name", None) or type(op).__qualname__
    return f"{getattr(function, '__module__', None)}.{name}"


def combine_of(op: Any, dtype: np.dtype[Any]) -> Any:
    """A function for C that combines two items. It must be kept while C may call it."""
    address = getattr(op, "address", None)
    if isinstance(address, int):
        return ffi.cast("treefold_combine", address)
    if not callable(op):
        raise TypeError(f"op is neither a name, nor a function of two items, nor a numba.cfunc: {op!r}")
    return ffi.callback("treefold_combine", _calls(op, dtype), error=1)


def _calls(op: Callable[[Any, Any], Any], dtype: np.dtype[Any]) -> Callable[[Any, Any, Any, Any], int]:
    def item(place: Any) -> Any:
        return np.frombuffer(ffi.buffer(place, dtype.itemsize), dtype)

    def combine(_context: Any, left: Any, right: Any, out: Any) -> int:
        try:
            # Copies: the operator may keep them.
            item(out)[0] = op(item(left).copy()[0], item(right).copy()[0])
        except BaseException as error:
            _raised.error = error
            return 1
        return 0

    return combine


def raise_operators_error() -> None:
    """Raises what an operator has raised since this was last called, if it has."""
    raised = getattr(_raised, "error", None)
    if raised is not None:
        _raised.error = None
        raise raised
