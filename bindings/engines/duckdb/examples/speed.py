"""Times exact aggregates and DuckDB's own aggregates. Run it as `python speed.py ROWS TURNS`.

It writes a line of JSON with the versions, and one for each pair of functions, number of threads and number of groups. The doubles are in
memory. The functions of a pair run alternately. A time is the median over the turns, in nanoseconds per row; `cpu_ratio` is the ratio of
the processor times, summed over all threads. """

import json
import statistics
import sys
import time

import duckdb
import numpy as np
import pyarrow
import treefold.duckdb

GROUPS = 1, 100, 1_000_000
THREADS = 1, 2

# For each exact function, the functions that it is compared with.
FUNCTIONS = {"exact_sum": ["sum", "fsum"], "exact_avg": ["avg", "favg"], "exact_var_samp": ["var_samp"]}


def medians(connection, queries, turns):
    """Returns the median wall time and processor time of each query, in nanoseconds."""
    samples = {name: [] for name in queries}
    for turn in range(turns + 1):
        for name, query in queries.items():
            begin = time.perf_counter_ns(), time.process_time_ns()
            connection.execute(query).fetchall()
            # The first turn is not counted, since it warms up the caches.
            if turn:
                samples[name].append((time.perf_counter_ns() - begin[0], time.process_time_ns() - begin[1]))
    return {name: [statistics.median(times) for times in zip(*pairs)] for name, pairs in samples.items()}


def main():
    rows, turns = map(int, sys.argv[1:])
    random = np.random.default_rng(1)
    x = random.lognormal(size=rows) * random.choice([-1.0, 1.0], rows)
    print(json.dumps({"versions": f"DuckDB {duckdb.__version__}, NumPy {np.__version__}"}))
    for threads in THREADS:
        with treefold.duckdb.connect(config={"threads": threads}) as connection:
            for groups in GROUPS:
                connection.register("arrow", pyarrow.table({"k": random.integers(0, groups, rows), "x": x}))
                connection.execute("CREATE OR REPLACE TABLE items AS SELECT * FROM arrow")
                by_key = "SELECT max(y) FROM (SELECT k, {}(x) AS y FROM items GROUP BY k)"
                query = by_key if groups > 1 else "SELECT {}(x) FROM items"
                for own, references in FUNCTIONS.items():
                    names = [own, *references]
                    times = medians(connection, {name: query.format(name) for name in names}, turns)
                    for reference in references:
                        (ns, cpu), (reference_ns, reference_cpu) = times[own], times[reference]
                        row = {"variant": own, "groups": groups, "threads": threads, "rows": rows, "ns": ns / rows, "reference": reference,
                               "reference_ns": reference_ns / rows, "ratio": ns / reference_ns, "cpu_ratio": cpu / reference_cpu}
                        print(json.dumps({"row": row}), flush=True)


if __name__ == "__main__":
    main()
