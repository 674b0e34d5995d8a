//! Building `mpi-runner`, and starting it under `mpirun`.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::error::Error;

/// What to install where MPI is missing.
const INSTALL: &str =
    "apt-get install libopenmpi-dev openmpi-bin libclang-dev (or load your cluster's MPI module)";

/// The root of this workspace.
pub fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// The folder for what commands leave behind, made where it is not there.
pub fn target() -> Result<PathBuf, Error> {
    let folder = workspace().join("target");
    fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    Ok(folder)
}

/// A `cargo` that runs in this workspace.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace());
    cargo
}

/// The parts of MPI that this machine lacks.
pub fn missing() -> Vec<&'static str> {
    let compiler = env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    let mut missing = Vec::new();
    if !runs(&compiler) {
        missing.push("mpicc");
    }
    if !runs("mpirun") {
        missing.push("mpirun");
    }
    if !has_libclang() {
        missing.push("libclang");
    }
    missing
}

/// Whether a program is there and tells its version.
pub fn runs(program: &str) -> bool {
    let status = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Whether libclang is where the binding generator looks for it.
fn has_libclang() -> bool {
    let is_library = |path: PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        name.starts_with("libclang") && name.contains(".so") || name == "libclang.dylib"
    };
    let holds_library = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).any(is_library)
    };
    if let Some(path) = env::var_os("LIBCLANG_PATH") {
        let path = PathBuf::from(path);
        return path.is_file() || holds_library(&path);
    }
    let llvm = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let llvm = llvm
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("llvm"))
        })
        .map(|path| path.join("lib"));
    [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ]
    .map(PathBuf::from)
    .into_iter()
    .chain(llvm)
    .any(|folder| holds_library(&folder))
        || runs("llvm-config")
}

/// A program that `mpirun` can start.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
}

impl Launcher {
    /// Builds `mpi-runner`.
    pub fn build() -> Result<Self, Error> {
        let missing = missing();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            let advice = "`--backend threads` needs none of it";
            return Err(Error::Mpi(format!(
                "MPI is missing here ({missing}); install it by {INSTALL}; {advice}"
            )));
        }
        let arguments = [
            "--package",
            "xtask",
            "--bin",
            "mpi-runner",
            "--features",
            "mpi",
        ];
        let executables = executables(cargo().args(["build", "--release"]).args(arguments))?;
        let program = executables.into_iter().next_back();
        let program = program.ok_or_else(|| Error::Mpi("cargo built no mpi-runner".to_owned()))?;
        Ok(Self { program })
    }

    /// A program that is built already.
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// The command that starts it on so many ranks.
    pub fn command(&self, ranks: usize, arguments: &[&str]) -> Command {
        let mut mpirun = Command::new("mpirun");
        if is_open_mpi() {
            mpirun.arg("--oversubscribe");
            if is_root() {
                mpirun.arg("--allow-run-as-root");
            }
        }
        mpirun
            .arg("-n")
            .arg(ranks.to_string())
            .arg(&self.program)
            .args(arguments);
        mpirun.stdin(Stdio::null());
        mpirun
    }

    /// Runs it on so many ranks and hands over each line of its output as it comes.
    pub fn run(
        &self,
        ranks: usize,
        arguments: &[&str],
        mut line: impl FnMut(&str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let failed = |reason: String| Error::Mpi(format!("mpirun -n {ranks}: {reason}"));
        let mut mpirun = self.command(ranks, arguments);
        let mut child = mpirun
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        // Both are read at once, so that neither pipe fills up.
        let errors = child.stderr.take().map(|mut stderr| {
            thread::spawn(move || {
                let mut text = Vec::new();
                // What cannot be read cannot be shown.
                let _ = stderr.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        let mut told = Ok(());
        for text in child
            .stdout
            .take()
            .map(BufReader::new)
            .into_iter()
            .flat_map(BufRead::lines)
        {
            let text = text.map_err(|error| failed(error.to_string()))?;
            told = told.and_then(|()| line(&text));
        }
        let status = child.wait().map_err(|error| failed(error.to_string()))?;
        let errors = errors
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default();
        if !status.success() {
            return Err(failed(format!("{status}: {}", cause(&errors))));
        }
        told
    }
}

/// The line of a failed run's standard error that says most: a rank's own word before `mpirun`'s.
fn cause(errors: &str) -> &str {
    let mut lines = errors
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let own = lines
        .clone()
        .find(|line| line.starts_with("rank ") || line.starts_with("mpi-runner: "));
    own.or_else(|| lines.next_back()).unwrap_or("no message")
}

/// Runs a `cargo` command and returns the executables that it built.
pub fn executables(cargo: &mut Command) -> Result<Vec<PathBuf>, Error> {
    let failed = |reason: String| Error::Mpi(format!("cargo: {reason}"));
    let output = cargo
        .args(["--quiet", "--message-format", "json"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().find(|line| line.starts_with("error"));
        return Err(failed(format!(
            "{}; is MPI whole? {INSTALL}",
            first.unwrap_or("it failed")
        )));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = |message: Value| message["executable"].as_str().map(PathBuf::from);
    Ok(messages.filter_map(executable).collect())
}

/// Whether `mpirun` is Open MPI's, which has options of its own.
fn is_open_mpi() -> bool {
    let version = Command::new("mpirun").arg("--version").output();
    version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("Open MPI"))
}

/// Whether this process is root's.
pub fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
    }
    #[cfg(not(unix))]
    false
}
