"""The native library, if it calls the MPI library that mpi4py calls."""

import ctypes
from typing import Any

# First: it loads the MPI library, and the native library takes the one that is there.
from mpi4py import MPI


class _Symbol(ctypes.Structure):
    """What dladdr(3) tells of an address."""

    _fields_ = [
        ("path", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _mpi_library(caller: str) -> tuple[int | None, str]:
    """Where in memory the MPI library is that a shared library calls, and its path; None if that cannot be told."""
    try:
        function = ctypes.CDLL(caller).MPI_Get_library_version
        symbol = _Symbol()
        found = ctypes.CDLL(None).dladdr(function, ctypes.byref(symbol))
    except (AttributeError, OSError):
        return None, "an unknown MPI library"
    if not found:
        return None, "an unknown MPI library"
    return symbol.base, (symbol.path or b"?").decode(errors="replace")


def _load() -> tuple[Any, Any]:
    where, theirs = _mpi_library(MPI.__file__)
    rebuild = "build it for that one: MPICC=... pip install --no-binary=treefold-mpi --force-reinstall treefold-mpi"
    try:
        from . import _native  # type: ignore[attr-defined]
    except OSError as error:
        raise ImportError(f"treefold_mpi was built for another MPI library than mpi4py uses ({theirs}): {error}; {rebuild}") from None
    own_where, ours = _mpi_library(_native.__path__[0] + "/lib_native.so")
    if None not in (where, own_where) and where != own_where:
        raise ImportError(f"treefold_mpi calls {ours}, but mpi4py calls {theirs}; {rebuild}")
    return _native.ffi, _native.lib


ffi, lib = _load()
