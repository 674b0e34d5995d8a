"""Tests the functions, which are passed as capsules, in the package datafusion from PyPI."""

import math
import random
import struct
from fractions import Fraction

import datafusion
import pyarrow as pa
import pytest
import treefold_datafusion

REPORT = [
    1.5753477614031765e308,
    1.0520311921422949e308,
    -1.3151865100063228e308,
    -1.2830593404326414e308,
]


def session(partitions=2, batch_rows=8192):
    config = datafusion.SessionConfig()
    config = config.with_target_partitions(partitions).with_batch_size(batch_rows)
    context = datafusion.SessionContext(config)
    treefold_datafusion.register(context)
    return context


def table(context, columns, partitions, batch_rows):
    batches = pa.table(columns).to_batches(max_chunksize=batch_rows)
    parts = [batches[first::partitions] for first in range(partitions)]
    context.register_record_batches("t", [part for part in parts if part])


def rows(context, sql):
    return [tuple(row.values()) for row in context.sql(sql).to_pylist()]


def bits(value):
    return value if value is None else struct.pack("<d", value)


@pytest.mark.parametrize("partitions", [1, 2, 4])
def test_an_average_is_that_of_all_rows(partitions):
    context = session(partitions, 1)
    table(context, {"x": REPORT}, partitions, 1)
    assert rows(context, "SELECT exact_avg(x) FROM t") == [(7.283275776626794e305,)]


def rounded(exact):
    """Returns the double nearest to a fraction."""
    return float(exact)


@pytest.mark.parametrize("partitions", [1, 3])
def test_random_groups(partitions):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    draws = random.Random(seed)
    count = 3000

    def item():
        if draws.random() < 0.05:
            return None
        return draws.choice([1, -1]) * 2.0 ** draws.uniform(-60, 60)

    columns = {
        "k": [draws.randrange(40) for _ in range(count)],
        "x": [item() for _ in range(count)],
        "y": [item() for _ in range(count)],
    }
    context = session(partitions, 100)
    table(context, columns, partitions, 100)
    found = rows(
        context,
        "SELECT k, exact_sum(x), exact_avg(x), exact_dot(x, y), exact_var_samp(x), exact_sum(k)"
        " FROM t GROUP BY k ORDER BY k",
    )
    assert len(found) == 40
    for key, total, mean, dot, variance, integers in found:
        of_key = [row for row in zip(*columns.values()) if row[0] == key]
        x = [Fraction(row[1]) for row in of_key if row[1] is not None]
        exact = sum(x, Fraction())
        assert bits(total) == bits(rounded(exact))
        assert bits(mean) == bits(rounded(exact / len(x)))
        pairs = [row[1:] for row in of_key if None not in row]
        exact_dot = sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction())
        assert bits(dot) == bits(rounded(exact_dot))
        squares = sum((item * item for item in x), Fraction())
        spread = (squares - exact * exact / len(x)) / (len(x) - 1)
        assert bits(variance) == bits(rounded(spread))
        assert integers == key * len(of_key)


def test_windows_slide():
    context = session()
    table(context, {"i": [1, 2, 3], "x": [2.0**54, 1.0, 1.0]}, 1, 8)
    frame = "OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    found = rows(context, f"SELECT exact_avg(x) {frame} FROM t ORDER BY i")
    assert found == [(2.0**54,), (2.0**53,), (1.0,)]


def test_filter_distinct_and_lists():
    context = session()
    x = [1e300, 1e300, 0.1, -1e300, 0.2]
    table(context, {"x": x, "l": [[1e16, 1.0, -1e16, 1.0], None, [], [0.5], [None, 2.0]]}, 1, 8)
    found = rows(
        context,
        "SELECT exact_sum(DISTINCT x), exact_sum(x), exact_sum(x) FILTER (WHERE x < 1) FROM t",
    )
    assert found == [(math.fsum([0.1, 0.2]), 1e300, -1e300)]
    lists = rows(context, "SELECT tree_sum(l) FROM t")
    assert lists == [(0.0,), (None,), (None,), (0.5,), (2.0,)]


def test_wrong_arguments_are_named():
    context = session()
    table(context, {"s": ["a"]}, 1, 8)
    with pytest.raises(Exception, match="exact_sum: argument 1"):
        rows(context, "SELECT exact_sum(s) FROM t")
    assert rows(context, "SELECT count(*) FROM t") == [(1,)]


def test_another_version_is_refused(monkeypatch):
    monkeypatch.setattr(datafusion, "__version__", "54.1.0")
    with pytest.raises(ImportError, match="built for datafusion 55, but this is 54.1.0"):
        treefold_datafusion.register(datafusion.SessionContext())
