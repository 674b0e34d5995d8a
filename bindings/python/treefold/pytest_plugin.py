"""A plugin of pytest: `pytest -p treefold.pytest_plugin --treefold-check mypackage`, or `--treefold-replace`. See `treefold.replacer`."""

import contextlib
import sys

import pytest

from . import replacer

_OPTIONS = {
    "check": ("makes NumPy's reductions in these modules in other layouts, too, and says where bits differ", replacer.checked),
    "replace": ("puts treefold under NumPy's reductions in these modules", replacer.replaced),
}
_STATE: pytest.StashKey[tuple[contextlib.ExitStack, dict[str, tuple[list[str], replacer.Report | None]]]] = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("treefold")
    for name, (text, _) in _OPTIONS.items():
        group.addoption(f"--treefold-{name}", metavar="MODULES", default="", help=f"{text}: names with commas between")


def pytest_configure(config):
    stack = contextlib.ExitStack()
    reports = {}
    for name, (_, context) in _OPTIONS.items():
        modules = [module for module in config.getoption(f"treefold_{name}").split(",") if module]
        if modules:
            reports[name] = modules, stack.enter_context(context(*modules))
    if len(reports) > 1:
        stack.close()
        raise pytest.UsageError("--treefold-check and --treefold-replace: one of them")
    config.stash[_STATE] = stack, reports


def pytest_unconfigure(config):
    if _STATE in config.stash:
        config.stash[_STATE][0].close()


def pytest_terminal_summary(terminalreporter, config):
    for modules, report in config.stash[_STATE][1].values():
        for module in modules:
            if not any(name == module or name.startswith(f"{module}.") for name in sys.modules):
                terminalreporter.write_line(f"treefold: no module {module} was loaded")
        if report is not None:
            terminalreporter.section("treefold")
            terminalreporter.write_line(str(report))
