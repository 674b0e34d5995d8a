//! Counts the cache lines of code, the cache lines of data and the pages that a short call touches. After other work, none of these is
//! cached, so the processor waits for each.
//!
//! Valgrind's lackey traces a program (`benches/footprint`) that writes to a marked address before and after each call.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::mem;
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use checkout::table::Table;
use checkout::workspace::target;
use launch::{Error, Installation};

use super::programs::{C_FLAGS, flags};
use crate::{Result, Steps, cargo, command, needs, output};

/// The number of address bits within a cache line and within a page.
const LINE_BITS: u32 = 6;
const PAGE_BITS: u32 = 12;

/// What a call executes and touches, in the order of [`HEADINGS`]. The data lines do not include the items that the call sums.
type Footprint = [usize; 4];

const HEADINGS: [&str; 5] = ["call", "instructions", "code lines", "data lines", "pages"];

/// The number of ranks of the program.
const RANKS: usize = 2;

/// The calls and their limits: about a tenth above the values in docs/measurements.md.
const LIMITS: [(&str, Footprint); 3] = [
    ("treefold_allreduce", [960, 39, 19, 17]),
    ("treefold_sum_f64", [870, 36, 9, 11]),
    ("treefold_allreduce, two ranks", [3100, 240, 150, 60]),
];

/// What the program does between marks: a call is traced, or (`None`) other work is not.
const TRACED: [Option<usize>; 4] = [Some(0), Some(1), None, Some(2)];

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
            return Err(format!("{shown}\na value exceeds LIMITS in {}", file!()).into());
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
    // Each rank's valgrind sends its trace, of more than a gigabyte, to this program.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let log = format!("--log-socket={}", listener.local_addr()?);
    let mut ranks = installation.command(RANKS, Path::new("valgrind"));
    ranks.args(["--tool=lackey", "--trace-mem=yes", &log]);
    ranks.arg(executable).stdin(Stdio::null());
    ranks.env("LD_LIBRARY_PATH", prefix.join("lib"));
    let mut running = ranks.stdout(Stdio::null()).spawn()?;
    let mut traces = Vec::new();
    while traces.len() < RANKS {
        match listener.accept() {
            Ok((trace, _)) => traces.push(thread::spawn(move || footprints_of(trace))),
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
            Err(_) if running.try_wait()?.is_some() => break,
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
    let mut most = vec![Footprint::default(); LIMITS.len()];
    for trace in traces {
        let found = trace.join().expect("reading a trace does not panic")?;
        for (most, found) in most.iter_mut().flatten().zip(found.into_iter().flatten()) {
            *most = found.max(*most);
        }
    }
    let status = running.wait()?;
    if !status.success() || most.iter().flatten().any(|&count| count == 0) {
        return Err(format!(
            "{}: {status}, not all calls were traced",
            installation.shown(RANKS)
        )
        .into());
    }
    Ok(most)
}

fn footprints_of(trace: TcpStream) -> io::Result<Vec<Footprint>> {
    trace.set_nonblocking(false)?;
    footprints(BufReader::with_capacity(1 << 20, trace))
}

/// Counts the accesses between marks, for each call. Reads the trace to its end, since valgrind waits until it is read.
fn footprints(mut trace: impl BufRead) -> io::Result<Vec<Footprint>> {
    let mut found = vec![Footprint::default(); LIMITS.len()];
    let mut marked: Option<(u64, Range<u64>)> = None;
    let mut between = 0;
    let mut counted = Counted::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if trace.read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        let Ok(text) = str::from_utf8(&line) else {
            continue;
        };
        // Valgrind writes the program's own lines as "**1234** marks ...".
        if let Some((_, addresses)) = text.split_once("marks ") {
            marked = parsed(addresses);
            continue;
        }
        let (Some((mark, items)), Some((kind, address, bytes))) = (&marked, access(text)) else {
            continue;
        };
        if address == *mark && kind != b'I' {
            let own = mem::take(&mut counted).footprint();
            // Nothing was traced before the first mark.
            if let Some(&Some(call)) = TRACED.get(usize::wrapping_sub(between, 1)) {
                found[call] = own;
            }
            between += 1;
            if between > TRACED.len() {
                marked = None;
            }
        } else if between > 0 && !items.contains(&address) {
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

/// Parses the marked address and the range of the items: "0x1 items 0x2 0x3".
fn parsed(line: &str) -> Option<(u64, Range<u64>)> {
    let mut numbers = line.split_whitespace().filter_map(|word| {
        let digits = word.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    });
    let mut next = || numbers.next();
    Some((next()?, next()?..next()?))
}

/// Parses a line of the trace, such as " S 1fff0006d0,16": an instruction (I), a load (L), a store (S), or a load and store (M).
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
        let trace = "==1== Lackey\nI  00100,4\n**1** marks 0x9000 items 0x5000 0x5100\n L 00200,8\n S 9000,4\nI  0103e,4\n L 05010,8\n S 06000,8\n M 06008,8\n S 9000,4\nI  01000,2\n S 9000,4\nI  0f000,1\n S 9000,4\nI  0f000,1\nI  0f040,1\n S 9000,4\nI  0f000,1\n";
        let found = footprints(trace.as_bytes()).unwrap();
        assert_eq!(found, [[1, 2, 1, 2], [1, 1, 0, 1], [2, 2, 0, 1]]);
    }
}
