"""Arrays in GPU memory: the libraries that are there and see a GPU; and arrays in host memory that stand in for such."""

import ctypes

import numpy as np

import treefold
from treefold import _native, exact


def gpu_libraries():
    """The libraries that are there and see a GPU: their names, and what makes an array of NumPy's one of theirs."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {}
    found = {}
    try:
        import torch

        if torch.cuda.is_available():
            found["torch"] = lambda array: torch.from_numpy(array).cuda()
    except ImportError:
        pass
    try:
        import cupy

        found["cupy"] = cupy.asarray
    except ImportError:
        pass
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        found["jax"] = jax.numpy.asarray
    except ImportError:
        pass
    try:
        from numba import cuda

        if cuda.is_available():
            found["numba"] = cuda.to_device
    except ImportError:
        pass
    return found


LIBRARIES = gpu_libraries()


class _ByDlpack:
    """An array of NumPy's that says by DLPack that it is on a GPU."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream):
        assert stream == 1
        return self.array.__dlpack__()

    def __getitem__(self, key):
        return type(self)(self.array[key])

    def get(self):
        return self.array


class _ByInterface:
    """An array of NumPy's that says by its interface that it is on a GPU."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "stream": 1}

    __getitem__, get = _ByDlpack.__getitem__, _ByDlpack.get


def _sum(ordinal, pointer, shape, is_exact, result):
    """What the native half does on a GPU."""
    assert ordinal == 0
    assert result.shape == (shape[0], shape[2])
    count = int(np.prod(shape))
    items = (ctypes.c_char * (count * result.itemsize)).from_address(pointer) if count else b""
    x = np.frombuffer(items, result.dtype, count).reshape(shape)
    result[...] = (exact.sum if is_exact else treefold.sum)(x, 1)


STAND_INS = {"dlpack": _ByDlpack, "interface": _ByInterface}


def maker(name, monkeypatch):
    """What makes an array of NumPy's one on a GPU; None if a library is not there, or sees no GPU."""
    if name in STAND_INS:
        monkeypatch.setattr(_native, "cuda_sum", _sum)
        monkeypatch.setattr(_native, "cuda_device_of", lambda pointer, stream: 0)
        return lambda array: STAND_INS[name](array.copy())
    return LIBRARIES.get(name)


NAMES = ["torch", "cupy", "jax", "numba", *STAND_INS]
