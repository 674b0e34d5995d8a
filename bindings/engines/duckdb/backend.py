"""Builds a wheel with maturin, and turns its library into the extension file that DuckDB loads. `python backend.py WHEEL` converts a wheel
that maturin has built.

DuckDB recognises an extension by the last 512 bytes of its file: eight fields of 32 bytes, in reverse order, and room for a
signature. """

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

from maturin import build_sdist, get_requires_for_build_sdist, get_requires_for_build_wheel  # noqa: F401
from maturin import build_wheel as _build_wheel

# The version of the C API that `src/boundary/entry.rs` requests.
API = "v1.2.0"
ABI = "C_STRUCT"

# The extension's file in the wheel.
FILE = "treefold_duckdb/treefold.duckdb_extension"

# The folder of files that maturin adds for cffi: the library, and modules that the wheel does not need.
FOR_CFFI = "treefold_duckdb/treefold_duckdb/"

# DuckDB's names of platforms, by patterns that match the names of wheels.
PLATFORMS = {
    r"-(many)?linux\w*_x86_64\b": "linux_amd64",
    r"-(many)?linux\w*_aarch64\b": "linux_arm64",
    r"-musllinux\w*_x86_64\b": "linux_amd64_musl",
    r"-musllinux\w*_aarch64\b": "linux_arm64_musl",
    r"-macosx\w*_x86_64\b": "osx_amd64",
    r"-macosx\w*_arm64\b": "osx_arm64",
}


def footer(platform, version):
    """Returns the bytes that follow the library in the extension file."""
    fields = ["4", platform, API, version, ABI, "", "", ""]
    return b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields)) + bytes(256)


def platform_of(wheel):
    """Returns DuckDB's name for the platform of a wheel."""
    for pattern, platform in PLATFORMS.items():
        if re.search(pattern, wheel.name.replace(".", " ")):
            return platform
    sys.exit(f"{wheel.name}: DuckDB has no name for the platform of this wheel")


def finish(wheel):
    """Replaces the library in a wheel that maturin has built by the extension file."""
    version = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as made:
        contents = {info: made.read(info) for info in made.infolist()}
    files = {}
    for info, content in contents.items():
        if info.filename.endswith("/RECORD"):
            record = info
        elif not info.filename.startswith(FOR_CFFI):
            files[info.filename] = info, content
        elif info.filename.endswith((".so", ".dylib")):
            info.filename = FILE
            files[FILE] = info, content + footer(platform_of(wheel), version)
    lines = []
    for name, (_, content) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    lines.append(f"{record.filename},,\n")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as finished:
        for info, content in [*files.values(), (record, "".join(lines).encode())]:
            finished.writestr(info, content)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds a wheel. pip calls this function."""
    name = _build_wheel(wheel_directory, config_settings, metadata_directory)
    finish(pathlib.Path(wheel_directory, name))
    return name


if __name__ == "__main__":
    finish(pathlib.Path(sys.argv[1]))
