"""xarray's arrays, and the columns of Polars and Arrow."""

import numpy as np
import polars
import pyarrow
import pyarrow.parquet
import pytest
import treefold
import treefold.dask
import xarray
from definition import bits, items


def test_xarray():
    x = items(30 * 20 * 10, "f4", seed=1).reshape(30, 20, 10)
    array = xarray.DataArray(x, dims=("time", "y", "x"), coords={"y": np.arange(20)})
    for dims, axis in [("time", 0), (["y", "x"], (1, 2)), (None, None)]:
        assert bits(array.reduce(treefold.sum, dims).values) == bits(treefold.sum(x, axis))
        for chunks in ({"time": 7}, {"y": 3, "x": 4}):
            lazy = array.chunk(chunks).reduce(treefold.dask.mean, dims)
            assert lazy.chunks is not None
            assert bits(lazy.values) == bits(treefold.mean(x, axis))
    sums = [array.chunk({"time": length}).mean().values for length in (30, 7, 1)]
    assert len({bits(one) for one in sums}) > 1, "the test could not fail"
    by_dimension = xarray.apply_ufunc(treefold.sum, array, input_core_dims=[["time"]], kwargs={"axis": -1})
    assert bits(by_dimension.values) == bits(treefold.sum(x, 0))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_columns(dtype):
    x = items(1001, dtype, seed=2)
    expected = bits(treefold.sum(x))
    series = polars.Series("values", x)
    for column in (series, polars.concat([series[:300], series[300:]], rechunk=False)):
        assert bits(treefold.sum(column)) == expected
    arrow = pyarrow.array(x)
    for column in (arrow, pyarrow.chunked_array([arrow[:7], arrow[7:]])):
        assert bits(treefold.sum(column)) == expected


def test_a_file_read_in_pieces(tmp_path):
    x = items(10_000, "f8", seed=4)
    polars.DataFrame({"values": x}).write_parquet(tmp_path / "table.parquet", row_group_size=999)
    start, parts = 0, []
    for group in pyarrow.parquet.ParquetFile(tmp_path / "table.parquet").iter_batches(1234):
        parts.append(treefold.Partial(group["values"], start, total=x.size))
        start += len(group)
    whole = parts[0]
    for part in parts[1:]:
        whole = part + whole
    assert bits(whole.value()) == bits(treefold.sum(x))
