"""Statistics of two arrays, skewness, kurtosis and windows over dask, xarray and flox; and pandas' accessors."""

import dask
import dask.array as da
import flox
import flox.xarray
import numpy as np
import pandas as pd
import pytest
import treefold.dask
import treefold.flox
import treefold.pandas  # noqa: F401 - it registers accessors
import treefold.xarray  # noqa: F401 - it registers accessors
import xarray
from by_fractions import expected
from checks import raises
from definition import bits, items
from treefold import _native, exact
from treefold._functions import STATISTICS, columns_of, options_of


def of(statistic, *columns, **options):
    """A statistic of all items, which have one key. tests/test_keyed_accumulator.py compares such statistics with fractions."""
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
        (1, True): [of(statistic, *(column[place, there[place]] for column in columns), **options) for place in range(40)],
        (None, True): of(statistic, *(column[there] for column in columns), **options),
    }
    for (axis, skipna), values in expected.items():
        values = np.array(values, dtype)
        assert bits(CALLS[statistic](x, y, axis=axis, skipna=skipna, **options)) == bits(values)
        for first, second in [((7, 4), (9, 6)), ((40, 6), (1, 2)), ((13, 1), (13, 1))]:
            lazy = CALLS[statistic](da.from_array(x, chunks=first), da.from_array(y, chunks=second), axis=axis, skipna=skipna, split_every=3, **options)
            assert lazy.dtype == x.dtype and bits(lazy.compute(scheduler="sync")) == bits(values)
        kept = CALLS[statistic](da.from_array(x, chunks=(7, 4)), y, axis=axis, skipna=skipna, keepdims=True, **options)
        assert kept.shape == {0: (1, 6), 1: (40, 1), None: (1, 1)}[axis] and bits(np.ravel(kept.compute(scheduler="sync"))) == bits(np.ravel(values))


def test_weights_along_an_axis_and_what_is_refused():
    x, weights = two("f8", (9, 5))[0], np.arange(1.0, 10.0)
    expected = exact.average(x, 0, weights)
    assert bits(treefold.dask.exact_average(x, 0, weights)) == bits(expected)
    lazy = treefold.dask.exact_average(da.from_array(x, chunks=(4, 2)), 0, weights)
    assert bits(lazy.compute()) == bits(expected)
    assert bits(treefold.dask.exact_average(da.from_array(x, chunks=4), 0).compute()) == bits(exact.mean(x, 0))
    integers = treefold.dask.exact_average(da.arange(10, chunks=3), weights=da.ones(10, chunks=3, dtype="i4"))
    assert integers.dtype == "f8" and integers.compute() == 4.5
    raises(ValueError, "weights has 1 axes, but array has 2", treefold.dask.exact_average, x, None, weights)
    raises(ValueError, None, treefold.dask.exact_cov, x, x[:4])
    raises(TypeError, "complex", treefold.dask.exact_corr, x, 1j * x)
    raises(TypeError, "complex", treefold.dask.exact_skewness, 1j * x)


PAIRS = ["average", "cov", "corr"]
MASKED = [(True, False), (False, True), (True, True)]


@pytest.mark.parametrize("which", MASKED, ids=str)
@pytest.mark.parametrize("statistic", PAIRS)
def test_pairs_of_which_one_is_masked_do_not_count(statistic, which):
    x, y = two("f8", (40, 6))
    random = np.random.default_rng(3)
    masks = [(random.random(x.shape) < 0.3) & is_masked for is_masked in which]
    # Masked items may have any value.
    x[masks[0]], y[masks[1]] = 1e300, np.nan
    there = ~np.logical_or(*masks)
    columns = [np.ma.array(own, mask=mask) if is_masked else own for own, mask, is_masked in zip((x, y), masks, which)]
    for axis, rows in [(0, [np.s_[:, place] for place in range(6)]), (None, [np.s_[...]])]:
        values = [expected(statistic, x[row][there[row]], y[row][there[row]], ddof=1) for row in rows]
        lazy = [da.from_array(column, chunks=chunks, asarray=False) for column, chunks in zip(columns, [(7, 4), (9, 6)])]
        for one, other in (columns, lazy, (lazy[0], columns[1]), (columns[0], lazy[1])):
            found = np.ravel(np.asarray(CALLS[statistic](one, other, axis=axis)))
            assert bits(found) == bits(np.array(values))


def test_masked_weights_that_are_broadcast():
    x = two("f8", (9, 5))[0]
    weights = np.ma.array(np.arange(1.0, 10.0), mask=np.arange(9) % 4 == 1)
    there = ~weights.mask
    values = np.array([expected("average", column[there], weights.data[there]) for column in x.T])
    for of_axis in (weights, weights[:, None]):
        assert bits(treefold.dask.exact_average(x, 0, of_axis)) == bits(values)
        for chunks in (9, 4, 1):
            lazy = da.from_array(of_axis, chunks=chunks, asarray=False)
            assert bits(treefold.dask.exact_average(da.from_array(x, chunks=(4, 2)), 0, lazy).compute()) == bits(values)
            assert bits(treefold.dask.exact_average(x, 0, lazy).compute()) == bits(values)
    assert treefold.dask.exact_average(np.array([1.0, 2.0, 101.0]), weights=np.ma.array([0.0, 1.0, 1.0], mask=[0, 0, 1])) == 2.0
    for other in (x[:4], x[:, :3], x[:1, :2]):
        for own in (x, da.from_array(x, chunks=4)):
            raises(ValueError, "y has the shape", treefold.dask.exact_cov, own, other)


def test_states_are_not_changed_by_those_that_share_them():
    x, y = two("f8", (60, 3))
    lazy = [treefold.dask.exact_cov(da.from_array(x, chunks=(7, 2), name="x"), da.from_array(y, chunks=(7, 2), name="y"), axis=0, ddof=ddof) for ddof in (0, 1, 1)]
    for scheduler in ("sync", "threads"):
        found = dask.compute(*lazy, scheduler=scheduler)
        assert bits(found[1]) == bits(found[2]) == bits([of("cov", x[:, place], y[:, place]) for place in range(3)])


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
    raises(ValueError, "window", treefold.dask.exact_rolling, x, 0)
    raises(TypeError, "window", treefold.dask.exact_rolling, x, 1.5)
    raises(ValueError, "2 axes", treefold.dask.exact_rolling, x[None], 2)
    array = da.from_array(x, chunks=40)
    raises(ValueError, "unknown sizes", treefold.dask.exact_rolling, array[array > 0], 2)


WINDOWS = {"var": {"ddof": 1}, "skewness": {"bias": False}, "cov": {"ddof": 0}, "average": {}, "corr": {}, "slope": {}}


@pytest.mark.parametrize("statistic", WINDOWS)
def test_arguments_of_windows_by_name_or_by_place(statistic):
    x, y = two("f8", (30,))
    options = WINDOWS[statistic]
    second = {"average": "weights"}.get(statistic, "y")
    columns = (y,) if statistic in ("cov", "average", "corr", "slope") else ()
    values = np.array([expected(statistic, x[k : k + 5], y[k : k + 5], **options) for k in range(26)])
    for chunks in (30, 7):
        windows = treefold.dask.exact_rolling(da.from_array(x, chunks=chunks), 5)
        for own in (y, da.from_array(y, chunks=11)):
            by_place = getattr(windows, statistic)(*[own for _ in columns], *options.values())
            by_name = getattr(windows, statistic)(**{second: own for _ in columns}, **options)
            for found in (by_place, by_name):
                assert bits(found.compute(scheduler="sync")[4:]) == bits(values)
    raises(TypeError, "ddof", windows.corr, y, ddof=1)


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
    raises(ValueError, None, array.exact.cov, other.isel(time=slice(3)).assign_coords(time=[7, 8, 9]), "time")


def test_whatever_exact_offers_is_exact():
    # NumPy's sums, products and means of these items round.
    x, y = np.array([1e16, 1.0, -1e16, 3.0]), np.array([0.1, 0.2, 0.3, 0.4])
    array, other = (xarray.DataArray(one, dims="x") for one in (x, y))
    names = [name for name in dir(array.exact) if not name.startswith("_")]
    assert "sum" in names and "corr" in names
    for rows in (array, array.to_dataset(name="a")):
        for name in names:
            ones = {"ddof": 1} if name == "cov" else {}
            found = getattr(rows.exact, name)(*[other] if name in PAIRS else [])
            assert bits(np.asarray(found["a"] if rows is not array else found)) == bits(np.asarray(expected(name, x, y, **ones))), name


@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("statistic", PAIRS)
def test_flox_of_pairs(statistic, skipna):
    x, y = two("f8", (3, 200))
    if skipna:
        x[:, ::7], y[:, ::5] = np.nan, np.nan
    labels = np.random.default_rng(2).integers(0, 5, 200)
    there = ~(np.isnan(x) | np.isnan(y))
    ddof = {"cov": 1}.get(statistic, 0)
    values = [[expected(statistic, x[k, own], y[k, own], ddof=ddof) for own in (there[k] & (labels == group) for group in range(6))] for k in range(3)]
    values = np.array(values)
    options = {"func": treefold.flox.aggregation(statistic, skipna=skipna), "expected_groups": np.arange(6), "fill_value": np.nan}
    assert bits(flox.groupby_reduce(treefold.flox.pairs(x, y), labels, **options)[0]) == bits(values)
    for first, second in [((3, 200), (1, 30)), ((2, 37), (2, 37)), ((3, 50), (3, 50))]:
        lazy = treefold.flox.pairs(da.from_array(x, chunks=first), da.from_array(y, chunks=second))
        for method in ("map-reduce", "cohorts"):
            found, _ = flox.groupby_reduce(lazy, labels, method=method, **options)
            assert bits(found.compute(scheduler="sync")) == bits(values), (first, method)
    array, other = (xarray.DataArray(one, dims=("y", "time"), coords={"time": np.arange(200)}) for one in (x, y))
    by = xarray.DataArray(labels, dims="time", name="label")
    for own in (array, array.chunk({"time": 37})):
        found = flox.xarray.xarray_reduce(treefold.flox.pairs(own, other.transpose("time", "y")), by, **options)
        assert bits(found.transpose("y", "label").values) == bits(values)


def test_the_table_has_the_statistics_of_the_native_half():
    caught = raises(ValueError, None, _native.statistic_defaults, "median")
    assert set(str(caught).partition("none of ")[2].split(", ")) == set(STATISTICS)
    for statistic, summary in STATISTICS.items():
        for of in (treefold.dask.GroupBy, treefold.dask.RollingWindows):
            assert summary.partition(" {}")[0] in getattr(of, statistic).__doc__


@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_statistic_by_dask_and_flox(statistic):
    """Every statistic of groups and of windows, compared with fractions."""
    x, y = two("f8", (60,))
    keys = np.arange(60) % 4
    columns = [x, y][: len(columns_of(statistic))]
    options = {option: {"ddof": 1.5, "bias": False}[option] for option in options_of(statistic)}

    def value(items):
        return float(len(items)) if statistic == "count" else expected(statistic, *(column[items] for column in columns), **options)

    of_groups = np.array([value(np.flatnonzero(keys == key)) for key in range(4)])
    of_windows = np.array([value(np.arange(k, k + 7)) for k in range(54)])
    of_keys = [] if statistic == "count" else columns
    at_once = getattr(treefold.dask.exact_groupby(keys, range(4)), statistic)(*of_keys, **options)
    assert bits(at_once.astype("f8")) == bits(of_groups)
    for chunks in (60, 13, (1, 40, 19)):
        lazy = [da.from_array(column, chunks=chunks) for column in columns]
        groups = treefold.dask.exact_groupby(da.from_array(keys, chunks=17), range(4))
        found = getattr(groups, statistic)(*lazy[: len(of_keys)], **options).compute(scheduler="sync")
        assert found.shape == (4,) and bits(found.astype("f8")) == bits(of_groups)
        windows = treefold.dask.exact_rolling(lazy[0], 7)
        assert bits(getattr(windows, statistic)(*lazy[1:], **options).compute(scheduler="sync")[6:]) == bits(of_windows)
        array = treefold.flox.pairs(*lazy) if len(lazy) == 2 else lazy[0]
        function = treefold.flox.aggregation(statistic, **options)
        found, _ = flox.groupby_reduce(array, keys, func=function)
        assert bits(np.asarray(found)) == bits(of_groups)
    method = getattr(groups, statistic)
    raises(TypeError, f"GroupBy.{statistic}.*: got an unexpected keyword argument 'dof'", method, *lazy[: len(of_keys)], dof=1)
    if len(columns) == 2:
        raises(ValueError, "y has 3 items, but keys has 60", method, x, y[:3])


def test_pairs():
    x, weights = two("f4", (3, 6))[0], np.array([2, 1, 0, 4, 5, 6])
    labels = np.array([0, 1, 0, 1, 1, 0])
    values = np.array([[expected("average", row[labels == k], weights[labels == k]) for k in range(2)] for row in x])
    average = treefold.flox.aggregation("average")
    for own in (x, da.from_array(x, chunks=(2, 4))):
        found, _ = flox.groupby_reduce(treefold.flox.pairs(own, weights), labels, func=average)
        assert bits(np.asarray(found)) == bits(values)
    assert bits(treefold.flox.pairs([np.inf, -0.0], np.nan)) == bits(np.array([complex(np.inf, np.nan), complex(-0.0, np.nan)]))
    covariance, _ = flox.groupby_reduce(treefold.flox.pairs(x[0], weights), labels, func=treefold.flox.aggregation("cov", ddof=0))
    assert bits(covariance) == bits(np.array([expected("cov", x[0, labels == k], weights[labels == k]) for k in range(2)]))
    masked = np.ma.array(x, mask=x > 1)
    for wrong, error, match in [
        (lambda: treefold.flox.pairs(masked, x), TypeError, "x is a masked array"),
        (lambda: treefold.flox.pairs(da.from_array(x), da.from_array(masked[0], asarray=False)).compute(), TypeError, "y is a masked array"),
        (lambda: treefold.flox.pairs(x, 1j * x), TypeError, "y has elements of type complex64"),
        (lambda: treefold.flox.pairs(x, 2**53 + np.arange(6)), ValueError, "y: item 1 is 9007199254740993"),
        (lambda: flox.groupby_reduce(x, labels, func=average), TypeError, "make them with treefold.flox.pairs"),
        (lambda: flox.groupby_reduce(2**53 + labels, labels, func=treefold.flox.aggregation("kurtosis")), ValueError, "beyond 2"),
    ]:
        raises(error, match, wrong)


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


OF_FRAMES = {"sum": "sum", "count": "count", "mean": "mean", "var": "var", "std": "std", "skew": "skewness", "kurt": "kurtosis", "min": "min", "max": "max"}


@pytest.mark.parametrize("name", OF_FRAMES)
def test_columns_of_one_name(name):
    x, y = two("f8", (2, 20))[0]
    options = {"skew": {"bias": False}, "kurt": {"bias": False}, "var": {"ddof": 1}, "std": {"ddof": 1}}.get(name, {})
    frame = pd.DataFrame(np.array([x, y, x + y]).T, columns=["a", "b", "a"])
    values = [expected(OF_FRAMES[name], column, **options) for column in (x, y, x + y)]
    found = getattr(frame.exact, name)()
    assert found.index.tolist() == ["a", "b", "a"] and found.tolist() == values
    windows = getattr(treefold.pandas.rolling(frame, 20), name)().iloc[-1]
    assert windows.index.tolist() == ["a", "b", "a"] and windows.tolist() == values
    grouped = getattr(pd.DataFrame({"k": 0, "a": x, "b": y}).exact.groupby("k"), name)(["a", "b", "a"])
    assert grouped.columns.tolist() == ["a", "b", "a"] and grouped.loc[0].tolist() == [values[0], values[1], values[0]]


def test_options_of_pandas_accessors_are_keywords():
    x, y = two("f8", (2, 20))[0]
    one, other = pd.Series(x), pd.Series(y)
    assert one.exact.var(ddof=0) == expected("var", x) and one.to_frame().exact.std(ddof=1.5)[0] == expected("std", x, ddof=1.5)
    assert one.exact.cov(other, ddof=0) == expected("cov", x, y) and one.exact.corr(other=other) == expected("corr", x, y)
    assert one.exact.average(weights=other) == expected("average", x, y)
    # As in pandas, `ddof` must be passed by keyword: the next positional argument would be the axis or the minimum number of items.
    for wrong, match in [
        (lambda: one.exact.var(0), r"SeriesAccessor.var\(\): too many positional arguments"),
        (lambda: one.to_frame().exact.var(0), r"DataFrameAccessor.var\(\): too many positional arguments"),
        (lambda: one.exact.cov(other, 0), r"SeriesAccessor.cov\(\): too many positional arguments"),
        (lambda: one.exact.sum(other), r"SeriesAccessor.sum\(\): too many positional arguments"),
        (lambda: one.exact.cov(0), "other must be a Series, not int"),
        (lambda: one.exact.corr(one.to_frame()), "other must be a Series, not DataFrame"),
    ]:
        raises(TypeError, match, wrong)


@pytest.mark.parametrize("ddof", [0, 1, 1.5, 3, 100])
@pytest.mark.parametrize("name", ["var", "std"])
def test_no_more_than_ddof_items_have_no_variance(name, ddof):
    x = np.array([1.0, np.nan, 3.0, 7.0, np.nan, 0.5])
    frame = pd.DataFrame({"k": [0, 1, 0, 0, 2, 1], "x": x, "i": [1, 2, 3, 5, 8, 13]})

    def value(items):
        items = [item for item in items if not np.isnan(item)]
        return expected(name, items, ddof=ddof) if len(items) > ddof else np.nan

    groups = frame.exact.groupby("k")
    for column in ("x", "i"):
        values = [value(frame[column][frame["k"] == key]) for key in range(3)]
        assert bits(getattr(groups, name)(column, ddof=ddof).to_numpy()) == bits(np.array(values))
    for window, least in [(2, None), (3, 1), (None, None), ("3s", None)]:
        rows = pd.Series(x, pd.date_range("2026-01-01", periods=6, freq="s"))
        reach = {None: 6, "3s": 3}.get(window, window)
        some = [x[max(0, k + 1 - reach) : k + 1] for k in range(6)]
        least_items = least or (window if isinstance(window, int) else 1)
        values = [value(items) if np.sum(~np.isnan(items)) >= least_items else np.nan for items in some]
        assert bits(getattr(treefold.pandas.rolling(rows, window, least), name)(ddof=ddof).to_numpy()) == bits(np.array(values))
