"""How many threads take part."""

from . import _native
from ._arrays import index


def threads(n=None, /):
    """Sets how many threads take part in a reduction, and returns the number before; without an argument it changes nothing.

    The number changes no bit of any result. At first it is that of the environment variable TREEFOLD_THREADS, or else 1: then a reduction runs on
    the thread that called it. Arrays of up to 131,072 elements are reduced by one thread anyway, and so are `Partial` and `cumsum`. Threads end when
    nothing was to be done for a second, and start again when they are needed.

    Raises
    ------
    TypeError
        The number is not an integer.
    ValueError
        The number is not from 1 to 1024.

    Examples
    --------
    >>> import treefold
    >>> before = treefold.threads(2)
    >>> treefold.threads(before)
    2
    """
    return _native.threads() if n is None else _native.threads(index(n, "n"))
