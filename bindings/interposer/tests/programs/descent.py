"""Gradient descent as frameworks do it, on rows that are distributed over ranks. An MPI_Iallreduce sums each block of the gradient while
the next block is computed. Prints the bits of the loss."""

import numpy
from mpi4py import MPI

ROWS, COLUMNS, BLOCKS, STEPS, RATE = 200, 48, 4, 60, 0.4

world = MPI.COMM_WORLD
draw = numpy.random.default_rng(world.rank)
rows = draw.standard_normal((ROWS, COLUMNS))
wanted = rows @ numpy.arange(COLUMNS) / COLUMNS + draw.standard_normal(ROWS)
weights = numpy.zeros(COLUMNS)
gradient = numpy.empty(COLUMNS)
loss = numpy.empty(1)

for step in range(STEPS):
    error = rows @ weights - wanted
    # The variable keeps the array alive: MPI reads it until the request is complete.
    own = numpy.array([error @ error / ROWS])
    requests = [world.Iallreduce(own, loss)]
    for block in numpy.split(numpy.arange(COLUMNS), BLOCKS):
        part = gradient[block[0] : block[-1] + 1]
        part[:] = error @ rows[:, block] / ROWS
        requests.append(world.Iallreduce(MPI.IN_PLACE, part))
    MPI.Request.Waitall(requests)
    weights -= RATE / world.size * gradient
    if world.rank == 0:
        print(step, float(loss[0]).hex())
