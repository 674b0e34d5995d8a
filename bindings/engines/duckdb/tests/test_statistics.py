"""Compares statistics of one and two columns, of all of DuckDB's types of numbers, with results in fractions. Also tests columns of
states, which can be merged."""

import math
import os
import pathlib
import pickle
import sys
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest
import treefold.duckdb
from treefold import exact

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))

import oracle

SEED = int(os.environ.get("TREEFOLD_SEED", "1"))
INFINITY, NAN = float("inf"), float("nan")


@pytest.fixture(scope="module")
def connection():
    with treefold.duckdb.connect(config={"threads": 2}) as connection:
        yield connection


def one(connection, sql, parameters=None):
    """Returns the only row of a query's result."""
    (row,) = connection.execute(sql, parameters).fetchall()
    return row


def table_of(random, rows, groups, exponents):
    """Returns a table of keys, and of items with magnitudes from about 10^-exponents to 10^exponents."""
    x, y = random.standard_normal((2, rows)) * 10.0 ** random.integers(-exponents, exponents + 1, (2, rows))
    return pyarrow.table({"k": random.integers(0, groups, rows), "x": x, "y": y + x})


@pytest.mark.parametrize("exponents", [0, 3, 40])
def test_against_fractions(exponents):
    print(f"seed {SEED}")
    table = table_of(np.random.default_rng(SEED), 4000, 300, exponents)
    by_key = {}
    for k, x, y in zip(*(table[name].to_pylist() for name in "kxy")):
        by_key.setdefault(k, []).append((x, y))
    assert min(map(len, by_key.values())) < 5
    expected = {key: oracle.by_call(rows) for key, rows in by_key.items()}
    names = list(expected[0])
    for threads in [1, 3]:
        with treefold.duckdb.connect(config={"threads": threads}) as connection:
            connection.register("arrow", table)
            for source in ["arrow", "(SELECT * FROM arrow ORDER BY x)"]:
                for key, *values in connection.execute(f"SELECT k, {', '.join(names)} FROM {source} GROUP BY k").fetchall():
                    assert dict(zip(names, values)) == expected[key], (key, by_key[key])


def test_reported_cases(connection):
    block = [0.01, -0.02, 0.015, 0.005, -0.01, 0.02, 0.01, -0.03, 0.0, 0.01]
    window = "OVER (ORDER BY i ROWS 9 PRECEDING)"
    names = ["exact_kurtosis_pop(x)", "exact_kurtosis(x)", "exact_skewness(x)"]
    query = f"SELECT {', '.join(f'{name} {window}' for name in names)} FROM (SELECT unnest($1::DOUBLE[]) AS x, generate_subscripts($1, 1) AS i) ORDER BY i"
    assert connection.execute(query, [[5000.0] + block * 3]).fetchall()[-1] == (-0.586894586894587, -0.07326007326007344, -0.9451685304033433)
    rows = "(VALUES (1, 2, 1), (2, 1, 2), (1e12, 3, 3), (1e7, -1e12, 4), (6, 4, 5), (5, 7, 6), (8, 6, 7), (7, 9, 8)) t(x, y, i)"
    window = "OVER (ORDER BY i ROWS 2 PRECEDING)"
    found = connection.execute(f"SELECT exact_covar_samp(y::DOUBLE, x::DOUBLE) {window}, exact_corr(y::DOUBLE, x::DOUBLE) {window} FROM {rows} ORDER BY i")
    assert found.fetchall()[-1] == (-1 / 3, -0.14285714285714285)


def test_too_few_rows_constants_and_missing_items(connection):
    names = list(oracle.by_call([(1.0, 2.0)]))
    items = ", ".join(names)
    nothing = dict(zip(names, one(connection, f"SELECT {items} FROM (SELECT 1.5::DOUBLE AS x, 2.0::DOUBLE AS y) WHERE x > 2")))
    assert set(nothing.values()) == {None}
    for rows in [[(1.5, 2.0)], [(1.5, 2.0)] * 5, [(1.0, 2.0), (3.0, 2.0)], [(1.0, 2.0), (3.0, -2.0), (3.5, 1.0)], [(7.0, 0.0)]]:
        values = ", ".join(f"({x!r}::DOUBLE, {y!r}::DOUBLE)" for x, y in rows)
        missing = f"{values}, (NULL, NULL)"
        for listed in [values, missing]:
            assert dict(zip(names, one(connection, f"SELECT {items} FROM (VALUES {listed}) t(x, y)"))) == oracle.by_call(rows), rows
    of_two = "exact_corr(y, x), exact_covar_pop(y, x), exact_weighted_avg(x, y)"
    row = one(connection, f"SELECT {of_two} FROM (VALUES (1.0::DOUBLE, 2.0::DOUBLE), (3, 6), (NULL, 1), (1, NULL)) t(x, y)")
    assert row == (1.0, 2.0, 2.5)


def test_what_is_not_finite(connection):
    names = [name for name in oracle.by_call([(1.0, 2.0)]) if name not in ("exact_sum(x)", "exact_avg(x)", "exact_mean(x)", "exact_dot(x, y)")]
    for item in ["nan", "inf", "-inf"]:
        row = one(connection, f"SELECT {', '.join(names)} FROM (VALUES ('{item}'::DOUBLE, 2.0::DOUBLE), (3, 6), (5, 5.5), (1, 9)) t(x, y)")
        others = [value for name, value in zip(names, row) if "avg" not in name]
        assert all(map(math.isnan, others)), (item, dict(zip(names, row)))
    assert one(connection, "SELECT exact_wavg(x, y) FROM (VALUES ('inf'::DOUBLE, 2.0::DOUBLE), (3, 6)) t(x, y)") == (INFINITY,)


INTEGERS = {f"{sign}{name}": bits for name, bits in {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}.items() for sign in ("", "U")}


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_are_taken_as_they_are(connection, kind):
    bits = INTEGERS[kind]
    least, most = (0, 2**bits - 1) if kind.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if bits == 128:
        # The sum must be in the range of HUGEINT.
        least, most = (0, 2**125) if kind.startswith("U") else (-(2**125), 2**125)
    items = [least, most, most - 3, 5]
    values = ", ".join(f"('{item}'::{kind})" for item in items)
    total, kind_of_sum, mean = one(connection, f"SELECT exact_sum(x), typeof(exact_sum(x)), exact_avg(x) FROM (VALUES {values}) t(x)")
    assert (total, kind_of_sum) == (sum(items), "HUGEINT")
    assert mean == float(Fraction(sum(items), 4))
    if bits == 128 or kind == "UBIGINT":
        with pytest.raises(duckdb.Error, match="exact_var_pop: a number has too many digits; cast the column to DOUBLE"):
            connection.execute(f"SELECT exact_var_pop(x) FROM (VALUES {values}) t(x)").fetchall()
        items = [item >> bits // 2 + 1 for item in items]
        values = ", ".join(f"('{item}'::{kind})" for item in items)
    expected = oracle.by_call(list(zip(items, items)))
    names = [name for name in expected if name != "exact_sum(x)"]
    expected = [expected[name] for name in names]
    assert list(one(connection, f"SELECT {', '.join(names)} FROM (SELECT x, x AS y FROM (VALUES {values}) t(x))")) == expected
    # One column has integers, and the other has doubles.
    mixed = "exact_corr(x, x::DOUBLE), exact_dot(x::DOUBLE, x) = exact_dot(x::DOUBLE, x::DOUBLE)"
    assert one(connection, f"SELECT {mixed} FROM (VALUES (1::{kind}), (2), (7)) t(x)") == (1.0, True)


def test_literals_and_parameters(connection):
    assert one(connection, "SELECT exact_sum(5), typeof(exact_sum(5)), exact_sum(NULL), exact_avg(2)") == (5, "HUGEINT", None, 2.0)
    assert one(connection, "SELECT exact_sum($1), exact_avg($2)", [7, 0.5]) == (7, 0.5)


def test_decimals_are_no_doubles(connection):
    row = one(connection, "SELECT exact_sum(x), typeof(exact_sum(x)), exact_avg(x) FROM (VALUES (0.1), (0.2), (-0.3)) t(x)")
    assert row == (0.0, "DOUBLE", 0.0)
    random = np.random.default_rng(SEED)
    for width, scale in [(4, 2), (9, 4), (18, 17), (18, 0), (38, 20), (38, 37)]:
        digits = min(width, 18)
        columns = random.integers(-(10**digits) + 1, 10**digits, (2, 50)).tolist()
        x, y = [[Fraction(item, 10**scale) for item in column] for column in columns]
        texts = [[f"{'-' if item < 0 else ''}{abs(item) // 10**scale}.{abs(item) % 10**scale:0{scale}}" if scale else str(item) for item in column] for column in columns]
        rows = ", ".join(f"('{a}'::DECIMAL({width}, {scale}), '{b}'::DECIMAL({width}, {scale}))" for a, b in zip(*texts))
        expected = oracle.by_call(list(zip(x, y)))
        found = one(connection, f"SELECT {', '.join(expected)} FROM (VALUES {rows}) t(x, y)")
        assert dict(zip(expected, found)) == expected, (width, scale)
    # Decimals of two scales, and decimals in one column with doubles in the other.
    row = one(connection, "SELECT exact_regr_slope(y, x), exact_dot(x, y), exact_covar_pop(y, z) FROM (VALUES (0.1, 0.25, 1::DOUBLE), (0.3, 0.75, 2)) t(x, y, z)")
    assert row == (2.5, 0.25, 0.125)
    with pytest.raises(duckdb.Error, match="exact_var_samp: a number has too many digits; cast the column to DOUBLE"):
        connection.execute("SELECT exact_var_samp(x) FROM (VALUES (12345678901234567890.5), (0.5)) t(x)").fetchall()
    with pytest.raises(duckdb.Error, match="exact_sum_state: states have no decimals"):
        connection.execute("SELECT exact_sum_state(0.5)").fetchall()


def test_wrong_columns_are_named(connection):
    for call, error in [("exact_corr(1, 'a')", "exact_corr: argument 2 is not a number"), ("exact_mean(DATE '2020-01-01')", "exact_mean: the argument is not a number")]:
        with pytest.raises(duckdb.Error, match=error):
            connection.execute(f"SELECT {call}").fetchall()


STATES = {
    "exact_sum_state(x)": ["exact_sum(x)", "exact_avg(x)", "exact_mean(x)"],
    "exact_dot_state(x, y)": ["exact_dot(x, y)"],
    "exact_moments_state(x)": ["exact_sum(x)", "exact_avg(x)", "exact_var_samp(x)", "exact_variance(x)", "exact_var_pop(x)", "exact_stddev(x)", "exact_stddev_pop(x)"],
    "exact_powers_state(x)": ["exact_mean(x)", "exact_stddev_samp(x)", "exact_skewness(x)", "exact_kurtosis(x)", "exact_kurtosis_pop(x)"],
    "exact_comoments_state(y, x)": ["exact_covar_pop(y, x)", "exact_covar_samp(y, x)", "exact_corr(y, x)", "exact_regr_slope(y, x)", "exact_regr_intercept(y, x)"],
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("exponents", [1, 90])
def test_days_that_are_merged_are_the_month(connection, state, exponents):
    """Daily states that are merged by month, in any order, have the statistics and the bytes of the states of the base table."""
    random = np.random.default_rng(SEED)
    connection.register("arrow", table_of(random, 6000, 90, exponents))
    connection.execute("CREATE OR REPLACE TABLE items AS SELECT k AS day, k // 30 AS month, x, y FROM arrow")
    connection.execute(f"CREATE OR REPLACE TABLE daily AS SELECT day, month, {state} AS state FROM items GROUP BY ALL ORDER BY sum(day * 37 % 91)")
    names = STATES[state]
    of_states = ", ".join(f"{name.split('(')[0]}_of(exact_merge(state))" for name in names)
    merged = connection.execute(f"SELECT month, {of_states}, exact_merge(state) FROM daily GROUP BY month ORDER BY month").fetchall()
    whole = connection.execute(f"SELECT month, {', '.join(names)}, {state} FROM items GROUP BY month ORDER BY month").fetchall()
    assert merged == whole and len(whole) == 3
    all_days = one(connection, "SELECT exact_merge(s) FROM (SELECT exact_merge(state) AS s FROM daily GROUP BY month)")
    assert all_days == one(connection, f"SELECT {state} FROM items")


def test_states_are_the_same_in_python(connection):
    """States of single days are created in DuckDB and read in Python, and vice versa."""
    random = np.random.default_rng(SEED)
    table = table_of(random, 1500, 20, 30)
    connection.register("arrow", table)
    for state in STATES:
        kind, columns = state.split("_")[1], state[state.index("(") + 1 : -1].split(", ")
        made = dict(connection.execute(f"SELECT k, {state} FROM arrow GROUP BY k").fetchall())
        month = exact.State(kind)
        frame = {name: table[name].to_numpy() for name in "kxy"}
        for k, data in made.items():
            day = exact.State(kind)
            day.add(*(frame[name][frame["k"] == k] for name in sorted(columns)))
            assert day.to_bytes() == data and exact.State.of_bytes(data) == day and pickle.loads(pickle.dumps(day)) == day
            month.merge(day)
        assert one(connection, f"SELECT {state} FROM arrow") == (month.to_bytes(),)
        connection.register("days", pyarrow.table({"state": [exact.State.of_bytes(data).to_bytes() for data in made.values()]}))
        assert one(connection, "SELECT exact_merge(state) FROM days") == (month.to_bytes(),)
    values = one(connection, "SELECT exact_var_samp(x), exact_skewness(x), exact_kurtosis_pop(x), exact_corr(y, x), exact_regr_slope(y, x) FROM arrow")
    powers, both = exact.State("powers"), exact.State("comoments")
    powers.add(frame["x"])
    both.add(frame["x"], frame["y"])
    found = powers.value("var", ddof=1), powers.value("skewness", bias=False), powers.value("kurtosis"), both.value("corr"), both.value("slope")
    assert found == values
    moments = exact.Accumulator()
    moments.add(frame["x"])
    assert one(connection, "SELECT exact_moments_state(x) FROM arrow") == (moments.to_bytes(),)
    assert exact.Accumulator.of_bytes(moments.to_bytes()) == moments


def test_states_of_nothing_and_missing_states(connection):
    calls = ", ".join(STATES)
    assert set(one(connection, f"SELECT {calls}, exact_merge(NULL::BLOB) FROM (SELECT 1.0::DOUBLE AS x, 1.0::DOUBLE AS y) WHERE x > 1")) == {None}
    row = one(connection, "SELECT exact_sum_of(exact_merge(s)), exact_sum_of(NULL) FROM (SELECT exact_sum_state(2.5::DOUBLE) AS s UNION ALL SELECT NULL)")
    assert row == (2.5, None)


@pytest.mark.parametrize(
    "call, error",
    [
        ("exact_sum_of('no state'::BLOB)", "exact_sum_of: the bytes are not an exact sum"),
        ("exact_merge('tfx'::BLOB)", "exact_merge: the bytes end too early"),
        ("exact_corr_of(exact_sum_state(x))", "exact_corr_of: the state is a sum, which has no corr"),
        ("exact_var_samp_of(exact_sum_state(x))", "exact_var_samp_of: the state is a sum, which has no var"),
    ],
)
def test_wrong_states(connection, call, error):
    with pytest.raises(duckdb.Error, match=error):
        connection.execute(f"SELECT {call} FROM (SELECT 1.5::DOUBLE AS x)").fetchall()


def test_states_of_two_kinds_do_not_merge(connection):
    with pytest.raises(duckdb.Error, match="exact_merge: the bytes are (moments, not a sum|a sum, not moments)"):
        connection.execute("SELECT exact_merge(s) FROM (SELECT exact_sum_state(1.5::DOUBLE) AS s UNION ALL SELECT exact_moments_state(1.5::DOUBLE))").fetchall()


def test_damaged_states(connection):
    """Reading a state with a flipped bit returns a value or fails with an error; it never crashes."""
    (state,) = one(connection, "SELECT exact_comoments_state(x, y) FROM (VALUES (1.5::DOUBLE, 3.0::DOUBLE), (2.25, 7), (-8, 1e10)) t(x, y)")
    refused = 0
    for bit in range(8 * len(state)):
        damaged = bytearray(state)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            one(connection, "SELECT exact_corr_of($1::BLOB), exact_merge($1::BLOB)", [bytes(damaged)])
        except duckdb.InvalidInputException as error:
            assert str(error).split(": ")[1].startswith("exact_"), error
            refused += 1
    assert refused > 4 * len(state)
