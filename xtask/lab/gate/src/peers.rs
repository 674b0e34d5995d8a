//! `cargo xtask bench peers`: compares treefold with other libraries of reproducible sums, which are built from the caller's checkouts. This
//! project contains no code of these libraries, only a short driver for each, and the program that times them, in `benches/peers`.

use std::ffi::OsString;
use std::path::{self, Path, PathBuf};
use std::process::Stdio;

use checkout::workspace::{target, workspace};
use launch::installed::is_on_path;
use launch::{Error, Installation};

use crate::c::programs::flags;
use crate::commands::{self, Result, Stop, cargo, command, output, words};

/// The name of the sum with which times are compared.
pub const REFERENCE: &str = "unordered SIMD + MPI_Allreduce";

/// The name of the sum with which bits are compared.
pub const TREEFOLD: &str = "treefold";

/// Another library, and how to build a shared library from its checkout. Paths are separated by blanks.
struct Peer {
    name: &'static str,
    /// The name of the library's checkout in the caller's folder.
    folder: &'static str,
    address: &'static str,
    /// The driver's name in benches/peers.
    driver: &'static str,
    /// Files that must exist: those that the driver includes, or that the build needs first.
    files: &'static str,
    /// The folders of headers for the sources.
    includes: &'static str,
    /// The library's sources, which are compiled with the driver. If there are none, `make` builds libraries, to which the driver is linked.
    sources: &'static str,
    /// Options of the compiler or linker.
    options: &'static str,
}

const PEERS: [Peer; 3] = [
    Peer {
        name: "ReproRed",
        folder: "ReproRed",
        address: "https://github.com/stelzch/reprored",
        driver: "reprored",
        files: "include/dual_tree_summation.hpp",
        includes: "include",
        sources: "src/dual_tree_summation.cpp src/summation.cpp",
        options: "",
    },
    Peer {
        name: "the thesis' program",
        folder: "allreduce",
        address: "https://github.com/stelzch/allreduce",
        driver: "thesis",
        files: "src/summation/strategies/binary_tree.hpp",
        includes: "src/summation src",
        sources: "src/summation/strategies/binary_tree.cpp \
            src/summation/strategies/summation_strategy.cpp src/summation/util.cpp",
        options: "-DAVX",
    },
    Peer {
        name: "ReproBLAS",
        folder: "ReproBLAS",
        address: "https://github.com/willow-ahrens/ReproBLAS",
        driver: "reproblas",
        files: "include/binnedMPI.h Makefile",
        includes: "",
        sources: "",
        options: "-lbinnedMPI -lbinnedBLAS -lbinned -lm",
    },
];

/// The compiler's options: for this processor, and without warnings about foreign code.
const CXX_FLAGS: &str =
    "-std=c++20 -O3 -march=native -DNDEBUG -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -w";

/// The options for a library that exports only the driver's own functions, because different peers have classes of the same name.
const LIBRARY_FLAGS: &str = "-shared -fPIC -fvisibility=hidden";

/// The measurements to make.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The folder with the checkouts.
    pub folder: &'a Path,
    /// The numbers of ranks.
    pub ranks: &'a [usize],
    /// Whether to measure few lengths and rounds.
    pub quick: bool,
}

/// The times of one library's sums.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The library: [`REFERENCE`], [`TREEFOLD`], or a peer.
    pub name: String,
    /// The number of ranks.
    pub ranks: usize,
    /// The number of items.
    pub n: u64,
    /// `warm` or `cold`.
    pub state: String,
    /// The bits of the sum.
    pub bits: u64,
    /// The time of a call on the slowest rank, in each round.
    pub ns: Vec<f64>,
}

/// How to get the checkouts.
pub fn advice() -> String {
    let peers = PEERS.map(|peer| format!("{} ({}) as {}", peer.name, peer.address, peer.folder));
    format!(
        "name a folder with clones of one or more of these: {}",
        peers.join(", ")
    )
}

/// Installs treefold in target/, builds the peers whose checkouts exist, and times all sums. Passes messages about omitted peers to `say`.
pub fn measure(
    job: Job<'_>,
    installation: &Installation,
    say: &dyn Fn(String),
) -> Result<Vec<Measurement>, Error> {
    let (mut found, mut lacking) = (Vec::new(), Vec::new());
    for peer in &PEERS {
        match peer.missing(job.folder) {
            None => found.push(peer),
            Some(file) => lacking.push(format!("{}/{file} ({})", peer.folder, peer.address)),
        }
    }
    if found.is_empty() {
        let (folder, lacking) = (job.folder.display(), lacking.join(", "));
        let reason = format!("nothing to measure in {folder}, which lacks {lacking}");
        return Err(Error::option("--peers", reason));
    }
    for lacking in lacking {
        say(format!("skipped: {lacking} is missing"));
    }
    installation.check()?;
    let tools = Tools {
        c: installation.program("mpicc"),
        cxx: installation.program("mpicxx"),
        folder: target()?.join("peers"),
    };
    let needed = [&*tools.c, &*tools.cxx, "pkg-config"];
    if let Some(tool) = needed.into_iter().find(|tool| !is_on_path(tool)) {
        return Err(Error::Run(format!(
            "bench peers needs {tool}, which is missing here"
        )));
    }
    let measured = measure_found(job, &found, installation, &tools, say);
    measured.map_err(|stop| Error::Run(stop.reason()))
}

fn measure_found(
    job: Job<'_>,
    found: &[&Peer],
    installation: &Installation,
    tools: &Tools,
    say: &dyn Fn(String),
) -> Result<Vec<Measurement>> {
    let mut install = cargo("xtask install --prefix");
    install.arg(&tools.folder).stdout(Stdio::null());
    if !install.status()?.success() {
        return Err(format!("{install:?} failed").into());
    }
    let driver = tools.folder.join("driver");
    let source = drivers().join("driver.cpp");
    let words = words![tools.cxx, CXX_FLAGS, source, "-o", driver, "-ldl"];
    output(commands::of(words))?;
    let runtime = word("-Wl,-rpath,", &tools.folder.join("lib"));
    let of_treefold = words![flags(&tools.folder, "treefold-mpi", "")?, runtime];
    let mut built = vec![
        (REFERENCE, tools.library("unordered", Vec::new())?),
        (TREEFOLD, tools.library("treefold", of_treefold)?),
    ];
    for peer in found {
        match peer.build(job.folder, tools) {
            Ok(library) => built.push((peer.name, library)),
            Err(stop) => {
                let (name, reason) = (peer.name, stop.reason());
                say(format!(
                    "skipped: {name} could not be built: {}",
                    first_error(&reason)
                ));
            }
        }
    }
    if built.len() == 2 {
        return Err("no peer could be built".into());
    }
    let few = ("31", "460,1602");
    let many = ("151", "460,1602,239763,504850");
    let (rounds, lengths) = if job.quick { few } else { many };
    let (names, libraries): (Vec<&str>, Vec<PathBuf>) = built.into_iter().unzip();
    let mut measured = Vec::new();
    for &ranks in job.ranks {
        let mut run = installation.command(ranks, &driver);
        run.args([rounds, lengths]).args(&libraries);
        for line in output(run)?.lines() {
            let measurement = Measurement::parse(line, ranks, &names);
            measured.push(measurement.ok_or_else(|| format!("benches/peers: `{line}`"))?);
        }
    }
    Ok(measured)
}

/// The folder of the drivers.
fn drivers() -> PathBuf {
    workspace().join("benches/peers")
}

/// The most informative line of a compiler's or make's output.
fn first_error(said: &str) -> &str {
    let mut lines = said.lines();
    let error = lines.find(|line| line.contains("error") || line.contains("***"));
    error.or(said.lines().last()).unwrap_or_default()
}

/// The compilers, and the folder for what they build.
struct Tools {
    c: String,
    cxx: String,
    folder: PathBuf,
}

impl Tools {
    /// Compiles a driver, with these files and options.
    fn library(&self, driver: &str, with: Vec<OsString>) -> Result<PathBuf> {
        let source = drivers().join(format!("{driver}.cpp"));
        let library = self.folder.join(format!("{driver}.so"));
        let words = words![self.cxx, CXX_FLAGS, LIBRARY_FLAGS, source, "-o", library];
        output(commands::of([words, with].concat()))?;
        Ok(library)
    }

    /// Runs `make` in a checkout, for libraries with MPI that can be linked into a shared library. Installs them in a folder.
    fn make(&self, checkout: &Path, prefix: &Path) -> Result {
        if !is_on_path("make") {
            return Err(Stop::Error("make is missing".to_owned()));
        }
        let settings = [format!("CC={} -fPIC", self.c), "BUILD_MPI=true".to_owned()];
        let folders = ["BIN", "LIB", "INC", "DOC"];
        let folders = folders.map(|name| {
            let folder = prefix.join(name.to_lowercase());
            word(&format!("{name}_DIR="), &folder)
        });
        for goal in ["update", "all", "install"] {
            output(command!("make -C", checkout, goal, settings, folders))?;
        }
        Ok(())
    }
}

/// An option that ends in a path.
fn word(begin: &str, path: &Path) -> OsString {
    let mut word = OsString::from(begin);
    word.push(path);
    word
}

impl Peer {
    /// The first of the peer's files that its checkout lacks.
    fn missing(&self, folder: &Path) -> Option<&'static str> {
        let files = [self.files, self.sources].into_iter();
        let mut files = files.flat_map(str::split_whitespace);
        let folder = folder.join(self.folder);
        files.find(|file| !folder.join(file).exists())
    }

    /// Builds the peer with its driver.
    fn build(&self, folder: &Path, tools: &Tools) -> Result<PathBuf> {
        let checkout = path::absolute(folder.join(self.folder))?;
        let files: Vec<OsString> = if self.sources.is_empty() {
            let prefix = tools.folder.join(self.driver);
            tools.make(&checkout, &prefix)?;
            let folders = [("-I", "inc"), ("-L", "lib")];
            folders
                .map(|(option, name)| word(option, &prefix.join(name)))
                .into()
        } else {
            let includes = self.includes.split(' ');
            let includes = includes.map(|name| word("-I", &checkout.join(name)));
            let sources = self.sources.split_whitespace();
            let sources = sources.map(|file| checkout.join(file).into());
            includes.chain(sources).collect()
        };
        tools.library(self.driver, words![files, self.options])
    }
}

impl Measurement {
    /// Parses a line that the program in benches/peers prints.
    fn parse(line: &str, ranks: usize, names: &[&str]) -> Option<Self> {
        let mut words = line.split(' ');
        let n = words.next()?.parse().ok()?;
        let state = words.next()?.to_owned();
        let place: usize = words.next()?.parse().ok()?;
        let bits = u64::from_str_radix(words.next()?, 16).ok()?;
        let ns: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
        Some(Self {
            name: (*names.get(place)?).to_owned(),
            ranks,
            n,
            state,
            bits,
            ns: ns.filter(|ns| !ns.is_empty())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Measurement, PEERS, drivers, first_error};

    #[test]
    fn lines_of_the_program_are_read() {
        let parse = |line| Measurement::parse(line, 2, &["a", "b"]);
        let expected = Measurement {
            name: "b".to_owned(),
            ranks: 2,
            n: 460,
            state: "cold".to_owned(),
            bits: 0xC0CD_637C_9CCD_3FCC,
            ns: vec![114.5, 106.0],
        };
        let line = "460 cold 1 C0CD637C9CCD3FCC 114.5 106.0";
        assert_eq!(parse(line), Some(expected));
        for wrong in [
            "",
            "460 cold 1 C0CD637C9CCD3FCC",
            "460 cold 2 C0CD637C9CCD3FCC 1.0",
            "460 cold 1 C0CD637C9CCD3FCC 1.0 x",
            "a warning of MPI's",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_peer_has_a_driver_and_names_of_its_own() {
        for (place, peer) in PEERS.iter().enumerate() {
            let driver = drivers().join(format!("{}.cpp", peer.driver));
            assert!(driver.is_file(), "{}", driver.display());
            assert!(!peer.files.is_empty(), "{}", peer.name);
            for other in &PEERS[..place] {
                assert!(peer.folder != other.folder && peer.driver != other.driver);
            }
        }
    }

    #[test]
    fn a_compilers_error_is_found_among_its_words() {
        let said = "mpicxx: exit status: 1\na.cpp:3:10: fatal error: b.hpp: No such file\ncompilation terminated.\n";
        assert_eq!(
            first_error(said),
            "a.cpp:3:10: fatal error: b.hpp: No such file"
        );
        assert_eq!(first_error("make is missing"), "make is missing");
    }
}
