//! The stage `programs`: runs LAMMPS, PETSc and mpi4py from Debian, each with two of Open MPI's allreduce algorithms. With the interposer, the
//! two results must be equal. Without it, they must differ, or the test shows nothing. `treefold-run --check` must report sums of LAMMPS.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use checkout::machine::Machine;
use checkout::workspace::{target, workspace};
use serde_json::json;

use crate::pages::{Line, Picture, drawn};
use crate::pmpi::{Mode, OVERHEAD_RANKS, compile, launch, treefold_run};
use crate::{Result, Steps, install_for, output, prefix, words};

/// Debian builds these programs against Open MPI.
const LIBRARY: &str = "openmpi";

const PACKAGES: &str = "lammps python3-petsc4py-real python3-mpi4py";

/// A file that each package installs. Other files of petsc4py have its version in their paths.
const PETSC: &str = "/usr/share/doc/python3-petsc4py-real/copyright";
const MPI4PY: &str = "/usr/share/doc/python3-mpi4py/copyright";

/// Two algorithms of Open MPI: their numbers for blocking and non-blocking calls, and their names.
const ALGORITHMS: [[&str; 2]; 2] = [["1", "1"], ["3", "2"]];
const NAMES: [&str; 2] = ["linear", "recursive doubling"];

/// A program, and the function that selects the result from its output.
struct InstalledProgram {
    title: &'static str,
    ranks: usize,
    /// The program's name, options and input.
    words: &'static str,
    result: fn(&str) -> Vec<&str>,
}

const LAMMPS: InstalledProgram = InstalledProgram {
    title: "LAMMPS, a melt of 864 atoms",
    // On 2, 3 and 4 ranks, Open MPI's own choice often gives the tree's bits.
    ranks: 5,
    words: "lmp -log none -in @/bindings/interposer/tests/programs/melt.lammps",
    result: thermodynamics,
};

/// Programs for Debian's Python, which has petsc4py and mpi4py, unlike other Pythons on PATH.
const IN_PYTHON: [InstalledProgram; 4] = [
    in_python(
        "PETSc, conjugate gradients",
        "/usr/bin/python3 @/bindings/interposer/tests/programs/cg.py",
    ),
    // Its sums are MPI_Iallreduces, which overlap with the matrix product.
    in_python(
        "PETSc, conjugate gradients without blocking",
        "/usr/bin/python3 @/bindings/interposer/tests/programs/cg.py -ksp_type groppcg",
    ),
    // One MPI_Iallreduce for all sums of a step, overlapping with the preconditioner and the product.
    in_python(
        "PETSc, pipelined conjugate gradients",
        "/usr/bin/python3 @/bindings/interposer/tests/programs/cg.py -ksp_type pipecg",
    ),
    // Its gradients are MPI_Iallreduces in place.
    in_python(
        "mpi4py, gradient descent",
        "/usr/bin/python3 @/bindings/interposer/tests/programs/descent.py",
    ),
];

const fn in_python(title: &'static str, words: &'static str) -> InstalledProgram {
    InstalledProgram {
        title,
        ranks: 3,
        words,
        result: |output| output.lines().collect(),
    }
}

/// Runs the stage.
pub(crate) fn installed_programs(steps: &mut Steps) -> Result {
    let what = "LAMMPS, PETSc and mpi4py, which need root on Debian";
    install_for(what, &["lmp", PETSC, MPI4PY], PACKAGES)?;
    steps.with_library(LIBRARY, |steps| {
        let prefix = prefix(steps)?;
        for mode in [Mode::Without, Mode::On] {
            for program in &IN_PYTHON {
                program.compare(steps, &prefix, mode)?;
            }
        }
        // Open MPI's own choice of algorithm gives other bits than the tree.
        let command =
            LAMMPS.start(|program, ranks| treefold_run("--check", steps, &prefix, ranks, program));
        let step = format!("{}: treefold-run --check", LAMMPS.title);
        steps.expect(step, command, true, &["had other bits than treefold's"])?;
        let without = LAMMPS.compare(steps, &prefix, Mode::Without)?;
        let with = LAMMPS.compare(steps, &prefix, Mode::On)?;
        let version = steps.installation.version().unwrap_or_default();
        steps.note_picture(divergence(&version, NAMES, [&without, &with]));
        measure_cost(steps, &prefix)
    })
}

impl InstalledProgram {
    /// The command that starts the program's ranks.
    fn start(&self, launch: impl FnOnce(&OsString, usize) -> Command) -> Command {
        let words = words![self.words];
        let mut command = launch(&words[0], self.ranks);
        command.args(&words[1..]).env("OMP_NUM_THREADS", "1");
        command
    }

    /// Runs the program with both algorithms, compares the results, and returns both outputs.
    fn compare(&self, steps: &mut Steps, prefix: &Path, mode: Mode) -> Result<[String; 2]> {
        let commands = ALGORITHMS.map(|[blocking, non_blocking]| {
            let mut command =
                self.start(|program, ranks| launch(steps, prefix, mode, ranks, program));
            command.env("OMPI_MCA_coll_tuned_use_dynamic_rules", "1");
            command.env("OMPI_MCA_coll_tuned_allreduce_algorithm", blocking);
            command.env("OMPI_MCA_coll_libnbc_iallreduce_algorithm", non_blocking);
            command
        });
        let (name, is_interposed) = match mode {
            Mode::On => ("with the interposer, two algorithms agree", true),
            _ => ("without it, two algorithms differ", false),
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
        None => format!("all {lines} lines are equal; the last is {first_end}"),
        Some(line) => {
            let line = line + 1;
            format!(
                "lines differ from line {line} of {lines} on; the last are\n{first_end}\n{second_end}"
            )
        }
    };
    // If the results agree without the interposer, their agreement with it shows nothing.
    let is_expected = parted.is_none() == must_agree;
    is_expected.then(|| said.clone()).ok_or_else(|| said.into())
}

/// The tables of LAMMPS' output, without lines that contain times.
fn thermodynamics(output: &str) -> Vec<&str> {
    let mut is_table = false;
    let is_of_table = |line: &&str| {
        is_table |= line.trim_start().starts_with("Step");
        is_table &= !line.starts_with("Loop time");
        is_table
    };
    output.lines().filter(is_of_table).collect()
}

/// The measured libraries: the suffixes of their compiler wrappers, and their names.
const MEASURED: [(&str, &str); 2] = [("openmpi", "Open MPI"), ("mpich", "MPICH")];

/// Repetitions of the shortest message.
const REPETITIONS: &str = "1000";

/// Measures what a call costs with every library, and records the picture.
fn measure_cost(steps: &mut Steps, prefix: &Path) -> Result {
    let source = workspace().join("bindings/interposer/tests/c/overhead.c");
    let mut lines = Vec::new();
    for (library, name) in MEASURED {
        steps.with_library(library, |steps| {
            let program = target()?.join(format!("overhead-{library}"));
            let compiler = format!("mpicc.{library}");
            let program = compile(steps, &compiler, &source, Vec::new(), program)?;
            let mut command = launch(steps, prefix, Mode::On, OVERHEAD_RANKS, program);
            command.arg(REPETITIONS);
            let mut printed = String::new();
            steps.check(format!("{name}: what a call costs"), || {
                printed = output(command)?;
                Ok(printed.clone())
            })?;
            lines.extend(ratios(&printed, name));
            Ok(())
        })?;
    }
    // One panel for each call, with both libraries.
    lines.sort_by(|one, other| one.name.cmp(&other.name));
    steps.note_picture(cost(&lines));
    Ok(())
}

/// A line of the picture for each printed table. A point is a number of bytes, and treefold's time divided by the library's.
fn ratios(printed: &str, library: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in printed.lines() {
        // A row may end with the number of gathered bytes.
        let gathered = line.strip_suffix(" B");
        let times = gathered.and_then(|row| row.rsplit_once(' '));
        let numbers: Option<Vec<f64>> = times
            .map_or(line, |(times, _)| times)
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect();
        match (numbers.as_deref(), line.split_once(", ")) {
            (Some(&[bytes, own_us, library_us, _]), _) => {
                if let Some(last) = lines.last_mut() {
                    last.points.push((bytes, own_us / library_us));
                }
            }
            (_, Some((call, rest))) if rest.contains("ranks") => {
                let name = format!("treefold's MPI_{call}, over {library}'s");
                let points = Vec::new();
                lines.push(Line { name, points });
            }
            _ => {}
        }
    }
    lines
}

fn cost(lines: &[Line]) -> Picture {
    let machine = Machine::here();
    let (processor, cores) = (&machine.processor, machine.cores);
    let (date, commit) = (&machine.date, &machine.commit);
    let ratios = lines.iter().flat_map(|line| &line.points);
    let extremes = (f64::INFINITY, 0.0);
    let (least, most) = ratios.fold(extremes, |(least, most), point| {
        (f64::min(least, point.1), f64::max(most, point.1))
    });
    let mut drawn = drawn(lines);
    drawn.push(json!({ "name": "the same time", "style": "level", "points": [[0.0, 1.0]] }));
    let record = json!({
        "source": format!(
            "cargo xtask test --stage programs --record; {machine}; {date}, commit {commit}; shared with other programs"
        ),
        "title": format!(
            "A call through the interposer takes {least:.2} to {most:.2} times the MPI library's time"
        ),
        "subtitle": format!(
            "{OVERHEAD_RANKS} ranks on {cores} cores of {processor}; measured alternately, minimum of 31 times"
        ),
        "x": { "name": "message, bytes", "scale": "doublings" },
        "y": { "name": "time over the library's own, ratio", "scale": "decades" },
        "size": "panels",
        "lines": drawn,
    });
    Picture {
        name: "interposer-cost",
        record,
    }
}

/// The picture of two pairs of runs, without and with the interposer. Each pair has one run with each of the two named algorithms.
fn divergence(version: &str, algorithms: [&str; 2], [without, with]: [&[String; 2]; 2]) -> Picture {
    let without = differences(without);
    let with = differences(with);
    let first = without.iter().find(|point| point.1 > 0.0);
    let diverge = first.map_or("are equal at every step".to_owned(), |point| {
        format!("diverge from step {} on", point.0)
    });
    let title = format!(
        "With two algorithms of one MPI library, a melt's temperatures {diverge}; with treefold they {}",
        if with.iter().all(|point| point.1 <= 0.0) {
            "are equal at every step"
        } else {
            "diverge as well"
        }
    );
    let lines = [("treefold", with), ("MPI_Allreduce", without)];
    let lines = lines.map(|(name, points)| Line {
        name: name.to_owned(),
        points,
    });
    let record = json!({
        "source": "cargo xtask test --stage programs --record",
        "title": title,
        "subtitle": format!(
            "LAMMPS, 864 atoms, 5 ranks, Open MPI {version}, unchanged program; allreduces {} and {}",
            algorithms[0], algorithms[1]
        ),
        "x": { "name": "time, steps", "scale": "linear" },
        "y": { "name": "difference of temperatures, Lennard-Jones units", "scale": "decades and zero" },
        "lines": drawn(&lines),
    });
    Picture {
        name: "unchanged-programs",
        record,
    }
}

/// The differences between the temperatures of two runs, at the steps that both print.
fn differences([one, other]: &[String; 2]) -> Vec<(f64, f64)> {
    let pairs = temperatures(one).into_iter().zip(temperatures(other));
    let same = pairs.filter(|(one, other)| one.0.total_cmp(&other.0).is_eq());
    let points = same.map(|((step, one), (_, other))| (step, (one - other).abs()));
    points.collect()
}

/// A run's steps and temperatures: the first two words of lines that begin with a step.
fn temperatures(output: &str) -> Vec<(f64, f64)> {
    let lines = thermodynamics(output).into_iter();
    let pairs = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let mut number = || words.next()?.parse::<f64>().ok();
        Some((number()?, number()?))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use serde_json::json;

    use super::{cost, divergence, judge, ratios, thermodynamics};

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

    #[test]
    fn tables_become_lines() {
        let printed = "\nAllreduce, 2 ranks, least of 31\n bytes MPI_, µs PMPI_, µs ratio\n 8 0.5 0.25 2.00\n 16 1 1 1\n\nIallreduce and Wait, 2 ranks, least of 31\n 8 3 6 0.5 16 B\n\nshares\n 8 1 1 1 16\n";
        let lines = ratios(printed, "MPICH");
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].points, [(8.0, 0.5)]);
        assert_eq!(lines[0].name, "treefold's MPI_Allreduce, over MPICH's");
        assert_eq!(lines[0].points, [(8.0, 2.0), (16.0, 1.0)]);
        let picture = cost(&lines);
        let title = picture.record["title"].as_str().unwrap_or_default();
        assert!(title.contains("takes 0.50 to 2.00 times"), "{title}");
    }

    #[test]
    fn differences_are_drawn() {
        let output =
            |end: &str| format!("   Step Temp\n    0 5\n   20 2.5\n   40 {end}\nLoop time\n");
        let run = |ends: [&str; 2]| ends.map(output);
        let (without, with) = (run(["2.25", "1.75"]), run(["2", "2"]));
        let record = divergence("4.1.4", ["linear", "other"], [&without, &with]);
        let drawn = |line: usize| record.record["lines"][line]["points"].clone();
        let end = |y: f64| json!([[0.0, 0.0], [20.0, 0.0], [40.0, y]]);
        assert_eq!([0, 1].map(drawn), [end(0.0), end(0.5)]);
        let title = record.record["title"].as_str().unwrap();
        assert!(
            title.contains("diverge from step 40 on; with treefold they are equal"),
            "{title}"
        );
    }
}
