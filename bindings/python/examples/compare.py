"""Compares runs of conjugate_gradient.py on several numbers of ranks: `python compare.py out.svg 1.npz 2.npz 3.npz`. Needs matplotlib."""

import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "treefold"

import matplotlib.pyplot as plt
import numpy as np


def main():
    picture, *files = sys.argv[1:]
    first, *others = [np.load(file) for file in files]
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for file, other in zip(files[1:], others, strict=True):
        ranks = file.rsplit("/", 1)[-1].removesuffix(".npz")
        parted = first["by_mpi"] != other["by_mpi"]
        assert parted.any(), f"by MPI, {ranks} ranks have the residuals of one"
        assert np.array_equal(first["by_treefold"], other["by_treefold"]), f"by treefold, {ranks} ranks have other residuals than one"
        print(f"{ranks} ranks, by MPI: {parted.sum()} of {parted.size} residuals differ from those of one rank, first in iteration "
              f"{parted.argmax()}")
        print(f"{ranks} ranks, by treefold: none differs")
        difference = np.abs(other["by_mpi"] / first["by_mpi"] - 1)
        axes.semilogy(np.where(difference > 0, difference, np.nan), ".", markersize=3, label=f"{ranks} ranks, by MPI_Allreduce")
    axes.set_xlabel("iteration")
    axes.set_ylabel("squared residual: relative difference from one rank")
    axes.set_title("By treefold, all differences are zero")
    axes.legend()
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
