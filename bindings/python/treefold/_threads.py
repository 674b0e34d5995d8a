"""How many threads take part in a reduction."""

from . import _native
from ._arrays import index


def threads(n=None, /):
    """Set how many threads take part in a reduction.

    The number changes no bit of any result. At first it is that of the
    environment variable TREEFOLD_THREADS, or else 1: a reduction then runs on
    the thread that called it. One thread reduces arrays of up to 131,072
    elements, a `Partial` and `cumsum`. Threads end after a second without
    work, and start again when there is some.

    Parameters
    ----------
    n : int, optional
        From 1 to 1024. By default, nothing changes.

    Returns
    -------
    int
        The number before.

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
