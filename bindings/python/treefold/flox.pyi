from typing import Literal, TypeAlias, overload

import dask.array as da
import numpy as np
import xarray
from flox import Aggregation
from numpy.typing import ArrayLike, NDArray

__all__: list[str]

# If dask or xarray is not installed, type checkers read its types as `Any`, and overloads coincide. The comments below silence this.

_Statistic: TypeAlias = Literal[
    "count", "sum", "mean", "var", "std", "min", "max", "norm", "skewness", "kurtosis",
    "dot", "average", "cov", "corr", "slope", "intercept"
]

def aggregation(statistic: _Statistic, *, ddof: float | None = None, bias: bool = True, skipna: bool = False) -> Aggregation: ...
@overload
def pairs(x: xarray.DataArray, y: xarray.DataArray | da.Array | ArrayLike) -> xarray.DataArray: ...
@overload
def pairs(x: da.Array, y: da.Array | ArrayLike) -> da.Array: ...  # type: ignore[overload-cannot-match, unused-ignore]
@overload
def pairs(x: ArrayLike, y: da.Array) -> da.Array: ...  # type: ignore[overload-cannot-match, unused-ignore]
@overload
def pairs(x: ArrayLike, y: ArrayLike) -> NDArray[np.complex128]: ...  # type: ignore[overload-cannot-match, unused-ignore]
