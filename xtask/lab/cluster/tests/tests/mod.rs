//! The tests of clusters.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, Child, ChildStdout, Command, ExitCode, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cluster::{Control, Order};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Longer than any step of these tests takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pairs of a test's name and the test.
macro_rules! tests {
    ($($test:ident),+ $(,)?) => {
        [$((stringify!($test), $test)),+]
    };
}

const TESTS: [(&str, fn()); 10] = tests![
    nodes_have_their_own,
    launchers_may_be_roots,
    output_and_status_pass,
    frames_are_delayed,
    frames_are_lost,
    nodes_are_cut_off_and_healed,
    nodes_are_stopped_and_go_on,
    nothing_is_left_after_signals,
    nothing_is_left_after_failures,
    root_is_needed,
];

/// Runs the tests whose names contain one of the arguments, or all tests.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    if let Err(error) = cluster::check() {
        println!("SKIPPED: all tests of clusters: {error}");
        return ExitCode::SUCCESS;
    }
    let filters = arguments.iter().filter_map(|word| word.to_str());
    let filters: Vec<&str> = filters.filter(|word| !word.starts_with('-')).collect();
    let is_chosen =
        |name: &str| filters.is_empty() || filters.iter().any(|&filter| name.contains(filter));
    for (name, test) in TESTS.into_iter().filter(|(name, _)| is_chosen(name)) {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn own() -> PathBuf {
    env::current_exe().expect("this program is somewhere")
}

/// A cluster with this delay and loss, which runs a shell script on its first node. In the script, `$0` is this program, and `$on NODE
/// COMMAND` runs a command on a node.
fn cluster(nodes: usize, delay: &str, loss: &str, script: &str) -> Command {
    let mut command = Command::new(own());
    command.args(["run", &nodes.to_string(), delay, loss, "sh", "-c", script]);
    command.arg(own()).env("on", "/dev/shm/cluster/agent");
    command.stdin(Stdio::null());
    command
}

#[track_caller]
fn ended(mut command: Command) -> Output {
    command.output().expect("it can be started")
}

#[track_caller]
fn output(nodes: usize, script: &str) -> Output {
    ended(cluster(nodes, "0", "0", script))
}

/// The lines that a script prints. The script must succeed.
#[track_caller]
fn lines(nodes: usize, script: &str) -> Vec<String> {
    let output = output(nodes, script);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_owned).collect()
}

fn nodes_have_their_own() {
    let names = lines(3, "hostname; for i in 0 1 2; do $on node$i hostname; done");
    assert_eq!(names, ["node0", "node0", "node1", "node2"]);
    for namespace in ["net", "uts", "ipc", "mnt"] {
        let link = format!("/proc/self/ns/{namespace}");
        let links = lines(
            3,
            &format!("for i in 0 1 2 0; do $on node$i readlink {link}; done"),
        );
        assert_eq!(links[0], links[3], "{namespace}");
        let mut distinct: BTreeSet<String> = links.into_iter().collect();
        let outside = fs::read_link(link).expect("Linux has them");
        distinct.insert(outside.to_string_lossy().into_owned());
        assert_eq!(distinct.len(), 4, "{namespace}");
    }
    let script = "touch /dev/shm/mine; $on node1 ls /dev/shm; ls /dev/shm; echo $TMPDIR";
    let memory = lines(2, script);
    assert_eq!(memory, ["cluster", "cluster", "mine", "/dev/shm"]);
    let folder = lines(1, "pwd");
    let expected = env::current_dir().expect("there is one");
    assert_eq!(folder, [expected.to_string_lossy()]);
}

/// Open MPI 4 and 5 refuse root unless two variables allow it. The caller's values of these variables take precedence.
fn launchers_may_be_roots() {
    let names = ["OMPI", "PRTE"].map(|prefix| format!("{prefix}_ALLOW_RUN_AS_ROOT"));
    let names = names.map(|name| [name.clone(), format!("{name}_CONFIRM")]);
    for name in names.as_flattened() {
        for (set, expected) in [(None, "1"), (Some("0"), "0")] {
            let mut command = cluster(2, "0", "0", &format!("$on node1 printenv {name}"));
            command
                .env_remove(name)
                .envs(set.map(|value| (name, value)));
            let output = ended(command);
            let value = String::from_utf8_lossy(&output.stdout);
            assert_eq!(value.trim(), expected, "{name}");
        }
    }
}

fn output_and_status_pass() {
    let output = output(2, "echo told; echo wrong >&2; exit 7");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"told\n");
    let errors = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = errors.lines().collect();
    let first = "cluster: 2 nodes with 1 rank each, delay 0ns, loss 0 % (seed 1)";
    assert!(errors[0].starts_with(first));
    assert_eq!(errors[1..], ["wrong"]);
    let killed = self::output(1, "kill -9 $$");
    assert_eq!(killed.status.code(), Some(128 + 9));
}

/// Pings the second of two nodes from the first. Returns the nanoseconds of each ping, or `None` for a lost one.
#[track_caller]
fn pings(delay: &str, loss: &str, count: usize) -> Vec<Option<u64>> {
    let script = format!("$on node1 \"$0\" echo & sleep 0.5; \"$0\" ping node1 {count}");
    let output = ended(cluster(2, delay, loss, &script));
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let nanoseconds = |line: &str| Some(line.strip_prefix("got ")?.parse().expect("a number"));
    text.lines().map(nanoseconds).collect()
}

fn frames_are_delayed() {
    let times = pings("20ms", "0", 8);
    assert_eq!(times.len(), 8);
    // A ping is delayed in both directions.
    let is_slow = |time: &u64| *time >= 40_000_000;
    assert!(times.iter().flatten().count() > 0, "{times:?}");
    assert!(times.iter().flatten().all(is_slow), "{times:?}");
    let fast = pings("0", "0", 8);
    assert!(!fast.iter().flatten().all(is_slow), "{fast:?}");
}

fn frames_are_lost() {
    let times = pings("0", "10%", 60);
    let back = times.iter().flatten().count();
    // On average, 81 % come back. For a random seed, none or all come back with a probability below 1 in 100,000.
    assert!((1..60).contains(&back), "{back}");
    assert_eq!(pings("0", "0", 20).iter().flatten().count(), 20);
}

/// A cluster that is running, and the lines that its command prints.
struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    control: String,
}

impl Running {
    fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it can be started");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut said = String::new();
        errors.read_line(&mut said).expect("text");
        // Reads and drops all further messages, so that the pipe does not fill up.
        thread::spawn(move || errors.read_to_end(&mut Vec::new()));
        let control = said.trim().split_once("control @");
        let (_, control) = control.expect("its first line names the control socket");
        Self {
            child,
            lines,
            control: control.to_owned(),
        }
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("more lines").expect("text")
    }

    /// Reads until `count` lines in a row begin with `beginning`.
    #[track_caller]
    fn wait_for(&mut self, beginning: &str, count: usize) {
        let begin = Instant::now();
        let mut found = 0;
        while found < count {
            let is_one = self.line().starts_with(beginning);
            found = if is_one { found + 1 } else { 0 };
            assert!(begin.elapsed() < PATIENCE, "{beginning}");
        }
    }

    fn control(&self) -> Control {
        Control::connect(&self.control).expect("it is running")
    }

    fn id(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The cluster may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A cluster of three nodes; the first pings the second forever.
fn pinging() -> Running {
    let script = "$on node1 \"$0\" echo & \"$0\" ping node1 100000";
    let mut running = Running::start(cluster(3, "0", "0", script));
    running.wait_for("got", 3);
    running
}

fn nodes_are_cut_off_and_healed() {
    let mut running = pinging();
    let mut control = running.control();
    control.tell(Order::Cut, 1).expect("there is a node 1");
    running.wait_for("lost", 3);
    control.tell(Order::Heal, 1).expect("there is a node 1");
    running.wait_for("got", 3);
    // Cutting off a third node does not disturb these two.
    control.tell(Order::Cut, 2).expect("there is a node 2");
    running.wait_for("got", 30);
    let error = control.tell(Order::Cut, 3).expect_err("there is no node 3");
    assert!(error.to_string().contains("no node 3"), "{error}");
}

fn nodes_are_stopped_and_go_on() {
    let mut running = pinging();
    let mut control = running.control();
    control.tell(Order::Stop, 1).expect("there is a node 1");
    running.wait_for("lost", 3);
    control.tell(Order::Resume, 1).expect("there is a node 1");
    running.wait_for("got", 3);
}

/// What a cluster could leave behind on a machine.
#[derive(Debug, PartialEq, Eq)]
struct Traces {
    devices: BTreeSet<OsString>,
    mounts: String,
    /// Whether this machine has the folder that nodes create in their own memory.
    has_folder: bool,
}

impl Traces {
    fn now() -> Self {
        let devices = fs::read_dir("/sys/class/net").into_iter();
        let devices = devices.flatten().flatten();
        Self {
            devices: devices.map(|entry| entry.file_name()).collect(),
            mounts: fs::read_to_string("/proc/self/mountinfo").expect("Linux has it"),
            has_folder: fs::exists("/dev/shm/cluster").expect("it can be looked for"),
        }
    }
}

/// The command lines of all other processes, as far as they contain `marker`.
fn processes_of(marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("Linux has it").flatten() {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if command.contains(marker) && entry.file_name() != *process::id().to_string() {
            found.push(command);
        }
    }
    found
}

/// Waits until nothing of a cluster is left. After a signal, the kernel's cleanup takes some time.
#[track_caller]
fn assert_nothing_is_left(before: &Traces, marker: &str, control: Option<&str>) {
    let begin = Instant::now();
    loop {
        let (now, processes) = (Traces::now(), processes_of(marker));
        let is_reachable = control.is_some_and(|name| Control::connect(name).is_ok());
        if now == *before && processes.is_empty() && !is_reachable {
            return;
        }
        let left = format!("{before:?}, {now:?}, {processes:?}, {is_reachable}");
        assert!(begin.elapsed() < PATIENCE, "{left}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A number of seconds that identifies the sleeping processes of one test.
fn marked_sleep(number: u32) -> String {
    format!("{number}{}", process::id())
}

fn nothing_is_left_after_signals() {
    for (number, signal, status) in [
        (71, Signal::SIGINT, Some(130)),
        (72, Signal::SIGTERM, Some(143)),
        (73, Signal::SIGHUP, Some(129)),
        // After SIGKILL, only the kernel cleans up.
        (74, Signal::SIGKILL, None),
    ] {
        let before = Traces::now();
        let marker = marked_sleep(number);
        // One process runs on another node, and one has left the session of its parent.
        let script = format!(
            "$on node1 sleep {marker} & setsid sleep {marker} & echo begun; sleep {marker}"
        );
        let mut running = Running::start(cluster(2, "0", "0", &script));
        assert_eq!(running.line(), "begun");
        let begin = Instant::now();
        while processes_of(&marker).len() < 4 {
            assert!(begin.elapsed() < PATIENCE, "{:?}", processes_of(&marker));
            thread::sleep(Duration::from_millis(20));
        }
        kill(running.id(), signal).expect("it is running");
        let ended = running.child.wait().expect("it is this process's child");
        assert_eq!(ended.code(), status, "{signal}");
        assert_nothing_is_left(&before, &marker, Some(&running.control));
    }
}

fn nothing_is_left_after_failures() {
    let before = Traces::now();
    let marker = marked_sleep(75);
    for (script, status, reason) in [
        (format!("setsid sleep {marker} & exit 3"), 3, ""),
        (
            format!("set -- $TREEFOLD_CLUSTER_NODES; kill -9 $2; sleep {marker}"),
            2,
            "error: cluster: node 1: its first process has ended",
        ),
        ("$on node2 hostname".to_owned(), 2, "there is no node 2"),
        ("$on elsewhere hostname".to_owned(), 2, "elsewhere"),
    ] {
        let output = output(2, &script);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{script}: {errors}");
        assert!(errors.contains(reason), "{script}: {errors}");
        assert_nothing_is_left(&before, &marker, None);
    }
    let mut missing = Command::new(own());
    missing.args(["run", "2", "0", "0", "no-such-program"]);
    let missing = ended(missing);
    assert_eq!(missing.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&missing.stderr);
    assert!(errors.contains("no-such-program"), "{errors}");
    assert_nothing_is_left(&before, &marker, None);
}

fn root_is_needed() {
    let nobody = 65534;
    let output = cluster(2, "0", "0", "true")
        .uid(nobody)
        .gid(nobody)
        .output();
    let Ok(output) = output else {
        println!("SKIPPED: nobody else may run this program where it is");
        return;
    };
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("needs root"), "{errors}");
}
