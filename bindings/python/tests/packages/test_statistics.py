"""Statistics of two arrays, skewness, kurtosis and windows over dask, xarray and flox; and pandas' accessors."""

import dask
import dask.array as da
import flox
import numpy as np
import pandas as pd
import pytest
import treefold.dask
import treefold.flox
import treefold.pandas  # noqa: F401 - it registers accessors
import treefold.xarray  # noqa: F401 - so does it
import xarray
from definition import bits, items
from treefold import exact


def of(statistic, *columns, **options):
    """Of all items, as one key: tests/test_keyed_accumulator.py compares it with fractions."""
    held = exact.KeyedAccumulator(statistic, columns[0].dtype)
    held.add(np.zeros(len(columns[0]), np.int64), *columns)
    return held.value(**options)[0] if len(held) else np.nan


def two(dtype, shape):
    x, y = (items(int(np.prod(shape)), dtype, seed=seed).reshape(shape) for seed in (3, 4))
    return x, (x / 2 + y).astype(dtype)


CALLS = {
    "average": lambda x, y, **options: treefold.dask.exact_average(x, weights=y, **options),
    "cov": treefold.dask.exact_cov,
    "corr": treefold.dask.exact_corr,
    "skewness": lambda x, y, **options: treefold.dask.exact_skewness(x, **options),
    "kurtosis": lambda x, y, **options: treefold.dask.exact_kurtosis(x, **options),
}
OPTIONS = {"cov": {"ddof": 0}, "skewness": {"bias": False}, "kurtosis": {"bias": False}}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("statistic", CALLS)
def test_any_chunks(statistic, dtype):
    x, y = two(dtype, (40, 6))
    x[3, 2] = y[5, 2] = y[7, 4] = np.nan
    columns = (x, y) if statistic in ("average", "cov", "corr") else (x,)
    options = OPTIONS.get(statistic, {})
    there = ~np.logical_or.reduce([np.isnan(column) for column in columns])
    expected = {
        (0, False): [of(statistic, *(column[:, place] for column in columns), **options) for place in range(6)],
        (0, True): [of(statistic, *(column[there[:, place], place] for column in columns), **options) for place in range(6)],
        (None, True): of(statistic, *(column[there] for column in columns), **options),
    }
    for (axis, skipna), values in expected.items():
        values = np.array(values, dtype)
        assert bits(CALLS[statistic](x, y, axis=axis, skipna=skipna, **options)) == bits(values)
        for first, second in [((7, 4), (9, 6)), ((40, 6), (1, 2)), ((13, 1), (13, 1))]:
            lazy = CALLS[statistic](da.from_array(x, chunks=first), da.from_array(y, chunks=second), axis=axis, skipna=skipna, split_every=3, **options)
            assert lazy.dtype == x.dtype and bits(lazy.compute(scheduler="sync")) == bits(values)
        kept = CALLS[statistic](da.from_array(x, chunks=(7, 4)), y, axis=axis, skipna=skipna, keepdims=True, **options)
        assert kept.shape == ((1, 6) if axis == 0 else (1, 1)) and bits(np.ravel(kept.compute(scheduler="sync"))) == bits(np.ravel(values))


def test_weights_along_an_axis_and_what_is_refused():
    x, weights = two("f8", (9, 5))[0], np.arange(1.0, 10.0)
    expected = exact.average(x, 0, weights)
    assert bits(treefold.dask.exact_average(x, 0, weights)) == bits(expected)
    lazy = treefold.dask.exact_average(da.from_array(x, chunks=(4, 2)), 0, weights)
    assert bits(lazy.compute()) == bits(expected)
    assert bits(treefold.dask.exact_average(da.from_array(x, chunks=4), 0).compute()) == bits(exact.mean(x, 0))
    integers = treefold.dask.exact_average(da.arange(10, chunks=3), weights=da.ones(10, chunks=3, dtype="i4"))
    assert integers.dtype == "f8" and integers.compute() == 4.5
    with pytest.raises(ValueError, match="weights has 1 axes, and array 2"):
        treefold.dask.exact_average(x, None, weights)
    with pytest.raises(ValueError):
        treefold.dask.exact_cov(x, x[:4])
    with pytest.raises(TypeError, match="complex"):
        treefold.dask.exact_corr(x, 1j * x)
    with pytest.raises(TypeError, match="complex"):
        treefold.dask.exact_skewness(1j * x)


def test_states_are_not_changed_by_those_that_share_them():
    x, y = two("f8", (60, 3))
    lazy = [treefold.dask.exact_cov(da.from_array(x, chunks=(7, 2), name="x"), da.from_array(y, chunks=(7, 2), name="y"), axis=0, ddof=ddof) for ddof in (0, 1, 1)]
    for scheduler in ("sync", "threads"):
        found = dask.compute(*lazy, scheduler=scheduler)
        assert bits(found[1]) == bits(found[2]) == bits([of("cov", x[:, place], y[:, place]) for place in range(3)])


@pytest.mark.parametrize("statistic", CALLS)
def test_groups(statistic):
    x, y = two("f8", (300,))
    keys = np.random.default_rng(3).integers(0, 7, 300)
    columns = (x, y) if statistic in ("average", "cov", "corr") else (x,)
    held = exact.KeyedAccumulator(statistic)
    held.add(keys, *columns)
    assert held.keys() == list(range(7))
    options = OPTIONS.get(statistic, {})
    for chunks in (300, 40, (1, 200, 99)):
        groups = treefold.dask.exact_groupby(da.from_array(keys, chunks=37), range(7))
        lazy = getattr(groups, statistic)(*(da.from_array(column, chunks=chunks) for column in columns), **options)
        assert lazy.shape == (7,) and bits(lazy.compute(scheduler="sync")) == bits(held.value(**options))
    assert bits(getattr(treefold.dask.exact_groupby(keys, range(7)), statistic)(*columns, **options)) == bits(held.value(**options))
    if len(columns) == 2:
        with pytest.raises(ValueError, match="y has 3 items, and keys 300"):
            getattr(treefold.dask.exact_groupby(keys, range(7)), statistic)(x, y[:3])


def test_windows_over_chunks():
    x = items(200, "f8", seed=5)
    for window in (1, 2, 17, 150, 300):
        whole = exact.rolling(x, window, 1)
        for chunks in (200, 40, 7, (1, 100, 99)):
            windows = treefold.dask.exact_rolling(da.from_array(x, chunks=chunks), window, 1)
            for name in [name for name in ("sum", "mean", "var", "kurtosis") if hasattr(whole, name)]:
                lazy = getattr(windows, name)()
                assert lazy.dtype == x.dtype and bits(lazy.compute(scheduler="sync")) == bits(getattr(whole, name)()), (name, window, chunks)
    assert bits(treefold.dask.exact_rolling(x, 3).sum()) == bits(exact.rolling(x, 3).sum())
    with pytest.raises(ValueError, match="window"):
        treefold.dask.exact_rolling(x, 0)
    with pytest.raises(TypeError, match="window"):
        treefold.dask.exact_rolling(x, 1.5)
    with pytest.raises(ValueError, match="2 axes"):
        treefold.dask.exact_rolling(x[None], 2)
    array = da.from_array(x, chunks=40)
    with pytest.raises(ValueError, match="unknown sizes"):
        treefold.dask.exact_rolling(array[array > 0], 2)


def test_xarrays_accessor():
    x, y = two("f8", (8, 5, 6))
    y[2, 1, 3] = np.nan
    for chunks in ({}, {"time": 3, "x": 2}):
        array, other = (xarray.DataArray(one, dims=("time", "y", "x")) for one in (x, y))
        array = array.chunk(chunks) if chunks else array
        assert bits(array.exact.var("time").values) == bits(exact.var(x, 0))
        assert bits(array.exact.skewness("time", bias=False).values.ravel()[0]) == bits(of("skewness", x[:, 0, 0], bias=False))
        there = ~np.isnan(y[:, 1, 3])
        for name in ("cov", "corr", "average"):
            found = getattr(array.exact, name)(other, "time")
            assert found.dims == ("y", "x")
            assert bits(found.values[1, 3]) == bits(of(name, x[there, 1, 3], y[there, 1, 3]))
            turned = getattr(array.exact, name)(other.transpose("x", "time", "y"), "time")
            assert bits(turned.values) == bits(found.values)
        areas = xarray.DataArray(np.arange(1.0, 6.0), dims="y")
        found = array.exact.average(areas, ("y", "x"))
        assert found.dims == ("time",) and bits(found.values) == bits([of("average", x[k].ravel(), np.repeat(np.arange(1.0, 6.0), 6)) for k in range(8)])
        both = xarray.Dataset({"a": array, "b": 2 * array}).exact.average(areas, ("y", "x"))
        assert bits(both["a"].values) == bits(found.values) and both["b"].dims == ("time",)
    with pytest.raises(ValueError):
        array.exact.cov(other.isel(time=slice(3)).assign_coords(time=[7, 8, 9]), "time")


@pytest.mark.parametrize("statistic", ["skewness", "kurtosis"])
def test_flox(statistic):
    x, _ = two("f4", (3, 200))
    labels = np.random.default_rng(2).integers(0, 5, 200)
    expected = np.array([[of(statistic, row[labels == group], bias=False) for group in range(6)] for row in x], "f4")
    func = treefold.flox.aggregation(statistic, bias=False)
    for array, options in [(x, {}), (da.from_array(x, chunks=(2, 37)), {"method": "map-reduce"}), (da.from_array(x, chunks=(3, 50)), {"method": "cohorts"})]:
        found, _ = flox.groupby_reduce(array, labels, func=func, expected_groups=np.arange(6), fill_value=np.nan, **options)
        assert bits(np.asarray(found).astype("f4")) == bits(expected)


def test_pandas_accessors_have_pandas_values():
    random = np.random.default_rng(7)
    frame = pd.DataFrame({"k": random.integers(0, 4, 60), "x": random.standard_normal(60), "y": random.standard_normal(60)})
    frame.loc[frame.index[::9], "x"] = np.nan
    x, y = frame["x"], frame["y"]
    for name in ("sum", "count", "mean", "var", "std", "skew", "kurt", "min", "max"):
        np.testing.assert_allclose(getattr(x.exact, name)(), getattr(x, name)(), rtol=1e-12)
        own = getattr(frame[["x", "y"]].exact, name)()
        np.testing.assert_allclose(own, getattr(frame[["x", "y"]], name)(), rtol=1e-12)
        grouped = getattr(frame.exact.groupby("k"), name)("x")
        pd.testing.assert_series_equal(grouped, getattr(frame.groupby("k")["x"], name)(), check_exact=False, rtol=1e-12)
    assert bits(x.exact.skew()) == bits(of("skewness", x.dropna().to_numpy(), bias=False))
    shuffled = y.sample(frac=1, random_state=1)
    for name in ("cov", "corr"):
        np.testing.assert_allclose(getattr(x.exact, name)(shuffled), getattr(x, name)(y), rtol=1e-12)
        grouped = getattr(frame.exact.groupby("k"), name)("x", "y")
        for key, rows in frame.groupby("k"):
            np.testing.assert_allclose(grouped[key], getattr(rows["x"], name)(rows["y"]), rtol=1e-12)
    there = x.notna()
    assert bits(x.exact.average(y)) == bits(exact.average(x[there], weights=y[there]))
    assert np.isnan(x[:1].exact.cov(y)) and np.isnan(x[1:2].exact.var())
