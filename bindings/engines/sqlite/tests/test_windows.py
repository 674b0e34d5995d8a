"""Tests window functions, which subtract the rows that leave a frame exactly."""

import itertools
import math
import unittest

import engine
from engine import CALLS, FUNCTIONS, SEED, STATES, bits, connect, expected, one

BOUNDS = ["UNBOUNDED PRECEDING", "3 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "4 FOLLOWING", "UNBOUNDED FOLLOWING"]
FRAMES = [
    f"{unit} BETWEEN {first} AND {last}"
    for unit in ["ROWS", "RANGE", "GROUPS"]
    for first, last in itertools.combinations_with_replacement(BOUNDS, 2)
    if first != "UNBOUNDED FOLLOWING" and last != "UNBOUNDED PRECEDING"
]
EXCLUDES = ["NO OTHERS", "CURRENT ROW", "GROUP", "TIES"]


class Windows(unittest.TestCase):
    def setUp(self):
        self.connection = connect()
        self.addCleanup(self.connection.close)
        self.connection.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, k, at, x, y)")

    def fill(self, rows):
        self.connection.execute("DELETE FROM t")
        self.connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)

    def test_all_frames_against_fractions(self):
        """SQLite's group_concat lists the rows of each frame. The results must equal those that the oracle computes for these rows."""
        generator = engine.generator()
        choices = [None, 7, -(2**60), 1.5, 1e300, -1e300, *engine.doubles(generator, 18, 20)]
        columns = [(generator.choice(choices), generator.choice(choices)) for _ in range(44)]
        self.fill([(i, i % 2, i // 3 + (i % 7 == 0), *columns[i]) for i in range(44)])
        calls = ", ".join(f"{call} OVER w" for call in CALLS)
        oracle, frames = {}, 0
        for frame, exclude in itertools.product(FRAMES, EXCLUDES):
            query = f"SELECT group_concat(i) OVER w, {calls} FROM t WINDOW w AS (PARTITION BY k ORDER BY at {frame} EXCLUDE {exclude})"
            for listed, *found in self.connection.execute(query):
                rows = frozenset(map(int, listed.split(","))) if listed else frozenset()
                if rows not in oracle:
                    items = [columns[i] for i in rows]
                    reals = [isinstance(x, float) for x, _ in items if x is not None]
                    oracle[rows] = expected(items)
                    if reals and not any(reals):
                        oracle[rows][0] = sum(x for x, _ in items if x is not None)
                self.assertEqual(bits(found), bits(oracle[rows]), (SEED, frame, exclude, sorted(rows)))
                frames += 1
        self.assertEqual(frames, len(FRAMES) * len(EXCLUDES) * 44)
        self.assertGreater(len(oracle), 200)

    def test_states_of_frames(self):
        """The state of a frame has the same bytes as the state of a table of only its rows. Without rows, it is NULL."""
        generator = engine.generator()
        x, y = engine.doubles(generator, 60, 30), engine.doubles(generator, 60, 300)
        self.fill([(i, 0, i, *pair) for i, pair in enumerate(zip(x, y))])
        for name, (arguments, _) in STATES.items():
            for first, last in [(-4, 2), (3, 4)]:
                frame = f"RANGE BETWEEN {abs(first)} {'PRECEDING' if first < 0 else 'FOLLOWING'} AND {last} FOLLOWING"
                query = f"SELECT i, {name}({arguments}) OVER (ORDER BY i {frame}) FROM t ORDER BY i"
                found = self.connection.execute(query).fetchall()
                for i, state in found:
                    alone = one(self.connection, f"SELECT {name}({arguments}) FROM t WHERE i BETWEEN ? AND ?", (i + first, i + last))
                    self.assertEqual((state,), alone, (SEED, name, i))
            self.assertIsNone(found[-1][1])

    def test_windows_of_states(self):
        """A column may contain states of two kinds, but a frame that contains both kinds is an error."""
        parts = [(i, 0, i, 0.1 * i + 1e17 * (i % 3 == 0), None) for i in range(8)]
        self.fill(parts)
        for name in ["exact_sum_state", "exact_moments_state"]:
            made = f"SELECT i, CASE WHEN i < 4 THEN exact_sum_state(x) WHEN i > 4 THEN {name}(x) END AS s FROM t GROUP BY i"
            query = f"SELECT exact_avg_of(exact_merge(s) OVER (ORDER BY i ROWS %s PRECEDING)) FROM ({made}) ORDER BY i"
            found = [value for value, in self.connection.execute(query % "1")]
            of_items = "SELECT exact_avg(CASE WHEN i <> 4 THEN x END) OVER (ORDER BY i ROWS 1 PRECEDING) FROM t ORDER BY i"
            self.assertEqual(bits(found), bits(value for value, in self.connection.execute(of_items)))
        with self.assertRaisesRegex(Exception, "^exact_merge: "):
            self.connection.execute(query % "2").fetchall()

    def test_integers_when_reals_have_left(self):
        """A sum is an INTEGER again when all REALs have left the frame. A sum beyond 64 bits is an error only in its own frame."""
        most = 2**63 - 1
        self.fill([(i, 0, i, x, 1) for i, x in enumerate([1, 0.5, "2", most, -1, 3, "abc", b"2", most, -most])])
        frames = "exact_sum(x) OVER (ORDER BY i ROWS 1 PRECEDING)"
        found = [value for value, in self.connection.execute(f"SELECT {frames} FROM t WHERE i <> 3 ORDER BY i")]
        self.assertEqual(bits(found), bits([1, 1.5, 2.5, 1, 2, 3.0, 2.0, 9223372036854775809.0, 0]))
        with self.assertRaisesRegex(Exception, "^exact_sum: integer overflow$"):
            self.connection.execute(f"SELECT {frames} FROM t ORDER BY i").fetchall()
        of_odd = "exact_sum(x) FILTER (WHERE i % 2) OVER (ORDER BY i ROWS 2 PRECEDING)"
        found = [value for value, in self.connection.execute(f"SELECT {of_odd} FROM t WHERE i < 5 ORDER BY i")]
        self.assertEqual(bits(found), bits([None, 0.5, 0.5, float(most), most]))

    def test_infinities_leave_no_trace(self):
        x = [0.25, math.inf, 0.5, -math.inf, math.inf, 0.75, 0.5, 1e308, 1e308, 0.1]
        self.fill([(i, 0, i, item, 1) for i, item in enumerate(x)])
        query = "SELECT exact_sum(x) OVER w, exact_var_pop(x) OVER w FROM t WINDOW w AS (ORDER BY i ROWS 1 PRECEDING) ORDER BY i"
        inf = math.inf
        sums = [0.25, inf, inf, -inf, None, inf, 1.25, 1e308, inf, 1e308]
        self.assertEqual([row[0] for row in self.connection.execute(query)], sums)
        variances = [row[1] for row in self.connection.execute(query)]
        self.assertEqual(variances[:7], [0.0, None, None, None, None, None, 0.015625])
        self.assertEqual(variances[8:], [0.0, inf])

    def last(self, calls, columns, preceding):
        self.fill([(i, 0, i, *(column[i] for column in columns), *[None] * (2 - len(columns))) for i in range(len(columns[0]))])
        over = f"OVER (ORDER BY i ROWS {preceding} PRECEDING)"
        return self.connection.execute(f"SELECT {', '.join(f'{call} {over}' for call in calls)} FROM t ORDER BY i").fetchall()[-1]

    def test_reports(self):
        """Tests windows from bug reports about other software, in which values that had left a window still changed the result."""
        block = [0.01, -0.02, 0.015, 0.005, -0.01, 0.02, 0.01, -0.03, 0.0, 0.01]
        found = self.last(["exact_kurtosis_pop(x)", "exact_kurtosis(x)", "exact_skewness(x)"], [[5000.0] + block * 3], 9)
        self.assertEqual(found, (-0.586894586894587, -0.07326007326007344, -0.9451685304033433))
        pairs = [[1.0, 2.0, 1e12, 1e7, 6.0, 5.0, 8.0, 7.0], [2.0, 1.0, 3.0, -1e12, 4.0, 7.0, 6.0, 9.0]]
        self.assertEqual(self.last(["exact_covar_samp(y, x)", "exact_corr(y, x)"], pairs, 2), (-1 / 3, -0.14285714285714285))
        found = self.last(["exact_stddev_pop(x)", "exact_stddev_samp(x)"], [[1e9] * 5 + [1.0, 0.0, 1.0, 0.0, 1.0]], 2)
        self.assertEqual(found, (0.4714045207910317, 0.5773502691896257))
        self.assertEqual(self.last(["exact_avg(x)"], [[2.0**54, 1.0, 1.0]], 1), (1.0,))

    def test_long_frames_are_linear(self):
        """Tests 20,000 frames of 10,000 rows, which would take minutes if each frame were summed anew."""
        self.fill([(i, 0, i, i / 7, 1) for i in range(20_000)])
        calls = 0

        def count():
            nonlocal calls
            calls += 1

        self.connection.set_progress_handler(count, 1000)
        for name, (arguments, _) in FUNCTIONS.items():
            calls = 0
            query = f"SELECT count(v) FROM (SELECT {name}({arguments}) OVER (ORDER BY i ROWS 9999 PRECEDING) AS v FROM t)"
            self.connection.execute(query).fetchall()
            self.assertLess(calls, 5000, name)


if __name__ == "__main__":
    unittest.main()
