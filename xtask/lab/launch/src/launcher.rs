//! Starts a program on ranks.

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Installation};

/// How long the launcher may take to end after a rank has reported its failure.
const ENDING_LIMIT: Duration = Duration::from_secs(30);

/// How long the launcher may take to end after a signal.
const STOPPING_LIMIT: Duration = Duration::from_secs(5);

/// A program that an MPI library's launcher can start.
#[derive(Clone, Debug)]
pub struct Launcher {
    installation: Installation,
    program: PathBuf,
    /// The program's first argument, before the arguments of a command.
    word: Option<&'static str>,
    /// How long the ranks may print nothing before the run is ended.
    limit: Option<Duration>,
}

impl Launcher {
    /// A launcher of this program. The program's first argument is `word`, which makes it a rank.
    ///
    /// # Errors
    /// MPI is missing, or the path of this program is unknown.
    pub fn of_this_program(installation: Installation, word: &'static str) -> Result<Self, Error> {
        installation.check()?;
        let program = env::current_exe().map_err(|error| Error::Run(error.to_string()))?;
        Ok(Self {
            word: Some(word),
            ..Self::of(installation, program)
        })
    }

    /// A launcher of a program.
    pub fn of(installation: Installation, program: impl Into<PathBuf>) -> Self {
        Self {
            installation,
            program: program.into(),
            word: None,
            limit: None,
        }
    }

    /// Ends a run whose ranks print nothing for this long.
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        let limit = Some(limit);
        Self { limit, ..self }
    }

    /// The command that starts the program on `ranks` ranks.
    pub fn command(&self, ranks: usize, arguments: &[&str]) -> Command {
        let mut command = self.installation.command(ranks, &self.program);
        command.args(self.word).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    /// The launcher's part of the command, without the program, as text.
    pub fn shown(&self, ranks: usize) -> String {
        self.installation.shown(ranks)
    }

    /// Runs the program on `ranks` ranks and passes each line of its output to `line` as it arrives.
    ///
    /// A rank that fails prints the reason and ends the other ranks by `MPI_Abort`. If `mpirun` then does not end, it is killed.
    pub fn launch<E: From<Error>>(
        &self,
        ranks: usize,
        arguments: &[&str],
        mut line: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |reason: String| Error::Mpi(format!("{}: {reason}", self.shown(ranks)));
        let failed_by = |error: io::Error| failed(error.to_string());
        let mut command = self.command(ranks, arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed_by)?;
        let (sender, lines) = mpsc::channel();
        // Reads both pipes concurrently, so that neither fills up.
        send_lines(child.stdout.take(), Said::Output, sender.clone());
        send_lines(child.stderr.take(), Said::Error, sender);
        let mut result = Ok(());
        let mut errors: Vec<String> = Vec::new();
        let mut deadline: Option<Instant> = None;
        loop {
            let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
            let until_deadline = deadline.map(left);
            let said = match until_deadline.or(self.limit) {
                None => lines.recv().map_err(RecvTimeoutError::from),
                Some(limit) => lines.recv_timeout(limit),
            };
            match said {
                Ok(Said::Output(text)) => result = result.and_then(|()| line(&text)),
                Ok(Said::Error(text)) => {
                    if is_last_word(&text) {
                        deadline.get_or_insert_with(|| Instant::now() + ENDING_LIMIT);
                    }
                    errors.push(text);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    end(&mut child).map_err(failed_by)?;
                    if let (None, Some(limit)) = (deadline, self.limit) {
                        let silent = format!("no rank has said anything for {limit:?}");
                        return Err(failed(silent).into());
                    }
                    break;
                }
            }
        }
        let status = child.wait().map_err(failed_by)?;
        if !status.success() {
            return Err(failed(format!("{status}: {}", cause(&errors))).into());
        }
        result
    }
}

/// Ends `mpirun`: first sends a signal on which `mpirun` ends its ranks, then kills it if necessary.
fn end(child: &mut Child) -> io::Result<()> {
    let id = child.id().to_string();
    if Command::new("kill").arg(id).status().is_ok() {
        let begin = Instant::now();
        while begin.elapsed() < STOPPING_LIMIT && child.try_wait()?.is_none() {
            thread::sleep(Duration::from_millis(20));
        }
    }
    match child.try_wait()? {
        Some(_) => Ok(()),
        None => child.kill().and_then(|()| child.wait().map(drop)),
    }
}

/// A line of a program that runs under `mpirun`.
enum Said {
    Output(String),
    Error(String),
}

/// Starts a thread that sends a pipe's lines.
fn send_lines(
    pipe: Option<impl Read + Send + 'static>,
    said: fn(String) -> Said,
    lines: Sender<Said>,
) {
    let read = pipe
        .into_iter()
        .flat_map(|pipe| BufReader::new(pipe).split(b'\n'));
    thread::spawn(move || {
        // Stops at the first line that cannot be read, or when the receiver has closed the channel.
        let mut read = read.map_while(Result::ok);
        read.try_for_each(|line| {
            let line = String::from_utf8_lossy(&line).into_owned();
            lines.send(said(line))
        })
    });
}

/// Whether this line is a rank's reason for ending.
fn is_last_word(line: &str) -> bool {
    line.starts_with("rank ") || line.starts_with("mpi-runner: ")
}

/// The most informative lines of a failed run's standard error: the ranks' reasons and the place of a panic; or else `mpirun`'s last line.
fn cause(errors: &[String]) -> String {
    let errors = errors.iter().map(|line| line.trim());
    let own: Vec<&str> = errors.clone().filter(|line| is_last_word(line)).collect();
    if own.is_empty() {
        let last = errors.rev().find(|line| !line.is_empty());
        return last.unwrap_or("no message").to_owned();
    }
    // Skips Rust's panic message, which the rank's own reason repeats.
    let place = errors
        .clone()
        .find_map(|line| line.split_once(" panicked at "));
    match place {
        Some((_, place)) => format!("{} (at {})", own.join("; "), place.trim_end_matches(':')),
        None => own.join("; "),
    }
}
