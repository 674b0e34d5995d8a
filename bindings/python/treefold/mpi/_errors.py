"""Raises the C library's errors as exceptions."""

import re
from typing import Any

from . import _signals
from ._load import ffi, lib

OK: int = lib.TREEFOLD_OK
OPERATOR: int = lib.TREEFOLD_OPERATOR

# C's errors begin with the name of a C argument; Python's arguments have other names.
_ARGUMENT_OF_C = re.compile(r"`\w+`: ")


class Error(Exception):
    """A reduction failed.

    If Python has an exception class for the cause, an `Error` is also an
    instance of that class: `ValueError` for wrong arguments or lengths, ranks
    that disagree, and the reduction of no items by an operator that has no
    value for them; `TypeError` for operations that a type does not have;
    `FloatingPointError` if the processor flushes subnormal numbers or does not
    round to nearest; `TimeoutError`; `MemoryError`.

    Attributes
    ----------
    status : str
        The name of the error in `treefold.h`, without the prefix `TREEFOLD_`.
        Examples are "RANK_FAILED" if another rank failed, "SPENT" if an earlier
        run of the plan failed, "MISMATCHED" if the ranks make different calls,
        and "OPERATOR" if the operator of another plan failed during this call.
    rank : int or None
        The rank that failed, if it is known.
    """

    status = "UNKNOWN"
    rank: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return error_of, (self.status, str(self), self.rank)


_BASES: dict[str, type] = {
    **dict.fromkeys(("NULL", "ARGUMENT", "LENGTH", "DISAGREE", "EMPTY"), ValueError),
    "ENVIRONMENT": FloatingPointError,
    "UNSUPPORTED": TypeError,
    "TIMED_OUT": TimeoutError,
    "MEMORY": MemoryError,
}
_classes: dict[str, type[Error]] = {}


def error_of(status: str, message: str, rank: int | None = None) -> Error:
    """The `Error` for the name of a status."""
    if status not in _classes:
        bases = (Error, *([_BASES[status]] if status in _BASES else []))
        _classes[status] = type("Error", bases, {"status": status, "__module__": "treefold.mpi", "__doc__": Error.__doc__})
    error = _classes[status](message)
    error.rank = rank
    return error


def check(status: int, call: str) -> None:
    """Raises the error of a C function, if any. `call` is the name of the Python call or argument that the message begins with."""
    if status == OK:
        return
    if status == lib.TREEFOLD_INTERRUPTED:
        _signals.raise_what_interrupted()
    name = ffi.string(lib.treefold_status_name(status)).decode().removeprefix("TREEFOLD_")
    text = _ARGUMENT_OF_C.sub("", ffi.string(lib.treefold_last_error()).decode(), 1)
    rank = lib.treefold_last_error_rank()
    raise error_of(name, f"{call}: {text}", None if rank < 0 else rank)


def named(call: str, error: BaseException) -> BaseException:
    """Adds the name of the call to the error of an argument; returns other errors unchanged."""
    return type(error)(f"{call}: {error}") if type(error) in (TypeError, ValueError) else error
