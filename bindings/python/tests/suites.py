"""Runs other projects' tests of their reductions on treefold: `python suites.py NAME`, where NAME is numpy, pandas or scipy.

treefold replaces the functions and methods that these tests call, and those that pandas and SciPy call during the tests. Every test must
pass, except those in `suites/NAME.txt`, which must fail. A line of that file is a test's name, with or without parameters, two spaces, and
the reason. Needs the package, pytest and hypothesis. Further arguments are passed to pytest.
"""

import argparse
import dataclasses
import importlib
import pathlib
import sys

import pytest
from treefold import replacer


@dataclasses.dataclass(frozen=True)
class Suite:
    """The tests of a package.

    Attributes
    ----------
    version : str
        The package's version that has these tests. Other versions are skipped.
    tests : tuple of str
        Files and folders of tests in the package.
    modules : tuple of str
        The modules in which reductions are replaced, besides those of the tests.
    least : int
        The minimum number of tests that must reach treefold.
    left_out : tuple of str
        Options of pytest that leave out tests which take minutes or gigabytes, or need a network, a database or a compiler.
    quick : tuple of str
        The tests that `--quick` runs instead: files, or classes in them.
    """

    version: str
    tests: tuple[str, ...]
    modules: tuple[str, ...]
    least: int
    left_out: tuple[str, ...]
    quick: tuple[str, ...] = ()


SUITES = {
    # All of NumPy's tests except those of its documentation, its build, and f2py, which call no reductions.
    "numpy": Suite(
        version="2.4",
        tests=tuple(f"{part}/tests" for part in ("_core", "fft", "lib", "linalg", "ma", "matrixlib", "polynomial", "random", "testing")),
        quick=(
            *[f"_core/tests/test_multiarray.py::Test{name}" for name in ("Dot", "Inner", "Methods", "MinMax", "Stats", "Vdot", "ZeroRank")],
            *[f"_core/tests/test_numeric.py::Test{name}" for name in ("FloatExceptions", "Keepdims", "NonarrayArgs", "StdVar")],
            *[f"_core/tests/test_{name}.py" for name in ("half", "overrides", "records")],
            "_core/tests/test_ufunc.py::TestUfunc",
            *[f"lib/tests/test_{name}.py" for name in ("arraypad", "function_base", "histograms", "nanfunctions", "shape_base")],
            *["linalg/tests/test_linalg.py", "matrixlib/tests", "polynomial/tests"],
            *["ma/tests/test_core.py::TestMaskedArrayMathMethods", "ma/tests/test_extras.py"],
        ),
        modules=("numpy",),
        least=16_000,
        left_out=("-m", "not slow", "-k", "not huge_array and not accelerate and not test_mem_policy and not test_simd"),
    ),
    "pandas": Suite(
        version="3.1",
        tests=(
            *["tests/test_nanops.py", "tests/reductions", "tests/apply", "tests/series/methods", "tests/frame/methods"],
            *[f"tests/{kind}/test_{name}.py" for kind in ("frame", "series") for name in ("reductions", "cumulative")],
            *[f"tests/arrays/{kind}" for kind in ("boolean", "floating", "integer", "masked")],
        ),
        modules=("pandas",),
        least=8_000,
        left_out=("-m", "not slow and not network and not db"),
    ),
    "scipy": Suite(
        version="1.17",
        tests=tuple(
            f"stats/tests/test_{name}.py"
            for name in ("axis_nan_policy", "correlation", "entropy", "hypotests", "morestats", "mstats_basic", "stats", "variation")
        ),
        # SciPy calls NumPy through `scipy._lib.array_api_compat`.
        modules=("scipy.stats", "scipy._lib"),
        least=3_500,
        left_out=("-m", "not slow and not xslow"),
    ),
}


def exceptions(name):
    """The reasons why tests must fail, by the names of the tests."""
    lines = (pathlib.Path(__file__).parent / "suites" / f"{name}.txt").read_text().splitlines()
    return {test: reason.strip() for test, _, reason in (line.partition("  ") for line in lines if line and not line.startswith("#"))}


class Plugin:
    """Replaces reductions, marks the exceptions, and counts the tests that reach treefold."""

    def __init__(self, folder, reasons, least, is_whole):
        self.folder, self.reasons, self.least, self.is_whole = folder, reasons, least, is_whole
        self.current, self.reached, self.unused = None, set(), set(reasons)

    def pytest_collection_modifyitems(self, items):
        for item in items:
            name = f"{item.path.relative_to(self.folder)}::{item.nodeid.split('::', 1)[1]}"
            for known in {name, name.split("[")[0]} & self.reasons.keys():
                self.unused.discard(known)
                item.add_marker(pytest.mark.xfail(reason=self.reasons[known], strict=True))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session):
        why_not = replacer._why_not

        def watched(*call):
            reason = why_not(*call)
            if reason is None:
                self.reached.add(self.current)
            return reason

        replacer._why_not = watched
        with replacer.replaced(*{item.module.__name__ for item in session.items}):
            return (yield)

    def pytest_runtest_setup(self, item):
        self.current = item.nodeid

    def faults(self):
        """The faults of a run in which every test had the expected outcome."""
        few = [f"fewer than {self.least} tests reach treefold"] if len(self.reached) < self.least else []
        return few + [f"no test has the name {name}" for name in sorted(self.unused) if self.is_whole]

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(f"{len(self.reached)} tests reach treefold; {len(self.reasons)} exceptions have reasons")
        for fault in self.faults():
            terminalreporter.write_line(fault)

    def pytest_sessionfinish(self, session, exitstatus):
        if exitstatus == 0 and self.faults():
            session.exitstatus = 1


def main():
    """Runs a suite."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=SUITES)
    parser.add_argument("--quick", action="store_true", help="run only a selection of tests, for less than a minute")
    options, more = parser.parse_known_args()
    suite, package = SUITES[options.name], importlib.import_module(options.name)
    if not package.__version__.startswith(f"{suite.version}."):
        print(f"skipped: the tests are for {options.name} {suite.version}, but {package.__version__} is installed")
        return 0
    folder = pathlib.Path(package.__file__).parent
    is_quick = bool(options.quick and suite.quick)
    tests = [str(folder / test) for test in (suite.quick if is_quick else suite.tests)]
    plugin = Plugin(folder, exceptions(options.name), suite.least // 10 if is_quick else suite.least, not is_quick)
    # Functions are replaced from the start, because tests compare functions that they have stored with the module's functions.
    with replacer.replaced(*suite.modules):
        # With these settings, pytest finds the package's fixtures, whatever the current folder is.
        settings = ["--quiet", "--disable-warnings", "-p", "no:cacheprovider", f"--rootdir={folder}", f"--confcutdir={folder}"]
        return pytest.main([*settings, *suite.left_out, *tests, *more], plugins=[plugin])


if __name__ == "__main__":
    sys.exit(main())
