"""Accumulators by key, and all statistics of groups, compared with fractions."""

import datetime
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from by_fractions import expected
from checks import SEED, raises
from definition import bits
from treefold import exact

ONE_COLUMN = ["count", "sum", "mean", "var", "std", "min", "max", "norm", "skewness", "kurtosis"]
TWO_COLUMNS = ["dot", "average", "cov", "corr", "slope", "intercept"]
COUNTED = set(ONE_COLUMN + TWO_COLUMNS) - {"dot", "average", "norm", "min", "max"}
KEPT = {"min", "max"}


def drawn(random, count, dtype="f8", spread=12):
    """Items whose fourth powers are far from overflow and underflow."""
    return (random.standard_normal(count) * 2.0 ** random.integers(-spread, spread, count)).astype(dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("statistic", ONE_COLUMN + TWO_COLUMNS)
def test_every_statistic(statistic, dtype):
    random = np.random.default_rng(SEED)
    count = 300
    keys, x, y = random.integers(0, 12, count), drawn(random, count, dtype), drawn(random, count, dtype)
    keys[:5] = 100 + np.array([0, 1, 1, 1, 1])
    y[5:] += x[5:]
    columns = (x, y) if statistic in TWO_COLUMNS else (x,)
    held = exact.KeyedAccumulator(statistic, dtype)
    for part in np.array_split(random.permutation(count), 4):
        held.add(keys[part], *(column[part] for column in columns))
    if statistic not in KEPT:
        # Items that are added and removed leave no trace, whatever their size.
        large = np.array([1e20, np.inf, -1e-20, np.nan], dtype)
        held.add([100, 3, 3, 999], *(large for _ in columns))
        held.remove([100, 3, 3, 999], *(large for _ in columns))
    options = [{"ddof": 0}, {"ddof": 1.5}] if statistic in ("var", "std", "cov") else [{}]
    options = [{"bias": True}, {"bias": False}] if statistic in ("skewness", "kurtosis") else options
    for given in options:
        found = dict(zip(held.keys(), held.value(**given)))
        assert set(found) - {999} == set(keys.tolist())
        assert (999 in found) == (statistic not in COUNTED | KEPT)
        for key in set(keys.tolist()):
            items = [column[keys == key] for column in (x, y)]
            if len(items[0]) <= given.get("ddof", 0):
                continue
            value = expected(statistic, *items, dtype, **given)
            kind = "i8" if statistic == "count" else dtype
            assert found[key].dtype == np.dtype(kind)
            # A zero sum is always +0.0.
            assert bits(found[key] + np.dtype(kind).type(0)) == bits(np.dtype(kind).type(value) + np.dtype(kind).type(0)), (key, given)


def test_the_defaults_of_ddof():
    keys, x, y = ["a"] * 3, [1.0, 2.0, 6.0], [1.0, 3.0, 2.0]
    for statistic, ddof, columns in [("var", 0, (x,)), ("std", 0, (x,)), ("cov", 1, (x, y))]:
        held = exact.KeyedAccumulator(statistic)
        held.add(keys, *columns)
        assert held.value() == held.value(ddof=ddof) != held.value(ddof=1 - ddof)


@pytest.mark.parametrize("statistic", ["count", "sum", "mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers(statistic, dtype):
    random = np.random.default_rng(SEED)
    keys, x = random.integers(0, 4, 200), random.integers(2**61, 2**62, 200).astype(dtype) // 64
    held = exact.KeyedAccumulator(statistic, dtype)
    held.add(keys, x)
    held.add([9, 9], np.array([2**62, 2**62], dtype))
    held.remove([9, 9], np.array([2**62, 2**62], dtype))
    found = held.value()
    assert held.keys() == [0, 1, 2, 3] and found.dtype == np.dtype(dtype if statistic == "sum" else "i8" if statistic == "count" else "f8")
    for key in range(4):
        items = x[keys == key].tolist()
        assert found[key] == (sum(items) if statistic == "sum" else expected(statistic, items))
    if statistic == "sum":
        held.add([7, 7, 7], np.array([2**62, 2**62, 2**63 - 1], dtype))
        if dtype == "i8":
            raises(OverflowError, f"the sum of key 7 is {2**64 - 1}, beyond int64", held.value)
        else:
            assert held.value()[-1] == 2**64 - 1


WHEN = datetime.datetime(2026, 1, 1)


@pytest.mark.parametrize(
    "keys",
    [
        [3, 1, 3, 2],
        [10**30, 1, 10**30, -(10**30)],
        ["pear", "fig", "pear", "plum"],
        ["a\0", "a", "a\0", "b"],
        [(1, "x"), (0, "y"), (1, "x"), (1, "a")],
        [0.5, -0.0, 0.5, 1.0],
        [WHEN + datetime.timedelta(day) for day in (3, 1, 3, 2)],
        np.array([3, 1, 3, 2], "u1"),
        np.array([2**64 - 1, 1, 2**64 - 1, 2], "u8"),
        np.array([3.5, 1.5, 3.5, 2.0], "f4"),
        np.array(["c", "a", "c", "b"]),
        np.array(["2026-01-03", "2026-01-01", "2026-01-03", "2026-01-02"], "M8[ns]"),
        np.array([True, False, True, True]),
    ],
    ids=str,
)
def test_keys_of_any_type(keys):
    held = exact.KeyedAccumulator("sum")
    held.add(keys, [1e300, 1.0, -1e300, 4.0])
    held.add(keys[:1], [0.25])
    own = [key.item() if isinstance(key, np.generic) and keys.dtype.kind != "M" else key for key in keys]
    plain = {}
    for key, x in zip(own + own[:1], (Fraction(1e300), 1, Fraction(-1e300), 4, Fraction(1, 4))):
        plain[key] = plain.get(key, 0) + x
    assert held.keys() == sorted(plain) and len(held) == len(plain)
    assert held.value().tolist() == [plain[key] for key in sorted(plain)]
    again = pickle.loads(pickle.dumps(held))
    assert again == held and again.keys() == held.keys() and bits(again.value()) == bits(held.value())


def test_keys_that_do_not_compare_are_in_the_order_in_which_they_came():
    held = exact.KeyedAccumulator("count")
    held.add(["x", 1, (2,), 1], [0.0] * 4)
    assert held.keys() == ["x", 1, (2,)] and held.value().tolist() == [1, 2, 1]


@pytest.mark.parametrize("statistic", ONE_COLUMN + TWO_COLUMNS)
def test_parts_merge_to_the_whole(statistic):
    random = np.random.default_rng(SEED)
    count = 400
    keys = np.array([f"key {key}" for key in random.integers(0, 30, count)])
    columns = [drawn(random, count) for _ in range(2 if statistic in TWO_COLUMNS else 1)]

    def of(part):
        held = exact.KeyedAccumulator(statistic)
        held.add(keys[part], *(column[part] for column in columns))
        return held

    whole = of(slice(None))
    parts = [of(part) for part in np.array_split(random.permutation(count), 5)]
    before = [pickle.dumps(part) for part in parts]
    total = sum(parts[1:], parts[0])
    assert [pickle.dumps(part) for part in parts] == before
    assert total == whole and total.keys() == whole.keys() and bits(total.value()) == bits(whole.value())
    # Equal accumulators have equal bytes.
    assert pickle.dumps(total) == pickle.dumps(whole)
    held = parts[0].copy()
    held.merge(held)
    assert (held == parts[0]) == (statistic in KEPT) and parts[0] == pickle.loads(before[0])
    empty = exact.KeyedAccumulator(statistic)
    empty.merge(exact.KeyedAccumulator(statistic))
    assert empty.keys() == [] and empty.value().shape == (0,) and not len(empty)
    assert empty + whole == whole + empty == whole != empty


def test_a_maintained_view():
    """Rows are added and removed; a key without rows disappears."""
    random = np.random.default_rng(SEED)
    held, table = exact.KeyedAccumulator("sum"), []
    for _ in range(200):
        keys, x = random.integers(0, 300, 50), drawn(random, 50, spread=300)
        held.add(keys, x)
        table += zip(keys.tolist(), x.tolist())
        random.shuffle(table)
        gone, table = table[: len(table) // 2], table[len(table) // 2 :]
        held.remove([int(key) for key, _ in gone], [x for _, x in gone])
    rows = [int(key) for key, _ in table]
    groups = exact.groupby(rows)
    assert held.keys() == groups.keys.tolist() and bits(held.value()) == bits(groups.sum([x for _, x in table]))
    fresh = exact.KeyedAccumulator("sum")
    fresh.add(rows, [x for _, x in table])
    assert held == fresh and len(held) == len(fresh)
    held.remove(rows, [x for _, x in table])
    assert held.keys() == [] and held == exact.KeyedAccumulator("sum")


def test_what_is_refused():
    held = exact.KeyedAccumulator("sum")
    held.add(["a", "b"], [1.0, 2.0])
    before = pickle.dumps(held)
    for wrong, error, match in [
        (lambda: exact.KeyedAccumulator("median"), ValueError, "statistic: `median` is none of count, sum"),
        (lambda: exact.KeyedAccumulator("sum", "c16"), TypeError, "dtype: complex128"),
        (lambda: exact.KeyedAccumulator("kurtosis", "i8"), TypeError, "`kurtosis`"),
        (lambda: held.add("ab", [1.0, 2.0]), TypeError, "keys is a single str"),
        (lambda: held.add(["c"], [1.0, 2.0]), ValueError, "1 key for 2 items of x"),
        (lambda: held.add(["c"], [1.0], [2.0]), TypeError, "`sum` takes only x"),
        (lambda: exact.KeyedAccumulator("cov").add(["c"], [1.0]), TypeError, "`cov` takes x and y"),
        (lambda: held.add(["c"], [[1.0]]), ValueError, "x must have one axis, not 2"),
        (lambda: held.add([[1]], [1.0]), TypeError, "unhashable"),
        (lambda: held.add([math.nan], [1.0]), ValueError, "keys: nan cannot be a key"),
        (lambda: held.add(np.array([math.nan, 1.0]), [1.0, 2.0]), ValueError, "keys: nan cannot be a key"),
        (lambda: held.add(np.array(["NaT"], "M8[s]"), [1.0]), ValueError, "cannot be a key"),
        (lambda: held.add(["c", None], [1.0, 2.0]), ValueError, "keys: None cannot be a key"),
        (lambda: held.add(["c"], [2**53 + 1]), ValueError, "x: item 0 is 9007199254740993, but"),
        (lambda: held.add(["c"], [1j]), TypeError, "x has elements of type complex128"),
        (lambda: held.remove(["z"], [1.0]), ValueError, "key 'z' has no items"),
        (lambda: held.remove(["a", "a"], [1.0, 1.0]), ValueError, "key 'a': "),
        (lambda: held.remove(["a"], [math.inf]), ValueError, "key 'a': "),
        (lambda: held.merge(3), TypeError, "other is a int"),
        (lambda: held.merge(exact.KeyedAccumulator("mean")), TypeError, "`mean` of float64, not `sum` of float64"),
        (lambda: held.merge(exact.KeyedAccumulator("sum", "f4")), TypeError, "float32"),
    ]:
        raises(error, match, wrong)
        assert pickle.dumps(held) == before and held.keys() == ["a", "b"]
    with pytest.raises(TypeError):
        held + 3
    least = exact.KeyedAccumulator("min")
    least.add(["a"], [1.0])
    raises(ValueError, "items cannot be removed from extrema", least.remove, ["a"], [1.0])
    restore, (version, *rest) = held.__reduce__()
    for state in [(9, *rest), (version, *rest[:2], ["a"], rest[-1]), (version, *rest[:2], ["a", "a"], rest[-1])]:
        raises(ValueError, None, restore, *state)


def test_time_buckets_merge():
    """Sums by hour, which are accumulated separately for each day, merge to the sums of all items."""
    random = np.random.default_rng(SEED)
    when = np.datetime64("2026-01-01", "s") + random.integers(0, 5 * 86_400, 3000)
    x = drawn(random, 3000, spread=200)
    days = []
    for day in np.unique(when.astype("M8[D]")):
        some = when.astype("M8[D]") == day
        buckets = exact.KeyedAccumulator("sum")
        buckets.add(when[some].astype("M8[h]"), x[some])
        days.append(buckets)
    whole = sum(days[1:], days[0])
    direct = exact.groupby(when.astype("M8[h]"))
    assert whole.keys() == direct.keys.tolist() or whole.keys() == list(direct.keys)
    assert bits(whole.value()) == bits(direct.sum(x))
