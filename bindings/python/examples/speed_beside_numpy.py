"""Measures treefold's functions and NumPy's, by layout and type: `python speed_beside_numpy.py ITEMS TURNS`.

The script writes a line of JSON with the versions, and one for each case and number of items: 10, 100 and so on up to ITEMS. The two functions
of a case run alternately. A time is the median duration of a call, in nanoseconds. `cargo xtask bench python` runs this script.
"""

import json
import platform
import sys
import time

try:
    import numpy as np

    import treefold
except ImportError as error:
    print(json.dumps({"missing": str(error)}))
    sys.exit()

# A sample repeats its call until it lasts this long.
SAMPLE_NS = 200_000


def layouts(n):
    """Arrays of about n items, by the name of their layout or type."""
    x = np.random.default_rng(1).standard_normal(n)
    side = max(1, int(n**0.5))
    pairs = np.zeros((n, 2))
    pairs[:, 0] = x
    return {
        "contiguous": x, "reversed": x[::-1], "strided": pairs[:, 0], "transposed": x[: side * side].reshape(side, side).T,
        "slice": np.repeat(x, 2)[: 2 * side * side].reshape(side, 2 * side)[:, :side], "int32": (100 * x).astype("i4"), "bool": x > 0,
        "float16": x.astype("f2"), "float32": x.astype("f4"), "rows": x[: n // 10 * 10].reshape(-1, 10), "square": x[: side * side].reshape(side, side),
    }


CASES = [(name, layout, {}) for name in ("sum", "mean", "min", "var", "std", "cumsum") for layout in ("contiguous",)]
CASES += [("sum", layout, {}) for layout in ("reversed", "strided", "transposed", "slice", "int32", "bool", "float16", "float32")]
CASES += [("sum", layout, {"axis": axis}) for layout in ("rows", "square") for axis in (0, 1)]
CASES += [("max", "int32", {}), ("mean", "int32", {}), ("var", "square", {"axis": 0}), ("sum", "contiguous", {"where": True}), ("dot", "contiguous", {})]


def median(way, repeats, turns):
    samples = []
    for _ in range(turns):
        begin = time.perf_counter_ns()
        for _ in range(repeats):
            way()
        samples.append((time.perf_counter_ns() - begin) / repeats)
    return samples


def compare(name, layout, options, x, n, turns):
    """Measures a case, and writes its row."""
    if options.get("where"):
        options = {"where": np.arange(x.size).reshape(x.shape) % 3 > 0}
    arguments = (x, x[::-1].copy()) if name == "dot" else (x,)
    ways = [lambda module=module: getattr(module, name)(*arguments, **options) for module in (treefold, np)]
    repeats = 1
    while max(median(ways[1], repeats, 1)) * repeats < SAMPLE_NS:
        repeats *= 2
    samples = [[], []]
    for _ in range(turns):
        for way, own in zip(ways, samples):
            own += median(way, repeats, 1)
    own, theirs = (sorted(one)[turns // 2] for one in samples)
    axis = f", axis {options['axis']}" if "axis" in options else ", where" if options else ""
    row = {"variant": f"{name} {layout}{axis}", "n": n, "distribution": layout, "ns": own, "reference": f"numpy.{name}", "reference_ns": theirs}
    print(json.dumps({"row": row}), flush=True)


def main():
    most, turns = map(int, sys.argv[1:])
    print(json.dumps({"versions": f"Python {platform.python_version()}, NumPy {np.__version__}"}))
    n = 10
    while n <= most:
        arrays = layouts(n)
        for name, layout, options in CASES:
            compare(name, layout, options, arrays[layout], n, turns)
        n *= 10


if __name__ == "__main__":
    main()
