"""Sums of arrays in GPU memory have the bits of sums of NumPy arrays. Without a GPU, or a library that finds one, tests are skipped,
except those on mocks, which test everything but the native half.

    python -m pytest tests/test_cuda.py
"""

import numpy as np
import pytest

import treefold
from checks import raises
from gpu import NAMES, STAND_INS, maker
from treefold import _cuda, exact


@pytest.fixture(params=NAMES)
def on_gpu(request, monkeypatch):
    return maker(request.param, monkeypatch) or pytest.skip(f"skipped: no GPU that {request.param} sees")


def same(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_sums_have_the_bits_of_numpys_arrays(on_gpu, dtype):
    random = np.random.default_rng(46)
    for length in [1, 2, 1000, 65_537, 1_000_003]:
        x = random.standard_normal(length)
        if dtype[0] == "c":
            x = x + 1j * random.standard_normal(length)
        x = x.astype(dtype)
        same(treefold.sum(on_gpu(x)), treefold.sum(x))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_axes(on_gpu, dtype):
    x = np.random.default_rng(47).standard_normal((30, 40, 50)).astype(dtype)
    there = on_gpu(x)
    for axis in [None, 0, 1, 2, -1, (0, 1), (1, 2), (0, 1, 2)]:
        for keepdims in [False, True]:
            same(treefold.sum(there, axis, keepdims=keepdims), treefold.sum(x, axis, keepdims=keepdims))
    out = np.empty((30, 50), dtype)
    assert treefold.sum(there, 1, out=out) is out
    same(out, treefold.sum(x, 1))
    raises(ValueError, "not adjacent", treefold.sum, there, (0, 2))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_exact_sums(on_gpu, dtype):
    x = np.random.default_rng(48).standard_normal((100, 2000)).astype(dtype) * 10.0 ** np.arange(-10, 10).repeat(100)
    x = x.astype(dtype)
    there = on_gpu(x)
    same(exact.sum(there), exact.sum(x))
    same(exact.sum(there, 1), exact.sum(x, 1))
    raises(TypeError, "along the last axes", exact.sum, there, 0)


def test_what_is_not_summed(on_gpu):
    integers = on_gpu(np.arange(4))
    raises(TypeError, "x has elements of type int64: in GPU memory, treefold sums only float32", treefold.sum, integers)
    x = on_gpu(np.zeros((4, 4)))
    raises(TypeError, "only sum and exact.sum", treefold.max, x)
    same(treefold.sum(on_gpu(np.zeros((0, 3))), 0), np.zeros(3))


@pytest.mark.parametrize("name", NAMES)
def test_strides(name, monkeypatch):
    make = maker(name, monkeypatch) or pytest.skip(f"skipped: no GPU that {name} sees")
    if name in ("jax", "numba"):
        pytest.skip(f"skipped: slices of {name}'s arrays are copies, or are of another class")
    x = make(np.zeros((4, 6)))
    raises(ValueError, "x is not contiguous in GPU memory", treefold.sum, x[:, ::2])
    same(treefold.sum(x[1:3]), np.float64(0))
    same(treefold.sum(x[:, :1][:1]), np.float64(0))


@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "f4", "c16"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_what_dlpack_says(dtype, shape):
    x = np.zeros(shape, dtype)
    array = _cuda.described("x", STAND_INS["dlpack"](x))
    assert (array.dtype, array.shape, array.size) == (x.dtype, shape, x.size)
    assert array.pointer == x.ctypes.data
    assert array.device == 0


def test_a_shape_larger_than_memory():
    large = STAND_INS["interface"](np.zeros(1))
    large.__cuda_array_interface__.update(shape=(1 << 32, 1 << 32), data=(0, False))
    raises(ValueError, "too large for any memory", treefold.sum, large)


def test_arrays_of_the_host_are_not_taken_for_others():
    for x in [np.zeros(3), [1.0], 1.0, np.float64(1)]:
        assert not _cuda.is_on_device(x)
