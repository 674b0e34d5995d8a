"""Reductions over MPI's ranks, whose bits depend on the items, their order and the operator alone.

Not on the number of ranks, on who has which items, on the algorithm, or on the MPI library. The ranks build a `Plan` together, once, and
run it many times. It needs mpi4py 4, and calls the MPI library that mpi4py has loaded. Importing it is an `ImportError`
where mpi4py is missing, or was compiled for another library than it has loaded. `Free` of a communicator also frees what its plans had of
MPI, unless some rank still has one. Ctrl-C ends a wait within a tenth of a second, but for those of `mpi-native`, where the MPI library waits:
the run is over then, and the other ranks are told.

>>> from mpi4py import MPI
>>> import numpy as np
>>> from treefold.mpi import Plan
>>> comm = MPI.COMM_WORLD
>>> begin, end = (1000 * rank // comm.size for rank in (comm.rank, comm.rank + 1))
>>> with Plan(comm, end - begin) as plan:                  # items 0 to 999, in any number of shares
...     total = plan.allreduce(1 / np.arange(begin + 1, end + 1))
>>> float(total).hex()
'0x1.df11f45f4e619p+2'
"""

from ._errors import Error
from ._keyed import HashedPlan, KeyedPlan, Moments
from ._plan import Plan
from ._runs import AnyPlan, Pending
from ._world import ALGORITHMS, library, measure_link, set_silence_limit

__all__ = [
    "ALGORITHMS",
    "AnyPlan",
    "Error",
    "HashedPlan",
    "KeyedPlan",
    "Moments",
    "Pending",
    "Plan",
    "library",
    "measure_link",
    "set_silence_limit",
]
