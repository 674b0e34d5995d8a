"""Times exact functions and SQLite's own functions on a table in memory, and prints medians over pairs of runs. Run it as
cost.py [ROWS [GROUPS [PAIRS]]]"""

import os
import random
import resource
import statistics
import sys
import tempfile
import time

import run


def seconds(connection, sql):
    """Returns the processor time of a statement, which SQLite runs in one thread."""
    start = time.process_time()
    connection.execute(sql).fetchall()
    return time.process_time() - start


def main():
    rows, groups, pairs = [*map(int, sys.argv[1:]), *(5_000_000, 100_000, 7)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TREEFOLD_SQLITE"] = run.build(folder, "-O2")
        import engine

        connection, generator = engine.connect(), random.Random(1)
        connection.execute("CREATE TABLE t (k INTEGER, x REAL, n INTEGER)")
        items = ((generator.randrange(groups), generator.gauss(0, 1), generator.randrange(-(10**9), 10**9)) for _ in range(rows))
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", items)
        print(f"SQLite {engine.sqlite3.sqlite_version}, {rows} rows, {groups} groups, medians of {pairs} pairs")
        print(f"{'processor time a row':26} {'plain':>6}ns {'exact':>6}ns  ratio")
        window = "SELECT max(s) FROM (SELECT {}(x) OVER (ORDER BY rowid ROWS 99 PRECEDING) AS s FROM t)"
        queries = {
            "REAL": ("SELECT {}(x) FROM t", "sum", "exact_sum"),
            "INTEGER": ("SELECT {}(n) FROM t", "sum", "exact_sum"),
            "REAL by key": ("SELECT max(s) FROM (SELECT {}(x) AS s FROM t GROUP BY k)", "sum", "exact_sum"),
            "REAL, windows of 100 rows": (window, "sum", "exact_sum"),
            "REAL, mean": ("SELECT {}(x) FROM t", "avg", "exact_avg"),
            "REAL, variance over sum": ("SELECT {}(x) FROM t", "sum", "exact_var_samp"),
            "REAL, correlation over sum": ("SELECT {0}", "sum(x) FROM t", "exact_corr(x, n) FROM t"),
        }
        for name, (sql, plain, exact) in queries.items():
            both = [(seconds(connection, sql.format(plain)), seconds(connection, sql.format(exact))) for _ in range(pairs)]
            of_plain, of_exact = (statistics.median(times) / rows * 1e9 for times in zip(*both))
            ratio = statistics.median(exact / plain for plain, exact in both)
            print(f"{name:26} {of_plain:8.1f} {of_exact:8.1f} {ratio:6.2f}", flush=True)
        print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


if __name__ == "__main__":
    main()
