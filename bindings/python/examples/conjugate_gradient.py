"""Runs conjugate gradients on the ranks of mpi4py, once with MPI's dot products and once with treefold's.

`mpirun -n 3 python conjugate_gradient.py out.npz` solves the Poisson equation on a square grid, whose rows are divided among the ranks, and
writes the squared norms of the residuals of all iterations. Only dot products may depend on the number of ranks: each element is computed by
the same operations, whichever rank owns it.
"""

import sys
from collections.abc import Callable

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from treefold.mpi import Plan

Array = NDArray[np.float64]

SIZE = 200
ITERATIONS = 400
COMM = MPI.COMM_WORLD


def laplacian(x: Array) -> Array:
    """Minus the five-point Laplacian of this rank's rows, with zeros around the grid."""
    above, below = np.zeros(SIZE), np.zeros(SIZE)
    up = COMM.rank - 1 if COMM.rank > 0 else MPI.PROC_NULL
    down = COMM.rank + 1 if COMM.rank < COMM.size - 1 else MPI.PROC_NULL
    COMM.Sendrecv(x[0], up, recvbuf=below, source=down)
    COMM.Sendrecv(x[-1], down, recvbuf=above, source=up)
    padded = np.pad(np.vstack([above, x, below]), ((0, 0), (1, 1)))
    image: Array = 4 * x - padded[:-2, 1:-1] - padded[2:, 1:-1] - padded[1:-1, :-2] - padded[1:-1, 2:]
    return image


def solve(dot: Callable[[Array, Array], float], right: Array) -> Array:
    """Solves the equation, and returns the squared norms of all residuals."""
    x, residual = np.zeros_like(right), right.copy()
    direction, square = residual.copy(), dot(residual, residual)
    history = [square]
    for _ in range(ITERATIONS):
        image = laplacian(direction)
        step = square / dot(direction, image)
        x += step * direction
        residual -= step * image
        square, before = dot(residual, residual), square
        direction = residual + square / before * direction
        history.append(square)
    return np.array(history)


def main() -> None:
    begin, end = (SIZE * rank // COMM.size for rank in (COMM.rank, COMM.rank + 1))
    # The right-hand side is the same on any number of ranks.
    right = np.random.default_rng(5).standard_normal((SIZE, SIZE))[begin:end]
    plan = Plan(COMM, right.size)
    by_mpi = solve(lambda x, y: COMM.allreduce(np.vdot(x, y)), right)
    by_treefold = solve(plan.allreduce, right)
    if COMM.rank == 0:
        np.savez(sys.argv[1], by_mpi=by_mpi, by_treefold=by_treefold)


if __name__ == "__main__":
    main()
