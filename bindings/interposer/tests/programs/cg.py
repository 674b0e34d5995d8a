"""PETSc's conjugate gradients on the Laplacian of a square. Prints the bits of each residual's norm, which MPI_Allreduce computes or,
with `-ksp_type pipecg`, MPI_Iallreduce."""

import glob
import sys

# The folder in which Debian installs PETSc's default flavour.
sys.path += glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages")

import petsc4py  # noqa: E402: after its folder is known

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402: after init, as petsc4py asks for

SIDE = 40

matrix = PETSc.Mat().createAIJ([SIDE * SIDE, SIDE * SIDE], nnz=5)
begin, end = matrix.getOwnershipRange()
for row in range(begin, end):
    i, j = divmod(row, SIDE)
    # With these coefficients every sum rounds.
    matrix[row, row] = 4.1 + 1 / (row + 3)
    for x, y in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
        if 0 <= x < SIDE and 0 <= y < SIDE:
            matrix[row, x * SIDE + y] = -1.0
matrix.assemble()
solution, right = matrix.createVecs()
for row in range(begin, end):
    right[row] = 1 / (row + 1)
right.assemble()

solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-10, max_it=200)
solver.setFromOptions()
norms = []
solver.setMonitor(lambda _, step, norm: norms.append((step, norm)))
solver.solve(right, solution)
if PETSc.COMM_WORLD.rank == 0:
    for step, norm in norms:
        print(step, float(norm).hex())
