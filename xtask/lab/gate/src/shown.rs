//! What tutorials show that programs print, held against what they print.

use std::fs;
use std::process::Command;

use checkout::workspace::workspace;

use crate::steps::{Steps, Stop};

/// What a page shows below a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// Below `docs/`.
    pub(crate) page: &'static str,
    /// As a person types it.
    pub(crate) command: &'static str,
}

impl Shown {
    /// A step that runs a command, which must print what the page shows of this one. `keep` makes one text of all that may be printed.
    pub(crate) fn check(
        self,
        steps: &mut Steps,
        step: &str,
        command: &mut Command,
        keep: impl Fn(&str) -> String,
    ) -> Result<(), Stop> {
        let Self {
            page,
            command: typed,
        } = self;
        steps.check(step, || {
            let text = fs::read_to_string(workspace().join("docs").join(page));
            let text = text.map_err(|error| format!("docs/{page}: {error}"))?;
            let shown = below(&text, typed).ok_or(format!("docs/{page} shows no `{typed}`"))?;
            let output = command.output().map_err(|error| error.to_string())?;
            let errors = String::from_utf8_lossy(&output.stderr);
            if !output.status.success() {
                return Err(format!("{}\n{errors}", output.status));
            }
            let printed = String::from_utf8_lossy(&output.stdout);
            // Reports are printed as errors are.
            let is_printed = [&printed, &errors]
                .iter()
                .any(|all| keep(all) == keep(&shown));
            if is_printed {
                Ok(format!("as on docs/{page}"))
            } else {
                Err(format!(
                    "docs/{page} shows\n{shown}and it prints\n{printed}{errors}"
                ))
            }
        })
    }
}

/// The lines of a page below `$ COMMAND`, up to the next command or the end of the block.
fn below(page: &str, command: &str) -> Option<String> {
    let (_, rest) = page.split_once(&format!("\n$ {command}\n"))?;
    let is_printed = |line: &&str| !line.starts_with("$ ") && !line.starts_with("```");
    let lines = rest.lines().take_while(is_printed);
    Some(lines.map(|line| format!("{line}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn what_is_printed_stands_below_the_command() {
        let page = "```text\n$ make\n$ ./one\n1\n2\n$ ./two\n3\n```\nText\n";
        assert_eq!(below(page, "./one").as_deref(), Some("1\n2\n"));
        assert_eq!(below(page, "./two").as_deref(), Some("3\n"));
        assert_eq!(below(page, "./three"), None);
    }
}
