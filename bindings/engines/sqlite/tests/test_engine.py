"""Tests errors, statements that end early, threads, and SQLite's shell (with and without valgrind)."""

import contextlib
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest

import engine
import run
import test_states
from engine import CALLS, EXTENSION, FUNCTIONS, READERS, STATES, connect, one

SQLITE3 = shutil.which("sqlite3")
VALGRIND = shutil.which("valgrind")


class Errors(unittest.TestCase):
    def setUp(self):
        self.connection = connect()
        self.addCleanup(self.connection.close)

    def refused(self, sql, error):
        with self.assertRaisesRegex(sqlite3.OperationalError, error, msg=sql):
            self.connection.execute(sql).fetchall()

    def test_numbers_of_arguments(self):
        columns = {name: arguments.count(",") + 1 for name, (arguments, _) in {**FUNCTIONS, **STATES}.items()}
        columns.update({"exact_merge": 1}, **{reader: 1 for reader in READERS})
        for name, count in columns.items():
            for wrong in {0, 1, 2, 3} - {count}:
                arguments = ", ".join(["1.5"] * wrong)
                self.refused(f"SELECT {name}({arguments})", rf"^wrong number of arguments to function {name}\(\)$")

    def test_no_tree_sum_and_no_weighted_readers(self):
        for name in ["tree_sum", "exact_wavg_of", "exact_weighted_avg_of"]:
            self.refused(f"SELECT {name}(x'00')", f"^no such function: {name}$")

    def test_wrong_states(self):
        two_kinds = "SELECT exact_sum_state(1) AS s UNION ALL SELECT exact_dot_state(1, 2)"
        for call, error in [
            ("exact_merge('tfx')", "exact_merge: the argument is not a state, because it is not a BLOB"),
            ("exact_sum_of(1.5)", "exact_sum_of: the argument is not a state, because it is not a BLOB"),
            ("exact_merge(x'')", "exact_merge: the bytes .*"),
            ("exact_merge(x'746678')", "exact_merge: the bytes .*"),
            ("exact_avg_of(x'0102030405060708090a0b')", "exact_avg_of: the bytes .*"),
            ("exact_corr_of(exact_sum_state(1.5))", "exact_corr_of: the state is a sum, which has no corr"),
            (f"exact_merge(s) FROM ({two_kinds})", "exact_merge: the state is a sum( of products, not a sum|, not a sum of products)"),
        ]:
            self.refused(f"SELECT {call}", f"^{error}$")
            self.assertNotIn("treefold_", error)
        self.refused("SELECT exact_sum(column1) FROM (VALUES (9223372036854775807), (1))", "^exact_sum: integer overflow$")

    def test_where_functions_may_stand(self):
        """The functions may be used in views of an untrusted schema and in indexes, since they are innocuous and deterministic."""
        self.connection.execute("PRAGMA trusted_schema = 0")
        self.connection.execute("CREATE TABLE t (s)")
        self.connection.execute("CREATE INDEX i ON t (exact_sum_of(s))")
        self.connection.execute("INSERT INTO t SELECT exact_sum_state(0.5)")
        self.connection.execute("CREATE VIEW v AS SELECT exact_sum_of(exact_merge(s)) AS total FROM t")
        self.assertEqual(one(self.connection, "SELECT total FROM v"), (0.5,))
        with self.assertRaisesRegex(sqlite3.OperationalError, "^exact_sum_of: "):
            self.connection.execute("INSERT INTO t VALUES ('no state')")

    def test_a_library_of_another_version(self):
        """The extension refuses a library whose version differs from the one it was compiled for."""
        headers = pathlib.Path(run.path_of("includedir"))
        with tempfile.TemporaryDirectory() as folder:
            for name in ["treefold.h", "treefold_aggregates.h"]:
                changed = re.sub(r"#define TREEFOLD_VERSION \d+", "#define TREEFOLD_VERSION 70300", (headers / name).read_text())
                (pathlib.Path(folder) / name).write_text(changed)
            other = run.build(folder, f"-I{folder}")
            connection = sqlite3.connect(":memory:")
            connection.enable_load_extension(True)
            error = r"treefold: the extension was compiled for libtreefold 7\.3, but it loaded \d"
            with self.assertRaisesRegex(sqlite3.OperationalError, error):
                connection.load_extension(other)
            connection.close()


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class EndedEarly(unittest.TestCase):
    """Tests that statements that end before their last row free their states. A leaked state would lose at least 600 bytes."""

    TIMES, MOST_GROWTH_BYTES = 5000, 1 << 20

    def setUp(self):
        self.connection = connect()
        self.addCleanup(self.connection.close)
        # The magnitudes of the items differ enough for a state to allocate memory.
        self.connection.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, k, x, y, s)")
        rows = [(i, i % 3, 1e300 if i % 2 else 1e-300, -1e300 if i % 3 else 1e-290) for i in range(12)]
        self.connection.executemany("INSERT INTO t (i, k, x, y) VALUES (?, ?, ?, ?)", rows)
        self.connection.execute("UPDATE t SET s = (SELECT exact_powers_state(x) FROM t AS u WHERE u.i <= t.i)")
        self.connection.create_function("fail_at", 2, self.fail_at)
        self.connection.create_function("interrupt_at", 2, self.interrupt_at)

    def fail_at(self, i, item):
        return item if i < 9 else 1 / 0

    def interrupt_at(self, i, item):
        if i == 9:
            self.connection.interrupt()
        return item

    def check(self, sql, run=None):
        """Runs a statement many times, and checks that the memory of the process does not grow."""

        def once():
            cursor = self.connection.execute(sql)
            if run is None:
                cursor.fetchall()
            else:
                run(cursor)

        def repeated(times):
            for _ in range(times):
                with contextlib.suppress(sqlite3.OperationalError):
                    once()

        repeated(300)
        before = resident_bytes()
        repeated(self.TIMES)
        growth = resident_bytes() - before
        self.assertLess(growth, self.MOST_GROWTH_BYTES, sql)

    def is_ended(self, sql, error):
        with self.assertRaisesRegex(sqlite3.OperationalError, error):
            self.connection.execute(sql).fetchall()

    STATEMENTS = [
        "SELECT exact_powers_state({x}) FROM t",
        "SELECT exact_corr(y, {x}) FROM t GROUP BY k % 2 > 5",
        "SELECT exact_sum({x}) OVER (ORDER BY i ROWS 4 PRECEDING), exact_merge(s) OVER (ORDER BY i ROWS 3 PRECEDING) FROM t",
        "SELECT exact_merge(CASE WHEN {x} THEN s END) FROM t",
    ]

    def test_errors_of_others(self):
        for sql in self.STATEMENTS:
            self.is_ended(sql.format(x="fail_at(i, x)"), "user-defined function raised exception")
            self.check(sql.format(x="fail_at(i, x)"))

    def test_errors_of_ours(self):
        for sql in [
            "SELECT exact_powers_state(x), exact_merge(CASE WHEN i < 9 THEN s ELSE 'no state' END) FROM t",
            "SELECT exact_merge(CASE WHEN i < 9 THEN s ELSE substr(s, 1, 80) END) OVER (ORDER BY i ROWS 4 PRECEDING) FROM t",
            "SELECT exact_corr_of(s) FROM t",
        ]:
            self.is_ended(sql, "^exact_")
            self.check(sql)

    def test_interrupts(self):
        for sql in self.STATEMENTS:
            self.is_ended(sql.format(x="interrupt_at(i, x)"), "interrupted")
            self.check(sql.format(x="interrupt_at(i, x)"))

    def test_progress_handlers(self):
        """A statement is interrupted after a random number of instructions."""
        generator, left = random.Random(engine.SEED), 0

        def is_over():
            nonlocal left
            left -= 1
            return left < 0

        for sql in self.STATEMENTS:

            def run(cursor):
                nonlocal left
                left = generator.randrange(40)
                cursor.execute(sql.format(x="x")).fetchall()

            left = 1 << 60
            self.connection.set_progress_handler(is_over, 1)
            with self.assertRaisesRegex(sqlite3.OperationalError, "interrupted"):
                left = 5
                self.connection.execute(sql.format(x="x")).fetchall()
            left = 1 << 60
            self.check("SELECT 1", run)
        self.connection.set_progress_handler(None, 0)

    def test_cursors_that_are_closed(self):
        def run(cursor):
            cursor.fetchone()
            cursor.close()

        for sql in [self.STATEMENTS[2].format(x="x"), "SELECT exact_powers_state(x) FROM t GROUP BY k", "SELECT exact_sum_of(s) FROM t"]:
            self.check(sql, run)
            self.check(f"{sql} LIMIT 2")

    def test_whole_statements(self):
        """Tests statements that run to their end: some have large states, and some have windows that all rows leave."""
        calls = ", ".join([*CALLS, *(f"{name}({arguments})" for name, (arguments, _) in STATES.items()), "exact_merge(s)"])
        self.check(f"SELECT {calls} FROM t GROUP BY k".replace("SELECT", "SELECT k,"))
        self.check("SELECT exact_merge(s) OVER (ORDER BY i ROWS BETWEEN 3 FOLLOWING AND 4 FOLLOWING) FROM t")

    def test_connections(self):
        """Opens connections that load the extension, and closes each after the first row of a statement."""

        def once():
            connection = connect()
            cursor = connection.execute("SELECT exact_sum(column1) OVER (ORDER BY column1) FROM (VALUES (1e300), (1e-300), (2))")
            cursor.fetchone()
            cursor.close()
            connection.close()

        for _ in range(50):
            once()
        before = resident_bytes()
        for _ in range(1000):
            once()
        self.assertLess(resident_bytes() - before, self.MOST_GROWTH_BYTES)

    def test_threads(self):
        """Several threads load the extension at the same time, each in its own connection, and compute statistics."""
        found = []

        def work(seed):
            for _ in range(20):
                connection = connect()
                engine.table(connection, random.Random(seed), 200, 1, 40)
                found.append((seed, *one(connection, f"SELECT {', '.join(CALLS)} FROM items")))
                connection.close()

        threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(found), len(set(found))), (160, 2))


SCRIPT = """
.load {extension}
CREATE TABLE t (i INTEGER PRIMARY KEY, x, y);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 60)
INSERT INTO t SELECT i, CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN '1e200' ELSE 0.1 * i END,
CASE i % 5 WHEN 0 THEN 1e-300 ELSE 1e300 END FROM c;
SELECT 'first ' || exact_sum(column1) FROM (VALUES (1e300), (0.1), (-1e300));
CREATE TABLE states AS SELECT i % 4 AS k, {states} FROM t GROUP BY 1;
SELECT {calls} FROM t GROUP BY i % 3;
SELECT {windows} FROM t WINDOW w AS (ORDER BY i ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING);
SELECT {merges} FROM states;
SELECT exact_merge(s0) OVER (ORDER BY k ROWS 1 PRECEDING) FROM states;
SELECT exact_corr_of(s0) FROM states;
SELECT exact_merge(CASE k WHEN 3 THEN s1 ELSE s0 END) FROM states;
SELECT exact_merge(CASE k WHEN 3 THEN 'no state' ELSE s0 END) FROM states;
SELECT exact_sum(9223372036854775807) + exact_sum(x) FROM t, states;
SELECT exact_sum(9223372036854775807) FROM t;
.progress 200 --limit 3
SELECT exact_powers_state(y), exact_merge(s4) FROM t, states;
SELECT exact_corr(y, x) OVER (ORDER BY i ROWS 5 PRECEDING) FROM t;
.progress 0
{damaged}
SELECT 'last ' || exact_avg_of(exact_merge(s0)) FROM states WHERE k < 0 OR k = 3;
"""


def script(damaged):
    """Returns statements for the shell, which test values, windows, states, errors, interrupts, and damaged states."""
    generator, states = engine.generator(), test_states.whole_states()
    of_states = [f"{name}({arguments}) AS s{i}" for i, (name, (arguments, _)) in enumerate(STATES.items())]
    changed = [test_states.mutated(generator, states) for _ in range(damaged)]
    return SCRIPT.format(
        extension=EXTENSION,
        states=", ".join(of_states),
        calls=", ".join(CALLS),
        windows=", ".join(f"{call} OVER w" for call in CALLS),
        merges=", ".join(f"exact_merge(s{i})" for i in range(len(STATES))),
        damaged="\n".join(f"SELECT {name}(x'{state.hex()}');" for state in changed for name in ("exact_merge", generator.choice(READERS))),
    )


@unittest.skipUnless(SQLITE3, "there is no sqlite3")
class Shell(unittest.TestCase):
    def run_script(self, command, damaged):
        result = subprocess.run([*command, SQLITE3, ":memory:"], input=script(damaged), capture_output=True, text=True)
        lines = result.stdout.splitlines()
        self.assertIn("first 0.1", lines, result.stderr)
        self.assertRegex(lines[-1], "^last ")
        for error in [
            "exact_corr_of: ",
            "exact_merge: the argument is not a state",
            "exact_sum: integer overflow",
            "interrupted",
        ]:
            self.assertIn(error, result.stderr)
        return result

    def test_shell(self):
        self.assertEqual(self.run_script([], 500).returncode, 1)  # since some statements fail

    def test_readme(self):
        """The query of the README has the result that the README shows."""
        query, found = re.search("```sql\n(.*)  -- (.*)\n```", (run.TESTS.parent / "README.md").read_text()).groups()
        command = [SQLITE3, ":memory:", "-cmd", f".load {EXTENSION}", query]
        self.assertEqual(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), found)

    @unittest.skipUnless(VALGRIND, "there is no valgrind")
    def test_valgrind(self):
        leaks = ["--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]
        command = [VALGRIND, "--quiet", "--error-exitcode=99", *leaks]
        result = self.run_script(command, 300)
        self.assertEqual(result.returncode, 1, result.stderr[-3000:])

    def test_install(self):
        """`make` finds libtreefold in PREFIX, and so does the installed extension."""
        prefix = run.path_of("prefix")
        environment = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH")}
        with tempfile.TemporaryDirectory() as folder:
            variables = [f"BUILD={folder}", f"PREFIX={prefix}", f"DESTDIR={folder}/root"]
            subprocess.run(["make", "-s", "-C", str(run.TESTS.parent), "install", *variables], check=True, env=environment)
            installed = f"{folder}/root{prefix}/lib/treefold"
            command = [SQLITE3, ":memory:", "-cmd", f'.load "{installed}"', "SELECT exact_sum(0.5)"]
            self.assertEqual(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout, "0.5\n")


if __name__ == "__main__":
    sys.exit(unittest.main())
