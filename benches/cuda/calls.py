"""Times treefold's and PyTorch's sums in GPU memory: `python3 benches/cuda/calls.py [FILE]`.

A time is that of a Python call that returns a number to the host. It includes the kernels, their launch, the copy and the wait. PyTorch's
call is `torch.sum(x).item()`. The functions are called alternately. A table of the medians is printed and, with FILE, also written there.
"""

import statistics
import sys
import time

import torch

import treefold
from treefold import exact

SIZES = [1 << 10, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28]
ROUNDS = 40


def timed(function, x, repeats):
    """Returns the seconds per call."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(repeats):
        function(x)
    return (time.perf_counter() - begin) / repeats


def rows():
    functions = [lambda x: torch.sum(x).item(), treefold.sum, exact.sum]
    for dtype in (torch.float32, torch.float64):
        for size in SIZES:
            x = torch.rand(size, dtype=dtype, device="cuda")
            repeats = max(1, min(20, (1 << 24) // size))
            for function in functions:
                timed(function, x, 3)
            samples = [[timed(function, x, repeats) for function in functions] for _ in range(ROUNDS)]
            medians = [statistics.median(column) for column in zip(*samples)]
            ours, exactly = (1e6 * median for median in medians[1:])
            theirs = 1e6 * medians[0]
            rate = size * x.element_size() / medians[1] / 1e9
            name = str(dtype).removeprefix("torch.")
            yield f"| {name} | 2^{size.bit_length() - 1} | {theirs:.1f} | {ours:.1f} | {ours / theirs:.2f} | {rate:.0f} | {exactly:.1f} | {exactly / theirs:.2f} |"


def table():
    properties = torch.cuda.get_device_properties(0)
    yield f"{properties.name}, PyTorch {torch.__version__}, {time.strftime('%Y-%m-%d')}"
    yield ""
    yield "| type | items | torch.sum, µs | treefold.sum, µs | ratio | GB/s | exact.sum, µs | ratio |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from rows()


if __name__ == "__main__":
    lines = []
    for line in table():
        print(line, flush=True)
        lines.append(line)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as file:
            file.write("\n".join(lines) + "\n")
