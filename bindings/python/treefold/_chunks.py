"""Reduces dask arrays. Each block becomes a state, and states are merged, a few at a time, until one is left.

The graph consists of dask's own layers. Each layer describes all its blocks at once.
"""

import functools

import dask.array as da
import numpy as np
from dask.layers import ArraySliceDep

from . import exact
from ._arrays import as_array, contiguous, size
from ._keyed import slots_of
from ._partial import Partial


def _runs(begins, ends, shape):
    """The runs of consecutive item numbers in the block between two corners, in its C order. Items are numbered in C order of `shape`."""
    # Axes that the block spans completely are merged with the axis before them.
    divided = [axis for axis in range(len(shape)) if ends[axis] - begins[axis] < shape[axis]]
    last = divided[-1] if divided else 0
    if not shape:
        return [(0, 1)]
    strides = [size(shape[axis + 1 :]) for axis in range(len(shape))]
    before = np.zeros(1, np.int64)
    for axis in range(last):
        before = np.add.outer(before, np.arange(begins[axis], ends[axis]) * strides[axis]).ravel()
    first, end = (before + corner * strides[last] for corner in (begins[last], ends[last]))
    return list(zip(first.tolist(), end.tolist()))


def present(block, skipna, is_masked):
    """A mask that is true for the items of a block that are not skipped; None if the array cannot have skipped items."""
    if isinstance(block, np.ma.MaskedArray) and not is_masked:
        raise TypeError("array has a masked block, but its metadata describe an array without a mask")
    found = ~np.ma.getmaskarray(block) if is_masked else None
    if skipna and block.dtype.kind in "fc":
        numbers = ~np.isnan(np.ma.getdata(block))
        found = numbers if found is None else found & numbers
    return found


def converted(block, dtype):
    """The items of a block without their mask, converted to the type that the reduction needs."""
    block = as_array(np.ma.getdata(block), "array")
    return block if dtype is None else as_array(block.astype(dtype, copy=False), "array")


def _hole(op, dtype):
    """The value that replaces a skipped item. Combining it with others by the operator changes no result."""
    if op in ("sum", "exact_sum"):
        return dtype.type(-0.0) if dtype.kind == "f" else dtype.type(0)
    if op == "prod":
        return dtype.type(1)
    if dtype.kind == "f":
        return dtype.type(np.inf if op == "min" else -np.inf)
    limits = np.iinfo(dtype)
    return limits.max if op == "min" else limits.min


def filled(items, found, op):
    """The items, with skipped items replaced by `_hole`. `found` is the result of `present`."""
    if found is None:
        return items
    items = np.array(items, order="C")
    if items.dtype.kind == "c":
        items.real[~found] = items.imag[~found] = -0.0
    else:
        items[~found] = _hole(op, items.dtype)
    return items


def as_rows(items, axes):
    """Moves `axes` to the front and merges them into one axis."""
    lengths = [items.shape[axis] for axis in axes]
    items = np.moveaxis(items, axes, range(len(axes)))
    return items.reshape((size(lengths), *items.shape[len(axes) :]))


def tree_state(items, found, axes, op, place, shape):
    """The state of a block: a partial, and the number of items that were not skipped, or None if none can be skipped. `place` has the
    block's slices of the whole array, whose reduced axes have the lengths `shape`."""
    rows = as_rows(filled(items, found, op), axes)
    ends = [place[axis].stop for axis in axes]
    begins = [place[axis].start for axis in axes]
    partial = Partial(rows, extents=_runs(begins, ends, shape), total=size(shape), op=op, axis=0)
    return partial, None if found is None else found.sum(axis=axes)


def exact_state(items, found, axes):
    """The state of a block for an exact sum, whose items need no positions."""
    rows = as_rows(filled(items, found, "exact_sum"), axes)
    return exact.Partial(rows, axis=0), None if found is None else found.sum(axis=axes)


def moments_state(items, found, axes):
    """The state of a block for moments: an accumulator for each position along the axes that are not reduced."""
    rows = as_rows(items, axes)
    found = None if found is None else as_rows(found, axes)
    states = np.empty(rows.shape[1:], object)
    for at in np.ndindex(states.shape):
        column = (slice(None), *at)
        states[at] = exact.Accumulator(rows.dtype)
        states[at].add(rows[column] if found is None else rows[column][found[column]])
    return (states,)


class Places:
    """The states of a statistic, one for each position along the axes that are not reduced."""

    __slots__ = ("_shape", "_slots")

    def __init__(self, slots, shape):
        self._slots, self._shape = slots, shape

    def __add__(self, other):
        return Places(self._slots + other._slots, self._shape)

    def __reduce__(self):
        return Places, (self._slots, self._shape)

    def values(self, statistic, ddof, bias):
        return self._slots.values(statistic, ddof, bias).reshape(self._shape)


def places_state(columns, found, axes, statistic):
    """The states of a statistic of one or two columns of floats, one for each position along the axes that are not reduced."""
    columns = [as_rows(column, axes) for column in columns]
    rows, *shape = columns[0].shape
    keys = np.broadcast_to(np.arange(size(shape), dtype=np.int64), (rows, size(shape))).ravel()
    columns = [np.ravel(column) for column in columns]
    if found is not None:
        found = np.ravel(as_rows(found, axes))
        keys, columns = keys[found], [column[found] for column in columns]
    slots = slots_of(statistic, contiguous(keys), [contiguous(column) for column in columns], size(shape))
    return (Places(slots, tuple(shape)),)


def _merged_one(one, other):
    """Merges two states into a new state, because other tasks may still use the first one."""
    if isinstance(one, np.ndarray) and one.dtype == object:
        # NumPy's sum of two arrays without axes is their merged element, not an array.
        merged = np.empty(one.shape, object)
        merged[...] = one + other
        return merged
    return None if one is None else one + other


def _all(states):
    """Yields the states in dask's nested lists, one after the other."""
    if isinstance(states, list):
        for state in states:
            yield from _all(state)
    else:
        yield states


def merged(states, axis=None, keepdims=None):
    """Merges several states. Each is a tuple, and tuples are merged element by element."""
    return functools.reduce(lambda one, other: tuple(map(_merged_one, one, other)), _all(states))


def _finished(states, axis, keepdims, finish, groups=None):
    value = finish(*merged(states))
    if groups is not None:
        return np.asarray(value)
    return np.expand_dims(value, axis) if keepdims else np.asarray(value)[()]


def _unchanged(state, axis, keepdims):
    return state


def reduced(state, arrays, axes, finish, dtype, keepdims=False, split_every=None, has_places=False, groups=None):
    """The dask array that `finish` computes from the states of all blocks along `axes`. For vectors, `groups` may be the number of results.

    The arrays must have the same chunks. `state` is called with one block of each array and, if `has_places`, with the block's slices.
    """
    first, keeps_axes = arrays[0], keepdims or groups is not None
    indices = tuple(range(first.ndim))
    arguments = [argument for array in arrays for argument in (array, indices)]
    if has_places:
        arguments += [ArraySliceDep(first.chunks), indices]
    meta = np.empty((0,) * first.ndim, dtype)
    ones = dict.fromkeys(axes, 1)
    states = da.blockwise(state, indices, *arguments, dtype=dtype, meta=meta, adjust_chunks=ones, align_arrays=False)
    return da.reduction(
        states,
        _unchanged,
        functools.partial(_finished, finish=finish, groups=groups),
        combine=merged,
        name="treefold",
        axis=axes,
        keepdims=keeps_axes,
        dtype=dtype,
        split_every=split_every,
        concatenate=False,
        output_size=1 if groups is None else groups,
        meta=np.empty((0,) * (first.ndim if keeps_axes else first.ndim - len(axes)), dtype),
    )


def in_memory(state, arrays, axes, finish, keepdims, has_places):
    """Does the work of `reduced` for NumPy arrays, each of which is a single block."""
    place = (tuple(slice(0, length) for length in arrays[0].shape),) if has_places else ()
    return _finished(state(*arrays, *place), axes, keepdims, finish)[()]


def vectors(arrays, names):
    """Gives vectors of equal length the same chunks."""
    is_lazy = any(isinstance(one, da.Array) for one in arrays)
    arrays = [one if isinstance(one, da.Array) else np.asanyarray(one) for one in arrays]
    for name, array in zip(names, arrays):
        if array.ndim != 1:
            raise ValueError(f"{name} has {array.ndim} axes, not one")
    has_sizes = not any(np.isnan(array.shape[0]) for array in arrays)
    for name, array in zip(names[1:], arrays[1:]):
        if array.shape != arrays[0].shape and has_sizes:
            raise ValueError(f"{name} has {array.shape[0]} items, but {names[0]} has {arrays[0].shape[0]}")
    if not is_lazy:
        return arrays
    arrays = [da.asanyarray(one) for one in arrays]
    if len({one.numblocks for one in arrays}) > 1 or has_sizes and len({one.chunks for one in arrays}) > 1:
        _, arrays = da.core.unify_chunks(*(argument for one in arrays for argument in (one, "i")))
    return arrays
