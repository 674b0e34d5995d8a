"""Times exact functions relative to PostgreSQL's functions, and measures the memory of groups. Run cost.py [ROWS] as root, like run.py.

A printed ratio is the median over pairs of consecutive runs. The rows are in a cached table with one column of keys and three columns of
numbers. """

import re
import statistics
import sys

from server import server

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
PAIRS = 5
CALLS = {
    "exact_sum(x)": "sum(x)",
    "exact_sum(f)": "sum(f)",
    "exact_avg(x)": "avg(x)",
    "exact_var_samp(x)": "var_samp(x)",
    "exact_kurtosis(x)": "var_samp(x)",
    "exact_dot(x, y)": "sum(x * y)",
    "exact_corr(y, x)": "corr(y, x)",
    "tree_sum(x)": "sum(x)",
}
PLANS = {
    "no groups": (0, ""),
    "10^5 groups": (0, "GROUP BY k"),
    "no groups, 2 workers": (2, ""),
    "10^5 groups, 2 workers": (2, "GROUP BY k"),
}


def took_ms(server, settings, queries):
    """Runs queries in one session, and returns their times in milliseconds."""
    script = settings + "".join(f"EXPLAIN (ANALYZE, TIMING off, COSTS off) {query};\n" for query in queries)
    return [float(line.split()[2]) for line in server.run(script) if line.startswith("Execution Time")]


def main():
    with server() as running:
        running.rows(
            f"CREATE EXTENSION treefold; SELECT setseed(0.5);"
            f"CREATE UNLOGGED TABLE t AS SELECT (random() * 99999)::int AS k, random() * 2 - 1 AS x, random() AS y, random()::float4 AS f FROM generate_series(1, {ROWS});"
            "VACUUM ANALYZE t"
        )
        print(f"{ROWS} rows; ms, and the median of {PAIRS} ratios")
        for name, (workers, groups) in PLANS.items():
            print(f"\n| {name} | ms | PostgreSQL's | ms | ratio |\n|---|---|---|---|---|")
            settings = f"SET jit = off; SET work_mem = '1GB'; SET max_parallel_workers_per_gather = {workers}; ALTER TABLE t SET (parallel_workers = {workers});"
            for exact, own in CALLS.items():
                if workers and exact.startswith("tree"):
                    continue
                queries = [f"SELECT {call} FROM t {groups}" for call in (own, exact)]
                times = took_ms(running, settings, queries * (PAIRS + 1))[2:]
                base, ours = times[::2], times[1::2]
                ratio = statistics.median(b / a for a, b in zip(base, ours, strict=True))
                print(f"| {exact} | {statistics.median(ours):.0f} | {own} | {statistics.median(base):.0f} | {ratio:.2f} |", flush=True)
        print()
        for call in ["sum(x)", *CALLS]:
            plan = "\n".join(running.run(f"SET work_mem = '1GB'; SET max_parallel_workers_per_gather = 0; EXPLAIN (ANALYZE) SELECT {call} FROM t GROUP BY k"))
            print(f"{call}: 10^5 groups in {re.search(r'Memory Usage: (.*)', plan)[1]}")


main()
