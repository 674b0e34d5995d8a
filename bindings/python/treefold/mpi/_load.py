"""Loads the C library's functions, and makes them call the MPI library that mpi4py has loaded."""

import sys
from typing import Any

from .. import _native
from . import _declarations

try:
    # This loads the MPI library.
    from mpi4py import MPI
except ModuleNotFoundError as error:
    if error.name != "mpi4py":
        raise
    raise ImportError("treefold.mpi reduces over communicators of mpi4py, which is not installed: pip install mpi4py") from None

if not hasattr(_native, "choose_mpi"):
    raise ImportError(f"treefold.mpi runs only on Linux on x86-64 and AArch64, but this treefold was built for {sys.platform}")
if not hasattr(MPI, "_handleof"):
    raise ImportError("treefold.mpi needs mpi4py 4 or later: pip install --upgrade mpi4py")

ffi: Any = _declarations.ffi

# Python has already loaded this library.
lib: Any = ffi.dlopen(_native.__file__)

# The address of mpi4py's own MPI_Comm_size, which identifies the MPI library of its communicators.
function: Any = ffi.dlopen(MPI.__file__).MPI_Comm_size

#: The size of a communicator's handle, in bytes.
COMM_BYTES: int = MPI._sizeof(MPI.Comm)

#: The family of the MPI library, as `treefold_mpi.h` names it.
FAMILY: bytes = _native.choose_mpi(int(ffi.cast("uintptr_t", function)), MPI._handleof(MPI.COMM_WORLD), COMM_BYTES).encode()
