//! Sets the name by which the shared library is known, asks `mpi.h` what the MPI library has, and compiles its constants.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let version =
        |part: &str| env::var(format!("CARGO_PKG_VERSION_{part}")).expect("cargo sets it");
    // Before 1.0, a minor version may change the interface.
    let interface = match version("MAJOR").as_str() {
        "0" => format!("0.{}", version("MINOR")),
        major => major.to_owned(),
    };
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtreefold_pmpi.so.{interface}");
    }
    println!("cargo:rustc-check-cfg=cfg(open_mpi, large_counts)");
    #[cfg(feature = "pmpi")]
    library::describe();
}

#[cfg(feature = "pmpi")]
mod library {
    use std::env;
    use std::process::Command;

    const CONSTANTS: &str = "src/boundary/constants.c";

    /// The cfgs `open_mpi`, whose Fortran functions call PMPI_ names, and `large_counts`, of MPI 4; and the constants.
    pub(super) fn describe() {
        println!("cargo:rerun-if-changed={CONSTANTS}");
        println!("cargo:rerun-if-env-changed=MPICC");
        let compiler = env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
        let mut command = Command::new(&compiler);
        command.args(["-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null"]);
        let output = command
            .output()
            .unwrap_or_else(|error| panic!("{compiler}: {error}"));
        let macros = String::from_utf8_lossy(&output.stdout).into_owned();
        let value = |name: &str| {
            let definition = format!("#define {name} ");
            let mut lines = macros.lines();
            lines.find_map(|line| Some(line.strip_prefix(&definition)?.trim().to_owned()))
        };
        if value("OPEN_MPI").is_some() {
            println!("cargo:rustc-cfg=open_mpi");
        }
        let version = value("MPI_VERSION").and_then(|version| version.parse::<u32>().ok());
        if version.expect("mpi.h names the version of MPI") >= 4 {
            println!("cargo:rustc-cfg=large_counts");
        }
        cc::Build::new()
            .compiler(compiler)
            .file(CONSTANTS)
            .compile("treefold_pmpi_constants");
    }
}
