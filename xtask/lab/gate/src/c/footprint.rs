//! What a short call touches: cache lines of code and of data, and pages. After other work none of them is in a cache, and the processor waits for
//! each.
//!
//! valgrind's lackey traces a program (`benches/footprint`) that writes to a marked address before and after each call.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

use checkout::table::Table;
use checkout::workspace::{cargo, target, workspace};
use launch::installed::runs;
use launch::{Error, Installation};

use super::consumers::C_FLAGS;
use super::pkg_config;
use crate::steps::{Steps, Stop};

/// The bits of an address within a line of a cache, and within a page.
const LINE_BITS: u32 = 6;
const PAGE_BITS: u32 = 12;

/// The calls, and what they may touch: about a tenth more than docs/measurements.md records.
const LIMITS: [(&str, Footprint); 2] = [
    (
        "treefold_allreduce",
        Footprint {
            instructions: 1290,
            code_lines: 51,
            data_lines: 41,
            pages: 31,
        },
    ),
    (
        "treefold_sum_f64",
        Footprint {
            instructions: 1170,
            code_lines: 43,
            data_lines: 21,
            pages: 17,
        },
    ),
];

/// What a call touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Footprint {
    instructions: usize,
    code_lines: usize,
    /// Without those of the items.
    data_lines: usize,
    pages: usize,
}

impl Footprint {
    fn numbers(self) -> [usize; 4] {
        [
            self.instructions,
            self.code_lines,
            self.data_lines,
            self.pages,
        ]
    }
}

/// Whether no call touches more than it may. Without valgrind nothing is counted.
pub(super) fn check(steps: &mut Steps, prefix: &Path, folder: &Path) -> Result<(), Stop> {
    if !runs("valgrind") {
        println!("skipped: what a short call touches, for want of valgrind");
        return Ok(());
    }
    let compiler = compiler(steps.installation());
    steps.check("what a short call touches", || {
        let found = measure(prefix, folder, &compiler).map_err(|error| error.to_string())?;
        let shown = table(&found).join("\n");
        let exceeds = |(found, (_, limit)): (&Footprint, &(&str, Footprint))| {
            let mut pairs = found.numbers().into_iter().zip(limit.numbers());
            pairs.any(|(found, limit)| found > limit)
        };
        if found.iter().zip(&LIMITS).any(exceeds) {
            return Err(format!("{shown}\nmore than LIMITS in {}", file!()));
        }
        Ok(shown)
    })
}

/// Installs treefold, and returns the lines of a table of what is found.
pub(crate) fn bench(installation: &Installation) -> Result<Vec<String>, Error> {
    let folder = target()?.join("footprint");
    let mut install = cargo();
    install.args(["xtask", "install", "--prefix"]).arg(&folder);
    let status = install.status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(Error::Run(format!("{install:?} failed")));
    }
    let found = measure(&folder, &folder, &compiler(installation))?;
    Ok(table(&found))
}

fn compiler(installation: &Installation) -> String {
    let library = installation.library();
    library.map_or_else(|| "mpicc".to_owned(), launch::Library::c_compiler)
}

fn table(found: &[Footprint]) -> Vec<String> {
    let mut table = Table::new(["call", "instructions", "code lines", "data lines", "pages"]);
    for ((call, _), found) in LIMITS.iter().zip(found) {
        let numbers = found.numbers().map(|number| number.to_string());
        table.push([vec![(*call).to_owned()], numbers.to_vec()].concat());
    }
    table.lines()
}

/// What each of the calls touches, in a program that is built in a folder against a prefix.
fn measure(prefix: &Path, folder: &Path, compiler: &str) -> Result<Vec<Footprint>, Error> {
    let executable = folder.join("footprint");
    let source = workspace().join("benches/footprint/footprint.c");
    let flags = pkg_config::flags(prefix, "treefold-mpi", &[]).map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::Failed => Error::Run("pkg-config failed".to_owned()),
    })?;
    let mut compile = Command::new(compiler);
    compile.args(C_FLAGS).arg(source).arg("-o").arg(&executable);
    compile.args(flags);
    let status = compile.status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(Error::Run(format!("{compile:?} failed")));
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=lackey", "--trace-mem=yes"]);
    valgrind.arg(&executable);
    valgrind.env("LD_LIBRARY_PATH", prefix.join("lib"));
    valgrind.stdout(Stdio::null()).stderr(Stdio::piped());
    let failed = |reason: String| Error::Run(format!("valgrind: {reason}"));
    let mut running = valgrind
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let trace = running.stderr.take().expect("it is piped");
    let found = read(BufReader::with_capacity(1 << 20, trace)).map_err(failed)?;
    let status = running.wait().map_err(|error| failed(error.to_string()))?;
    if !status.success() || found.len() != LIMITS.len() {
        return Err(failed(format!("{status}, {} calls", found.len())));
    }
    Ok(found)
}

/// Counts what lies between marks.
fn read(mut trace: impl BufRead) -> Result<Vec<Footprint>, String> {
    let mut found = Vec::new();
    let mut counted: Option<Counted> = None;
    let mut told: Option<(u64, Range<u64>)> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = trace.read_until(b'\n', &mut line);
        if read.map_err(|error| error.to_string())? == 0 {
            return Ok(found);
        }
        let Ok(text) = str::from_utf8(&line) else {
            continue;
        };
        if text.starts_with("marks ") {
            told = addresses(text);
            continue;
        }
        let (Some((mark, items)), Some((kind, address, bytes))) = (&told, access(text)) else {
            continue;
        };
        if address == *mark && kind != b'I' {
            found.extend(counted.replace(Counted::default()).map(Counted::footprint));
            if found.len() == LIMITS.len() {
                counted = None;
                told = None;
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
        let lines = if kind == b'I' {
            self.instructions += 1;
            &mut self.code_lines
        } else {
            &mut self.data_lines
        };
        lines.extend(address >> LINE_BITS..=(address + bytes - 1) >> LINE_BITS);
        self.pages.insert(address >> PAGE_BITS);
    }

    fn footprint(self) -> Footprint {
        Footprint {
            instructions: self.instructions,
            code_lines: self.code_lines.len(),
            data_lines: self.data_lines.len(),
            pages: self.pages.len(),
        }
    }
}

/// The marked address, and where items lie: "marks 0x1 items 0x2 0x3".
fn addresses(line: &str) -> Option<(u64, Range<u64>)> {
    let mut numbers = line.split_whitespace().filter_map(|word| {
        let digits = word.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    });
    let mut next = || numbers.next();
    Some((next()?, next()?..next()?))
}

/// An instruction (I), or a load (L), a store (S) or both (M): " S 1fff0006d0,16".
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
    use super::{Footprint, read};

    #[test]
    fn what_lies_between_marks_is_counted() {
        let trace = "==1== Lackey\nI  00100,4\nmarks 0x9000 items 0x5000 0x5100\n L 00200,8\n S 9000,4\nI  0103e,4\n L 05010,8\n S 06000,8\n M 06008,8\n S 9000,4\nI  01000,2\n S 9000,4\nI  0f000,1\n";
        let one = Footprint {
            instructions: 1,
            code_lines: 2,
            data_lines: 1,
            pages: 2,
        };
        let other = Footprint {
            instructions: 1,
            code_lines: 1,
            data_lines: 0,
            pages: 1,
        };
        assert_eq!(read(trace.as_bytes()), Ok(vec![one, other]));
    }
}
