"""Checks the interpreter: treefold runs only in the main interpreter of a process, with the GIL."""

import sysconfig


def check_interpreter() -> None:
    """Rejects unsupported interpreters before native code is loaded.

    Raises
    ------
    ImportError
        Python is a free-threaded build, which treefold does not support;
        or this is a subinterpreter, which NumPy does not support either.
    """
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise ImportError("treefold cannot be imported in a free-threaded Python: it needs a Python with the global interpreter lock")
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = __import__(name)
        except ImportError:
            continue
        current, main = interpreters.get_current(), interpreters.get_main()
        # An interpreter's identifier is an integer, or the first element of a pair.
        current, main = (one[0] if isinstance(one, tuple) else one for one in (current, main))
        if current != main:
            reason = "it needs the main interpreter of the process, as NumPy does"
            raise ImportError(f"treefold cannot be imported in a subinterpreter: {reason}")
        return
