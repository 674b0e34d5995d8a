"""Reductions of dask arrays: the bits of the same reduction of the whole array, whatever the chunks and the scheduler.

Every block becomes a `treefold.Partial`, and partials are merged a few at a time, so the graph has about as many tasks as dask's own
reduction. What a task passes on is larger: up to 2 log2(n) results for each run of items of the block, where dask passes on one. Blocks
that span the last of the reduced axes have one run; so do those of an array that is divided along its first reduced axis alone.

>>> import dask.array as da, numpy as np, treefold, treefold.dask
>>> x = np.random.default_rng(1).standard_normal((500, 300))
>>> chunked = da.from_array(x, chunks=(128, 300))
>>> bool(treefold.dask.sum(chunked).compute() == treefold.sum(x))
True
"""

import builtins
import functools
import itertools
import operator

import dask.array as da
import numpy as np
from dask import delayed

from . import _reductions, exact
from ._arrays import as_array, reduced_axes, size
from ._partial import Partial

# How many partials one task merges.
_MERGED_AT_ONCE = 8

# `exact_sum`, where other reductions have the name of their function in `treefold`.
_EXACT = "exact_sum"


def _runs(begins, ends, shape):
    """The runs of items, numbered in C order of `shape`, of a block between two corners, in its own C order."""
    # Axes that the block spans whole are one with the axis before them.
    divided = [axis for axis in range(len(shape)) if ends[axis] - begins[axis] < shape[axis]]
    last = divided[-1] if divided else 0
    strides = [size(shape[axis + 1 :]) for axis in range(len(shape))]
    if not shape:
        return [(0, 1)]
    before = itertools.product(*map(range, begins[:last], ends[:last]))
    firsts = (builtins.sum(map(operator.mul, indices, strides)) for indices in before)
    offset, length = begins[last] * strides[last], (ends[last] - begins[last]) * strides[last]
    return [(first + offset, first + offset + length) for first in firsts]


def _partial(block, op, axes, begins, shape):
    """What a block contributes: items along `axes`, at `begins` of `shape` there, each an array along the other axes."""
    block = as_array(block, "array")
    lengths = [block.shape[axis] for axis in axes]
    items = np.moveaxis(block, axes, range(len(axes)))
    items = items.reshape((size(lengths), *items.shape[len(axes) :]))
    if op == _EXACT:
        return exact.Partial(items, axis=0)
    ends = [begin + length for begin, length in zip(begins, lengths)]
    return Partial(items, extents=_runs(begins, ends, shape), total=size(shape), op=op, axis=0)


def _merged(partials):
    return functools.reduce(lambda one, other: one.merge(other), partials)


def _result(partials):
    return _merged(partials).result()


def _reduce(op, array, axis, keepdims):
    if not isinstance(array, da.Array):
        raise TypeError(f"array is a {type(array).__name__}, and no dask array")
    if isinstance(array._meta, np.ma.MaskedArray):
        raise TypeError("array has masked blocks, whose masked items would count: fill them")
    if any(np.isnan(length) for length in array.shape):
        raise ValueError("array has chunks of unknown sizes: call array.compute_chunk_sizes()")
    if array.dtype.kind == "b" and op in ("min", "max"):
        return _reduce(op, array.astype(np.uint8), axis, keepdims).astype(bool)
    axes = reduced_axes(axis, array.ndim)
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    shape = [array.shape[axis] for axis in axes]
    # What NumPy would return, and what it would refuse.
    reduction = exact.sum if op == _EXACT else getattr(_reductions, op)
    numpys = reduction(np.ones((1,) * array.ndim, array.dtype))
    if size(shape) == 0 and op in ("min", "max"):
        raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
    starts = [np.concatenate([[0], np.cumsum(chunks)]).astype(int).tolist() for chunks in array.chunks]
    blocks = array.to_delayed()
    partial, merge, finish = delayed(_partial, pure=True), delayed(_merged, pure=True), delayed(_result, pure=True)

    def reduced(indices):
        """The blocks of the result at these indices of the kept axes."""
        own = []
        for others in itertools.product(*(range(len(array.chunks[axis])) for axis in axes)):
            place = dict(zip(kept, indices)) | dict(zip(axes, others))
            begins = [starts[axis][index] for axis, index in zip(axes, others)]
            block = blocks[tuple(place[axis] for axis in range(array.ndim))]
            own.append(partial(block, op, axes, begins, shape))
        while len(own) > _MERGED_AT_ONCE:
            own = [merge(own[first : first + _MERGED_AT_ONCE]) for first in range(0, len(own), _MERGED_AT_ONCE)]
        lengths = [array.chunks[axis][index] for axis, index in zip(kept, indices)]
        return da.from_delayed(finish(own), lengths, dtype=numpys.dtype, meta=np.empty((0,) * len(kept), numpys.dtype))

    def nested(indices):
        """All blocks of the result that begin with these indices, as `dask.array.block` takes them."""
        if len(indices) == len(kept):
            return reduced(indices)
        return [nested((*indices, index)) for index in range(len(array.chunks[kept[len(indices)]]))]

    result = nested(())
    if kept:
        result = da.block(result)
    if keepdims:
        result = result[tuple(None if axis in axes else slice(None) for axis in range(array.ndim))]
    return result


def sum(array: da.Array, axis=None, keepdims: bool = False) -> da.Array:
    """The sum of the items, or of those along axes, lazily: `treefold.sum` of the whole array, to the bit.

    Parameters
    ----------
    array : dask.array.Array
        Its chunks must have known sizes.
    axis, keepdims
        As in `treefold.sum`.

    Returns
    -------
    A dask array.
    """
    return _reduce("sum", array, axis, keepdims)


def exact_sum(array: da.Array, axis=None, keepdims: bool = False) -> da.Array:
    """As `sum`, of `treefold.exact.sum`: rounded once. What a task passes on has some hundred bytes for each sum, whatever the chunks."""
    return _reduce(_EXACT, array, axis, keepdims)


def prod(array: da.Array, axis=None, keepdims: bool = False) -> da.Array:
    """As `sum`, of `treefold.prod`."""
    return _reduce("prod", array, axis, keepdims)


def min(array: da.Array, axis=None, keepdims: bool = False) -> da.Array:
    """As `sum`, of `treefold.min`."""
    return _reduce("min", array, axis, keepdims)


def max(array: da.Array, axis=None, keepdims: bool = False) -> da.Array:
    """As `sum`, of `treefold.max`."""
    return _reduce("max", array, axis, keepdims)


def mean(array: da.Array, axis=None, keepdims: bool = False) -> da.Array:
    """As `sum`, of `treefold.mean`."""
    if isinstance(array, da.Array) and array.dtype.kind in "biu":
        array = array.astype(np.float64)
    total = _reduce("sum", array, axis, keepdims)
    count = size(array.shape[axis] for axis in reduced_axes(axis, array.ndim))
    return total.map_blocks(_reductions.quotient, count, dtype=total.dtype, meta=total._meta)
