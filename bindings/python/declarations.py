"""Generates `treefold/mpi/_declarations.py` from the C headers, so that Python calls the functions that the headers declare. To run it,
call `python declarations.py`. It needs cffi."""

import pathlib
import re

import cffi

PACKAGE = pathlib.Path(__file__).resolve().parent
MADE = PACKAGE / "treefold/mpi/_declarations.py"
BINDINGS = PACKAGE.parent

# The second header includes the first.
HEADERS = [BINDINGS / "c/include/treefold.h", BINDINGS / "c-mpi/include/treefold_mpi.h"]

# This function would start a second pool of threads, besides that of the Python package.
THREADS = re.compile("treefold_status treefold_threads[^;]*;")

# The address of this function identifies the MPI library. It is not called.
OF_MPI = "void MPI_Comm_size(void);"


def declarations(header):
    """The part of a header that cffi can parse: no directives, nothing for C++, and no function with a body."""
    lines = iter(header.splitlines())
    for line in lines:
        if line == "#ifdef __cplusplus":
            last = "#endif"
        elif line.startswith("static inline"):
            last = "}"
        elif line.startswith("#"):
            while line.endswith("\\"):
                line = next(lines)
            continue
        else:
            yield line
            continue
        while next(lines) != last:
            pass


def make(place):
    """Writes the module to a file."""
    ffi = cffi.FFI()
    for header in HEADERS:
        text = "\n".join(declarations(header.read_text()))
        ffi.cdef(THREADS.sub("", text))
    ffi.cdef(OF_MPI)
    ffi.set_source("treefold.mpi._declarations", None)
    ffi.emit_python_code(str(place))


if __name__ == "__main__":
    make(MADE)
