from collections.abc import Sequence
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import exact as exact
from ._partial import Partial as Partial
from ._threads import threads as threads

__version__: str
__all__: list[str]

_Axes: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...] | None
_Axis: TypeAlias = SupportsIndex | None
_Out: TypeAlias = NDArray[Any] | None
_S = TypeVar("_S", bound=np.generic)
_F = TypeVar("_F", bound=np.inexact[Any])
_R = TypeVar("_R", bound=np.floating[Any])
_O = TypeVar("_O", bound=NDArray[Any])
_DType: TypeAlias = type[_S] | np.dtype[_S]
_Ints: TypeAlias = Sequence[int] | Sequence[Sequence[int]]
_Signed: TypeAlias = NDArray[np.signedinteger[Any] | np.bool_] | _Ints
_Integers: TypeAlias = NDArray[np.integer[Any] | np.bool_]
_Floats: TypeAlias = Sequence[float] | Sequence[Sequence[float]]

# Each protocol types the functions that share its parameters. They return a scalar without `axis`, an array with `keepdims`, or the given `out`.

class _Sum(Protocol):
    @overload
    def __call__(
        self, x: NDArray[_F], axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True, *, lanes: int = 1
    ) -> _F: ...
    @overload
    def __call__(
        self, x: _Signed, axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True, *, lanes: int = 1
    ) -> np.int64: ...
    @overload
    def __call__(
        self, x: NDArray[np.unsignedinteger[Any]], axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True, *, lanes: int = 1
    ) -> np.uint64: ...
    @overload
    def __call__(
        self, x: _Floats, axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True, *, lanes: int = 1
    ) -> np.float64: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: None = None, *, dtype: _DType[_S], out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True, lanes: int = 1
    ) -> _S: ...
    @overload
    def __call__(
        self, x: NDArray[_F], axis: _Axes = None, dtype: None = None, out: None = None, *, keepdims: Literal[True], initial: ArrayLike | None = None, where: ArrayLike = True, lanes: int = 1
    ) -> NDArray[_F]: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, *, out: _O, keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike = True, lanes: int = 1
    ) -> _O: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, out: _Out = None, keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike = True, *, lanes: int = 1
    ) -> Any: ...

class _Product(Protocol):
    @overload
    def __call__(
        self, x: NDArray[_F], axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> _F: ...
    @overload
    def __call__(
        self, x: _Signed, axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> np.int64: ...
    @overload
    def __call__(
        self, x: NDArray[np.unsignedinteger[Any]], axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> np.uint64: ...
    @overload
    def __call__(
        self, x: _Floats, axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> np.float64: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: None = None, *, dtype: _DType[_S], out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> _S: ...
    @overload
    def __call__(
        self, x: NDArray[_F], axis: _Axes = None, dtype: None = None, out: None = None, *, keepdims: Literal[True], initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> NDArray[_F]: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, *, out: _O, keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> _O: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, out: _Out = None, keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> Any: ...

class _Extreme(Protocol):
    @overload
    def __call__(
        self, x: NDArray[_S], axis: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> _S: ...
    @overload
    def __call__(
        self, x: _Ints, axis: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> np.int64: ...
    @overload
    def __call__(
        self, x: _Floats, axis: None = None, out: None = None, keepdims: Literal[False] = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> np.float64: ...
    @overload
    def __call__(
        self, x: NDArray[_S], axis: _Axes = None, out: None = None, *, keepdims: Literal[True], initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> NDArray[_S]: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, *, out: _O, keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> _O: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, out: _Out = None, keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike = True
    ) -> Any: ...

class _Mean(Protocol):
    @overload
    def __call__(
        self, x: NDArray[_F], axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, *, where: ArrayLike = True
    ) -> _F: ...
    @overload
    def __call__(
        self, x: _Integers | _Floats, axis: None = None, dtype: None = None, out: None = None, keepdims: Literal[False] = False, *, where: ArrayLike = True
    ) -> np.float64: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: None = None, *, dtype: _DType[_S], out: None = None, keepdims: Literal[False] = False, where: ArrayLike = True
    ) -> _S: ...
    @overload
    def __call__(
        self, x: NDArray[_F], axis: _Axes = None, dtype: None = None, out: None = None, *, keepdims: Literal[True], where: ArrayLike = True
    ) -> NDArray[_F]: ...
    @overload
    def __call__(
        self, x: _Integers, axis: _Axes = None, dtype: None = None, out: None = None, *, keepdims: Literal[True], where: ArrayLike = True
    ) -> NDArray[np.float64]: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, *, out: _O, keepdims: bool = False, where: ArrayLike = True
    ) -> _O: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, out: _Out = None, keepdims: bool = False, *, where: ArrayLike = True
    ) -> Any: ...

class _Spread(Protocol):
    @overload
    def __call__(
        self, x: NDArray[_R], axis: None = None, dtype: None = None, out: None = None, ddof: float = 0, keepdims: Literal[False] = False, *, where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None
    ) -> _R: ...
    @overload
    def __call__(
        self, x: NDArray[np.complexfloating[Any, Any]], axis: None = None, dtype: None = None, out: None = None, ddof: float = 0, keepdims: Literal[False] = False, *, where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None
    ) -> np.floating[Any]: ...
    @overload
    def __call__(
        self, x: _Integers | _Floats, axis: None = None, dtype: None = None, out: None = None, ddof: float = 0, keepdims: Literal[False] = False, *, where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None
    ) -> np.float64: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: None = None, *, dtype: _DType[_S], out: None = None, ddof: float = 0, keepdims: Literal[False] = False, where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None
    ) -> _S: ...
    @overload
    def __call__(
        self, x: NDArray[_R], axis: _Axes = None, dtype: None = None, out: None = None, *, ddof: float = 0, keepdims: Literal[True], where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None
    ) -> NDArray[_R]: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, *, out: _O, ddof: float = 0, keepdims: bool = False, where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None
    ) -> _O: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, out: _Out = None, ddof: float = 0, keepdims: bool = False, *, where: ArrayLike = True, mean: ArrayLike | None = None, correction: float | None = None
    ) -> Any: ...

class _ExactSpread(Protocol):
    @overload
    def __call__(
        self, x: NDArray[_R], axis: None = None, dtype: None = None, out: None = None, ddof: float = 0, keepdims: Literal[False] = False, *, where: ArrayLike = True, correction: float | None = None
    ) -> _R: ...
    @overload
    def __call__(
        self, x: NDArray[np.complexfloating[Any, Any]], axis: None = None, dtype: None = None, out: None = None, ddof: float = 0, keepdims: Literal[False] = False, *, where: ArrayLike = True, correction: float | None = None
    ) -> np.floating[Any]: ...
    @overload
    def __call__(
        self, x: _Integers | _Floats, axis: None = None, dtype: None = None, out: None = None, ddof: float = 0, keepdims: Literal[False] = False, *, where: ArrayLike = True, correction: float | None = None
    ) -> np.float64: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: None = None, *, dtype: _DType[_S], out: None = None, ddof: float = 0, keepdims: Literal[False] = False, where: ArrayLike = True, correction: float | None = None
    ) -> _S: ...
    @overload
    def __call__(
        self, x: NDArray[_R], axis: _Axes = None, dtype: None = None, out: None = None, *, ddof: float = 0, keepdims: Literal[True], where: ArrayLike = True, correction: float | None = None
    ) -> NDArray[_R]: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, *, out: _O, ddof: float = 0, keepdims: bool = False, where: ArrayLike = True, correction: float | None = None
    ) -> _O: ...
    @overload
    def __call__(
        self, x: ArrayLike, axis: _Axes = None, dtype: DTypeLike | None = None, out: _Out = None, ddof: float = 0, keepdims: bool = False, *, where: ArrayLike = True, correction: float | None = None
    ) -> Any: ...

class _Scan(Protocol):
    @overload
    def __call__(self, x: NDArray[_F], axis: _Axis = None, dtype: None = None, out: None = None) -> NDArray[_F]: ...
    @overload
    def __call__(self, x: _Signed, axis: _Axis = None, dtype: None = None, out: None = None) -> NDArray[np.int64]: ...
    @overload
    def __call__(self, x: ArrayLike, axis: _Axis = None, *, dtype: _DType[_S], out: None = None) -> NDArray[_S]: ...
    @overload
    def __call__(self, x: ArrayLike, axis: _Axis = None, dtype: DTypeLike | None = None, *, out: _O) -> _O: ...
    @overload
    def __call__(self, x: ArrayLike, axis: _Axis = None, dtype: DTypeLike | None = None, out: _Out = None) -> NDArray[Any]: ...

sum: _Sum
prod: _Product
nansum: _Product
nanprod: _Product
min: _Extreme
max: _Extreme
nanmin: _Extreme
nanmax: _Extreme
mean: _Mean
nanmean: _Mean
var: _Spread
std: _Spread
nanvar: _Spread
nanstd: _Spread
cumsum: _Scan
cumprod: _Scan

def ptp(x: ArrayLike, axis: _Axes = None, out: _Out = None, keepdims: bool = False) -> Any: ...
def average(
    x: ArrayLike, axis: _Axes = None, weights: ArrayLike | None = None, returned: bool = False, *, keepdims: bool = False
) -> Any: ...
def cumulative_sum(
    x: ArrayLike, /, *, axis: _Axis = None, dtype: DTypeLike | None = None, out: _Out = None, include_initial: bool = False
) -> NDArray[Any]: ...
def cumulative_prod(
    x: ArrayLike, /, *, axis: _Axis = None, dtype: DTypeLike | None = None, out: _Out = None, include_initial: bool = False
) -> NDArray[Any]: ...
@overload
def dot(x: NDArray[_F], y: NDArray[_F], out: None = None) -> _F | NDArray[_F]: ...
@overload
def dot(x: ArrayLike, y: ArrayLike, *, out: _O) -> _O: ...
@overload
def dot(x: ArrayLike, y: ArrayLike, out: _Out = None) -> Any: ...
def inner(x: ArrayLike, y: ArrayLike) -> Any: ...
@overload
def vdot(x: NDArray[_F], y: NDArray[_F]) -> _F: ...
@overload
def vdot(x: ArrayLike, y: ArrayLike) -> Any: ...
def norm(
    x: ArrayLike, ord: float | str | None = None, axis: _Axes = None, keepdims: bool = False
) -> Any: ...
