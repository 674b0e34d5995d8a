"""Exact sums by key and in bins, means, variances and accumulators, compared with fractions."""

import pickle
import struct
from fractions import Fraction

import numpy as np
import pytest
from by_fractions import expected
from checks import SEED, raises, with_threads
from definition import bits
from test_exact import nearest
from treefold import exact

FLOATS = ["f4", "f8"]


def drawn(random, count, dtype, spread=40):
    """Items of many magnitudes."""
    with np.errstate(over="ignore"):
        return (random.standard_normal(count) * 2.0 ** random.integers(-spread, spread, count)).astype(dtype)


def fractions(x):
    return [Fraction(float(item)) for item in x]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("threads", [1, 2])
def test_bincount(dtype, threads):
    with with_threads(threads):
        random = np.random.default_rng(SEED)
        for count, sums in [(0, 3), (1, 1), (1000, 7), (1000, 5000), (200_000, 100)]:
            keys, x = random.integers(0, sums, count), drawn(random, count, dtype)
            result = exact.bincount(keys, weights=x, minlength=sums)
            assert result.dtype == x.dtype and result.shape == (sums,)
            for key in range(min(sums, 20)):
                assert bits(result[key]) == bits(expected("sum", x[keys == key], dtype=dtype))
            order = random.permutation(count)
            assert bits(exact.bincount(keys[order], weights=x[order], minlength=sums)) == bits(result)


def test_bincount_of_few_among_many():
    random = np.random.default_rng(SEED)
    keys, x = random.integers(0, 2**24 + 8, 500) // 3 * 3, drawn(random, 500, "f8")
    for weights in (x, x.astype("f4"), x + 1j * x[::-1]):
        sums = exact.bincount(keys, weights, minlength=2**24 + 8)
        distinct, codes = np.unique(keys, return_inverse=True)
        assert sums.shape == (2**24 + 8,) and np.count_nonzero(sums) == len(distinct)
        assert bits(sums[distinct]) == bits(exact.bincount(codes, weights)) and not np.signbit(sums.real[sums == 0]).any()
    raises(ValueError, r"key -1 \(item 1\) is negative: keys start at 0", exact.bincount, [0, -1], [1.0, 2.0], minlength=2**24 + 8)
    raises(ValueError, "2 keys for 1 item$", exact.bincount, [0, 1], [1.0], minlength=2**24 + 8)


def test_bincount_of_complex_and_integer_weights():
    assert exact.bincount([1, 1], weights=[1 + 2j, 3 - 1j]).tolist() == [0, 4 + 1j]
    assert exact.bincount(np.array([1, 1], np.uint8), weights=[1, 2]).tolist() == [0.0, 3.0]
    assert exact.bincount([1, 1, 3]).tolist() == [0, 2, 0, 1]
    assert exact.bincount([], weights=[]).tolist() == []
    special = exact.bincount([0, 1, 1, 2, 3], weights=[np.inf, np.inf, -np.inf, np.nan, -0.0])
    assert bits(special) == bits(np.array([np.inf, np.nan, np.nan, 0.0]))


def test_keys_that_cannot_be():
    raises(ValueError, r"key -1 \(item 2\) is negative: keys start at 0", exact.bincount, [0, 1, -1], weights=[1.0, 2.0, 3.0])
    raises(ValueError, "2 keys for 1 item$", exact.bincount, [0, 1], weights=[1.0])
    raises(TypeError, "keys must be integers, not float64", exact.bincount, [0.5], weights=[1.0])
    sums = np.ones(2)
    raises(IndexError, r"key 2 \(item 1\) is out of bounds: keys must be less than 2", exact.add_at, sums, [0, 2], [1.0, 1.0])
    raises(TypeError, "complex128", exact.add_at, sums, [0], [1j])
    assert sums.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", FLOATS)
def test_add_at(dtype):
    random = np.random.default_rng(SEED)
    sums = drawn(random, 40, dtype)
    sums[:2] = -0.0
    before, keys, x = sums.copy(), random.integers(1, 30, 500), drawn(random, 500, dtype)
    exact.add_at(sums, keys, x)
    assert bits(sums[0]) == bits(before[0]) and bits(sums[30:]) == bits(before[30:])
    for key in range(1, 30):
        assert bits(sums[key]) == bits(expected("sum", np.append(x[keys == key], before[key]), dtype=dtype))


def test_histogram():
    random = np.random.default_rng(SEED)
    x, weights = random.standard_normal(2000), drawn(random, 2000, "f8")
    for bins, limits in [(10, None), (7, (-1.0, 1.5)), ([-2, -0.5, 0, 3], None)]:
        sums, edges = exact.histogram(x, bins, limits, weights=weights)
        counts, expected = np.histogram(x, bins, limits)
        assert bits(edges) == bits(expected)
        # Passed alone, each item falls into the same bin in NumPy.
        for item, weight in zip(x[:50], weights):
            (own,) = np.nonzero(np.histogram([item], edges)[0]) if edges[0] <= item <= edges[-1] else ([],)
            assert len(own) == (edges[0] <= item <= edges[-1])
        for place in range(len(counts)):
            last = place == len(counts) - 1
            inside = (edges[place] <= x) & ((x <= edges[place + 1]) if last else (x < edges[place + 1]))
            assert inside.sum() == counts[place]
            assert bits(sums[place]) == bits(nearest(sum(fractions(weights[inside]), Fraction(0)), "f8"))
    assert exact.histogram([1.0, 2.0], bins=2)[0].tolist() == [1, 1]


def test_reduceat():
    x = drawn(np.random.default_rng(SEED), 100, "f8")
    for indices in [[0, 10, 50], [3, 3, 2, 99], [7], []]:
        sums = exact.reduceat(x, indices)
        assert len(sums) == len(indices)
        for place, start in enumerate(indices):
            end = indices[place + 1] if place + 1 < len(indices) else len(x)
            items = x[start : max(end, start + 1)]
            assert bits(sums[place]) == bits(nearest(sum(fractions(items), Fraction(0)), "f8"))
    raises(IndexError, r"indices\[1\] is 100, which is out of bounds for 100 items", exact.reduceat, x, [0, 100])


@pytest.mark.parametrize("dtype", FLOATS)
def test_groupby(dtype):
    random = np.random.default_rng(SEED)
    x = drawn(random, 600, dtype, 20)
    for keys in [
        random.integers(-20, 20, 600),
        random.integers(0, 2**62, 30)[random.integers(0, 30, 600)].astype(np.uint64),
        np.array(["a", "bb", "c"])[random.integers(0, 3, 600)],
        random.integers(0, 9, 600) / 4,
    ]:
        groups = exact.groupby(keys)
        assert groups.keys.tolist() == np.unique(keys).tolist() and groups.keys.dtype == keys.dtype
        assert groups.count().tolist() == [np.sum(keys == key) for key in groups.keys]
        for name, options in [("sum", {}), ("mean", {}), ("var", {"ddof": 1}), ("std", {"ddof": 0})]:
            of_keys = [expected(name, x[keys == key], dtype=dtype, **options) for key in groups.keys]
            assert bits(getattr(groups, name)(x, **options)) == bits(np.array(of_keys))
        assert bits(groups.var(x)) == bits(groups.var(x, ddof=1)) and bits(groups.std(x)) == bits(groups.std(x, ddof=1))


def test_groups_of_nan():
    keys, x = [1.0, np.nan, -0.0, 0.0, np.nan], [1.0, 2.0, 4.0, 8.0, 16.0]
    groups = exact.groupby(keys)
    assert groups.keys.tolist() == [0.0, 1.0] and groups.sum(x).tolist() == [12.0, 1.0]
    groups = exact.groupby(keys, dropna=False)
    assert np.isnan(groups.keys[-1]) and groups.sum(x).tolist() == [12.0, 1.0, 18.0]
    raises(ValueError, "5 keys for 1 item$", groups.sum, [1.0])
    for dtype, nan in (("M8[D]", np.datetime64("NaT")), ("m8[s]", np.timedelta64("NaT")), ("c16", complex(np.nan, 1))):
        one, other = both = np.array([1, 2]).astype(dtype)
        keys = np.array([other, nan, one, other, nan])
        assert bits(exact.groupby(keys).keys) == bits(both) and exact.groupby(keys).sum(x).tolist() == [4.0, 9.0]
        assert exact.groupby(keys, dropna=False).sum(x).tolist() == [4.0, 9.0, 18.0]
    keys = np.array(["b", None, "a", "b", None], object)
    assert exact.groupby(keys).keys.tolist() == ["a", "b"] and exact.groupby(keys).sum(x).tolist() == [4.0, 9.0]
    raises(ValueError, "keys: nulls cannot be keys", exact.groupby, keys, dropna=False)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ddof", [0, 1, 0.5])
def test_statistics(dtype, ddof):
    random = np.random.default_rng(SEED)
    x = drawn(random, 6 * 50, dtype, 10).reshape(6, 50)
    for axis, rows in [(None, [x.ravel()]), (1, x), (0, x.T), ((0, 1), [x.ravel()])]:
        means, variances, deviations = exact.mean(x, axis), exact.var(x, axis, ddof=ddof), exact.std(x, axis, ddof=ddof)
        for place, row in enumerate(rows):
            for name, found in [("mean", means), ("var", variances), ("std", deviations)]:
                assert bits(np.ravel(found)[place]) == bits(expected(name, row, dtype=dtype, ddof=ddof))
    assert exact.mean(x, 0, keepdims=True).shape == (1, 50) and exact.var(x, keepdims=True).shape == (1, 1)


def test_statistics_of_little():
    with np.errstate(all="ignore"):
        assert np.isnan(exact.mean([])) and np.isnan(exact.var([])) and np.isnan(exact.var([1.0], ddof=1))
    assert exact.var([1.0, 2.0], ddof=2) == np.inf and exact.var([3, 4]) == 0.25
    assert exact.mean([1 + 1j, 2 + 3j]) == 1.5 + 2j and exact.var([1 + 1j, 2 + 3j]) == 1.25
    assert exact.average([1.0, 4.0], weights=[3, 1]) == 1.75
    assert exact.average(np.eye(2), 0, [1.0, 3.0]).tolist() == [0.25, 0.75]
    assert exact.average([1j, 2j], weights=[1.0, 1.0]) == 1.5j
    infinite = exact.average([complex(1, np.inf), complex(3, 1)], weights=[1.0, 1.0])
    assert bits(infinite) == bits(np.array(complex(2, np.inf))[()])
    assert np.isnan(exact.mean(np.empty((2, 0)), 1)).all() and exact.mean(np.empty((0, 2)), 1).shape == (0,)
    assert exact.mean(np.array(3.0)) == 3 and exact.mean(np.array(3.0), keepdims=True).shape == ()
    raises(ZeroDivisionError, "sum to zero", exact.average, [1.0, 2.0], weights=[1.0, -1.0])


def read(state):
    """The counts and fractions in the bytes of an accumulator of floats, read as the format specifies."""
    assert state[:4] == b"tfx\x01" and state[4] == 5 and state[6:8] == b"\0\0"
    at, parts = 8, []
    for _ in range(2):
        counts = struct.unpack_from("<5Q", state, at)
        exponent, length = struct.unpack_from("<iI", state, at + 40)
        number = int.from_bytes(state[at + 48 : at + 48 + length], "little", signed=True)
        parts.append((counts, number * Fraction(2) ** exponent))
        at += 48 + length
    assert at == len(state)
    return state[5], parts


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_accumulator(dtype):
    random = np.random.default_rng(SEED)
    real = dtype[0] == "f"
    x = drawn(random, 400, "f4" if dtype in ("f4", "c8") else "f8").view(dtype)
    own, other = exact.Accumulator(dtype), exact.Accumulator(dtype)
    own.add(x)
    own.remove(x[::3])
    other.add(np.delete(x, np.s_[::3])[::-1].reshape(-1, 1))
    assert own == other and own.count == len(x) - len(x[::3])
    assert pickle.dumps(own) == pickle.dumps(other) and pickle.loads(pickle.dumps(own)) == own
    assert bits(own.value()) == bits(exact.sum(np.delete(x, np.s_[::3])))
    assert bits(own.var(1)) == bits(exact.var(np.delete(x, np.s_[::3]), ddof=1))
    assert bits(own.std()) == bits(exact.std(np.delete(x, np.s_[::3])))
    own.merge(other)
    assert own.count == 2 * other.count and bits(own.mean()) == bits(other.mean())
    if real:
        _, (_, state) = own.__reduce__()
        items = 2 * fractions(np.delete(x, np.s_[::3]))
        size, ((counts, total), (_, squares)) = read(state)
        assert size == x.itemsize and counts == (len(items), 0, 0, 0, 0)
        assert total == sum(items) and squares == sum(item * item for item in items)


@pytest.mark.parametrize("dtype", ["i1", "i8", "u8", "?"])
def test_accumulators_of_integers(dtype):
    """Integers are added exactly, even those that a double cannot represent. Python's integers check the results."""
    for case in range(50):
        random = np.random.default_rng((SEED, 7, case))
        limits = np.iinfo(dtype) if dtype != "?" else np.iinfo("u1")
        shift = int(random.integers(0, 8 * limits.dtype.itemsize))
        x = random.integers(limits.min, limits.max, (int(random.integers(2, 9)), 3), limits.dtype, endpoint=True) >> shift
        x = x.astype(dtype)
        own, other = exact.Accumulator(), exact.Accumulator("c16")
        own.add(np.concatenate([x, x[:1]]))
        own.remove(x[0])
        other.add(x)
        numbers = [int(item) for item in x.flat]
        place = f"TREEFOLD_SEED={SEED}, case {case}"
        for one in (own, other):
            assert one.count == x.size and one.value() == expected("sum", numbers), place
            assert one.mean() == expected("mean", numbers) and one.var(1) == expected("var", numbers, ddof=1), place
    own = exact.Accumulator()
    own.add([2**53 + 1, 2**53 + 1, -(2**53) - 1, -(2**53)])
    assert own.value() == 1.0
    before = pickle.dumps(own)
    raises(ValueError, "cannot remove", own.remove, [2**53 + 1] * 5)
    assert pickle.dumps(own) == before


def test_accumulators_that_cannot_be():
    own = exact.Accumulator()
    own.add([1.0, np.nan, -0.0])
    before = pickle.dumps(own)
    raises(ValueError, "cannot remove 2 NaNs: the sum holds 1", own.remove, [np.nan, np.nan])
    raises(TypeError, "complex128", own.add, 1j)
    raises(TypeError, "different types", own.merge, exact.Accumulator("f4"))
    assert pickle.dumps(own) == before
    restore, (dtype, state) = own.__reduce__()
    for wrong, message in [(state[:-1], "end too early"), (b"?" + state[1:], "not an exact sum"), (state[:3] + b"\2" + state[4:], "version 2")]:
        raises(ValueError, message, restore, dtype, wrong)
    raises(ValueError, "moments of f64, not moments of f32", restore, "f4", state)
