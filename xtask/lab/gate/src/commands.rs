//! Builds and runs commands. Also defines the reasons for which a stage may end early.

use std::borrow::BorrowMut;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use checkout::shell_word;
use checkout::workspace::workspace;

/// Why a stage or a part of it ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A step failed and has reported it.
    Failed,
    /// The stage or part is skipped for this reason.
    Skipped(String),
    /// A step could not be run, or a check found a fault.
    Error(String),
}

/// The result of steps, which may end early.
pub(crate) type Result<T = (), E = Stop> = std::result::Result<T, E>;

impl<E: Display> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.to_string())
    }
}

impl Stop {
    /// Skips a part of a stage, for this reason.
    pub(crate) fn skipped<T>(reason: impl Into<String>) -> Result<T> {
        Err(Self::Skipped(reason.into()))
    }

    /// The reason as text.
    pub(crate) fn reason(self) -> String {
        match self {
            Self::Failed => "a step failed".to_owned(),
            Self::Skipped(reason) | Self::Error(reason) => reason,
        }
    }
}

/// A value that stands for one or more words of a command.
pub(crate) trait Words {
    fn add_to(&self, words: &mut Vec<OsString>);
}

/// Splits a text at blanks. `@/` begins a path in the checkout.
impl Words for str {
    fn add_to(&self, words: &mut Vec<OsString>) {
        words.extend(
            self.split_whitespace()
                .map(|word| match word.strip_prefix("@/") {
                    Some(path) => workspace().join(path).into(),
                    None => word.into(),
                }),
        );
    }
}

impl<W: Words + ?Sized> Words for &W {
    fn add_to(&self, words: &mut Vec<OsString>) {
        (**self).add_to(words);
    }
}

impl<W: Words, const N: usize> Words for [W; N] {
    fn add_to(&self, words: &mut Vec<OsString>) {
        self.iter().for_each(|word| word.add_to(words));
    }
}

impl<W: Words> Words for Vec<W> {
    fn add_to(&self, words: &mut Vec<OsString>) {
        self.iter().for_each(|word| word.add_to(words));
    }
}

/// A string or path is one word, even with blanks.
macro_rules! one_word {
    ($($type:ty),+) => {$(
        impl Words for $type {
            fn add_to(&self, words: &mut Vec<OsString>) {
                words.push(self.into());
            }
        }
    )+};
}

one_word!(String, OsStr, OsString, Path, PathBuf);

/// A list of words: literals are split at blanks; strings and paths are one word each.
macro_rules! words {
    ($($part:expr),+ $(,)?) => {{
        let mut words = Vec::new();
        $($crate::commands::Words::add_to(&$part, &mut words);)+
        words
    }};
}

/// A command that runs in the checkout, of words as for `words!`.
macro_rules! command {
    ($($part:expr),+ $(,)?) => {
        $crate::commands::of($crate::commands::words![$($part),+])
    };
}

pub(crate) use {command, words};

/// A command of these words, which runs in the checkout.
pub(crate) fn of(words: Vec<OsString>) -> Command {
    let mut words = words.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir(workspace());
    command
}

/// A `cargo` command with these words, which runs in the checkout.
pub(crate) fn cargo(words: &str) -> Command {
    let mut cargo = checkout::workspace::cargo();
    cargo.args(words.split_whitespace());
    cargo
}

/// The environment variables that name the programs and libraries by which build scripts find MPI.
const TOOLS: [&str; 3] = ["MPICC", "PKG_CONFIG", "LIBCLANG_PATH"];

/// Hides MPI's tools from a command.
pub(crate) fn with_rust_alone(command: &mut Command) -> &mut Command {
    command.envs(TOOLS.map(|variable| (variable, "/nowhere")))
}

/// The status and output of a command.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// Runs a command and captures its output.
pub(crate) fn run(mut command: impl BorrowMut<Command>) -> Result<Captured> {
    let command = command.borrow_mut().stdin(Stdio::null());
    let output = command.output();
    let output = output.map_err(|error| format!("{}: {error}", shown(command)))?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(Captured {
        status: output.status,
        output: text(&output.stdout),
        errors: text(&output.stderr),
    })
}

/// Runs a command that must succeed, and returns its standard output.
pub(crate) fn output(mut command: impl BorrowMut<Command>) -> Result<String> {
    let captured = run(command.borrow_mut())?;
    if captured.status.success() {
        return Ok(captured.output);
    }
    let (command, all) = (shown(command.borrow()), captured.all());
    Err(format!("{command}: {}\n{all}", captured.status).into())
}

/// Whether a command succeeds; discards its output.
pub(crate) fn succeeds(command: impl BorrowMut<Command>) -> bool {
    run(command).is_ok_and(|captured| captured.status.success())
}

impl Captured {
    /// The command's standard output, followed by its standard error.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.output, self.errors)
    }

    /// Moves both streams to standard error.
    pub(crate) fn on_one_stream(self) -> Self {
        Self {
            errors: self.all(),
            output: String::new(),
            ..self
        }
    }

    /// Fails unless the command succeeded or failed as `succeeds` says, and its standard error contains these texts. Ignores line breaks.
    pub(crate) fn expect(&self, succeeds: bool, texts: &[&str]) -> Result<String> {
        let in_a_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let errors = in_a_line(&self.errors);
        let lacking = texts.iter().find(|text| !errors.contains(&in_a_line(text)));
        let what = match lacking {
            None if self.status.success() == succeeds => return Ok(texts.join(", ")),
            None => String::new(),
            Some(text) => format!(" without the message `{text}`"),
        };
        Err(format!("{}{what}; its output is\n{}", self.status, self.all()).into())
    }
}

/// A command as a line that a shell can run.
pub(crate) fn shown(command: &Command) -> String {
    let folder = command.get_current_dir().into_iter();
    let folder = folder.map(|folder| format!("cd {} &&", shell_word(folder)));
    let variables = command.get_envs();
    let variables = variables
        .filter_map(|(name, value)| Some(format!("{}={}", name.display(), shell_word(value?))));
    let program = shell_word(command.get_program());
    let words = folder.chain(variables).chain([program]);
    let words: Vec<String> = words.chain(command.get_args().map(shell_word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::shown;

    #[test]
    fn a_failure_is_repeated_by_a_shell() {
        let mut command = command!("mpirun -n 2", Path::new("a program"), "it's".to_owned());
        command.env("TREEFOLD_PMPI", "on").current_dir("/tmp/a b");
        let expected = r"cd '/tmp/a b' && TREEFOLD_PMPI=on mpirun -n 2 'a program' 'it'\''s'";
        assert_eq!(shown(&command), expected);
    }
}
