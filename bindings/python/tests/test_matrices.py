"""Exact covariances and correlations of several variables, compared with fractions, and NumPy's conventions."""

import warnings

import numpy as np
import pytest
from by_fractions import expected
from checks import SEED, raises
from definition import bits
from test_keyed_accumulator import drawn
from treefold import exact


@pytest.mark.parametrize("given, ddof", [({}, 1), ({"bias": True}, 0), ({"ddof": 0}, 0), ({"ddof": 2, "bias": True}, 2)], ids=str)
def test_cov(given, ddof):
    random = np.random.default_rng(SEED)
    rows = drawn(random, 5 * 40).reshape(5, 40) + 1e6
    found = exact.cov(rows, **given)
    values = [[expected("cov", one, other, ddof=ddof) for other in rows] for one in rows]
    assert bits(found) == bits(np.array(values))
    assert bits(exact.cov(rows.T, rowvar=False, **given)) == bits(found)
    assert bits(exact.cov(rows[:2], rows[2:], **given)) == bits(found)
    assert bits(exact.cov(rows[:2].T, rows[2:].T, False, **given)) == bits(found)
    assert np.allclose(found, np.cov(rows, **given))


def test_corrcoef():
    random = np.random.default_rng(SEED)
    rows = drawn(random, 4 * 30).reshape(4, 30)
    found = exact.corrcoef(rows)
    values = [[expected("corr", one, other) for other in rows] for one in rows]
    assert bits(found) == bits(np.array(values)) and np.diag(found).tolist() == [1.0] * 4
    assert bits(exact.corrcoef(rows.T, rowvar=False)) == bits(found) == bits(exact.corrcoef(rows[:1], rows[1:]))
    assert np.allclose(found, np.corrcoef(rows))
    assert str(exact.corrcoef([[1.0, 2.0], [3.0, 3.0]]).tolist()) == "[[1.0, nan], [nan, nan]]"


def cases():
    x = np.arange(6.0)
    yield from [(x,), (x, x[::-1]), (x.reshape(2, 3),), (x.reshape(2, 3), x[:3]), (x.reshape(6, 1), None, False), (x[:3], x.reshape(3, 2), False)]
    yield from [(x.reshape(1, 6),), (np.zeros((0, 3)),), (x.astype("f4"),), ([1, 2, 4],), ([True, False],), (x.tolist(), x.tolist())]


@pytest.mark.parametrize("arguments", list(cases()), ids=lambda arguments: str([np.shape(one) for one in arguments]))
@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_shapes_and_types_are_numpys(name, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own, theirs = getattr(exact, name)(*arguments), getattr(np, name)(*arguments)
    assert own.shape == theirs.shape and own.dtype == theirs.dtype
    assert np.allclose(own, theirs, equal_nan=True)


def test_types():
    x = np.random.default_rng(SEED).standard_normal((2, 9)).astype("f4")
    for dtype in ("f4", "f8"):
        found = exact.cov(x, dtype=dtype)
        assert bits(found) == bits(np.array([[expected("cov", one, other, dtype, ddof=1) for other in x] for one in x]))
    large = [2**53, 2**53 - 1, 2**53 - 5]
    assert exact.cov(large) == expected("cov", large, large, ddof=1)


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda: exact.cov([1j, 2.0]), TypeError, "m must not be complex"),
        (lambda: exact.corrcoef([1.0, 2.0], [1j, 2.0]), TypeError, "y must not be complex"),
        (lambda: exact.cov(np.zeros((2, 2, 2))), ValueError, "m has more than 2 dimensions"),
        (lambda: exact.cov([1.0, 2.0], [1.0, 2.0, 3.0]), ValueError, "y has 3 observations, but m has 2"),
        (lambda: exact.cov([1.0, 2.0], dtype="i8"), TypeError, "dtype must be float32 or float64, not int64"),
        (lambda: exact.cov([2**53 + 1, 1]), ValueError, "m: item 0 is 9007199254740993, but"),
        (lambda: exact.cov(["a", "b"]), TypeError, "m has elements of type <U1"),
    ],
)
def test_what_is_refused(call, error, match):
    raises(error, match, call)


def test_too_few_observations():
    for ddof in (None, 3):
        with pytest.warns(RuntimeWarning, match="number of observations \\(1\\) must exceed ddof"):
            assert np.isnan(exact.cov([1.0], ddof=ddof))
