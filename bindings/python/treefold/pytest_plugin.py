"""A pytest plugin that runs a program's tests under `treefold.replacer`.

    pytest -p treefold.pytest_plugin --treefold-check mypackage
    pytest -p treefold.pytest_plugin --treefold-replace mypackage
"""

import contextlib
import sys

import pytest

from . import replacer

_OPTIONS = {
    "check": ("repeats NumPy's reductions in these modules in other layouts, and reports where bits differ", replacer.checked),
    "replace": ("replaces NumPy's reductions in these modules by treefold's", replacer.replaced),
}
_STATE: pytest.StashKey[tuple[contextlib.ExitStack, list[str], replacer.Report | None]] = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("treefold")
    for name, (text, _) in _OPTIONS.items():
        group.addoption(f"--treefold-{name}", metavar="MODULES", default="", help=f"{text}; MODULES are names, separated by commas")


def pytest_configure(config):
    chosen = {name: config.getoption(f"treefold_{name}").split(",") for name in _OPTIONS if config.getoption(f"treefold_{name}")}
    if len(chosen) > 1:
        raise pytest.UsageError("pass only one of --treefold-check and --treefold-replace")
    for name, modules in chosen.items():
        stack = contextlib.ExitStack()
        config.stash[_STATE] = stack, modules, stack.enter_context(_OPTIONS[name][1](*modules))


def pytest_unconfigure(config):
    if _STATE in config.stash:
        config.stash[_STATE][0].close()


def pytest_terminal_summary(terminalreporter, config):
    if _STATE not in config.stash:
        return
    _, modules, report = config.stash[_STATE]
    for module in modules:
        if not any(f"{name}.".startswith(f"{module}.") for name in sys.modules):
            terminalreporter.write_line(f"treefold: no module {module} was loaded")
    if report is not None:
        terminalreporter.section("treefold")
        terminalreporter.write_line(str(report))
