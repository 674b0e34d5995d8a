"""Sums by mpi4py's wheel, which loads its MPI library with RTLD_LOCAL."""

import array
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
items = array.array("d", [world.rank + 1.0, 2.0 * (world.rank + 1)])
sums = array.array("d", [0.0, 0.0])
total = world.size * (world.size + 1) / 2
expected = array.array("d", [total, 2 * total])

world.Allreduce([items, MPI.DOUBLE], [sums, MPI.DOUBLE])
half = world.Split(world.rank % 2)
half.Allreduce(MPI.IN_PLACE, [sums, MPI.DOUBLE])
half.Free()
world.Allreduce([items, MPI.DOUBLE], [sums, MPI.DOUBLE])
world.Iallreduce(MPI.IN_PLACE, [items, MPI.DOUBLE]).Wait()
if sums != expected or items != expected:
    sys.exit(f"rank {world.rank}: {sums} and {items}, not {expected}")
