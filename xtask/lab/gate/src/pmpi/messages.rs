//! Checks the messages of the interposer and of `treefold-run`, for example about wrong settings and a tool that hides the program's calls.

use std::path::Path;

use launch::installed::is_on_path;

use super::ranks::{LIBRARY, Mode, launch, treefold_run};
use super::{CANARY_RANKS, Suite, source};
use crate::{MPI_LIBRARIES, Result, Steps, command, words};

const RANKS: usize = 2;

/// Settings for an MPICH algorithm whose ranks get different bits of the same result, and the number of ranks on which they do.
const DISAGREEING: [&str; 4] = [
    "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb",
    "MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=tsp_recexch_single_buffer",
    "MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL=4",
    CHECK,
];
const DISAGREEING_RANKS: usize = 3;

const CHECK: &str = "TREEFOLD_PMPI=check";

/// Settings that end a job in MPI_Init, each with the message. `treefold-run` prints the same message before it starts anything.
const WRONG: [(&str, &str); 4] = [
    (
        "TREEFOLD_PMPI=chek",
        "TREEFOLD_PMPI is `chek`, not one of on, off, check",
    ),
    (
        "TREEFOLD_PMPI_OPS=sum,add",
        "TREEFOLD_PMPI_OPS is `sum,add`, not a comma-separated list of sum, prod, min and max",
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

/// A test: words to add to the ranks' command, whether the command should succeed, and a part of the expected message.
#[derive(Clone)]
struct MessageTest {
    title: String,
    ranks: usize,
    words: Vec<String>,
    succeeds: bool,
    says: String,
}

impl MessageTest {
    /// A test that runs two ranks without added words, and expects success.
    fn of(title: impl Into<String>, says: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ranks: RANKS,
            words: Vec::new(),
            succeeds: true,
            says: says.into(),
        }
    }

    fn with<const N: usize>(self, words: [impl Into<String>; N]) -> Self {
        let words = words.map(Into::into).into();
        Self { words, ..self }
    }

    fn on(self, ranks: usize) -> Self {
        Self { ranks, ..self }
    }

    fn fails(self) -> Self {
        let succeeds = false;
        Self { succeeds, ..self }
    }
}

impl Suite<'_> {
    /// Runs all message tests.
    pub(super) fn messages(&self, steps: &mut Steps) -> Result {
        let sums = self.compile(steps, &source("sums.c"), Vec::new(), "tests-tool-sums")?;
        let run = self.prefix.join("bin/treefold-run");
        for (setting, says) in WRONG {
            let case = MessageTest::of(setting, format!("rank 0: {says}"));
            self.tell(steps, &sums, case.with([setting]).fails())?;
            let refused = command!("env", setting, run, "mpirun -n 2", sums);
            let step = format!("{}: treefold-run refuses {setting}", self.library);
            steps.expect(step, refused, false, &[&format!("treefold-run: {says}")])?;
        }
        let says =
            "rank 0: TREEFOLD_PMPI_STATS is `/no/such/folder/report.json`, which cannot be written";
        let case = MessageTest::of("a report that cannot be written", says);
        let setting = "TREEFOLD_PMPI_STATS=/no/such/folder/report.json";
        self.tell(steps, &sums, case.with([setting]))?;
        for (name, option) in [("ahead", ""), ("ahead-of-all", "-DHIDES_INIT")] {
            let tool = self.tool(steps, name, "ahead.c", option)?;
            // Omits the first letter, which is a capital at the beginning of a sentence.
            let calls = format!("alls seen: 0. The program calls the reductions of {tool}");
            let preload = format!("LD_PRELOAD={tool}:{LIBRARY}");
            let case = MessageTest::of(format!("a tool that is {name}"), calls);
            let report = "TREEFOLD_PMPI_STATS=stderr".to_owned();
            self.tell(steps, &sums, case.with([preload, report]))?;
        }
        self.mixed(steps, &sums)?;
        self.by_run(steps, &sums)?;
        self.non_blocking(steps)
    }

    /// Tests a job in which one rank lacks the interposer or has another setting, and a job with an unknown variable.
    fn mixed(&self, steps: &mut Steps, sums: &Path) -> Result {
        // Rank 0 reports for all ranks, so a rank 0 without the interposer is a separate case. Each MPI library tests one of the two cases.
        let absent = usize::from(self.library == MPI_LIBRARIES[0]);
        let on_rank = |rank: usize, what: &str| {
            let script = format!(
                "[ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} != {rank} ] || {what}; exec \"$0\""
            );
            ["sh".to_owned(), "-c".to_owned(), script]
        };
        let missing = format!("rank {absent} of {RANKS} did not answer within");
        let case = MessageTest::of("a rank that has not loaded it", missing);
        let without = on_rank(absent, "unset LD_PRELOAD");
        self.tell(steps, sums, case.with(without).fails())?;
        let differs = "would wait for each other forever: rank 0: treefold";
        let case = MessageTest::of("ranks with different settings", differs);
        let check = on_rank(1, &format!("export {CHECK}"));
        self.tell(steps, sums, case.with(check).fails())?;
        let unknown = "TREEFOLD_PMPI_STAT";
        let case = MessageTest::of("an unknown variable", format!("have no effect: {unknown}"));
        self.tell(steps, sums, case.with([format!("{unknown}=stderr")]))
    }

    /// Tests the messages of `treefold-run` about a command without reductions and with a wrapper before the launcher.
    fn by_run(&self, steps: &mut Steps, sums: &Path) -> Result {
        let no_program = Path::new("true");
        let same = "same bits as treefold's order in all 2 reductions";
        for (words, program, succeeds, says) in [
            ("--check", no_program, false, "nothing was checked"),
            ("--vary", no_program, false, "nothing was compared"),
            ("--check nice", sums, true, same),
        ] {
            let command = treefold_run(words, steps, self.prefix, RANKS, program);
            let step = format!(
                "{}: treefold-run {words} … {}",
                self.library,
                program.display()
            );
            steps.expect(step, command, succeeds, &[says])?;
        }
        Ok(())
    }

    /// Builds a library to preload, which is not linked to treefold. Returns its path.
    fn tool(&self, steps: &mut Steps, name: &str, file: &str, option: &str) -> Result<String> {
        let (options, tool) = (words!["-shared -fPIC", option], format!("lib{name}.so"));
        let tool = self.compile(steps, &source(file), options, &tool)?;
        Ok(tool.display().to_string())
    }

    /// Tests reports about unusual programs, such as one with a reduction that no call completes.
    fn non_blocking(&self, steps: &mut Steps) -> Result {
        let missed = MessageTest::of(
            "a reduction that nothing completes",
            "the program completed an MPI_Iallreduce by a call that treefold does not know, or did not complete it: in MPI_Finalize, treefold found it incomplete",
        );
        let mismatched = MessageTest::of(
            "ranks that call different reductions",
            "rank 0: MPI_Iallreduce of 1 double, sum.",
        );
        let by_handle = MessageTest::of(
            "a program that finds functions by the library's handle",
            "calls seen: 0. The program has initialised MPI without this library",
        );
        let tool = self.tool(steps, "startall", "startall.c", "")?;
        let partial = MessageTest::of("a start of several that fails", "");
        let mut cases = vec![
            ("missed", missed.fails()),
            ("mismatched", mismatched.with([CHECK]).on(CANARY_RANKS)),
            ("by_handle", by_handle),
            (
                "partial",
                partial.with([format!("LD_PRELOAD={LIBRARY}:{tool}")]),
            ),
        ];
        if self.library == "openmpi" {
            // On this number of ranks, the order of Open MPI's scans differs from the tree's.
            let title = "persistent reductions that it compares";
            let repeated = MessageTest::of(title, "depend on MPI's algorithm");
            cases.push(("repeated", repeated.with([CHECK]).on(CANARY_RANKS)));
        }
        if self.library == "mpich" {
            // The report names the source line if `addr2line` is installed.
            let from = if is_on_path("addr2line") {
                "main at disagree.c:12"
            } else {
                "disagree+0x"
            };
            for (title, says) in [
                (
                    "ranks that disagree",
                    "ranks got different bits of the same result",
                ),
                ("where the program calls what differs", from),
            ] {
                let case = MessageTest::of(title, says).with(DISAGREEING);
                cases.push(("disagree", case.on(DISAGREEING_RANKS)));
            }
        }
        for (name, case) in cases {
            let file = source(&format!("{name}.c"));
            let program = self.compile(steps, &file, words!["-g"], name)?;
            self.tell(steps, &program, case)?;
        }
        Ok(())
    }

    /// Runs ranks with the interposer and checks what they report.
    fn tell(&self, steps: &mut Steps, program: &Path, case: MessageTest) -> Result {
        let mut command = launch(steps, self.prefix, Mode::On, case.ranks, "env");
        command.args(case.words).arg(program);
        let step = format!("{}: the interposer reports {}", self.library, case.title);
        steps.expect(step, command, case.succeeds, &[&case.says])
    }
}
