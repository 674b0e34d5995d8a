"""The number of threads of a reduction."""

from . import _native
from ._arrays import index


def threads(n: int | None = None, /) -> int:
    """Set the number of threads of later reductions.

    The number changes no bit of any result. Initially it is the value of the
    environment variable TREEFOLD_THREADS, or else 1: reductions then run on
    the calling thread. A single thread is used for arrays of up to 131,072
    elements, for a `Partial` and for `cumsum`. Threads end after a second
    without work, and start again when needed.

    Parameters
    ----------
    n : int, optional
        The number, from 1 to 1024. By default, it does not change.

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
