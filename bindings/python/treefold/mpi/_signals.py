"""Ctrl-C, and what else handlers of signals raise, while C waits."""

import threading

from ._load import ffi

# What ended this thread's last wait.
_raised = threading.local()


def _look(_context: object) -> int:
    # To run anything is enough: Python handles signals between two steps of a loop.
    for _ in range(2):
        pass
    return 0


def _keep(_class: object, error: BaseException, _traceback: object) -> None:
    _raised.error = error


# What waits ask.
interrupted = ffi.callback("treefold_interrupted", _look, error=1, onerror=_keep)


def raise_what_interrupted() -> None:
    """Raises what a handler has raised."""
    error = _raised.__dict__.pop("error", None)
    if error is not None:
        try:
            raise error
        finally:
            # Or the error's traceback would hold the error.
            del error
