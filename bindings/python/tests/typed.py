# pyright: strict
"""The types of results: `mypy --strict` and pyright check this file, which also runs."""

from typing import Any

import numpy as np
import treefold
from numpy.typing import NDArray
from treefold import exact
from typing_extensions import assert_type

doubles: NDArray[np.float64] = np.linspace(0.0, 1.0, 12).reshape(3, 4)
singles: NDArray[np.float32] = doubles.astype(np.float32)
parts: NDArray[np.complex128] = doubles.astype(np.complex128)
small: NDArray[np.int8] = np.arange(12, dtype=np.int8)
large: NDArray[np.uint64] = np.arange(12, dtype=np.uint64)
columns: NDArray[np.float64] = np.empty(4)

assert_type(treefold.sum(doubles), np.float64)
assert_type(treefold.sum(singles, lanes=16), np.float32)
assert_type(treefold.sum(parts), np.complex128)
assert_type(treefold.sum(small), np.int64)
assert_type(treefold.sum(large), np.uint64)
assert_type(treefold.sum(doubles > 0.5), np.int64)
assert_type(treefold.sum([1, 2, 3]), np.int64)
assert_type(treefold.sum([1.5, 2.5]), np.float64)
assert_type(treefold.sum(small, dtype=np.float32), np.float32)
assert_type(treefold.sum(doubles, keepdims=True), NDArray[np.float64])
assert_type(treefold.sum(doubles, axis=0, keepdims=True), NDArray[np.float64])
assert_type(treefold.sum(doubles, axis=0), Any)
assert_type(treefold.sum(doubles, axis=0, out=columns), NDArray[np.float64])
assert_type(treefold.prod(singles, where=singles > 0), np.float32)
assert_type(treefold.nansum(doubles), np.float64)

assert_type(treefold.min(small), np.int8)
assert_type(treefold.max([0.5, 1.5]), np.float64)
assert_type(treefold.nanmax(singles, initial=0.0), np.float32)

assert_type(treefold.mean(small), np.float64)
assert_type(treefold.mean(singles), np.float32)
assert_type(treefold.mean([1, 2]), np.float64)
assert_type(treefold.mean(parts, axis=1, keepdims=True), NDArray[np.complex128])
assert_type(treefold.var(parts), np.floating[Any])
assert_type(treefold.std(singles, ddof=1), np.float32)
assert_type(treefold.nanstd(doubles, correction=1), np.float64)

assert_type(treefold.cumsum(doubles), NDArray[np.float64])
assert_type(treefold.cumsum(small, axis=0), NDArray[np.int64])
assert_type(treefold.cumsum(small, dtype=np.float64), NDArray[np.float64])
assert_type(treefold.vdot(doubles, doubles), np.float64)
assert_type(treefold.threads(), int)

assert_type(exact.sum(doubles), np.float64)
assert_type(exact.mean(small), np.float64)
assert_type(exact.var(parts), np.floating[Any])
assert_type(exact.std(singles), np.float32)
assert_type(exact.vdot(doubles, doubles), np.float64)
assert_type(exact.sum(small), np.int64)
assert_type(exact.norm(singles), np.float32)
assert_type(exact.cumsum(small), NDArray[np.int64])
assert_type(exact.dot(doubles, columns, out=columns[:3]), NDArray[np.float64])
assert_type(exact.groupby(small).keys, NDArray[np.int8])
assert_type(exact.groupby([1, 2]).keys, NDArray[Any])
assert_type(exact.groupby([small, small]).keys, tuple[NDArray[np.int8], ...])
assert_type(exact.groupby((small, large)).count(), NDArray[np.intp])
assert_type(exact.bincount(small), NDArray[np.intp])
assert_type(exact.bincount(small, singles.ravel()), NDArray[np.float32])
assert_type(exact.bincount([0, 1, 0], singles, axis=0), NDArray[np.float32])
assert_type(exact.reduceat(doubles.ravel(), [0, 3]), NDArray[np.float64])
assert_type(exact.cov(doubles), NDArray[np.floating[Any]])
assert_type(exact.Accumulator().value(), np.inexact[Any])
assert_type(exact.Partial(doubles) + exact.Partial(doubles[:1]), exact.Partial)
assert_type(exact.rolling(columns, 2).cov(columns, ddof=0), NDArray[np.floating[Any]])

results: list[tuple[Any, str]] = [
    (treefold.sum(small), "i8"),
    (treefold.sum(large), "u8"),
    (treefold.sum(doubles > 0.5), "i8"),
    (treefold.sum([1, 2, 3]), "i8"),
    (treefold.sum(small, dtype=np.float32), "f4"),
    (treefold.min(small), "i1"),
    (treefold.mean(small), "f8"),
    (treefold.var(parts), "f8"),
    (treefold.std(singles), "f4"),
    (treefold.cumsum(small), "i8"),
    (exact.sum(small), "i8"),
    (exact.norm(singles), "f4"),
    (exact.mean(small), "f8"),
    (exact.var(parts), "f8"),
]
for value, dtype in results:
    assert value.dtype == np.dtype(dtype), (value, dtype)
