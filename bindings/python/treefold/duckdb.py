"""Loads exact aggregates into DuckDB 2.0 or later.

The functions are `exact_sum`, `exact_avg`, `exact_dot`, `exact_var_samp`,
`exact_stddev_samp`, `exact_skewness`, `exact_kurtosis`, `exact_covar_samp`,
`exact_corr`, `exact_regr_slope`, `exact_weighted_avg` and others, named as in
SQL; functions of columns of mergeable states, such as `exact_moments_state`,
`exact_merge` and `exact_var_samp_of`; and `tree_sum` of lists.

>>> import treefold.duckdb
>>> connection = treefold.duckdb.connect()
>>> items = "(VALUES (1e300), (0.1), (-1e300)) t(x)"
>>> connection.sql(f"SELECT sum(x), exact_sum(x) FROM {items}").fetchall()
[(0.0, 0.1)]
"""

import pathlib

try:
    import duckdb
    import treefold_duckdb
except ImportError as error:
    _LINE = 'pip install ./bindings/python ./bindings/engines/duckdb "duckdb>=2"'
    raise ImportError(f"treefold.duckdb needs DuckDB and treefold's extension for it. In a clone of treefold, run {_LINE}") from error

# The setting that makes DuckDB load extensions without DuckDB's signature.
_SETTING = "allow_unsigned_extensions"


def connect(
    database: "str | pathlib.Path" = ":memory:",
    read_only: bool = False,
    config: "dict[str, str | bool | int | float | list[str]] | None" = None,
) -> "duckdb.DuckDBPyConnection":
    """Opens a database and loads treefold's functions into it.

    The connection allows extensions that DuckDB has not signed.

    Parameters
    ----------
    database : path, optional
        A file, or `:memory:`.
    read_only : bool, optional
        Whether the database is opened read-only.
    config : dict, optional
        DuckDB's settings, such as `{"threads": 4}`.

    Returns
    -------
    duckdb.DuckDBPyConnection
    """
    connection = duckdb.connect(database, read_only, {**(config or {}), _SETTING: "true"})
    try:
        load(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def load(connection: "duckdb.DuckDBPyConnection") -> None:
    """Loads treefold's functions into the database of an open connection.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        A connection opened with "allow_unsigned_extensions": "true".

    Raises
    ------
    RuntimeError
        The connection does not allow unsigned extensions.
    """
    row = connection.execute(f"SELECT current_setting('{_SETTING}')").fetchone()
    if row is None or not row[0]:
        raise RuntimeError(
            f"treefold's extension is not signed by DuckDB, and this connection does not allow unsigned extensions: open the connection "
            f'with treefold.duckdb.connect(...), or with duckdb.connect(..., config={{"{_SETTING}": "true"}})'
        )
    file = str(treefold_duckdb.FILE).replace("'", "''")
    connection.execute(f"LOAD '{file}'")
