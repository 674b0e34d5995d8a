//! Checks the contract under MPI: every process runs this program. `cargo xtask test` starts it with `mpirun`.

#![expect(clippy::print_stdout, reason = "the program's output is its report")]

use comm::{Communicator, Error, Tag, contract, mpi, setting, text};

fn main() {
    if !mpi::is_launched() {
        println!("skipped: no launcher has started ranks");
        return;
    }
    mpi::run(check).expect("MPI starts once");
}

/// A wrong message also ends earlier receives from other ranks, even if it arrived before the receive that it meets was posted.
fn a_mismatch_ends_all_receives_of_its_conversation(world: &mpi::MpiCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    if !world.shares_memory() {
        return;
    }
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let (tag, told) = (Tag::new(1 << 20), Tag::new((1 << 20) + 1));
    world.open(tag).expect("the tag is new");
    world.open(told).expect("the tag is new");
    let (one, other) = (tag.with_exchange(1, 1), tag.with_exchange(1, 2));
    for tag in [one, told] {
        let sent = world.start_send(right, tag, vec![1], 1);
        world
            .wait(sent.expect("the rank exists"))
            .expect("the ring has room");
    }
    let heard = world.start_receive(left, told, vec![0]);
    world
        .wait(heard.expect("the rank exists"))
        .expect("the message comes");
    let own = world
        .start_receive(rank, other, vec![0])
        .expect("the rank exists");
    let wrong = world
        .start_receive(left, other, vec![0])
        .expect("the rank exists");
    let mismatched = Error::Mismatched {
        rank,
        from: left,
        expected: other,
        found: one,
    };
    assert_eq!(world.wait(own), Err(mismatched.clone()));
    assert_eq!(world.wait(wrong), Err(mismatched));
    world.close(tag);
    world.close(told);
}

/// Ranks that a launcher has bound to cores each see only their own cores. The transport counts every core of any rank once.
fn ranks_share_the_cores_of_their_node(world: &mpi::MpiCommunicator) {
    let hints = world.hints();
    if hints.node_ranks != Some(world.size()) {
        return;
    }
    // All processors of this machine.
    let Ok(cpus) = std::fs::read_to_string("/proc/cpuinfo") else {
        return;
    };
    let cores = cpus.lines().filter(|line| line.starts_with("processor"));
    let at_most = cores.count().clamp(1, world.size());
    let concurrency = hints.concurrency;
    assert!(concurrency <= at_most, "{concurrency} at once on {at_most}");
}

fn check(world: mpi::MpiCommunicator) {
    let duplicate = mpi::MpiCommunicator::world().expect("the world can be duplicated");
    // All ranks are on one node, since `cargo xtask test` starts them.
    let is_off = setting::value(mpi::SHARED_MEMORY_VARIABLE)
        .is_some_and(|value| setting::switch(&value) == Some(false));
    assert_eq!(world.shares_memory(), world.size() > 1 && !is_off);
    let report = |name: &str| {
        if world.rank() == 0 {
            eprintln!("test {name} ... ok");
        }
    };
    contract::check(&world, report);
    a_mismatch_ends_all_receives_of_its_conversation(&world);
    ranks_share_the_cores_of_their_node(&world);
    contract::check(&duplicate, |_| ());
    if world.rank() == 0 {
        let ranks = text::counted(world.size(), "rank");
        println!("comm contract on MPI, {ranks}, two communicators: passed");
    }
}
