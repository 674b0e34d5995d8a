"""Exact sums as expressions of Polars, compared with fractions."""

import importlib
import itertools
import math
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
import treefold
import treefold.polars as tp
from checks import SEED, raises
from definition import bits, by_definition
from figures import MEANS, SUMS, WINDOWS, columns, expected, hexed

TYPES = {"f8": pl.Float64, "f4": pl.Float32, "i1": pl.Int8, "i8": pl.Int64, "u8": pl.UInt64}
FIGURES = ["sum", "mean", "var", "std"]
NAMES = ["whole", "some", "few", "special", "single", "small", "large", "unsigned", "zeros"]


def whole(figure, *arguments):
    return getattr(tp, f"exact_{figure}")(*arguments)


def of_lists(figure, *arguments):
    return getattr(tp, f"exact_list_{figure}")(*arguments)


def frame_of(rows=3000, groups=17):
    """Random columns and keys, as a frame of several chunks. The frame's first row is in the middle of a byte of each bitmap."""
    random = np.random.default_rng(SEED)
    drawn = columns(random, rows)
    keys = random.integers(0, groups, rows).tolist()
    frame = pl.DataFrame({"k": keys, **{name: pl.Series(items, dtype=TYPES[dtype]) for name, (dtype, items) in drawn.items()}})
    parts = [frame[:100], frame[100:103], frame[103:103], frame[103:]]
    frame = pl.concat(parts, rechunk=False)[3:]
    return frame, keys[3:], {name: (dtype, items[3:]) for name, (dtype, items) in drawn.items()}


def figure_of(items, figure, dtype):
    """The expected value for items, some of them missing; and the type of the result."""
    kept = [item for item in items if item is not None]
    if dtype[0] == "f":
        return hexed(expected(kept, figure, dtype)), TYPES[dtype]
    if figure == "sum":
        return hexed(sum(kept)), pl.UInt64 if dtype == "u8" else pl.Int64
    return hexed(expected(kept, figure)), pl.Float64


@pytest.mark.parametrize("name", NAMES)
def test_figures(name):
    frame, keys, drawn = frame_of()
    assert frame.n_chunks() > 1, "the test would see one chunk"
    dtype, items = drawn[name]
    groups = {key: [item for own, item in zip(keys, items) if own == key] for key in sorted(set(keys))}
    for figure in FIGURES:
        value, result_type = figure_of(items, figure, dtype)
        series = frame.select(whole(figure, name)).to_series()
        assert (hexed(series.item()), series.dtype, series.name) == (value, result_type, name)
        assert hexed(frame.rechunk().select(whole(figure, pl.col(name))).item()) == value

        values = [figure_of(of_key, figure, dtype)[0] for of_key in groups.values()]
        in_agg = frame.group_by("k").agg(whole(figure, name)).sort("k")
        assert in_agg["k"].to_list() == list(groups)
        assert list(map(hexed, in_agg[name])) == values
        over = frame.select("k", whole(figure, name).over("k")).unique(subset="k").sort("k")
        assert list(map(hexed, over[name])) == values
        lists = frame.group_by("k").agg(name).sort("k")
        own = lists.select(of_lists(figure, name)).to_series()
        assert (list(map(hexed, own)), own.dtype) == (values, result_type)
        # The column is sliced, is in chunks, and has missing lists.
        missing = lists.select(pl.when(pl.col("k") % 3 != 1).then(pl.col(name)).alias(name))
        missing = pl.concat([missing[:5], missing[5:]], rechunk=False)[1:]
        own = missing.select(of_lists(figure, name)).to_series()
        assert list(map(hexed, own)) == [None if key % 3 == 1 else value for key, value in zip(groups, values)][1:]


@pytest.mark.parametrize("name", ["some", "large"])
def test_both_engines(name):
    frame, _, _ = frame_of()
    for figure in FIGURES:
        queries = [
            frame.lazy().select(whole(figure, name)),
            frame.lazy().group_by("k").agg(whole(figure, name)).sort("k"),
            frame.lazy().group_by("k").agg(name).select("k", of_lists(figure, name)).sort("k"),
            frame.lazy().filter(pl.col("k") > 100).select(whole(figure, name)),
        ]
        for query in queries:
            try:
                streamed = query.collect(engine="streaming")
            except TypeError:
                # Older versions of Polars have another argument for this.
                streamed = query.collect(streaming=True)
            assert streamed.equals(query.collect())


@pytest.mark.parametrize("long", [0, 1])
def test_lists(long):
    """Lists of all lengths around those at which the algorithm changes, with nulls or without."""
    random = np.random.default_rng(SEED)
    lengths = [5000, 0, 4096, 1, 4097] if long else [*range(40), 0, 0, 100, 600]
    rows = [random.standard_normal(length).tolist() for length in lengths]
    holed = [[None if place % 3 == 1 else item for place, item in enumerate(row)] for row in rows]
    frame = pl.DataFrame({"x": rows, "holed": holed}, schema={"x": pl.List(pl.Float64), "holed": pl.List(pl.Float64)})
    for name, lists in [("x", rows), ("holed", holed)]:
        kept = [[item for item in row if item is not None] for row in lists]
        for figure in FIGURES:
            own = frame.select(of_lists(figure, name)).to_series()
            assert list(map(hexed, own)) == [hexed(expected(row, figure)) for row in kept]
        trees = frame.select(tp.tree_sum(name)).to_series()
        assert bits(trees.to_numpy()) == bits(np.array([by_definition(row) if row else 0.0 for row in kept]))
        assert bits(trees.to_numpy()) == bits(np.array([treefold.sum(np.array(row)) for row in kept]))
        pairs = frame.select(tp.exact_list_dot(name, "x"), singles=tp.exact_list_dot(pl.col(name).cast(pl.List(pl.Float32)), "x"))
        products = [[own * other for own, other in pair_fractions(row, again)] for row, again in zip(lists, rows)]
        assert list(map(hexed, pairs[name])) == [hexed(expected(row, "sum")) for row in products]
        assert pairs["singles"].dtype == pl.Float64


def pair_fractions(x, y):
    from fractions import Fraction

    return [(Fraction(own), Fraction(other)) for own, other in zip(x, y) if own is not None and other is not None]


def test_arrays():
    rows = [[1.0, 1e300, -1e300], None, [None, 2.0, 0.5], [1.0, 2.0, 3.0]]
    frame = pl.DataFrame({"x": pl.Series(rows, dtype=pl.Array(pl.Float64, 3))})[1:]
    assert frame.select(tp.exact_list_sum("x")).to_series().to_list() == [None, 2.5, 6.0]
    assert frame.select(tp.tree_sum("x")).to_series().to_list() == [None, 2.5, 6.0]
    whole_numbers = pl.DataFrame({"x": pl.Series([[1, 2], [3, 5]], dtype=pl.Array(pl.Int32, 2))})
    assert whole_numbers.select(tp.exact_list_mean("x")).to_series().to_list() == [1.5, 4.0]


def test_dot():
    frame, keys, drawn = frame_of()
    for x, y, dtype in [("whole", "some", "f8"), ("single", "single", "f4"), ("single", "whole", "f8"), ("small", "few", "f8")]:
        products = [own * other for own, other in pair_fractions(drawn[x][1], drawn[y][1])]
        series = frame.select(tp.exact_dot(x, y)).to_series()
        assert (hexed(series.item()), series.dtype) == (hexed(expected(products, "sum", dtype)), TYPES[dtype])
        # The other column's chunks end elsewhere.
        other = frame.select(pl.col(x), pl.Series("other", frame[y].to_list(), dtype=frame[y].dtype))
        assert hexed(other.select(tp.exact_dot(x, "other")).item()) == hexed(series.item())
    twice = frame.select(tp.exact_dot("some", pl.lit(2.0)), tp.exact_dot(pl.lit(2.0), "few").alias("few"))
    for name in ["some", "few"]:
        kept = [2 * item for item in drawn[name][1] if item is not None]
        assert hexed(twice[name].item()) == hexed(expected(kept, "sum"))
    pairs = pl.DataFrame({"x": [1e200, 3.0, 1e200], "y": [1e200, 4.0, -1e200]})
    assert pairs.select(tp.exact_dot("x", "y")).item() == 12.0


def test_windows():
    items, means = WINDOWS
    frame = pl.DataFrame({"t": [0, 1, 2], "x": items})
    own = frame.rolling("t", period="2i").agg(tp.exact_mean("x"))["x"].to_list()
    assert own[1:] == means[1:]
    assert frame.select(tp.exact_mean("x").rolling("t", period="2i")).to_series().to_list() == own


def test_windows_are_those_of_polars():
    """For small integers, results are close to those of Polars; nulls are in the same places."""
    random = np.random.default_rng(SEED)
    x = [None if gap == 0 else float(item) for gap, item in zip(random.integers(0, 5, 60), random.integers(-50, 50, 60))]
    y = [None if gap == 0 else float(item) for gap, item in zip(random.integers(0, 5, 60), random.integers(-50, 50, 60))]
    frame = pl.DataFrame({"x": x, "y": y, "t": np.cumsum(random.integers(1, 4, 60)), "k": [row % 2 for row in range(60)]})
    for window, least, placement in ((4, 2, "trailing"), (5, 3, "centred")):
        windows = tp.rolling("x", window, least, placement=placement)
        # The name of this option depends on the version of Polars.
        least_name = "min_samples" if tuple(map(int, pl.__version__.split(".")[:2])) >= (1, 21) else "min_periods"
        options = {"window_size": window, least_name: least, "center": placement == "centred"}
        own = frame.select(
            sum=windows.sum(), mean=windows.mean(), min=windows.min(), max=windows.max(), var=windows.var(), std=windows.std(),
        )
        theirs = frame.select(**{name: getattr(pl.col("x"), f"rolling_{name}")(**options) for name in own.columns})
        for name in own.columns:
            ours, others = own[name].to_list(), theirs[name].to_list()
            assert [one is None for one in ours] == [one is None for one in others], name
            assert all(one is None or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) for one, other in zip(ours, others)), name
    both = frame.select(cov=tp.rolling("x", 6, 3).cov("y"), corr=tp.rolling("x", 6, 3).corr(pl.col("y"))).to_dict(as_series=False)
    pairs = [(one, other) for one, other in zip(x, y)]
    for last in range(60):
        own = [pair for pair in pairs[max(0, last - 5) : last + 1] if None not in pair]
        if len(own) < 3:
            assert both["cov"][last] is None and both["corr"][last] is None
        else:
            assert math.isclose(both["cov"][last], np.cov(*zip(*own))[0, 1], rel_tol=1e-9, abs_tol=1e-9)
    assert frame.lazy().select(tp.rolling("x", 3, on="t").sum()).collect().height == 60
    over = frame.select(tp.rolling("x", 3, 1).sum().over("k")).to_series().to_list()
    parts = [frame.filter(pl.col("k") == key).select(tp.rolling("x", 3, 1).sum()).to_series().to_list() for key in (0, 1)]
    assert over == [parts[row % 2][row // 2] for row in range(60)]


def test_windows_of_what_is_no_number():
    frame = pl.DataFrame({"x": [1.0, math.nan, None, 3.0, math.inf, 4.0, 5.0]})
    windows = tp.rolling("x", 2, 1)
    assert str(frame.select(windows.sum()).to_series().to_list()) == "[1.0, nan, nan, 3.0, inf, inf, 9.0]"
    assert str(frame.select(windows.var()).to_series().to_list()) == "[None, nan, nan, None, nan, nan, 0.5]"
    assert frame.select(windows.count()).to_series().to_list() == [1.0, 2.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    singles = frame.select(tp.rolling(pl.col("x").cast(pl.Float32), 2).mean())
    assert singles.dtypes == [pl.Float64] and singles.columns == ["x"]
    raises(pl.exceptions.PolarsError, "not numbers", pl.DataFrame({"x": ["a"]}).select, tp.rolling("x", 1).sum())


@pytest.mark.parametrize("report", [*SUMS, *MEANS])
def test_reported(report):
    figure = "sum" if report in SUMS else "mean"
    items, value = (SUMS | MEANS)[report]
    for order in itertools.islice(itertools.permutations(items), 30):
        frame = pl.DataFrame({"k": 1, "x": order})
        assert frame.select(whole(figure, "x")).item() == value
        assert frame.group_by("k").agg(whole(figure, "x"))["x"].item() == value
        assert frame.group_by("k").agg("x").select(of_lists(figure, "x")).item() == value


def test_little():
    empty = pl.DataFrame({"x": []}, schema={"x": pl.Float64})
    assert empty.select(tp.exact_sum("x"), m=tp.exact_mean("x"), v=tp.exact_var("x")).rows() == [(0.0, None, None)]
    assert empty.select(d=tp.exact_dot("x", "x")).item() == 0.0
    nulls = pl.DataFrame({"x": [None, None], "l": pl.Series([[], None], dtype=pl.List(pl.Float64))})
    assert nulls.select(tp.exact_sum("x"), m=tp.exact_mean("x")).rows() == [(0.0, None)]
    assert nulls.select(tp.exact_list_sum("l"), m=tp.exact_list_mean("l"), t=tp.tree_sum("l")).rows() == [(0.0, None, 0.0), (None,) * 3]
    three = pl.DataFrame({"x": [1.0, 2.0, 4.0]})
    assert three.select(tp.exact_var("x", ddof=0)).item() == 14 / 9
    assert three.select(tp.exact_var("x", 3), s=tp.exact_std("x", ddof=3)).rows() == [(None, None)]
    both = pl.DataFrame({"x": [1.0, 2.0], "y": [3.0, 5.0]}).select(tp.exact_var(pl.col("x", "y")))
    assert both.rows() == [(0.5, 2.0)]


def test_columns_in_groups_of_keys():
    keys = pl.Series([1, 2, 1, 2, 1])
    groups = treefold.exact.groupby(keys)
    assert groups.sum(pl.Series([0.1, None, 0.2, 1.5, None])).tolist() == [0.1 + 0.2, 1.5]
    own = groups.sum(pl.Series([1, None, 2, 3, 4], dtype=pl.Int8))
    assert own.tolist() == [7, 3] and own.dtype == np.int64
    assert groups.count(pl.Series([1, None, 2, 3, 4])).tolist() == [3, 1]
    raises(TypeError, "x has elements of type", groups.sum, pl.Series(["a", None, "b", "c", "d"]))


WRONG = [
    (pl.Series(["a"]), "String"),
    (pl.Series([True]), "Boolean"),
    (pl.Series([None], dtype=pl.Date), "Date"),
    (pl.Series([None], dtype=pl.Datetime), "Datetime"),
    (pl.Series([None], dtype=pl.Duration), "Duration"),
    (pl.Series([None], dtype=pl.Decimal(10, 2)), "Decimal"),
    (pl.Series(["a"], dtype=pl.Categorical), "Categorical"),
    (pl.Series([b"a"]), "Binary"),
    (pl.Series([{"a": 1.0}]), "Struct"),
    (pl.Series([[1.0]]), r"List\(Float64\): use `exact_list_{}` for lists"),
]


@pytest.mark.parametrize("series, text", WRONG)
def test_wrong_types(series, text):
    frame = pl.DataFrame({"x": series})
    for figure in FIGURES:
        raises(pl.exceptions.ComputeError, f"exact_{figure}: column `x` has type {text.format(figure)}", frame.select, whole(figure, "x"))
    raises(pl.exceptions.ComputeError, "exact_dot: column `x` has type", frame.select, tp.exact_dot("x", "x"))
    with pytest.raises(pl.exceptions.ComputeError, match="exact_list_sum: column `x` has type"):
        frame.select(tp.exact_list_sum(pl.col("x").implode() if "List" in text else "x"))
    # Polars remains usable after an error.
    assert pl.DataFrame({"x": [1.5]}).select(tp.exact_sum("x")).item() == 1.5


def test_other_errors():
    large = pl.DataFrame({"u": pl.Series([2**64 - 1, 1], dtype=pl.UInt64), "i": [-(2**63), -1]})
    raises(pl.exceptions.ComputeError, "exact_sum: a sum of column `u` is 18446744073709551616, beyond UInt64", large.select, tp.exact_sum("u"))
    with pytest.raises(pl.exceptions.ComputeError, match="exact_list_sum: a sum of column `i` is -9223372036854775809, beyond Int64"):
        large.select(tp.exact_list_sum(pl.col("i").implode()))
    with pytest.raises(pl.exceptions.ComputeError, match="exact_dot: column `u` has 18446744073709551615, which Float64 cannot represent"):
        large.select(tp.exact_dot("u", "i"))
    lists = pl.DataFrame({"x": [[1.0], [1.0]], "y": [[2.0], [2.0, 3.0]], "i": [[1], [2]]})
    with pytest.raises(pl.exceptions.ComputeError, match="exact_list_dot: row 1 of columns `x` and `y` has lists of 1 and 2 items"):
        lists.select(tp.exact_list_dot("x", "y"))
    with pytest.raises(pl.exceptions.ComputeError, match="tree_sum: column `i` has type List.Int64., but the order matters only for floats"):
        lists.select(tp.tree_sum("i"))
    raises(ValueError, "ddof: nan is not a number", tp.exact_var, "x", math.nan)
    raises(pl.exceptions.ColumnNotFoundError, None, lists.select, tp.exact_sum("z"))


def test_an_old_polars_is_refused(monkeypatch):
    monkeypatch.setattr(pl, "__version__", "0.20.31")
    raises(ImportError, r"treefold.polars needs Polars .* or newer, but this is 0.20.31", importlib.reload, tp)
    monkeypatch.undo()
    importlib.reload(tp)


THREADED = """
import sys
import numpy as np, polars as pl, treefold.polars as tp
random = np.random.default_rng(int(sys.argv[1]))
k, x = random.integers(0, 50, 200_000), random.standard_normal(200_000) * 2.0 ** random.integers(-30, 30, 200_000)
assert pl.thread_pool_size() == int(sys.argv[2])
order = np.random.default_rng(int(sys.argv[2])).permutation(len(x))
frame = pl.DataFrame({"k": k[order], "x": x[order]})
own = frame.group_by("k").agg(tp.exact_sum("x"), m=tp.exact_mean("x"), v=tp.exact_var("x")).sort("k")
lists = frame.group_by("k").agg("x").sort("k")
lists = lists.select("k", tp.exact_list_sum("x"), m=tp.exact_list_mean("x"), v=tp.exact_list_var("x"))
assert lists.equals(own)
print([value.hex() for row in own.rows() for value in row[1:]], frame.select(tp.exact_sum("x")).item().hex())
"""


def test_threads_and_order():
    told = set()
    for threads in ["1", "2", "4"]:
        run = [sys.executable, "-c", THREADED, str(SEED), threads]
        environment = {**os.environ, "POLARS_MAX_THREADS": threads}
        told.add(subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout)
    assert len(told) == 1
    random = np.random.default_rng(SEED)
    k, x = random.integers(0, 50, 200_000), random.standard_normal(200_000) * 2.0 ** random.integers(-30, 30, 200_000)
    (text,) = told
    assert text.split()[-1] == math.fsum(x).hex()
    assert text.split("'")[1] == math.fsum(x[k == 0]).hex()


def test_memory_is_released():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("this platform does not report memory")
    for turn in range(30):
        if turn == 10:
            before = resident()
        # The frame takes 7 MB, and a result takes 2 MB.
        frame = pl.DataFrame({"x": np.ones(300_000)}).select(pl.concat_list("x", "x"))
        frame.select(tp.exact_list_sum("x"))
        raises(pl.exceptions.ComputeError, None, frame.select, tp.exact_list_dot("x", pl.lit([1.0])))
    assert resident() - before < 32 << 20
