"""NumPy's own tests of its reductions, run on treefold: `python numpys.py`. Needs pytest and hypothesis.

The replacer puts treefold under the functions and methods that the tests call. Every test that reaches one of them must pass, but for those that
`EXCEPTIONS` names, which must fail.
"""

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

#: The tests are those of this version; they change with NumPy.
VERSION = "2.4"

#: By file, the classes that test reductions; None stands for all.
FILES = {
    "_core/tests/test_multiarray.py": ["TestDot", "TestInner", "TestMethods", "TestMinMax", "TestStats", "TestVdot", "TestZeroRank"],
    "_core/tests/test_numeric.py": ["TestFloatExceptions", "TestKeepdims", "TestNonarrayArgs", "TestStdVar", "TestStdVarComplex"],
    "_core/tests/test_regression.py": ["TestRegression"],
    "_core/tests/test_ufunc.py": ["TestUfunc"],
    "lib/tests/test_function_base.py": [
        *["TestAmax", "TestAmin", "TestAverage", "TestCorrCoef", "TestCov", "TestCumprod", "TestCumsum", "TestProd", "TestPtp"],
    ],
    "lib/tests/test_nanfunctions.py": None,
    "linalg/tests/test_linalg.py": ["TestNormDouble", "TestNormInt64", "TestNormSingle"],
}

#: By the end of a test's name, without parameters or with them, why it cannot pass.
EXCEPTIONS = dict.fromkeys(
    ["TestAverage::test_weight_and_input_dims_different", "TestAverage::test_weights"],
    "the message names treefold's parameter, x, and not NumPy's, a",
)

#: What the modules of these tests are called.
MODULES = ["numpy.lib.tests", "numpy.linalg.tests", "test_multiarray", "test_numeric", "test_regression", "test_ufunc"]


class Plugin:
    """Marks the exceptions, and counts the tests that reach treefold."""

    def __init__(self):
        self.current, self.reached, self.names = None, set(), set()

    def pytest_collection_modifyitems(self, items):
        for item in items:
            name = item.nodeid.split("::", 1)[1]
            for end in (name, name.split("[")[0]):
                if end in EXCEPTIONS:
                    self.names.add(end)
                    item.add_marker(pytest.mark.xfail(reason=EXCEPTIONS[end], strict=True))
                    break

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        self.current = item.nodeid
        try:
            return (yield)
        finally:
            self.current = None

    def watch(self):
        """Has the replacer say which tests call treefold."""
        from treefold import replacer

        call = replacer._Session.call

        def watched(session, frame, name, numpys, own, arrays, arguments, keywords):
            if self.current and replacer._why_not(own, arguments[:arrays], keywords) is None:
                self.reached.add(self.current)
            return call(session, frame, name, numpys, own, arrays, arguments, keywords)

        replacer._Session.call = watched

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(f"{len(self.reached)} tests of NumPy's reach treefold, {len(EXCEPTIONS)} exceptions have reasons")
        for name in sorted(set(EXCEPTIONS) - self.names):
            terminalreporter.write_line(f"no test has the name {name}")

    def pytest_sessionfinish(self, session, exitstatus):
        if exitstatus == 0 and (set(EXCEPTIONS) - self.names or len(self.reached) < 500):
            session.exitstatus = 1


def main():
    """Runs them, with more arguments of pytest's."""
    version = ".".join(np.__version__.split(".")[:2])
    if version != VERSION:
        print(f"skipped: NumPy's own tests: the list is that of {VERSION}, and this is {np.__version__}")
        return 0
    folder = pathlib.Path(importlib.util.find_spec("numpy").origin).parent
    plugin = Plugin()
    plugin.watch()
    options = ["--quiet", "-p", "no:cacheprovider", "-p", "treefold.pytest_plugin", "--treefold-replace", ",".join(MODULES), "-m", "not slow", "-k", "not huge_array and not accelerate"]
    tests = [f"{folder / file}{name}" for file, classes in FILES.items() for name in ([f"::{one}" for one in classes] if classes else [""])]
    return pytest.main([*options, *tests, *sys.argv[1:]], plugins=[plugin])


if __name__ == "__main__":
    sys.exit(main())
