"""Starts a PostgreSQL server for tests: builds the extension in a temporary folder, installs it, and starts a new server on a socket."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager

SOURCES = pathlib.Path(__file__).resolve().parent.parent
USER = "postgres"
SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",
    "shared_buffers": "512MB",
    "max_wal_size": "2GB",
    "max_worker_processes": "16",
    "max_parallel_workers": "16",
    "min_parallel_table_scan_size": "0",
    "parallel_setup_cost": "0",
    "parallel_tuple_cost": "0",
    "log_min_messages": "panic",
}


def command(*words, **options):
    """Runs a program, and returns its output. If the program fails, ends the tests."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}")
    return done.stdout


class Server:
    """A running server; `folder` holds its socket, its data and the built extension."""

    def __init__(self, folder, programs):
        self.folder, self.programs = folder, programs
        self.environment = {**os.environ, "PGHOST": str(folder), "PGUSER": USER, "PGDATABASE": USER, "PGOPTIONS": "", "PGTZ": "UTC"}

    def session(self, **options):
        """Starts a psql that reads statements and prints rows without decoration. It continues after an error."""
        words = [self.programs / "psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=VERBOSITY=verbose"]
        return subprocess.Popen(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.environment, **options)

    def run(self, statements):
        """Returns the lines of the output of statements, including their errors."""
        return self.session().communicate(statements)[0].splitlines()

    def rows(self, statements):
        """Returns the rows of statements, each as a tuple of texts, with None for NULL. An error ends the test."""
        lines = self.run(f"\\set ON_ERROR_STOP on\n\\pset null NULL\n{statements}")
        for line in lines:
            assert not line.startswith("ERROR") and "server closed" not in line, f"{statements}\n{line}"
        return [tuple(None if cell == "NULL" else cell for cell in line.split("|")) for line in lines]

    def one(self, statements):
        """Returns the only row of statements."""
        (row,) = self.rows(statements)
        return row

    def make(self, *words):
        return command("make", *words, cwd=self.folder / "build", env=self.environment)


@contextmanager
def server():
    """Builds and installs the extension, and starts a server without CREATE EXTENSION. Removes both afterwards. Must run as root."""
    # SIGTERM raises an exception, so that the server is stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    programs = pathlib.Path(command(os.environ.get("PG_CONFIG", "pg_config"), "--bindir").strip())
    with tempfile.TemporaryDirectory(prefix="treefold-postgresql-") as name:
        folder = pathlib.Path(name)
        shutil.chown(folder, USER)
        folder.chmod(0o755)
        shutil.copytree(SOURCES, folder / "build", ignore=shutil.ignore_patterns("*.o", "*.so", "*.bc", "treefold--*.sql"))
        own = Server(folder, programs)
        built = own.make()
        assert "warning" not in built, built
        own.make("install")
        as_user = {"user": USER, "group": USER, "extra_groups": [], "cwd": folder}
        data = folder / "data"
        command(programs / "initdb", "--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale", f"--pgdata={data}", **as_user)
        with open(data / "postgresql.conf", "a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in {**SETTINGS, "unix_socket_directories": f"'{folder}'"}.items())
        pg_ctl = [programs / "pg_ctl", f"--pgdata={data}", "--wait", "--silent"]
        try:
            # With a log file, the server does not keep the pipe of command() open.
            command(*pg_ctl, f"--log={folder}/log", "start", **as_user)
            yield own
        finally:
            command(*pg_ctl, "--mode=immediate", "stop", **as_user)
            own.make("uninstall")
