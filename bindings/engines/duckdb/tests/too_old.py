"""Checks that a DuckDB before 2.0 fails to LOAD the extension with an error that names both versions, and that the connection
remains usable. Run it as `python too_old.py FILE`, where FILE is the extension."""

import sys

import duckdb


def main(file):
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    try:
        connection.execute(f"LOAD '{file}'")
    except duckdb.Error as error:
        said = str(error)
    else:
        sys.exit("DuckDB loaded the extension, although this version is too old")
    print(said)
    assert "treefold" in said and "DuckDB 2.0" in said and f"DuckDB v{duckdb.__version__}" in said
    assert connection.execute("SELECT sum(x) FROM range(3) t(x)").fetchall() == [(3,)]


if __name__ == "__main__":
    main(sys.argv[1])
