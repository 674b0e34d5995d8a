//! Counts the cache lines of code and data, and the pages, that a short call touches. After other work, none of these is cached, so the
//! processor waits for each.
//!
//! Valgrind's lackey traces a program (`benches/footprint`) that writes to a marked address before and after each call.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::Stdio;

use checkout::table::Table;
use checkout::workspace::target;
use launch::{Error, Installation};

use super::programs::{C_FLAGS, flags};
use crate::{Result, Steps, cargo, command, needs, output};

/// The number of address bits within a cache line and within a page.
const LINE_BITS: u32 = 6;
const PAGE_BITS: u32 = 12;

/// What a call touches, in the order of [`HEADINGS`]. Data lines do not include the call's items.
type Footprint = [usize; 4];

const HEADINGS: [&str; 5] = ["call", "instructions", "code lines", "data lines", "pages"];

/// The calls and their limits: about a tenth above the values in docs/measurements.md.
const LIMITS: [(&str, Footprint); 2] = [
    ("treefold_allreduce", [960, 39, 19, 17]),
    ("treefold_sum_f64", [870, 36, 9, 11]),
];

/// Checks that no call exceeds its limits. Skipped without valgrind.
pub(super) fn check(steps: &mut Steps, prefix: &Path, folder: &Path) -> Result {
    needs("what a short call touches", &["valgrind"])?;
    let installation = steps.installation.clone();
    steps.check("what a short call touches", || {
        let found = measure(prefix, folder, &installation)?;
        let shown = table(&found).join("\n");
        let limits = LIMITS.iter().flat_map(|(_, limit)| limit);
        if found
            .iter()
            .flatten()
            .zip(limits)
            .any(|(found, limit)| found > limit)
        {
            return Err(format!("{shown}\nmore than LIMITS in {}", file!()).into());
        }
        Ok(shown)
    })
}

/// Installs treefold and returns the result as a table.
pub(crate) fn bench(installation: &Installation) -> Result<Vec<String>, Error> {
    let found = || -> Result<Vec<Footprint>> {
        let folder = target()?.join("footprint");
        let mut install = cargo("xtask install --prefix");
        let status = install.arg(&folder).status()?;
        if !status.success() {
            return Err(format!("{install:?} failed").into());
        }
        measure(&folder, &folder, installation)
    };
    let found = found().map_err(|stop| Error::Run(stop.reason()))?;
    Ok(table(&found))
}

fn table(found: &[Footprint]) -> Vec<String> {
    let mut table = Table::new(HEADINGS);
    for ((call, _), found) in LIMITS.iter().zip(found) {
        let numbers = found.map(|number| number.to_string());
        table.push([vec![(*call).to_owned()], numbers.to_vec()].concat());
    }
    table.lines()
}

/// Builds the program in a folder against a prefix and counts what each call touches.
fn measure(prefix: &Path, folder: &Path, installation: &Installation) -> Result<Vec<Footprint>> {
    let compiler = installation.program("mpicc");
    let executable = folder.join("footprint");
    let flags = flags(prefix, "treefold-mpi", "")?;
    let source = "benches/footprint/footprint.c";
    output(command!(compiler, C_FLAGS, source, "-o", executable, flags))?;
    let mut valgrind = command!("valgrind --tool=lackey --trace-mem=yes", executable);
    valgrind.env("LD_LIBRARY_PATH", prefix.join("lib"));
    valgrind.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = valgrind.spawn()?;
    let trace = running.stderr.take().expect("it is piped");
    let found = footprints(BufReader::with_capacity(1 << 20, trace))?;
    let status = running.wait()?;
    if !status.success() || found.len() != LIMITS.len() {
        return Err(format!("valgrind: {status}, {} calls", found.len()).into());
    }
    Ok(found)
}

/// Counts the accesses between marks.
fn footprints(mut trace: impl BufRead) -> Result<Vec<Footprint>> {
    let mut found = Vec::new();
    let mut counted: Option<Counted> = None;
    let mut marked: Option<(u64, Range<u64>)> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if trace.read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        let Ok(text) = str::from_utf8(&line) else {
            continue;
        };
        if text.starts_with("marks ") {
            marked = addresses(text);
            continue;
        }
        let (Some((mark, items)), Some((kind, address, bytes))) = (&marked, access(text)) else {
            continue;
        };
        if address == *mark && kind != b'I' {
            found.extend(counted.replace(Counted::default()).map(Counted::footprint));
            if found.len() == LIMITS.len() {
                counted = None;
                marked = None;
            }
        } else if let Some(counted) = &mut counted
            && !items.contains(&address)
        {
            counted.add(kind, address, bytes);
        }
    }
}

#[derive(Default)]
struct Counted {
    instructions: usize,
    code_lines: HashSet<u64>,
    data_lines: HashSet<u64>,
    pages: HashSet<u64>,
}

impl Counted {
    fn add(&mut self, kind: u8, address: u64, bytes: u64) {
        let is_code = kind == b'I';
        self.instructions += usize::from(is_code);
        let lines = if is_code {
            &mut self.code_lines
        } else {
            &mut self.data_lines
        };
        lines.extend(address >> LINE_BITS..=(address + bytes - 1) >> LINE_BITS);
        self.pages.insert(address >> PAGE_BITS);
    }

    fn footprint(self) -> Footprint {
        let sets = [self.code_lines, self.data_lines, self.pages];
        let [code_lines, data_lines, pages] = sets.map(|set| set.len());
        [self.instructions, code_lines, data_lines, pages]
    }
}

/// Parses the marked address and the range of the items: "marks 0x1 items 0x2 0x3".
fn addresses(line: &str) -> Option<(u64, Range<u64>)> {
    let mut numbers = line.split_whitespace().filter_map(|word| {
        let digits = word.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    });
    let mut next = || numbers.next();
    Some((next()?, next()?..next()?))
}

/// Parses an instruction (I), a load (L), a store (S) or both (M): " S 1fff0006d0,16".
fn access(line: &str) -> Option<(u8, u64, u64)> {
    let (kind, place) = line.trim().split_once(' ')?;
    let kind = match kind {
        "I" | "L" | "S" | "M" => kind.as_bytes()[0],
        _ => return None,
    };
    let (address, bytes) = place.trim_start().split_once(',')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    Some((kind, address, bytes.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::footprints;

    #[test]
    fn what_lies_between_marks_is_counted() {
        let trace = "==1== Lackey\nI  00100,4\nmarks 0x9000 items 0x5000 0x5100\n L 00200,8\n S 9000,4\nI  0103e,4\n L 05010,8\n S 06000,8\n M 06008,8\n S 9000,4\nI  01000,2\n S 9000,4\nI  0f000,1\n";
        let found = footprints(trace.as_bytes()).unwrap();
        assert_eq!(found, [[1, 2, 1, 2], [1, 1, 0, 1]]);
    }
}
