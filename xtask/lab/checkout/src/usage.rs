//! Parses command lines and lists of names, quotes words for the shell, and turns results into exit statuses.

use std::ffi::OsStr;
use std::fmt::Display;
use std::process::ExitCode;

use clap::Parser;
use comm::text::printable;

use crate::Error;

/// Parses a comma-separated list of names; `all` stands for all of them.
pub fn names<T: Copy + PartialEq>(
    option: &'static str,
    typed: &str,
    all: &[T],
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, Error> {
    let mut distinct = Vec::new();
    for name in typed.split(',').map(str::trim) {
        let chosen = match name {
            "all" => all.to_vec(),
            _ => vec![parse(name).map_err(|reason| Error::option(option, reason + ", all"))?],
        };
        for choice in chosen {
            if !distinct.contains(&choice) {
                distinct.push(choice);
            }
        }
    }
    Ok(distinct)
}

/// A word quoted for a shell.
#[must_use]
pub fn shell_word(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Shortens clap's error to one line, which has the error, the valid names that clap lists, and clap's suggestion, but not the usage.
fn in_a_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let mut joined = String::new();
    for line in lines.filter(|line| !line.is_empty()) {
        match line.strip_prefix("tip: ") {
            Some(tip) if tip.contains("similar") => joined += &format!("; {tip}"),
            Some(_) => {}
            None if joined.is_empty() => joined += line,
            None => joined += &format!(" {line}"),
        }
    }
    joined
}

/// Parses the program's arguments. If they ask for help or the version, prints it and ends the program.
///
/// # Errors
/// The exit status after wrong arguments, which are reported in one line.
pub fn parsed<C: Parser>() -> Result<C, ExitCode> {
    C::try_parse().map_err(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        refuse(&in_a_line(&error.to_string()))
    })
}

/// The exit status of a command: 0 for success, 1 if its check failed, 2 after an error, which is printed in one line.
pub fn ended(result: Result<bool, impl Display>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => refuse(&format!("error: {error}")),
    }
}

/// Prints an error in one line and returns exit status 2. Escapes control characters, which an argument in the message may contain and a
/// terminal would interpret.
pub fn refuse(message: &str) -> ExitCode {
    let line = message.lines().collect::<Vec<_>>().join(" ");
    eprintln!("{}", printable(&line));
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use super::in_a_line;

    #[test]
    fn what_is_wrong_is_told_as_a_whole() {
        for (text, expected) in [
            (
                "error: the following required arguments were not provided:\n  --exec\n  <COMMAND>...\n\nUsage: a --exec <COMMAND>...\n\nFor more information, try '--help'.\n",
                "error: the following required arguments were not provided: --exec <COMMAND>...",
            ),
            (
                "error: a value is required for '--target <TARGET>' but none was supplied\n  [possible values: a, b]\n\nFor more information, try '--help'.\n",
                "error: a value is required for '--target <TARGET>' but none was supplied [possible values: a, b]",
            ),
            (
                "error: unexpected argument '--stag' found\n\n  tip: a similar argument exists: '--stage'\n  tip: to pass '--stag' as a value, use '-- --stag'\n\nUsage: a\n",
                "error: unexpected argument '--stag' found; a similar argument exists: '--stage'",
            ),
        ] {
            assert_eq!(in_a_line(text), expected);
        }
    }
}
