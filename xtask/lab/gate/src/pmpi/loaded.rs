//! Libraries that a program is not linked to: one of no family, one that a module has for itself, and one that mpi4py's wheel loads.

use std::fs;
use std::path::Path;
use std::process::Command;

use checkout::workspace::{target, workspace};
use launch::Error;
use launch::installed::is_on_path;

use super::ranks::{LIBRARY, Mode, check, launch, report};
use super::{FORTRAN_FLAGS, Suite};
use crate::c::consumers::C_FLAGS;
use crate::python::{for_mpi4py, mpi4py};
use crate::steps::{Steps, Stop};

const RANKS: usize = 2;

/// The programs' sources.
const SOURCES: &str = "bindings/interposer/tests/tool";

/// A library of no family, and its program, with the interposer and without it: it passes on what it does not know.
pub(super) fn of_no_family(steps: &mut Steps, prefix: &Path) -> Result<(), Stop> {
    let folder = target()?.join("pmpi-programs/nobody");
    fs::create_dir_all(&folder).map_err(|error| Stop::Error(Error::file(&folder, error)))?;
    let sources = workspace().join(SOURCES);
    let (library, program) = (folder.join("libnobody.so"), folder.join("nobodys"));
    let mut compile = Command::new("cc");
    compile.args(C_FLAGS).args(["-shared", "-fPIC"]);
    compile.arg(sources.join("nobody.c")).arg("-o");
    steps.step("a library of no family compiles", compile.arg(&library))?;
    let mut compile = Command::new("cc");
    compile.args(C_FLAGS).arg(sources.join("nobodys.c"));
    compile.arg(&library).arg("-o");
    steps.step("its program compiles", compile.arg(&program))?;
    steps.step(
        "its program without the interposer",
        &mut Command::new(&program),
    )?;
    let mut with = Command::new(&program);
    with.env("LD_PRELOAD", LIBRARY);
    with.env("LD_LIBRARY_PATH", prefix.join("lib"));
    steps.step("its program with the interposer", &mut with)
}

impl Suite<'_> {
    /// Programs that load the library of this suite for themselves alone.
    pub(super) fn loaded(&self, steps: &mut Steps) -> Result<(), Stop> {
        self.module(steps)?;
        self.device(steps)?;
        self.mpi4py(steps)
    }

    /// A driver that says that some memory is a device's, and its program.
    fn device(&self, steps: &mut Steps) -> Result<(), Stop> {
        let sources = workspace().join(SOURCES);
        let (driver, program) = (self.folder.join("libcuda.so.1"), self.folder.join("device"));
        let mut compile = Command::new("cc");
        compile.args(C_FLAGS).args(["-shared", "-fPIC"]);
        compile
            .arg("-Wl,-soname,libcuda.so.1")
            .arg(sources.join("driver.c"));
        let step = format!("{}: driver.c compiles", self.library);
        steps.step(&step, compile.arg("-o").arg(&driver))?;
        let mut compile = self.compiler();
        compile.args(C_FLAGS).arg(sources.join("device.c"));
        compile
            .arg(&driver)
            .arg(format!("-Wl,-rpath,{}", self.folder.display()));
        let step = format!("{}: device.c compiles", self.library);
        steps.step(&step, compile.arg("-o").arg(&program))?;
        let mut command = check(steps.installation(), self.prefix, RANKS, &program);
        let step = format!("{}: buffers in a device's memory", self.library);
        report(
            steps,
            &step,
            &mut command,
            "in a graphics processor's memory",
        )
    }

    /// A module in Fortran, and a program that knows nothing of MPI.
    fn module(&self, steps: &mut Steps) -> Result<(), Stop> {
        let compiler = format!("mpifort.{}", self.library);
        if !is_on_path(&compiler) {
            println!("skipped: a module in Fortran, for want of {compiler}");
            return Ok(());
        }
        let sources = workspace().join(SOURCES);
        let (host, module) = (self.folder.join("host"), self.folder.join("libmodule.so"));
        let mut compile = Command::new("cc");
        compile.args(C_FLAGS).arg(sources.join("host.c"));
        compile.arg("-o").arg(&host);
        steps.step("host.c compiles", &mut compile)?;
        let mut compile = Command::new(&compiler);
        compile.args(FORTRAN_FLAGS).args(["-shared", "-fPIC"]);
        compile
            .arg(sources.join("module.F90"))
            .arg("-o")
            .arg(&module);
        let step = format!("{}: module.F90 compiles", self.library);
        steps.step(&step, &mut compile)?;
        let installation = steps.installation().clone();
        let title = format!("{}: a module that loads the library", self.library);
        for mode in [Mode::Without, Mode::On] {
            let mut command = launch(&installation, self.prefix, mode, RANKS, &host);
            let step = format!("{title}, {}", mode.title());
            steps.step(&step, command.arg(&module))?;
        }
        let mut command = check(&installation, self.prefix, RANKS, &host);
        let step = format!("{title}, by treefold-run --check");
        report(steps, &step, command.arg(&module), "Allreduce")
    }

    /// mpi4py's wheel, which loads its library for itself, too.
    fn mpi4py(&self, steps: &mut Steps) -> Result<(), Stop> {
        let Some(python) = mpi4py()? else {
            return Ok(());
        };
        let mut command = check(steps.installation(), self.prefix, RANKS, &python);
        for_mpi4py(&mut command, self.library, self.folder)?;
        command.arg(workspace().join(SOURCES).join("sums.py"));
        let step = format!("{}: mpi4py by treefold-run --check", self.library);
        report(steps, &step, &mut command, "Allreduce")
    }
}
