# pyright: strict
"""What type checkers know of treefold's functions for other packages: `mypy --strict` and pyright check this file, which runs as well."""

from typing import Any

import pandas as pd
import polars as pl
import treefold.pandas as tp
from treefold import polars
from typing_extensions import assert_type

frame = pd.DataFrame({"k": ["a", "b", "a"], "x": [1.0, 2.0, 4.0], "y": [1, 2, 3]})
groups = tp.groupby(frame, "k")
assert_type(groups.sum(), pd.DataFrame)
assert_type(groups.sum(["x", "y"], min_count=1), pd.DataFrame)
assert_type(groups.var("x", ddof=0), "pd.Series[Any]")
assert_type(groups.cov("x", "y"), "pd.Series[Any]")
assert_type(groups.agg({"x": "sum", "y": ["mean", "std"]}), pd.DataFrame)
assert_type(groups.agg(total=("x", "sum")), pd.DataFrame)
assert_type(tp.rolling(frame[["x"]], 2).mean(), pd.DataFrame)
assert_type(tp.SeriesAccessor(frame["x"]).count().item(), int)
assert_type(tp.DataFrameAccessor(frame).groupby(["k"]).max(), pd.DataFrame)

assert_type(polars.exact_var("x", ddof=0), pl.Expr)
assert_type(polars.exact_slope(pl.col("y"), x="x"), pl.Expr)
assert_type(polars.exact_skewness_of("state", bias=False), pl.Expr)
assert_type(polars.rolling("x", "1h", on="t").cov("y"), pl.Expr)
