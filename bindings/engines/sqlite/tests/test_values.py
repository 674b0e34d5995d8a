"""Compares all aggregates of rows with results in fractions and with SQLite's sum, and tests bug reports about other software."""

import math
import unittest
from fractions import Fraction

import engine
from engine import CALLS, FUNCTIONS, READERS, SEED, STATES, bits, connect, expected, one

INFINITY = math.inf


class Values(unittest.TestCase):
    def setUp(self):
        self.connection = connect()
        self.addCleanup(self.connection.close)

    def test_every_function_is_there(self):
        found = self.connection.execute("SELECT name, narg, type, flags & 0x200800 FROM pragma_function_list WHERE name LIKE 'exact%'")
        # Only functions with the flags deterministic and innocuous may be used in indexes and in views of untrusted schemas.
        windows = {**FUNCTIONS, **STATES, "exact_merge": ("state", [])}
        names = [(name, arguments.count(",") + 1, "w", 0x200800) for name, (arguments, _) in windows.items()]
        names += [(name, 1, "s", 0x200800) for name in READERS]
        self.assertEqual(sorted(found), sorted(names))

    def test_against_fractions(self):
        generator = engine.generator()
        for exponents in [0, 3, 40]:
            items = engine.table(self.connection, generator, 2000, 250, exponents)
            by_key = {}
            for k, x, y in items:
                by_key.setdefault(k, []).append((x, y))
            self.assertLess(min(map(len, by_key.values())), 4)
            calls = ", ".join(CALLS)
            orders = ["rowid", "x", "-rowid", "x * 1e9 % 7, y"]
            sources = ["items", *(f"(SELECT * FROM items ORDER BY {order} LIMIT -1)" for order in orders), "items INDEXED BY by_key"]
            self.connection.execute("CREATE INDEX by_key ON items (k, y)")
            for source in sources:
                query = f"SELECT k, {calls} FROM {source} GROUP BY k"
                for k, *found in self.connection.execute(query):
                    self.assertEqual(bits(found), bits(expected(by_key[k])), (SEED, k, by_key[k]))

    def test_order_of_rows(self):
        """Without groups, the results of all functions have the same bits for any order of the rows."""
        generator = engine.generator()
        items = engine.table(self.connection, generator, 3000, 1, 90)
        calls = ", ".join(CALLS)
        whole = bits(expected([(x, y) for _, x, y in items]))
        for _ in range(5):
            generator.shuffle(items)
            self.connection.execute("DELETE FROM items")
            self.connection.executemany("INSERT INTO items VALUES (?, ?, ?)", items)
            self.assertEqual(bits(one(self.connection, f"SELECT {calls} FROM items")), whole, SEED)

    def test_filter_and_distinct(self):
        rows = [(x, y) for x in [0.1, 0.2, -0.3, None, 2.5] for y in [1e17, 0.3, -1e17, None]] * 2
        self.connection.execute("CREATE TABLE t (x, y)")
        self.connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        calls = ", ".join(f"{call} FILTER (WHERE x > 0.15)" for call in CALLS)
        found = one(self.connection, f"SELECT {calls} FROM t")
        self.assertEqual(bits(found), bits(expected([row for row in rows if row[0] is not None and row[0] > 0.15])))
        names = [name for name, (arguments, _) in FUNCTIONS.items() if arguments == "x"]
        found = one(self.connection, "SELECT " + ", ".join(f"{name}(DISTINCT x)" for name in names) + " FROM t")
        of_distinct = dict(zip(FUNCTIONS, expected([(x, None) for x in {row[0] for row in rows}])))
        self.assertEqual(bits(found), bits(of_distinct[name] for name in names))

    def test_nothing_missing_and_few(self):
        """Tests no rows, only NULLs, a NULL in one column, few rows, constant columns, and weights that add up to 0."""
        self.connection.execute("CREATE TABLE t (x, y)")
        columns = [[], [(None, None)], [(None, 1.5), (2.5, None)], [(1.5, 2.5)], [(1.5, 2.5)] * 5, [(1.0, 2.0), (3.0, 2.0)]]
        columns += [[(2.0, 1.0), (2.0, 3.5)], [(1.0, 2.0), (3.0, -2.0), (3.5, 1.0)], [(7.0, 0.0)]]
        columns += [[(1.0, 2.0), (None, 5.0), (3.0, -2.0), (4.0, None)]]
        for rows in columns:
            for rows in [rows, [*rows, (None, None)]]:
                self.connection.execute("DELETE FROM t")
                self.connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
                found = one(self.connection, f"SELECT {', '.join(CALLS)} FROM t")
                self.assertEqual(bits(found)[1:], bits(expected(rows))[1:], rows)
                self.assertEqual(found[0], expected(rows)[0])
        nothing = one(self.connection, "SELECT exact_sum(x), typeof(exact_sum(x)), exact_avg(NULL) FROM t WHERE 0")
        self.assertEqual(nothing, (None, "null", None))

    def test_zero_is_positive(self):
        rows = "(SELECT -0.0 AS x, -0.0 AS y UNION ALL SELECT -0.0, -0.0)"
        names = ["exact_sum(x)", "exact_avg(x)", "exact_dot(x, -y)", "exact_var_samp(x)", "exact_covar_pop(y, x)"]
        self.assertEqual(bits(one(self.connection, f"SELECT {', '.join(names)} FROM {rows}")), bits([0.0] * 5))

    def test_infinities(self):
        """SQLite has no NaN. Where a result is NaN, exact functions return NULL, as SQLite's own functions do."""
        calls = "sum(x), exact_sum(x), exact_avg(x), exact_var_pop(x), exact_dot(x, 2.0)"
        for items, found in [
            ([INFINITY, 1.0], (INFINITY, INFINITY, INFINITY, None, INFINITY)),
            ([-INFINITY, 1.0], (-INFINITY, -INFINITY, -INFINITY, None, -INFINITY)),
            ([INFINITY, -INFINITY], (None, None, None, None, None)),
            ([math.nan, 1.0], (1.0, 1.0, 1.0, 0.0, 2.0)),  # a NaN that is stored is a NULL
        ]:
            self.connection.execute("DROP TABLE IF EXISTS t")
            self.connection.execute("CREATE TABLE t (x)")
            self.connection.executemany("INSERT INTO t VALUES (?)", [(item,) for item in items])
            self.assertEqual(one(self.connection, f"SELECT {calls} FROM t"), found)
            if math.inf in items or -math.inf in items:
                names = ("exact_var", "exact_std", "exact_skew", "exact_kurt", "exact_co", "exact_regr")
                others = [call for call in CALLS if call.startswith(names)]
                found = one(self.connection, f"SELECT {', '.join(others)} FROM (SELECT x, 2.5 AS y FROM t)")
                self.assertEqual(found, (None,) * len(others))
        found = one(self.connection, "SELECT exact_sum(column1), exact_avg(column1) FROM (VALUES (1.7e308), (1.7e308))")
        self.assertEqual(found, (INFINITY, 1.7e308))

    def test_reports(self):
        def of(call, items):
            rows = ", ".join(f"({item!r})" for item in items)
            return one(self.connection, f"SELECT {call} FROM (SELECT column1 AS x FROM (VALUES {rows}))")[0]

        self.assertEqual(of("exact_sum(x)", [1e300, 0.1, -1e300]), 0.1)
        # apache/datafusion#11264: the average of numbers whose intermediate sums overflow.
        items = [1.5753477614031765e308, 1.0520311921422949e308, -1.3151865100063228e308, -1.2830593404326414e308]
        for turn in range(4):
            self.assertEqual(of("exact_avg(x)", items[turn:] + items[:turn]), 7.283275776626794e305)
        parts = [n * (1 / 4024) for n in (390, 1006, 2628)]
        for items in [parts, parts[::-1], parts[1:] + parts[:1]]:
            self.assertEqual(of("exact_sum(x)", items), 0.9999999999999999)
        self.assertEqual(of("exact_sum(x)", [0.1, 0.2, -0.3]), 2.0**-55)


class Types(unittest.TestCase):
    """As in SQLite's own sum, results are INTEGERs or REALs, and texts are read as numbers."""

    def setUp(self):
        self.connection = connect()
        self.addCleanup(self.connection.close)
        self.connection.execute("CREATE TABLE t (x)")

    def of(self, items, calls="exact_sum(x), typeof(exact_sum(x))"):
        self.connection.execute("DELETE FROM t")
        self.connection.executemany("INSERT INTO t VALUES (?)", [(item,) for item in items])
        return one(self.connection, f"SELECT {calls} FROM t")

    def test_integers(self):
        most, least = 2**63 - 1, -(2**63)
        self.assertEqual(self.of([2**53 + 1, 2, None]), (2**53 + 3, "integer"))
        self.assertEqual(self.of([most, most, least, least, 7]), (5, "integer"))  # partial sums exceed 64 bits
        self.assertEqual(self.of([most]), (most, "integer"))
        self.assertEqual(self.of([least, most, -most]), (least, "integer"))
        for items in [[most, 1], [least, -1], [most] * 3]:
            for call in ["exact_sum(x)", "sum(x)"]:
                with self.assertRaisesRegex(Exception, "^(exact_sum: )?integer overflow$"):
                    self.of(items, call)
        self.assertEqual(self.of([most, most, 0.5]), (2.0**64, "real"))
        self.assertEqual(self.of([3, 0.0]), (3.0, "real"))
        # Other statistics than sums are REALs, computed from all bits of the integers.
        calls = "exact_avg(x), exact_dot(x, x), exact_var_samp(x), exact_weighted_avg(x, x), exact_corr(x, x)"
        big = 2**62 + 1
        squares = big**2 + (big + 2) ** 2
        found = self.of([big, big + 2], calls)
        self.assertEqual(found, (float(big + 1), float(squares), 2.0, float(Fraction(squares, 2 * big + 2)), 1.0))
        self.assertTrue(all(isinstance(value, float) for value in found))
        self.assertEqual(self.of([2**53 + 1, -float(2**53)]), (1.0, "real"))

    def test_random_integers_against_fractions(self):
        generator = engine.generator()
        for _ in range(300):
            bits_of_one = generator.choice([8, 40, 63])
            items = [generator.randrange(-(2**bits_of_one), 2**bits_of_one) for _ in range(generator.randrange(1, 9))]
            found = self.of(items, ", ".join(call.replace("y", "x") for call in CALLS[1:]))
            self.assertEqual(bits(found), bits(expected([(item, item) for item in items])[1:]), (SEED, items))
            if -(2**63) <= sum(items) < 2**63:
                self.assertEqual(self.of(items), (sum(items), "integer"), SEED)

    def test_text_and_blobs(self):
        items = ["12", " 12 ", "12abc", "1e3", "0x10", "9223372036854775807", "9223372036854775808", "-9223372036854775809"]
        items += ["", " ", "-", "+5", "5e", ".5", "1_000", "inf", "nan", "1e999", "-1e999"]
        items += ["\u0661", "1\x002", b"", b"12", b"1.5x", b"\x00", b"abc", 3, 3.5]
        generator = engine.generator()
        for kind in [str, str.encode] * 2000:
            text = "".join(generator.choice("0123456789..ee+- x") for _ in range(generator.randrange(1, 8)))
            items.append(kind(text))
        seen = set()
        for item in items:
            plain = self.of([item], "sum(x), typeof(sum(x))")
            seen.add(plain[1])
            self.assertEqual(self.of([item]), plain, (SEED, item))
            self.assertEqual(self.of([item], "exact_avg(x)"), self.of([item], "avg(x)"), (SEED, item))
        self.assertEqual(seen, {"integer", "real"})
        self.assertEqual(self.of(["2", 3, b"4"]), (9.0, "real"))
        self.assertEqual(self.of(["2", 3]), (5, "integer"))

    def test_two_columns_of_two_types(self):
        values = "(9007199254740993, '0.5'), ('2', 3), (NULL, 7), (4, NULL), (1.5, 9007199254740993)"
        rows = f"(SELECT column1 AS x, column2 AS y FROM (VALUES {values}))"
        pairs = [(9007199254740993, 0.5), (2, 3), (1.5, 9007199254740993)]
        calls = [call for call in CALLS if "y" in call]
        of_pairs = [value for call, value in zip(CALLS, expected(pairs)) if "y" in call]
        self.assertEqual(bits(one(self.connection, f"SELECT {', '.join(calls)} FROM {rows}")), bits(of_pairs))


if __name__ == "__main__":
    unittest.main()
