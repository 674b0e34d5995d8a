"""Tests the bytes of states: merges states of several tables and files, compares states with those that C writes, and damages states."""

import ctypes
import json
import os
import pathlib
import random
import sqlite3
import struct
import tempfile
import unittest

import engine
import run
from engine import FUNCTIONS, READERS, SEED, STATES, bits, connect, one

GOLDEN = pathlib.Path(__file__).resolve().parents[4] / "golden"
# For each kind of golden case: the aggregate, the number of sums with counts in its bytes, and the number of sums without counts.
KINDS = {
    "sum": ("exact_sum_state(x)", 1, 0),
    "dot": ("exact_dot_state(x, y)", 1, 0),
    "moments": ("exact_moments_state(x)", 2, 0),
    "co-moments": ("exact_comoments_state(y, x)", 2, 3),
    "powers": ("exact_powers_state(x)", 1, 3),
}


def without_negative_zeros(state, with_counts):
    """Returns the bytes that a database writes for this state. They differ in that databases do not count negative zeros."""
    state, at = bytearray(state), 8
    for _ in range(with_counts):
        state[at + 8 : at + 16] = bytes(8)
        (length,) = struct.unpack_from("<I", state, at + 44)
        at += 48 + length
    return bytes(state)


def golden():
    for file in ["bytes.jsonl", "powers.jsonl"]:
        yield from map(json.loads, (GOLDEN / file).read_text().splitlines())


def numbers(words):
    return [struct.unpack("<d", struct.pack("<Q", int(word, 16)))[0] for word in words]


class Library:
    """Calls the accumulators of libtreefold, which programs in C use."""

    TYPE, SUM, VARIANCE, DOT = 2, 1, 3, 8

    def __init__(self):
        self.library = ctypes.CDLL(os.path.join(run.path_of("libdir"), "libtreefold.so"))
        self.library.treefold_last_error.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        status = getattr(self.library, f"treefold_accumulator_{name}")(*arguments)
        assert status == 0, self.library.treefold_last_error()

    def state(self, statistic, *columns, bytes_to_read=None):
        """Returns the bytes of the state of the rows in `columns`, or of the state that is read from `bytes_to_read`."""
        accumulator, needed = ctypes.c_void_p(), ctypes.c_size_t()
        self.call("create", self.TYPE, statistic, ctypes.byref(accumulator))
        arrays = [(ctypes.c_double * len(column))(*column) for column in columns]
        sized = [argument for array in arrays for argument in (array, ctypes.c_size_t(len(array)))]
        if bytes_to_read is not None:
            self.call("of_bytes", accumulator, bytes_to_read, ctypes.c_size_t(len(bytes_to_read)))
        else:
            self.call("add_pairs" if len(columns) == 2 else "add", accumulator, *sized)
        self.call("to_bytes", accumulator, None, ctypes.c_size_t(0), ctypes.byref(needed))
        written = ctypes.create_string_buffer(needed.value)
        self.call("to_bytes", accumulator, written, needed, ctypes.byref(needed))
        self.call("destroy", ctypes.byref(accumulator))
        return written.raw


class States(unittest.TestCase):
    def setUp(self):
        self.connection = connect()
        self.addCleanup(self.connection.close)

    def test_days_that_are_merged_are_the_month(self):
        """Daily states in two tables, one of them in another file, are merged by month. The bits of the statistics, and the bytes of the
        states, equal those computed from the base table."""
        generator = engine.generator()
        for exponents in [1, 90]:
            engine.table(self.connection, generator, 3000, 60, exponents)
            with tempfile.TemporaryDirectory() as folder:
                self.connection.execute("ATTACH ? AS archive", (os.path.join(folder, "archive.db"),))
                for name, (arguments, readers) in STATES.items():
                    for table, parity in [("archive.daily", 0), ("main.daily", 1)]:
                        select = f"SELECT k, {name}({arguments}) AS s FROM items WHERE rowid & 1 = {parity} GROUP BY k"
                        self.connection.execute(f"DROP TABLE IF EXISTS {table}")
                        self.connection.execute(f"CREATE TABLE {table} AS {select}")
                    daily = "(SELECT * FROM (SELECT * FROM archive.daily UNION ALL SELECT * FROM main.daily) ORDER BY k * 37 % 61)"
                    of_states = ", ".join(f"{reader}_of(exact_merge(s))" for reader in readers)
                    of_rows = ", ".join(f"{reader}({FUNCTIONS[reader][0]})" for reader in readers)
                    by_month = "GROUP BY 1 ORDER BY 1"
                    merged = f"SELECT k / 20, {of_states}, exact_merge(s) FROM {daily} {by_month}"
                    whole = f"SELECT k / 20, {of_rows}, {name}({arguments}) FROM items {by_month}"
                    merged, whole = (self.connection.execute(sql).fetchall() for sql in (merged, whole))
                    self.assertEqual(len(whole), 3)
                    self.assertEqual([*map(bits, merged)], [*map(bits, whole)], SEED)
                self.connection.execute("DETACH archive")

    def test_golden_bytes(self):
        seen = {kind: 0 for kind in KINDS}
        self.connection.execute("CREATE TABLE t (x, y)")
        for case in golden():
            state, is_known = bytes.fromhex(case["bytes"]), case["type"] == "f64" and case["kind"] in KINDS
            if not is_known:
                with self.assertRaisesRegex(sqlite3.OperationalError, "^exact_merge: ", msg=case["name"]):
                    one(self.connection, "SELECT exact_merge(?)", (state,))
                continue
            call, with_counts, _ = KINDS[case["kind"]]
            expected = without_negative_zeros(state, with_counts)
            x, y = numbers(case["items"]), numbers(case.get("other") or case["items"])
            self.assertEqual(one(self.connection, "SELECT exact_merge(?)", (state,)), (expected if x else None,), case["name"])
            if any(item != item for item in x + y):
                continue  # SQLite has no NaN
            self.connection.execute("DELETE FROM t")
            self.connection.executemany("INSERT INTO t VALUES (?, ?)", zip(x, y))
            self.assertEqual(one(self.connection, f"SELECT {call} FROM t"), (expected if x else None,), case["name"])
            seen[case["kind"]] += 1
        self.assertGreater(min(seen.values()), 8, seen)

    def test_accumulators_of_c(self):
        """SQLite and accumulators in C write the same bytes, and each reads the other's bytes."""
        library, generator = Library(), engine.generator()
        for exponents in [0, 30, 90]:
            items = engine.table(self.connection, generator, 300, 1, exponents)
            x, y = [x for _, x, _ in items], [y for _, _, y in items]
            for call, statistic, columns in [
                ("exact_sum_state(x)", library.SUM, [x]),
                ("exact_moments_state(x)", library.VARIANCE, [x]),
                ("exact_dot_state(x, y)", library.DOT, [x, y]),
            ]:
                (state,) = one(self.connection, f"SELECT {call} FROM items")
                written = library.state(statistic, *columns)
                self.assertEqual(state, written, (SEED, call))
                self.assertEqual(library.state(statistic, bytes_to_read=state), state)
                halves = [library.state(statistic, *(column[half::2] for column in columns)) for half in range(2)]
                merged = one(self.connection, "SELECT exact_merge(column1) FROM (VALUES (?), (NULL), (?))", halves)
                self.assertEqual(merged, (written,), (SEED, call))

    def test_nothing_and_missing_states(self):
        calls = ", ".join(f"{name}({arguments})" for name, (arguments, _) in STATES.items())
        nothing = one(self.connection, f"SELECT {calls}, exact_merge(x) FROM (SELECT NULL AS x, 1 AS y UNION ALL SELECT NULL, NULL)")
        self.assertEqual(nothing, (None,) * (len(STATES) + 1))
        found = one(self.connection, "SELECT " + ", ".join(f"{reader}(NULL)" for reader in READERS))
        self.assertEqual(found, (None,) * len(READERS))
        # A program may write a state that has no rows. Its statistics are NULL, and merging only such states gives NULL.
        empty, whole = Library().state(Library.SUM, []), Library().state(Library.SUM, [0.1])
        self.assertEqual(one(self.connection, "SELECT exact_sum_of(?1), exact_avg_of(?1), exact_merge(?1)", (empty,)), (None, None, None))
        frames = "SELECT exact_merge(column1) OVER (ROWS 1 PRECEDING) FROM (VALUES (?1), (?1), (?2), (?1), (?1))"
        merged = [state for state, in self.connection.execute(frames, (empty, whole))]
        self.assertEqual(merged, [None, None, whole, whole, None])

    def test_readers_return_reals(self):
        """States do not record that their rows were integers, and sums read from states do not overflow."""
        rows = "(VALUES (9223372036854775807), (9223372036854775807))"
        query = f"SELECT exact_sum_of(s), typeof(exact_sum_of(s)), exact_avg_of(s) FROM (SELECT exact_sum_state(column1) AS s FROM {rows})"
        self.assertEqual(one(self.connection, query), (2.0**64, "real", 2.0**63))

    def test_every_reader_of_every_state(self):
        """Each reader returns its statistic of a state, or fails with an error that names the reader."""
        items = "(SELECT column1 AS x, column2 AS y FROM (VALUES (0.5, 2.0), (1.5, 7.5), (-3.25, 1e10), (0.1, 5.0)))"
        for name, (arguments, readers) in STATES.items():
            (state,) = one(self.connection, f"SELECT {name}({arguments}) FROM {items}")
            for reader in READERS:
                function = reader[: -len("_of")]
                if function in readers:
                    found = one(self.connection, f"SELECT {reader}(?)", (state,))
                    of_rows = one(self.connection, f"SELECT {function}({FUNCTIONS[function][0]}) FROM {items}")
                    self.assertEqual(found, of_rows, (name, reader))
                else:
                    with self.assertRaisesRegex(sqlite3.OperationalError, f"^{reader}: the state is .*, which has no ", msg=name):
                        one(self.connection, f"SELECT {reader}(?)", (state,))


def mutated(generator, states):
    """Returns a state with some bytes changed, removed or added, or a state made of pieces of two states."""
    state = bytearray(generator.choice(states))
    for _ in range(generator.choice([1, 1, 1, 2, 5])):
        at = generator.randrange(len(state) + 1)
        way = generator.randrange(7)
        if way == 0:
            del state[at:]
        elif way == 1:
            del state[at : at + generator.choice([1, 4, 8])]
        elif way == 2:
            state[at:at] = generator.randbytes(generator.choice([1, 4, 8]))
        elif way == 3:
            state[at:] = generator.choice(states)[at:]
        elif way == 4:
            state[at : at + 8] = generator.choice([0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]).to_bytes(8, "little")
        elif at < len(state):
            state[at] = generator.randrange(256) if way == 5 else state[at] ^ 1 << generator.randrange(8)
    return bytes(state)


def whole_states():
    """Returns valid states of all kinds: the golden states, states of items of similar magnitudes, and of very different magnitudes."""
    with_all = connect()
    found = [bytes.fromhex(case["bytes"]) for case in golden() if case["type"] == "f64" and case["kind"] in KINDS]
    for exponents in [0, 90]:
        engine.table(with_all, random.Random(SEED), 50, 1, exponents)
        found += one(with_all, f"SELECT {', '.join(f'{name}({arguments})' for name, (arguments, _) in STATES.items())} FROM items")
    with_all.close()
    return found


class Damaged(unittest.TestCase):
    def test_damaged_states(self):
        """Each of 10^5 damaged states is rejected with an error that names the function, or can be read and written again."""
        connection, generator, states = connect(), engine.generator(), whole_states()
        refused = read = 0
        for _ in range(100_000):
            state, reader = mutated(generator, states), generator.choice(READERS)
            try:
                (merged,) = one(connection, "SELECT exact_merge(?)", (state,))
                self.assertEqual(one(connection, "SELECT exact_merge(?)", (merged,)), (merged,))
                read += 1
            except sqlite3.OperationalError as error:
                self.assertRegex(str(error), "^exact_merge: .", (SEED, state.hex()))
                refused += 1
            try:
                (value,) = one(connection, f"SELECT {reader}(?)", (state,))
                self.assertIsInstance(value, (float, type(None)))
            except sqlite3.OperationalError as error:
                self.assertRegex(str(error), f"^{reader}: .", (SEED, state.hex()))
        connection.close()
        print(f"{refused} refused, {read} read", end=" ")
        self.assertGreater(refused, 50_000)
        self.assertGreater(read, 1000)

    def test_damaged_states_among_others(self):
        """In a window, a state that is rejected ends the statement, which frees the states that were merged before."""
        connection, generator, states = connect(), engine.generator(), whole_states()[-10:]
        connection.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, s)")
        refused = 0
        for _ in range(2000):
            like = generator.choice(states)
            connection.execute("DELETE FROM t")
            connection.executemany("INSERT INTO t (s) VALUES (?)", [(like,), (like,), (mutated(generator, [like]),), (like,)])
            try:
                connection.execute("SELECT exact_merge(s) OVER (ORDER BY i ROWS 1 PRECEDING) FROM t").fetchall()
            except sqlite3.OperationalError as error:
                self.assertRegex(str(error), "^exact_merge: .")
                refused += 1
        connection.close()
        self.assertTrue(0 < refused < 2000, refused)


if __name__ == "__main__":
    unittest.main()
