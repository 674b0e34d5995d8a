"""Compares the results of the aggregates in the real DuckDB with `math.fsum` and with results in fractions, for several numbers of
threads, orders of rows and sources of data."""

import math
import os
from fractions import Fraction

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import treefold
import treefold.duckdb

# TREEFOLD_DUCKDB_ROWS=10000000 makes the tests larger.
ROWS = int(os.environ.get("TREEFOLD_DUCKDB_ROWS", "300000"))
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


def rounded_root(square):
    """Returns the double nearest to the square root of a fraction."""
    if square == 0:
        return 0.0
    shift = 2 * (140 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    root = math.isqrt((square.numerator << max(shift, 0)) // (square.denominator << max(-shift, 0)))
    # A further bit is set if the root is not exact. It is far below the bits that decide how the root is rounded.
    is_exact = Fraction(root) ** 2 == square * Fraction(2) ** shift
    return float(Fraction(2 * root + (not is_exact)) / Fraction(2) ** (shift // 2 + 1))


def moments(items):
    """Returns the mean, both variances and both standard deviations, each rounded once."""
    exact = [Fraction(item) for item in items]
    n, total, squares = len(exact), sum(exact), sum(item * item for item in exact)
    about_mean = squares - total * total / n
    variances = [about_mean / n, about_mean / (n - 1)]
    return [float(total / n), *map(float, variances), *map(rounded_root, variances)]


MOMENTS = "exact_avg(x), exact_var_pop(x), exact_var_samp(x), exact_stddev_pop(x), exact_stddev_samp(x)"


@pytest.mark.parametrize("groups", [1, 100, ROWS // 10])
def test_same_bits_by_threads_orders_and_sources(tmp_path, groups):
    print(f"seed {SEED}")
    random = np.random.default_rng(SEED)
    keys = random.integers(0, groups, ROWS)
    x = random.standard_normal(ROWS) * 10.0 ** random.integers(-3, 4, ROWS)
    y = random.standard_normal(ROWS)
    order = np.argsort(keys, kind="stable")
    found, firsts = np.unique(keys[order], return_index=True)
    parts = np.split(order, firsts[1:])
    expected = {int(key): math.fsum(x[part]) for key, part in zip(found, parts)}
    whole = {}
    for key, part in list(zip(found, parts))[: 3 if groups < 1000 else 30]:
        part = part[:3000] if groups < 1000 else part
        dot = float(sum(Fraction(a) * Fraction(b) for a, b in zip(x[part].tolist(), y[part].tolist())))
        whole[int(key)] = [dot, *(moments(x[part].tolist()) if len(part) > 1 else [])]
    table = pyarrow.table({"k": keys, "x": x, "y": y, "i": np.arange(ROWS)})
    shuffled = random.permutation(ROWS)
    pyarrow.parquet.write_table(table.take(shuffled), tmp_path / "x.parquet", row_group_size=ROWS // 7)
    seen = set()
    for threads in [1, 2, 4]:
        with treefold.duckdb.connect(config={"threads": threads}) as connection:
            connection.register("arrow", table)
            connection.execute("CREATE TABLE kept AS SELECT * FROM arrow ORDER BY x")
            for source in ["arrow", "kept", f"'{tmp_path}/x.parquet'"]:
                sums = connection.execute(f"SELECT k, exact_sum(x) FROM {source} GROUP BY k").fetchall()
                assert dict(sums) == expected, (threads, source)
                others = f"SELECT k, exact_dot(x, y), {MOMENTS} FROM {source} GROUP BY k ORDER BY k"
                seen.add(str(connection.execute(others).fetchall()))
            plain = [connection.execute(f"SELECT k, sum(x) FROM {source} GROUP BY k ORDER BY k").fetchall() for source in ["arrow", "kept"]]
            assert plain[0] != plain[1], "plain sums are equal, so this test could not fail"
            of_few = connection.execute(
                f"SELECT k, exact_dot(x, y), {MOMENTS} FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY i) AS place FROM kept) "
                "WHERE place <= 3000 GROUP BY k"
            )
            for key, *values in of_few.fetchall():
                if key in whole:
                    assert values[: len(whole[key])] == whole[key], (threads, key)
    assert len(seen) == 1


def test_public_reports(connection):
    # apache/datafusion#11264: the average of numbers whose intermediate sums overflow.
    report = [1.5753477614031765e308, 1.0520311921422949e308, -1.3151865100063228e308, -1.2830593404326414e308]
    for items in [report, report[::-1]]:
        (average,) = one(connection, "SELECT exact_avg(x) FROM (SELECT unnest($1::DOUBLE[]) AS x)", [items])
        assert average == 7.283275776626794e305
    assert one(connection, "SELECT exact_avg(1.7e308), avg(1.7e308) FROM range(3)") == (1.7e308, INFINITY)
    # In engines that add and subtract with rounding, sums over such windows drift.
    windows = connection.execute(
        "SELECT exact_avg(x) OVER (ORDER BY i ROWS 1 PRECEDING) FROM (VALUES (1, 18014398509481984.0::DOUBLE), (2, 1.0), (3, 1.0)) t(i, x)"
    )
    assert windows.fetchall()[2] == (1.0,)
    parts = [n * (1 / 4024) for n in (390, 1006, 2628)]
    for items in [parts, parts[::-1], parts[1:] + parts[:1]]:
        assert one(connection, "SELECT exact_sum(x) FROM (SELECT unnest($1::DOUBLE[]) AS x)", [items]) == (0.9999999999999999,)


def test_what_is_not_finite(connection):
    def of(items):
        sql = f"SELECT exact_sum(x), exact_dot(x, 1), {MOMENTS} FROM (SELECT unnest($1::DOUBLE[]) AS x)"
        return one(connection, sql, [items])

    for items, total in [([NAN, 1], NAN), ([INFINITY, 1], INFINITY), ([1, -INFINITY], -INFINITY), ([INFINITY, -INFINITY], NAN)]:
        expected = [total, total, total, NAN, NAN, NAN, NAN]
        assert str(of(items)) == str(tuple(expected))
    assert of([1.7e308] * 3)[:3] == (INFINITY, INFINITY, 1.7e308)
    assert [math.copysign(1, value) for value in of([-0.0, -0.0])[:3]] == [1, 1, 1]
    assert str(one(connection, "SELECT exact_dot('inf'::DOUBLE, 0)")) == "(nan,)"


def test_nulls_and_too_few_rows(connection):
    connection.execute("CREATE OR REPLACE TABLE few AS SELECT * FROM (VALUES (1, NULL), (NULL, 2), (3, 4), (NULL, NULL)) t(x, y)")
    assert one(connection, "SELECT exact_sum(x::DOUBLE), exact_avg(x), exact_dot(x, y), exact_var_samp(x) FROM few") == (4, 2, 12, 2)
    one_row = f"SELECT exact_sum(x::DOUBLE), exact_dot(x, x), {MOMENTS} FROM few WHERE x = 3"
    assert one(connection, one_row) == (3, 9, 3, 0, None, 0, None)
    no_rows = f"SELECT exact_sum(x::DOUBLE), exact_sum(x), exact_dot(x, x), {MOMENTS} FROM few WHERE x > 3"
    assert one(connection, no_rows) == (None,) * 8


@pytest.mark.parametrize(
    "kind, of_sum",
    [(kind, "HUGEINT") for kind in ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "UINTEGER", "UBIGINT", "UHUGEINT"]]
    + [(kind, "DOUBLE") for kind in ["FLOAT", "DOUBLE", "DECIMAL(9, 2)", "DECIMAL(38, 9)"]],
)
def test_types(connection, kind, of_sum):
    functions = ["exact_sum", "exact_avg", "exact_var_pop", "exact_stddev_samp"]
    types = ", ".join(f"typeof({name}(x))" for name in functions)
    row = one(connection, f"SELECT {types}, exact_sum(x), exact_avg(x), exact_var_pop(x) FROM (SELECT unnest([1, 2, 4])::{kind} AS x)")
    assert row == (of_sum, "DOUBLE", "DOUBLE", "DOUBLE", 7, 7 / 3, float(Fraction(14, 9)))


def test_integers_and_floats_lose_nothing(connection):
    big = 2**62 + 1
    row = one(connection, f"SELECT exact_sum(x), exact_avg(x), exact_var_pop(x) FROM (SELECT unnest([{big}, {big + 2}]) AS x)")
    assert row == (2 * big + 2, float(big + 1), 1.0)
    largest = 2**127 - 1
    assert one(connection, f"SELECT exact_sum(x) FROM (VALUES ({largest}::HUGEINT), ({largest}), (-{largest})) t(x)") == (largest,)
    items = [np.float32(0.1).item(), 2.0**-100]
    (total,) = one(connection, "SELECT exact_sum(x) FROM (SELECT unnest($1::FLOAT[]) AS x)", [items])
    assert total == float(sum(map(Fraction, items)))


def test_groups_of_all_kinds(connection):
    random = np.random.default_rng(SEED)
    rows = [(int(k), int(j), float(x)) for k, j, x in zip(*random.integers(0, 3, (2, 2000)), random.choice([0.1, 1e16, -1e16, 3.7], 2000))]
    connection.execute("CREATE OR REPLACE TABLE rows_of (k INT, j INT, x DOUBLE)")
    connection.executemany("INSERT INTO rows_of VALUES (?, ?, ?)", rows)

    def total(condition):
        return math.fsum(x for k, j, x in rows if condition(k, j))

    sets = connection.execute("SELECT k, j, exact_sum(x) FROM rows_of GROUP BY ROLLUP (k, j)").fetchall()
    assert len(sets) == 13
    for k, j, value in sets:
        assert value == total(lambda a, b: k in (None, a) and j in (None, b))
    row = one(connection, "SELECT exact_sum(x) FILTER (j = 1), exact_sum(DISTINCT x), exact_sum(x ORDER BY x), exact_avg(DISTINCT x) FROM rows_of")
    distinct = math.fsum({x for _, _, x in rows})
    assert row == (total(lambda k, j: j == 1), distinct, total(lambda k, j: True), distinct / 4)
    having = connection.execute("SELECT k FROM rows_of GROUP BY k HAVING exact_sum(x) > 0 ORDER BY k").fetchall()
    assert having == [(k,) for k in range(3) if total(lambda a, _: a == k) > 0]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("frame, first, last", [("ROWS 2 PRECEDING", -2, 0), ("ROWS BETWEEN 5 PRECEDING AND 3 FOLLOWING", -5, 3),
                                                ("ROWS UNBOUNDED PRECEDING", -9999, 0)])
def test_windows(threads, frame, first, last):
    random = np.random.default_rng(SEED)
    x = random.standard_normal(5000) * 10.0 ** random.integers(-20, 20, 5000)
    with treefold.duckdb.connect(config={"threads": threads}) as connection:
        connection.register("items", pyarrow.table({"i": np.arange(len(x)), "x": x}))
        found = connection.execute(f"SELECT exact_sum(x) OVER (ORDER BY i {frame}), exact_avg(x) OVER (ORDER BY i {frame}) FROM items ORDER BY i")
        for at, (total, mean) in enumerate(found.fetchall()):
            if at > 300 and first < -100 and at % 97:
                continue
            window = x[max(0, at + first) : at + last + 1].tolist()
            assert total == math.fsum(window), at
            assert mean == float(sum(map(Fraction, window)) / len(window)), at


def test_trees_of_lists(connection):
    random = np.random.default_rng(SEED)
    x = random.standard_normal(3000)
    connection.register("items", pyarrow.table({"i": np.arange(len(x)), "x": x}))
    (by_tree,) = one(connection, "SELECT tree_sum(list(x ORDER BY i)) FROM items")
    assert by_tree == treefold.sum(x)
    halves = connection.execute("SELECT i < 1000, tree_sum(list(x ORDER BY i)) FROM items GROUP BY 1 ORDER BY 1").fetchall()
    assert halves == [(False, treefold.sum(x[1000:])), (True, treefold.sum(x[:1000]))]
    (single,) = one(connection, "SELECT tree_sum(list(x::FLOAT ORDER BY i)) FROM items")
    assert single == treefold.sum(x.astype("f4"))
    # Slices of lists, in only a few rows of the table.
    connection.execute("CREATE OR REPLACE TABLE lists AS SELECT i, [x, NULL, x, 0.1] AS x FROM items")
    sliced = connection.execute("SELECT tree_sum(x[1:3]), x[1] FROM lists WHERE i % 7 = 3 ORDER BY i").fetchall()
    assert sliced == [(item + item, item) for item in x[3::7].tolist()]
    row = one(connection, "SELECT tree_sum([]::DOUBLE[]), tree_sum(NULL::DOUBLE[]), tree_sum([NULL]::DOUBLE[]), tree_sum(array_value(0.1, 0.2)::DOUBLE[2])")
    assert row == (None, None, None, 0.1 + 0.2)
    assert math.isnan(one(connection, "SELECT tree_sum(['inf'::DOUBLE, '-inf'])")[0])
