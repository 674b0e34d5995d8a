"""`python too_old.py FILE` in an environment with DuckDB before 2.0: it names both versions, and goes on."""

import sys

import duckdb

connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
try:
    connection.execute(f"LOAD '{sys.argv[1]}'")
except duckdb.Error as error:
    said = str(error)
else:
    sys.exit("it was loaded")
print(said)
assert "treefold" in said and "2.0" in said and duckdb.__version__ in said
assert connection.execute("SELECT sum(x) FROM range(3) t(x)").fetchall() == [(3,)]
