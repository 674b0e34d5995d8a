//! The control socket, by which a test cuts off, reconnects, stops and resumes nodes.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::Pid;

use crate::switch::Switch;
use crate::{Error, Order};

/// A connection to a running cluster.
#[derive(Debug)]
pub struct Control {
    stream: BufReader<UnixStream>,
}

impl Control {
    /// Connects to the cluster whose control socket has this name. The cluster printed the name at its start, after an `@`. The socket has
    /// an abstract address in this machine's network and is not a file.
    ///
    /// # Errors
    /// There is no such cluster.
    pub fn connect(name: &str) -> io::Result<Self> {
        let address = SocketAddr::from_abstract_name(name)?;
        let stream = BufReader::new(UnixStream::connect_addr(&address)?);
        Ok(Self { stream })
    }

    /// Connects to the cluster that printed this line first on its standard error.
    ///
    /// # Errors
    /// The line is invalid, or the cluster has ended.
    pub fn announced(line: &str) -> io::Result<Self> {
        let line = line.trim();
        match line.split_once("control @") {
            Some((_, name)) => Self::connect(name),
            None => Err(io::Error::other(format!("no cluster prints `{line}`"))),
        }
    }

    /// Sends an order about a node.
    ///
    /// # Errors
    /// There is no such node, or the cluster has ended.
    pub fn tell(&mut self, order: Order, node: usize) -> io::Result<()> {
        writeln!(self.stream.get_mut(), "{} {node}", name(order))?;
        let mut answer = String::new();
        self.stream.read_line(&mut answer)?;
        match answer.trim() {
            DONE => Ok(()),
            "" => Err(io::Error::other("the cluster has ended")),
            reason => Err(io::Error::other(reason)),
        }
    }
}

/// All orders.
const ORDERS: [Order; 4] = [Order::Cut, Order::Heal, Order::Stop, Order::Resume];

/// The name of an order on the socket.
fn name(order: Order) -> &'static str {
    match order {
        Order::Cut => "cut",
        Order::Heal => "heal",
        Order::Stop => "stop",
        Order::Resume => "resume",
    }
}

const DONE: &str = "done";

/// Creates the socket, and obeys orders from root in separate threads. Returns the socket's name.
pub(super) fn serve(
    outer: &str,
    switch: Arc<Mutex<Switch>>,
    nodes: Vec<Pid>,
) -> Result<String, Error> {
    let name = format!("treefold-cluster-{outer}");
    let address = SocketAddr::from_abstract_name(&name).map_err(Error::on("the control socket"))?;
    let listener = UnixListener::bind_addr(&address).map_err(Error::on("the control socket"))?;
    let nodes = Arc::new(nodes);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (switch, nodes) = (Arc::clone(&switch), Arc::clone(&nodes));
            if getsockopt(&stream, sockopt::PeerCredentials).is_ok_and(|peer| peer.uid() == 0) {
                thread::spawn(move || answer(stream, &switch, &nodes));
            }
        }
    });
    Ok(name)
}

fn answer(stream: UnixStream, switch: &Mutex<Switch>, nodes: &[Pid]) {
    let Ok(mut output) = stream.try_clone() else {
        return;
    };
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let answer = match obey(&line, switch, nodes) {
            Ok(()) => DONE.to_owned(),
            Err(reason) => reason,
        };
        if writeln!(output, "{answer}").is_err() {
            return;
        }
    }
}

fn obey(line: &str, switch: &Mutex<Switch>, nodes: &[Pid]) -> Result<(), String> {
    let parsed = line.split_once(' ').and_then(|(order, number)| {
        let order = ORDERS.into_iter().find(|&known| name(known) == order)?;
        Some((order, number.parse::<usize>().ok()?))
    });
    let (order, number) = parsed.ok_or_else(|| {
        let known = ORDERS.map(name).join(", ");
        format!("unknown order `{line}`; known: {known}, each with a node's number")
    })?;
    let node = nodes.get(number);
    let node = *node.ok_or_else(|| format!("there is no node {number}"))?;
    let signalled = match order {
        Order::Cut | Order::Heal => {
            let mut switch = switch.lock().unwrap_or_else(PoisonError::into_inner);
            switch.set_cut(number, order == Order::Cut);
            Ok(())
        }
        Order::Stop => signal(node, Signal::SIGSTOP),
        Order::Resume => signal(node, Signal::SIGCONT),
    };
    signalled.map_err(|error| error.to_string())
}

/// Sends a signal to all processes on a node except its keeper.
fn signal(node: Pid, signal: Signal) -> io::Result<()> {
    let network = |pid: i32| fs::read_link(format!("/proc/{pid}/ns/net"));
    let own = network(node.as_raw())?;
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let pid = name.to_str().and_then(|name| name.parse().ok());
        let pid = pid.unwrap_or(node.as_raw());
        // A process that has just ended has no network.
        if pid != node.as_raw() && network(pid).is_ok_and(|network| network == own) {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }
    Ok(())
}
