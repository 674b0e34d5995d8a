"""Creates the C library's communicators, and sets their properties."""

from itertools import count, takewhile
from typing import Any

from mpi4py import MPI

from ._errors import check, error_of
from ._handles import Handle
from ._load import COMM_BYTES, FAMILY, ffi, function, lib
from ._signals import interrupted

#: The names of all algorithms. The choice changes no bit.
ALGORITHMS: tuple[str, ...] = tuple(ffi.string(name).decode() for name in takewhile(bool, map(lib.treefold_algorithm_name, count())))

# The key of the attribute in which a communicator keeps its duplicate, which all its plans share. The key is created when first needed.
_key: int | None = None


def world_of(comm: MPI.Intracomm) -> Any:
    """The duplicate of a communicator. Its creation is collective."""
    global _key
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm must be a communicator of mpi4py, not a {type(comm).__name__}")
    if not MPI.Is_initialized() or MPI.Is_finalized():
        raise error_of("MPI", "MPI is finalised" if MPI.Is_finalized() else "MPI is not initialised")
    if comm == MPI.COMM_NULL:
        raise ValueError("comm is MPI.COMM_NULL")
    if _key is None:
        _key = MPI.Comm.Create_keyval(delete_fn=_free)
    world: Any = comm.Get_attr(_key)
    if world is None:
        world = Handle("treefold_comm **", interrupted)
        handle = ffi.cast("void *", MPI._addressof(comm))
        check(lib.treefold_comm_duplicate_checked(handle, COMM_BYTES, FAMILY, function, world.place), "comm")
        check(lib.treefold_comm_interruption(world.place[0], interrupted, ffi.NULL), "comm")
        comm.Set_attr(_key, world)
    return world.place[0]


def _free(_comm: MPI.Comm, _key: int, world: Handle) -> None:
    """MPI calls this function when the ranks free a communicator together."""
    lib.treefold_comm_free(world.place)


def library() -> str:
    """Describes in one line which MPI library treefold calls, and why.

    Returns
    -------
    str
        The library's path and version, and why treefold calls it.

    Examples
    --------
    >>> from treefold import mpi
    >>> mpi.library().endswith("the program's communicators belong to it")
    True
    """
    text = ffi.new("const char **")
    check(lib.treefold_mpi_library(text), "library")
    return str(ffi.string(text[0]).decode(errors="replace"))


def set_silence_limit(comm: MPI.Intracomm, seconds: float) -> None:
    """Sets how long a wait tolerates another rank's silence.

    After this time, the wait raises an `Error`. Collective if the communicator
    has no plan yet.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The ranks. The limit applies only to waits of this rank.
    seconds : float
        At least 0. By default the limit is 1800 seconds.

    Raises
    ------
    ValueError
        `seconds` is negative or NaN.
    """
    check(lib.treefold_comm_silence_limit(world_of(comm), seconds), "seconds")


def measure_link(comm: MPI.Intracomm) -> None:
    """Measures what messages cost within nodes and between them.

    Plans that are built later use the measured cost to choose their
    algorithm. Measuring takes a few milliseconds, or about ten message
    latencies. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The ranks.
    """
    check(lib.treefold_comm_measure_link(world_of(comm)), "measure_link")
