"""Measures treefold.sum and treefold.exact.sum relative to numpy.sum, by the number of doubles: `python speed.py numpy.json`.

`cargo xtask draw numpy.json` draws the result. A run measures the functions alternately, and keeps the minimum time of each. A point is the
median of several runs, and a bar is their range. `--quick` measures few lengths in two runs.
"""

import json
import pathlib
import subprocess
import sys
import time

import numpy as np

import treefold
from treefold import exact

WAYS = {"treefold, tree order": treefold.sum, "treefold, exact": exact.sum, "numpy.sum": np.sum}
REFERENCE = "numpy.sum"

# A sample repeats its call until it takes this long.
SAMPLE_S = 2e-4


def sample(way, items, repeats):
    begin = time.perf_counter()
    for _ in range(repeats):
        way(items)
    return (time.perf_counter() - begin) / repeats


def least_times(items):
    """The minimum time of each function, measured alternately."""
    repeats = 1
    while sample(np.sum, items, repeats) * repeats < SAMPLE_S:
        repeats *= 2
    turns = 15 if items.size <= 1_000_000 else 5
    samples = [{name: sample(way, items, repeats) for name, way in WAYS.items()} for _ in range(turns)]
    return {name: min(times[name] for times in samples) for name in WAYS}


def machine():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    processor = next((line.split(": ")[1] for line in lines if line.startswith("model name")), "unknown processor")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return processor, commit


def line(name, runs):
    points, bars = [], []
    for items, times in runs.items():
        ratios = sorted(one[name] / one[REFERENCE] for one in times)
        points.append([float(items), float(f"{ratios[len(ratios) // 2]:.4e}")])
        bars.append([float(f"{ratio:.4e}") for ratio in (ratios[0], ratios[-1])])
    return {"name": name, "style": "joined", "points": points, "bars": bars}


def main():
    *options, numbers = sys.argv[1:]
    is_quick = "--quick" in options
    lengths = [10, 1000] if is_quick else [10**power for power in range(1, 8)]
    values = np.random.default_rng(1).standard_normal(max(lengths))
    count = 2 if is_quick else 5
    runs = {items: [] for items in lengths}
    for _ in range(count):
        for items, times in runs.items():
            times.append(least_times(values[:items]))
    processor, commit = machine()
    lines = [line(name, runs) for name in WAYS if name != REFERENCE]
    tree = [ratio for _, ratio in lines[0]["points"]]
    plot = {
        "source": f"cargo xtask test --stage python-story --record; {processor}, NumPy {np.__version__}; {time.strftime('%Y-%m-%d', time.gmtime())}, "
                  f"commit {commit}; shared with other programs",
        "title": f"treefold.sum takes {min(tree):.2f} to {max(tree):.2f} times as long as numpy.sum",
        "subtitle": f"One thread, {processor}, NumPy {np.__version__}; medians of {count} runs, bars: all of them",
        "x": {"name": "N, doubles", "scale": "decades"},
        "y": {"name": "time over numpy.sum's, ratio", "scale": "decades"},
        "size": "page",
        "lines": [*lines, {"name": REFERENCE, "style": "level", "points": [[0.0, 1.0]]}],
    }
    with open(numbers, "w") as file:
        json.dump(plot, file)


if __name__ == "__main__":
    main()
