//! The stage `programs`: runs LAMMPS, PETSc and mpi4py from Debian with two of Open MPI's allreduce algorithms each. Without the interposer, their results must
//! differ, else nothing is shown; with it, they must be the same bytes. `treefold-run --check` must report LAMMPS.

mod cost;
mod picture;

use std::path::Path;
use std::process::Command;

use checkout::workspace::workspace;

use crate::commands::{Result, output};
use crate::libraries::prefix;
use crate::pmpi::{Mode, launch, treefold_run};
use crate::setup;
use crate::steps::Steps;

/// Debian builds both against Open MPI.
const LIBRARY: &str = "openmpi";

const PACKAGES: [&str; 3] = ["lammps", "python3-petsc4py-real", "python3-mpi4py"];

/// Debian's Python, which has petsc4py and mpi4py, unlike others on PATH.
const PYTHON: &str = "/usr/bin/python3";

/// A file of each package; petsc4py's folder contains its version.
const PETSC: &str = "/usr/share/doc/python3-petsc4py-real/copyright";
const MPI4PY: &str = "/usr/share/doc/python3-mpi4py/copyright";

/// Two algorithms of Open MPI: the numbers, blocking and non-blocking, and the names.
const ALGORITHMS: [[&str; 2]; 2] = [["1", "1"], ["3", "2"]];
const NAMES: [&str; 2] = ["linear", "recursive doubling"];

/// A program with its input, and a filter for its result.
#[derive(Clone, Copy)]
struct InstalledProgram {
    title: &'static str,
    ranks: usize,
    words: &'static [&'static str],
    /// The input in bindings/interposer/tests/programs, which is the last argument.
    input: &'static str,
    options: &'static [&'static str],
    result: fn(&str) -> Vec<&str>,
}

const LAMMPS: InstalledProgram = InstalledProgram {
    title: "LAMMPS, a melt of 864 atoms",
    // On 2, 3 and 4 ranks, Open MPI's own choice often gives the tree's bits.
    ranks: 5,
    words: &["lmp", "-log", "none", "-in"],
    input: "melt.lammps",
    options: &[],
    result: thermodynamics,
};

const PETSC_CG: InstalledProgram = InstalledProgram {
    title: "PETSc, conjugate gradients",
    ranks: 3,
    words: &[PYTHON],
    input: "cg.py",
    options: &[],
    result: |output| output.lines().collect(),
};

/// Its sums are MPI_Iallreduces, which overlap with the matrix product.
const PETSC_OVERLAPPED: InstalledProgram = InstalledProgram {
    title: "PETSc, conjugate gradients without blocking",
    options: &["-ksp_type", "groppcg"],
    ..PETSC_CG
};

/// One MPI_Iallreduce for all sums of a step, overlapping with the preconditioner and the product.
const PETSC_PIPELINED: InstalledProgram = InstalledProgram {
    title: "PETSc, pipelined conjugate gradients",
    options: &["-ksp_type", "pipecg"],
    ..PETSC_CG
};

/// Its gradients are MPI_Iallreduces in place.
const DESCENT: InstalledProgram = InstalledProgram {
    title: "mpi4py, gradient descent",
    input: "descent.py",
    ..PETSC_CG
};

/// Runs the stage.
pub(crate) fn installed_programs(steps: &mut Steps) -> Result {
    let what = "LAMMPS, PETSc and mpi4py, which need root on Debian";
    setup::install_for(what, &["lmp", PETSC, MPI4PY], &PACKAGES)?;
    steps.with_library(LIBRARY, |steps| {
        let prefix = prefix(steps)?;
        for mode in [Mode::Without, Mode::On] {
            for case in [PETSC_CG, PETSC_OVERLAPPED, PETSC_PIPELINED, DESCENT] {
                case.compare(steps, &prefix, mode)?;
            }
        }
        // Open MPI's own choice of algorithm gives other bits than the tree.
        let mut command = treefold_run("--check", steps, &prefix, LAMMPS.ranks, LAMMPS.words[0]);
        LAMMPS.complete(&mut command);
        let step = format!("{}: treefold-run --check", LAMMPS.title);
        steps.expect(step, command, true, &["had other bits than treefold's"])?;
        let without = LAMMPS.compare(steps, &prefix, Mode::Without)?;
        let with = LAMMPS.compare(steps, &prefix, Mode::On)?;
        let version = steps.installation.version().unwrap_or_default();
        let picture = picture::record(&version, NAMES, [&without, &with]);
        steps.note_picture(picture);
        cost::measure(steps, &prefix)
    })
}

impl InstalledProgram {
    /// The words of the command that starts its ranks.
    fn complete(&self, command: &mut Command) {
        let folder = workspace().join("bindings/interposer/tests/programs");
        command.args(&self.words[1..]).arg(folder.join(self.input));
        command.args(self.options);
        command.env("OMP_NUM_THREADS", "1");
    }

    /// Runs it with both algorithms and compares. Returns both outputs.
    fn compare(&self, steps: &mut Steps, prefix: &Path, mode: Mode) -> Result<[String; 2]> {
        let commands = ALGORITHMS.map(|[blocking, non_blocking]| {
            let mut command = launch(steps, prefix, mode, self.ranks, self.words[0]);
            self.complete(&mut command);
            command.env("OMPI_MCA_coll_tuned_use_dynamic_rules", "1");
            command.env("OMPI_MCA_coll_tuned_allreduce_algorithm", blocking);
            command.env("OMPI_MCA_coll_libnbc_iallreduce_algorithm", non_blocking);
            command
        });
        let (name, is_interposed) = match mode {
            Mode::On => ("with the interposer, two algorithms agree", true),
            _ => ("without it, they do not", false),
        };
        let mut printed = Default::default();
        steps.check(format!("{}: {name}", self.title), || {
            let [one, other] = commands;
            printed = [output(one)?, output(other)?];
            let [first, second] = &printed;
            judge(&(self.result)(first), &(self.result)(second), is_interposed)
        })?;
        Ok(printed)
    }
}

/// Compares the results of two runs. Returns a summary, or an error if the comparison is not as expected.
fn judge(first: &[&str], second: &[&str], must_agree: bool) -> Result<String> {
    let (Some(first_end), Some(second_end)) = (first.last(), second.last()) else {
        return Err("a run printed no result".into());
    };
    let parted = first.iter().zip(second).position(|(x, y)| x != y);
    let parted = parted.or((first.len() != second.len()).then(|| first.len().min(second.len())));
    let lines = first.len();
    let said = match parted {
        None => format!("{lines} lines are the same; at the end {first_end}"),
        Some(line) => {
            let line = line + 1;
            format!("they part in line {line} of {lines}; at the end\n{first_end}\n{second_end}")
        }
    };
    // If results agree without the interposer, the run with it shows nothing.
    if parted.is_none() == must_agree {
        Ok(said)
    } else {
        Err(said.into())
    }
}

/// The tables of LAMMPS' output, without lines that contain times.
fn thermodynamics(output: &str) -> Vec<&str> {
    let mut is_table = false;
    let mut lines = Vec::new();
    for line in output.lines() {
        if line.trim_start().starts_with("Step") {
            is_table = true;
        } else if line.starts_with("Loop time") {
            is_table = false;
        }
        if is_table {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{judge, thermodynamics};

    #[test]
    fn tables_have_no_times() {
        let output =
            "LAMMPS\nPer MPI rank memory\n   Step Temp\n   0 3\n 100 2.5\nLoop time of 1.4\n";
        assert_eq!(
            thermodynamics(output),
            ["   Step Temp", "   0 3", " 100 2.5"]
        );
        assert!(thermodynamics("ERROR: no such file\n").is_empty());
    }

    #[test]
    fn runs_are_judged() {
        assert!(judge(&["a", "b"], &["a", "b"], true).is_ok());
        assert!(judge(&["a", "b"], &["a", "c"], false).is_ok());
        assert!(judge(&["a", "b"], &["a", "c"], true).is_err());
        assert!(judge(&["a"], &["a"], false).is_err());
        assert!(judge(&["a", "b"], &["a"], true).is_err());
        assert!(judge(&[], &[], true).is_err());
    }
}
