"""Converts types, operators and statistics for the C library."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._arrays import converted
from ._load import ffi, lib

_TYPES = {
    **{"f4": lib.TREEFOLD_F32, "f8": lib.TREEFOLD_F64, "c8": lib.TREEFOLD_C32, "c16": lib.TREEFOLD_C64},
    **{"i1": lib.TREEFOLD_I8, "i2": lib.TREEFOLD_I16, "i4": lib.TREEFOLD_I32, "i8": lib.TREEFOLD_I64},
    **{"u1": lib.TREEFOLD_U8, "u2": lib.TREEFOLD_U16, "u4": lib.TREEFOLD_U32, "u8": lib.TREEFOLD_U64},
}


# The operators of a plan by name. `IN_ORDER` has the operators of reductions in tree order; `EXACT` has the exact statistics.
IN_ORDER = {
    "sum": lib.TREEFOLD_SUM,
    "prod": lib.TREEFOLD_PRODUCT,
    "min": lib.TREEFOLD_MIN,
    "max": lib.TREEFOLD_MAX,
}
EXACT = {
    "exact_sum": lib.TREEFOLD_EXACT_SUM,
    "exact_norm": lib.TREEFOLD_EXACT_NORM,
    "exact_dot": lib.TREEFOLD_EXACT_DOT,
    "exact_vdot": lib.TREEFOLD_EXACT_VDOT,
}


# The types that the items of plans by key may have.
FLOATS = ("f4", "f8")


class ByKey(NamedTuple):
    """An `op` of a `KeyedPlan`: its code in C, the number of columns, and whether the result is `Moments`."""

    code: int
    columns: int = 1
    has_moments: bool = False


BY_KEY = {
    "exact_sum": ByKey(lib.TREEFOLD_EXACT_SUM),
    "exact_mean": ByKey(lib.TREEFOLD_EXACT_MEAN),
    "exact_var": ByKey(lib.TREEFOLD_EXACT_VARIANCE, has_moments=True),
    "exact_skewness": ByKey(lib.TREEFOLD_EXACT_SKEWNESS, has_moments=True),
    "exact_cov": ByKey(lib.TREEFOLD_EXACT_COVARIANCE, columns=2, has_moments=True),
}

# The statistics of `Moments`. For each: its code in C, its only parameter (if any), and the parameter's default.
STATISTICS: dict[str, tuple[int, str | None, float]] = {
    "count": (lib.TREEFOLD_EXACT_COUNT, None, 0),
    "sum": (lib.TREEFOLD_EXACT_SUM, None, 0),
    "mean": (lib.TREEFOLD_EXACT_MEAN, None, 0),
    "var": (lib.TREEFOLD_EXACT_VARIANCE, "ddof", 0),
    "std": (lib.TREEFOLD_EXACT_STD, "ddof", 0),
    "skewness": (lib.TREEFOLD_EXACT_SKEWNESS, "bias", True),
    "kurtosis": (lib.TREEFOLD_EXACT_KURTOSIS, "bias", True),
    "cov": (lib.TREEFOLD_EXACT_COVARIANCE, "ddof", 1),
    "corr": (lib.TREEFOLD_EXACT_CORRELATION, None, 0),
    "slope": (lib.TREEFOLD_EXACT_SLOPE, None, 0),
    "intercept": (lib.TREEFOLD_EXACT_INTERCEPT, None, 0),
}


def row_of(table: dict[str, Any], name: Any, argument: str) -> Any:
    """The row of a table for a name. Error messages call the argument that had the name `argument`."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"{argument} must be one of {', '.join(table)}, not {name!r}")
    return table[name]


def type_code(dtype: np.dtype[Any], name: str = "dtype", allowed: Sequence[str] = tuple(_TYPES)) -> int:
    """The C library's code of `dtype`. Error messages call the argument `name`."""
    own = f"{dtype.kind}{dtype.itemsize}"
    if own not in allowed or not dtype.isnative:
        names = ", ".join(str(np.dtype(one)) for one in allowed)
        raise TypeError(f"{name} must be one of {names}, in this machine's byte order, not {dtype}")
    return _TYPES[own]


def name_of(op: Any, dtype: np.dtype[Any]) -> str:
    """The name by which ranks compare their operators and the types of their items."""
    function = getattr(op, "__wrapped__", op)
    name = getattr(function, "__qualname__", None) or getattr(op, "native_name", None) or type(op).__qualname__
    return f"{getattr(function, '__module__', None)}.{name} of {dtype.descr if dtype.fields else dtype.str}"


def is_compiled(op: Any) -> bool:
    """Whether an operator is an address that C can call."""
    return isinstance(getattr(op, "address", None), int)


def combine_of(op: Any, dtype: np.dtype[Any], raised: list[BaseException]) -> Any:
    """A C callback that combines two items by `op`. Callers must keep it as long as C may call it. It appends exceptions to `raised`."""
    if is_compiled(op):
        _check_signature(op)
        return ffi.cast("treefold_combine", op.address)
    if not callable(op):
        raise TypeError(f"op must be a name, a function of two items, or a numba.cfunc, not {op!r}")

    def keep(_class: object, error: BaseException, _traceback: object) -> None:
        raised.append(error)

    return ffi.callback("treefold_combine", _calls(op, dtype), error=1, onerror=keep)


def _check_signature(op: Any) -> None:
    """Checks the signature of a `numba.cfunc`. Other objects with an address do not record a signature."""
    signature = getattr(op, "_sig", None)
    if signature is None:
        return
    are_pointers = [str(argument).endswith("*") for argument in signature.args]
    if str(signature.return_type) != "int32" or are_pointers != [True] * 4:
        raise TypeError(f"op has the signature {signature}, but must take four pointers and return an intc, as treefold_combine does")


def _calls(op: Callable[[Any, Any], Any], dtype: np.dtype[Any]) -> Callable[[Any, Any, Any, Any], int]:
    size = dtype.itemsize

    def item(place: Any) -> Any:
        return np.frombuffer(ffi.buffer(place, size), dtype)

    def combine(_context: Any, left: Any, right: Any, out: Any) -> int:
        # The operator receives copies, because it may keep its arguments.
        value = op(item(left).copy()[0], item(right).copy()[0])
        if value is None:
            raise TypeError("the operator returned None")
        if dtype.kind in "iu" and np.asarray(value).dtype.kind not in "iub":
            raise TypeError(f"the operator returned {value!r}, but items are of type {dtype}")
        item(out)[0] = value
        return 0

    return combine


def one_item(name: str, given: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """The bytes of one item. Padding bytes are zero."""
    item = np.zeros(1, dtype)
    if dtype.fields is None and dtype.kind in "iufc":
        value = np.asarray(given)
        if value.shape != ():
            raise ValueError(f"{name} must be one item, not an array of shape {value.shape}")
        item[0] = converted(name, given, value, dtype)[()]
    else:
        try:
            item[0] = given
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{name}: {error}") from None
    data = item.view(np.uint8)
    if dtype.type in (np.longdouble, np.clongdouble) and np.finfo(np.longdouble).nmant == 63:
        # x86's 80-bit floats use 10 bytes; the remaining bytes are padding.
        data.reshape(-1, np.dtype(np.longdouble).itemsize)[:, 10:] = 0
    return data
