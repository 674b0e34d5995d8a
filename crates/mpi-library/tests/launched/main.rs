//! Runs one binary under the launcher of each MPI library that is found, and checks the errors if there is no library or a wrong library.
//!
//! This program starts itself with `mpirun.openmpi` and `mpirun.mpich`, and with the launchers of the installations in
//! `MPI_LIBRARY_PREFIXES`, a list separated by colons.

#![expect(clippy::print_stdout, reason = "the program's output is its report")]

mod session;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mpi_library::{Library, Names, Options};

/// The variable that says what a process of this program does.
const ROLE: &str = "MPI_LIBRARY_TEST_ROLE";

/// The variable that may name a library for this program.
const VARIABLE: &str = "MPI_LIBRARY";

/// Launchers' variables, which are set if a launcher has started this test.
const LAUNCHERS: [&str; 6] = [
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "PMI_RANK",
    "PMI_FD",
    "MPI_LOCALNRANKS",
    "SLURM_PROCID",
];

const RANKS: [&str; 3] = ["1", "2", "3"];

fn main() {
    let options = Options {
        variable: Some(VARIABLE),
        ..Options::default()
    };
    let pmpi = Options {
        names: Names::Pmpi,
        ..options
    };
    let closed = Options {
        opens: false,
        ..options
    };
    let heedless = Options {
        heeds_launcher: false,
        ..options
    };
    match env::var(ROLE).as_deref() {
        Ok("choose") => choose(&options),
        Ok("choose none") => choose(&closed),
        Ok("choose heedlessly") => choose(&heedless),
        Ok("session") => session::run(&options),
        Ok("session by PMPI") => session::run(&pmpi),
        _ => {
            choices();
            launches();
        }
    }
}

fn choose(options: &Options<'_>) {
    match Library::choose(options) {
        Ok(library) => println!("{}", library.choice()),
        Err(error) => println!("error: {error}"),
    }
}

/// A command that starts this program in a role, without launchers' variables.
fn program(role: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program is running"));
    cleared(&mut command).env(ROLE, role).env_remove(VARIABLE);
    command
}

fn cleared(command: &mut Command) -> &mut Command {
    for variable in LAUNCHERS {
        command.env_remove(variable);
    }
    command
}

/// The line that a command prints.
fn line(command: &mut Command) -> String {
    let output = command.output().expect("the command runs");
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", String::from_utf8_lossy(&output.stderr))
}

/// Checks which library is chosen, and the errors if there is none.
fn choices() {
    let mut checked = 0;
    let mut check = |command: &mut Command, expected: &[&str]| {
        let line = line(command);
        for part in expected {
            assert!(line.contains(part), "no `{part}` in: {line}");
        }
        checked += 1;
    };
    let missing = "/nowhere/libmpi.so";
    check(
        program("choose").env(VARIABLE, missing),
        &[
            "error: MPI_LIBRARY is \"/nowhere/libmpi.so\", which cannot be opened: ",
            "No such file",
        ],
    );
    check(
        program("choose").env(VARIABLE, "/nowhere/a\nb"),
        &["error: MPI_LIBRARY is \"/nowhere/a\\nb\", which cannot be opened: "],
    );
    check(
        program("choose").env(VARIABLE, "libm.so.6"),
        &["error: MPI_LIBRARY is \"libm.so.6\", which is not an MPI library: it has no PMPI_Init"],
    );
    check(
        &mut program("choose none"),
        &["error: this process has loaded no MPI library"],
    );
    let (has_open_mpi, has_mpich) = (can_open("libmpi.so.40"), can_open("libmpich.so.12"));
    if has_open_mpi {
        check(
            program("choose").env("OMPI_COMM_WORLD_SIZE", "2"),
            &[
                "libmpi.so.40",
                "(Open MPI v",
                "): a launcher of Open MPI has started this process, as OMPI_COMM_WORLD_SIZE says",
            ],
        );
        check(
            program("choose").env(VARIABLE, "libmpi.so.40"),
            &["(Open MPI v", "): MPI_LIBRARY names it"],
        );
        // An empty variable counts as not set.
        check(
            program("choose").env(VARIABLE, ""),
            &["): the dynamic linker has found it as "],
        );
        let error = "the launcher that has started this process belongs to the MPICH family, as PMI_SIZE says";
        check(
            program("choose")
                .env(VARIABLE, "libmpi.so.40")
                .env("PMI_SIZE", "2"),
            &["error: ", "belongs to Open MPI, but", error],
        );
        check(
            program("choose heedlessly")
                .env(VARIABLE, "libmpi.so.40")
                .env("PMI_SIZE", "2"),
            &["(Open MPI v", "): MPI_LIBRARY names it"],
        );
        check(
            program("choose none").env("LD_PRELOAD", "libmpi.so.40"),
            &["(Open MPI v", "): this process has loaded it"],
        );
    }
    if has_mpich {
        check(
            program("choose").env("PMI_SIZE", "2"),
            &[
                "(MPICH Version: ",
                "): a launcher of the MPICH family has started this process, as PMI_SIZE says",
            ],
        );
        check(
            program("choose")
                .env(VARIABLE, "libmpich.so.12")
                .env("OMPI_COMM_WORLD_SIZE", "2"),
            &[
                "error: ",
                "belongs to the MPICH family, but",
                "belongs to Open MPI, as OMPI_COMM_WORLD_SIZE says",
            ],
        );
        check(
            program("choose none").env("LD_PRELOAD", "libmpich.so.12"),
            &["(MPICH Version: ", "): this process has loaded it"],
        );
    }
    if has_open_mpi && has_mpich {
        // A loaded library takes precedence over a named library.
        check(
            program("choose")
                .env("LD_PRELOAD", "libmpich.so.12")
                .env(VARIABLE, "libmpi.so.40"),
            &["(MPICH Version: ", "): this process has loaded it"],
        );
        // Of two loaded libraries, the first is chosen.
        check(
            program("choose").env("LD_PRELOAD", "libmpich.so.12:libmpi.so.40"),
            &["(MPICH Version: "],
        );
        check(
            program("choose").env("LD_PRELOAD", "libmpi.so.40:libmpich.so.12"),
            &["(Open MPI v"],
        );
    }
    println!("choices: {checked} checked");
    for (name, is_there) in [("Open MPI", has_open_mpi), ("MPICH", has_mpich)] {
        if !is_there {
            println!("skipped: choices with {name}, which is not installed");
        }
    }
}

fn can_open(name: &str) -> bool {
    let line = line(program("choose heedlessly").env(VARIABLE, name));
    !line.starts_with("error: ")
}

/// A launcher, and the library that its ranks should find.
struct Launch {
    launcher: PathBuf,
    /// The folder of the launcher's library, if the linker does not search it.
    folder: Option<PathBuf>,
    /// The library that an environment variable names for the ranks, if any.
    named: Option<PathBuf>,
}

fn launches() {
    let mut launches = Vec::new();
    for launcher in ["mpirun.openmpi", "mpirun.mpich"] {
        match Command::new(launcher).arg("--version").output() {
            Ok(_) => launches.push(Launch {
                launcher: launcher.into(),
                folder: None,
                named: None,
            }),
            Err(error) => println!("skipped: {launcher}: {error}"),
        }
    }
    let prefixes = env::var_os("MPI_LIBRARY_PREFIXES").unwrap_or_default();
    for prefix in env::split_paths(&prefixes).filter(|path| path.is_dir()) {
        let (launcher, folder) = (prefix.join("bin/mpirun"), prefix.join("lib"));
        let standard = folder.join("libmpi_abi.so.1");
        let standard = standard.exists().then_some(standard);
        for named in [None].into_iter().chain(standard.map(Some)) {
            launches.push(Launch {
                launcher: launcher.clone(),
                folder: Some(folder.clone()),
                named,
            });
        }
    }
    for launch in &launches {
        for role in ["session", "session by PMPI"] {
            for ranks in RANKS {
                launch.check(role, ranks);
            }
        }
        println!(
            "{}: passed with {} ranks, by MPI_ and by PMPI_",
            launch.shown(),
            RANKS.join(", ")
        );
    }
}

impl Launch {
    fn shown(&self) -> String {
        let launcher = self.launcher.display();
        match &self.named {
            Some(named) => format!("{launcher}, {}", named.display()),
            None => launcher.to_string(),
        }
    }

    fn check(&self, role: &str, ranks: &str) {
        let mut command = Command::new(&self.launcher);
        command
            .args(["-n", ranks])
            .arg(env::current_exe().expect("this program is running"));
        cleared(&mut command).env(ROLE, role).env_remove(VARIABLE);
        // Each launcher ignores the others' variables. Without these variables, Open MPI refuses to run as root or with more ranks than
        // cores.
        for (variable, value) in [
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ("OMPI_MCA_mpi_yield_when_idle", "1"),
            ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
            ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ] {
            command.env(variable, value);
        }
        if let Some(folder) = &self.folder {
            command.env("LD_LIBRARY_PATH", with(folder, "LD_LIBRARY_PATH"));
            let programs = self.launcher.parent().unwrap_or(folder);
            command.env("PATH", with(programs, "PATH"));
        }
        if let Some(named) = &self.named {
            command.env(VARIABLE, named);
        }
        let output = command.output().expect("the launcher starts");
        let text = text(&output);
        let is_right = |line: &&str| line.ends_with(&format!(" of {ranks} ranks: right"));
        let count = text.lines().filter(is_right).count();
        let is_done = output.status.success() && Ok(count) == ranks.parse();
        assert!(is_done, "{}, {role}, {ranks} ranks:\n{text}", self.shown());
    }
}

/// The list of folders in a variable, after this folder.
fn with(folder: &Path, variable: &str) -> OsString {
    let before = env::var_os(variable).unwrap_or_default();
    let before = env::split_paths(&before).filter(|path| !path.as_os_str().is_empty());
    env::join_paths([folder.to_owned()].into_iter().chain(before)).expect("folders without colons")
}
