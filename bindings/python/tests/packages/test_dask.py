"""Reductions of dask arrays have the bits of reductions of the whole array, whatever the chunks and the scheduler."""

import os
import signal
import time
import warnings

import dask
import dask.array as da
import numpy as np
import pytest
import treefold
import treefold.dask
from checks import raises
from definition import bits, items
from treefold import exact

AXES = [None, 0, 1, 2, -1, (0, 1), (1, 2), (0, 2), (0, 1, 2), ()]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "?"])
@pytest.mark.parametrize("chunks", [(4, 5, 6), (9, 5, 6), (9, 14, 3), (3, 14, 11), (3, 5, 4), -1, ((1, 7, 1), (14,), (10, 1))])
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
@pytest.mark.parametrize("chunks", [(4, 5, 6), (9, 14, 3), -1])
def test_exact_sums(chunks, dtype):
    # Large items cancel, and rounded intermediate sums would lose all other items.
    x = items(9 * 14 * 11, dtype, seed=5).reshape(9, 14, 11)
    x = np.concatenate([x * x.dtype.type(1e20), -x * x.dtype.type(1e20), x])
    array = da.from_array(x, chunks=chunks)
    for axis in AXES:
        for keepdims in (False, True):
            found = treefold.dask.exact_sum(array, axis=axis, keepdims=keepdims)
            expected = exact.sum(x, axis=axis, keepdims=keepdims)
            assert isinstance(found, da.Array) and found.dtype == expected.dtype and found.shape == expected.shape
            assert bits(found.compute(scheduler="sync")) == bits(expected), axis
    raises(TypeError, "integers|int", treefold.dask.exact_sum, da.from_array(np.arange(9), chunks=4))


def test_dasks_own_sum_depends_on_chunks():
    x = items(30_000, "f8", seed=1)
    sums = {da.from_array(x, chunks=chunks).sum().compute() for chunks in (30_000, 999, 4096, 133)}
    assert len(sums) > 1
    sums = {treefold.dask.sum(da.from_array(x, chunks=chunks)).compute() for chunks in (30_000, 999, 4096, 133)}
    assert sums == {treefold.sum(x)}


def test_graphs_are_small_and_built_at_once():
    array = da.ones(1_000_000, chunks=1000)
    begin = time.process_time()
    graph = dict(treefold.dask.sum(array).__dask_graph__())
    assert time.process_time() - begin < 0.5, "dask's own takes 0.02 s"
    assert len(graph) < 2 * len(dict(array.sum().__dask_graph__()))


def test_equal_calls_share_their_tasks():
    x = items(9 * 14, "f8", seed=6).reshape(9, 14)
    array = da.from_array(x, chunks=(2, 5), name="x")
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        for function in (treefold.dask.sum, treefold.dask.var, treefold.dask.exact_sum, treefold.dask.exact_var):
            assert function(array, axis=0).name == function(array, axis=0).name
    means, spreads = treefold.dask.exact_mean(array, axis=0), treefold.dask.exact_var(array, axis=0)
    assert len(set(means.__dask_graph__()) & set(spreads.__dask_graph__())) > len(means.__dask_graph__()) - 5
    # These results share tasks, so merging must not change a state.
    for scheduler in ("sync", "threads"):
        found = dask.compute(means, spreads, treefold.dask.exact_std(array), treefold.dask.exact_std(array, axis=0), scheduler=scheduler)
        assert [bits(one) for one in found] == [bits(one) for one in (exact.mean(x, 0), exact.var(x, 0), exact.std(x), exact.std(x, 0))]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1])
def test_spreads(dtype, axis):
    x = items(9 * 14 * 11, dtype, seed=6).reshape(9, 14, 11)
    for chunks in ((4, 5, 6), (9, 14, 3), -1):
        array = da.from_array(x, chunks=chunks)
        for ddof in (0, 1, 1.5):
            expected = treefold.var(x, axis, ddof=ddof)
            found = treefold.dask.var(array, axis, ddof=ddof)
            assert found.dtype == expected.dtype and bits(found.compute(scheduler="sync")) == bits(expected)
        roots = treefold.dask.std(array, axis, keepdims=True, split_every=3)
        assert bits(roots.compute(scheduler="sync")) == bits(np.sqrt(treefold.var(x, axis, keepdims=True)))
        if dtype != "i4":
            for name in ("mean", "var", "std"):
                found = getattr(treefold.dask, f"exact_{name}")(array, axis)
                assert bits(found.compute(scheduler="sync")) == bits(getattr(exact, name)(x, axis))


def with_holes(x, found, op):
    """Reduces by definition: a node with one child has the child's value, unchanged, and a node without children has no value."""
    values = [item if known else None for item, known in zip(x, found)]
    combine = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}[op]

    def node(values):
        if len(values) == 1:
            return values[0]
        left = 1 << (len(values) - 1).bit_length() - 1
        one, other = node(values[:left]), node(values[left:])
        return (other if one is None else one) if one is None or other is None else combine(one, other)

    with np.errstate(all="ignore"):
        return node(values)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
def test_missing_items(dtype):
    x = items(40 * 6, dtype, seed=8).reshape(40, 6)
    x[np.random.default_rng(1).random(x.shape) < 0.3] = np.nan
    x[:, 1], x[:, 2], x[5, 2] = np.nan, np.nan, -0.0
    found = ~np.isnan(x)
    for op in ("sum", "prod", "min", "max"):
        if dtype == "c8" and op != "sum":
            continue
        nothing = {"sum": 0, "prod": 1}.get(op, np.nan)
        columns = [with_holes(x[:, column], found[:, column], op) for column in range(6)]
        expected = np.array([nothing if value is None else value for value in columns], dtype)
        for chunks in ((7, 6), (40, 5), (16, 2)):
            result = getattr(treefold.dask, op)(da.from_array(x, chunks=chunks), axis=0, skipna=True)
            assert bits(result.compute(scheduler="sync")) == bits(expected), op
        assert bits(getattr(treefold.dask, op)(x, axis=0, skipna=True)) == bits(expected)
    array = da.from_array(x, chunks=(7, 4))
    counts = found.sum(axis=0)
    few = treefold.dask.sum(array, axis=0, min_count=20).compute(scheduler="sync")
    assert np.array_equal(np.isnan(few), counts < 20)
    kept = [x[:, column][found[:, column]] for column in range(6)]
    sums = treefold.dask.exact_sum(array, axis=0, skipna=True).compute(scheduler="sync")
    assert bits(sums) == bits([exact.sum(column) for column in kept])
    means = treefold.dask.exact_mean(array, axis=0, skipna=True).compute(scheduler="sync")
    assert bits(means) == bits([exact.mean(column) for column in kept])
    for name in ("sum", "mean", "var", "std"):
        found = getattr(treefold.dask, name)(array, axis=0, skipna=True).compute(scheduler="sync")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert bits(found) == bits(getattr(treefold, f"nan{name}")(x, axis=0)), name
            np.testing.assert_allclose(found, getattr(np, f"nan{name}")(x, axis=0), rtol=1e-4)


def test_masked_items_do_not_count():
    x = np.ma.array(items(60, "f8", seed=9), mask=np.arange(60) % 7 == 3)
    expected = treefold.dask.sum(np.where(x.mask, np.nan, x.data), skipna=True)
    assert bits(treefold.dask.sum(da.from_array(x, chunks=8)).compute(scheduler="sync")) == bits(expected)
    mean = treefold.dask.mean(da.from_array(x, chunks=8)).compute(scheduler="sync")
    assert mean == expected / (~x.mask).sum()


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8", "?"])
def test_products(dtype):
    x, y = items(1000, dtype, seed=1), items(1000, dtype, seed=2)
    for one, other in ((333, 333), (100, 77), (1000, 1)):
        lazy = da.from_array(x, chunks=one), da.from_array(y, chunks=other)
        assert bits(treefold.dask.dot(*lazy).compute(scheduler="sync")) == bits(treefold.dot(x, y))
        assert bits(treefold.dask.dot(lazy[0], y).compute(scheduler="sync")) == bits(treefold.dot(x, y))
        if dtype in ("f4", "f8", "c16"):
            assert bits(treefold.dask.exact_dot(*lazy).compute(scheduler="sync")) == bits(exact.dot(x, y))
    assert bits(treefold.dask.dot(x, y)) == bits(treefold.dot(x, y))
    raises(ValueError, "y has 999 items, but x has 1000", treefold.dask.dot, lazy[0], y[1:])
    raises(ValueError, "x has 2 axes", treefold.dask.dot, da.ones((3, 3)), y)
    masked = np.ma.array(x, mask=np.arange(1000) % 7 == 3)
    for own in (masked, da.from_array(masked, chunks=300, asarray=False)):
        for product in (treefold.dask.dot, treefold.dask.exact_dot):
            raises(TypeError, "masked", lambda: np.asarray(product(own, y)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_by_key(dtype):
    x = items(3000, dtype, seed=4)
    keys = np.random.default_rng(5).integers(-3, 20, x.size)
    groups = np.array([7, -3, 400, 0, 19])
    expected = exact.groupby(keys)
    place = [int(np.searchsorted(expected.keys, key)) for key in groups]
    for chunks in (3000, 512, (1, 2998, 1)):
        grouped = treefold.dask.exact_groupby(da.from_array(keys, chunks=(chunks,)), groups)
        lazy = da.from_array(x, chunks=700)
        for name in ("sum", "mean", "var", "std"):
            if dtype == "c16" and name != "sum":
                continue
            found = getattr(grouped, name)(lazy).compute(scheduler="sync")
            values = getattr(expected, name)(x)
            nothing = values.dtype.type(0 if name == "sum" else np.nan)
            wanted = [nothing if key == 400 else values[at] for key, at in zip(groups, place)]
            assert bits(found) == bits(np.array(wanted)), name
        counts = grouped.count().compute(scheduler="sync")
        assert counts.tolist() == [0 if key == 400 else expected.count()[at] for key, at in zip(groups, place)]
    words = np.array(["pear", "plum"])[keys % 2]
    assert bits(treefold.dask.exact_groupby(words, ["plum", "pear"]).sum(x)) == bits(exact.groupby(words).sum(x)[::-1])
    raises(ValueError, "twice", treefold.dask.exact_groupby, keys, [1, 1])
    masked = np.ma.array(keys, mask=keys % 3 == 0)
    for own in (masked, da.from_array(masked, chunks=700, asarray=False)):
        grouped = treefold.dask.exact_groupby(own, groups)
        expected = treefold.dask.exact_groupby(masked.compressed(), groups)
        assert bits(np.asarray(grouped.sum(x))) == bits(expected.sum(x[~masked.mask]))
        assert np.asarray(grouped.count()).tolist() == expected.count().tolist()
    raises(ValueError, "keys have 2 axes", treefold.dask.exact_groupby, np.zeros((2, 2)), [0.0])


def test_integers_by_key_are_not_rounded():
    random = np.random.default_rng(5)
    for dtype in ("i8", "u8", "i2", "?"):
        x = items(3000, dtype, seed=4)
        x[:3] = [2**53 + 1, 2**53 + 1, 2**53] if dtype in ("i8", "u8") else x[:3]
        keys = random.integers(0, 4, x.size)
        keys[:3] = 4
        expected = exact.groupby(keys)
        for chunks in (3000, 700):
            grouped = treefold.dask.exact_groupby(da.from_array(keys, chunks=chunks), expected.keys)
            sums = grouped.sum(da.from_array(x, chunks=700)).compute(scheduler="sync")
            assert sums.tolist() == [float(sum(int(one) for one in x[keys == key])) for key in expected.keys]
            for name in ("mean", "var", "std"):
                found = getattr(grouped, name)(da.from_array(x, chunks=700)).compute(scheduler="sync")
                assert bits(found) == bits(getattr(expected, name)(x)), name
    difference = np.array([2**53 + 1, 2**53 + 1, -(2**53) - 1, -(2**53)])
    assert treefold.dask.exact_groupby([0] * 4, [0]).sum(difference).tolist() == [1.0]


def test_exact_sums_need_no_sizes_of_chunks():
    x = items(2000, "f8", seed=7)
    array = da.from_array(x, chunks=300)
    some, expected = array[array > 0], x[x > 0]
    assert bits(treefold.dask.exact_sum(some).compute(scheduler="sync")) == bits(exact.sum(expected))
    assert bits(treefold.dask.exact_mean(some).compute(scheduler="sync")) == bits(exact.mean(expected))
    assert bits(treefold.dask.exact_dot(some, some).compute(scheduler="sync")) == bits(exact.dot(expected, expected))
    keys = treefold.dask.exact_groupby((some > 1).astype(int), [0, 1])
    assert bits(keys.sum(some).compute(scheduler="sync")) == bits(exact.groupby(expected > 1).sum(expected))
    raises(ValueError, "compute_chunk_sizes", treefold.dask.sum, some)


def test_numpys_arrays_are_reduced_at_once():
    x = items(9 * 14, "f8", seed=3).reshape(9, 14)
    for name in ("sum", "prod", "min", "max", "mean", "var"):
        found = getattr(treefold.dask, name)(x, axis=1)
        assert type(found) is np.ndarray and bits(found) == bits(getattr(treefold, name)(x, axis=1))
    assert type(treefold.dask.sum([1.0, 2.0])) is np.float64
    assert treefold.dask.sum(x, dtype="f4").dtype == np.float32
    lazy = treefold.dask.sum(da.from_array(x, chunks=4), dtype="f4").compute(scheduler="sync")
    assert bits(lazy) == bits(treefold.sum(x.astype("f4")))


def test_schedulers():
    x = items(40_000, "f8", seed=2).reshape(200, 200)
    array = treefold.dask.sum(da.from_array(x, chunks=(70, 130)), axis=0)
    expected = bits(treefold.sum(x, 0))
    for scheduler in ("sync", "threads", "processes"):
        assert bits(array.compute(scheduler=scheduler)) == expected


def slowly(block):
    time.sleep(0.05)
    return block


def test_workers_in_processes_of_which_one_dies():
    distributed = pytest.importorskip("distributed")
    x = items(40_000, "f8", seed=2).reshape(200, 200)
    keys = np.arange(40_000) % 5
    expected = [treefold.sum(x, 0), treefold.var(x), exact.sum(x), exact.groupby(keys).mean(x.ravel())]

    def results(chunks):
        array = da.from_array(x, chunks=chunks).map_blocks(slowly)
        grouped = treefold.dask.exact_groupby(da.from_array(keys, chunks=9000), np.arange(5))
        module = treefold.dask
        return [module.sum(array, 0), module.var(array), module.exact_sum(array), grouped.mean(array.ravel())]

    def check(client, futures):
        assert [bits(one) for one in client.gather(futures)] == [bits(one) for one in expected]

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        check(client, client.compute(results((70, 130))))
        futures = client.compute(results((40, 50)))
        time.sleep(0.3)
        pids = client.run(os.getpid)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        check(client, futures)
        assert set(client.run(os.getpid).values()) != set(pids.values()), "no worker died"
        cluster.scale(1)
        check(client, client.compute(results((200, 33))))


def test_what_is_refused():
    array = da.from_array(np.arange(9.0), chunks=4)
    raises(ValueError, "compute_chunk_sizes", treefold.dask.sum, array[array > 3])
    raises(np.exceptions.AxisError, None, treefold.dask.sum, array, axis=1)
    raises(TypeError, None, treefold.dask.min, array.astype("c16"))
    raises(ValueError, "zero-size", treefold.dask.max, da.zeros((0, 3), chunks=2))
    for arguments, error, match in [
        ({"split_every": 1}, ValueError, "split_every"),
        ({"split_every": 2.5}, TypeError, "split_every"),
        ({"keepdims": 1}, TypeError, "keepdims"),
        ({"min_count": 1.5}, TypeError, "min_count"),
        ({"dtype": "S3"}, TypeError, "S3"),
    ]:
        raises(error, match, treefold.dask.sum, array, **arguments)
    for name in ("var", "exact_var", "exact_cov"):
        raises(TypeError, "ddof: 'one' is not a number", getattr(treefold.dask, name), array, *[array] if name == "exact_cov" else [], ddof="one")
    raises(TypeError, r"exact_sum\(\): got an unexpected keyword argument 'ddof'", treefold.dask.exact_sum, array, ddof=1)
    raises(TypeError, "complex", treefold.dask.prod, array.astype("c16"), skipna=True)
    raises(TypeError, "object", treefold.dask.sum, array.astype(object))
    assert treefold.dask.sum(da.zeros((4, 0), chunks=(2, 0)), axis=0).compute().shape == (0,)
    assert treefold.dask.sum(da.zeros((0, 3), chunks=2), axis=0).compute().tolist() == [0, 0, 0]
    assert dask.compute(treefold.dask.sum(da.zeros(0, chunks=1)))[0] == 0
