"""Adds 100,000 numbers on the ranks of mpi4py: `mpirun -n 3 python first_sum.py`. docs/tutorial-python-mpi.md shows this program."""

from mpi4py import MPI
import numpy as np
import treefold.mpi

comm = MPI.COMM_WORLD
begin = 100_000 * comm.rank // comm.size
end = 100_000 * (comm.rank + 1) // comm.size
x = 1 / np.arange(begin + 1, end + 1)  # this rank's items

# The ranks build a plan together, once, and run it many times.
plan = treefold.mpi.Plan(comm, x.size)
total = plan.allreduce(x)

# Each rank's own sum from left to right, then MPI's sum of these.
plain = comm.allreduce(float(np.cumsum(x)[-1]))
if comm.rank == 0:
    print(f"{comm.size} ranks: {total:.15f} by treefold, "
          f"{plain:.15f} by MPI")
