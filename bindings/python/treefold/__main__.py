"""Implements `python -m treefold`, which prints the installed versions and the settings in effect."""

import argparse
import importlib.util
import os
import platform

import numpy as np

from . import __version__, _native, threads


def _mpi():
    """Describes the MPI library that `treefold.mpi` would call, without initialising MPI."""
    if importlib.util.find_spec("mpi4py") is None:
        return "none: mpi4py is not installed"
    try:
        import mpi4py

        mpi4py.rc.initialize = mpi4py.rc.finalize = False
        from mpi4py import MPI

        from .mpi import _load

        version = MPI.Get_library_version().splitlines()[0].split(",")[0].strip()
    except (ImportError, RuntimeError) as error:
        return f"none: {' '.join(str(error).split())}"
    return f"{version} ({_load.FAMILY.decode()}), by mpi4py {mpi4py.__version__}"


def main():
    """Prints a report of four lines."""
    described = "Prints the versions of treefold, Python and NumPy; the instruction set and number of threads that sums use; and the MPI library."
    parser = argparse.ArgumentParser(prog="python -m treefold", description=described)
    parser.add_argument("--version", action="version", version=f"treefold {__version__}")
    parser.parse_args()
    source = "TREEFOLD_THREADS" if os.environ.get("TREEFOLD_THREADS") else "by default"
    print(f"treefold {__version__}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"instructions: {_native.level()}")
    print(f"threads: {threads()}, {source}; the machine has {os.cpu_count()}")
    print(f"MPI library: {_mpi()}")


if __name__ == "__main__":
    main()
