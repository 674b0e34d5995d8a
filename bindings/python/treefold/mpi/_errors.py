"""The C library's errors as exceptions."""

from typing import Any

from . import _signals
from ._load import ffi, lib

OK: int = lib.TREEFOLD_OK
TIMED_OUT: int = lib.TREEFOLD_TIMED_OUT
OPERATOR: int = lib.TREEFOLD_OPERATOR
_INTERRUPTED: int = lib.TREEFOLD_INTERRUPTED


class Error(Exception):
    """A reduction that failed.

    Errors that have a name in Python are of that class as well: `ValueError` for arguments, lengths, ranks that disagree, and the
    reduction of nothing by an operator without a value for it; `TypeError` for what is not defined for a type; `FloatingPointError`
    where the processor flushes subnormal numbers or does not round to nearest; `TimeoutError`; `MemoryError`.

    Attributes
    ----------
    status : str
        The name of the error in `treefold.h`, without its prefix: "RANK_FAILED" where another rank failed, "SPENT" if an earlier run
        of the plan failed, "MISMATCHED" if the ranks make different calls, "OPERATOR" where the operator of another plan failed, whose
        run this call drove.
    rank : int or None
        The rank that it is about.
    """

    status = "UNKNOWN"
    rank: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return error_of, (self.status, str(self), self.rank)


_BASES: dict[str, type] = {
    "NULL": ValueError,
    "ARGUMENT": ValueError,
    "LENGTH": ValueError,
    "DISAGREE": ValueError,
    "EMPTY": ValueError,
    "ENVIRONMENT": FloatingPointError,
    "UNSUPPORTED": TypeError,
    "TIMED_OUT": TimeoutError,
    "MEMORY": MemoryError,
}
_classes: dict[str, type[Error]] = {}


def error_of(status: str, message: str, rank: int | None = None) -> Error:
    """An error by the name of its status."""
    if status not in _classes:
        bases = (Error, *([_BASES[status]] if status in _BASES else []))
        _classes[status] = type("Error", bases, {"status": status, "__module__": "treefold.mpi", "__doc__": Error.__doc__})
    error = _classes[status](message)
    error.rank = rank
    return error


def check(status: int) -> None:
    """Raises the error of a call of this thread's."""
    if status == OK:
        return
    if status == _INTERRUPTED:
        _signals.raise_what_interrupted()
    name = ffi.string(lib.treefold_status_name(status)).decode().removeprefix("TREEFOLD_")
    rank = lib.treefold_last_error_rank()
    raise error_of(name, ffi.string(lib.treefold_last_error()).decode(), None if rank < 0 else rank)
