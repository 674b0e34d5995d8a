//! What pkg-config tells a compiler.

use std::mem;
use std::path::Path;
use std::process::Command;

use launch::Error;

use crate::steps::Stop;

/// The options for a package of a prefix; those for a fully static program with `["--static"]`.
pub(crate) fn flags(prefix: &Path, name: &str, added: &[&str]) -> Result<Vec<String>, Stop> {
    let failed = |reason: String| Stop::Error(Error::Run(format!("pkg-config: {reason}")));
    let mut command = Command::new("pkg-config");
    command.args(added).args(["--cflags", "--libs", name]);
    command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let output = command.output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(words(&String::from_utf8_lossy(&output.stdout)))
}

/// The words of a line as a shell takes them apart: a space after a backslash belongs to its word.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut chars) = (Vec::new(), String::new(), text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next()),
            c if c.is_whitespace() => words.push(mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_may_have_spaces() {
        let words = words("-I/a\\ b/include  -L/a\\\\b -lx \n");
        assert_eq!(words, ["-I/a b/include", "-L/a\\b", "-lx"]);
    }
}
