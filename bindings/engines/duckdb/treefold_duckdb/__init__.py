"""Contains the extension file that `treefold.duckdb` loads into DuckDB."""

import pathlib

FILE = pathlib.Path(__file__).with_name("treefold.duckdb_extension")
