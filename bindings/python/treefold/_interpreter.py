"""Where treefold runs: in the main interpreter of a process."""


def check_interpreter():
    """Refuses the others.

    Raises
    ------
    ImportError
        This is a subinterpreter. NumPy does not support them, and the threads and the environment belong to the process.
    """
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = __import__(name)
        except ImportError:
            continue
        current, main = interpreters.get_current(), interpreters.get_main()
        # Their identifiers are integers, or stand first in pairs.
        first = [one[0] if isinstance(one, tuple) else one for one in (current, main)]
        if first[0] != first[1]:
            raise ImportError("treefold cannot be imported in a subinterpreter: it needs the main interpreter of the process, as NumPy does")
        return
