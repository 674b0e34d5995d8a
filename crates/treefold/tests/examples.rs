//! Runs every example as a separate process, and checks that it prints what `docs/examples.md` or the tutorial shows.
//!
//! `cargo test -p treefold` builds the examples along with this test. `cargo test --test examples` alone does not build them: it runs the examples of
//! the previous build.
//!
//! The pages and the pictures' numbers are symbolic links in this folder, so that the package contains them, too.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::print_stdout, reason = "its output is its report")]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PAGE: &str = include_str!("examples.page");

const TUTORIAL: &str = include_str!("tutorial.page");

/// The tutorial's program, which is a package of its own in the tutorial.
const FIRST: &str = "first_sum";

/// An example as the page shows it: its arguments, and its output.
#[derive(Clone, Copy, Debug)]
struct Shown {
    name: &'static str,
    arguments: &'static str,
    printed: &'static str,
}

/// The blocks of a page that show a command: the command, and what it prints.
fn blocks(page: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let blocks = page.split("```text\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").unwrap().0);
    blocks.map(|block| block.split_once('\n').unwrap())
}

/// The output that the tutorial shows.
fn shown_first() -> Shown {
    let mut commands = blocks(TUTORIAL);
    let first = commands.find(|(command, _)| *command == "$ cargo run --release");
    Shown {
        name: FIRST,
        arguments: "",
        printed: first.unwrap().1,
    }
}

/// The examples that the page's blocks run by `cargo run`.
fn shown() -> Vec<Shown> {
    let commands = blocks(PAGE).filter_map(|(command, printed)| {
        let words = command.strip_prefix("$ cargo run --release --example ")?;
        let (name, arguments) = words.split_once(' ').unwrap_or((words, ""));
        Some(Shown {
            name,
            arguments,
            printed,
        })
    });
    commands.collect()
}

fn shown_of(name: &str) -> Shown {
    let mut all = shown().into_iter();
    all.find(|one| one.name == name).unwrap()
}

/// The path of an example in cargo's folder, `target/PROFILE/examples`.
fn program(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(name);
    assert!(
        program.is_file(),
        "{} is missing: `cargo test -p treefold` builds it, `--test examples` alone does not",
        program.display()
    );
    program
}

/// The output of a program, which must succeed.
fn printed_by(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{printed}{errors}",
        output.status
    );
    printed
}

/// An empty folder for the files that the examples write.
fn fresh_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs an example in a folder as the page says, and compares its output.
fn check(shown: Shown, folder: &Path) {
    let mut command = Command::new(program(shown.name));
    command.args(shown.arguments.split_whitespace());
    let printed = printed_by(command.current_dir(folder));
    assert_eq!(printed, shown.printed, "{} on its page", shown.name);
    println!("{}: as on the page", shown.name);
}

/// The words of 16 hexadecimal digits in a text: bits of sums, or fingerprints.
fn bits(text: &str) -> Vec<&str> {
    let is_bits =
        |word: &&str| word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split_whitespace().filter(is_bits).collect()
}

#[test]
fn the_page_shows_every_example_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = fs::read_dir(folder).unwrap();
    let mut examples: Vec<String> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    examples.sort();
    let mut names: Vec<&str> = shown().iter().map(|one| one.name).collect();
    names.push(FIRST);
    names.sort_unstable();
    assert_eq!(
        names, examples,
        "the examples of the pages, and those of the folder"
    );
}

#[test]
fn examples_print_what_the_page_shows() {
    let folder = fresh_folder("examples");
    check(shown_first(), &folder);
    for one in shown() {
        if !["conjugate_gradient", "rolling_mean", "survivors"].contains(&one.name) {
            check(one, &folder);
        }
    }
}

/// Checks that the shown output supports the claims of the page, even after it has been recorded again.
#[test]
fn shown_bits_are_equal_with_treefold_and_differ_without() {
    let sums = bits(shown_of("own_transport").printed);
    assert_eq!((sums.len(), BTreeSet::from_iter(sums).len()), (3, 1));

    let lines = shown_first().printed.lines().skip(1);
    let lines: Vec<Vec<&str>> = lines
        .map(|line| line.split_whitespace().collect())
        .collect();
    let distinct = |column: usize| {
        let column = lines.iter().map(|words| words[column]);
        column.collect::<BTreeSet<_>>().len()
    };
    assert_eq!((lines.len(), distinct(2), distinct(3)), (4, 1, 4));

    let table = shown_of("conjugate_gradient").printed;
    for (sums, fingerprints_count) in [("Treefold", 1), ("Plain", 4)] {
        let lines: Vec<&str> = table
            .lines()
            .filter(|line| line.starts_with(sums))
            .collect();
        let ranks = lines.iter().map(|line| line.split_whitespace().nth(1));
        assert!(ranks.eq(["1", "2", "5", "17"].map(Some)), "{lines:?}");
        let fingerprints: BTreeSet<_> = lines.iter().flat_map(|line| bits(line)).collect();
        assert_eq!(fingerprints.len(), fingerprints_count, "{lines:?}");
        for (at, line) in lines.iter().enumerate() {
            let is_same = sums == "Treefold" || at == 0;
            assert_eq!(line.ends_with("never"), is_same, "{line}");
        }
    }
}

#[test]
fn conjugate_gradients_on_threads() {
    check_picture(
        "conjugate_gradient",
        include_str!("conjugate-gradient.json"),
    );
}

#[test]
fn means_that_move() {
    check_picture("rolling_mean", include_str!("rolling-mean.json"));
}

/// Runs an example as the page says, and compares the picture's numbers that it writes.
fn check_picture(name: &str, recorded: &str) {
    let shown = shown_of(name);
    let folder = fresh_folder(name);
    check(shown, &folder);
    let written = fs::read_to_string(folder.join(shown.arguments)).unwrap();
    // `assert_eq` would print both texts.
    assert!(
        written == recorded,
        "docs/{file} is out of date; run `cargo run --release --example {name} docs/{file}`",
        file = shown.arguments
    );
}

/// Runs the example as on the page, and with other numbers of ranks that are lost at other times. The last run loses thirty ranks.
#[test]
fn survivors_on_threads() {
    let shown = shown_of("survivors");
    let folder = fresh_folder("survivors");
    check(shown, &folder);
    let fingerprint = bits(shown_of("conjugate_gradient").printed)[0];
    let small = (1..=4_u64).map(|seed| (2 + seed % 7, 1 + seed % (1 + seed % 7), seed));
    for (ranks, lost, seed) in small.chain([(34, 30, 1)]) {
        let arguments = [ranks, lost, seed].map(|number| number.to_string());
        let printed = printed_by(Command::new(program("survivors")).args(&arguments));
        let expected = format!(
            "{ranks} ranks, of which {lost} were lost, one after the other:\n732 iterates, fingerprint {fingerprint}, all as on one rank\n"
        );
        assert_eq!(printed, expected, "survivors {arguments:?}");
    }
    println!("survivors: as on the page; 5 more runs, the last of which lost 30 of 34 ranks");
}

/// Under MPI, the example prints the lines that the page shows for the same number of threads.
#[cfg(feature = "mpi")]
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage mpi` runs it"]
fn conjugate_gradients_under_mpirun() {
    let table = shown_of("conjugate_gradient").printed;
    for ranks in ["1", "2", "5", "17"] {
        let launcher = env::var("TREEFOLD_MPIRUN").unwrap_or("mpirun -n {ranks}".to_owned());
        let launcher = launcher.replace("{ranks}", ranks);
        let mut words = launcher.split_whitespace();
        let mut mpirun = Command::new(words.next().unwrap());
        mpirun.args(words).arg(program("conjugate_gradient"));
        // These settings of Open MPI 4 and 5 allow more ranks than cores, and any user. Other libraries need no settings.
        mpirun.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        mpirun.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
        mpirun.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        // The timeout, in seconds, is far longer than the example takes.
        mpirun.env("MPIEXEC_TIMEOUT", "300");
        // The header, and one line for each kind of sum.
        let second_words = ["ranks", ranks].map(Some);
        let is_shown = |line: &&str| second_words.contains(&line.split_whitespace().nth(1));
        let expected: Vec<&str> = table.lines().filter(is_shown).collect();
        assert_eq!(expected.len(), 3, "{ranks} ranks on the page");
        let printed = printed_by(&mut mpirun);
        assert_eq!(
            printed.lines().collect::<Vec<_>>(),
            expected,
            "{ranks} ranks"
        );
        println!("conjugate_gradient under mpirun, {ranks} ranks: as on the page");
    }
}
