"""Exact sums equal those of `math.fsum` and of fractions, and depend only on the items."""

import concurrent.futures
import itertools
import math
import pickle
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
import treefold
from checks import Producer, SEED, merged, raises, with_threads
from definition import bits, items
from treefold import exact

CASES = 100_000
FLOATS = ["f4", "f8"]
COMPLEX = ["c8", "c16"]

# The bits of a significand, and the exponents of the lowest bit and of the first number beyond the range.
FORMATS = {"f4": (24, -149, 128), "f8": (53, -1074, 1024)}


def nearest(value, dtype):
    """A fraction, rounded once to nearest, ties to even."""
    digits, lowest, beyond = FORMATS[dtype]
    if value == 0:
        return np.dtype(dtype).type(0)
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    unit = max(exponent - digits + 1, lowest)
    units = round(magnitude / Fraction(2) ** unit)
    rounded = math.inf if units >= Fraction(2) ** (beyond - unit) else math.ldexp(units, unit)
    return np.dtype(dtype).type(-rounded if value < 0 else rounded)


def root(value):
    """The square root of a sum of squares, with more bits than rounding needs. The last bit is set if the root is not exact."""
    numerator, twice = value.numerator, value.denominator.bit_length() - 1
    if twice % 2:
        numerator, twice = 2 * numerator, twice + 1
    numerator <<= 256
    whole = math.isqrt(numerator)
    return Fraction(2 * whole + (whole * whole != numerator), 1 << twice // 2 + 129)


def total(values):
    """The exact sum of finite numbers."""
    result = Fraction(0)
    for value in values:
        result += Fraction(float(value))
    return result


def expected_sum(x):
    """The expected sum, computed with fractions; -0.0 if all items are -0.0."""
    parts = x.reshape(-1, 1).view(x.real.dtype)
    rounded = [nearest(total(part), part.dtype.str[1:]) for part in parts.T]
    zeros = [part.size > 0 and not part.any() and np.signbit(part).all() for part in parts.T]
    rounded = [-value if zero else value for value, zero in zip(rounded, zeros)]
    return np.array(rounded).view(x.dtype)[0]


def drawn(random, dtype="f8", most=40):
    """Finite numbers of all exponents, or of few exponents. Some are subnormal, and many cancel."""
    digits, lowest, beyond = FORMATS[dtype]
    count = int(random.integers(0, most + 1))
    kind = random.integers(0, 4)
    if kind == 0:
        words = random.integers(0, 1 << 8 * np.dtype(dtype).itemsize, count, "u" + dtype[1:])
        x = words.view(dtype)
        x = np.where(np.isfinite(x), x, x.dtype.type(1))
    else:
        first = int(random.integers(lowest, beyond - digits))
        width = (1, 60, 2000)[kind - 1]
        exponents = random.integers(first, min(first + width, beyond - digits), count, endpoint=True)
        significands = random.integers(-(1 << digits) + 1, 1 << digits, count)
        x = np.ldexp(significands.astype("f8"), exponents).astype(dtype)
    if random.integers(0, 2):
        rest = drawn(random, dtype, 3) if most > 3 else x[:0]
        x = random.permutation(np.concatenate([x, -x, rest]))
    return x


def by_fsum(x):
    """The sum by `math.fsum`, which raises OverflowError if partial sums are beyond the range. If all items are -0.0, so
    is the sum."""
    all_negative_zeros = x.size > 0 and not x.any() and np.signbit(x).all()
    return np.float64(-0.0 if all_negative_zeros else math.fsum(x.tolist()))


def test_generated_cases_against_fsum():
    by_fractions = 0
    for case in range(CASES):
        random = np.random.default_rng((SEED, case))
        x = drawn(random, most=1000 if case % 1000 == 0 else 16)
        try:
            expected = by_fsum(x)
        except OverflowError:
            expected = expected_sum(x)
            by_fractions += 1
        assert bits(exact.sum(x)) == bits(expected), f"seed {SEED}, case {case}"
    assert 0 < by_fractions < CASES // 10


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_generated_cases_against_fractions(dtype):
    part = {"c8": "f4", "c16": "f8"}.get(dtype, dtype)
    for case in range(1000):
        random = np.random.default_rng((SEED, case))
        x, y = drawn(random, part), drawn(random, part)
        length = min(x.size, y.size) // 2 * 2
        x, y = (one[:length].view(dtype) for one in (x, y))
        place = f"seed {SEED}, case {case}"
        assert bits(exact.sum(x)) == bits(expected_sum(x)), place
        pairs = [[Fraction(float(value)) for value in one.view(part)] for one in (x, y)]
        assert bits(exact.norm(x)) == bits(nearest(root(sum(a * a for a in pairs[0])), part)), place
        if dtype in FLOATS:
            products = nearest(sum(a * b for a, b in zip(*pairs)), part)
            for found in (exact.dot(x, y), exact.vdot(x, y)):
                assert found == products and found.dtype == products.dtype, place
            continue
        (a, b), (c, d) = ([one[0::2], one[1::2]] for one in pairs)
        for sign, found in [(-1, exact.dot(x, y)), (1, exact.vdot(x, y))]:
            real = nearest(sum(p * q + sign * (r * s) for p, q, r, s in zip(a, c, b, d)), part)
            imaginary = nearest(sum(p * s - sign * (r * q) for p, q, r, s in zip(a, c, b, d)), part)
            assert (found.real, found.imag) == (real, imaginary) and found.dtype == dtype, place


def by_columns(x):
    return np.array([by_fsum(column) for column in x.T])


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (700, 9), (1100, 300), (40, 3000), (2, 70_000), (300_000, 2)])
def test_columns_and_rows(shape):
    x = items(shape[0] * shape[1], "f8", seed=SEED).reshape(shape)
    x[-1] = -x[0] * (1 + 1e-15)
    for count in (1, 3):
        with with_threads(count):
            assert bits(exact.sum(x, 0)) == bits(by_columns(x))
            assert bits(exact.sum(x, -1)) == bits(by_columns(x.T))
            assert bits(exact.sum(np.asfortranarray(x), axis=0, keepdims=True)) == bits(by_columns(x)[None])


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_axes(dtype):
    x = items(3 * 4 * 5 * 2, dtype, seed=3).reshape(3, 4, 5, 2)
    for axis in [None, 0, 1, -1, (0, 1), (1, 3), (0, 2, 3), ()]:
        axes = range(4) if axis is None else {one % 4 for one in (axis if isinstance(axis, tuple) else (axis,))}
        kept = [one for one in range(4) if one not in axes]
        rows = x.transpose(*kept, *axes).reshape(math.prod(x.shape[one] for one in kept), -1)
        shape = [x.shape[one] for one in kept]
        expected = np.array([expected_sum(row) for row in rows]).reshape(shape)
        norms = np.array([exact.norm(row) for row in rows]).reshape(shape)
        for given in (x, np.asfortranarray(x), x[:, ::-1].copy()[:, ::-1], x.astype(x.dtype.newbyteorder())):
            assert bits(exact.sum(given, axis)) == bits(expected), axis
            assert bits(exact.norm(given, axis)) == bits(norms), axis
    assert isinstance(exact.sum(x), np.generic) and exact.norm(x, 1, True).shape == (3, 1, 5, 2)
    out = np.empty((3, 5, 2), dtype)
    assert exact.sum(x, 1, out=out) is out
    assert bits(out) == bits(exact.sum(x, 1))


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
def test_order_chunks_and_threads_change_no_bit(dtype):
    random = np.random.default_rng(SEED)
    x, y = items(300_001, dtype, seed=1), items(300_001, dtype, seed=2)
    seen = set()
    for count in (1, 2, 3, 7):
        with with_threads(count):
            order = random.permutation(x.size)
            cuts = np.sort(random.integers(0, x.size + 1, 5))
            partials = [exact.Partial(part) for part in np.split(x[order], cuts)]
            results = [exact.sum(x[order]), merged(partials, random).value(), exact.dot(x[order], y[order])]
            results += [exact.vdot(x[order], y[order]), exact.norm(x[order])]
        assert bits(results[0]) == bits(results[1])
        seen.add(tuple(map(bits, results)))
    assert len(seen) == 1, f"seed {SEED}"
    assert bits(exact.norm(x)) == bits(exact.norm(x.view(x.real.dtype)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_all_permutations(dtype):
    large = np.finfo(dtype).max
    x = np.array([large, large, -large, 1, -large, np.finfo(dtype).tiny / 8], dtype)
    for order in itertools.permutations(range(x.size)):
        order = list(order)
        assert exact.sum(x[order]) == 1
        merge = exact.Partial(x[order[:2]]) + exact.Partial(x[order[2:]])
        assert merge.value() == 1


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -2])
def test_partials_of_arrays(dtype, axis):
    x = items(5 * 11 * 300, dtype, seed=6).reshape(5, 11, 300)
    along = 0 if axis is None else axis
    parts = [exact.Partial(np.take(x, range(k, x.shape[along], 3), along), axis=axis) for k in range(3)]
    assert bits(merged(parts, np.random.default_rng(SEED)).value()) == bits(exact.sum(x, axis))


def test_a_pool_of_processes():
    x = items(10_000, "f8", seed=8)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        parts = list(pool.map(exact.Partial, [x[k::7] for k in range(7)]))
    assert bits(merged(parts, np.random.default_rng(SEED)).value()) == bits(math.fsum(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_items(dtype):
    type_ = np.dtype(dtype).type
    inf, nan, large = type_(np.inf), type_(np.nan), np.finfo(dtype).max
    for x, expected in [
        ([], type_(0)),
        ([-0.0], type_(-0.0)),
        ([-0.0] * 100, type_(-0.0)),
        ([-0.0, 0.0], type_(0)),
        ([1, -1], type_(0)),
        ([inf, 1, large], inf),
        ([-inf, 1, large], -inf),
        ([inf, -inf], nan),
        ([nan, 1], nan),
        ([-nan, inf], nan),
        ([large, large], inf),
        ([-large, -large], -inf),
        ([large, large, -large], large),
    ]:
        x = np.array(x, dtype)
        halves = exact.Partial(x[::2]) + exact.Partial(x[1::2])
        for found in (exact.sum(x), exact.sum(x[:, None], 0)[0], exact.Partial(x).value(), halves.value()):
            assert bits(found) == bits(expected), x
    assert bits(exact.sum(np.array([complex(-0.0, np.inf), complex(-0.0, 1)]))) == bits(np.array(complex(-0.0, np.inf))[()])
    empty = np.empty((0, 3), dtype)
    assert bits(exact.sum(empty, 0)) == bits(np.zeros(3, dtype))
    assert exact.sum(empty, 1).shape == (0,)
    assert bits(exact.dot(empty[:, 0], empty[:, 0])) == bits(exact.norm(empty)) == bits(type_(0))
    assert bits(exact.dot([inf], [type_(0)])) == bits(type_(nan))
    assert exact.norm(np.array([inf, 1], dtype)) == inf and exact.norm(np.array([large], dtype)) == large


def test_pickles():
    x = items(100, "c8", seed=5).reshape(20, 5)
    for partial in (exact.Partial(x), exact.Partial(x, axis=0), exact.Partial(x[:0]), exact.Partial(x[:, :0], axis=0)):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            restored = pickle.loads(pickle.dumps(partial, protocol))
            assert bits(restored.value()) == bits(partial.value()) and repr(restored) == repr(partial)
    restore, (version, dtype, shape, words) = exact.Partial([1.0, 2.0]).__reduce__()
    assert len(words) == 320 and repr(restore(version, dtype, shape, words)).endswith(": 2 items of type float64 and shape ()>")
    assert repr(exact.Partial([1.0])).endswith(": 1 item of type float64 and shape ()>")
    assert (restore(version, ">f8", shape, words) + exact.Partial([4.0])).value() == 7
    raises(ValueError, "version 9", restore, 9, dtype, shape, words)
    for wrong in [(dtype, (2,), words), ("<f4", shape, words), (dtype, shape, words[8:]), (dtype, shape, words[1:])]:
        raises(ValueError, "elements", lambda: restore(version, *wrong).value())
    random = np.random.default_rng(SEED)
    for _ in range(1000):
        try:
            foreign = restore(version, dtype, shape, random.bytes(320))
        except ValueError as error:
            assert "2^63 - 1 items" in str(error)
            continue
        foreign.value()
        assert "Partial" in repr(foreign)
        with suppress(ValueError):
            foreign.merge(foreign)
            foreign.value()


def test_other_containers():
    x = items(33, "f8", seed=9)
    expected = bits(exact.sum(x))

    for given in (list(x), memoryview(x), Producer(x)):
        assert bits(exact.sum(given)) == bits(exact.Partial(given).value()) == expected
    assert exact.sum(5.0) == 5.0 and exact.sum(np.array(2.0), 0) == 2.0
    assert exact.norm([3, 4]) == 5.0 and exact.dot([1, 2], [0.5, 1.0]) == 2.5
    assert exact.dot(np.float32([1]), np.float64([2])).dtype == np.float64


def test_what_is_not_added():
    for x in (np.array([1, "a"], object), np.array([1.0], np.longdouble), np.array(["a"])):
        for function in (exact.sum, exact.norm, exact.Partial):
            raises(TypeError, "x ", function, x)
    for x in ([1, 2], np.array([True]), np.array([1], "u1")):
        for function in (exact.Partial, lambda x: exact.dot(x, x), lambda x: exact.vdot(x, x)):
            raises(TypeError, "x has elements of type .*, whose sums are never rounded", function, x)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u4", "u8"])
def test_integers_are_added_as_integers(dtype):
    x = items(60, dtype, 5).reshape(5, 3, 4)
    if dtype[1:] == "8":
        x //= 2 * 5 * 3 * 4
    wide = np.uint64 if x.dtype.kind == "u" else np.int64
    for given in (x, x[::-1].copy()[::-1], np.asfortranarray(x), x.astype(x.dtype.newbyteorder()), x.tolist()):
        for axis in (None, 0, -1, (0, 2)):
            found, expected = exact.sum(given, axis), np.sum(x.astype(object), axis)
            assert found.dtype == wide or isinstance(given, list)
            assert np.array_equal(found.astype(object), expected)
    where = items(60, "?", 6).reshape(x.shape)
    assert int(exact.sum(x, where=where, initial=1)) == int(np.sum(x.astype(object)[where])) + 1
    assert np.array_equal(exact.cumsum(x, 1).astype(object), np.cumsum(x.astype(object), 1))
    assert exact.sum(x, dtype=float) == exact.sum(x.astype(float))


def test_sums_of_integers_that_have_no_room():
    for x, total in (([2**63 - 1, 1], 2**63), ([-(2**63), -1], -(2**63) - 1), (np.array([2**64 - 1, 1], "u8"), 2**64)):
        raises(OverflowError, f"the sum is {total}, beyond 64 bits", exact.sum, x)
    assert exact.sum(np.array([2**63 - 1, 1, -5])) == 2**63 - 5
    assert exact.sum([2**63 - 1, 1], dtype=float) == 2.0**63
    assert exact.sum(5) == 5 and exact.sum(True).dtype == np.int64


@pytest.mark.parametrize("dtype", FLOATS + ["c8", "c16", "f2"])
def test_sums_of_beginnings(dtype):
    x = items(120, "f4" if dtype == "f2" else dtype, seed=4).astype(dtype).reshape(4, 5, 6)
    for axis in (None, 0, 1, -1):
        found = exact.cumsum(x, axis)
        whole, along = (x.ravel(), 0) if axis is None else (x, axis)
        assert found.shape == whole.shape and found.dtype == x.dtype
        for length in (1, 2, 4):
            assert bits(np.take(found, length - 1, along)) == bits(exact.sum(np.take(whole, range(length), along), along))
    out = np.empty_like(x)
    assert exact.cumsum(x, 1, out=out) is out and bits(out) == bits(exact.cumsum(x, 1))
    same = x.copy()
    assert bits(exact.cumsum(same, 2, out=same)) == bits(exact.cumsum(x, 2))
    raises(OverflowError, "beyond 64 bits", exact.cumsum, [2**63 - 1, 1])


def test_products_go_where_they_are_asked():
    x = items(12, "f8", 1).reshape(3, 4)
    out = np.empty((3, 3))
    assert exact.dot(x, x.T, out) is out and bits(out) == bits(exact.dot(x, x.T))
    raises(ValueError, "out has elements of type float32", exact.dot, x, x.T, np.empty((3, 3), "f4"))
    raises(ValueError, "out has the shape", exact.dot, x, x.T, np.empty(3))


def test_wrong_arguments():
    x = np.ones((2, 3))
    raises(np.exceptions.AxisError, None, exact.sum, x, 2)
    raises(ValueError, "axis", exact.sum, x, (0, -2))
    raises(TypeError, "axis: ", exact.sum, x, 0.5)
    raises(TypeError, "axis: ", exact.Partial, x, axis="0")
    raises(TypeError, "keepdims: ", exact.sum, x, keepdims=1)
    raises(ValueError, "out has the shape", exact.sum, x, 0, out=np.empty(2))
    raises(ValueError, "y has 2 items along the axis that is summed over, but x has 3", exact.dot, x, x)
    raises(ValueError, "y has 2 items, but x has 1", exact.vdot, [1.0], [1.0, 2.0])
    part = exact.Partial(x)
    raises(TypeError, "other is a float", part.merge, 3.0)
    raises(TypeError, "other is a Partial", part.merge, treefold.Partial([1.0], 0, 1))
    raises(TypeError, "float32", part.merge, exact.Partial(x.astype("f4")))
    raises(ValueError, "shape", part.merge, exact.Partial(x, axis=0))
