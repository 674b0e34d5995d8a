"""Computes the mean of a field that is divided into chunks, once with xarray and dask and once with treefold.

The field has a year of daily values on a grid of one degree: 23,652,000 32-bit floats, the type that archives store. A formula with
random noise generates the values. The program needs xarray and dask.
"""

import dask.array as da
import numpy as np
import treefold
import treefold.dask
import xarray as xr
from numpy.typing import NDArray

DAYS, LATITUDES, LONGITUDES = 365, 180, 360
CHUNKS = {
    "one day": (1, LATITUDES, LONGITUDES),
    "30 days": (30, LATITUDES, LONGITUDES),
    "73 days of 45 by 90 degrees": (73, 45, 90),
}


def temperature() -> NDArray[np.float32]:
    """Temperatures in kelvin: warm at the equator and in summer, with noise."""
    day = np.arange(DAYS)[:, None, None]
    latitude = np.linspace(-89.5, 89.5, LATITUDES)[None, :, None]
    season = 12.0 * np.sin(2 * np.pi * (day - 100) / 365) * np.sin(np.radians(latitude))
    noise = np.random.default_rng(2026).standard_normal((DAYS, LATITUDES, LONGITUDES))
    return (288.0 + 25.0 * (np.cos(np.radians(latitude)) - 0.6) + season + 3.0 * noise).astype(np.float32)


def main() -> None:
    field = temperature()
    print("| chunks | mean by xarray | mean by treefold |")
    print("|---|---|---|")
    by_xarray: set[float] = set()
    by_treefold: set[float] = set()
    for name, chunks in CHUNKS.items():
        array = xr.DataArray(da.from_array(field, chunks=chunks), dims=("time", "latitude", "longitude"))
        own = float(array.mean().compute())
        tree = float(array.reduce(treefold.dask.mean).compute())
        by_xarray.add(own)
        by_treefold.add(tree)
        print(f"| {name} | {own:.5f} | {tree:.5f} |")
    assert by_treefold == {float(treefold.mean(field))}, "treefold's mean depends on the chunks"
    assert len(by_xarray) > 1, "xarray's mean does not depend on these chunks"


if __name__ == "__main__":
    main()
