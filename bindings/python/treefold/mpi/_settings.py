"""Passes the settings of plans to C's builders."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import index
from typing import Any

from mpi4py import MPI

from ._errors import OK, check
from ._handles import Handle, end_what_is_left
from ._load import ffi, lib
from ._runs import AnyPlan
from ._world import world_of


@contextmanager
def described(plan: AnyPlan, comm: MPI.Intracomm) -> Iterator[Any]:
    """Yields the communicator while this rank describes a plan. If that fails, all ranks get an error instead of the plan."""
    if hasattr(plan, "_plan"):
        raise TypeError("this plan has already been built")
    end_what_is_left()
    world = world_of(comm)
    try:
        yield world
    except BaseException:
        # A plan without a distribution of items cannot be built, so the other ranks get an error that names this rank.
        builder, result = Handle("treefold_builder **"), Handle("treefold_plan **")
        if lib.treefold_builder_create(world, lib.TREEFOLD_F64, lib.TREEFOLD_SUM, builder.place) == OK:
            lib.treefold_plan_build(builder.place[0], result.place)
        raise


def natural(name: str, number: Any, end: int = 1 << 64) -> int:
    """An argument as an int from 0 to `end` - 1."""
    try:
        number = index(number)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {number!r}") from None
    if not 0 <= number < end:
        raise ValueError(f"{name} must be from 0 to {end - 1}, not {number}")
    return number


def _pair(name: str, pair: Any) -> tuple[int, int]:
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {pair!r} is not a pair of integers") from None
    return natural(name, first), natural(name, second)


def _ranges(name: str, pairs: Any) -> tuple[Any, int]:
    try:
        pairs = list(pairs)
    except TypeError:
        raise TypeError(f"{name}: {pairs!r} is not a sequence of pairs") from None
    return ffi.new("treefold_range[]", [_pair(name, pair) for pair in pairs]), len(pairs)


def _text(name: str, text: Any) -> tuple[bytes]:
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a string, not {text!r}")
    if "\0" in text:
        raise ValueError(f"{name}: {text!r} contains a zero byte")
    return (text.encode(),)


# Functions that convert settings other than natural numbers to C arguments.
_ARGUMENTS: dict[str, Callable[[str, Any], tuple[Any, ...]]] = {"extents": _ranges, "block_cyclic": _pair, "algorithm": _text}

# Settings that are parameters of algorithms in C.
_PARAMETERS = {
    "blocks": lib.TREEFOLD_BLOCKS,
    "ports": lib.TREEFOLD_PORTS,
    "node_ranks": lib.TREEFOLD_NODE_RANKS,
    "message_limit": lib.TREEFOLD_MESSAGE_LIMIT,
}


def set_all(builder: Handle, settings: dict[str, Any]) -> None:
    """Passes all settings that are not None to a builder."""
    for name, value in settings.items():
        if value is None:
            continue
        arguments = _ARGUMENTS[name](name, value) if name in _ARGUMENTS else (natural(name, value),)
        if name in _PARAMETERS:
            status = lib.treefold_builder_parameter(builder.place[0], _PARAMETERS[name], *arguments)
        else:
            status = getattr(lib, f"treefold_builder_{name}")(builder.place[0], *arguments)
        check(status, name)
