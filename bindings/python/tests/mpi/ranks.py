"""The ranks that pytest was started on."""

from mpi4py import MPI

from definition import bits

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size


def is_on(root, found, expected):
    """Whether the root alone has a result, with the expected bits."""
    return bits(found) == bits(expected) if RANK == root else found is None
