"""Groups by several keys, of arrays of several axes, and several statistics at once, compared with fractions."""

import math

import numpy as np
import pytest
from by_fractions import expected
from checks import SEED, raises
from definition import bits
from test_keyed_accumulator import ONE_COLUMN, TWO_COLUMNS, drawn
from treefold import exact

KEYS = [
    lambda random, count: random.integers(-3, 3, count),
    lambda random, count: np.array(["fig", "pear", "plum"])[random.integers(0, 3, count)],
    lambda random, count: random.integers(0, 3, count) / 2,
    lambda random, count: np.datetime64("2026-01-01") + random.integers(0, 3, count),
    lambda random, count: random.integers(0, 2, count).astype(bool).tolist(),
]


def combinations(keys):
    """The distinct rows of keys, in lexicographic order, and the items of each."""
    rows = list(zip(*(np.asarray(own).tolist() for own in keys)))
    return {row: np.array([other == row for other in rows]) for row in sorted(set(rows))}


@pytest.mark.parametrize("several", [(0,), (0, 1), (1, 2, 3), (4, 0, 1, 2)])
@pytest.mark.parametrize("made", [list, tuple])
def test_groups_of_several_keys(several, made):
    random = np.random.default_rng((SEED, *several))
    keys, x = [KEYS[kind](random, 150) for kind in several], drawn(random, 150)
    groups, items = exact.groupby(made(keys)), combinations(keys)
    assert isinstance(groups.keys, tuple) and [own.dtype for own in groups.keys] == [np.asarray(own).dtype for own in keys]
    assert list(zip(*(own.tolist() for own in groups.keys))) == list(items)
    assert groups.count().tolist() == [int(own.sum()) for own in items.values()]
    for statistic in ("sum", "var", "max"):
        values = [expected(statistic, x[own], ddof=1) for own in items.values()]
        assert bits(getattr(groups, statistic)(x)) == bits(np.array(values)), statistic


def test_keys_that_are_missing_in_one_of_several():
    first, second, x = np.array([1.0, math.nan, 2.0, 1.0, 1.0]), np.ma.masked_equal([7, 7, 8, 9, 7], 9), [1.0, 2.0, 4.0, 8.0, 16.0]
    groups = exact.groupby([first, second])
    assert [own.tolist() for own in groups.keys] == [[1.0, 2.0], [7, 8]] and groups.sum(x).tolist() == [17.0, 4.0]
    raises(ValueError, r"keys\[1\]: nulls cannot be keys", exact.groupby, [first, second], dropna=False)
    groups = exact.groupby([first, second.data], dropna=False)
    assert str([own.tolist() for own in groups.keys]) == "[[1.0, 1.0, 2.0, nan], [7, 9, 8, 7]]"
    assert groups.sum(x).tolist() == [17.0, 8.0, 4.0, 2.0]
    nothing = exact.groupby([np.full(3, math.nan), [1, 2, 3]])
    assert [len(own) for own in nothing.keys] == [0, 0] and nothing.sum([1.0, 2.0, 3.0]).shape == (0,)


def test_keys_that_are_none():
    raises(ValueError, "keys must have one axis, not 2", exact.groupby, np.zeros((2, 3), int))
    raises(ValueError, r"keys\[1\] has 3 items, but keys\[0\] has 2", exact.groupby, [[1, 2], [1, 2, 3]])
    raises(ValueError, r"keys\[0\] must have one axis, not 2", exact.groupby, [np.zeros((2, 3), int), [1, 2]])
    with pytest.raises(OverflowError, match=r"the sum of key \('b', 1\) is 9223372036854775808, beyond int64"):
        exact.groupby([["a", "b", "b"], [1, 1, 1]]).sum([1, 2**62, 2**62])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("skipna", [False, True])
@pytest.mark.parametrize("statistic", ONE_COLUMN + TWO_COLUMNS)
def test_columns_of_arrays(statistic, skipna, dtype):
    """Each column has the same bits as if it were passed alone, and the bits are right."""
    random = np.random.default_rng(SEED)
    keys = random.integers(0, 4, 60)
    x, y = drawn(random, 240, dtype).reshape(60, 4), drawn(random, 60, dtype)
    if skipna:
        x[random.random(x.shape) < 0.2] = np.nan
        y[7] = np.nan
    groups, others = exact.groupby(keys), (y,) if statistic in TWO_COLUMNS else ()
    found = getattr(groups, statistic)(x, *others, skipna=skipna)
    assert found.shape == (4, 4)
    options = {"ddof": 1} if statistic in ("var", "std", "cov") else {}
    for place in range(4):
        column = np.ascontiguousarray(x[:, place])
        assert bits(found[:, place].copy()) == bits(getattr(groups, statistic)(column, *others, skipna=skipna))
        for key in range(4):
            own = (keys == key) & ~np.isnan(column)
            if others:
                own &= ~np.isnan(y)
            value = expected(statistic, *(one[own] for one in (column, *others)), dtype=dtype, **options)
            kind = np.dtype("i8" if statistic == "count" else dtype).type
            assert bits(found[key, place] + kind(0)) == bits(kind(value) + kind(0)), (place, key)
    wide = getattr(groups, statistic)(x.reshape(60, 2, 2), *others, skipna=skipna)
    assert wide.shape == (4, 2, 2) and bits(wide.reshape(4, 4)) == bits(found)
    if others:
        pairs = getattr(groups, statistic)(x, np.stack([y] * 4, axis=1), skipna=skipna)
        assert bits(pairs) == bits(found)
    if statistic not in ("count", "sum", "mean", "var", "std", "min", "max"):
        raises(ValueError, "beyond 2", getattr(groups, statistic), *([2**60] * 60 for _ in (x, *others)))


def test_shapes_that_do_not_match():
    groups = exact.groupby([0, 1, 0])
    raises(ValueError, "3 keys for 2 items", groups.sum, np.zeros((2, 3)))
    raises(ValueError, r"y has the shape \(3, 2\), but x has \(3, 4\)", groups.dot, np.zeros((3, 4)), np.zeros((3, 2)))
    raises(ValueError, "x must have an axis", groups.sum, 1.0)
    assert groups.sum(np.zeros((3, 0))).shape == (2, 0) and groups.mean(np.zeros((3, 0))).shape == (2, 0)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8"])
@pytest.mark.parametrize("statistic", ["min", "max"])
def test_extrema_of_integers(statistic, dtype):
    """The extrema are the integers themselves, even those that float64 rounds."""
    random = np.random.default_rng(SEED)
    limits = np.iinfo(dtype)
    keys, x = random.integers(0, 5, 100), random.integers(limits.min, limits.max, 100, dtype, endpoint=True)
    groups = exact.groupby(keys)
    found = getattr(groups, statistic)(x)
    function = min if statistic == "min" else max
    assert found.dtype == dtype and found.tolist() == [function(x[keys == key].tolist()) for key in range(5)]
    assert bits(getattr(groups, statistic)(np.stack([x, x], axis=1))) == bits(np.stack([found, found], axis=1))


def test_extrema_of_no_integers():
    pandas = pytest.importorskip("pandas")
    groups = exact.groupby([0, 1, 0])
    assert str(groups.max(pandas.array([3, None, 5], "Int64")).tolist()) == "[5.0, nan]"
    raises(ValueError, "beyond 2", groups.max, pandas.array([2**60 + 1, None, 5], "Int64"))


def test_complex_items():
    groups = exact.groupby([0, 1, 0])
    x = [1e300 + 1j, 2.0, -1e300 + 2j]
    assert groups.sum(x).tolist() == [3j, 2.0] and groups.mean(x).tolist() == [1.5j, 2.0]
    assert groups.sum([complex(math.nan, 1), 2.0, 3.0], skipna=True).tolist() == [3.0, 2.0]
    raises(TypeError, "`var` by key accepts only real numbers, not complex128", groups.var, x)


def test_several_statistics_at_once():
    random = np.random.default_rng(SEED)
    keys, x, y = random.integers(0, 5, 80), drawn(random, 80), drawn(random, 80)
    groups = exact.groupby(keys)
    found = groups.agg({"n": ("count",), "total": ("sum", x), "spread": ("std", y), "r": ["corr", x, y]})
    assert list(found) == ["n", "total", "spread", "r"]
    for name, value in [("n", groups.count()), ("total", groups.sum(x)), ("spread", groups.std(y)), ("r", groups.corr(x, y))]:
        assert bits(found[name]) == bits(value), name
    x[3] = np.nan
    assert bits(groups.agg({"m": ("mean", x)}, skipna=True)["m"]) == bits(groups.mean(x, skipna=True))
    assert groups.agg({}) == {}
    raises(ValueError, r"statistics\['m'\]: 'median' is none of sum, count, mean", groups.agg, {"m": ("median", x)})
    for wrong in ("agg", "_slots", "keys"):
        raises(ValueError, "is none of", groups.agg, {"m": (wrong, x)})
    raises(TypeError, None, groups.agg, {"r": ("corr", x)})
