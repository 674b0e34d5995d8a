//! The exports, which are text and no macro's work: `cbindgen` reads them, and so do we.

mod calls;
mod calls_by_key;
mod local;
mod states;

use std::io::Write;
use std::process::{Command, Stdio};

use crate::Error;
use crate::text::put;
pub(crate) use calls::calls;
pub(crate) use calls_by_key::calls_by_key;
pub(crate) use local::local;
pub(crate) use states::states;

const IS_MINE: &str = ", is_mine: *mut c_int";

const PROMISE: &str = "// SAFETY: the caller's promise is this function's.";

const EXPORT: &str = "
/// {gives}
///
/// # Safety
/// {safety}
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn treefold_{name}({arguments}) -> Status {
    {before}
    unsafe { {body} }
}
";

fn export(
    name: &str,
    gives: &str,
    safety: &str,
    arguments: &str,
    before: &str,
    body: &str,
) -> String {
    put(
        EXPORT,
        &[
            ("gives", gives),
            ("safety", safety),
            ("name", name),
            ("arguments", arguments),
            ("before", before),
            ("body", body),
        ],
    )
}

/// As `cargo fmt` has it.
fn formatted(text: &str) -> Result<String, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Rustfmt(error.to_string());
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = command.spawn().map_err(|error| failed(&error))?;
    if let Some(mut input) = running.stdin.take() {
        input
            .write_all(text.as_bytes())
            .map_err(|error| failed(&error))?;
    }
    let output = running.wait_with_output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(&error))
}
