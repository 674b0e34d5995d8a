//! What the interposer says, and when: wrong settings, a report that cannot be written, and a tool that hides the program's calls.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use checkout::workspace::workspace;
use launch::installed::is_on_path;

use super::ranks::{LIBRARY, Mode, check, launch, says};
use super::{CANARY_RANKS, Suite};
use crate::c::consumers::C_FLAGS;
use crate::prefixes::MPI_LIBRARIES;
use crate::steps::{Steps, Stop};

const RANKS: usize = 2;

/// MPICH's algorithm by which ranks of one call get different bits, on so many ranks.
const DISAGREEING: [&str; 3] = [
    "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb",
    "MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=tsp_recexch_single_buffer",
    "MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL=4",
];
const DISAGREEING_RANKS: usize = 3;

/// Settings that end a job in MPI_Init, and what is said; `treefold-run` says the same before it starts anything.
const WRONG: [(&str, &str); 4] = [
    (
        "TREEFOLD_PMPI=chek",
        "TREEFOLD_PMPI is `chek`, not one of on, off, check",
    ),
    (
        "TREEFOLD_PMPI_OPS=sum,add",
        "TREEFOLD_PMPI_OPS is `sum,add`, not a list of sum, prod, min and max with commas",
    ),
    (
        "TREEFOLD_SHARED_MEMORY=perhaps",
        "TREEFOLD_SHARED_MEMORY is `perhaps`, not one of on, off",
    ),
    (
        "TREEFOLD_ALGORITHM=fastest",
        "TREEFOLD_ALGORITHM is `fastest`, not one of",
    ),
];

/// What is added to the environment of ranks, what must happen, and what must be said.
#[derive(Clone, Copy)]
struct Case<'a> {
    title: &'a str,
    ranks: usize,
    words: &'a [String],
    succeeds: bool,
    says: &'a str,
}

impl Suite<'_> {
    /// Runs all of them.
    pub(super) fn told(&self, steps: &mut Steps) -> Result<(), Stop> {
        let tools = workspace().join("bindings/interposer/tests/tool");
        let sums = self.folder.join("tests-tool-sums");
        let mut compile = self.compiler();
        compile.args(C_FLAGS).arg(tools.join("sums.c")).arg("-o");
        let step = format!("{}: sums.c compiles", self.library);
        steps.step(&step, compile.arg(&sums))?;
        for (setting, says) in WRONG {
            let words = [setting.to_owned()];
            let case = Case {
                title: setting,
                ranks: RANKS,
                words: &words,
                succeeds: false,
                says: &format!("rank 0: {says}"),
            };
            self.tell(steps, &sums, &case)?;
            self.refuse(steps, &sums, setting, says)?;
        }
        let words = ["TREEFOLD_PMPI_STATS=/no/such/folder/report.json".to_owned()];
        let case = Case {
            title: "a report that cannot be written",
            ranks: RANKS,
            words: &words,
            succeeds: true,
            says: "rank 0: TREEFOLD_PMPI_STATS is `/no/such/folder/report.json`, which cannot be written",
        };
        self.tell(steps, &sums, &case)?;
        for (name, options) in [("ahead", &[][..]), ("ahead-of-all", &["-DHIDES_INIT"])] {
            let tool = self.compile_tool(steps, name, &tools.join("ahead.c"), options)?;
            let words = [
                format!("LD_PRELOAD={}:{LIBRARY}", tool.display()),
                "TREEFOLD_PMPI_STATS=stderr".to_owned(),
            ];
            let case = Case {
                title: &format!("a tool that is {name}"),
                ranks: RANKS,
                words: &words,
                succeeds: true,
                says: &format!(
                    "alls seen: 0. The program calls the reductions of {}",
                    tool.display()
                ),
            };
            self.tell(steps, &sums, &case)?;
        }
        self.mixed(steps, &sums)?;
        self.by_run(steps, &sums)?;
        self.non_blocking(steps, &tools)
    }

    /// Ranks of which one has not loaded the interposer, or has another setting; and a variable that is none.
    fn mixed(&self, steps: &mut Steps, sums: &Path) -> Result<(), Stop> {
        // It is not the same one with each library, as rank 0 speaks for the others.
        let absent = usize::from(self.library == MPI_LIBRARIES[0]);
        let on_rank = |rank: usize, what: &str| {
            let script = format!(
                "[ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} != {rank} ] || {what}; exec \"$0\""
            );
            ["sh".to_owned(), "-c".to_owned(), script]
        };
        let without = on_rank(absent, "unset LD_PRELOAD");
        let check = on_rank(1, "export TREEFOLD_PMPI=check");
        let unknown = ["TREEFOLD_PMPI_STAT=stderr".to_owned()];
        let missing = format!("rank {absent} of {RANKS} did not come within");
        let cases = [
            (
                "a rank that has not loaded it",
                &without[..],
                false,
                &*missing,
            ),
            (
                "ranks with different settings",
                &check,
                false,
                "would wait for each other: rank 0: treefold",
            ),
            (
                "a variable that is none",
                &unknown,
                true,
                "without effect: TREEFOLD_PMPI_STAT",
            ),
        ];
        for (title, words, succeeds, says) in cases {
            let ranks = RANKS;
            let case = Case {
                title,
                ranks,
                words,
                succeeds,
                says,
            };
            self.tell(steps, sums, &case)?;
        }
        Ok(())
    }

    /// What `treefold-run` says of a command without reductions, and of a wrapper before the launcher.
    fn by_run(&self, steps: &mut Steps, sums: &Path) -> Result<(), Stop> {
        let installation = steps.installation().clone();
        let no_program = Path::new("true");
        let same = "same bits as treefold's order in all 2";
        for (words, program, succeeds, says) in [
            (&["--check"][..], no_program, false, "nothing was checked"),
            (&["--vary"], no_program, false, "nothing was compared"),
            (&["--check", "nice"], sums, true, same),
        ] {
            let launcher = check(&installation, self.prefix, RANKS, program);
            let mut command = Command::new(launcher.get_program());
            command.args(words).args(launcher.get_args().skip(1));
            let variables = launcher.get_envs();
            command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
            let (library, words, program) = (self.library, words.join(" "), program.display());
            let step = format!("{library}: treefold-run {words} … {program}");
            steps.check(&step, || judge(&mut command, succeeds, says))?;
        }
        Ok(())
    }

    /// A library that is loaded before a program, and is linked to nothing of treefold.
    fn compile_tool(
        &self,
        steps: &mut Steps,
        name: &str,
        source: &Path,
        options: &[&str],
    ) -> Result<PathBuf, Stop> {
        let tool = self.folder.join(format!("lib{name}.so"));
        let mut compile = self.compiler();
        compile.args(C_FLAGS).args(["-shared", "-fPIC"]);
        compile.args(options).arg(source);
        let step = format!("{}: {name} compiles", self.library);
        steps.step(&step, compile.arg("-o").arg(&tool))?;
        Ok(tool)
    }

    /// Ranks of one call that disagree, and a reduction that nothing completes.
    fn non_blocking(&self, steps: &mut Steps, tools: &Path) -> Result<(), Stop> {
        let mut disagreeing = DISAGREEING.map(str::to_owned).to_vec();
        disagreeing.push("TREEFOLD_PMPI=check".to_owned());
        let disagree = Case {
            title: "ranks that disagree",
            ranks: DISAGREEING_RANKS,
            words: &disagreeing,
            succeeds: true,
            says: "Ranks of one call disagree among themselves",
        };
        let missed = Case {
            title: "a reduction that nothing completes",
            ranks: RANKS,
            words: &[],
            succeeds: false,
            says: "an MPI_Iallreduce was completed by a call that treefold does not know, or not at all: MPI_Finalize has found it",
        };
        let by_handle = Case {
            title: "a program that finds functions by the library's handle",
            ranks: RANKS,
            words: &[],
            succeeds: true,
            says: "calls seen: 0. The program has initialised MPI without this library",
        };
        let tool = self.compile_tool(steps, "startall", &tools.join("startall.c"), &[])?;
        let words = [format!("LD_PRELOAD={LIBRARY}:{}", tool.display())];
        let partial = Case {
            title: "a start of several that fails",
            ranks: RANKS,
            words: &words,
            succeeds: true,
            says: "",
        };
        let check = ["TREEFOLD_PMPI=check".to_owned()];
        let repeated = Case {
            title: "persistent reductions that it compares",
            ranks: CANARY_RANKS,
            words: &check,
            succeeds: true,
            says: "they hang on the library's order",
        };
        let mismatched = Case {
            title: "ranks that call different reductions",
            ranks: CANARY_RANKS,
            words: &check,
            succeeds: true,
            says: "rank 0: MPI_Iallreduce of 1 double, sum.",
        };
        let mut cases = vec![
            ("missed", missed),
            ("mismatched", mismatched),
            ("by_handle", by_handle),
            ("partial", partial),
        ];
        if self.library == "openmpi" {
            // On so many ranks its scans have another order than the tree's.
            cases.push(("repeated", repeated));
        }
        if self.library == "mpich" {
            // A table names the place, if `addr2line` is there.
            let from = if is_on_path("addr2line") {
                "main at disagree.c:12"
            } else {
                "disagree+0x"
            };
            let place = Case {
                title: "where the program calls what differs",
                says: from,
                ..disagree
            };
            cases.extend([("disagree", disagree), ("disagree", place)]);
        }
        for (name, case) in cases {
            let program = self.folder.join(name);
            let mut compile = self.compiler();
            compile
                .args(C_FLAGS)
                .arg("-g")
                .arg(tools.join(format!("{name}.c")))
                .arg("-o");
            let step = format!("{}: {name}.c compiles", self.library);
            steps.step(&step, compile.arg(&program))?;
            self.tell(steps, &program, &case)?;
        }
        Ok(())
    }

    /// Ranks that load the interposer.
    fn tell(&self, steps: &mut Steps, program: &Path, case: &Case<'_>) -> Result<(), Stop> {
        let mut command = launch(
            steps.installation(),
            self.prefix,
            Mode::On,
            case.ranks,
            "env",
        );
        command.args(case.words).arg(program);
        let step = format!("{}: the interposer tells of {}", self.library, case.title);
        steps.check(&step, || judge(&mut command, case.succeeds, case.says))
    }

    /// `treefold-run` refuses a setting without starting anything.
    fn refuse(
        &self,
        steps: &mut Steps,
        program: &Path,
        setting: &str,
        says: &str,
    ) -> Result<(), Stop> {
        let mut command = Command::new("env");
        command.arg(setting);
        command.arg(self.prefix.join("bin/treefold-run"));
        command.args(["mpirun", "-n", "2"]).arg(program);
        let step = format!("{}: treefold-run refuses {setting}", self.library);
        let says = format!("treefold-run: {says}");
        steps.check(&step, || judge(&mut command, false, &says))
    }
}

/// Runs a command, and looks for a text in what it says on standard error.
fn judge(command: &mut Command, succeeds: bool, text: &str) -> Result<String, String> {
    let Output { status, stderr, .. } = command.output().map_err(|error| error.to_string())?;
    let errors = String::from_utf8_lossy(&stderr);
    if status.success() == succeeds && says(&errors, text) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "{status}, expected `{text}`, and it says\n{errors}"
        ))
    }
}
