//! Shows a user-defined transport. Ranks are processes of this program, connected by Unix domain sockets.
//!
//! ```text
//! cargo run --release --example own_transport
//! ```
//!
//! `sockets.rs` implements the nine methods of `Communicator`, and matches messages with receives. `wire.rs` moves bytes through a socket,
//! and `rendezvous.rs` connects the processes.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

mod rendezvous;
mod sockets;
mod wire;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command};
use std::{env, fs};

use sockets::Sockets;
use treefold::transport::contract;
use treefold::{Plan, World};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The task of a rank's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// Test the transport, then reduce.
    Reduce,
    /// The last rank leaves while the other ranks still need it.
    Leave,
}

/// Without arguments the program starts the ranks; with arguments, it is a rank.
fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            for ranks in [1, 2, 5] {
                start(ranks, Task::Reduce)?;
            }
            start(2, Task::Leave)
        }
        [task, folder, rank, size] => {
            let end = rendezvous::join(Path::new(folder), rank.parse()?, size.parse()?)?;
            match *task {
                "Reduce" => reduce(end),
                _ => leave(end),
            }
        }
        _ => Err("this program takes no arguments".into()),
    }
}

/// Starts a process for each rank, and waits for all of them.
fn start(size: usize, task: Task) -> Outcome<()> {
    println!("{task:?}, p = {size}");
    let folder = env::temp_dir().join(format!("treefold-{}-{size}", process::id()));
    fs::create_dir(&folder)?;
    let outcome = processes(&folder, size, task);
    fs::remove_dir_all(&folder)?;
    outcome
}

fn processes(folder: &PathBuf, size: usize, task: Task) -> Outcome<()> {
    let program = env::current_exe()?;
    let start = |rank: usize| {
        Command::new(&program)
            .arg(format!("{task:?}"))
            .arg(folder)
            .args([rank, size].map(|number| number.to_string()))
            .spawn()
    };
    let children: Vec<Child> = (0..size).map(start).collect::<Result<_, _>>()?;
    let mut failed = Vec::new();
    // If a process fails, the other processes detect the failure, because the sockets of the failed process are closed.
    for (rank, mut child) in children.into_iter().enumerate() {
        if !child.wait()?.success() {
            failed.push(rank);
        }
    }
    match failed[..] {
        [] => Ok(()),
        _ => Err(format!("ranks {failed:?} of {size} have failed").into()),
    }
}

/// Runs [`Task::Reduce`] on a rank.
fn reduce(end: Sockets) -> Outcome<()> {
    // Tests the transport. If it breaks a rule of the contract, `check` panics, and the message names the rule.
    contract::check(&end, |_| ());

    let world = World::new(end);
    let items: Vec<f64> = (1..=10_000).map(|i| 1.0 / f64::from(i)).collect();
    let start = |rank: usize| items.len() * rank / world.size();
    let local = &items[start(world.rank())..start(world.rank() + 1)];
    let plan = Plan::builder(&world)
        .local_items(local.len() as u64)
        .build::<f64>()?;
    let total = plan.allreduce(local)?;
    if total.to_bits() != treefold::sum(&items)?.to_bits() {
        return Err("the total should have the bits of a sum in one process".into());
    }

    // Reduces rows that are longer than a socket accepts at once, in split phase.
    let width = 100_000;
    let columns = Plan::builder(&world)
        .local_items(1)
        .width(width)
        .build::<f64>()?;
    let row: Vec<f64> = (0..width)
        .map(|i| items[(i + world.rank()) % items.len()])
        .collect();
    let pending = columns.start_allreduce_row(&row)?;
    let again = plan.allreduce(local)?;
    let totals = pending.wait()?;
    let first_column = treefold::sum(&items[..world.size()])?;
    if (again.to_bits(), totals[0].to_bits()) != (total.to_bits(), first_column.to_bits()) {
        return Err("two plans in flight should not change each other's bits".into());
    }

    if world.rank() == 0 {
        let bits = total.to_bits();
        println!("  the contract is kept; the sum is {total:.15} {bits:016X}");
    }
    Ok(())
}

/// Runs [`Task::Leave`] on a rank: the last rank leaves, and the other one gets an error instead of waiting forever.
fn leave(end: Sockets) -> Outcome<()> {
    let world = World::new(end);
    if world.rank() == world.size() - 1 {
        return Ok(());
    }
    match Plan::builder(&world).local_items(1).build::<f64>() {
        Ok(_) => Err("the plan should have missed the last rank".into()),
        Err(error) => {
            println!("  {error}");
            Ok(())
        }
    }
}
