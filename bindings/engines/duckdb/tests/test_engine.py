"""Tests the extension in DuckDB: settings, files and arguments that are rejected, interrupted queries, and the memory that
queries leak."""

import ctypes
import threading
import time

import duckdb
import pytest
import treefold.duckdb
import treefold_duckdb

# Bytes that a group leaks if its items do not fit into its state, as `docs/databases.md` says.
SPILLED_SUM, SPILLED_MOMENTS = 640, 1900

GROUPS = 20_000


def unsigned(**config):
    return duckdb.connect(config={"allow_unsigned_extensions": "true", **config})


def test_a_connection_that_takes_signed_extensions_alone():
    with duckdb.connect() as connection, pytest.raises(RuntimeError, match="allow_unsigned_extensions") as caught:
        treefold.duckdb.load(connection)
    assert "treefold.duckdb.connect" in str(caught.value)


def test_load_twice_and_a_second_connection(tmp_path):
    with treefold.duckdb.connect(tmp_path / "file.duckdb", config={"threads": 1}) as connection:
        treefold.duckdb.load(connection)
        connection.execute("CREATE TABLE kept AS SELECT 0.5 AS x")
        assert connection.cursor().execute("SELECT exact_sum(x) FROM kept").fetchall() == [(0.5,)]
    with treefold.duckdb.connect(str(tmp_path / "file.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT exact_sum(x) FROM kept").fetchall() == [(0.5,)]


def test_a_wrong_platform_and_a_damaged_file(tmp_path):
    content = treefold_duckdb.FILE.read_bytes()
    own = content[-512 + 6 * 32 : -512 + 7 * 32].rstrip(b"\0").decode()
    other = "linux_arm64" if own == "linux_amd64" else "linux_amd64"
    file = tmp_path / "treefold.duckdb_extension"
    file.write_bytes(content[: -512 + 6 * 32] + other.encode().ljust(32, b"\0") + content[-512 + 7 * 32 :])
    with unsigned() as connection:
        with pytest.raises(duckdb.Error) as caught:
            connection.execute(f"LOAD '{file}'")
        assert own in str(caught.value) and other in str(caught.value)
        file.write_bytes(content[:5000])
        with pytest.raises(duckdb.Error):
            connection.execute(f"LOAD '{file}'")
        treefold.duckdb.load(connection)
        assert connection.execute("SELECT exact_sum(0.5)").fetchall() == [(0.5,)]


@pytest.mark.parametrize("call", ["exact_sum('a')", "exact_avg(DATE '2020-01-01')", "exact_dot(1)", "exact_var_pop([1.0])", "exact_sum(true)",
                                  "exact_dot(1, 'a'::VARCHAR)", "tree_sum(1)", "tree_sum(['a'])"])
def test_wrong_arguments(call):
    with treefold.duckdb.connect() as connection:
        with pytest.raises(duckdb.Error, match=call.split("(")[0]):
            connection.execute(f"SELECT {call}").fetchall()
        assert connection.execute("SELECT exact_sum(0.5)").fetchall() == [(0.5,)]


def test_a_sum_beyond_hugeint():
    with treefold.duckdb.connect() as connection:
        with pytest.raises(duckdb.Error, match="exact_sum: the sum is outside the range of HUGEINT"):
            connection.execute(f"SELECT exact_sum({2**127 - 1}::HUGEINT) FROM range(2)").fetchall()
        assert connection.execute("SELECT exact_sum(x) FROM range(3) t(x)").fetchall() == [(3,)]


@pytest.mark.parametrize("threads", [1, 4])
def test_interrupted(threads):
    with treefold.duckdb.connect(config={"threads": threads}) as connection:
        query = "SELECT max(s) FROM (SELECT i % 1000 AS k, exact_sum(i * 10.0::DOUBLE ** (i % 60)) AS s FROM range(100000000000) t(i) GROUP BY k)"
        timer = threading.Timer(0.3, connection.interrupt)
        timer.start()
        begin = time.monotonic()
        with pytest.raises(duckdb.InterruptException):
            connection.execute(query).fetchall()
        timer.join()
        assert time.monotonic() - begin < 60
        few = query.replace("100000000000", "3000").replace("max(s)", "count(s)")
        assert connection.execute(few).fetchall() == [(1000,)]


def heap_bytes():
    """Returns the number of bytes that malloc has allocated. They include treefold's memory, but not DuckDB's."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("the test needs glibc's mallinfo2")

    class Information(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

    libc.mallinfo2.restype = Information
    information = libc.mallinfo2()
    return information.uordblks + information.hblkhd


def growth(connection, query, times):
    """Returns the number of bytes that each run of a query leaks."""
    for _ in range(3):
        connection.execute(query).fetchall()
    before = heap_bytes()
    for _ in range(times):
        connection.execute(query).fetchall()
    return (heap_bytes() - before) / times


@pytest.mark.parametrize("function, spilled_bytes", [("exact_sum", SPILLED_SUM), ("exact_stddev_samp", SPILLED_MOMENTS)])
def test_what_is_lost_after_a_limit(function, spilled_bytes):
    """DuckDB drops the states of groups that LIMIT cuts off, without calling their destructor."""
    # Other threads and Python allocate fewer bytes than this.
    noise = 30 * GROUPS
    with treefold.duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(f"CREATE TABLE narrow AS SELECT i % {GROUPS} AS k, i * 0.1::DOUBLE AS x FROM range({3 * GROUPS}) t(i)")
        connection.execute("CREATE TABLE wide AS SELECT k, x FROM narrow UNION ALL SELECT k, x * 1e-100::DOUBLE FROM narrow")
        for table, cut, bound in [("narrow", "", 0), ("narrow", "LIMIT 1", 0), ("wide", "", 0), ("wide", "LIMIT 1", spilled_bytes * GROUPS)]:
            left = growth(connection, f"SELECT k, {function}(x) FROM {table} GROUP BY k {cut}", 10)
            print(f"{function}, {table}, {cut or 'all'}: {left:.0f} bytes a query")
            assert left < bound + noise
