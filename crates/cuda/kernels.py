"""Compiles src/kernels/kernels.cu to src/kernels/kernels.ptx with NVRTC, which needs no GPU and no other part of CUDA:

    pip install nvidia-cuda-nvrtc-cu12==12.0.76
    python3 kernels.py

A newer NVRTC works, too, but the driver must be at least as new as the compiler. The PTX of version 12.0.76 needs driver 525 or later,
and a GPU of compute capability 7.0 (Volta) or later.
"""

import ctypes
import glob
import pathlib
import sys

HERE = pathlib.Path(__file__).parent / "src" / "kernels"
# Without `-ftz` and `-fmad`, subnormal numbers are kept, and no operations are fused.
OPTIONS = [b"--gpu-architecture=compute_70", b"--std=c++17", b"--fmad=false", b"--ftz=false", b"--prec-div=true"]


def library():
    """NVRTC from PyPI's package, or else where the loader finds it."""
    for folder in sys.path:
        for path in glob.glob(f"{folder}/nvidia/cuda_nvrtc/lib/libnvrtc.so.*"):
            return ctypes.CDLL(path)
    return ctypes.CDLL("libnvrtc.so.12")


def digest(text):
    """The FNV-1a hash of a text, which the test `the_kernels_are_compiled_from_their_source` compares."""
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def compiled(nvrtc, source):
    """The PTX of a source."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None):
        sys.exit("kernels.py: NVRTC cannot create a program")
    failed = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), (ctypes.c_char_p * len(OPTIONS))(*OPTIONS))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    print(log.value.decode(), file=sys.stderr)
    if failed:
        sys.exit("kernels.py: kernels.cu does not compile")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.value


if __name__ == "__main__":
    source = (HERE / "kernels.cu").read_bytes()
    ptx = compiled(library(), source)
    header = f"// kernels.cu {digest(source):016x}\n".encode()
    (HERE / "kernels.ptx").write_bytes(header + ptx)
