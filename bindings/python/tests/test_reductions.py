"""Every function compared with the definition, and NumPy's conventions."""

import builtins
import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import pytest
import treefold
from checks import Producer, raises, with_threads
from definition import bits, by_definition, items

FLOATS = ["f4", "f8"]
COMPLEX = ["c8", "c16"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
LENGTHS = [1, 2, 3, 5, 7, 8, 9, 31, 64, 100, 257, 1000]


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + INTEGERS + ["?"])
@pytest.mark.parametrize("op", ["sum", "prod", "min", "max"])
def test_all_items(op, dtype):
    function, numpys = getattr(treefold, op), getattr(np, op)
    for length in LENGTHS:
        x = items(length, dtype, seed=length)
        if op in ("min", "max") and dtype in COMPLEX:
            raises(TypeError, op, function, x)
            continue
        found = function(x)
        with np.errstate(all="ignore"):
            assert found.dtype == numpys(x).dtype
        expected = by_definition(x.astype(found.dtype), op) if dtype != "?" or op in ("sum", "prod") else numpys(x)
        assert bits(found) == bits(np.asarray(expected, found.dtype)), (op, dtype, length)
        assert isinstance(found, np.generic)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "transposed", "swapped", "misaligned", "frozen"])
def test_axes_and_layouts(dtype, layout):
    shape = (3, 5, 4, 2)
    x = items(120, dtype, seed=7).reshape(shape)
    given = {
        "C": lambda: x.copy(),
        "F": lambda: np.asfortranarray(x),
        "strided": lambda: np.repeat(x, 2, axis=1)[:, ::2],
        "reversed": lambda: x[::-1, ::-1].copy()[::-1, ::-1],
        "transposed": lambda: x.transpose(2, 0, 3, 1).copy().transpose(1, 3, 0, 2),
        "swapped": lambda: x.astype(x.dtype.newbyteorder()),
        "misaligned": lambda: np.frombuffer(b"?" + x.tobytes(), x.dtype, offset=1).reshape(shape),
        "frozen": lambda: np.frombuffer(x.tobytes(), x.dtype).reshape(shape),
    }[layout]()
    assert np.array_equal(given, x) and given.flags.aligned == (layout != "misaligned")
    for axis in [None, 0, 1, 2, 3, -1, -4, (0, 1), (1, 0), (2, 3), (0, 3), (1, 3), (0, 2, 3), (0, 1, 2, 3), ()]:
        axes = range(4) if axis is None else sorted({one % 4 for one in (axis if isinstance(axis, tuple) else (axis,))})
        kept = [one for one in range(4) if one not in axes]
        flat = x.transpose(*kept, *axes).reshape(-1, int(np.prod([shape[one] for one in axes])))
        wide = np.sum(x[:1]).dtype
        expected = np.array([by_definition(row.astype(wide)) for row in flat]).reshape([shape[one] for one in kept])
        assert bits(treefold.sum(given, axis)) == bits(expected), axis
        kept_shape = [1 if one in axes else length for one, length in enumerate(shape)]
        assert bits(treefold.sum(given, axis, keepdims=True)) == bits(expected.reshape(kept_shape))
        out = np.empty(expected.shape, wide)
        if out.ndim:
            assert treefold.sum(given, axis, out=out) is out
            assert bits(out) == bits(expected)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_the_order_is_that_of_c_however_the_array_lies(dtype):
    differing = 0
    for seed in range(20):
        x = items(35, dtype, seed).reshape(5, 7)
        expected = bits(by_definition(x.ravel()))
        differing += expected != bits(by_definition(x.ravel("F")))
        assert bits(treefold.sum(np.asfortranarray(x))) == expected
        assert bits(treefold.sum(x.T.copy().T)) == expected
        assert bits(treefold.vdot(np.conj(np.asfortranarray(x)), np.ones_like(x))) == expected
        partial = treefold.Partial(np.asfortranarray(x), 0, x.size)
        assert bits(partial.value()) == expected
    assert differing > 3, "the test could not fail"


def test_threads_change_no_bit():
    x = items(1_000_003, "f8", seed=3)
    matrix = x[:1_000_000].reshape(1000, 1000)
    results = []
    for count in (1, 2, 3, 7):
        treefold.threads(count)
        assert treefold.threads() == count
        functions = [treefold.sum, treefold.prod, treefold.max, treefold.norm, treefold.mean, treefold.var]
        results.append([bits(function(x)) for function in functions])
        results[-1] += [bits(treefold.sum(matrix, 0)), bits(treefold.sum(matrix, 1)), bits(treefold.dot(x, x[::-1]))]
    treefold.threads(1)
    assert all(result == results[0] for result in results)
    for wrong in (0, -1, 10**6, 10**30):
        raises(ValueError, "n: ", treefold.threads, wrong)
    for wrong in ("2", 1.5, True, [1]):
        raises(TypeError, "n: ", treefold.threads, wrong)


def test_nothing():
    empty = np.empty((0, 3), "f4")
    assert bits(treefold.sum(empty)) == bits(np.float32(0))
    assert bits(treefold.sum(empty, 0)) == bits(np.zeros(3, "f4"))
    assert bits(treefold.prod(empty, 0)) == bits(np.ones(3, "f4"))
    assert treefold.sum(empty, 1).shape == (0,)
    assert treefold.min(empty, 1).shape == (0,)
    for function in (treefold.min, treefold.max):
        raises(ValueError, "zero-size array", function, empty, 0)
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert np.isnan(treefold.mean([]))
    for ddof in (1, np.uint64(5), 1.5):
        with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
            result = treefold.var([1.0], ddof=ddof)
        assert np.isnan(result) and result.view("u8") == 0x7FF8000000000000
    for x in (np.float64(3), np.array(3)):
        for axis in (None, 0, -1, ()):
            assert treefold.sum(x, axis) == treefold.max(x, axis) == 3
        assert treefold.cumsum(x, 0).tolist() == [3]
    assert treefold.dot([], []) == 0.0
    assert treefold.cumsum([]).shape == (0,)


def test_nan_is_one():
    quiet = np.array([0x7FF8000000000001], "u8").view("f8")[0]
    for x in ([np.inf, -np.inf], [1.0, -np.nan], [quiet, 2.0]):
        for function in (treefold.sum, treefold.prod, treefold.min, treefold.max):
            result = function(np.array(x))
            if np.isnan(result):
                assert np.float64(result).view("u8") == 0x7FF8000000000000
    assert np.signbit(treefold.min([0.0, -0.0])) and not np.signbit(treefold.max([-0.0, 0.0]))


def test_products():
    x, y = items(203, "c16", seed=1), items(203, "c16", seed=2)
    assert bits(treefold.vdot(np.conj(x).reshape(7, 29), y)) == bits(treefold.dot(x, y))
    x = items(100, "c16", seed=5)
    squares = x.view("f8") * x.view("f8")
    assert bits(treefold.norm(x)) == bits(np.sqrt(by_definition(squares)))
    assert treefold.dot(np.float32([1]), np.float64([2])).dtype == np.float64
    raises(ValueError, "y has 1 item along the axis that is summed over, but x has 2", treefold.dot, [[1.0, 2.0]], [1.0])
    raises(ValueError, "y has 2 items, but x has 1", treefold.vdot, [1.0], [1.0, 2.0])


def test_means_keep_axes():
    x = items(60, "f4", seed=2).reshape(12, 5)
    for name in ("mean", "var", "std"):
        function = getattr(treefold, name)
        assert bits(function(x, 0, keepdims=True)) == bits(function(x, 0)[None])


def test_complex_means_are_those_of_the_parts():
    for length in range(1, 50):
        x = items(length, "c16", seed=length)
        total = treefold.sum(x)
        assert bits(treefold.mean(x)) == bits(np.complex128(complex(total.real / length, total.imag / length)))
    assert treefold.mean(np.array([complex(1, np.inf), 2])) == complex(1.5, np.inf)


def test_matrices_stay_matrices():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix([[1.0, 2.0], [3.0, 5.0]])
    assert treefold.var(matrix) == 2.1875
    assert treefold.var(matrix, 0).tolist() == [1.0, 2.25]
    for axis in (None, 0, 1):
        for own, numpys in ((treefold.sum, np.sum), (treefold.exact.sum, np.sum), (treefold.max, np.max), (treefold.exact.mean, np.mean)):
            assert bits(own(matrix, axis)) == bits(numpys(matrix, axis)) and type(own(matrix, axis)) is type(numpys(matrix, axis))
    for norm in (treefold.norm, treefold.exact.norm):
        assert type(norm(matrix)) is np.float64
    assert type(treefold.cumsum(matrix)) is np.matrix


def test_other_containers():
    x = items(33, "f8", seed=9)
    expected = bits(treefold.sum(x))
    class Array:
        def __array__(self, dtype=None, copy=None):
            return x

    for given in (list(x), memoryview(x), Array(), Producer(x)):
        assert bits(treefold.sum(given)) == expected
    assert treefold.sum(5.0) == 5.0


@pytest.mark.parametrize(
    "x",
    [
        np.array([1, "a"], object),
        np.array(["a"]),
        np.array([1.0], np.longdouble),
        np.array([1.0], np.clongdouble),
        np.zeros(2, "f8,i4"),
        None,
        (value for value in (1.0, 2.0)),
    ],
)
def test_what_is_not_reduced(x):
    for function in (treefold.sum, treefold.min, treefold.mean, treefold.cumsum, treefold.norm):
        raises(TypeError, "x ", function, x)
    raises(TypeError, "y ", treefold.dot, [1.0], x)


def test_wrong_arguments():
    x = np.ones((2, 3))
    for axis in (2, -3, (0, 5)):
        raises(np.exceptions.AxisError, None, treefold.sum, x, axis)
    raises(ValueError, "axis", treefold.sum, x, (0, -2))
    for axis in (0.5, True, (np.True_,), "0"):
        raises(TypeError, "axis: ", treefold.sum, x, axis)
    for keepdims in ("x", None, 1):
        raises(TypeError, "keepdims: ", treefold.sum, x, keepdims=keepdims)
    for ddof in ("a", None, 1j):
        raises(TypeError, "ddof: ", treefold.var, x, ddof=ddof)
    raises(ValueError, "out has the shape", treefold.sum, x, 0, out=np.empty(2))
    frozen = np.empty(3)
    frozen.flags.writeable = False
    raises(ValueError, "read-only", treefold.sum, x, 0, out=frozen)
    raises(TypeError, "out", treefold.sum, x, 0, out=[1, 2, 3])


def test_errstate_is_asked():
    for x, message in (([1e308, 1e308], "overflow"), ([np.inf, -np.inf], "invalid value")):
        for function in (treefold.sum, treefold.cumsum, treefold.exact.sum, lambda x, **named: treefold.sum(x, where=True, initial=0, **named)):
            out = np.full((), 7.0) if function is not treefold.cumsum else np.full(np.size(x), 7.0)
            before = out.copy()
            with pytest.warns(RuntimeWarning, match=f"{message} encountered in reduce"), np.errstate(all="warn"):
                function(x)
            with pytest.raises(FloatingPointError, match=message), np.errstate(all="raise"):
                function(x, out=out)
            assert bits(out) == bits(before)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error")
                function(x)
    with pytest.warns(RuntimeWarning, match="overflow"):
        treefold.sum([[1e308, 1e308], [np.inf, 1.0]], 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in ([np.inf, 1.0], [np.nan, np.inf], [], [0.0]):
            treefold.sum(x)
            treefold.prod(x)
            treefold.cumsum(x)


LOADS_NOTHING_FOR_MPI = """
import sys
import treefold
import treefold.exact
assert not {"_cffi_backend", "cffi", "mpi4py", "treefold.mpi"} & set(sys.modules)
assert not any("libmpi" in line for line in open("/proc/self/maps"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the test reads /proc")
def test_nothing_for_mpi_is_loaded():
    subprocess.run([sys.executable, "-c", LOADS_NOTHING_FOR_MPI], check=True)


def test_mpi4py_is_named_where_it_is_missing():
    if importlib.util.find_spec("mpi4py") is None:
        raises(ImportError, "pip install mpi4py", importlib.import_module, "treefold.mpi")


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + ["i4"])
def test_lanes(dtype):
    for length in [0, 1, 15, 16, 17, 100, 257, 1000, 200_000]:
        x = items(length, dtype, seed=length)
        wide = x.astype(np.sum(x[:1]).dtype)
        for lanes in [1, 3, 16, np.int64(128), 1 << 20]:
            lanes_of = [by_definition(wide[lane::lanes]) for lane in range(builtins.min(int(lanes), length))]
            expected = by_definition(np.array(lanes_of, wide.dtype)) if length else wide.dtype.type(0)
            assert bits(treefold.sum(x, lanes=lanes)) == bits(np.asarray(expected, wide.dtype)), (dtype, length, lanes)


def test_lanes_keep_their_order_in_any_out():
    for x, dtype in ((items(1025, "f8", 0), "f4"), (items(1025, "f8", 0), "f8"), (items(200, "i4", 0), "f8")):
        out = np.zeros((), dtype)
        with np.errstate(all="ignore"):
            assert treefold.sum(x, lanes=32, out=out) is out
        assert bits(out) == bits(np.asarray(treefold.sum(x, lanes=32)).astype(dtype))


def test_lanes_along_axes():
    x = items(2 * 37 * 3, "f8", seed=3).reshape(2, 37, 3)
    found = treefold.sum(x, axis=1, lanes=16)
    expected = [[treefold.sum(x[i, :, j], lanes=16) for j in range(3)] for i in range(2)]
    assert bits(found) == bits(np.array(expected))
    with with_threads(2):
        many = items(600_000, "f8", seed=9)
        parallel = treefold.sum(many, lanes=128)
        rows = treefold.sum(many.reshape(-1, 3), axis=0, lanes=16)
    assert bits(parallel) == bits(treefold.sum(many, lanes=128))
    assert bits(rows) == bits(treefold.sum(many.reshape(-1, 3), axis=0, lanes=16))


@pytest.mark.parametrize("lanes", [0, -1, (1 << 20) + 1])
def test_numbers_of_lanes_that_there_cannot_be(lanes):
    raises(ValueError, f"lanes: {lanes} is not from 1 to 1048576", treefold.sum, [1.0, 2.0], lanes=lanes)
    raises(TypeError, "lanes: 1.5 is not an integer", treefold.sum, [1.0], lanes=1.5)
