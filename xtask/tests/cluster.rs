//! Tests of `cargo xtask cluster` with an MPI library: where ranks run, and how they end if the network fails. The tests need root.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where it unwraps, and says what it skips"
)]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cluster::{Control, Order};
use harness::bench::schedules::ScheduleRow;
use harness::endurance::{AGAIN, file};
use harness::ranks::RANK_WORD;
use launch::{Installation, Launcher};

/// Longer than any step of these tests takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// The silence limit of ranks that should fail, in seconds.
const LIMIT: u64 = 4;

/// Two ranks on each of three nodes.
const CLUSTER: &str = "cluster --nodes 3 --ranks-per-node 2";
const RANKS: usize = 6;

/// The command with these words.
fn xtask(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(words.split_whitespace()).stdin(Stdio::null());
    command
}

/// The output of a command, which must succeed.
#[track_caller]
fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Waits until no other test runs a cluster, because a machine has few cores. Where no cluster can run, prints a line and returns `None`.
fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    if let Err(error) = cluster::check() {
        println!("SKIPPED: {error}");
        return None;
    }
    Some(TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ranks that reduce in a cluster for some time, or until they fail.
struct Endurance {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    control: Control,
    folder: PathBuf,
}

impl Endurance {
    fn start(name: &str, network: &str, seconds: u64, limit: u64) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // An earlier run may have left the folder.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let installation = Installation::find(None, None).unwrap();
        let launcher = Launcher::of(installation, env!("CARGO_BIN_EXE_xtask"));
        let [seconds, limit] = [seconds, limit].map(|number| number.to_string());
        let path = folder.to_str().unwrap();
        let ranks = launcher.command(RANKS, &[RANK_WORD, "endure", path, &seconds, &limit]);
        let mut command = xtask(&format!("{CLUSTER} {network} --exec --"));
        command.arg(ranks.get_program()).args(ranks.get_args());
        let variables = ranks.get_envs();
        command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        // The launcher waits longer than the ranks, so that the ranks report their errors first.
        command.env("OMPI_MCA_oob_tcp_keepalive_time", "8");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        errors.read_line(&mut said).unwrap();
        // The test prints the other lines, which help if it fails.
        let print = |line: String| eprintln!("{line}");
        thread::spawn(move || errors.lines().map_while(Result::ok).for_each(print));
        let control = Control::announced(&said).unwrap();
        Self {
            child,
            lines,
            control,
            folder,
        }
    }

    /// Waits until the ranks have printed this many more reports of their rounds.
    #[track_caller]
    fn wait_for_rounds(&mut self, count: usize) {
        for _ in 0..count {
            let line = self.lines.next().expect("the ranks go on").unwrap();
            assert!(line.starts_with("round "), "{line}");
        }
    }

    /// Reads the output to its end. Returns the last line and the exit status.
    fn end(&mut self) -> (String, ExitStatus) {
        let last = self.lines.by_ref().map_while(Result::ok).last();
        let status = self.child.wait().unwrap();
        (last.unwrap_or_default(), status)
    }

    /// Waits until all of these ranks have written `word` to their files. Returns the texts of the files.
    #[track_caller]
    fn told(&self, ranks: impl Iterator<Item = usize>, word: &str) -> Vec<String> {
        let begin = Instant::now();
        let mut told = Vec::new();
        for rank in ranks {
            let path = self.folder.join(file(rank));
            loop {
                let text = fs::read_to_string(&path).unwrap_or_default();
                if text.ends_with('\n') && text.contains(word) {
                    told.push(text);
                    break;
                }
                let is_early = begin.elapsed() < PATIENCE;
                assert!(is_early, "rank {rank}: `{text}` lacks `{word}`");
                thread::sleep(Duration::from_millis(20));
            }
        }
        told
    }
}

impl Drop for Endurance {
    fn drop(&mut self) {
        // The child may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Checks that all ranks end without an error, because every message arrived in time.
#[track_caller]
fn assert_done(mut ranks: Endurance) {
    let (last, status) = ranks.end();
    assert!(last.starts_with("done "), "{last}");
    assert!(status.success(), "{status}");
    println!("{last}");
    let told = ranks.told(0..RANKS, "\n");
    assert!(told.iter().all(|text| text == "done\n"), "{told:?}");
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage cluster` runs it"]
fn lost_frames_change_no_bits() {
    let Some(_turn) = turn() else { return };
    for loss in ["0.1%", "1%"] {
        let network = format!("--delay 50us --loss {loss}");
        assert_done(Endurance::start("loss", &network, 4, 100));
    }
}

#[test]
#[ignore = "starts ranks: `cargo xtask test --stage cluster` runs it"]
fn all_goes_on_when_a_link_was_down_for_two_seconds() {
    let Some(_turn) = turn() else { return };
    let mut ranks = Endurance::start("link", "--delay 50us", 8, 100);
    ranks.wait_for_rounds(5);
    ranks.control.tell(Order::Cut, 2).unwrap();
    thread::sleep(Duration::from_secs(2));
    ranks.control.tell(Order::Heal, 2).unwrap();
    ranks.wait_for_rounds(5);
    assert_done(ranks);
}

/// Every rank, on both sides of the cut, ends with an error within its limit. All ranks on one side blame the ranks of one node on the
/// other side. The launcher does not hang.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage cluster` runs it"]
fn a_node_that_is_cut_off_for_ever_is_missed_by_all() {
    let Some(_turn) = turn() else { return };
    let mut ranks = Endurance::start("cut", "--delay 50us", 1000, LIMIT);
    ranks.wait_for_rounds(5);
    ranks.control.tell(Order::Cut, 2).unwrap();
    let told = ranks.told(0..RANKS, "\n");
    // The error, without the name of the rank that reports it.
    let blamed = |text: &String| {
        print!("{text}");
        let (_, silent) = text.lines().next().unwrap().split_once(": ").unwrap();
        silent.to_owned()
    };
    let blamed: Vec<String> = told.iter().map(blamed).collect();
    let here = format!("nothing came within {LIMIT}s, and ranks 4 to 5 are silent");
    assert!(blamed[..4].iter().all(|silent| *silent == here), "{told:?}");
    let there = [0, 2].map(|first| {
        let last = first + 1;
        format!("nothing came within {LIMIT}s, and ranks {first} to {last} are silent")
    });
    assert!(there.contains(&blamed[4]), "{told:?}");
    assert_eq!(blamed[4], blamed[5]);
    let (last, status) = ranks.end();
    assert!(!last.starts_with("done "), "{last}");
    assert!(!status.success(), "{status}");
}

/// All ranks get an error and then reduce again. Late messages from and to the stopped ranks do not match the new plan's receives.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage cluster` runs it"]
fn late_messages_of_a_node_that_was_stopped_meet_nothing() {
    let Some(_turn) = turn() else { return };
    let mut ranks = Endurance::start("stop", "--delay 50us", 1000, LIMIT);
    ranks.wait_for_rounds(5);
    ranks.control.tell(Order::Stop, 2).unwrap();
    ranks.told(0..4, "\n");
    ranks.control.tell(Order::Resume, 2).unwrap();
    ranks.told(4..RANKS, "\n");
    fs::write(ranks.folder.join(AGAIN), "").unwrap();
    ranks.told(0..RANKS, "again 100");
    let (_, status) = ranks.end();
    assert!(status.success(), "{status}");
}

/// A plan reduces within nodes first, once its world has measured that the nodes are far apart.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage cluster` runs it"]
fn far_nodes_are_measured_and_chosen_by() {
    let Some(_turn) = turn() else { return };
    let words = "--delay 3ms -- bench scalar --ranks 6 --quick --json -";
    let text = printed(xtask(&format!("{CLUSTER} {words}")));
    let rows = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let rows: Vec<ScheduleRow> = rows.collect();
    let chosen = |variant: &str| {
        let row = rows.iter().find(|row| row.variant == variant);
        row.unwrap().remark.clone().unwrap()
    };
    let tuned = chosen("tuned");
    let expected = "hierarchical (nodes of 2, binomial within, ";
    assert!(tuned.starts_with(expected), "{tuned}");
    assert_eq!(chosen("unmeasured"), "binomial");
}

/// If root calls `mpirun`, it starts ranks on all nodes without further settings, as docs/cluster-in-a-box.md shows.
#[test]
#[ignore = "starts ranks: `cargo xtask test --stage cluster` runs it"]
fn mpirun_starts_ranks_on_all_nodes() {
    let Some(_turn) = turn() else { return };
    let words = "--delay 1ms --exec -- mpirun -n 6 hostname";
    let mut command = xtask(&format!("{CLUSTER} {words}"));
    for (variable, _) in env::vars_os() {
        let name = variable.to_string_lossy().into_owned();
        if name.starts_with("OMPI_") || name.starts_with("PRTE_") {
            command.env_remove(variable);
        }
    }
    let text = printed(command);
    let mut names: Vec<&str> = text.lines().collect();
    names.sort_unstable();
    let expected = ["node0", "node0", "node1", "node1", "node2", "node2"];
    assert_eq!(names, expected);
}
