"""Measures exact statistics by key and of windows against those of NumPy, pandas and polars, and exact sums called from pandas and polars
against the engines' own sums: `python speed_by_key.py ROWS KEYS TURNS`.

The script writes a line of JSON with the versions, and one for each pair of functions. The functions of a comparison run alternately. A time
is the median, in nanoseconds per item. `cargo xtask bench exact` runs this script.
"""

import json
import platform
import statistics
import sys
import time

try:
    import numpy as np
    import pandas as pd
    import polars as pl

    from treefold import exact
    from treefold import pandas as in_pandas
    from treefold import polars as in_polars
except ImportError as error:
    print(json.dumps({"missing": str(error)}))
    sys.exit()

WINDOWS = 10, 1000


def medians(ways, turns):
    """The median time of a call of each function, in nanoseconds."""
    samples = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name, way in ways.items():
            begin = time.perf_counter_ns()
            way()
            # The first turn warms up.
            if turn:
                samples[name].append(time.perf_counter_ns() - begin)
    return {name: statistics.median(times) for name, times in samples.items()}


def compare(variant, n, distribution, items, turns, **ways):
    """Writes a row for each reference, that is, for each function except `own`."""
    times = medians(ways, turns)
    for reference, ns in times.items():
        if reference != "own":
            row = {"variant": f"{variant} f64", "n": n, "distribution": distribution, "ns": times["own"] / items,
                   "reference": reference, "reference_ns": ns / items}
            print(json.dumps({"row": row}), flush=True)


def engines(rows, keys_count, turns):
    """Compares exact sums that are called from pandas and polars with the engines' own sums."""
    random = np.random.default_rng(2)
    keys, x = random.integers(0, keys_count, rows), random.standard_normal(rows)
    frame, table = pd.DataFrame({"key": keys, "x": x}), pl.DataFrame({"key": keys, "x": x})
    own = in_pandas.groupby(frame, "key").sum("x")
    sums = table.group_by("key").agg("x").with_columns(in_polars.exact_list_sum("x")).sort("key")
    assert own.tolist() == sums["x"].to_list()
    compare("python-in-pandas", keys_count, "random", rows, turns,
            own=lambda: in_pandas.groupby(frame, "key").sum("x"), pandas=lambda: frame.groupby("key")["x"].sum())
    compare("python-in-polars", keys_count, "random", rows, turns,
            own=lambda: table.group_by("key").agg("x").with_columns(in_polars.exact_list_sum("x")),
            polars=lambda: table.group_by("key").agg(pl.col("x").sum()))
    return table


def main():
    rows, keys_count, turns = map(int, sys.argv[1:])
    random = np.random.default_rng(1)
    keys = random.integers(0, keys_count, rows)
    x = random.standard_normal(rows)
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, pandas {pd.__version__}, polars {pl.__version__}"
    print(json.dumps({"versions": versions}))
    series, frame = pd.Series(x), pl.DataFrame({"key": keys, "x": x})
    assert np.allclose(exact.groupby(keys).sum(x), series.groupby(keys).sum())
    compare("python-bincount", keys_count, "random", rows, turns,
            own=lambda: exact.bincount(keys, weights=x), numpy=lambda: np.bincount(keys, weights=x))
    compare("python-groupby", keys_count, "random", rows, turns,
            own=lambda: exact.groupby(keys).sum(x),
            pandas=lambda: series.groupby(keys).sum(),
            polars=lambda: frame.group_by("key").agg(pl.col("x").sum()))
    for count in (100, keys_count):
        table = engines(rows, count, turns)
    compare("python-in-polars-select", 1, "random", rows, turns,
            own=lambda: table.select(in_polars.exact_sum("x")), polars=lambda: table.select(pl.col("x").sum()))
    for window in WINDOWS:
        ours, theirs = exact.rolling(x, window), series.rolling(window)
        compare("python-rolling-sums", window, "window", rows, turns, own=ours.sum, pandas=theirs.sum)
        compare("python-rolling-means", window, "window", rows, turns, own=ours.mean, pandas=theirs.mean)
        compare("python-rolling-std", window, "window", rows, turns, own=ours.std, pandas=theirs.std)
        compare("python-rolling-corr", window, "window", rows, turns,
                own=lambda: ours.corr(x[::-1]), pandas=lambda: theirs.corr(series[::-1].reset_index(drop=True)))
        compare("python-rolling-kurtosis", window, "window", rows, turns,
                own=lambda: ours.kurtosis(bias=False), pandas=theirs.kurt)


if __name__ == "__main__":
    main()
