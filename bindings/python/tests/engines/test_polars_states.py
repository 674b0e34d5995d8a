"""Statistics of two columns, skewness and kurtosis, and columns of states in Polars, compared with fractions and `treefold.exact.State`."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import treefold.polars as tp
from by_fractions import expected
from checks import SEED, raises
from treefold import exact


def value_of(statistic, x, y):
    """The expected value for two columns without nulls, with the defaults of Polars: null where there is none."""
    value = expected(statistic, x, y, ddof=1)
    return None if math.isnan(value) else value


CALLS = {
    "skewness": tp.exact_skewness("x"),
    "kurtosis": tp.exact_kurtosis("x"),
    "cov": tp.exact_cov("x", "y"),
    "corr": tp.exact_corr("x", "y"),
    "slope": tp.exact_slope("y", "x"),
    "intercept": tp.exact_intercept("y", "x"),
    "average": tp.exact_average("x", "y"),
}


@pytest.mark.parametrize("exponents", [0, 60])
def test_statistics(exponents):
    print(f"seed {SEED}")
    random = np.random.default_rng(SEED)
    x, y = random.standard_normal((2, 600)) * 10.0 ** random.integers(-exponents, exponents + 1, (2, 600))
    keys = random.integers(0, 40, 600)
    frame = pl.DataFrame({"k": keys, "x": x, "y": y, "i": random.integers(-(2**62), 2**62, 600)})
    frame = pl.concat([frame[:100], frame[100:]], rechunk=False)
    found = frame.group_by("k").agg(**CALLS)
    for row in found.rows(named=True):
        own = frame.filter(pl.col("k") == row.pop("k"))
        assert row == {name: value_of(name, own["x"], own["y"]) for name in CALLS}
    of_integers = frame.select(**{name: call for name, call in CALLS.items()}, integers=tp.exact_kurtosis("i"), mixed=tp.exact_slope("x", "i"))
    assert of_integers["integers"].item() == value_of("kurtosis", frame["i"], frame["i"])
    assert of_integers["mixed"].item() == value_of("slope", frame["i"], frame["x"])


def test_nulls_constants_and_too_few():
    frame = pl.DataFrame({"x": [1.0, None, 3.0, 5.0], "y": [2.0, 7.0, None, 10.0], "c": [1.5] * 4, "n": [None] * 4, "z": [0.0] * 4})
    row = frame.select(tp.exact_corr("x", "y").alias("corr"), tp.exact_average("x", "y").alias("average")).row(0)
    assert row == (1.0, 52 / 12)
    nothing = [
        tp.exact_corr("x", "c"), tp.exact_slope("x", "c"), tp.exact_skewness("c"), tp.exact_kurtosis("x", bias=False), tp.exact_average("x", "z"),
        tp.exact_cov("x", "n"), tp.exact_skewness(pl.col("n").cast(pl.Float64)), tp.exact_cov("x", "y", ddof=2), tp.exact_sum_state("n"), tp.exact_merge("n"),
    ]
    assert frame.select(expr.alias(str(at)) for at, expr in enumerate(nothing)).row(0) == (None,) * len(nothing)
    assert frame.select(tp.exact_skewness("x", bias=False), tp.exact_cov("x", "y", ddof=0).alias("cov")).row(0) == (0.0, 8.0)
    assert frame.select(tp.exact_cov("x", pl.lit(2.0))).item() == 0.0
    assert math.isnan(pl.select(tp.exact_kurtosis(pl.Series([1.0, math.nan, 2.0]))).item())


KINDS = {
    "sum": (["x"], tp.exact_sum_state("x"), ["sum", "mean", "count"]),
    "moments": (["x"], tp.exact_moments_state("x"), ["var", "std", "mean"]),
    "powers": (["x"], tp.exact_powers_state("x"), ["skewness", "kurtosis", "var"]),
    "dot": (["x", "y"], tp.exact_dot_state("x", "y"), ["dot"]),
    "comoments": (["x", "y"], tp.exact_comoments_state("y", "x"), ["cov", "corr", "slope", "intercept"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exponents", [0, 60])
def test_days_that_are_merged_are_the_month(kind, exponents):
    random = np.random.default_rng(SEED)
    x, y = random.standard_normal((2, 900)) * 10.0 ** random.integers(-exponents, exponents + 1, (2, 900))
    frame = pl.DataFrame({"day": random.integers(0, 60, 900), "x": x, "y": y}).with_columns(month=pl.col("day") // 30)
    columns, state, names = KINDS[kind]
    days = frame.group_by("day", "month").agg(state.alias("state"))
    assert days["state"].dtype == pl.Binary
    months = days.group_by("month").agg(tp.exact_merge("state")).sort("month")
    whole = frame.group_by("month").agg(state.alias("state")).sort("month")
    assert months.equals(whole)
    # The column is sliced, is in chunks, and has missing states.
    days = pl.concat([days[:7], pl.DataFrame(days[:1]).with_columns(state=pl.lit(None, pl.Binary)), days[7:]], rechunk=False)[1:]
    for row in days.rows(named=True):
        if row["state"] is not None:
            own = frame.filter(pl.col("day") == row["day"])
            held = exact.State(kind)
            held.add(*(own[name].to_numpy() for name in columns))
            assert held.to_bytes() == row["state"]
    for name in names:
        ones = {"ddof": 1} if name in ("var", "std", "cov") else {}
        read = days.select(getattr(tp, f"exact_{name}_of")("state")).to_series().to_list()
        for value, data in zip(read, days["state"], strict=True):
            wanted = None if data is None else exact.State.of_bytes(data).value(name, **ones)
            assert value == wanted or (value is None and math.isnan(wanted)), name


def test_errors_name_the_function_and_the_column():
    frame = pl.DataFrame({"s": [b"no state"], "x": [1.0], "d": ["a"], "u": pl.Series([2**63], dtype=pl.UInt64)})
    sums = frame.select(state=tp.exact_sum_state("x"))
    for source, call, text in [
        (frame, tp.exact_sum_of("s"), "exact_sum_of: column `s`: the bytes are not an exact sum"),
        (frame, tp.exact_merge("x"), "exact_merge: column `x` has type Float64, but states are Binary"),
        (frame, tp.exact_corr("x", "d"), "exact_corr: column `d` has type String"),
        (frame, tp.exact_kurtosis("u"), "exact_kurtosis: column `u`: 9223372036854775808 is beyond Int64"),
        (sums, tp.exact_corr_of("state"), "exact_corr_of: column `state`: a state is a sum, which has no corr"),
    ]:
        caught = raises(pl.exceptions.PolarsError, None, source.select, call)
        assert text in str(caught)
    raises(pl.exceptions.PolarsError, "has 2 items", pl.select, tp.exact_corr(pl.Series([1.0, 2.0]), pl.Series([1.0, 2.0, 3.0])))


def test_namespaces():
    frame = pl.DataFrame({"k": ["a", "b", "a"], "x": [1e300, 2.0, -1e300], "i": [1, 2, 4], "y": [1.0, 5.0, 3.0]})
    row = frame.select(pl.col("x").exact.sum(), i=pl.col("i").exact.var(ddof=0), y=pl.col("y").exact.corr("i")).row(0)
    assert row == (2.0, float(Fraction(14, 9)), frame.select(tp.exact_corr("y", "i")).item())
    assert frame["x"].exact.sum() == 2.0 and frame["y"].exact.slope(frame["i"]) == frame.select(tp.exact_slope("y", "i")).item()
    states = frame.group_by("k").agg(pl.col("x").exact.sum_state()).sort("k")["x"]
    assert states.exact.sum_of().to_list() == [0.0, 2.0]
    assert exact.State.of_bytes(states.exact.merge()).value("sum") == 2.0
    assert frame.exact.sum().rows() == [(2.0, 7, 9.0)] and frame.lazy().exact.mean().collect().row(0)[1] == 7 / 3
    raises(AttributeError, "median: `exact` has no such function, only sum", lambda: frame["x"].exact.median)
    assert "merge" in dir(frame["x"].exact)
