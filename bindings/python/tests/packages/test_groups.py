"""Exact statistics of flox's groups, and xarray's accessor `treefold`."""

import dask.array as da
import flox
import flox.xarray
import numpy as np
import pytest
import treefold
import treefold.dask
import treefold.flox
import treefold.xarray  # noqa: F401 - it registers the accessor
import xarray
from by_fractions import expected
from checks import raises
from definition import bits, items
from treefold import exact

# The statistics, each with its options.
STATISTICS = {"sum": {}, "mean": {}, "var": {"ddof": 1}, "std": {"ddof": 1}, "skewness": {"bias": False}, "kurtosis": {"bias": False}}


def by_group(x, labels, groups, statistic, nothing):
    """The values of each row's groups, by fractions."""
    rows = [[row[labels == group] for group in groups] for row in x]
    values = [[expected(statistic, some, dtype=x.dtype.str[1:], **STATISTICS[statistic]) if some.size else nothing for some in row] for row in rows]
    return np.array(values, x.dtype)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_flox(statistic, dtype):
    x = items(3 * 200, dtype, seed=1).reshape(3, 200)
    labels = np.random.default_rng(2).integers(0, 6, 200)
    groups = np.arange(8)
    nothing = 0.0 if statistic == "sum" else np.nan
    values = by_group(x, labels, groups, statistic, nothing)
    options = {"func": treefold.flox.aggregation(statistic, **STATISTICS[statistic]), "fill_value": nothing}
    found, _ = flox.groupby_reduce(x, labels, expected_groups=groups, **options)
    assert bits(found.astype(dtype)) == bits(values)
    for chunks in ((3, 200), (2, 33), (1, 7)):
        for method in ("map-reduce", "cohorts"):
            lazy = da.from_array(x, chunks=chunks)
            found, _ = flox.groupby_reduce(lazy, labels, expected_groups=groups, method=method, **options)
            assert bits(found.compute(scheduler="sync").astype(dtype)) == bits(values), (chunks, method)
    lazy = da.from_array(x, chunks=(3, 50))
    found, keys = flox.groupby_reduce(lazy, da.from_array(labels, chunks=50), **options)
    found, keys = da.compute(found, keys, scheduler="sync")
    assert bits(found.astype(dtype)) == bits(values[:, keys])
    raises(ValueError, "median", treefold.flox.aggregation, "median")


def test_flox_without_missing_items():
    x = items(200, "f8", seed=1)
    x[::7] = np.nan
    labels = np.arange(200) % 3
    function = treefold.flox.aggregation("mean", skipna=True)
    found, _ = flox.groupby_reduce(da.from_array(x, chunks=31), labels, func=function, expected_groups=np.arange(3))
    kept = ~np.isnan(x)
    assert bits(found.compute(scheduler="sync")) == bits([exact.mean(x[kept & (labels == group)]) for group in range(3)])


def test_flox_of_xarray():
    array = xarray.DataArray(items(365, "f8", seed=3), dims="time", coords={"month": ("time", np.arange(365) // 31)})
    expected = [exact.sum(array.values[31 * month : 31 * month + 31]) for month in range(12)]
    for chunks in (365, 30, 7):
        found = flox.xarray.xarray_reduce(array.chunk({"time": chunks}), array["month"], func=treefold.flox.aggregation("sum"))
        assert bits(found.values) == bits(expected)


def test_the_accessor():
    x = items(30 * 20, "f8", seed=1).reshape(30, 20)
    x[3, 4] = x[:, 7] = np.nan
    array = xarray.DataArray(x, dims=("time", "y"), coords={"y": np.arange(20)}, attrs={"unit": "K"}, name="t")
    for lazy in (array, array.chunk({"time": 7}), array.chunk({"time": 11, "y": 3})):
        for name in ("sum", "prod", "min", "max", "mean", "var", "std", "exact_sum", "exact_mean"):
            function = getattr(treefold.dask, name)
            for dim, axis in (("time", 0), (None, None), (["y"], (1,))):
                found = getattr(lazy.treefold, name)(dim)
                assert bits(found.values) == bits(np.asarray(function(x, axis, skipna=True))), name
            assert np.isnan(getattr(lazy.treefold, name)("time", skipna=False)).sum() == 2
        assert lazy.treefold.sum("time", min_count=30).isnull().values.tolist() == np.isnan(x).any(axis=0).tolist()
        assert lazy.treefold.sum("time", min_count=None, keep_attrs=True).attrs == {"unit": "K"}
        assert lazy.treefold.var("time", ddof=1).dims == ("y",)
        assert bits(lazy.to_dataset().treefold.mean("time")["t"].values) == bits(array.treefold.mean("time").values)
        assert bits(lazy.reduce(treefold.dask.sum, "time", skipna=True, min_count=3).values) == bits(array.treefold.sum("time", min_count=3).values)
