"""Reductions over MPI's ranks: package `treefold-mpi`, which is built for an MPI library. `help(treefold_mpi)` has the whole of it."""

try:
    from treefold_mpi import *  # noqa: F403
    from treefold_mpi import __all__  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "treefold_mpi":
        raise
    raise ImportError("treefold.mpi is in a package of its own, built for your MPI library: pip install treefold-mpi") from None
