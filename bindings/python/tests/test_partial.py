"""Chunks of any items, merged in any order, give the bits of the reduction of all items."""

import concurrent.futures
import pickle
import subprocess
import sys

import numpy as np
import pytest
import treefold
from checks import merged, raises
from definition import bits, items


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i2", "u8"])
@pytest.mark.parametrize("op", ["sum", "prod", "min", "max"])
def test_runs_in_any_order(op, dtype):
    if op in ("min", "max") and dtype[0] == "c":
        raises(TypeError, op, treefold.Partial, np.zeros(2, dtype), 0, 2, op=op)
        return
    random = np.random.default_rng(1)
    for seed in range(20):
        total = int(random.integers(1, 400))
        x = items(total, dtype, seed)
        cuts = np.sort(random.integers(0, total + 1, random.integers(0, 9)))
        bounds = [0, *map(int, cuts), total]
        parts = [treefold.Partial(x[a:b], a, total, op=op) for a, b in zip(bounds, bounds[1:])]
        whole = merged(parts, random)
        assert whole.total == total and whole.op == op
        assert bits(whole.value()) == bits(getattr(treefold, op)(x))


def test_items_of_any_chunk():
    random = np.random.default_rng(2)
    x = items(12 * 20, "f8", seed=4).reshape(12, 20)
    blocks = []
    for row in range(0, 12, 5):
        for column in range(0, 20, 8):
            block = x[row : row + 5, column : column + 8]
            extents = [(20 * i + column, 20 * i + column + block.shape[1]) for i in range(row, row + block.shape[0])]
            blocks.append(treefold.Partial(block, extents=extents, total=x.size))
    assert bits(merged(blocks, random).value()) == bits(treefold.sum(x))


@pytest.mark.parametrize("axis", [0, 1, 2, -2])
def test_items_that_are_arrays(axis):
    x = items(5 * 11 * 3, "f4", seed=6).reshape(5, 11, 3)
    total = x.shape[axis]
    starts = range(0, total, 2)
    parts = [treefold.Partial(np.take(x, range(k, min(k + 2, total)), axis), k, total, axis=axis) for k in starts]
    result = merged(parts, np.random.default_rng(3)).value()
    assert bits(result) == bits(treefold.sum(x, axis))


def test_items_without_values():
    parts = [treefold.Partial(np.empty((2, 0)), k, 4, axis=0) for k in (0, 2)]
    assert (parts[0] + pickle.loads(pickle.dumps(parts[1]))).value().shape == (0,)


def _part(chunk):
    values, start, total = chunk
    return treefold.Partial(values, start, total)


def test_a_pool_of_processes():
    x = items(10_000, "f8", seed=8)
    chunks = [(x[k : k + 999], k, x.size) for k in range(0, x.size, 999)]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        parts = list(pool.map(_part, chunks))
    assert bits(merged(parts, np.random.default_rng(4)).value()) == bits(treefold.sum(x))


def test_a_child_has_threads_of_its_own():
    program = """
import os, numpy, treefold
x = numpy.linspace(0, 1, 1 << 20)
treefold.threads(3)
before = treefold.sum(x)
child = os.fork()
if child == 0:
    os._exit(0 if treefold.sum(x) == before else 3)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_what_does_not_fit():
    part = treefold.Partial([1.0, 2.0], 0, 4)
    raises(ValueError, "item 2 is missing", part.value)
    raises(ValueError, "both partials contain item 1", part.merge, treefold.Partial([5.0], 1, 4))
    raises(ValueError, "one of 5", part.merge, treefold.Partial([5.0], 2, 5))
    raises(TypeError, "other has items of type float32, not float64", part.merge, treefold.Partial(np.ones(2, "f4"), 2, 4))
    raises(ValueError, "op=max", part.merge, treefold.Partial([1.0, 1.0], 2, 4, op="max"))
    raises(ValueError, "shape", part.merge, treefold.Partial(np.ones((2, 3)), 2, 4, axis=0))
    raises(TypeError, "Partial", part.merge, 3.0)
    raises(ValueError, "no items 3..5", treefold.Partial, [1.0, 2.0], 3, 4)
    raises(ValueError, "rows", treefold.Partial, [1.0, 2.0], extents=[(0, 1)], total=4)
    raises(ValueError, "item 1 occurs twice", treefold.Partial, [1.0, 2.0], extents=[(1, 2), (1, 2)], total=4)
    raises(ValueError, "start", treefold.Partial, [1.0], -1, 4)
    raises(ValueError, "total", treefold.Partial, [1.0], 0, 1 << 64)
    for op in ("average", None, np.array(["sum", "min"])):
        raises(ValueError, "op: ", treefold.Partial, [True], 0, 1, op=op)
    raises(ValueError, "start . the number of items in x: ", treefold.Partial, [1.0, 2.0], 2**64 - 1, 5)
    for arguments in [{"start": "0"}, {"start": 0.0}, {"extents": [("a", 1)]}, {"extents": 5}, {"extents": [5]}]:
        raises(TypeError, next(iter(arguments)), treefold.Partial, [1.0], total=5, **arguments)
    raises(ValueError, "extents", treefold.Partial, [1.0], total=5, extents=[(0, 1, 2)])
    raises(ValueError, "rows", treefold.Partial, np.arange(3.0), extents=[(0, 2**63), (0, 2**63), (0, 3)], total=2**64 - 1)
    for arguments in [{}, {"start": 0, "extents": [(0, 1)]}]:
        raises(TypeError, "start or extents", treefold.Partial, [1.0], total=1, **arguments)
    raises(TypeError, "total", treefold.Partial, [1.0], 0)
    assert "op=sum" in repr(part)


def test_pickles_of_another_kind():
    restore, state = treefold.Partial([1.0, 2.0], 0, 3).__reduce__()
    version, op, dtype, shape, total, nodes = state
    assert bits((restore(*state) + treefold.Partial([4.0], 2, 3)).value()) == bits(np.float64(7))
    raises(ValueError, "version 9", restore, 9, *state[1:])
    short = [(x, y, row[:-1]) for x, y, row in nodes]
    for wrong in [
        (op, dtype, shape, 1, nodes),
        (op, dtype, (2,), total, nodes),
        (op, "<f4", shape, total, nodes),
        (op, dtype, shape, total, short),
    ]:
        raises(ValueError, None, lambda: (restore(version, *wrong) + restore(version, *wrong)).value())
    swapped = np.dtype(dtype).newbyteorder()
    rows = [(x, y, np.frombuffer(row, dtype).astype(swapped).tobytes()) for x, y, row in nodes]
    foreign = restore(version, op, swapped.str, shape, total, rows)
    assert bits((foreign + treefold.Partial([4.0], 2, 3)).value()) == bits(np.float64(7))
