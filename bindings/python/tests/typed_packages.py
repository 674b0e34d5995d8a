# pyright: strict
"""The types of treefold's functions for other packages: `mypy --strict` and pyright check this file, which also runs."""

from typing import Any

import dask.array as da
import flox
import numpy as np
import pandas as pd
import polars as pl
import treefold.dask
import treefold.flox
import treefold.pandas as tp
import treefold.xarray
import xarray
from numpy.typing import NDArray
from treefold import polars
from typing_extensions import assert_type

# pandas
frame = pd.DataFrame({"k": ["a", "b", "a"], "x": [1.0, 2.0, 4.0], "y": [1, 2, 3]})
groups = tp.groupby(frame, "k")
assert_type(groups.sum(), pd.DataFrame)
assert_type(groups.sum(["x", "y"], min_count=1), pd.DataFrame)
assert_type(groups.var("x", ddof=0), "pd.Series[Any]")
assert_type(groups.cov("x", "y"), "pd.Series[Any]")
assert_type(groups.agg({"x": "sum", "y": ["mean", "std"]}), pd.DataFrame)
assert_type(groups.agg(total=("x", "sum")), pd.DataFrame)
assert_type(tp.rolling(frame[["x"]], 2).mean(), pd.DataFrame)
assert_type(tp.SeriesAccessor(frame["x"]).count(), np.int64)
assert_type(tp.DataFrameAccessor(frame).groupby(["k"]).max(), pd.DataFrame)

# Polars
assert_type(polars.exact_var("x", ddof=0), pl.Expr)
assert_type(polars.exact_slope(pl.col("y"), x="x"), pl.Expr)
assert_type(polars.exact_skewness_of("state", bias=False), pl.Expr)
assert_type(polars.rolling("x", "1h", on="t").cov("y"), pl.Expr)

items: NDArray[np.float64] = np.linspace(0.0, 1.0, 12).reshape(3, 4)
vector: NDArray[np.float64] = np.linspace(0.0, 1.0, 12)


def of_dask(lazy: da.Array) -> None:
    assert_type(treefold.dask.sum(lazy, min_count=1), da.Array)
    assert_type(treefold.dask.sum(items), Any)
    assert_type(treefold.dask.exact_cov(lazy, vector, ddof=0), da.Array)
    assert_type(treefold.dask.exact_dot(vector, lazy), da.Array)
    assert_type(treefold.dask.exact_groupby(lazy, [0.0]).var(lazy, ddof=0), da.Array)
    assert_type(treefold.dask.exact_rolling(lazy, 2).corr(vector), da.Array)
    assert_type(treefold.flox.pairs(lazy, vector), da.Array)


of_dask(da.asanyarray(vector))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

# xarray and flox
array = xarray.DataArray(items, dims=("y", "x"))
assert_type(treefold.xarray.Accessor(array).sum("x", min_count=1), xarray.DataArray)
assert_type(treefold.xarray.ExactAccessor(array.to_dataset(name="t")).var(["x", "y"], ddof=1), xarray.Dataset)
assert_type(treefold.xarray.ExactAccessor(array).average(array, dim="x"), xarray.DataArray)
assert_type(treefold.flox.aggregation("mean", skipna=True), flox.Aggregation)
assert_type(treefold.flox.pairs(vector, vector), NDArray[np.complex128])
