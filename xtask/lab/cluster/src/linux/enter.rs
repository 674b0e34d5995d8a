//! Runs a program on a node: this process enters the node's namespaces and becomes the program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sched::{CloneFlags, setns};

use super::{MEMORY, NODES_VARIABLE};
use crate::Error;

/// The name of this role. Arguments: a node's number and a command.
pub(super) const PART: &str = "enter";

/// The name of the role that replaces `ssh`. Arguments: options of `ssh`, a node's name, and words for a shell.
pub(super) const AGENT: &str = "agent";

pub(super) fn main(arguments: &[OsString]) -> Result<u8, Error> {
    let [number, program, arguments @ ..] = arguments else {
        return Err(Error::Unsupported("no command for the node".to_owned()));
    };
    enter(number)?;
    become_program(Command::new(program).args(arguments))
}

pub(super) fn run_agent(arguments: &[OsString]) -> Result<u8, Error> {
    let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    let mut words = arguments.iter().skip_while(is_option);
    let name = words.next().map(|name| name.to_string_lossy().into_owned());
    let number = name.as_deref().and_then(|name| name.strip_prefix("node"));
    let Some(number) = number else {
        return Err(Error::Unsupported(format!("no node is called {name:?}")));
    };
    enter(OsStr::new(number))?;
    let script: Vec<OsString> = words.cloned().collect();
    let script = script.join(OsStr::new(" "));
    become_program(Command::new("sh").arg("-c").arg(script))
}

fn become_program(command: &mut Command) -> Result<u8, Error> {
    let error = command.env("TMPDIR", MEMORY).exec();
    Err(Error::on(command.get_program().to_string_lossy())(error))
}

/// Moves this process to a node. It keeps its current folder.
fn enter(number: &OsStr) -> Result<(), Error> {
    let missing = || Error::Unsupported(format!("there is no node {} here", number.display()));
    let pids = env::var(NODES_VARIABLE).map_err(|_| missing())?;
    let index = number.to_str().and_then(|word| word.parse().ok());
    let index: usize = index.ok_or_else(missing)?;
    let pid = pids.split(' ').nth(index).ok_or_else(missing)?;
    let folder = env::current_dir().map_err(Error::on("the current folder"))?;
    // Opens all before switching mounts. All nodes share process ids.
    let kinds = [
        ("net", CloneFlags::CLONE_NEWNET),
        ("uts", CloneFlags::CLONE_NEWUTS),
        ("ipc", CloneFlags::CLONE_NEWIPC),
        ("mnt", CloneFlags::CLONE_NEWNS),
    ];
    let opened = kinds.map(|(name, flag)| {
        let path = format!("/proc/{pid}/ns/{name}");
        let file = File::open(&path).map_err(Error::on(path));
        file.map(|file| (file, flag))
    });
    for namespace in opened {
        let (file, flag) = namespace?;
        setns(file, flag).map_err(Error::on(format!("node {index}")))?;
    }
    env::set_current_dir(&folder).map_err(Error::on(folder.to_string_lossy()))
}
