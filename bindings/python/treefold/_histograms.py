"""Histograms that add the weights in each bin exactly, with NumPy's signatures, edges and errors."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import as_array, as_unmasked, size
from ._keyed import as_keys, by_key, check_items

_Bins: TypeAlias = ArrayLike | Sequence[ArrayLike]
_Range: TypeAlias = tuple[float, float] | None
_Ranges: TypeAlias = Sequence[_Range] | ArrayLike | None
_Inexact: TypeAlias = NDArray[np.inexact[Any]]
_Numbers: TypeAlias = NDArray[np.number[Any]]


def _in_bins(columns, edges, weights, density):
    """The exact sums of the weights of the items in each bin, as an array with an axis for each column."""
    weights = np.ravel(as_array(weights, "weights"))
    check_items(len(weights), len(columns[0]), "weight")
    shape, keys, inside = [len(own) - 1 for own in edges], 0, True
    for x, own, bins in zip(columns, edges, shape):
        places = np.searchsorted(own, x, side="right") - 1
        # The last bin includes its right edge.
        places[x == own[-1]] = bins - 1
        inside &= (places >= 0) & (places < bins)
        keys = keys * bins + places
    keys, weights = as_keys(keys[inside]), weights[inside]
    sums = by_key(keys, weights, size(shape)).reshape(shape)
    if not density:
        return sums
    for axis, own in enumerate(edges):
        sums = sums / np.diff(own).reshape([-1 if axis == other else 1 for other in range(len(edges))])
    return sums / by_key(np.zeros_like(keys), weights, 1)[0]


def histogram(
    x: ArrayLike, bins: str | ArrayLike = 10, range: _Range = None, density: bool | None = None, weights: ArrayLike | None = None
) -> tuple[_Numbers, _Numbers]:
    """The exact sum of the weights in each bin, rounded once.

    The signature and bins are those of `numpy.histogram`: all bins but the
    last are half open.

    Parameters
    ----------
    x : array_like
        The items, of any shape.
    bins, range
        As in `numpy.histogram`.
    density : bool, optional
        Whether to divide each sum by the width of its bin and by the exact
        sum of all weights in bins. Each quotient is rounded.
    weights : array_like, optional
        A real or complex number for each item. Sums of integers are also exact,
        and rounded to float64. Without weights, items are counted.

    Returns
    -------
    sums : ndarray
    edges : ndarray
        The edges of the bins.

    Examples
    --------
    >>> from treefold import exact
    >>> x, weights = [1.0, 1.5, 4.0], [1e300, 0.1, 0.2]
    >>> sums, edges = exact.histogram(x, bins=[0, 2, 4], weights=weights)
    >>> sums.tolist(), edges.tolist()
    ([1e+300, 0.2], [0, 2, 4])
    """
    if weights is None:
        return np.histogram(x, bins, range, density)
    x, weights = np.ravel(as_unmasked(x, "x")), as_unmasked(weights, "weights")
    edges = np.histogram_bin_edges(x, bins, range, np.ravel(weights))
    return _in_bins([x], [edges], weights, density), edges


def histogram2d(
    x: ArrayLike, y: ArrayLike, bins: _Bins = 10, range: _Ranges = None, density: bool | None = None, weights: ArrayLike | None = None
) -> tuple[_Inexact, _Numbers, _Numbers]:
    """`histogram` of pairs, with the signature of `numpy.histogram2d`.

    Parameters
    ----------
    x, y : array_like
        Vectors of equal length.
    bins, range
        As in `numpy.histogram2d`.
    density, weights
        As in `histogram`, with the areas of bins instead of their widths.

    Returns
    -------
    sums : ndarray
        The first axis has the bins of `x`, and the second axis the bins of
        `y`.
    x_edges, y_edges : ndarray

    Examples
    --------
    >>> from treefold import exact
    >>> x, y, weights = [0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.5, 0.1, 0.2]
    >>> exact.histogram2d(x, y, [2, 1], weights=weights)[0].tolist()
    [[0.5], [0.30000000000000004]]
    """
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} items, but y has {len(y)}")
    try:
        is_one = len(bins) not in (1, 2)
    except TypeError:
        is_one = False
    sums, edges = histogramdd([x, y], [np.asarray(bins)] * 2 if is_one else bins, range, density, weights)
    return sums, *edges


def histogramdd(
    sample: _Bins, bins: _Bins = 10, range: _Ranges = None, density: bool | None = None, weights: ArrayLike | None = None
) -> tuple[_Inexact, tuple[_Numbers, ...]]:
    """`histogram` of points, with the signature of `numpy.histogramdd`.

    Parameters
    ----------
    sample : array_like
        An array with a row for each point, or a sequence with a vector for
        each dimension.
    bins, range
        As in `numpy.histogramdd`.
    density, weights
        As in `histogram`, with the volumes of bins instead of their widths.

    Returns
    -------
    sums : ndarray
        An array with an axis for each dimension.
    edges : tuple of ndarray
        The edges of the bins in each dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from treefold import exact
    >>> points = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    >>> sums, edges = exact.histogramdd(points, 1, weights=[0.1, 0.2])
    >>> sums.tolist(), len(edges)
    ([[[0.30000000000000004]]], 3)
    """
    if weights is None:
        return np.histogramdd(sample, bins, range, density)
    points = as_unmasked(sample, "sample")
    if np.ndim(sample) != 2 or not hasattr(sample, "shape"):
        points = np.atleast_2d(points).T
    # In each dimension, the edges depend only on the smallest and the largest item.
    ends = np.array([points.min(axis=0), points.max(axis=0)]) if len(points) else points
    _, edges = np.histogramdd(ends, bins, range)
    return _in_bins(list(points.T), edges, as_unmasked(weights, "weights"), density), edges
