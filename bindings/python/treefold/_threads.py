"""Sets the number of threads of reductions."""

from . import _native
from ._arrays import index


def threads(n: int | None = None, /) -> int:
    """Set the number of threads of later reductions.

    The number changes no bit of any result. Initially it is the value of the
    environment variable TREEFOLD_THREADS or, if that is not set, 1. With one
    thread, reductions run on the calling thread. Arrays of up to 131,072
    elements, `Partial` and `cumsum` always use one thread. Threads end after a
    second without work, and start again when needed.

    Parameters
    ----------
    n : int, optional
        The new number, from 1 to 1024. By default, the number does not change.

    Returns
    -------
    int
        The previous number of threads.

    Raises
    ------
    TypeError
        `n` is not an integer.
    ValueError
        `n` is not from 1 to 1024.

    Examples
    --------
    >>> import treefold
    >>> before = treefold.threads(2)
    >>> treefold.threads(before)
    2
    """
    return _native.threads() if n is None else _native.threads(index(n, "n"))
