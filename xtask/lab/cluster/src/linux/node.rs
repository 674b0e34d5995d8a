//! A node: the process that holds its namespaces, and its network device.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};
use nix::unistd::{Pid, sethostname};
use std::os::fd::AsRawFd;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use super::{MEMORY, PART as FIRST, address, launchers, mounted, name, own_path, unshare_failed};
use crate::{Error, Settings};

/// The name of this role.
pub(super) const PART: &str = "node";

/// The line that a node prints when it is ready.
const READY: &str = "ready";

/// The keeper of a node.
#[derive(Debug)]
pub(super) struct Node {
    number: usize,
    process: Child,
}

impl Node {
    /// Starts it and waits until it is ready, except for its device.
    pub(super) fn start(number: usize, settings: &Settings) -> Result<Self, Error> {
        let failed = || format!("node {number}");
        let mut process = Command::new(own_path()?)
            .args([FIRST, PART, &number.to_string(), &settings.encode()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::on(failed()))?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output)
                .read_line(&mut line)
                .map_err(Error::on(failed()))?;
        }
        if line.trim() == READY {
            Ok(Self { number, process })
        } else {
            Err(Error::on(failed())("it was not set up"))
        }
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_raw(self.process.id().cast_signed())
    }

    /// Creates its network device.
    pub(super) fn device(&self) -> Result<SyncDevice, Error> {
        let failed = || format!("the network of node {}", self.number);
        let network =
            File::open(format!("/proc/{}/ns/net", self.pid())).map_err(Error::on(failed()))?;
        let number = self.number;
        // A thread can enter another network namespace. The device stays in the one where it was created.
        let made = thread::spawn(move || -> io::Result<SyncDevice> {
            setns(network, CloneFlags::CLONE_NEWNET)?;
            let last = u8::try_from(number).map_err(io::Error::other)?;
            let device = DeviceBuilder::new()
                .name("eth0")
                .layer(Layer::L2)
                .mac_addr([2, 0, 0, 0, 77, last])
                .ipv4(address(number), 24, None)
                .build_sync()?;
            device.set_nonblocking(true)?;
            Ok(device)
        });
        let made = made
            .join()
            .map_err(|_| Error::on(failed())("a thread panicked"))?;
        made.map_err(Error::on(failed()))
    }
}

/// Arguments: the node's number and the settings. It runs until its standard input ends.
pub(super) fn main(arguments: &[OsString]) -> Result<u8, Error> {
    let wrong = || Error::Unsupported("a node was started wrongly".to_owned());
    let [number, settings] = arguments else {
        return Err(wrong());
    };
    let number = number.to_str().and_then(|word| word.parse().ok());
    let number = number.ok_or_else(wrong)?;
    let settings = Settings::decode(settings).ok_or_else(wrong)?;
    let own = CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWNS;
    unshare(own).map_err(unshare_failed)?;
    sethostname(name(number)).map_err(Error::on("the host name"))?;
    mounted("tmpfs", MEMORY, Some("mode=1777"))?;
    let hosts = launchers::write_files(&settings)?;
    let bind = MsFlags::MS_BIND;
    mount(Some(&hosts), "/etc/hosts", None::<&str>, bind, None::<&str>)
        .map_err(Error::on("/etc/hosts"))?;
    set_loopback_up().map_err(Error::on("the loopback device"))?;
    // Standard output is a pipe here, whose reader waits for this line.
    let mut output = fs::OpenOptions::new();
    let output = output.write(true).open("/proc/self/fd/1");
    let said = output
        .and_then(|mut output| io::Write::write_all(&mut output, format!("{READY}\n").as_bytes()));
    said.map_err(Error::on("the pipe to the first process"))?;
    let _ = io::stdin().read(&mut [0]);
    Ok(0)
}

/// Brings up the loopback device, the first one of a network, by a netlink message. The kernel assigns its address.
fn set_loopback_up() -> io::Result<()> {
    const LENGTH_BYTES: u32 = 32;
    const SET_LINK: u16 = 16; // RTM_NEWLINK
    const REQUEST_AND_ANSWER: u16 = 1 | 4; // NLM_F_REQUEST | NLM_F_ACK
    const LOOPBACK: u32 = 1;
    const UP: u32 = 1; // IFF_UP
    let words =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_ne_bytes()).collect() };
    let message = [
        words(&[LENGTH_BYTES]),
        SET_LINK.to_ne_bytes().to_vec(),
        REQUEST_AND_ANSWER.to_ne_bytes().to_vec(),
        // The number of the message, whom it is from; any family; which device; its flags, and which of them change.
        words(&[1, 0, 0, LOOPBACK, UP, UP]),
    ]
    .concat();
    let kernel = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    send(kernel.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 128];
    let length_bytes = recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    // A header of 16 bytes, and an error's negative number or 0.
    let error = answer[..length_bytes].get(16..);
    let error = error.and_then(|rest| rest.first_chunk());
    match error.map(|bytes| i32::from_ne_bytes(*bytes)) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::Error::other("no answer")),
    }
}
