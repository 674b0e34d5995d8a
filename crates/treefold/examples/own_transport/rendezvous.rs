//! Connects processes that know the same folder.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::sockets::Sockets;
use crate::wire::Wire;

/// How long a process waits for another one to be started.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Connects this process, as rank `rank`, with the other ranks' processes. Collective: each rank listens in the folder, connects to lower
/// ranks and accepts connections from higher ranks.
pub(crate) fn join(folder: &Path, rank: usize, size: usize) -> Result<Sockets> {
    let address = |rank: usize| folder.join(format!("rank-{rank}"));
    let listener = UnixListener::bind(address(rank))?;
    listener.set_nonblocking(true)?;
    let mut wires: Vec<Option<Wire>> = Vec::new();
    for below in 0..rank {
        let mut stream = patiently(|| UnixStream::connect(address(below)))?;
        stream.write_all(&(rank as u64).to_le_bytes())?;
        wires.push(Some(Wire::new(stream)?));
    }
    wires.resize_with(size, || None);
    for _ in rank + 1..size {
        let (mut stream, _) = patiently(|| listener.accept())?;
        stream.set_nonblocking(false)?;
        let mut name = [0; 8];
        stream.read_exact(&mut name)?;
        let above = usize::try_from(u64::from_le_bytes(name)).ok();
        let above = above.filter(|above| (rank + 1..size).contains(above));
        let above = above.ok_or_else(|| Error::other("another program has connected"))?;
        wires[above] = Some(Wire::new(stream)?);
    }
    Ok(Sockets::new(rank, wires))
}

/// Repeats an attempt until it succeeds, as the other process may not have started yet.
fn patiently<T>(attempt: impl Fn() -> Result<T>) -> Result<T> {
    let deadline = Instant::now() + LONGEST_WAIT;
    loop {
        match attempt() {
            Err(error) if is_too_early(&error) && Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(1));
            }
            outcome => return outcome,
        }
    }
}

fn is_too_early(error: &Error) -> bool {
    let early = [
        ErrorKind::NotFound,
        ErrorKind::ConnectionRefused,
        ErrorKind::WouldBlock,
    ];
    early.contains(&error.kind())
}
