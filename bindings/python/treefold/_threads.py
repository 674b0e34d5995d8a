"""How many threads take part."""

import os

from . import _native
from ._arrays import index

_VARIABLE = "TREEFOLD_THREADS"


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


def set_by_environment():
    """As many as the variable says, which is read when treefold is imported."""
    text = os.environ.get(_VARIABLE, "")
    if not text:
        return
    try:
        _native.threads(int(text))
    except ValueError:
        raise ValueError(f"{_VARIABLE}: {text!r} is not a number from 1 to 1024") from None
