"""Reductions copy no whole array: the process grows by less than a block of scratch memory, for all types and layouts."""

import subprocess
import sys

import pytest

# Reads the kernel's record of the peak resident memory, which a process can reset.
MEASURE = """
import sys, warnings
import numpy as np, treefold
from treefold import exact

warnings.simplefilter("ignore")
COUNT = 1_440_000

def of_process(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))

def growth_kib(function, x):
    # Warm up: code and scratch memory are resident afterwards. A copy of the whole array would still need seven eighths of the array's size.
    function(x[: len(x) // 8])
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = of_process("VmRSS")
    function(x)
    return of_process("VmHWM") - before

floats = np.random.default_rng(1).standard_normal(COUNT)
mask, out = floats > 0, np.ones(COUNT)
matrix = floats.reshape(1200, 1200)
whole = np.zeros((COUNT, 2))
whole[:, 1] = floats
LAYOUTS = {
    "bool": mask, "i4": floats.astype("i4"), "u1": mask.view("u1"), "f2": floats.astype("f2"), "f4": floats.astype("f4"), "f8": floats,
    "c8": floats.astype("c8"), "swapped": floats.astype(floats.dtype.newbyteorder()), "strided": whole[:, 1], "reversed": floats[::-1],
    "misaligned": np.frombuffer(b"?" + floats.tobytes(), "f8", offset=1), "transposed": matrix.T, "slice": matrix[:, :-1],
    "cube": floats.reshape(100, 120, 120).transpose(1, 2, 0),
}
def along(name, axis):
    return lambda x: getattr(treefold, name)(x, axis if x.ndim > 1 else None)
FUNCTIONS = {
    "sum": treefold.sum, "sum of a type": lambda x: treefold.sum(x, dtype="f4" if x.dtype.kind != "c" else "c16"), "prod": treefold.prod,
    "mean": treefold.mean, "var": treefold.var, "std, 0": along("std", 0), "sum, 0": along("sum", 0), "sum, -1": along("sum", -1),
    "where": lambda x: treefold.sum(x, where=mask[: x.size].reshape(x.shape) if x.size < COUNT or x.ndim == 1 else True),
    "nansum": treefold.nansum, "norm": treefold.norm, "vdot": lambda x: treefold.vdot(x, x),
    "cumsum": lambda x: treefold.cumsum(x, dtype="f8", out=out[: x.size]) if x.dtype.kind != "c" else None,
    "exact mean": exact.mean, "exact sum": lambda x: exact.sum(x, dtype=None if x.dtype.kind in "fc" else "f8"),
    "max": lambda x: treefold.max(x) if x.dtype.kind != "c" else None,
}
for layout, x in LAYOUTS.items():
    for name, function in FUNCTIONS.items():
        grown = growth_kib(function, x)
        if grown > 1024:
            print(f"{name}, {layout}: {grown} KiB")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the test reads /proc")
def test_reductions_copy_no_whole_array():
    found = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, timeout=600)
    assert found.returncode == 0, found.stderr
    assert not found.stdout, found.stdout


# Sizes that exceed memory, requested by few items or by broadcast items.
TOO_LARGE = """
import resource
import numpy as np, treefold
from treefold import exact
from treefold._keyed import slots_of

resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
large = {dtype: np.broadcast_to(np.ones((), dtype), (2**30, 2)) for dtype in ("f8", "f4", "f2", "c16", "i8", "i4", "?")}
calls = {
    "bincount": lambda: exact.bincount([0, 2**40], [1.0, 2.0]),
    "bincount, no weights": lambda: exact.bincount([0, 2**40]),
    "minlength": lambda: exact.bincount([0], [1.0], minlength=2**40),
    "minlength beyond 64 bits": lambda: exact.bincount([0], [1.0], minlength=2**70),
    "complex": lambda: exact.bincount([0, 2**40], [1.0, 2.0j]),
    "tables": lambda: slots_of("sum", np.zeros(2000, "i8"), [2.0 ** np.arange(-1000.0, 1000.0)], 2**24),
    "partial": lambda: exact.Partial(np.zeros((1, 2**24)), axis=0),
    "histogram": lambda: exact.histogram([1.0, 2.0], 2**33, weights=[1.0, 2.0]),
}
for dtype, x in large.items():
    for name in ("sum", "prod", "mean", "var", "std", "max", "norm", "nansum"):
        if name != "max" or x.dtype.kind not in "cb":
            calls[f"{name}, {dtype}"] = lambda x=x, name=name: getattr(treefold, name)(x, axis=1)
    calls[f"cumsum, {dtype}"] = lambda x=x: treefold.cumsum(x)
    calls[f"cumsum, 1, {dtype}"] = lambda x=x: treefold.cumsum(x, 1)
    calls[f"where, {dtype}"] = lambda x=x: treefold.sum(x, axis=1, where=large["?"])
    calls[f"exact mean, {dtype}"] = lambda x=x: exact.mean(x, 1)
for name, call in calls.items():
    try:
        call()
        print(f"{name}: no error")
    except MemoryError:
        pass
    except Exception as error:
        print(f"{name}: {error!r}")
products = np.ones(2**26, "c16")
assert treefold.dot(products, products) == 2**26
assert treefold.sum([1.0, 2.0]) == 3.0
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot limit the address space")
def test_what_memory_does_not_hold_is_an_exception():
    found = subprocess.run([sys.executable, "-c", TOO_LARGE], capture_output=True, text=True, timeout=600)
    assert found.returncode == 0, found.stderr
    assert not found.stdout, found.stdout
