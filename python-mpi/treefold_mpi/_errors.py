"""The C library's errors as exceptions."""

from typing import Any

from ._load import ffi, lib

OK: int = lib.TREEFOLD_OK
TIMED_OUT: int = lib.TREEFOLD_TIMED_OUT
OPERATOR: int = lib.TREEFOLD_OPERATOR


class Error(Exception):
    """A reduction that failed.

    Errors that have a name in Python are of that class as well: `ValueError` for arguments, lengths, ranks that disagree, and the
    reduction of nothing by an operator without a value for it; `TypeError` for what is not defined for a type; `FloatingPointError`
    where the processor flushes subnormal numbers or does not round to nearest; `TimeoutError`; `MemoryError`.

    Attributes
    ----------
    status : str
        The name of the error in `treefold.h`, without its prefix: "RANK_FAILED" where another rank failed, "SPENT" if an earlier run
        of the plan failed, "MISMATCHED" if the ranks make different calls.
    rank : int or None
        The rank that it is about.
    """

    status = "UNKNOWN"
    rank: int | None = None


def _class(status: str, *bases: type) -> type[Error]:
    return type("Error", (Error, *bases), {"status": status, "__module__": "treefold_mpi", "__doc__": Error.__doc__})


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
_classes: dict[int, type[Error]] = {}


def error(status: int) -> Error:
    """What a call of this thread's that returned `status` is raised as."""
    if status not in _classes:
        name = ffi.string(lib.treefold_status_name(status)).decode().removeprefix("TREEFOLD_")
        _classes[status] = _class(name, *([_BASES[name]] if name in _BASES else []))
    raised = _classes[status](ffi.string(lib.treefold_last_error()).decode())
    rank = lib.treefold_last_error_rank()
    raised.rank = None if rank < 0 else rank
    return raised


def check(status: int) -> None:
    """Raises a call's error."""
    if status != OK:
        raise error(status)


def made(create: Any, kind: str, *arguments: Any) -> Any:
    """The handle that a call leaves in its last argument."""
    place = ffi.new(f"{kind} **")
    check(create(*arguments, place))
    return place[0]
