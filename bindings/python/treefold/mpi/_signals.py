"""Handles Ctrl-C and other exceptions of signal handlers while C waits."""

import threading

from ._load import ffi

# The exception that ended this thread's last wait.
_raised = threading.local()


def _look(_context: object) -> int:
    # Running any code is enough: Python handles signals between bytecode instructions.
    for _ in range(2):
        pass
    return 0


def _keep(_class: object, error: BaseException, _traceback: object) -> None:
    _raised.error = error


# The callback that C calls while it waits.
interrupted = ffi.callback("treefold_interrupted", _look, error=1, onerror=_keep)


def raise_what_interrupted() -> None:
    """Raises the exception with which a signal handler ended this thread's last wait, if any."""
    error = _raised.__dict__.pop("error", None)
    if error is not None:
        try:
            raise error
        finally:
            # Avoids a cycle between the error and its traceback.
            del error
