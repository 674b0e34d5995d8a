//! A node: the process that keeps its namespaces, its network device, and the files and variables by which MPI launchers find the nodes.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};
use nix::unistd::{Pid, sethostname};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use super::{
    AGENT, MEMORY, NAMESPACES, PART as FIRST, address, mounted, name, own_path, unshare_failed,
};
use crate::{Error, Settings};

/// The name of the role of a node's keeper.
pub(super) const PART: &str = "node";

/// The line that a node's keeper prints when the node is ready.
const READY: &str = "ready";

/// A node, and the process that keeps it.
#[derive(Debug)]
pub(super) struct Node {
    number: usize,
    process: Child,
}

impl Node {
    /// Starts the keeper, and waits until the node is ready. [`device`](Self::device) then creates its network device.
    pub(super) fn start(number: usize, settings: &Settings) -> Result<Self, Error> {
        let failed = || format!("node {number}");
        let mut keeper = Command::new(own_path()?);
        keeper.args([FIRST, PART, &number.to_string(), &settings.encode()]);
        keeper.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = keeper.spawn().map_err(Error::on(failed()))?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            let read = BufReader::new(output).read_line(&mut line);
            read.map_err(Error::on(failed()))?;
        }
        match line.trim() {
            READY => Ok(Self { number, process }),
            _ => Err(Error::on(failed())("it was not set up")),
        }
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_raw(self.process.id().cast_signed())
    }

    /// Creates the node's network device.
    pub(super) fn device(&self) -> Result<SyncDevice, Error> {
        let failed = || format!("the network of node {}", self.number);
        let network = File::open(format!("/proc/{}/ns/net", self.pid()));
        let network = network.map_err(Error::on(failed()))?;
        let number = self.number;
        // A thread can enter another network namespace. The device stays in the namespace where it was created.
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
        let panicked = |_| io::Error::other("a thread panicked");
        let made = made.join().map_err(panicked).flatten();
        made.map_err(Error::on(failed()))
    }
}

/// Runs a node's keeper until its standard input ends. Arguments: the node's number and the settings.
pub(super) fn main(arguments: &[OsString]) -> Result<u8, Error> {
    let wrong = || Error::Unsupported("a node's keeper got wrong arguments".to_owned());
    let [number, settings] = arguments else {
        return Err(wrong());
    };
    let number = number.to_str().and_then(|word| word.parse().ok());
    let number = number.ok_or_else(wrong)?;
    let settings = Settings::decode(settings).ok_or_else(wrong)?;
    let own = NAMESPACES.map(|(_, flag)| flag).into_iter().collect();
    unshare(own).map_err(unshare_failed)?;
    sethostname(name(number)).map_err(Error::on("the host name"))?;
    mounted("tmpfs", MEMORY, Some("mode=1777"))?;
    let hosts = write_files(&settings)?;
    let bind = MsFlags::MS_BIND;
    mount(Some(&hosts), "/etc/hosts", None::<&str>, bind, None::<&str>)
        .map_err(Error::on("/etc/hosts"))?;
    set_loopback_up().map_err(Error::on("the loopback device"))?;
    // Standard output is a pipe whose reader, process 1, waits for this line.
    let mut output = fs::OpenOptions::new();
    let output = output.write(true).open("/proc/self/fd/1");
    let said = output.and_then(|mut output| writeln!(output, "{READY}"));
    said.map_err(Error::on("the pipe to the first process"))?;
    let _ = io::stdin().read(&mut [0]);
    Ok(0)
}

/// Brings up the loopback device, which is a network's first device, by a netlink message. The kernel assigns its address.
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
        // The number and the sender of the message; any family; the device; its flags, and the flags to change.
        words(&[1, 0, 0, LOOPBACK, UP, UP]),
    ]
    .concat();
    let (family, route) = (AddressFamily::Netlink, SockProtocol::NetlinkRoute);
    let kernel = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, route)?;
    send(kernel.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 128];
    let length_bytes = recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    // The answer has a header of 16 bytes, then an error's negative number, or 0.
    let error = answer[..length_bytes].get(16..);
    let error = error.and_then(|rest| rest.first_chunk());
    match error.map(|bytes| i32::from_ne_bytes(*bytes)) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::Error::other("no answer")),
    }
}

/// The folder of a node's files.
const FOLDER: &str = "cluster";

/// The program that Open MPI and MPICH call instead of `ssh`.
const AGENT_FILE: &str = "agent";

/// The names of the host files, one in the format of each library.
const OPENMPI_HOSTS: &str = "hosts.openmpi";
const MPICH_HOSTS: &str = "hosts.mpich";

fn path(file: &str) -> PathBuf {
    [MEMORY, FOLDER, file].iter().collect()
}

/// Writes the files of a node. Returns the one that becomes its `/etc/hosts`.
fn write_files(settings: &Settings) -> Result<PathBuf, Error> {
    let agent = path(AGENT_FILE);
    let own = own_path()?;
    let own = own.to_string_lossy().replace('\'', r"'\''");
    let list = |line: &dyn Fn(usize) -> String| {
        let lines: Vec<String> = (0..settings.nodes).map(line).collect();
        lines.concat()
    };
    let room = settings.ranks_per_node;
    let addresses = list(&|number| format!("{} {}\n", address(number), name(number)));
    let hosts = path("hosts");
    let script = format!("#!/bin/sh\nexec '{own}' {FIRST} {AGENT} \"$@\"\n");
    let for_openmpi = list(&|number| format!("{} slots={room}\n", name(number)));
    let for_mpich = list(&|number| format!("{}:{room}\n", name(number)));
    for (path, content) in [
        (&agent, script),
        (&path(OPENMPI_HOSTS), for_openmpi),
        (&path(MPICH_HOSTS), for_mpich),
        (&hosts, format!("127.0.0.1 localhost\n{addresses}")),
    ] {
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, content));
        written.map_err(Error::on(path.to_string_lossy()))?;
    }
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&agent, executable).map_err(Error::on(agent.to_string_lossy()))?;
    Ok(hosts)
}

/// The variables for Open MPI 4 and 5 and MPICH: the nodes, the agent, and settings for nodes that share cores.
pub(super) fn variables() -> Vec<(&'static str, String)> {
    let of = |file: &str| path(file).to_string_lossy().into_owned();
    let word = str::to_owned;
    vec![
        ("OMPI_MCA_plm_rsh_agent", of(AGENT_FILE)),
        ("PRTE_MCA_plm_ssh_agent", of(AGENT_FILE)),
        ("OMPI_MCA_orte_default_hostfile", of(OPENMPI_HOSTS)),
        ("PRTE_MCA_prte_default_hostfile", of(OPENMPI_HOSTS)),
        ("HYDRA_LAUNCHER_EXEC", of(AGENT_FILE)),
        ("HYDRA_HOST_FILE", of(MPICH_HOSTS)),
        // Clusters need root, and Open MPI refuses root without two variables.
        ("OMPI_ALLOW_RUN_AS_ROOT", word("1")),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", word("1")),
        ("PRTE_ALLOW_RUN_AS_ROOT", word("1")),
        ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", word("1")),
        // Otherwise each node would bind its first rank to the same core.
        ("OMPI_MCA_hwloc_base_binding_policy", word("none")),
        ("PRTE_MCA_hwloc_default_binding_policy", word("none")),
        // A node reports all cores of the machine, so launchers do not see that ranks share them.
        ("OMPI_MCA_mpi_yield_when_idle", word("1")),
        // Use TCP between nodes, and shared memory within a node.
        ("OMPI_MCA_pml", word("ob1")),
        ("OMPI_MCA_btl", word("self,vader,tcp")),
        // End the job if a node is cut off. With the defaults, this would not be detected.
        ("OMPI_MCA_oob_tcp_keepalive_time", word("2")),
        ("OMPI_MCA_oob_tcp_keepalive_intvl", word("1")),
        ("OMPI_MCA_oob_tcp_keepalive_probes", word("3")),
    ]
}
