"""Exact sums of groups of pandas and of Arrow's arrays, compared with fractions."""

import itertools
import math
from fractions import Fraction

import by_fractions
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import treefold
import treefold.pandas as tp
from checks import SEED, raises, with_threads
from figures import MEANS, SUMS, columns, expected, hexed
from treefold import exact, replacer

FIGURES = ["sum", "mean", "var", "std"]
DTYPES = {"f8": "Float64", "f4": "Float32", "i1": "Int8", "i8": "Int64", "u8": "UInt64"}


def grouped(items, keys):
    return {key: [item for own, item in zip(keys, items) if own == key] for key in sorted(set(keys))}


def values_of(items, figure, dtype):
    """The expected value for a group; NaN where there is none."""
    if dtype[0] in "iu" and figure == "sum":
        return hexed(sum(items))
    value = expected(items, figure, dtype if dtype[0] == "f" else "f8")
    return hexed(np.nan if value is None else value)


@pytest.mark.parametrize("threads", [1, 2])
def test_arrow(threads):
    """Null items are skipped, in arrays of one piece or of chunks, which may begin at any bit."""
    with with_threads(threads):
        random = np.random.default_rng(SEED)
        rows = 5000
        keys = random.integers(0, 13, rows)
        for name, (dtype, items) in columns(random, rows).items():
            array = pa.array([None] * 3 + items, pa.from_numpy_dtype(dtype))[3:]
            chunked = pa.chunked_array([array[:100], array[100:103], array[103:]])
            groups = exact.groupby(keys)
            of_keys = grouped(items, keys.tolist())
            kept = [[item for item in of_key if item is not None] for of_key in of_keys.values()]
            assert groups.count(array).tolist() == list(map(len, kept))
            for figure in FIGURES:
                values = [values_of(of_key, figure, dtype) for of_key in kept]
                for x in (array, chunked):
                    own = getattr(groups, figure)(x)
                    assert list(map(hexed, own)) == values, (name, figure)
                    assert own.dtype == ({"i1": "i8"}.get(dtype, dtype) if figure == "sum" or dtype[0] == "f" else "f8")
                # With `skipna`, NaNs are skipped, too.
                if dtype[0] == "f":
                    numbers = [[item for item in of_key if not math.isnan(item)] for of_key in kept]
                    own = getattr(groups, figure)(array, skipna=True)
                    assert list(map(hexed, own)) == [values_of(of_key, figure, dtype) for of_key in numbers]


def test_arrow_is_not_copied():
    x = pa.array(np.arange(8.0))
    column = treefold._groups.Column(x[2:])
    assert column.values.ctypes.data == x.buffers()[1].address + 16 and column.present(False) is None
    holed = pa.array([1.0, None, 3.0])
    column = treefold._groups.Column(holed)
    assert column.values.ctypes.data == holed.buffers()[1].address
    assert column.present(False).tolist() == [True, False, True]


def test_arrow_keys():
    x = pa.array([1.0, 2.0, None, 8.0, 16.0])
    groups = exact.groupby(pa.array(["b", "a", "b", None, "b"]))
    assert groups.keys.tolist() == ["a", "b"] and groups.sum(x).tolist() == [2.0, 17.0]
    groups = exact.groupby(pa.chunked_array([[2**60 + 1, None], [2**60, 2**60 + 1, None]]))
    assert groups.keys.tolist() == [2**60, 2**60 + 1] and groups.sum(x).tolist() == [0.0, 9.0]
    assert groups.count(x).tolist() == [0, 2] and groups.count().tolist() == [1, 2]
    groups = exact.groupby(pa.array([1.0, math.nan, None, 1.0, 3.0]))
    assert groups.keys.tolist() == [1.0, 3.0] and groups.sum(x).tolist() == [9.0, 16.0]
    raises(ValueError, "keys: nulls cannot be keys", exact.groupby, pa.array([1, None]), dropna=False)


def test_least_counts_and_integers():
    keys = [0, 0, 1, 2, 2, 2]
    groups = exact.groupby(keys)
    x = [1.0, np.nan, np.nan, 1.0, 2.0, 3.0]
    assert groups.sum(x, skipna=True).tolist() == [1.0, 0.0, 6.0]
    assert str(groups.sum(x, skipna=True, min_count=1).tolist()) == "[1.0, nan, 6.0]"
    assert str(groups.sum(x, skipna=True, min_count=2).tolist()) == "[nan, nan, 6.0]"
    assert groups.count(x, skipna=True).tolist() == [1, 0, 3]
    sums = groups.sum(np.array([2**62, 2**62 - 1, 5, 1, 2, 3]))
    assert sums.dtype == np.int64 and sums.tolist() == [2**63 - 1, 5, 6]
    assert groups.sum([True, True, False, True, True, True]).tolist() == [2, 0, 3]
    with pytest.raises(OverflowError, match="the sum of key 0 is 9223372036854775808, beyond int64: convert x to float64"):
        groups.sum(np.array([2**62, 2**62, 5, 1, 2, 3]))
    large = np.array([2**53 + 1, 2**53 + 3, 7, 2**63, 2**63 + 2, 2**63 + 4], np.uint64)
    assert groups.mean(large).tolist() == [2.0**53 + 2, 7.0, 2.0**63]
    assert str(groups.var(large).tolist()) == "[2.0, nan, 4.0]"


def test_wrong_arguments():
    groups = exact.groupby([1, 2])
    for x, text in [
        (pa.array(["a", "b"]), "x has elements of Arrow's type string"),
        (pa.array([True, False]), "Arrow's type bool"),
        (pa.array([1, 2], pa.timestamp("s")), "Arrow's type timestamp"),
        (pa.array(["a", "b"]).dictionary_encode(), "Arrow's type dictionary"),
        (pd.Series(["a", "b"], dtype="string"), "x has elements of type str"),
        (pd.Series(["a", "b"], dtype="category"), "x has elements of type category"),
        (np.array(["a", "b"]), "x has elements of type <U1"),
    ]:
        raises(TypeError, text, groups.sum, x)
    raises(ValueError, "2 keys for 3 items", groups.sum, pa.array([1, 2, None]))
    raises(TypeError, "min_count: 0.5 is not an integer", groups.sum, [1.0, 2.0], min_count=0.5)
    frame = pd.DataFrame({"k": [1, 2], "x": ["a", "b"], "i": [2**63 - 1, 1]})
    raises(TypeError, "column 'x': x has elements of type", tp.groupby(frame, "k").sum, "x")
    raises(OverflowError, "column 'i': the sum of key 0 is 9223372036854775808", tp.groupby(frame.assign(k=0), "k").sum, "i")
    raises(KeyError, "x: 'z' is not one of the columns", tp.groupby(frame, "k").sum, "z")
    raises(TypeError, "rows must be a DataFrame or a Series, not list", tp.groupby, [1, 2], [1, 2])
    raises(ValueError, "as_index", tp.groupby, frame, "k", as_index=False)
    raises(ValueError, "'i' names 2 columns", tp.groupby(frame[["k", "i", "i"]], "k").sum, "i")


def frame_of(rows=2000):
    random = np.random.default_rng(SEED)
    drawn = columns(random, rows)
    keys = {"k": random.integers(0, 7, rows), "l": np.array(["x", "yy", None], object)[random.integers(0, 3, rows)]}
    frame = pd.DataFrame({**keys, **{name: pd.Series(items, dtype=DTYPES[dtype]) for name, (dtype, items) in drawn.items()}})
    return frame, drawn


def told(key):
    """A key as text: NaN is not equal to itself, and integers may be NumPy's."""
    return [str(part) for part in (key if isinstance(key, tuple) else (key,))]


OPTIONS = [{}, {"sort": False}, {"dropna": False}, {"sort": False, "dropna": False}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("by", ["k", "l", ["k", "l"]], ids=str)
def test_frames(by, options):
    """Indices are as in pandas, and each value is the statistic of the rows that pandas puts into a group."""
    frame, drawn = frame_of(700)
    own, theirs = tp.groupby(frame, by, **options), frame.groupby(by, **options)
    for name, (dtype, items) in drawn.items():
        rows = {key: [items[place] for place in places] for key, places in theirs.indices.items()}
        sizes = theirs.size()
        for figure in FIGURES:
            result = getattr(own, figure)(name)
            pd.testing.assert_index_equal(result.index, sizes.index)
            assert result.name == name
            for place, key in enumerate(result.index):
                of_key = next(rows[other] for other in rows if told(other) == told(key))
                of_key = [item for item in of_key if item is not None and not math.isnan(item)]
                assert hexed(result.iloc[place]) == values_of(of_key, figure, dtype)
    both = own.sum(["whole", "small"])
    assert list(both.columns) == ["whole", "small"] and both["whole"].equals(own.sum("whole"))
    assert own.count("some").equals(theirs["some"].count().astype("int64"))


def test_kinds_of_columns():
    """A column has the same sums in types of NumPy, of pandas and of Arrow."""
    items = [0.1, 0.2, None, 0.3, 1e300, -1e300]
    numbers = pd.Series([np.nan if item is None else item for item in items])
    frame = pd.DataFrame({"k": list("aababb"), "n": numbers, "f": pd.Series(items, dtype="Float64")})
    frame["a"] = pd.Series(items, dtype=pd.ArrowDtype(pa.float64()))
    groups = tp.groupby(frame, "k")
    for name in "nfa":
        assert groups.sum(name).to_dict() == {"a": math.fsum([0.1, 0.2, 0.3]), "b": 0.0}
        assert groups.count(name).to_dict() == {"a": 3, "b": 2}
    assert math.isnan(groups.sum("n", skipna=False)["b"]) and groups.sum("a", skipna=False)["b"] == 0.0
    assert math.isnan(groups.sum("n", min_count=3)["b"])
    whole = frame.assign(i=[1, 2, 3, 4, 5, 6], b=[True] * 6, m=pd.Series([1, None, 3, 4, 5, None], dtype="Int64"))
    whole["u"] = whole["i"].astype(pd.ArrowDtype(pa.uint8()))
    groups = tp.groupby(whole, "k")
    assert groups.sum(["i", "b", "m", "u"]).to_dict("list") == {"i": [7, 14], "b": [3, 3], "m": [5, 8], "u": [7, 14]}
    assert groups.sum("i").dtype == np.int64


def test_categories_and_levels():
    frame = pd.DataFrame({"k": pd.Categorical(["b", "a", "b"], categories=["a", "b", "c"]), "x": [1.0, 2.0, 4.0]})
    levels = frame.set_index("k")
    assert tp.groupby(levels, None, level="k", observed=True).sum("x").tolist() == [2.0, 5.0]
    by_function = frame.set_index(pd.Index([3, 4, 5]))
    assert tp.groupby(by_function, lambda place: place % 2).sum("x").tolist() == [2.0, 5.0]


@pytest.mark.parametrize("options", [{"observed": seen, **options} for seen in (False, True) for options in OPTIONS], ids=str)
def test_groups_without_rows(options):
    """Keys and values are as in pandas, also for categories, bins and days without rows. Sums of small integers are exact in pandas."""
    for case in range(6):
        random = np.random.default_rng((SEED, case))
        rows = int(random.integers(1, 30))
        frame = pd.DataFrame({"x": random.integers(0, 1000, rows).astype("f8"), "i": random.integers(0, 4, rows)})
        for name, categories in (("c", "abcde"), ("d", "zyxw")):
            some = random.choice(list(categories), int(random.integers(1, 4)))
            drawn = random.choice(some, rows).astype(object)
            drawn[random.random(rows) < 0.1] = None
            frame[name] = pd.Categorical(drawn, categories=list(categories), ordered=bool(random.integers(0, 2)))
        frame["bin"] = pd.cut(frame["x"], [0, 10, 400, 410, 900, 2000])
        frame["t"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(random.integers(0, 100, rows), unit="h")
        days = pd.Grouper(key="t", freq="D")
        for by in ("c", "bin", ["c", "d"], ["i", "c"], ["bin", "i"], ["d", "bin", "i"], days, [days, "c"]):
            own, theirs = tp.groupby(frame, by, **options), frame.groupby(by, **options)["x"]
            for figure in ("sum", "mean", "var", "std", "count"):
                expected = getattr(theirs, figure)()
                pd.testing.assert_series_equal(getattr(own, figure)("x"), expected, rtol=1e-9, obj=f"TREEFOLD_SEED={SEED}, case {case}, {by}, {figure}")


def mixed(rows=200):
    """A frame with keys, and with columns of numbers and of other types. pandas' sums of the numbers are exact, too."""
    random = np.random.default_rng(SEED)
    frame = pd.DataFrame({"k": random.integers(0, 5, rows), "l": pd.Categorical(random.choice(list("abc"), rows), categories=list("abcd"))})
    frame["m"] = np.where(random.random(rows) < 0.1, None, random.choice(["x", "yy"], rows).astype(object))
    frame["i"], frame["b"] = random.integers(-1000, 1000, rows), random.random(rows) < 0.5
    frame["large"] = 2**62 // rows - random.integers(0, 9, rows)
    frame["f"] = np.where(random.random(rows) < 0.1, np.nan, random.integers(0, 99, rows))
    frame["s"], frame["n"] = "text", pd.Series(frame["i"], dtype="Int64").mask(frame["f"] > 80)
    return frame


BY = ["k", "l", "m", ["k", "m"], ["k", "l"], ["l", "m", "k"]]
OF_A_COLUMN = ["sum", "count", "mean", "var", "std", "min", "max", "skew", "kurt"]
# Before pandas 3, groups have no kurtosis.
OF_GROUPS = [name for name in OF_A_COLUMN if hasattr(pd.core.groupby.DataFrameGroupBy, name)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("by", BY, ids=str)
def test_all_columns_are_those_of_pandas(by, options):
    """Columns, index and integers are those of pandas; other values are close to pandas' values."""
    frame, options = mixed(), {"observed": False, **options}
    own, theirs = tp.groupby(frame, by, **options), frame.groupby(by, **options)
    for name in OF_GROUPS:
        if name in ("skew", "kurt"):
            # The dropped column has integers beyond 2^53, which these statistics refuse.
            own, theirs = (one(frame.drop(columns="large"), by, **options) for one in (tp.groupby, pd.DataFrame.groupby))
        found = getattr(own, name)()
        wanted = getattr(theirs, name)() if name == "count" else getattr(theirs, name)(numeric_only=True)
        pd.testing.assert_index_equal(found.columns, wanted.columns)
        for column in found:
            # For large integers, pandas rounds intermediate results of other statistics.
            if column != "large" or name in ("sum", "count", "min", "max"):
                near = wanted[column].astype("f8" if wanted[column].dtype == "Float64" else wanted[column].dtype)
                # In older pandas, equal items have the skewness 0.
                near = near.where(found[column].notna()) if name == "skew" else near
                pd.testing.assert_series_equal(found[column], near, rtol=1e-9, check_dtype=False, obj=f"{name}, TREEFOLD_SEED={SEED}")
        for column in ("i", "b", "large") if name in ("sum", "min", "max") else ():
            there = wanted[column].notna()
            assert found[column][there].astype(object).tolist() == wanted[column][there].astype(object).tolist(), (name, column)
            assert found[column].dtype == wanted[column].dtype or wanted[column].dtype == object
    own = tp.groupby(frame, by, **options)
    assert own.sum().columns.tolist() == [name for name in ["k", "i", "b", "large", "f", "n"] if name not in np.atleast_1d(by)]
    keys = [frame[name] for name in ([by] if isinstance(by, str) else by)]
    series = tp.groupby(frame["i"], keys, **options)
    pd.testing.assert_series_equal(series.sum(), frame["i"].groupby(keys, **options).sum())
    pd.testing.assert_series_equal(series.max(), frame["i"].groupby(keys, **options).max())
    assert series.sum().name == "i" and series.count().equals(tp.groupby(frame, keys, **options).count("i"))


def test_two_columns_by_several_keys():
    frame = mixed()
    frame["x"], frame["y"] = np.random.default_rng(SEED).standard_normal((2, len(frame))) * 1e9
    groups = tp.groupby(frame, ["k", "m"])
    for statistic in ("dot", "cov", "corr", "average", "slope", "intercept"):
        found = getattr(groups, statistic)("x", "y")
        assert len(found) == 10 and found.index.names == ["k", "m"]
        for key, rows in frame.groupby(["k", "m"]):
            if statistic == "dot":
                value = float(sum(Fraction(x) * Fraction(y) for x, y in zip(rows["x"], rows["y"])))
            else:
                value = by_fractions.expected(statistic, rows["x"], rows["y"], ddof=1)
            assert found[key] == value
    both = groups.cov(["x", "i"], "y", ddof=0)
    assert both.columns.tolist() == ["x", "i"] and both["i"].equals(groups.cov("i", "y", ddof=0))
    one = frame["x"].exact
    assert one.dot(frame["y"]) == float(sum(Fraction(x) * Fraction(y) for x, y in zip(frame["x"], frame["y"])))
    assert one.norm() == exact.norm(frame["x"]) and one.slope(frame["y"]) == by_fractions.expected("slope", frame["x"], frame["y"])
    assert tp.rolling(frame["x"], 7).slope(frame["y"]).iloc[9] == by_fractions.expected("slope", frame["x"][3:10], frame["y"][3:10])
    assert one.groupby(frame["k"]).sum().equals(tp.groupby(frame, "k").sum("x"))
    assert frame.exact.groupby("k").sum().equals(tp.groupby(frame, "k").sum())


AGGREGATIONS = [
    {"i": "sum", "f": ["mean", "std"]}, {"f": "var", "i": "max"}, {"i": ["min"]}, {}, "sum", "mean", ["sum", "mean"], ["max"],
]


@pytest.mark.parametrize("by", ["k", ["k", "l"]], ids=str)
@pytest.mark.parametrize("func", AGGREGATIONS, ids=str)
def test_agg_has_the_forms_of_pandas(func, by):
    frame = mixed()[["k", "l", "i", "f", "n"]].astype({"n": "f8"})
    options = {"observed": True}
    own, theirs = tp.groupby(frame, by, **options), frame.groupby(by, **options)
    if func == {}:
        assert own.agg({}).shape == (len(own.sum()), 0)
        return
    pd.testing.assert_frame_equal(own.agg(func), theirs[["i", "f", "n"]].agg(func), rtol=1e-9)
    if not isinstance(func, dict):
        found, wanted = tp.groupby(frame["f"], frame["k"]).agg(func), frame["f"].groupby(frame["k"]).agg(func)
        assert type(found) is type(wanted)
        (pd.testing.assert_frame_equal if isinstance(func, list) else pd.testing.assert_series_equal)(found, wanted, rtol=1e-9)


def test_named_aggregation():
    frame = mixed()
    named = {"total": ("i", "sum"), "f": pd.NamedAgg("f", "mean"), "again": ("f", "std")}
    pd.testing.assert_frame_equal(tp.groupby(frame, ["k", "m"]).agg(**named), frame.groupby(["k", "m"]).agg(**named), rtol=1e-9)
    found, wanted = (one.agg(low="min", n="count") for one in (tp.groupby(frame["i"], frame["k"]), frame["i"].groupby(frame["k"])))
    pd.testing.assert_frame_equal(found, wanted)
    two = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")], names=["u", "v"]))
    for func in ("sum", ["sum", "max"], {("a", "y"): ["min"]}):
        assert tp.groupby(two, [0, 0]).agg(func).to_dict() == two.groupby([0, 0]).agg(func).to_dict()
    assert tp.groupby(frame, "k").agg("var", ddof=0).equals(tp.groupby(frame, "k").var(ddof=0))
    assert tp.groupby(frame, "k").agg({"f": "sum"}, min_count=200)["f"].isna().all()
    for wrong, error, match in [
        (lambda groups: groups.agg("median"), ValueError, "func: 'median' is none of count, sum, mean"),
        (lambda groups: groups.agg({"i": exact.sum}), ValueError, "func: <function sum"),
        (lambda groups: groups.agg({"i": "cov"}), ValueError, "func: 'cov' is none of"),
        (lambda groups: groups.agg(total="i"), TypeError, "total: 'i' is not a pair of a column and a statistic"),
        (lambda groups: groups.agg(), TypeError, "func: None is not the name of a statistic"),
        (lambda groups: groups.agg({"z": "sum"}), KeyError, "'z' is not one of the columns"),
        (lambda groups: groups.sum(dof=1), TypeError, r"GroupBy.sum\(\): got an unexpected keyword argument 'dof'"),
        (lambda groups: groups.cov("i"), TypeError, r"GroupBy.cov\(\): missing a required argument: 'y'"),
        (lambda groups: tp.groupby(frame["i"], frame["k"]).sum("i"), TypeError, "x: 'i' names a column, but the rows are a Series"),
        (lambda groups: tp.groupby(frame["i"], frame["k"]).agg({"i": "sum"}), TypeError, "func: {'i': 'sum'} is not the name"),
    ]:
        raises(error, match, wrong, tp.groupby(frame, "k"))


def test_functions_that_pandas_calls_for_each_group_and_column():
    frame = mixed()[["k", "i", "b", "large"]]
    frame["f"] = np.random.default_rng(SEED).standard_normal(len(frame))
    found = frame.groupby("k").agg(exact.sum)
    pd.testing.assert_frame_equal(found, tp.groupby(frame, "k").sum())
    assert found["large"].dtype == np.int64 and found["b"].tolist() == frame["b"].groupby(frame["k"]).sum().tolist()
    assert frame.agg(exact.sum).to_dict() == {name: exact.sum(frame[name]) for name in frame}
    assert frame.groupby("k").agg({"i": exact.sum, "f": exact.mean})["i"].equals(found["i"])
    if pd.__version__ >= "3":
        # Older pandas first calls the function for each item.
        assert frame["i"].agg(exact.sum) == sum(frame["i"].tolist()) and frame["f"].agg(exact.sum) == math.fsum(frame["f"])
    raises(OverflowError, None, pd.DataFrame({"k": [0, 0], "i": [2**62, 2**62]}).groupby("k").agg, exact.sum)


def test_groups_that_pandas_tells_wrongly(monkeypatch):
    ngroup = pd.core.groupby.DataFrameGroupBy.ngroup
    monkeypatch.setattr(pd.core.groupby.DataFrameGroupBy, "ngroup", lambda self: ngroup(self) * 0)
    raises(RuntimeError, "does not report the group", tp.groupby, pd.DataFrame({"k": [1, 2], "x": [1.0, 2.0]}), "k")


@pytest.mark.parametrize("report", [*SUMS, *MEANS])
def test_reported(report):
    figure = "sum" if report in SUMS else "mean"
    items, value = (SUMS if report in SUMS else MEANS)[report]
    for order in itertools.islice(itertools.permutations(items), 20):
        frame = pd.DataFrame({"k": "a", "x": order})
        assert getattr(tp.groupby(frame, "k"), figure)("x")["a"] == value
        # pandas calls this function for every group.
        assert frame.groupby("k")["x"].agg(getattr(exact, figure))["a"] == value
        assert getattr(exact.groupby(frame["k"]), figure)(frame["x"])[0] == value


def test_windows_of_times():
    """Windows of the durations that pandas accepts, over pandas' times, with a zone or without."""
    x = pd.Series(np.arange(60.0))
    places = np.cumsum(np.random.default_rng(SEED).integers(0, 3, 60))
    # These times include the change to daylight saving time.
    times = pd.DatetimeIndex(pd.Timestamp("2026-03-28T20:00") + pd.to_timedelta(places * 20, unit="min"))
    for on in (times, times.astype("M8[s]"), times.tz_localize("UTC").tz_convert("Europe/Paris")):
        for window in ("1h", "90min", "1500s", "36h", "D", pd.Timedelta("70min"), pd.offsets.Minute(45), pd.offsets.Day(2)):
            theirs = pd.Series(x.to_numpy(), index=on).rolling(window).sum()
            for given in (on, on.to_series(), on.to_series().tolist()):
                assert exact.rolling(x, window, on=given).sum().tolist() == theirs.tolist(), (window, on.dtype)
    for window, error, match in (("2MS", ValueError, "window: '2MS' has no fixed length"), ("nonsense", ValueError, "'nonsense' has no fixed length")):
        raises(error, match, exact.rolling, x, window, on=times)
    raises(ValueError, "on: element 1 is NaT", exact.rolling, [1.0, 2.0], "1h", on=pd.Series([times[0], pd.NaT]))


ROLLING = ["count", "sum", "mean", "min", "max", "var", "std", "skew", "kurt"]


@pytest.mark.parametrize("dtype", ["f8", "Float64", "f4"])
def test_windows_are_those_of_pandas(dtype):
    """For small integers without constant windows, results are close to those of pandas. The index, the names and the windows without a
    value are the same."""
    random = np.random.default_rng(SEED)
    index = pd.date_range("2026-01-01", periods=80, freq="7min")
    x = pd.Series(random.integers(-50, 50, 80).astype("f8"), index, name="x")
    y = pd.Series(random.integers(-50, 50, 80).astype("f8"), index, name="y")
    x[random.integers(0, 5, 80) == 0] = np.nan
    y[random.integers(0, 5, 80) == 0] = np.nan
    x, y = x.astype(dtype), y.astype(dtype)
    frame = pd.DataFrame({"x": x, "y": y})
    kinds = [
        ({"window": 6}, {"window": 6}), ({"window": 7, "min_periods": 2}, {"window": 7, "min_periods": 2}),
        ({"window": 6, "min_periods": 3, "placement": "centred"}, {"window": 6, "min_periods": 3, "center": True}),
        ({"window": 5, "min_periods": 3, "placement": "forward"}, {"window": pd.api.indexers.FixedForwardWindowIndexer(window_size=5), "min_periods": 3}),
        ({"window": "50min"}, {"window": "50min"}), ({"window": "42min", "placement": "centred"}, {"window": "42min", "center": True}),
        ({"window": None, "min_periods": 4}, None),
    ]

    def check(own, theirs, loose):
        assert type(own) is type(theirs) and own.index.equals(theirs.index)
        own, theirs = (np.asarray(one.astype("f8")) for one in (own, theirs))
        assert np.array_equal(np.isnan(own), np.isnan(theirs))
        assert np.allclose(own, theirs, rtol=loose, atol=loose, equal_nan=True)

    loose = 1e-4 if dtype == "f4" else 1e-9
    for ours, theirs in kinds:
        # Not all versions of pandas support windows over columns of pandas' own types.
        plain = [one.astype({"Float64": "f8"}.get(dtype, dtype)) for one in (x, frame)]
        made = [one.expanding(4) if theirs is None else one.rolling(**theirs) for one in plain]
        for rows, windows in zip((x, frame), made):
            for name in ROLLING:
                check(getattr(tp.rolling(rows, **ours), name)(), getattr(windows, name)(), loose)
        check(tp.rolling(x, **ours).cov(y), made[0].cov(plain[1]["y"]), loose)
        check(tp.rolling(x, **ours).corr(y), made[0].corr(plain[1]["y"]), loose)
        assert tp.rolling(x, **ours).var(ddof=0).name == "x" and tp.rolling(x, **ours).cov(y).name is None
    timed = frame.reset_index(names="t")
    pd.testing.assert_frame_equal(tp.rolling(timed, "50min", on="t").sum().set_axis(index), tp.rolling(frame, "50min").sum())
    assert tp.rolling(pd.Series([1.0, 2.0, 4.0]), 2).var(ddof=2).isna().all()
    for wrong, error, match in (
        (lambda: tp.rolling([1.0], 1), TypeError, "rows must be a DataFrame or a Series, not list"), (lambda: tp.rolling(frame, 2).cov(x), TypeError, "cov: rows must be a Series, not a DataFrame"),
        (lambda: tp.rolling(pd.Series(["a"]), 1).sum(), TypeError, "not floats or integers"),
        (lambda: tp.rolling(x, 2).cov(y.iloc[1:]), ValueError, "other: its index differs from the rows' index"),
    ):
        raises(error, match, wrong)


def test_an_outlier_leaves_nothing():
    block = [0.01, -0.02, 0.015, 0.005, -0.01, 0.02, 0.01, -0.03, 0.0, 0.01]
    windows = tp.rolling(pd.Series([5000.0, *block * 3]), 10)
    assert windows.kurt().iloc[-1] == -0.07326007326007344 and windows.skew().iloc[-1] == -0.9451685304033433
    x = pd.Series([1, 2, 10**12, 10**7, 6, 5, 8, 7])
    y = pd.Series([2, 1, 3, -(10**12), 4, 7, 6, 9])
    assert tp.rolling(x, 3).cov(y).iloc[-1] == -1 / 3 and tp.rolling(x, 3).corr(y).iloc[-1] == -0.14285714285714285
    assert tp.rolling(pd.Series([1e9] * 5 + [1, 0, 1, 0, 1]), 3).std().iloc[-1] == 0.5773502691896257


def test_replacer_leaves_series_and_frames_to_pandas():
    x = pd.Series([1.0, np.nan, 3.0], index=list("abc"), name="x")
    frame = pd.DataFrame({"x": x, "y": [1, 2, 3]})
    with replacer.replaced(__name__):
        assert np.sum(x) == 4.0 and np.mean(x) == 2.0 and np.max(pd.Index([1, 3])) == 3
        pd.testing.assert_series_equal(np.sum(frame, axis=0), frame.sum())
        pd.testing.assert_series_equal(np.cumsum(x), x.cumsum())
        assert type(np.cumsum(pd.Index([1, 3]))) is pd.Index
        pd.testing.assert_series_equal(np.std(frame, axis=0), frame.std(ddof=0))
        assert np.nansum(x) == 4.0
