"""Builds the extension in a temporary folder, and tests it in Python and in SQLite's shell. Run it as run.py [NAME_OF_A_TEST ...]"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent


def build(folder, flags):
    command = ["make", "-s", "-C", str(TESTS.parent), f"BUILD={folder}", f"CFLAGS={flags}"]
    subprocess.run(command, check=True)
    return os.path.join(folder, "treefold")


def path_of(variable):
    """Returns the folder that pkg-config names in a variable. (pkg-config puts a backslash before each blank in it.)"""
    command = ["pkg-config", f"--variable={variable}", "treefold"]
    (path,) = shlex.split(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return os.path.realpath(path)


def main():
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(TESTS), str(TESTS.parents[1])]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TREEFOLD_SQLITE"] = build(folder, "-O2 -g -Wpedantic -Werror")
        import engine

        print(f"SQLite {engine.sqlite3.sqlite_version}, TREEFOLD_SEED={engine.SEED}", flush=True)
        loader = unittest.TestLoader()
        loader.testNamePatterns = [f"*{name}*" for name in sys.argv[1:]] or None
        result = unittest.TextTestRunner(verbosity=2).run(loader.discover(str(TESTS)))
        for test, reason in result.skipped:
            print(f"NOT TESTED: {test}: {reason}")
        return not result.wasSuccessful() or result.testsRun == 0


if __name__ == "__main__":
    sys.exit(main())
