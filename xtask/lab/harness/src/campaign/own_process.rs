//! Signals to this process, by the system's own command.

use std::process::{self, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Stops this process for a while.
pub(super) fn stop(pause: Duration) {
    let (id, seconds) = (process::id(), pause.as_secs_f64());
    run(&format!(
        "kill -STOP {id}; sleep {seconds}; kill -CONT {id}"
    ));
}

/// Kills this process.
pub(super) fn kill() -> ! {
    run(&format!("kill -KILL {}", process::id()));
    loop {
        thread::park();
    }
}

/// Runs a shell's commands to their end.
fn run(commands: &str) {
    let status = Command::new("sh")
        .args(["-c", commands])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    let status = status.expect("every Unix has a shell");
    assert!(status.success(), "`{commands}`: {status}");
}
