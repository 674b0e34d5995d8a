"""Every function with NumPy's keywords, compared with the recursive definition. If a case fails, its seed is printed."""

import os
import warnings

import numpy as np
import pytest
import treefold
from definition import HOLE, bits, by_definition, combined, items
from treefold import exact

SEED = int(os.environ.get("TREEFOLD_SEED", "43"))
CASES = 60
TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
INEXACT = ["f2", "f4", "f8", "c8", "c16"]


def with_any_bytes(random, x):
    """The same bools with other bytes: for NumPy, any byte but 0 is true."""
    return (x * random.integers(1, 256, x.shape)).astype("u1").view(bool)


def drawn(random, types=TYPES, special=0.02):
    """An array of any type, shape, strides and byte order."""
    dtype = np.dtype(random.choice(types))
    shape = tuple(random.integers(0, 9, int(random.integers(0, 4))))
    if random.random() < 0.2:
        shape = (int(random.integers(1, 5)), int(random.integers(1000, 5000)))
    steps = [int(step) for step in random.choice([1, 1, 2, 3], len(shape))]
    whole = [length * step for length, step in zip(shape, steps)]
    half = dtype == np.float16
    x = items(int(np.prod(whole)), "f4" if half else dtype, int(random.integers(1 << 30))).reshape(whole).astype(dtype)
    if dtype.kind == "b" and random.random() < 0.5:
        x = with_any_bytes(random, x)
    if dtype.kind in "fc":
        flat = x.reshape(-1)
        flat[random.random(flat.size) < special] = random.choice([np.nan, np.inf, -0.0])
    x = x[tuple(slice(None, None, step) for step in steps)]
    if random.random() < 0.3:
        x = x.transpose(random.permutation(x.ndim)).copy().transpose(np.argsort(random.permutation(x.ndim)))
    if random.random() < 0.3:
        x = x[tuple(slice(None, None, -1) for _ in range(x.ndim))]
    if random.random() < 0.2:
        x = x.astype(x.dtype.newbyteorder(">" if np.little_endian else "<"))
    if random.random() < 0.1:
        x = np.frombuffer(b"?" + x.tobytes(), x.dtype, offset=1).reshape(x.shape)
    return x


def drawn_axis(random, ndim):
    if random.random() < 0.3:
        return None
    axes = [int(one) for one in random.permutation(ndim)[: int(random.integers(0, ndim + 1))]]
    axes = tuple(one - ndim * int(random.integers(0, 2)) for one in axes)
    return axes[0] if len(axes) == 1 and random.random() < 0.5 else axes


def columns(x, axis, *others):
    """The items of each result, in order, for each of several arrays of one shape; and the shape of the result."""
    axes = range(x.ndim) if axis is None else sorted({one % x.ndim for one in (axis if isinstance(axis, tuple) else (axis,))})
    kept = [one for one in range(x.ndim) if one not in axes]
    shape = [x.shape[one] for one in kept]
    length = int(np.prod([x.shape[one] for one in axes]))
    flat = [array.transpose(*kept, *axes).reshape(int(np.prod(shape)), length) for array in (x, *others)]
    return flat, shape


def wide(dtype, op):
    if op in ("sum", "prod") and dtype.kind in "bi" and dtype.itemsize < 8:
        return np.dtype("i8")
    if op in ("sum", "prod") and dtype.kind == "u" and dtype.itemsize < 8:
        return np.dtype("u8")
    return dtype.newbyteorder("=")


def work_of(dtype):
    return np.dtype("f4") if dtype == np.float16 else dtype


def reduced(row, mask, op, dtype, initial=None):
    """One result by the definition: holes have no value, and `initial` is combined last."""
    work = work_of(dtype)
    values = [value if counts else HOLE for value, counts in zip(row.astype(dtype).astype(work), mask)]
    value = by_definition(values, op) if values else HOLE
    if initial is not None:
        value = combined(op, work.type(initial), value)
    if value is HOLE:
        value = {"sum": 0, "prod": 1}[op]
    return np.asarray(value, work).astype(dtype)


def drawn_mask(random, x):
    """No mask, or a mask that broadcasts."""
    if random.random() < 0.4:
        return True, np.ones(x.shape, bool)
    shape = [length if random.random() < 0.7 else 1 for length in x.shape]
    mask = random.random(shape) < random.choice([0.1, 0.5, 0.9])
    while mask.ndim and mask.shape[0] == 1 and random.random() < 0.5:
        mask = mask[0]
    mask = with_any_bytes(random, mask)
    return mask, np.broadcast_to(mask, x.shape)


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max"])
def test_keywords_against_the_definition(op):
    function = getattr(treefold, op)
    for case in range(CASES):
        random = np.random.default_rng([SEED, case])
        x = drawn(random, [one for one in TYPES if op in ("sum", "prod") or one[0] != "c"])
        axis = drawn_axis(random, x.ndim)
        where, mask = drawn_mask(random, x)
        named = {}
        dtype = wide(x.dtype, op)
        if op in ("sum", "prod") and random.random() < 0.3:
            widened = {"c": ["c8", "c16"], "f": ["f2", "f4", "f8", "c16"]}.get(x.dtype.kind, ["i4", "u8", "f2", "f4", "f8", "c8"])
            dtype = named["dtype"] = np.dtype(random.choice(widened))
        has_all = bool(mask.all()) and x.size > 0
        initial = int(random.integers(0, 3)) if op in ("min", "max") and not has_all or random.random() < 0.3 else None
        if initial is not None:
            named["initial"] = initial
        keepdims = bool(random.random() < 0.3)
        with np.errstate(all="ignore"):
            found = function(x, axis, keepdims=keepdims, where=where, **named)
            (rows, masks), shape = columns(x, axis, mask)
            if dtype.kind == "b":
                if initial is not None:
                    named["initial"] = bool(initial)
                if not has_all:
                    named["where"] = where
                numpys = getattr(np, op)(x, axis, keepdims=keepdims, **named)
                # In NumPy's results, as in the items, any byte but 0 is true.
                assert bits(found) == bits(numpys != np.False_), f"TREEFOLD_SEED={SEED}, case {case}"
                continue
            expected = [reduced(row, own, op, dtype, initial) for row, own in zip(rows, masks)]
        expected = np.array(expected, dtype).reshape(shape)
        if keepdims:
            assert found.shape == np.sum(x, axis, keepdims=True).shape
            found = found.reshape(shape)
        assert bits(found) == bits(expected), f"TREEFOLD_SEED={SEED}, case {case}"


def test_means_against_the_definition():
    for case in range(CASES):
        random = np.random.default_rng([SEED, 1, case])
        x = drawn(random)
        axis = drawn_axis(random, x.ndim)
        where, mask = drawn_mask(random, x)
        dtype = np.dtype("f8") if x.dtype.kind in "biu" else x.dtype.newbyteorder("=")
        out = random.choice([None, None, "f4", "f8"])
        if out is not None and dtype.kind in "fc" and x.dtype.kind in "fc":
            # The type of the arithmetic. For complex items, `out` has the type of the parts.
            dtype = np.dtype(out) if dtype.kind == "f" else np.result_type(out, "c8")
        work = work_of(dtype)
        real = work.type(0).real.dtype
        ddof = int(random.integers(0, 3))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (rows, masks), shape = columns(x, axis, mask)
            into = [None] * 3 if out is None else [np.empty(shape, one) for one in (dtype if x.dtype.kind == "c" else out, out, out)]
            found = [treefold.mean(x, axis, out=into[0], where=where), treefold.var(x, axis, out=into[1], where=where, ddof=ddof)]
            found += [treefold.std(x, axis, out=into[2], where=where, correction=ddof)]
            expected = [[], [], []]
            for row, own in zip(rows, masks):
                row, count = row.astype(work), own.sum()
                mean = parts_over(reduced(row, own, "sum", work), count, work)
                away = row - mean
                squares = away.real * away.real + away.imag * away.imag if dtype.kind == "c" else away * away
                var = reduced(squares.astype(real), own, "sum", real) / real.type(max(count - ddof, 0))
                for values, value in zip(expected, (mean, var, np.sqrt(var))):
                    values.append(value)
            for one, values, own in zip(found, expected, (dtype, dtype.type(0).real.dtype, dtype.type(0).real.dtype)):
                values = np.array(values, work if own.kind == "c" else None).reshape(shape).astype(own)
                values = values if out is None else values.astype(one.dtype)
                assert bits(one) == bits(values), f"TREEFOLD_SEED={SEED}, case {case}"


def parts_over(total, count, work):
    if work.kind != "c":
        return total / work.type(count)
    real = work.type(0).real.dtype.type
    return work.type(complex(total.real / real(count), total.imag / real(count)))


def test_nan_functions_leave_holes():
    for case in range(CASES):
        random = np.random.default_rng([SEED, 2, case])
        x = drawn(random, ["f2", "f4", "f8", "c8", "c16", "i4"], special=0.3)
        axis = drawn_axis(random, x.ndim)
        where, mask = drawn_mask(random, x)
        both = mask & ~np.isnan(x)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in ["sum", "prod", "mean", "var", "std"] + ["min", "max"] * (x.dtype.kind != "c"):
                named = {"initial": 0} if name in ("min", "max") else {}
                found = getattr(treefold, f"nan{name}")(x, axis, where=where, **named)
                expected = getattr(treefold, name)(x, axis, where=both, **named)
                if name in ("var", "std") and np.isinf(np.atleast_1d(expected)).any():
                    continue
                assert bits(found) == bits(expected), f"{name}, TREEFOLD_SEED={SEED}, case {case}"


def test_products_against_the_definition():
    for case in range(CASES):
        random = np.random.default_rng([SEED, 3, case])
        dtype = random.choice(["i4", "u8", "f2", "f4", "f8", "c8", "c16"])
        n, k, m = (int(one) for one in random.integers(1, 12, 3))
        k = int(random.choice([k, 300]))
        x = items(n * k, "f4" if dtype == "f2" else dtype, case).reshape(n, k).astype(dtype)
        y = items(k * m, "f4" if dtype == "f2" else dtype, case + 1).reshape(m, k).T.astype(dtype)
        with np.errstate(all="ignore"):
            found = [treefold.dot(x, y), treefold.inner(x, y.T), treefold.dot(x[:, ::-1], y[::-1]), treefold.dot(x, y[:, 0])]
            for one, left, right in zip(found, (x, x, x[:, ::-1], x), (y, y, y[::-1], y[:, :1])):
                expected = [[of_products(row, column) for column in right.T] for row in left]
                assert bits(one) == bits(np.array(expected, dtype).reshape(one.shape)), f"TREEFOLD_SEED={SEED}, case {case}"
            assert bits(treefold.vdot(x, x)) == bits(of_products(np.conj(x).ravel(), x.ravel()).astype(x.dtype))
            assert treefold.dot(x, y).shape == np.dot(x, y).shape
    three = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(treefold.dot(three, three.transpose(0, 2, 1)), np.dot(three, three.transpose(0, 2, 1)))
    assert np.array_equal(treefold.inner(three, three), np.inner(three, three))
    assert treefold.dot(3, [1.0, 2.0]).tolist() == [3.0, 6.0]


def of_products(x, y):
    work = work_of(x.dtype)
    x, y = x.astype(work), y.astype(work)
    if work.kind == "c":
        products = (x.real * y.real - x.imag * y.imag) + 1j * (x.real * y.imag + x.imag * y.real)
        return by_definition(products.astype(work)) if products.size else work.type(0)
    return by_definition(x * y).astype(x.dtype)


@pytest.mark.parametrize("op, name", [("sum", "cumsum"), ("prod", "cumprod")])
def test_scans_against_the_definition(op, name):
    for case in range(60):
        random = np.random.default_rng([SEED, 4, case])
        x = drawn(random)
        if x.dtype.kind == "b" or not x.ndim:
            continue
        axis = int(random.integers(-x.ndim, x.ndim))
        dtype = wide(x.dtype, op)
        with np.errstate(all="ignore"):
            assert bits(getattr(treefold, name)(x)) == bits(getattr(treefold, name)(x.ravel(), 0)), f"TREEFOLD_SEED={SEED}, case {case}"
        with np.errstate(all="ignore"):
            found = getattr(treefold, name)(x, axis)
            assert found.dtype == dtype and found.shape == x.shape
            for length in {1, x.shape[axis] // 2, x.shape[axis]} - {0} if x.shape[axis] else ():
                expected = getattr(treefold, op)(np.take(x, range(length), axis), axis)
                assert bits(np.take(found, length - 1, axis)) == bits(expected), f"TREEFOLD_SEED={SEED}, case {case}"
            if x.dtype == dtype:
                same = x.copy()
                assert getattr(treefold, name)(same, axis, out=same) is same
                assert bits(same) == bits(found), f"TREEFOLD_SEED={SEED}, case {case}"
    x = np.arange(1.0, 7.0).reshape(2, 3)
    assert treefold.cumulative_sum(x, axis=1, include_initial=True).tolist() == [[0, 1, 3, 6], [0, 4, 9, 15]]
    assert treefold.cumulative_prod([2, 3]).tolist() == [2, 6]


def test_exact_keywords_are_exact():
    for case in range(CASES):
        random = np.random.default_rng([SEED, 5, case])
        x = drawn(random, INEXACT, special=0.05)
        axis = drawn_axis(random, x.ndim)
        where, mask = drawn_mask(random, x)
        y = (1 + np.abs(items(x.size, "f8", case))).reshape(x.shape)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (rows, masks, weights), shape = columns(x, axis, mask, y)
            for name in ("sum", "mean", "var", "std"):
                function = getattr(exact, name)
                for skips in (False, True):
                    found = (getattr(exact, f"nan{name}") if skips else function)(x, axis, where=where)
                    # The order does not matter, so items that do not count may be removed.
                    counting = [row[own & ~np.isnan(row)] if skips else row[own] for row, own in zip(rows, masks)]
                    expected = [function(np.ascontiguousarray(row.astype(x.dtype.newbyteorder("=")))) for row in counting]
                    assert bits(found) == bits(np.array(expected, found.dtype).reshape(shape)), f"{name}, TREEFOLD_SEED={SEED}, case {case}"
                    out = np.empty(shape, found.dtype)
                    (getattr(exact, f"nan{name}") if skips else function)(x, axis, out=out, where=where)
                    assert bits(out) == bits(np.asarray(found)), f"{name}, TREEFOLD_SEED={SEED}, case {case}"
            if rows.size:
                found = exact.average(x, axis, y)
                expected = [exact.average(np.array(row), weights=np.array(own)) for row, own in zip(rows, weights)]
                assert bits(found) == bits(np.array(expected, found.dtype).reshape(shape)), f"TREEFOLD_SEED={SEED}, case {case}"
    assert float(exact.sum([1e300, 1.0], initial=-1e300)) == 1.0
    assert exact.sum([1, 2], dtype=float) == 3.0
    assert exact.dot([[1e200, 3.0, 1e200]], [[1e200], [4.0], [-1e200]]).tolist() == [[12.0]]
    assert exact.average([1.0, 3.0], weights=[1, 3], returned=True) == (2.5, 4.0)
