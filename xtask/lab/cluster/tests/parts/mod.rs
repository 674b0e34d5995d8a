//! The programs that run in the test's clusters and exchange datagrams.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cluster::{Loss, Place, Settings, parse_delay};

/// The port at which the echo listens.
const PORT: u16 = 7000;

/// Much longer than an answer takes in any test.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs a program: `run NODES DELAY LOSS COMMAND…`, `echo`, or `ping NODE COUNT`. Returns `None` for arguments of the test.
pub(crate) fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let ended = match words[..] {
        ["run", nodes, delay, loss, ..] => run_cluster(nodes, delay, loss, &arguments[4..]),
        ["echo"] => echo().map(|()| 0).map_err(|error| error.to_string()),
        ["ping", node, count] => ping(node, count)
            .map(|()| 0)
            .map_err(|error| error.to_string()),
        _ => return None,
    };
    Some(match ended {
        Ok(status) => ExitCode::from(status),
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::from(2)
        }
    })
}

fn run_cluster(nodes: &str, delay: &str, loss: &str, command: &[OsString]) -> Result<u8, String> {
    let told = |error: cluster::Error| error.to_string();
    let settings = Settings {
        nodes: nodes.parse().map_err(|_| format!("{nodes} nodes"))?,
        ranks_per_node: 1,
        delay: parse_delay(delay).map_err(told)?,
        loss: Loss::parse(loss).map_err(told)?,
        seed: 1,
        place: Place::FirstNode,
    };
    cluster::run(&settings, command, |_| ()).map_err(told)
}

/// Sends every datagram back.
fn echo() -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    let mut buffer = [0; 64];
    loop {
        let (length_bytes, from) = socket.recv_from(&mut buffer)?;
        // A datagram that cannot be sent counts as lost.
        let _ = socket.send_to(&buffer[..length_bytes], from);
    }
}

/// Sends datagrams one after the other and prints a line for each: `got` and its round-trip time in nanoseconds, or `lost`.
fn ping(node: &str, count: &str) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    let count: u64 = count.parse().map_err(io::Error::other)?;
    let mut output = io::stdout();
    for number in 0..count {
        let begin = Instant::now();
        // If nobody is listening yet, the kernel reports this as an error from the next call.
        let sent = socket.send_to(&number.to_ne_bytes(), (node, PORT));
        let is_back = sent.is_ok() && is_back(&socket, number, begin);
        if is_back {
            writeln!(output, "got {}", begin.elapsed().as_nanos())?
        } else {
            writeln!(output, "lost")?
        }
        output.flush()?;
    }
    Ok(())
}

fn is_back(socket: &UdpSocket, number: u64, begin: Instant) -> bool {
    let mut answer = [0; 8];
    loop {
        let left = PATIENCE.saturating_sub(begin.elapsed());
        if left.is_zero() || socket.set_read_timeout(Some(left)).is_err() {
            return false;
        }
        // A late answer to an earlier datagram may arrive first.
        if socket.recv(&mut answer).is_ok() && answer == number.to_ne_bytes() {
            return true;
        }
    }
}
