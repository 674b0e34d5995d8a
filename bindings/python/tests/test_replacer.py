"""treefold replaces NumPy's reductions in named modules, and compares results there."""

import functools
import pickle
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
import treefold
from checks import raises
from definition import bits
from treefold import replacer

X = np.random.default_rng(2).standard_normal((300, 200))

PROGRAM = """
import numpy as np
from numpy import mean

def whole(x):
    return np.sum(x)

def method(x):
    return x.sum()

def rows(x):
    return x.mean(axis=1)

def by_name(x):
    return mean(x)

def spread(x):
    return np.var(x)

def product(x):
    return np.dot(x[0], x[1])

def keyword(x):
    return np.sum(a=x, axis=0)

def deviation(x):
    return x.std(axis=0, ddof=1)

def running(x):
    return x.cumsum()

def multiplied(x):
    return x[0].dot(x[1])

def scalar(x):
    return x[0, 0].sum()

def inside(x):
    return np.cov(x[:3])

def others(x):
    return np.sum(x.astype(object)), np.sum(np.ma.array(x)), np.sum(x.astype(np.longdouble)), np.sum(["a"], axis=()) if False else 0
"""


@pytest.fixture
def module():
    made = types.ModuleType("program.part")
    exec(compile(PROGRAM, "part.py", "exec"), vars(made))
    sys.modules["program.part"] = made
    yield made
    del sys.modules["program.part"]


OWN = {
    "whole": lambda x: treefold.sum(x),
    "method": lambda x: treefold.sum(x),
    "rows": lambda x: treefold.mean(x, axis=1),
    "by_name": lambda x: treefold.mean(x),
    "spread": lambda x: treefold.var(x),
    "product": lambda x: treefold.dot(x[0], x[1]),
    "keyword": lambda x: treefold.sum(x, axis=0),
    "deviation": lambda x: treefold.std(x, axis=0, ddof=1),
    "running": lambda x: treefold.cumsum(x),
    "multiplied": lambda x: treefold.dot(x[0], x[1]),
    "scalar": lambda x: x[0, 0],
}


def test_results_are_treefolds_within_the_context_alone(module):
    functions = {name: getattr(module, name) for name in OWN}
    before = {name: bits(function(X)) for name, function in functions.items()}
    numpys = np.sum, np.mean, module.mean, np.linalg.norm, np.ndarray.std
    with replacer.replaced("program"):
        assert {name: bits(function(X)) for name, function in functions.items()} == {name: bits(own(X)) for name, own in OWN.items()}
        assert {name: bits(function(np.asfortranarray(X))) for name, function in functions.items()} == {
            name: bits(own(X)) for name, own in OWN.items()
        }
        # This test module is not covered.
        assert bits(np.sum(X)) == before["whole"] and bits(X.sum()) == before["method"]
        module.others(X)
    assert {name: bits(function(X)) for name, function in functions.items()} == before
    assert (np.sum, np.mean, module.mean, np.linalg.norm, np.ndarray.std) == numpys
    differing = [name for name, own in OWN.items() if bits(own(X)) != before[name]]
    assert len(differing) > 3, "the test could not fail"


def test_parameters_may_have_positions(module):
    calls = {
        "sum": (0, None, None, False, 2.0, X < 1),
        "prod": (0, np.float64, None, np._NoValue, 2.0),
        "min": (0, None, True, 2.0),
        "nanmax": (0, None, False, 2.0, X < 1),
        "var": (0, None, None, 1, True),
        "cumsum": (0, None, None),
    }
    numpys = {name: getattr(np, name)(X, *arguments) for name, arguments in calls.items()}
    for context in (replacer.replaced, replacer.checked):
        with context("program"):
            for name, arguments in calls.items():
                exec(f"found = np.{name}(x, *arguments)", vars(module) | {"x": X, "arguments": arguments}, found := {})
                np.testing.assert_allclose(found["found"], numpys[name], rtol=1e-9, err_msg=name)
            for arguments, keywords in ((X, 0, None, None, False, 0.0, True, 5), {}), ((X, 0), {"axis": 1}):
                raises(TypeError, None, exec, "np.sum(*arguments, **keywords)", vars(module) | {"arguments": arguments, "keywords": keywords})


def test_replaced_functions_are_found_in_tables():
    table, numpys, pickled = {np.sum: "sum"}, np.sum, pickle.dumps(np.sum)
    with replacer.replaced("program"):
        assert table[np.sum] == "sum" and np.sum == numpys and np.sum != np.mean and {np.sum: 1}[numpys] == 1
        assert pickle.loads(pickle.dumps(np.sum)) is np.sum and pickle.dumps(np.sum) == pickled


def test_numpys_own_functions_call_for_the_module(module):
    x = np.concatenate([X] * 3, axis=1)
    before = bits(module.inside(x))
    with replacer.replaced("program.part"):
        found = module.inside(x)
    assert bits(module.inside(x)) == before
    middle = treefold.mean(x[:3], axis=1)
    np.testing.assert_allclose(found, np.cov(x[:3] - middle[:, None]), rtol=1e-12)


def test_what_depends_on_layout_is_reported(module):
    before = bits(module.whole(X))
    with replacer.checked("program.part") as report:
        assert bits(module.whole(X)) == before, "the program gets NumPy's results"
        module.method(X)
        module.rows(np.ones((3, 4)))
        module.whole([1.0, 2.0])
        module.whole(np.arange(10))
        module.others(X)
    # One of these calls comes from the masked array's own `sum`.
    assert (report.calls, report.differing) == (5, 3)
    assert report.passed == {"dtype object": 1, "type MaskedArray": 1, f"dtype {np.dtype(np.longdouble)}": 1}
    line = min(line for file, line, name in report.sites if name == "ndarray.sum")
    site = report.sites["part.py", line, "ndarray.sum"]
    assert PROGRAM.splitlines()[line - 1] == "    return x.sum()"
    assert (site.calls, site.differing, site.description) == (1, 1, "float64 (300, 200)")
    assert "columns first" in site.worst and 0 < max(site.worst.values()) < 1e-13
    text = str(report).splitlines()
    assert text[0] == "treefold: NOT reproducible: 3 of 5 reductions depend on layout or chunks"
    assert any(text.startswith(f"  part.py:{line} ndarray.sum of float64 (300, 200): 1 of 1 calls; ") for text in text)
    assert "  left to NumPy: 1 with dtype object" in text


def test_treefolds_order_is_no_dependence_on_layout():
    report = replacer.Report()
    report._add(("part.py", 1, "sum"), {"treefold": 1e-16}, "float64 (9,)")
    assert (report.differing, report.sites["part.py", 1, "sum"].worst) == (0, {"treefold": 1e-16})
    assert str(report) == "treefold: same bits in all 1 reductions, in every layout and in chunks"
    report._add(("part.py", 1, "sum"), {"treefold": 1e-16, "2 chunks": 1e-16}, "float64 (9,)")
    assert report.differing == 1


def test_what_does_not_depend_is_told_from_nothing(module):
    with replacer.checked("program") as report:
        module.whole(np.arange(1000.0))
    assert str(report) == "treefold: same bits in all 1 reductions, in every layout and in chunks"
    with replacer.checked("program") as report:
        pass
    assert str(report) == "treefold: no reductions of floats were called"


class Labelled:
    """An object with its own methods of NumPy's names, like pandas' Series."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)

    def __getattr__(self, name):
        if name not in ("sum", "prod", "min", "max", "mean", "var", "std", "cumsum", "cumprod"):
            raise AttributeError(name)
        return lambda *arguments, **keywords: (name, self)


class Sparse:
    nnz, dtype, shape, ndim = 1, np.dtype("f8"), (3,), 1

    def toarray(self):
        raise AssertionError


def test_what_has_methods_of_its_own_is_left_to_numpy(module):
    run = functools.partial(exec, "found = getattr(np, name)(*arguments)")
    with replacer.replaced("program"):
        labelled = Labelled()
        for name in ("sum", "prod", "min", "max", "amin", "amax", "mean", "var", "std", "cumsum", "cumprod"):
            run(vars(module) | {"name": name, "arguments": (labelled,)}, found := {})
            assert found["found"] == ({"amin": "min", "amax": "max"}.get(name, name), labelled)
        # The object has no methods of these names.
        for name, expected in (("nansum", 3.0), ("average", 1.0)):
            run(vars(module) | {"name": name, "arguments": (labelled,)}, found := {})
            assert found["found"] == expected
        for arguments in ((np.array([True, True]), np.array([False, True])), ([True], np.array([True]))):
            run(vars(module) | {"name": "dot", "arguments": arguments}, found := {})
            assert found["found"] is np.True_
    for name in ("out", "where", "weights"):
        assert replacer._why_not(treefold.average, [X], {name: np.ma.array(X)}) == "type MaskedArray"
    for own in (treefold.nansum, treefold.average, treefold.sum):
        assert replacer._why_not(own, [Sparse()], {}) == "type Sparse"


def test_errors_are_numpys_and_nothing_stays(module):
    numpys = np.sum
    with pytest.raises(ZeroDivisionError), replacer.replaced("program"), replacer.checked("program.other"):
        raise ZeroDivisionError
    assert np.sum is numpys
    with replacer.replaced("program"):
        for wrong in (5, (0, 0), 1.5):
            with pytest.raises((np.exceptions.AxisError, ValueError, TypeError)):
                module.np.sum(X, axis=wrong)
                module.keyword(X[0, 0])
                raise AssertionError(wrong)
    for arguments, error in (((), ValueError), ((np,), TypeError)):
        raises(error, "modules", replacer.replaced, *arguments)


def test_threads(module):
    expected = bits(treefold.sum(X))
    with replacer.checked("program") as report:
        threads = [threading.Thread(target=lambda: [module.whole(X) for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert report.calls == 80 and expected == bits(treefold.sum(X))


TESTS = """
import numpy as np
import mine

def test_sum():
    x = np.random.default_rng(2).standard_normal((300, 200))
    assert mine.total(x) == mine.total(x.copy(order="F"))
"""


@pytest.mark.parametrize("option, passes", [("check=mine,absent", False), ("replace=test_mine,mine", True)])
def test_pytest_plugin(tmp_path, option, passes):
    (tmp_path / "mine.py").write_text("import numpy as np\n\ndef total(x):\n    return x.sum()\n")
    (tmp_path / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "treefold.pytest_plugin", f"--treefold-{option}"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert ("1 passed" in done.stdout) == passes, done.stdout + done.stderr
    if not passes:
        assert "treefold: NOT reproducible: 2 of 2 reductions" in done.stdout and "mine.py:4 ndarray.sum" in done.stdout
        assert "treefold: no module absent was loaded" in done.stdout
        return
    both = subprocess.run([*command, "--treefold-check=a", "--treefold-replace=b"], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert "pass only one of" in both.stderr + both.stdout and both.returncode == 4
