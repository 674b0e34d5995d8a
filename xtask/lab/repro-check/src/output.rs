//! Writes results: JSON lines to a file or standard output, and text to standard output (to standard error if that is used for JSON).

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use checkout::files::named;
use comm::text::printable;
use console::{Term, style};
use serde::Serialize;

use crate::Error;

/// The two streams of a command.
#[derive(Debug)]
pub struct Output {
    json: Option<Json>,
    /// The first error in writing a text line, if any.
    failure: RefCell<Option<io::Error>>,
}

/// The destination of `--json`.
#[derive(Debug)]
enum Json {
    /// Standard output. Text then goes to standard error.
    Stdout,
    File(BufWriter<File>),
}

impl Output {
    /// Opens the destination of `--json`: a file, `-` for standard output, or nothing.
    pub fn open(json: Option<&str>) -> Result<Self, Error> {
        let json = match json {
            None => None,
            Some("-") => Some(Json::Stdout),
            Some(path) => {
                let file = named(Path::new(path), File::create(path))?;
                Some(Json::File(BufWriter::new(file)))
            }
        };
        let failure = RefCell::default();
        Ok(Self { json, failure })
    }

    fn json_on_stdout(&self) -> bool {
        matches!(self.json, Some(Json::Stdout))
    }

    /// Writes an object as a line of JSON.
    pub fn json(&mut self, object: &impl Serialize) -> Result<(), Error> {
        let Some(json) = &mut self.json else {
            return Ok(());
        };
        let line = serde_json::to_string(object)?;
        let written = match json {
            Json::Stdout => writeln!(io::stdout(), "{line}"),
            Json::File(file) => writeln!(file, "{line}"),
        };
        unless_left(written).map_err(|error| Error::option("--json", error))
    }

    /// Prints a line of text, with control characters escaped by [printable]. If writing fails, [`finish`](Output::finish) returns the error.
    pub fn say(&self, line: impl AsRef<str>) {
        self.write(&printable(line.as_ref()));
    }

    fn write(&self, line: &str) {
        let written = if self.json_on_stdout() {
            writeln!(io::stderr(), "{line}")
        } else {
            writeln!(io::stdout(), "{line}")
        };
        if let Err(error) = unless_left(written) {
            self.failure.borrow_mut().get_or_insert(error);
        }
    }

    /// Prints the verdict, coloured on a terminal.
    pub fn say_verdict(&self, is_good: bool, verdict: &str) {
        let streams = [Term::stdout(), Term::stderr()];
        let stream = &streams[usize::from(self.json_on_stdout())];
        let (pass, fail) = (style("PASS").green(), style("FAIL").red());
        let word = if is_good { pass } else { fail };
        let is_coloured = stream.features().colors_supported();
        let word = word.bold().force_styling(is_coloured);
        self.write(&format!("{word}: {}", printable(verdict)));
    }

    /// Flushes the JSON, and returns the first error in writing text, if any.
    pub fn finish(mut self) -> Result<(), Error> {
        if let Some(Json::File(file)) = &mut self.json {
            let flushed = unless_left(file.flush());
            flushed.map_err(|error| Error::option("--json", error))?;
        }
        match self.failure.take() {
            Some(error) => Err(Error::Run(format!("standard output: {error}"))),
            None => Ok(()),
        }
    }
}

/// The result of a write. It is not an error if the reader closed the stream early, as `head` does.
fn unless_left(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
