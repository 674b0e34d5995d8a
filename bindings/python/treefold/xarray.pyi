from collections.abc import Hashable, Iterable
from typing import Generic, Protocol, SupportsIndex, TypeAlias, TypeVar

import xarray
from numpy.typing import DTypeLike

__all__: list[str]

_T = TypeVar("_T", xarray.DataArray, xarray.Dataset)
_R = TypeVar("_R", covariant=True)
_Dim: TypeAlias = str | Iterable[Hashable] | None
_Split: TypeAlias = int | dict[int, int] | None
_Keep: TypeAlias = bool | None

# Each protocol types the methods that share its parameters.

class _Sum(Protocol[_R]):
    def __call__(
        self, dim: _Dim = None,
        *, skipna: bool | None = True, dtype: DTypeLike | None = None, min_count: SupportsIndex | None = 0,
        split_every: _Split = None, keepdims: bool = False, keep_attrs: _Keep = None
    ) -> _R: ...

class _Extreme(Protocol[_R]):
    def __call__(
        self, dim: _Dim = None, *, skipna: bool | None = True, split_every: _Split = None, keepdims: bool = False, keep_attrs: _Keep = None
    ) -> _R: ...

class _Mean(Protocol[_R]):
    def __call__(
        self, dim: _Dim = None,
        *, skipna: bool | None = True, dtype: DTypeLike | None = None,
        split_every: _Split = None, keepdims: bool = False, keep_attrs: _Keep = None
    ) -> _R: ...

class _Spread(Protocol[_R]):
    def __call__(
        self, dim: _Dim = None,
        *, skipna: bool | None = True, dtype: DTypeLike | None = None, ddof: float = 0,
        split_every: _Split = None, keepdims: bool = False, keep_attrs: _Keep = None
    ) -> _R: ...

class _Shape(Protocol[_R]):
    def __call__(
        self, dim: _Dim = None,
        *, skipna: bool | None = True, bias: bool = True, split_every: _Split = None, keepdims: bool = False, keep_attrs: _Keep = None
    ) -> _R: ...

class Accessor(Generic[_T]):
    def __init__(self, array: _T) -> None: ...
    sum: _Sum[_T]
    prod: _Sum[_T]
    min: _Extreme[_T]
    max: _Extreme[_T]
    mean: _Mean[_T]
    var: _Spread[_T]
    std: _Spread[_T]
    exact_sum: _Sum[_T]
    exact_mean: _Mean[_T]
    exact_var: _Spread[_T]
    exact_std: _Spread[_T]
    exact_skewness: _Shape[_T]
    exact_kurtosis: _Shape[_T]

class ExactAccessor(Generic[_T]):
    def __init__(self, array: _T) -> None: ...
    sum: _Sum[_T]
    mean: _Mean[_T]
    var: _Spread[_T]
    std: _Spread[_T]
    skewness: _Shape[_T]
    kurtosis: _Shape[_T]
    def average(
        self, weights: xarray.DataArray, dim: _Dim = None,
        *, skipna: bool | None = True, split_every: _Split = None, keepdims: bool = False, keep_attrs: _Keep = None
    ) -> _T: ...
    def cov(
        self, other: xarray.DataArray, dim: _Dim = None,
        *, skipna: bool | None = True, ddof: float = 1, split_every: _Split = None, keepdims: bool = False, keep_attrs: _Keep = None
    ) -> _T: ...
    def corr(
        self, other: xarray.DataArray, dim: _Dim = None,
        *, skipna: bool | None = True, split_every: _Split = None, keepdims: bool = False, keep_attrs: _Keep = None
    ) -> _T: ...
