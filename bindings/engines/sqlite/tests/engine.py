"""Opens connections with the extension loaded, and makes the tables and lists of functions that the tests use."""

import os
import random
import sqlite3

import oracle
from oracle import FUNCTIONS

SEED = int(os.environ.get("TREEFOLD_SEED", "1"))
EXTENSION = os.environ.get("TREEFOLD_SQLITE", "")  # the path without ".so", which run.py sets

# For each aggregate that returns a state: its arguments, and the functions whose results can be read from the state.
MOMENTS = [name for name in FUNCTIONS if name.startswith(("exact_var", "exact_stddev"))] + ["exact_sum", "exact_avg", "exact_mean"]
STATES = {
    "exact_sum_state": ("x", ["exact_sum", "exact_avg", "exact_mean"]),
    "exact_dot_state": ("x, y", ["exact_dot"]),
    "exact_moments_state": ("x", MOMENTS),
    "exact_powers_state": ("x", [*MOMENTS, "exact_skewness", "exact_kurtosis", "exact_kurtosis_pop"]),
    "exact_comoments_state": ("y, x", [name for name, (arguments, _) in FUNCTIONS.items() if arguments == "y, x"]),
}
READERS = [f"{name}_of" for name, (_, statistic) in FUNCTIONS.items() if statistic != "weighted_avg"]
CALLS = [f"{name}({arguments})" for name, (arguments, _) in FUNCTIONS.items()]


def connect(database=":memory:"):
    connection = sqlite3.connect(database, isolation_level=None)
    connection.enable_load_extension(True)
    connection.load_extension(EXTENSION)
    return connection


def one(connection, sql, parameters=()):
    """Returns the only row of a query's result."""
    (row,) = connection.execute(sql, parameters).fetchall()
    return row


def bits(values):
    """Replaces each double by a text that shows all its bits, so that comparisons also see types and the signs of zeros."""
    return [value.hex() if isinstance(value, float) else value for value in values]


def doubles(generator, count, exponents):
    """Returns random numbers with magnitudes from about 10^-exponents to 10^exponents."""
    return [generator.gauss(0, 1) * 10.0 ** generator.randint(-exponents, exponents) for _ in range(count)]


def table(connection, generator, rows, groups, exponents):
    """Creates a table `items` of random keys and pairs, and returns its rows."""
    x, y = doubles(generator, rows, exponents), doubles(generator, rows, exponents)
    items = [(generator.randrange(groups), a, a + b) for a, b in zip(x, y)]
    connection.execute("DROP TABLE IF EXISTS items")
    connection.execute("CREATE TABLE items (k, x, y)")
    connection.executemany("INSERT INTO items VALUES (?, ?, ?)", items)
    return items


def expected(rows):
    """Returns the expected results of CALLS for rows (x, y)."""
    return list(oracle.by_call(rows).values())


def generator():
    return random.Random(SEED)
