"""Reduces dask arrays.

The bits are those of the same reduction of the whole array, whatever the
chunks and the scheduler. NumPy arrays are reduced immediately.

Every block becomes a partial result, and partial results are merged a few at a
time, in as many tasks as in dask's own reduction. But each task passes on more
data: up to 2 log2(n) results, not one, for each run of consecutive items in its
block. A block that spans all reduced axes except the first has one run. In
exact reductions, each task passes on a few hundred bytes for each result, and
chunks may have unknown sizes.

>>> import dask.array as da, numpy as np, treefold, treefold.dask
>>> x = np.random.default_rng(1).standard_normal((500, 300))
>>> chunked = da.from_array(x, chunks=(128, 300))
>>> bool(treefold.dask.sum(chunked).compute() == treefold.sum(x))
True
"""

import functools
from typing import NamedTuple

import dask.array as da
import numpy as np

from . import _chunks, _native
from ._arrays import as_unmasked, check_inexact, index, reduced_axes, size
from ._chunks import converted, present, vectors
from ._functions import STATISTICS, columns_of, ddof_of, docstring, made, number, options_of, signature
from ._keyed_chunks import GroupBy, exact_dot, exact_groupby
from ._reductions import quotient
from ._rolling_chunks import RollingWindows, exact_rolling


def _is_masked(array):
    return isinstance(array._meta if isinstance(array, da.Array) else array, np.ma.MaskedArray)


class _Call:
    """Checks the arguments that all reductions have, and keeps them with values derived from them."""

    def __init__(self, array, has_places, *, axis=None, dtype=None, keepdims=False, split_every=None, skipna=False, min_count=0):
        self.is_lazy = isinstance(array, da.Array)
        self.array = array = array if self.is_lazy else np.asanyarray(array)
        if self.is_lazy and has_places and any(np.isnan(length) for length in array.shape):
            raise ValueError("array has chunks of unknown sizes: call array.compute_chunk_sizes(), or use an exact function")
        if not isinstance(keepdims, (bool, np.bool_)):
            raise TypeError(f"keepdims: {keepdims!r} is not a bool")
        if split_every is not None and not isinstance(split_every, dict) and index(split_every, "split_every") < 2:
            raise ValueError(f"split_every: {split_every} is less than 2")
        self.min_count = index(min_count, "min_count")
        self.axes = reduced_axes(axis, array.ndim)
        self.dtype = array.dtype if dtype is None else np.dtype(dtype)
        for given in (array.dtype, self.dtype):
            if given.kind not in "biufc" or given.itemsize // (1 + (given.kind == "c")) not in (1, 2, 4, 8):
                raise TypeError(f"array has elements of type {given}, which treefold does not reduce")
        self.keepdims, self.split_every = bool(keepdims), split_every
        self.is_masked = _is_masked(array)
        self.skipna = bool(skipna) or self.min_count > 0
        self.has_places = has_places

    @classmethod
    def inexact(cls, array, has_places, **arguments):
        """The arguments of a reduction that divides, so integers become float64."""
        call = cls(array, has_places, **arguments)
        call.dtype = np.dtype(np.float64) if call.dtype.kind in "biu" else call.dtype
        return call

    def lengths(self):
        """The lengths of the reduced axes."""
        return [self.array.shape[axis] for axis in self.axes]

    def items(self, block):
        """The items of a block, and the result of `present`: which of them are not skipped."""
        return converted(block, self.dtype), present(block, self.skipna, self.is_masked)

    def check_real(self, name, statistic):
        if self.dtype.kind == "c":
            raise TypeError(f"{name} has complex elements, which have no `{statistic}`")

    def reduced(self, state, finish, dtype, *others):
        arrays = (self.array, *others)
        if not self.is_lazy:
            return _chunks.in_memory(state, arrays, self.axes, finish, self.keepdims, self.has_places)
        return _chunks.reduced(state, arrays, self.axes, finish, dtype, self.keepdims, self.split_every, self.has_places)

    def without_array(self):
        """A copy without the array, to be sent to tasks."""
        call = object.__new__(_Call)
        call.__dict__.update(self.__dict__)
        call.array = None
        return call


# Reductions in tree order.


def _state(block, place, *, call, op, shape):
    items, found = call.items(block)
    if op in ("min", "max") and items.dtype.kind == "b":
        items = items.view(np.uint8)
    with _native.Subnormals():
        return _chunks.tree_state(items, found, call.axes, op, place, shape)


def _completed(value, counts, min_count, op):
    """Sets results without items to the value for no items, and results with fewer than `min_count` items to NaN."""
    value = np.asarray(value)
    if counts is None:
        return value
    value = np.array(value)
    empty = np.asarray(counts) == 0
    if op in ("min", "max"):
        if value.dtype.kind in "fc":
            value[empty] = np.nan
        elif empty.any():
            raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
    else:
        value[empty] = 1 if op == "prod" else 0
    if min_count > 0:
        few = np.asarray(counts) < min_count
        if few.any():
            value = value if value.dtype.kind in "fc" else value.astype(np.float64)
            value[few] = np.nan
    return value


def _value(partial, counts, *, op, min_count, dtype):
    value = _completed(partial.value(), counts, min_count, op)
    return value if value.dtype.kind == "f" and dtype.kind in "biu" else value.astype(dtype, copy=False)


def _tree(op, array, dtype=None, **arguments):
    call = _Call(array, True, dtype=dtype, **arguments)
    result = call.dtype
    if op in ("min", "max"):
        call.check_real("array", op)
        if size(call.lengths()) == 0:
            raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
    elif dtype is None:
        result = np.add.reduce(np.ones(1, call.dtype)).dtype
    if op == "prod" and call.dtype.kind == "c" and (call.skipna or call.is_masked):
        raise TypeError("array has complex elements, whose product is not defined if items can be masked or skipped")
    state = functools.partial(_state, call=call.without_array(), op=op, shape=call.lengths())
    finish = functools.partial(_value, op=op, min_count=call.min_count, dtype=result)
    return call.reduced(state, finish, result)


def _mean_value(partial, counts, *, count):
    return quotient(partial.value(), count if counts is None else counts)


def _mean(array, **arguments):
    call = _Call.inexact(array, True, **arguments)
    state = functools.partial(_state, call=call.without_array(), op="sum", shape=call.lengths())
    return call.reduced(state, functools.partial(_mean_value, count=size(call.lengths())), call.dtype)


def _squares_state(block, middle, place, *, call, shape):
    items, found = call.items(block)
    with np.errstate(all="ignore"), _native.Subnormals():
        distance = items - middle
        if items.dtype.kind == "c":
            squares = distance.real * distance.real + distance.imag * distance.imag
        else:
            squares = distance * distance
        return _chunks.tree_state(squares, found, call.axes, "sum", place, shape)


def _spread_value(partial, counts, *, count, ddof, is_root):
    freedom = np.maximum((count if counts is None else counts) - ddof, 0)
    with np.errstate(all="ignore"), _native.Subnormals():
        value = quotient(partial.value(), freedom)
        return np.sqrt(value) if is_root else value


def _spread(statistic, array, ddof, keepdims, **arguments):
    call = _Call.inexact(array, True, keepdims=keepdims, **arguments)
    ddof = ddof if type(ddof) is int else number(ddof, "ddof")
    middle = _mean(array, keepdims=True, **arguments)
    state = functools.partial(_squares_state, call=call.without_array(), shape=call.lengths())
    finish = functools.partial(_spread_value, count=size(call.lengths()), ddof=ddof, is_root=statistic == "std")
    return call.reduced(state, finish, np.empty(0, call.dtype).real.dtype, middle)


def _products_state(x, y, place, *, dtype, shape):
    x, y = (as_unmasked(one, name).astype(dtype, copy=False) for one, name in ((x, "x"), (y, "y")))
    with np.errstate(all="ignore"), _native.Subnormals():
        if dtype.kind == "c":
            products = np.empty(x.shape, dtype)
            products.real = x.real * y.real - x.imag * y.imag
            products.imag = x.real * y.imag + x.imag * y.real
        else:
            products = x * y
        return _chunks.tree_state(products, None, (0,), "sum", place, shape)


def _plain_value(partial, counts):
    return partial.value()


def _dot(x, y, split_every):
    x, y = vectors((x, y), ("x", "y"))
    dtype = np.result_type(x.dtype, y.dtype)
    dtype = np.dtype(np.int64) if dtype.kind == "b" else dtype
    call = _Call(x, True, split_every=split_every)
    state = functools.partial(_products_state, dtype=dtype, shape=list(x.shape))
    return call.reduced(state, _plain_value, np.add.reduce(np.ones(1, dtype)).dtype, y)


# Exact reductions.


def _exact_state(block, *, call, of):
    return of(*call.items(block), call.axes)


def _exact_sum(_, array, **arguments):
    call = _Call(array, False, **arguments)
    check_inexact(call.dtype, "array")
    finish = functools.partial(_value, op="sum", min_count=call.min_count, dtype=call.dtype)
    state = functools.partial(_exact_state, call=call.without_array(), of=_chunks.exact_state)
    return call.reduced(state, finish, call.dtype)


def _moments_value(states, *, statistic, ddof, dtype):
    value = np.empty(states.shape, dtype)
    for at in np.ndindex(states.shape):
        value[at] = states[at].mean() if statistic == "mean" else getattr(states[at], statistic)(ddof)
    return value


def _exact_moments(statistic, array, ddof=0, **arguments):
    call = _Call.inexact(array, False, **arguments)
    result = call.dtype if statistic == "mean" else np.empty(0, call.dtype).real.dtype
    finish = functools.partial(_moments_value, statistic=statistic, ddof=number(ddof, "ddof"), dtype=result)
    state = functools.partial(_exact_state, call=call.without_array(), of=_chunks.moments_state)
    return call.reduced(state, finish, result)


def _as_large(part, block):
    return None if part is None else np.broadcast_to(part, block.shape)


def _places_state(*blocks, call, statistic):
    # Items and masks are broadcast to the first block's shape separately, because NumPy broadcasts masked arrays without their masks.
    items, present = zip(*(tuple(_as_large(part, blocks[0]) for part in call.items(block)) for block in blocks))
    present = [found for found in present if found is not None]
    return _chunks.places_state(items, np.logical_and.reduce(present) if present else None, call.axes, statistic)


def _places_value(places, *, statistic, ddof, bias):
    return places.values(statistic, ddof, bias)


def _exact_places(statistic, call, *others, ddof=0, bias=True):
    state = functools.partial(_places_state, call=call.without_array(), statistic=statistic)
    finish = functools.partial(_places_value, statistic=statistic, ddof=number(ddof, "ddof"), bias=bool(bias))
    return call.reduced(state, finish, call.dtype, *others)


def _exact_shape(statistic, array, bias, **arguments):
    call = _Call.inexact(array, False, **arguments)
    call.check_real("array", statistic)
    return _exact_places(statistic, call, bias=bias)


def _exact_average(statistic, array, weights, **arguments):
    if weights is None:
        return _exact_moments("mean", array, **arguments)
    return _exact_pair(statistic, array, weights, names=("array", "weights"), **arguments)


def _exact_pair(statistic, x, y, ddof=0, names=("x", "y"), **arguments):
    lazy = isinstance(x, da.Array) or isinstance(y, da.Array)
    x, y = (da.asanyarray(one) if lazy else np.asanyarray(one) for one in (x, y))
    dtype = np.result_type(x.dtype, y.dtype)
    call = _Call.inexact(x, False, dtype=None if dtype.kind in "biu" else dtype, **arguments)
    call.check_real(" or ".join(names), statistic)
    if y.ndim == 1 < x.ndim and len(call.axes) == 1:
        # As in NumPy, the weights may be a vector along the reduced axis.
        y = y[tuple(slice(None) if at == call.axes[0] else None for at in range(x.ndim))]
    elif y.ndim != x.ndim:
        raise ValueError(f"{names[1]} has {y.ndim} axes, but {names[0]} has {x.ndim}")
    if x.shape != y.shape and any(own not in (1, length) for own, length in zip(y.shape, x.shape)):
        raise ValueError(f"{names[1]} has the shape {y.shape}, but {names[0]} has {x.shape}")
    call.is_masked = _is_masked(x) or _is_masked(y)
    if lazy:
        indices = tuple(range(x.ndim))
        _, (call.array, y) = da.core.unify_chunks(x, indices, y, indices)
    return _exact_places(statistic, call, y, ddof=ddof)


_DEFAULTS = {"axis": None, "dtype": None, "bias": True, "ddof": 0, "weights": None, "keepdims": False}
_DEFAULTS |= {"split_every": None, "skipna": False, "min_count": 0}
_ARRAY = "dask.array.Array or array_like\n    Arrays other than dask's are reduced immediately."
_TEXTS = {
    "array": f"{_ARRAY} Masked items are skipped.",
    "x": _ARRAY,
    "y": "dask.array.Array or array_like\n    As many items as `x`. Pairs with a masked item are skipped.",
    "axis": "None, int or tuple of ints, optional\n    The axes to be reduced; all of them by default.",
    "dtype": "dtype, optional\n    The type to which items are converted first.",
    "weights": "dask.array.Array or array_like, optional\n    The weights, in the array's shape or as a vector along the axis. By default,\n    all weights are equal.",
    "keepdims": "bool, optional\n    Whether reduced axes are kept, with length 1.",
    "min_count": "int, optional\n    The result of fewer items is NaN. A positive number implies `skipna`.",
}
_REST = """
Returns
-------
dask.array.Array
    A NumPy scalar or array if no argument is a dask array.

Raises
------
TypeError
    The elements have an unsupported type.
ValueError
    {}n argument is out of range.
"""


class _Function(NamedTuple):
    """Describes a public function of this module: its implementation, summary and parameters."""

    how: object
    summary: str
    by_place: tuple
    by_keyword: tuple = ("split_every", "skipna")
    ddof: float = 0


def _of_items(what, how, *options, **others):
    return _Function(how, f"The {what} of the items, with the bits of `treefold.{{}}`.", ("array", "axis", *options, "keepdims"), **others)


def _exactly(statistic, how, *options, **others):
    """Describes the function of an exact statistic, with the options that the statistic has."""
    _, *second = columns_of(statistic)
    columns = ("x", "y", "axis") if second == ["y"] else ("array", "axis", *second)
    summary = STATISTICS[statistic].format("pairs of items" if second else "the items")
    by_place = (*columns, *options, *options_of(statistic), "keepdims")
    return _Function(functools.partial(how, statistic), f"{summary}.", by_place, ddof=ddof_of(statistic), **others)


_COUNTED = {"by_keyword": ("split_every", "skipna", "min_count")}
_FUNCTIONS = {
    "sum": _of_items("sum", functools.partial(_tree, "sum"), "dtype", **_COUNTED),
    "prod": _of_items("product", functools.partial(_tree, "prod"), "dtype", **_COUNTED),
    "min": _of_items("least", functools.partial(_tree, "min")),
    "max": _of_items("greatest", functools.partial(_tree, "max")),
    "mean": _of_items("mean", _mean, "dtype"),
    "var": _of_items("variance", functools.partial(_spread, "var"), "dtype", "ddof"),
    "std": _of_items("standard deviation", functools.partial(_spread, "std"), "dtype", "ddof"),
    "dot": _Function(_dot, "The sum of the products of two vectors, with the bits of `treefold.dot`.", ("x", "y"), ("split_every",)),
    "exact_sum": _exactly("sum", _exact_sum, "dtype", **_COUNTED),
    "exact_mean": _exactly("mean", _exact_moments, "dtype"),
    "exact_var": _exactly("var", _exact_moments, "dtype"),
    "exact_std": _exactly("std", _exact_moments, "dtype"),
    "exact_skewness": _exactly("skewness", _exact_shape),
    "exact_kurtosis": _exactly("kurtosis", _exact_shape),
    "exact_average": _exactly("average", _exact_average),
    "exact_cov": _exactly("cov", _exact_pair),
    "exact_corr": _exactly("corr", _exact_pair),
    "exact_dot": _Function(exact_dot, "The exact sum of the products of two vectors, rounded once.", ("x", "y"), ("split_every",)),
}


def _made(name, function):
    def body(**arguments):
        return function.how(**arguments)

    parameters = signature(function.by_place, function.by_keyword, _DEFAULTS | {"ddof": function.ddof})
    rest = _REST.format("A" if name.startswith("exact_") else "Chunks have unknown sizes, or a")
    return made(name, parameters, body, docstring(function.summary.format(name), parameters, _TEXTS, rest))


globals().update({name: _made(name, function) for name, function in _FUNCTIONS.items()})
__all__ = ["GroupBy", "RollingWindows", "exact_groupby", "exact_rolling", *_FUNCTIONS]
