"""The file that DuckDB loads: `treefold.duckdb` does it."""

import pathlib

FILE = pathlib.Path(__file__).with_name("treefold.duckdb_extension")
