//! MPI libraries that a program is not linked to: one of no known family, one that a module loads privately, and one that mpi4py's wheel loads.

use std::path::{Path, PathBuf};

use checkout::workspace::{target, workspace};
use launch::installed::is_on_path;

use super::Suite;
use super::ranks::{LIBRARY, Mode, compile, launch, treefold_run};
use crate::commands::{Result, Stop, command, words};
use crate::files::make;
use crate::python::{for_mpi4py, mpi4py};
use crate::steps::Steps;

const RANKS: usize = 2;

/// The compiler's options for a shared library.
const SHARED: &str = "-shared -fPIC";

/// One of the programs' sources.
pub(super) fn source(name: &str) -> PathBuf {
    workspace()
        .join("bindings/interposer/tests/tool")
        .join(name)
}

/// Tests a library of no known family with and without the interposer, which must pass its calls on.
pub(super) fn of_no_family(steps: &mut Steps, prefix: &Path) -> Result {
    let folder = target()?.join("pmpi-programs/nobody");
    make(&folder)?;
    let library = folder.join("libnobody.so");
    let library = compile(steps, "cc", &source("nobody.c"), words![SHARED], library)?;
    let program = folder.join("nobodys");
    let program = compile(steps, "cc", &source("nobodys.c"), words![library], program)?;
    let title = "a program of a library of no family";
    let mut run = command!(program);
    steps.step(format!("{title}, without the interposer"), &mut run)?;
    run.env("LD_PRELOAD", LIBRARY);
    run.env("LD_LIBRARY_PATH", prefix.join("lib"));
    steps.step(format!("{title}, with the interposer"), run)
}

impl Suite<'_> {
    /// Programs that load this suite's library privately.
    pub(super) fn loaded(&self, steps: &mut Steps) -> Result {
        steps.part(|steps| self.module(steps))?;
        self.device(steps)?;
        steps.part(|steps| self.mpi4py(steps))
    }

    /// A fake driver that declares some memory a device's, and its program.
    fn device(&self, steps: &mut Steps) -> Result {
        let driver = self.folder.join("libcuda.so.1");
        let shared = words![SHARED, "-Wl,-soname,libcuda.so.1"];
        let driver = compile(steps, "cc", &source("driver.c"), shared, driver)?;
        let found = format!("-Wl,-rpath,{}", self.folder.display());
        let program = self.compile(steps, &source("device.c"), words![driver, found], "device")?;
        let step = format!("{}: buffers in a device's memory", self.library);
        let command = treefold_run("--check", steps, self.prefix, RANKS, program);
        steps.expect(step, command, true, &["in GPU memory"])
    }

    /// A module in Fortran, and a program that knows nothing of MPI.
    fn module(&self, steps: &mut Steps) -> Result {
        let compiler = self.fortran("a module in Fortran")?;
        let host = self.folder.join("host");
        let host = compile(steps, "cc", &source("host.c"), Vec::new(), host)?;
        let module = self.folder.join("libmodule.so");
        let module = compile(
            steps,
            &compiler,
            &source("module.F90"),
            words![SHARED],
            module,
        )?;
        let title = format!("{}: a module that loads the library", self.library);
        for mode in [Mode::Without, Mode::On] {
            let mut command = launch(steps, self.prefix, mode, RANKS, &host);
            let step = format!("{title}, {}", mode.title());
            steps.step(step, command.arg(&module))?;
        }
        let mut command = treefold_run("--check", steps, self.prefix, RANKS, &host);
        let step = format!("{title}, by treefold-run --check");
        steps.expect(step, command.arg(&module), true, &["Allreduce"])
    }

    /// The library's Fortran compiler; skipped without it.
    pub(super) fn fortran(&self, what: &str) -> Result<String> {
        let compiler = format!("mpifort.{}", self.library);
        if is_on_path(&compiler) {
            return Ok(compiler);
        }
        Err(Stop::Skipped(format!("{what}, for want of {compiler}")))
    }

    /// mpi4py's wheel, which also loads its library privately.
    fn mpi4py(&self, steps: &mut Steps) -> Result {
        let python = mpi4py()?;
        let mut command = treefold_run("--check", steps, self.prefix, RANKS, python);
        for_mpi4py(&mut command, self.library, &self.folder)?;
        command.arg(source("sums.py"));
        let step = format!("{}: mpi4py by treefold-run --check", self.library);
        steps.expect(step, command, true, &["Allreduce"])
    }
}
