"""The ranks of a communicator."""

from typing import Any

from mpi4py import MPI

from ._errors import check, made
from ._load import ffi, lib

#: The names of all algorithms. None changes a bit.
ALGORITHMS: tuple[str, ...] = tuple(
    ffi.string(lib.treefold_algorithm_name(index)).decode() for index in range(lib.treefold_algorithm_count())
)

# A communicator keeps its duplicate, so that all its plans share one.
_KEY = MPI.Comm.Create_keyval()


def world_of(comm: MPI.Intracomm) -> Any:
    """The duplicate of a communicator. Collective when it is made."""
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm is a {type(comm).__name__}, and not a communicator of mpi4py")
    if comm == MPI.COMM_NULL:
        raise ValueError("comm is MPI.COMM_NULL")
    world = comm.Get_attr(_KEY)
    if world is None:
        duplicate = lib.treefold_comm_duplicate_f
        world = ffi.gc(made(duplicate, "treefold_comm", comm.py2f(), MPI.COMM_WORLD.py2f()), _destroy)
        comm.Set_attr(_KEY, world)
    return world


def _destroy(world: Any) -> None:
    lib.treefold_comm_destroy(ffi.new("treefold_comm **", world))


def set_silence_limit(comm: MPI.Intracomm, seconds: float) -> None:
    """Sets how long a wait tolerates that another rank says nothing; 1800 seconds by default. Then the wait raises an `Error`.

    Collective if the communicator has no plan yet.
    """
    check(lib.treefold_comm_silence_limit(world_of(comm), seconds))


def measure_link(comm: MPI.Intracomm) -> None:
    """Measures what a message costs, in some milliseconds: plans that are built later choose their algorithm by it. Collective."""
    check(lib.treefold_comm_measure_link(world_of(comm)))
