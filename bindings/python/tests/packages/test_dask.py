"""Reductions of dask arrays have the bits of the whole array's, whatever the chunks and the scheduler."""

import dask
import dask.array as da
import numpy as np
import pytest
import treefold
import treefold.dask
from definition import bits, items
from treefold import exact

AXES = [None, 0, 1, 2, -1, (0, 1), (1, 2), (0, 2), (0, 1, 2), ()]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "?"])
@pytest.mark.parametrize("chunks", [(4, 5, 6), (9, 5, 6), (9, 14, 3), (3, 14, 11), 2, -1, ((1, 7, 1), (14,), (10, 1))])
def test_any_chunks(chunks, dtype):
    x = items(9 * 14 * 11, dtype, seed=3).reshape(9, 14, 11)
    array = da.from_array(x, chunks=chunks)
    for op in ("sum", "prod", "min", "max", "mean"):
        if op in ("min", "max") and dtype == "c16":
            continue
        for axis in AXES[:: 1 if op == "sum" else 4]:
            found = getattr(treefold.dask, op)(array, axis=axis)
            expected = getattr(treefold, op)(x, axis=axis)
            assert isinstance(found, da.Array) and found.dtype == expected.dtype and found.shape == expected.shape
            assert bits(found.compute(scheduler="sync")) == bits(expected), (op, axis)
            kept = getattr(treefold.dask, op)(array, axis=axis, keepdims=True)
            assert bits(kept.compute(scheduler="sync")) == bits(getattr(treefold, op)(x, axis=axis, keepdims=True))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("chunks", [(4, 5, 6), (9, 14, 3), 2, -1])
def test_exact_sums(chunks, dtype):
    # Neighbours cancel, so that a sum that is rounded on the way loses all.
    x = items(9 * 14 * 11, dtype, seed=5).reshape(9, 14, 11)
    x = np.concatenate([x * x.dtype.type(1e20), -x * x.dtype.type(1e20), x])
    array = da.from_array(x, chunks=chunks)
    for axis in AXES:
        for keepdims in (False, True):
            found = treefold.dask.exact_sum(array, axis=axis, keepdims=keepdims)
            expected = exact.sum(x, axis=axis, keepdims=keepdims)
            assert isinstance(found, da.Array) and found.dtype == expected.dtype and found.shape == expected.shape
            assert bits(found.compute(scheduler="sync")) == bits(expected), axis
    with pytest.raises(TypeError, match="integers|int"):
        treefold.dask.exact_sum(da.from_array(np.arange(9), chunks=4))


def test_dasks_own_sum_depends_on_chunks():
    x = items(100_000, "f8", seed=1)
    sums = {da.from_array(x, chunks=chunks).sum().compute() for chunks in (100_000, 999, 4096, 33)}
    assert len(sums) > 1
    sums = {treefold.dask.sum(da.from_array(x, chunks=chunks)).compute() for chunks in (100_000, 999, 4096, 33)}
    assert sums == {treefold.sum(x)}


def test_schedulers():
    x = items(40_000, "f8", seed=2).reshape(200, 200)
    array = treefold.dask.sum(da.from_array(x, chunks=(70, 130)), axis=0)
    expected = bits(treefold.sum(x, 0))
    for scheduler in ("sync", "threads", "processes"):
        assert bits(array.compute(scheduler=scheduler)) == expected
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            assert bits(array.compute()) == expected


def test_what_is_refused():
    with pytest.raises(TypeError, match="array"):
        treefold.dask.sum(np.ones(3))
    array = da.from_array(np.arange(9.0), chunks=4)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        treefold.dask.sum(array[array > 3])
    with pytest.raises(np.exceptions.AxisError):
        treefold.dask.sum(array, axis=1)
    with pytest.raises(TypeError):
        treefold.dask.min(array.astype("c16"))
    with pytest.raises(ValueError, match="zero-size"):
        treefold.dask.max(da.zeros((0, 3), chunks=2))
    masked = da.from_array(np.ma.array(np.arange(6.0), mask=[0, 1, 0, 0, 0, 1]), chunks=2)
    with pytest.raises(TypeError, match="masked"):
        treefold.dask.sum(masked)
    assert treefold.dask.sum(da.zeros((4, 0), chunks=(2, 0)), axis=0).compute().shape == (0,)
    assert treefold.dask.sum(da.zeros((0, 3), chunks=2), axis=0).compute().tolist() == [0, 0, 0]
    assert dask.compute(treefold.dask.sum(da.zeros(0, chunks=1)))[0] == 0
