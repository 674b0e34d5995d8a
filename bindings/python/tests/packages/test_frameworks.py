"""JAX calls treefold while its own functions run, and tensors of torch are read in place. Packages that are not installed are
skipped."""

import tracemalloc

import numpy as np
import pytest
import treefold
from definition import bits, items
from treefold import exact


def test_jax_calls_back():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def tree_sum(x):
        return jax.pure_callback(lambda x: treefold.sum(np.asarray(x)), jax.ShapeDtypeStruct((), x.dtype), x)

    def columns(x):
        shape = jax.ShapeDtypeStruct(x.shape[1:], x.dtype)
        return jax.pure_callback(lambda x: treefold.mean(np.asarray(x), axis=0), shape, x, vmap_method="sequential")

    x = items(300_000, "f8", seed=1).reshape(3000, 100)
    # JAX's threads flush subnormal numbers to zero, but the sums and quotients of a call do not.
    for array in (x, np.full((1000, 100), 3e-310), x.astype("f4")):
        assert bits(np.asarray(jax.jit(tree_sum)(array))) == bits(treefold.sum(array))
        assert bits(np.asarray(jax.jit(columns)(array))) == bits(treefold.mean(array, axis=0))
    assert bits(treefold.sum(jax.numpy.asarray(x))) == bits(treefold.sum(x))
    stacked = jax.vmap(columns)(x.reshape(3, 1000, 100))
    assert bits(np.asarray(stacked)) == bits(treefold.mean(x.reshape(3, 1000, 100), axis=1))


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x = items(1_000_000, "f8", seed=2)
    tensor = torch.from_numpy(x.copy())
    for function in (treefold.sum, treefold.mean, exact.sum):
        expected = bits(function(x))
        tracemalloc.start()
        found = function(tensor)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert bits(found) == expected and peak < x.nbytes / 4
    back = torch.from_dlpack(treefold.sum(tensor.reshape(1000, 1000), axis=0))
    assert bits(back.numpy()) == bits(treefold.sum(x.reshape(1000, 1000), axis=0))
