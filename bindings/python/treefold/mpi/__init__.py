"""Reduces over MPI's ranks, with the same bits on any number of ranks.

The bits depend only on the items, their order and the operator, not on the
number of ranks, the distribution of the items, the algorithm or the MPI
library. The ranks build a `Plan` together, once, and run it many times. Sums
of items by key use a `KeyedPlan`, or a `HashedPlan` for any 64-bit keys.

All ranks of the communicator must make the same collective calls, in the same
order. If an argument is wrong on only one rank, that rank gets a `ValueError`
or `TypeError`, and the ranks that need its items get an `Error` that names the
rank. The plan is then spent and cannot run again; build another.

The module needs mpi4py 4 and calls the MPI library that mpi4py has loaded.
`import treefold.mpi` raises `ImportError` if mpi4py is missing, or if mpi4py
has loaded another MPI library than it was compiled for. `comm.Free()` also
frees what the plans of `comm` hold in MPI, unless a rank still has a plan.
Ctrl-C ends a wait within a tenth of a second. It also ends the run, and the
other ranks get an error. With the algorithm `mpi-native`, the wait is inside
the MPI library, and Ctrl-C does not end it.

Examples
--------
>>> from mpi4py import MPI
>>> import numpy as np
>>> from treefold.mpi import Plan
>>> comm = MPI.COMM_WORLD
>>> begin, end = (1000 * r // comm.size for r in (comm.rank, comm.rank + 1))
>>> with Plan(comm, end - begin) as plan:  # items 0 to 999, in any shares
...     total = plan.allreduce(1 / np.arange(begin + 1, end + 1))
>>> float(total).hex()
'0x1.df11f45f4e619p+2'
"""

from ._errors import Error
from ._keyed import HashedPlan, KeyedPlan, Moments
from ._plan import Plan
from ._runs import AnyPlan, Pending, ScheduledPlan, wait_all
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
    "ScheduledPlan",
    "library",
    "measure_link",
    "set_silence_limit",
    "wait_all",
]
