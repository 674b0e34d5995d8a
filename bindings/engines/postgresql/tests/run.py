"""Tests the extension in a real server, and prints the random seed, which TREEFOLD_SEED can set.

Run it as root. If libtreefold is not installed in the system, set PKG_CONFIG_PATH and LD_LIBRARY_PATH to its folders. """

import ctypes
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import time
from fractions import Fraction

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))

import oracle
import tree
from server import command, server

SEED = int(os.environ.get("TREEFOLD_SEED", random.SystemRandom().randrange(2**32)))

# For each aggregate that returns a state: the statistics that can be read from the state.
OF_SUM = ["exact_sum(x)", "exact_avg(x)"]
OF_MOMENTS = [f"exact_{name}(x)" for name in ("var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev")]
STATES = {
    "exact_sum_state(x)": OF_SUM,
    "exact_dot_state(x, y)": ["exact_dot(x, y)"],
    "exact_moments_state(x)": OF_SUM + OF_MOMENTS,
    "exact_powers_state(x)": OF_SUM + OF_MOMENTS + ["exact_skewness(x)", "exact_kurtosis(x)", "exact_kurtosis_pop(x)"],
    "exact_comoments_state(y, x)": [f"exact_{name}(y, x)" for name in ("covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept")],
}

# Functions in treefold's list that only other engines have. For example, exact_mean is called exact_avg in PostgreSQL.
OF_OTHER_ENGINES = {"exact_mean", "exact_wavg", "exact_var", "exact_var_population", "exact_var_sample", "exact_covar"}
CALLS = list(oracle.by_call([], OF_OTHER_ENGINES))
PARTIAL = [call for call in CALLS if "weighted" not in call] + ["exact_sum(f)"] + [f"encode({state}, 'hex')" for state in STATES]


def expected_of(rows):
    """Returns the expected results of CALLS for rows."""
    return oracle.by_call(rows, OF_OTHER_ENGINES).values()


def numbers(row):
    return [None if cell is None else float(cell) for cell in row]


def fill(server, table, rows):
    """Creates a table with the columns i, k, x, y and f. Column f is x as float4, or NULL if x is outside the range of float4."""
    lines = ("\t".join("\\N" if cell is None else repr(cell) for cell in row) for row in rows)
    server.rows(
        f"DROP TABLE IF EXISTS {table}; CREATE UNLOGGED TABLE {table} (i int, k int, x float8, y float8, f float4);\n"
        f"COPY {table} (i, k, x, y) FROM STDIN;\n" + "\n".join(lines) + f"\n\\.\n"
        f"UPDATE {table} SET f = x WHERE abs(x) BETWEEN 1e-37 AND 1e30; VACUUM ANALYZE {table};"
    )


def draw(rng, rows, groups, exponents, missing=0.0):
    """Returns rows of numbers with magnitudes from about 10^-exponents to 10^exponents. The fraction `missing` of the numbers is None."""

    def number():
        return None if rng.random() < missing else rng.gauss(0, 1) * 10.0 ** rng.randint(-exponents, exponents)

    return [(i, rng.randrange(groups), number(), number()) for i in range(rows)]


def by_key(rows):
    groups = {}
    for _, k, x, y in rows:
        groups.setdefault(k, []).append((x, y))
    return groups


def compare(found, expected, what):
    for call, left, right in zip(CALLS, found, expected, strict=True):
        assert left == right and (left is None or math.copysign(1, left) == math.copysign(1, right)), (what, call, left, right)


# ---- Tests ---------------------------------------------------------------------------------------------------------------------------


def regression(server):
    """The output of the files in sql/ equals the files in expected/."""
    differences = server.folder / "build/regression.diffs"
    try:
        assert re.search(r"All \d+ tests passed", server.make("installcheck"))
    finally:
        if differences.exists():
            print(differences.read_text())


def names(server):
    """The functions are those of libtreefold's list, and the declarations of all aggregates fit the library."""

    class Function(ctypes.Structure):
        _fields_ = [("name", ctypes.c_char_p), ("statistic", ctypes.c_int32), ("ddof", ctypes.c_double)]
        _fields_ += [(name, ctypes.c_int32) for name in ("columns", "y_first", "returns_state")]

    library = ctypes.CDLL("libtreefold.so")
    library.treefold_sql_functions.restype = ctypes.POINTER(Function)
    count = ctypes.c_size_t()
    functions = library.treefold_sql_functions(ctypes.byref(count))[: count.value]
    listed = {function.name.decode(): function for function in functions}
    arguments = {name: "{y,x}" if function.y_first else "{x,y}" if function.columns == 2 else "{x}" for name, function in listed.items()}
    found = dict(server.rows("SELECT DISTINCT proname, proargnames FROM pg_proc WHERE prokind = 'a' AND proname LIKE 'exact_%' AND proargnames IS NOT NULL"))
    assert found == {name: columns for name, columns in arguments.items() if name not in OF_OTHER_ENGINES} | {"exact_merge": "{state}"}
    assert {call.split("(")[0] for call in [*CALLS, *STATES]} | {"exact_merge"} == set(found)
    assert {state.split("(")[0] for state in STATES} == {name for name, function in listed.items() if function.returns_state}
    readers = {call.replace("(", "_of(").split("(")[0] for call in CALLS if "weighted" not in call}
    assert readers == {name for (name,) in server.rows("SELECT proname FROM pg_proc WHERE proname ~ '^exact.*_of$'")}

    # A group takes a chunk from PostgreSQL's allocator: a 16-byte header, then a power of two of bytes for the state with a 24-byte callback.
    space = {}
    for name, function in listed.items():
        size = ctypes.c_size_t()
        assert library.treefold_aggregate_bytes(function.statistic, ctypes.byref(size)) == 0
        space[name] = str(16 + (1 << (24 + size.value - 1).bit_length()))
    space["exact_avg"] = space["exact_sum"]
    space["exact_merge"] = max(space.values(), key=int)
    spaces = server.rows("SELECT DISTINCT proname, aggtransspace, aggmtransspace FROM pg_aggregate JOIN pg_proc ON aggfnoid = pg_proc.oid WHERE proname LIKE 'exact_%' AND aggtransspace > 0")
    assert {name: found for name, *found in spaces} == {name: [space[name]] * 2 for name in found}, (spaces, space)
    pairs = server.rows("SELECT DISTINCT aggtransfn::text, aggmtransfn::text, aggminvtransfn::text FROM pg_aggregate WHERE aggtransfn::text ~ '^exact.*_add$'")
    assert len(pairs) == 8 and all(add == moving and remove == add.replace("_add", "_remove") for add, moving, remove in pairs)
    modes = "SELECT DISTINCT p.proparallel, a.aggfinalmodify, a.aggmfinalmodify FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid WHERE p.proname ~ "
    assert server.rows(f"{modes} '^exact_'") == [("s", "r", "r")] and server.rows(f"{modes} '^tree_sum'") == [("r", "r", "r"), ("s", "r", "r")]


def against_fractions(server):
    """Tests groups of few and of many rows, hashed and sorted, with numbers of similar and of very different magnitudes."""
    rng = random.Random(SEED)
    for exponents, missing in [(0, 0.0), (3, 0.2), (40, 0.0), (70, 0.1)]:
        rows = draw(rng, 2400, 300, exponents, missing) + draw(rng, 400, 1, exponents)
        fill(server, "t", rows)
        expected = {k: expected_of(pairs) for k, pairs in by_key(rows).items()}
        assert min(map(len, by_key(rows).values())) < 6
        compiled = "; SET ".join(f"jit{what} = 0" for what in ("_above_cost", "_inline_above_cost", "_optimize_above_cost"))
        for plan in ["enable_sort = off", "enable_hashagg = off", f"jit = on; SET {compiled}"]:
            for k, *found in server.rows(f"SET {plan}; SELECT k, {', '.join(CALLS)} FROM t GROUP BY k"):
                compare(numbers(found), expected[int(k)], (plan, exponents, k))
        compare(numbers(server.one(f"SELECT {', '.join(CALLS)} FROM t")), expected_of([row[2:] for row in rows]), exponents)


def singles(server):
    """exact_sum of float4 items is a float4, rounded once. Other functions convert the items to double precision."""
    rng = random.Random(SEED)
    for exponents in [0, 20]:
        items = [tree.single(rng.gauss(0, 1) * 10.0 ** rng.randint(-exponents, exponents)) for _ in range(3000)]
        values = ", ".join(f"({item!r})" for item in items)
        kind, found, *others = server.one(f"SELECT pg_typeof(exact_sum(x)), exact_sum(x)::float8, exact_avg(x), exact_sum_of(exact_sum_state(x)) FROM (SELECT v::float4 AS x FROM (VALUES {values}) t(v)) s")
        total = sum(map(Fraction, items))
        assert kind == "real" and float(found) == tree.single_of(total) and numbers(others) == [float(total / 3000), float(total)]


def not_finite(server):
    """With a NaN, results are NaN. With an infinity, sums are infinite and other statistics NaN. Neither leaves a trace in windows."""
    for item in ["NaN", "Infinity", "-Infinity"]:
        rows = f"(VALUES (1, '{item}'::float8, 2::float8), (2, 3, 6), (3, 5, 5.5), (4, 1, 9), (5, 2, 7), (6, 2.5, 3)) t(i, x, y)"
        found = numbers(server.one(f"SELECT {', '.join(CALLS)} FROM {rows}"))
        for call, number in zip(CALLS, found):
            is_sum = call.startswith(("exact_sum", "exact_avg", "exact_dot", "exact_weighted"))
            assert str(number) == (str(float(item)) if is_sum else "nan"), (item, call, number)
        over = ", ".join(f"{call} OVER w" for call in CALLS)
        last = server.rows(f"SELECT {over} FROM {rows} WINDOW w AS (ORDER BY i ROWS 3 PRECEDING) ORDER BY i")[-1]
        compare(numbers(last), expected_of([(5, 5.5), (1, 9), (2, 7), (2.5, 3)]), item)


def reported_cases(server):
    """Tests cases from issues of other projects: windows with residues of rows that have left, and cancellation."""
    block = [0.01, -0.02, 0.015, 0.005, -0.01, 0.02, 0.01, -0.03, 0.0, 0.01]
    names = ["exact_kurtosis_pop(x)", "exact_kurtosis(x)", "exact_skewness(x)"]
    items = ", ".join(map(repr, [5000.0] + block * 3))
    rows = server.rows(f"SELECT {', '.join(f'{name} OVER w' for name in names)} FROM unnest(ARRAY[{items}]::float8[]) WITH ORDINALITY t(x, i) WINDOW w AS (ORDER BY i ROWS 9 PRECEDING) ORDER BY i")
    assert rows[-1] == ("-0.586894586894587", "-0.07326007326007344", "-0.9451685304033433")
    pairs = zip([1, 2, 1e12, 1e7, 6, 5, 8, 7], [2, 1, 3, -1e12, 4, 7, 6, 9], range(8))
    values = ", ".join(f"({x}::float8, {y}::float8, {i})" for x, y, i in pairs)
    rows = server.rows(f"SELECT exact_covar_samp(y, x) OVER w, exact_corr(y, x) OVER w FROM (VALUES {values}) t(x, y, i) WINDOW w AS (ORDER BY i ROWS 2 PRECEDING) ORDER BY i")
    assert numbers(rows[-1]) == [-1 / 3, -0.14285714285714285]
    rows = server.rows("SELECT exact_stddev_pop(x) OVER w, exact_stddev_samp(x) OVER w FROM unnest('{1e9,1e9,1e9,1e9,1e9,1,0,1,0,1}'::float8[]) WITH ORDINALITY t(x, i) WINDOW w AS (ORDER BY i ROWS 2 PRECEDING) ORDER BY i")
    assert rows[-1] == ("0.4714045207910317", "0.5773502691896257")
    assert server.one("SELECT exact_sum(x), sum(x) FROM unnest('{1e300,0.1,-1e300}'::float8[]) x") == ("0.1", "0")
    assert server.one("SELECT exact_sum(x) FROM unnest('{0.1,0.2,-0.3}'::float8[]) x") == ("2.7755575615628914e-17",)
    assert server.one("SELECT exact_avg(x) FROM unnest('{1.7e308,1.7e308}'::float8[]) x") == ("1.7e+308",)


def parallel_plans(server):
    """The results have the same bits for 0 to 8 workers, and the plans with workers are parallel."""
    rng = random.Random(SEED)
    for exponents in [1, 70]:
        fill(server, "items", draw(rng, 30000, 500, exponents, 0.01))
        for grouping in ["", "GROUP BY k ORDER BY k"]:
            query = f"SELECT {', '.join(PARTIAL)}, exact_weighted_avg(x, y) FROM items {grouping}"
            partial = query.replace(", exact_weighted_avg(x, y)", "")
            first = None
            for workers in range(9):
                settings = f"SET max_parallel_workers_per_gather = {workers}; SET parallel_leader_participation = {'on' if workers % 2 else 'off'};"
                server.rows(f"ALTER TABLE items SET (parallel_workers = {workers})")
                output = server.run(f"{settings} EXPLAIN (ANALYZE, COSTS off, TIMING off) {partial}; SELECT 'rows'; {partial}; {query.replace(', '.join(PARTIAL) + ', ', '')};")
                plan, rows = "\n".join(output[: output.index("rows")]), output[output.index("rows") + 1 :]
                assert ("Partial" in plan) == (workers > 0) and (f"Workers Launched: {workers}" in plan) == (workers > 0), plan
                first = first or rows
                assert rows == first and len(rows) in (2, 1000), (exponents, grouping, workers)
        plan = "\n".join(server.run("SET max_parallel_workers_per_gather = 8; EXPLAIN SELECT tree_sum(x ORDER BY i) FROM items"))
        assert "Partial" not in plan, plan


def orders_of_rows(server):
    """The results have the same bits for any order of the rows."""
    found = set()
    for order in ["i", "i DESC", "x", "md5(i::text)", "abs(y) DESC NULLS FIRST"]:
        server.rows(f"CREATE TABLE ordered AS SELECT * FROM items ORDER BY {order}")
        found.add(tuple(server.rows(f"SET max_parallel_workers_per_gather = 0; SELECT k, {', '.join(PARTIAL + ['exact_weighted_avg(x, y)'])} FROM ordered GROUP BY k ORDER BY k; DROP TABLE ordered")))
    assert len(found) == 1 and len(found.pop()) == 500


def spills(server):
    """With a work_mem of 64 kB, the states of 10^5 groups are written to disk, and the results have the same bits."""
    server.rows("CREATE UNLOGGED TABLE many AS SELECT i % 100000 AS k, hashint8(i) / 7e9::float8 * 10::float8 ^ (i % 90 - 45) AS x, hashint8(-i) / 3e9::float8 AS y FROM generate_series(1, 150000) i; ANALYZE many")
    calls = ["exact_sum(x)", "exact_var_samp(x)", "exact_kurtosis(x)", "exact_corr(y, x)", "exact_weighted_avg(x, y)", "tree_sum(x)"]
    query = f"SELECT k, {', '.join(calls)} FROM many GROUP BY k"
    found = set()
    for memory in ["64kB", "1GB"]:
        settings = f"SET max_parallel_workers_per_gather = 0; SET enable_sort = off; SET hash_mem_multiplier = 1; SET work_mem = '{memory}';"
        plan = "\n".join(server.run(f"{settings} EXPLAIN (ANALYZE, COSTS off, TIMING off) {query}"))
        assert "HashAggregate" in plan and ("Disk Usage" in plan) == (memory == "64kB"), plan
        found.add(server.one(f"{settings} SELECT count(*), md5(string_agg(g::text, ',' ORDER BY k)) FROM ({query}) g"))
    assert len(found) == 1 and found.pop()[0] == "100000"


def states_are_dumped(server):
    """Daily states that are dumped, and restored in another database, merge to the results of the months."""
    states = ", ".join(f"{state} AS s{i}" for i, state in enumerate(STATES))
    server.rows(f"DROP TABLE IF EXISTS daily; CREATE TABLE daily AS SELECT k AS day, {states} FROM items GROUP BY k")
    dump = command(server.programs / "pg_dump", "--table=daily", env=server.environment)
    server.rows("CREATE DATABASE restored")
    other = type(server)(server.folder, server.programs)
    other.environment["PGDATABASE"] = "restored"
    other.rows(f"CREATE EXTENSION treefold;\n{dump}")
    calls, reads = [], []
    for i, (state, names) in enumerate(STATES.items()):
        calls += names + [state]
        reads += [f"{name.split('(')[0]}_of(exact_merge(s{i}))" for name in names] + [f"exact_merge(s{i})"]
    expected = server.rows(f"SELECT k / 30, {', '.join(calls)} FROM items GROUP BY 1 ORDER BY 1")
    assert other.rows(f"SELECT day / 30, {', '.join(reads)} FROM daily GROUP BY 1 ORDER BY 1") == expected and len(expected) == 17
    other.rows("ALTER TABLE daily SET (parallel_workers = 3)")
    query = f"SET parallel_leader_participation = off; SET max_parallel_workers_per_gather = 3; %s SELECT {', '.join(reads)} FROM daily"
    assert "Partial Aggregate" in "\n".join(other.run(query % "EXPLAIN"))
    assert other.rows(query % "") == server.rows(f"SELECT {', '.join(calls)} FROM items")
    server.rows("DROP DATABASE restored")


def windows(server):
    """The results for each frame, of any kind, have the same bits as results that are computed from only its rows."""
    rng = random.Random(SEED)
    for exponents in [1, 60]:
        rows = draw(rng, 120, 2, exponents, 0.3)
        fill(server, "t", rows)
        over = ", ".join(f"{call} OVER w" for call in CALLS)
        by_group = {k: [row for row in rows if row[1] == k] for k in (0, 1)}
        for before, after in [(0, 0), (3, 2), (10, -3), (-2, 7), (200, 0)]:
            start = f"{before} PRECEDING" if before >= 0 else f"{-before} FOLLOWING"
            end = f"{after} FOLLOWING" if after >= 0 else f"{-after} PRECEDING"
            frame = f"PARTITION BY k ORDER BY i ROWS BETWEEN {start} AND {end}"
            for k, place, *found in server.rows(f"SELECT k, row_number() OVER (PARTITION BY k ORDER BY i) - 1, {over} FROM t WINDOW w AS ({frame}) ORDER BY k, i"):
                i = int(place)
                inside = by_group[int(k)][max(i - before, 0) : max(i + after + 1, 0)]
                compare(numbers(found), expected_of([row[2:] for row in inside]), (frame, k, i))
    # Compares ranges of values, frames without the current row, and merged states with groups of the same rows.
    states = ", ".join(f"encode({state} OVER w, 'hex')" for state in STATES)
    for frame, condition in [("RANGE BETWEEN 5 PRECEDING AND 7 FOLLOWING", "b.i BETWEEN a.i - 5 AND a.i + 7"), ("ROWS BETWEEN 5 PRECEDING AND 7 FOLLOWING EXCLUDE CURRENT ROW", "b.i BETWEEN a.i - 5 AND a.i + 7 AND b.i <> a.i")]:
        moving = server.rows(f"SELECT i, {over}, exact_sum(f) OVER w, {states} FROM t WINDOW w AS (ORDER BY i {frame}) ORDER BY i")
        calls = re.sub(r"\b([xyf])\b(?=[,)])", r"b.\1", ", ".join(CALLS + ["exact_sum(f)"] + [f"encode({state}, 'hex')" for state in STATES]))
        assert moving == server.rows(f"SELECT a.i, {calls} FROM t a JOIN t b ON {condition} GROUP BY a.i ORDER BY a.i"), frame
        for state in STATES:
            rows = f"(SELECT i, CASE WHEN i % 7 > 0 THEN {state} END AS s FROM t GROUP BY i)"
            merged = server.rows(f"SELECT i, exact_merge(s) OVER (ORDER BY i {frame}) FROM {rows} t ORDER BY i")
            assert merged == server.rows(f"SELECT a.i, exact_merge(b.s) FROM {rows} a JOIN {rows} b ON {condition} GROUP BY a.i ORDER BY a.i"), (state, frame)


def windows_are_linear(server):
    """Each row takes about as long with frames of 10,000 rows as with 10 rows. Summing each frame anew would take 1,000 times as long."""
    server.rows("CREATE UNLOGGED TABLE long AS SELECT i, hashint8(i) / 7e9::float8 AS x, hashint8(-i) / 7e9::float8 AS y FROM generate_series(1, 60000) i; ANALYZE long")
    for calls in [OF_SUM, OF_MOMENTS[:2], ["exact_kurtosis(x)"], ["exact_corr(y, x)"], ["exact_weighted_avg(x, y)"]]:
        took = {}
        for before in [10, 10000]:
            over = ", ".join(f"{call} OVER w" for call in calls)
            query = f"SET max_parallel_workers_per_gather = 0; SET jit = off; EXPLAIN (ANALYZE, TIMING off, SUMMARY) SELECT {over} FROM long WINDOW w AS (ORDER BY i ROWS {before} PRECEDING)"
            took[before] = float(re.search(r"Execution Time: ([\d.]+)", "\n".join(server.run(query)))[1])
        assert took[10000] < 5 * took[10] + 200, (calls, took)


def tree_order(server):
    """tree_sum adds rows in their order, even if they need more than 1 GB of memory."""
    rng = random.Random(SEED)
    for n in [1, 2, 3, 6, 7, 1000, 4097]:
        items = [tree.single(rng.gauss(0, 1) * 10.0 ** rng.randint(-3, 3)) for _ in range(n)]
        fill(server, "t", [(i, 0, x, 0.0) for i, x in enumerate(items)])
        server.rows("UPDATE t SET f = x")
        found = server.one("SELECT tree_sum(x ORDER BY i), tree_sum(f ORDER BY i)::float8, tree_sum(x ORDER BY i DESC), pg_typeof(tree_sum(f)) FROM t")
        assert numbers(found[:3]) == [tree.tree(items), tree.tree(items, tree.single), tree.tree(items[::-1])], n
        assert found[3] == "real"
    # Every second row is NULL, and the array grows beyond the size that palloc allows.
    assert server.one("SELECT tree_sum(nullif(b.x, 2)) FROM generate_series(1, 8192) a, (SELECT i % 2 + 1.0::float8 AS x FROM generate_series(1, 16500) i) b") == (str(8192 * 8250),)


RESIDENT = "SELECT 'kB', (regexp_match(pg_read_file('/proc/self/status'), 'VmRSS:\\s+(\\d+)'))[1];"


def resident_kb(lines):
    return [int(line.split("|")[1]) for line in lines if line.startswith("kB|")]


def cancelled_statements(server):
    """The memory that libtreefold allocates is freed when statements end early for any reason."""
    server.rows("CREATE UNLOGGED TABLE wide AS SELECT i % 4000 AS k, (ARRAY[1e150, 1e-150, 1, 3]::float8[])[i / 4000 + 1] AS x FROM generate_series(0, 15999) i; ANALYZE wide")
    # Each group takes about 10 kB.
    wide = "exact_kurtosis(x), exact_corr(x, x)"
    groups = f"SELECT %s, {wide} FROM wide GROUP BY k"
    states = "(SELECT k, exact_powers_state(x) AS s FROM wide GROUP BY k OFFSET 0)"
    endings = {
        "timeout after aggregation": (f"SET statement_timeout = '120ms'; {groups % 'pg_sleep(1)'};", "57014"),
        "timeout in aggregation": (f"SET statement_timeout = '12ms'; {groups % 'pg_sleep(1)'};", "57014"),
        "error after aggregation": (f"{groups % '1 / (k - 3999)'};", "22012"),
        "error in aggregation": (f"SELECT exact_kurtosis(x / (k - 3999)), exact_corr(x, x) FROM (SELECT * FROM wide ORDER BY k) t GROUP BY k % 3998;", "22012"),
        "limit": (f"{groups % 'k'} LIMIT 3;", None),
        "sorted groups": (f"SET enable_hashagg = off; {groups % 'k'} LIMIT 3000;", None),
        "windows": (f"SELECT exact_kurtosis(x) OVER w, exact_corr(x, x) OVER w, 1 / (k - 3999) FROM wide WINDOW w AS (PARTITION BY k % 1000 ORDER BY k ROWS 2 PRECEDING);", "22012"),
        "merged states": (f"SELECT 1 / (count(*) - 4000), exact_merge(s) FROM {states} t GROUP BY ();", "22012"),
        "groups of merged states": (f"SELECT 1 / (k - 3999), exact_merge(s) FROM {states} t GROUP BY k;", "22012"),
        "readers": (f"SELECT sum(exact_kurtosis_of(s)) / (max(k) - 3999) FROM {states} t;", "22012"),
        "subtransactions": (f"DO $$ BEGIN FOR n IN 1 .. 3 LOOP BEGIN PERFORM {groups[7:] % '1 / (k - 3999)'}; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$;", None),
    }
    rounds = 12
    for name, (statement, error) in endings.items():
        script = "SET max_parallel_workers_per_gather = 0; SET jit = off; SET work_mem = '1GB';\n\\pset pager off\n"
        lines = server.run(script + f"\\o /dev/null\n{statement} RESET statement_timeout;\n\\o\n{RESIDENT}\n" * rounds)
        found = resident_kb(lines)
        errors = [line for line in lines if line.startswith("ERROR")]
        assert len(found) == rounds and len(errors) == (rounds if error else 0) and all(error in line for line in errors), (name, errors[:3], lines[:3])
        # The first rounds fill caches. A leak would be about 40 MB a round.
        assert found[-1] - found[3] < 60_000, (name, found)
    # Another session cancels each statement as soon as its groups exist.
    session = server.session()
    session.stdin.write("SET max_parallel_workers_per_gather = 0;\n" + f"{groups % 'pg_sleep(100)'};\n{RESIDENT}\n" * 8)
    session.stdin.close()
    while session.poll() is None:
        server.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    lines = session.stdout.read().splitlines()
    found = resident_kb(lines)
    assert len(found) == 8 and sum("57014" in line for line in lines) == 8 and found[-1] - found[2] < 60_000, lines


def statements_in_statements(server):
    """Arguments of aggregates run other statements with aggregates, some of which fail. Waiting rows are neither mixed up nor lost."""
    server.rows(
        """
        CREATE FUNCTION nested(n int, fails bool) RETURNS float8 LANGUAGE plpgsql AS $$
        BEGIN
            RETURN (SELECT exact_sum(i + 1.0::float8 / CASE WHEN fails AND i = n THEN 0 ELSE 1 END) FROM generate_series(1, n) i);
        EXCEPTION WHEN division_by_zero THEN
            RETURN 0;
        END $$
        """
    )
    for modulus in [1, 3, 40]:
        query = f"SELECT i % {modulus}, exact_sum(nested(i, i % 2 = 0)), exact_dot(i::float8, nested(i, i % 3 = 0)) FROM generate_series(1, 200) i GROUP BY 1 ORDER BY 1"
        # The nested sum is the sum of 2 to n + 1.
        nested = {i: i * (i + 3) // 2 for i in range(1, 201)}
        expected = [(k, sum(nested[i] for i in nested if i % modulus == k and i % 2), sum(i * nested[i] for i in nested if i % modulus == k and i % 3)) for k in range(modulus)]
        assert [tuple(map(float, row)) for row in server.rows(query)] == expected
    # A cursor continues after a statement with an aggregate has failed.
    cursor = "SET enable_hashagg = off; BEGIN; DECLARE c CURSOR FOR SELECT i % 3, exact_sum(i::float8) FROM generate_series(1, 300) i GROUP BY 1 ORDER BY 1"
    fails = "SAVEPOINT s; SELECT exact_sum(1.0::float8 / (i - 5)) FROM generate_series(1, 9) i; ROLLBACK TO s"
    lines = server.run(f"{cursor}; FETCH c; {fails}; FETCH c; {fails}; FETCH c; COMMIT")
    assert len([line for line in lines if "division by zero" in line]) == 2, lines
    assert [line for line in lines if "|" in line] == ["0|15150", "1|14950", "2|15050"], lines
    # Two cursors advance alternately.
    fetch = "FETCH a; FETCH b;" * 5
    cursors = "".join(f"DECLARE {name} CURSOR FOR SELECT exact_sum(x + {i}) OVER (ORDER BY x) FROM generate_series(1.0::numeric, 5) n, LATERAL (SELECT n::float8 AS x) l;" for i, name in enumerate("ab"))
    assert server.rows(f"BEGIN; {cursors} {fetch} COMMIT") == [(str(n * (n + 1) // 2 + i * n),) for n in range(1, 6) for i in (0, 1)]


def no_threads(server):
    """A backend has one thread, even after a long tree_sum."""
    lines = server.run("SET max_parallel_workers_per_gather = 0; SELECT tree_sum(x), exact_sum(x), exact_corr(x, y) FROM items, generate_series(1, 20); SELECT 'threads', (regexp_match(pg_read_file('/proc/self/status'), 'Threads:\\s+(\\d+)'))[1]")
    assert lines[-1] == "threads|1", lines


def damaged_states(server):
    """Each of 10^5 states with flipped bits, other bytes or another length is read, or rejected with an error that names the function."""
    samples = ["(1.5::float8, 3.25::float8), (-7, 2)", "(1e150::float8, 1e-150::float8), (3, 4)", "('NaN'::float8, 1::float8), (2, 'Infinity'), (3, 4)"]
    sound = " UNION ALL ".join(f"SELECT {state} AS s FROM (VALUES {rows}) t(x, y)" for state in STATES for rows in samples)
    lines = server.run(
        f"""
        SELECT setseed({SEED % 1000 / 1000});
        DO $$
        DECLARE
            sound bytea[] := (SELECT array_agg(s) FROM ({sound}) t);
            damaged bytea;
            merged bytea;
            place int;
            bit bigint;
            refused int := 0;
            accepted int := 0;
        BEGIN
            FOR n IN 1 .. 100000 LOOP
                damaged := sound[n % array_length(sound, 1) + 1];
                FOR change IN 0 .. (random() * 2)::int LOOP
                    place := floor(random() * length(damaged));
                    bit := 8 * place + floor(random() * 8);
                    damaged := CASE floor(random() * 6)
                        WHEN 0 THEN set_byte(damaged, place, (random() * 255)::int)
                        WHEN 1 THEN set_byte(damaged, place, (ARRAY[0, 1, 127, 128, 255])[1 + floor(random() * 5)])
                        WHEN 2 THEN substr(damaged, 1, place + 1)
                        WHEN 3 THEN damaged || substr(damaged, place)
                        ELSE set_bit(damaged, bit, 1 - get_bit(damaged, bit))
                    END;
                END LOOP;
                BEGIN
                    merged := (SELECT exact_merge(s) FROM (VALUES (damaged), (sound[n % array_length(sound, 1) + 1])) t(s));
                    ASSERT merged IS NOT NULL;
                    PERFORM exact_merge(s) FROM (VALUES (merged)) t(s);
                    accepted := accepted + 1;
                EXCEPTION WHEN invalid_parameter_value THEN
                    ASSERT SQLERRM LIKE 'exact_merge: %', SQLERRM;
                    refused := refused + 1;
                END;
                BEGIN
                    PERFORM exact_sum_of(damaged);
                EXCEPTION WHEN invalid_parameter_value THEN
                    ASSERT SQLERRM LIKE 'exact_sum_of: %', SQLERRM;
                END;
                BEGIN
                    PERFORM exact_corr_of(damaged);
                EXCEPTION WHEN invalid_parameter_value THEN
                    ASSERT SQLERRM LIKE 'exact_corr_of: %', SQLERRM;
                END;
            END LOOP;
            RAISE NOTICE 'damaged % %', refused, accepted;
        END $$;
        {RESIDENT}
        """
    )
    said = re.search(r"damaged (\d+) (\d+)", "\n".join(lines))
    assert said, lines
    refused, accepted = map(int, said.groups())
    assert refused + accepted == 100000 and refused > 30000 and accepted > 1000, (refused, accepted)
    assert resident_kb(lines)[0] < 200_000, lines


def moves_and_versions(server):
    """The owner of a database can move the extension to another schema, drop it and create it."""
    server.rows("CREATE SCHEMA other; ALTER EXTENSION treefold SET SCHEMA other")
    assert server.one("SELECT other.exact_sum(x) FROM unnest('{1,2.5}'::float8[]) x") == ("3.5",)
    server.rows("ALTER EXTENSION treefold SET SCHEMA public; CREATE ROLE owner LOGIN; CREATE DATABASE owned OWNER owner")
    owned = type(server)(server.folder, server.programs)
    owned.environment.update(PGUSER="owner", PGDATABASE="owned")
    assert owned.one("CREATE EXTENSION treefold; SELECT exact_sum(x) FROM unnest('{1,2.5}'::float8[]) x; DROP EXTENSION treefold") == ("3.5",)
    server.rows("DROP DATABASE owned; DROP ROLE owner")


TESTS = [
    regression,
    names,
    against_fractions,
    singles,
    not_finite,
    reported_cases,
    parallel_plans,
    orders_of_rows,
    states_are_dumped,
    spills,
    windows,
    windows_are_linear,
    tree_order,
    statements_in_statements,
    no_threads,
    damaged_states,
    cancelled_statements,
    moves_and_versions,
]


def main():
    chosen = sys.argv[1:]
    print(f"TREEFOLD_SEED={SEED}", flush=True)
    with server() as running:
        running.rows("CREATE EXTENSION treefold; CREATE TABLE t (i int, k int, x float8, y float8, f float4)")
        for test in TESTS:
            if not chosen or test.__name__ in chosen:
                start = time.monotonic()
                test(running)
                print(f"{test.__name__}: {time.monotonic() - start:.1f} s", flush=True)


main()
