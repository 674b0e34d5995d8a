"""Compares runs of conjugate_gradient.py on several numbers of ranks: `python compare.py out.json 1.npz 2.npz 3.npz`.

`cargo xtask draw out.json` draws the output.
"""

import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def line(name: str, differences: NDArray[np.float64]) -> dict[str, Any]:
    points = [[float(iteration), float(f"{difference:.4e}")] for iteration, difference in enumerate(differences)]
    return {"name": name, "style": "joined", "points": points}


def main() -> None:
    numbers, *files = sys.argv[1:]
    first, *others = [np.load(file) for file in files]
    names = [file.rsplit("/", 1)[-1].removesuffix(".npz") for file in files[1:]]
    lines = [line(f"treefold, {' and '.join(names)} ranks", np.zeros(first["by_treefold"].size))]
    for ranks, other in zip(names, others, strict=True):
        parted = first["by_mpi"] != other["by_mpi"]
        assert parted.any(), f"with MPI, the residuals of {ranks} ranks equal those of one"
        assert np.array_equal(first["by_treefold"], other["by_treefold"]), f"with treefold, the residuals of {ranks} ranks differ"
        print(f"{ranks} ranks, by MPI: {parted.sum()} of {parted.size} residuals differ")
        print(f"    from those of one rank, first in iteration {parted.argmax()}")
        print(f"{ranks} ranks, by treefold: none differs")
        lines.append(line(f"MPI_Allreduce, {ranks} ranks", np.abs(other["by_mpi"] / first["by_mpi"] - 1)))
    plot = {
        "source": "cargo xtask test --stage python-story --record",
        "title": "With MPI_Allreduce, a solver's residuals depend on the number of ranks; with treefold they do not",
        "subtitle": "Squared residuals of conjugate gradients in Python, compared with one rank",
        "x": {"name": "time, iterations", "scale": "linear"},
        "y": {"name": "relative difference from one rank's, ratio", "scale": "decades and zero"},
        "size": "page",
        "lines": lines,
    }
    with open(numbers, "w") as file:
        json.dump(plot, file)


if __name__ == "__main__":
    main()
