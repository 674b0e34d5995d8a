"""The MPI library that is called is the one that mpi4py has loaded."""

import ctypes
import re
import subprocess
import sys

import pytest
from mpi4py import MPI

import treefold.mpi
from treefold import _native
from treefold.mpi import _load

WORLD = MPI._handleof(MPI.COMM_WORLD)
MPI_COMM_SIZE = int(_load.ffi.cast("uintptr_t", _load.function))


def test_the_library_is_mpi4pys():
    told = treefold.mpi.library()
    assert "\n" not in told
    path, version = re.fullmatch(r"(/.+) \((.+)\): the program's communicators belong to it", told).groups()
    assert " ".join(MPI.Get_library_version().split()).startswith(" ".join(version.split()))
    opened = ctypes.CDLL(path)
    assert ctypes.cast(opened.MPI_Comm_size, ctypes.c_void_p).value == MPI_COMM_SIZE


@pytest.mark.parametrize(("world", "comm_bytes"), [(WORLD + 1, _load.COMM_BYTES), (WORLD, 12 - _load.COMM_BYTES)])
def test_another_libraries_mpi4py_is_refused(world, comm_bytes):
    with pytest.raises(ImportError, match=f"MPI_COMM_WORLD is {world:#x} in {comm_bytes} bytes, but /") as raised:
        _native.choose_mpi(MPI_COMM_SIZE, world, comm_bytes)
    assert "\n" not in str(raised.value)


IMPORTED = """
import sys
sys.modules[{name!r}] = {module}
try:
    import treefold.mpi
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "module", "told"),
    [("mpi4py", "None", "pip install mpi4py"), ("mpi4py.MPI", "type(sys)('mpi4py.MPI')", "pip install --upgrade mpi4py")],
)
def test_mpi4py_that_is_missing_or_old(name, module, told):
    program = IMPORTED.format(name=name, module=module)
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert said.count("\n") == 1
    assert told in said
