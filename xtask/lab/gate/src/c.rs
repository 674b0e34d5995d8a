//! The stage `c`: installs the libraries, builds programs in C, C++ and Fortran against them as users would, and runs them.
//!
//! CMake builds programs in C++ and Fortran, and C programs with the static libraries. Other C programs are compiled with pkg-config's
//! options. Under MPI, each program runs on several numbers of ranks with both of Debian's MPI libraries.

pub(crate) mod consumers;
pub(crate) mod footprint;
mod golden;
pub(crate) mod programs;
pub(crate) mod symbols;

use std::fs;
use std::path::Path;

use checkout::files::{empty, name, read, remove, with_extension};
use checkout::workspace::{target, workspace};
use consumers::{BY_CMAKE, Consumers};

use crate::{MPI_LIBRARIES, Result, Steps, Stop, command, needs, prefix, setup, words, xtask};

/// Runs the stage.
pub(crate) fn c(steps: &mut Steps) -> Result {
    setup::install_compilers();
    let folder = target()?.join("c");
    empty(&folder)?;
    check(steps, &folder)?;
    // The programs take a gigabyte of space. They are kept only after a failure.
    Ok(remove(&folder)?)
}

/// Builds programs in a folder and runs them.
fn check(steps: &mut Steps, folder: &Path) -> Result {
    golden::write(steps, folder)?;
    let prefix = prefix(steps)?;
    symbols::check(steps, &prefix)?;
    Consumers::of(&prefix, folder, None).check(steps)?;
    steps.part(|steps| check_subproject(steps, &folder.join("subproject")))?;
    if !steps.mpi {
        return Ok(());
    }
    steps.with_each_library(|steps, library| {
        Consumers::of(&prefix, folder, Some(library)).check(steps)?;
        if library == MPI_LIBRARIES[0] {
            steps.part(|steps| footprint::check(steps, &prefix, folder))?;
        }
        Ok(())
    })
}

/// A finding of valgrind is treefold's if it has a stack frame in this library.
const OWN_LIBRARY: &str = "libtreefold";

/// Checks the reports of all ranks, `PROGRAM.*.xml` in a folder, and removes them.
///
/// # Errors
/// The number of reports is wrong, or a report is incomplete or has a finding in treefold.
fn check_findings(folder: &Path, program: &str, ranks: usize) -> Result<String> {
    let mut reports = with_extension(folder, "xml")?;
    reports.retain(|path| name(path).starts_with(&format!("{program}.")));
    let mut others = 0;
    for path in &reports {
        let report = read(path)?;
        let shown = path.display();
        if !report.trim_end().ends_with("</valgrindoutput>") {
            return Err(format!("{shown} is incomplete").into());
        }
        let (own, other) = findings(&report);
        if let Some(first) = own.first() {
            let count = own.len();
            return Err(format!("{shown}: {count} findings in treefold\n{first}").into());
        }
        others += other;
        fs::remove_file(path)?;
    }
    if reports.len() == ranks {
        Ok(format!("none in treefold, {others} in the MPI library"))
    } else {
        Err(format!("{} reports for {ranks} ranks", reports.len()).into())
    }
}

/// The findings of a report that are in treefold, and the number of other findings.
fn findings(report: &str) -> (Vec<&str>, usize) {
    let findings = report.split("<error>").skip(1);
    let findings = findings.filter_map(|text| text.split("</error>").next());
    let (own, others): (Vec<&str>, Vec<&str>) =
        findings.partition(|finding| finding.contains(OWN_LIBRARY));
    (own, others.len())
}

/// The programs of the subproject without ranks.
const PROGRAMS: [&str; 4] = ["shared", "static", "cpp", "fortran"];

/// The program of the subproject that runs on ranks, and the number of ranks.
const ON_RANKS: (&str, usize) = ("ranks", 2);

/// Configures, builds and runs a project that builds treefold. Cargo reuses the libraries that an installation built in the target folder.
fn check_subproject(steps: &mut Steps, build: &Path) -> Result {
    needs("a project that builds treefold", &BY_CMAKE)?;
    let title = "as a part of a project";
    let treefold = format!("-DTREEFOLD={}", workspace().display());
    let mpi = if steps.mpi {
        format!("-DMPI_C_COMPILER=mpicc.{}", MPI_LIBRARIES[0])
    } else {
        "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON".to_owned()
    };
    let configure = "cmake -S bindings/c/tests/subproject -B";
    let configure = command!(configure, build, treefold, mpi);
    steps.build(format!("{title}: cmake and cargo"), configure)?;
    let make = command!("cmake --build", build, "--parallel 2");
    steps.build(format!("{title}: cmake builds"), make)?;
    for program in PROGRAMS {
        let step = format!("{title}: {program}");
        steps.step(step, command!(build.join(program)))?;
    }
    if !steps.mpi {
        return Ok(());
    }
    steps.with_library(MPI_LIBRARIES[0], |steps| {
        let (program, ranks) = ON_RANKS;
        let command = steps.installation.command(ranks, &build.join(program));
        steps.step(format!("{title}: {program}, p = {ranks}"), command)
    })
}

/// Compiler options. The second one permits the standard library, which is built without a sanitizer.
const FLAGS: &str = "-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer";

/// The target is named explicitly, so that build scripts are built without a sanitizer.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs the stage `asan`: builds the libraries and C programs with sanitizers, and runs the programs.
pub(crate) fn asan(steps: &mut Steps) -> Result {
    setup::needs_nightly("asan")?;
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Stop::skipped(format!("asan, which needs {TARGET}"));
    }
    setup::install_compilers();
    let folder = target()?.join("asan");
    let prefix = folder.join("prefix");
    remove(&prefix)?;
    let mut install = xtask(steps, words!["install --prefix", prefix])?;
    install.envs([
        // rustup's `cargo` runs the toolchain that the next variable names.
        ("CARGO", "cargo"),
        ("RUSTUP_TOOLCHAIN", "nightly"),
        ("RUSTFLAGS", FLAGS),
        ("CARGO_BUILD_TARGET", TARGET),
        // Level 1 takes less time to build. Level 0 would have no vector kernels.
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ]);
    install.env("CARGO_TARGET_DIR", folder.join("build"));
    let step = "install, with AddressSanitizer in the libraries";
    steps.build(step, install)?;
    golden::write(steps, &folder)?;
    Consumers::of(&prefix, &folder, None).with_sanitizers(steps)?;
    if !steps.mpi {
        return Ok(());
    }
    steps.with_each_library(|steps, library| {
        Consumers::of(&prefix, &folder, Some(library)).with_sanitizers(steps)
    })
}

#[cfg(test)]
mod tests {
    use super::findings;

    #[test]
    fn a_finding_with_a_frame_of_ours_is_ours() {
        let report = "<valgrindoutput><error><kind>InvalidRead</kind><obj>/usr/lib/libmpi.so.40</obj></error>\
                      <error><obj>/usr/lib/libmpi.so.40</obj><obj>/x/libtreefold.so.0.1.0</obj></error></valgrindoutput>";
        let (own, others) = findings(report);
        assert_eq!((own.len(), others), (1, 1));
        assert!(own[0].contains("treefold"));
    }
}
