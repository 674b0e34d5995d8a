from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Treefold(Package):
    """Sums and other reductions whose bits do not depend on the number of ranks, threads or processors, for C, C++ and Fortran,
    and for unchanged MPI programs."""

    homepage = "@REPOSITORY@"
    url = "@TARBALL@"

    license("MIT OR Apache-2.0")

    version("@VERSION@", sha256="@TARBALL_SHA256@")

    # C is needed only for its linker. MPI is not needed: the library finds the program's MPI library at run time.
    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")

    requires("platform=linux", msg="treefold's libraries are for Linux")
    requires("target=x86_64:", "target=aarch64:", policy="one_of", msg="treefold's libraries are for x86-64 and 64-bit ARM")

    sanity_check_is_file = [
        "bin/treefold-run",
        "include/treefold.h",
        "include/treefold_mpi.h",
        "lib/libtreefold.so",
        "lib/libtreefold_mpi.so",
        "lib/pkgconfig/treefold.pc",
        "share/treefold/fortran/treefold_descriptor.c",
    ]

    def setup_build_environment(self, env):
        # Cargo writes only to the stage. The tarball contains everything that it reads.
        env.set("CARGO_HOME", join_path(self.stage.path, "cargo-home"))

    def install(self, spec, prefix):
        cargo = which("cargo", required=True)
        cargo("xtask", "install", "--prefix", prefix)
