from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _F, _O, _R, _S, _Axes, _ExactSpread, _Mean, _Product, _Scan
from ._accumulator import Accumulator as Accumulator
from ._groups import GroupBy as GroupBy
from ._histograms import histogram as histogram, histogram2d as histogram2d, histogramdd as histogramdd
from ._keyed import add_at as add_at
from ._keyed_accumulator import KeyedAccumulator as KeyedAccumulator
from ._matrices import corrcoef as corrcoef, cov as cov
from ._partial import ExactPartial
from ._rolling import RollingWindows as RollingWindows, rolling as rolling
from ._state import State as State

__all__: list[str]

Partial = ExactPartial

sum: _Product
nansum: _Product
@overload
def dot(x: ArrayLike, y: ArrayLike, out: None = None) -> Any: ...
@overload
def dot(x: ArrayLike, y: ArrayLike, out: _O) -> _O: ...
def inner(x: ArrayLike, y: ArrayLike) -> Any: ...
@overload
def vdot(x: NDArray[_F], y: NDArray[_F]) -> _F: ...
@overload
def vdot(x: ArrayLike, y: ArrayLike) -> Any: ...
@overload
def norm(x: NDArray[_R], axis: None = None, keepdims: Literal[False] = False) -> _R: ...
@overload
def norm(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Any: ...
mean: _Mean
nanmean: _Mean
var: _ExactSpread
nanvar: _ExactSpread
std: _ExactSpread
nanstd: _ExactSpread
cumsum: _Scan
def average(
    x: ArrayLike, axis: _Axes = None, weights: ArrayLike | None = None, returned: bool = False, *, keepdims: bool = False
) -> Any: ...
@overload
def bincount(keys: ArrayLike, weights: None = None, minlength: SupportsIndex = 0, *, axis: None = None) -> NDArray[np.intp]: ...
@overload
def bincount(
    keys: ArrayLike, weights: NDArray[_F], minlength: SupportsIndex = 0, *, axis: SupportsIndex | None = None
) -> NDArray[_F]: ...
@overload
def bincount(keys: ArrayLike, weights: ArrayLike, minlength: SupportsIndex = 0, *, axis: SupportsIndex | None = None) -> NDArray[np.inexact[Any]]: ...
@overload
def reduceat(x: NDArray[_F], indices: ArrayLike) -> NDArray[_F]: ...
@overload
def reduceat(x: ArrayLike, indices: ArrayLike) -> NDArray[np.inexact[Any]]: ...
@overload
def groupby(keys: NDArray[_S], dropna: bool = True) -> GroupBy[NDArray[_S]]: ...
@overload
def groupby(keys: list[NDArray[_S]] | tuple[NDArray[_S], ...], dropna: bool = True) -> GroupBy[tuple[NDArray[_S], ...]]: ...
@overload
def groupby(
    keys: list[NDArray[Any]] | tuple[NDArray[Any], ...], dropna: bool = True
) -> GroupBy[tuple[NDArray[Any], ...]]: ...
@overload
def groupby(keys: ArrayLike | Sequence[ArrayLike], dropna: bool = True) -> GroupBy[NDArray[Any]]: ...
