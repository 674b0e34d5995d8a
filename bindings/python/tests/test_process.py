"""Tests of the process: its threads, its floating-point environment, its interpreters."""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
import treefold
from checks import Producer, raises, with_threads
from definition import bits
from treefold import _native, exact

LINUX = sys.platform == "linux"


def output(program, **variables):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=environment(variables))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def environment(variables):
    return {**{name: value for name, value in os.environ.items() if name != "TREEFOLD_THREADS"}, **variables}


def test_the_variable_sets_threads():
    program = "import treefold; print(treefold.threads())"
    assert [output(program), output(program, TREEFOLD_THREADS=""), output(program, TREEFOLD_THREADS="3")] == ["1", "1", "3"]
    for wrong in ("0", "1025", "two", "-1", "1.5"):
        raises(AssertionError, f"ValueError: TREEFOLD_THREADS: '{wrong}' is not a number from 1 to 1024", output, program, TREEFOLD_THREADS=wrong)


@pytest.mark.skipif(shutil.which("readelf") is None, reason="the test needs readelf")
def test_the_native_half_has_no_librarys_name():
    dynamic = subprocess.run(["readelf", "--dynamic", _native.__file__], capture_output=True, text=True, check=True).stdout
    # If this library had libtreefold's soname, a process that has loaded one of the two would use it in place of the other.
    assert "NEEDED" in dynamic
    assert "SONAME" not in dynamic


def own_threads():
    count = 0
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            count += (task / "comm").read_text().startswith("treefold")
        except OSError:
            pass  # The thread has just ended.
    return count


def wait_until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(not LINUX, reason="the test reads /proc")
def test_idle_threads_end_and_start_again():
    x = np.random.default_rng(1).standard_normal(300_000)
    expected = bits(treefold.sum(x))

    def threads_after_a_sum():
        assert bits(treefold.sum(x)) == expected
        return own_threads()

    with with_threads(3):
        for _ in range(2):
            # Three threads, and one that keeps them alive.
            wait_until(lambda: threads_after_a_sum() == 4)
            wait_until(lambda: own_threads() == 0)
        assert bits(treefold.sum(x)) == expected
        treefold.threads(2)
        wait_until(lambda: own_threads() == 0)
        wait_until(lambda: threads_after_a_sum() == 3)
    wait_until(lambda: own_threads() == 0)


FORK = """
import os, numpy as np, treefold
x = np.random.default_rng(1).standard_normal(300_000)
treefold.threads(3)
expected = treefold.sum(x)
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if treefold.sum(x) == expected and treefold.threads(2) == 3 and treefold.sum(x) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert treefold.sum(x) == expected
print("done")
"""


@pytest.mark.skipif(not LINUX, reason="the test forks")
def test_children_have_threads_of_their_own():
    assert output(FORK) == "done"


FLUSHING = """
import ctypes, mmap, numpy as np, treefold
from treefold import exact
code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\\x0f\\xae\\x17\\xc3" + b"\\x0f\\xae\\x1f\\xc3")  # ldmxcsr [rdi]; ret; stmxcsr [rdi]; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
load, store = (ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint32))(address + offset) for offset in (0, 4))

def mxcsr():
    value = ctypes.c_uint32()
    store(value)
    return value.value & ~0x3F

def functions(size):
    tiny, parts = np.full(size, 3e-310), np.full(size, 1e-160 + 1e-160j)
    spread = np.linspace(0, 1e-158, size)
    single = np.full(size, 3e-40, np.float32)
    keys = np.arange(size) % 3
    return [
        lambda: treefold.sum(tiny), lambda: treefold.mean(tiny), lambda: treefold.vdot(parts, parts), lambda: exact.sum(tiny),
        lambda: treefold.sum(tiny.reshape(4, -1), 1), lambda: treefold.mean(single), lambda: treefold.var(spread), lambda: treefold.std(spread), lambda: treefold.std(spread.reshape(3, -1), axis=1), lambda: treefold.mean(tiny.reshape(3, -1).T, axis=0),
        lambda: treefold.norm(np.full(9, 1e-160)), lambda: treefold.cumsum(tiny)[-1], lambda: treefold.average(tiny, weights=spread * 1e200),
        lambda: treefold.mean(np.array([3e-308, 1e-308, 5e-324])), lambda: treefold.var(np.array([1e-160, 3e-160, 2e-160])),
        lambda: treefold.max(tiny), lambda: treefold.nanmean(tiny), lambda: treefold.sum(tiny, where=keys == 1),
        lambda: treefold.Partial(tiny, 0, total=tiny.size).value(), lambda: exact.Partial(tiny).value(),
        lambda: exact.vdot(parts, parts), lambda: exact.norm(tiny), lambda: exact.mean(tiny), lambda: exact.var(spread), lambda: exact.std(spread),
        lambda: exact.bincount(keys, tiny)[1], lambda: exact.groupby(keys).mean(tiny)[1], lambda: exact.rolling(tiny, 3).mean()[5],
        lambda: exact.average(tiny, weights=spread),
    ]

# Only reductions of more than 131,072 items use several threads.
for threads, flushing, size, count in ((1, 0x8000, 300, None), (1, 0x0040, 300, None), (1, 0x8040, 300, None), (3, 0x8040, 140_000, 4)):
    some = functions(size)[:count]
    expected = [np.asarray(function()).tobytes() for function in some]
    treefold.threads(threads)
    changed = mxcsr() | flushing
    load(ctypes.c_uint32(changed))
    found = [(np.asarray(function()).tobytes(), mxcsr()) for function in some]
    load(ctypes.c_uint32(changed & ~0x8040))
    treefold.threads(1)
    for place, (value, register) in enumerate(found):
        assert register == changed, (place, hex(register))
        assert value == expected[place], (place, threads, hex(flushing))
load(ctypes.c_uint32(mxcsr() | 0x8040))
assert float(np.float64(3e-310) * 2) == 0.0, "this test does not set the mode"
load(ctypes.c_uint32(mxcsr() & ~0x8040 | 0x2000))
for function in functions(300)[:4]:
    try:
        function()
        raise SystemExit("no error, although the thread rounds down")
    except FloatingPointError as error:
        assert "round" in str(error)
load(ctypes.c_uint32(mxcsr() & ~0x6000))
print("done")
"""

@pytest.mark.skipif(platform.machine() != "x86_64" or not LINUX, reason="the test sets MXCSR by instructions of x86-64")
def test_flushed_subnormals_are_kept_in_a_call():
    assert output(FLUSHING) == "done"


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
program = '''
try:
    import treefold
    print("imported")
except ImportError as error:
    print(error)
'''
interpreters.run_string(interpreters.create(), program)
"""


def test_subinterpreters_are_refused():
    said = output(SUBINTERPRETER)
    assert said == "treefold cannot be imported in a subinterpreter: it needs the main interpreter of the process, as NumPy does"


FREE_THREADED = """
import sys, sysconfig
of = sysconfig.get_config_var
sysconfig.get_config_var = lambda name: 1 if name == "Py_GIL_DISABLED" else of(name)
try:
    import treefold
    print("imported")
except ImportError as error:
    print(error, "treefold._native" in sys.modules)
"""


def test_free_threaded_pythons_are_refused():
    said = output(FREE_THREADED)
    assert said == "treefold cannot be imported in a free-threaded Python: it needs a Python with the global interpreter lock False"


def test_what_is_installed_is_printed():
    done = subprocess.run([sys.executable, "-m", "treefold"], capture_output=True, text=True, timeout=60, env=environment({"TREEFOLD_THREADS": "2"}))
    first, instructions, threads, library = done.stdout.splitlines()
    assert first.startswith(f"treefold {treefold.__version__}, Python {platform.python_version()}, NumPy {np.__version__}")
    assert instructions.removeprefix("instructions: ") in ("scalar", "neon", "sse2", "avx2", "avx512")
    assert threads.startswith("threads: 2, TREEFOLD_THREADS; ")
    assert library.startswith("MPI library: ") and (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("option", "expected"), [("--help", "usage: python -m treefold"), ("--version", f"treefold {treefold.__version__}")])
def test_it_has_help_and_a_version(option, expected):
    done = subprocess.run([sys.executable, "-m", "treefold", option], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith(expected)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8"])
def test_arrays_by_dlpack_are_not_copied(dtype):
    x = np.arange(1_000_000).astype(dtype).reshape(1000, 1000)
    producer = Producer(x)
    functions = [treefold.sum, lambda x: treefold.sum(x, axis=0), lambda x: treefold.sum(x, axis=1)]
    if dtype != "i8":
        functions += [treefold.mean, exact.sum, lambda x: exact.Partial(x, axis=0).value()]
    for function in functions:
        expected = bits(function(x))
        function(producer)
        tracemalloc.start()
        found = function(producer)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert bits(found) == expected and peak < x.nbytes / 4
    assert producer.asked == 2 * len(functions)
