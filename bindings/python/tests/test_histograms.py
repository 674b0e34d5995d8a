"""Exact sums in bins and along axes, compared with fractions and NumPy's counts and edges."""

from fractions import Fraction

import numpy as np
import pytest
from by_fractions import expected
from checks import SEED, raises
from definition import bits
from test_keyed import drawn
from treefold import exact


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_bincount_along_an_axis(axis, dtype):
    random = np.random.default_rng(SEED)
    weights = drawn(random, 2 * 360, "f8").view("c16")[:360].reshape(5, 8, 9)
    weights = weights if dtype == "c16" else weights.real.astype(dtype)
    length = weights.shape[axis]
    keys = random.integers(0, 4, length)
    found = exact.bincount(keys, weights, minlength=6, axis=axis)
    rows, sums = np.moveaxis(weights, axis, 0), np.moveaxis(found, axis, 0)
    assert found.dtype == dtype and sums.shape == (6, *rows.shape[1:])
    for at in np.ndindex(rows.shape[1:]):
        assert bits(sums[(slice(None), *at)].copy()) == bits(exact.bincount(keys, rows[(slice(None), *at)], minlength=6))
        for key in range(6):
            own = rows[(keys == key, *at)]
            if dtype != "c16":
                assert bits(sums[(key, *at)]) == bits(expected("sum", own, dtype=dtype))


def test_axes_that_cannot_be():
    keys = [0, 1, -1]
    raises(ValueError, r"key -1 \(item 2\) is negative: keys start at 0", exact.bincount, keys, np.zeros((3, 4)), axis=0)
    raises(ValueError, r"key -1 \(item 2\) is negative: keys start at 0", exact.bincount, keys)
    raises(ValueError, "3 keys for 4 items", exact.bincount, keys, np.zeros((3, 4)), axis=1)
    raises(ValueError, "weights must have one axis, not 2", exact.bincount, keys, np.zeros((3, 4)))
    raises(np.exceptions.AxisError, None, exact.bincount, keys, np.zeros((3, 4)), axis=2)
    raises(TypeError, "axis was passed without weights", exact.bincount, keys, axis=0)
    assert exact.bincount([0, 1, 1], np.zeros((3, 0)), axis=0).shape == (2, 0)
    many = exact.bincount([0, 2**24 + 5], [[1.0, 2.0], [3.0, 4.0]], axis=0)
    assert many.shape == (2**24 + 6, 2) and many[[0, 1, -1]].tolist() == [[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]]


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers_are_added_exactly(dtype):
    """Integers are added exactly, even those that float64 cannot represent."""
    random = np.random.default_rng(SEED)
    limits = np.iinfo(dtype)
    keys, x = random.integers(0, 3, 40), random.integers(limits.min, limits.max, 40, dtype, endpoint=True)
    sums = [float(Fraction(sum(x[keys == key].tolist()))) for key in range(3)]
    assert exact.bincount(keys, x).tolist() == sums
    assert exact.bincount(keys, np.stack([x, x], 1), axis=0).tolist() == [[one, one] for one in sums]
    assert exact.histogram(keys, [0, 1, 2, 3], weights=x)[0].tolist() == sums
    order = np.argsort(keys, kind="stable")
    assert exact.reduceat(x[order], np.searchsorted(keys[order], [0, 1, 2])).tolist() == sums
    own = np.array([0.5, 1.0, 0.0])
    exact.add_at(own, keys, x)
    assert own.tolist() == [float(Fraction(sum(x[keys == key].tolist())) + Fraction(start)) for key, start in enumerate([0.5, 1.0, 0.0])]


ONES = [
    (10, None),
    (4, [(-1.0, 1.5)] * 2),
    ([3, 5], None),
    ([[-2.0, 0.0, 0.5, 3.0], 4], None),
    ([[-2.0, 0.0, 0.5], [-1.0, 0.0, 0.0, 1.0]], None),
]


@pytest.mark.parametrize("bins, limits", ONES, ids=str)
def test_histograms_of_pairs_and_points(bins, limits):
    random = np.random.default_rng(SEED)
    x, y = random.integers(-8, 8, (2, 400)) / 4
    weights = drawn(random, 400, "f8")
    counts, x_edges, y_edges = np.histogram2d(x, y, bins, limits)
    sums, *edges = exact.histogram2d(x, y, bins, limits, weights=weights)
    assert bits(edges[0]) == bits(x_edges) and bits(edges[1]) == bits(y_edges) and sums.shape == counts.shape
    for at in np.ndindex(counts.shape):
        inside = np.ones(400, bool)
        for place, column, own in zip(at, (x, y), edges):
            last = place == len(own) - 2
            inside &= (own[place] <= column) & ((column <= own[place + 1]) if last else (column < own[place + 1]))
        assert inside.sum() == counts[at] and bits(sums[at]) == bits(expected("sum", weights[inside]))
    for sample in ([x, y], np.stack([x, y], 1)):
        found, found_edges = exact.histogramdd(sample, bins, limits, weights=weights)
        assert bits(found) == bits(sums) and list(map(bits, found_edges)) == list(map(bits, edges))
    with np.errstate(invalid="ignore"):
        densities_are_numpys(random, x, y, bins, limits)


def densities_are_numpys(random, x, y, bins, limits):
    for given in (None, True):
        for own, theirs in zip(exact.histogram2d(x, y, bins, limits, given), np.histogram2d(x, y, bins, limits, given)):
            assert bits(own) == bits(theirs)
    # For small integers, NumPy's sums are exact.
    small = random.integers(1, 9, 400).astype("f8")
    own, theirs = (module.histogram2d(x, y, bins, limits, True, small)[0] for module in (exact, np))
    assert bits(own) == bits(theirs)
    own, theirs = (module.histogram(x, 7, None, True, small)[0] for module in (exact, np))
    assert bits(own) == bits(theirs)
    own, theirs = (module.histogramdd((x, y, x), 3, None, True, small)[0] for module in (exact, np))
    assert bits(own) == bits(theirs)


def test_densities_divide_by_the_exact_total():
    x, weights = [0.5, 0.5, 1.5, 1.5], [1e300, 1.0, 2.0, -1e300]
    sums, _ = exact.histogram(x, [0.0, 1.0, 3.0], weights=weights, density=True)
    assert sums.tolist() == [1e300 / 3, -1e300 / 2 / 3]


def test_one_edge_for_both_and_bins_of_arrays():
    x, y, edges = [0.5, 1.5, 1.5], [0.5, 0.5, 1.5], [0.0, 1.0, 2.0]
    sums, *found = exact.histogram2d(x, y, edges, weights=[1.0, 2.0, 4.0])
    assert sums.tolist() == [[1.0, 0.0], [2.0, 4.0]] and [own.tolist() for own in found] == [edges, edges]


def errors(module):
    x, y, weights = np.array([0.0, 1.0, np.nan]), np.zeros(3), np.ones(3)
    for call in [
        lambda: module.histogram(x, 3, weights=weights),
        lambda: module.histogram(y, 0, weights=weights),
        lambda: module.histogram(y, [1.0, 0.0], weights=weights),
        lambda: module.histogram(y, 3, (1.0, 0.0), weights=weights),
        lambda: module.histogram(y, "auto", weights=weights),
        lambda: module.histogram(y, 3, weights=weights[:2]),
        lambda: module.histogram2d(x, y, weights=weights),
        lambda: module.histogram2d(x, y[:2], weights=weights),
        lambda: module.histogram2d(y, y, [1, 2, 0], weights=weights),
        lambda: module.histogramdd([y, y], [1, 2, 3], weights=weights),
        lambda: module.histogramdd([y, y], 2.5, weights=weights),
        lambda: module.histogramdd([y, y], 0, weights=weights),
        lambda: module.histogramdd([y, y], 2, [(0, 1)], weights=weights),
        lambda: module.histogramdd([y, y], 2, weights=weights[:2]),
    ]:
        raised = raises(Exception, None, call)
        yield type(raised)


def test_errors_are_of_numpys_types():
    assert list(errors(exact)) == list(errors(np))
    raises(ValueError, "2 weights for 3 items", exact.histogram2d, [1.0] * 3, [1.0] * 3, weights=[1.0, 2.0])
    raises(ValueError, "x has 3 items, but y has 2", exact.histogram2d, [1.0] * 3, [1.0] * 2, weights=[1.0, 2.0])


def test_no_items():
    for own, theirs in zip(exact.histogramdd(np.zeros((0, 2)), 2, weights=[]), np.histogramdd(np.zeros((0, 2)), 2, weights=[])):
        assert np.array_equal(own, theirs)
    assert exact.histogram([], 2, weights=[])[0].tolist() == [0.0, 0.0]
