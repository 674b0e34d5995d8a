//! Leaves the C headers' declarations where maturin looks for them: it makes the Python module of them, so that Python calls what C does.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The headers, in the order in which they include each other.
const HEADERS: [&str; 2] = [
    "../crates/treefold-c/include/treefold.h",
    "../crates/treefold-c-mpi/include/treefold_mpi.h",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut all = String::new();
    for header in HEADERS {
        println!("cargo:rerun-if-changed={header}");
        let text = fs::read_to_string(header).map_err(|error| format!("{header}: {error}"))?;
        all += &declarations(&text);
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // It is <target>/[<triple>/]<profile>/build/<package>/out.
    let above = out.ancestors().nth(4);
    let is_triple = |folder: &Path| folder.file_name() == env::var_os("TARGET").as_deref();
    let target = above.and_then(|folder| match is_triple(folder) {
        true => folder.parent(),
        false => Some(folder),
    });
    let target = target.ok_or("there is no target folder above OUT_DIR")?;
    fs::write(target.join("header.h"), all)?;
    Ok(())
}

/// What cffi understands of a header: no directives, nothing for C++, and no function with a body.
fn declarations(header: &str) -> String {
    let mut kept = String::new();
    let mut lines = header.lines();
    while let Some(line) = lines.next() {
        let last_line = match line {
            "#ifdef __cplusplus" => "#endif",
            line if line.starts_with("static inline") => "}",
            line if line.starts_with('#') => continue,
            line => {
                kept += line;
                kept.push('\n');
                continue;
            }
        };
        lines.by_ref().find(|line| *line == last_line);
    }
    kept
}
