//! A program as text: who sends what to whom, and when.

use std::fmt;

use comm::text::counted;

use super::program::{Message, Program};

/// A warning is printed if a message has more values than this: the boundaries between ranks then cut many subtrees.
const VALUES_TO_WARN_OF: usize = 64;

/// Prints what a rank does, step by step.
pub(super) fn program<P>(f: &mut fmt::Formatter<'_>, program: &Program<P>) -> fmt::Result {
    let width = program.width;
    let nodes_count = program.own_nodes_count() as u64;
    if nodes_count > 0 {
        let values = counted(nodes_count, "value");
        writeln!(f, "fold this rank's items into {values}")?;
    }
    for (step, number) in program.steps.iter().zip(1..) {
        write_combines(f, step.combines.len())?;
        let sends = program.sends[step.sends.clone()].iter();
        let receives = program.receives[step.receives.clone()].iter();
        let transfers = sends
            .map(|message| ("send", "to", message))
            .chain(receives.map(|message| ("receive", "from", message)));
        let mut separator = format!("step {number}: ");
        for (verb, preposition, message) in transfers {
            let values = counted(message.length / width, "value");
            let peer = message.peer;
            write!(f, "{separator}{verb} {values} {preposition} rank {peer}")?;
            separator = "; ".to_owned();
        }
        if separator == "; " {
            writeln!(f)?;
        }
    }
    write_combines(f, program.last_combines.len())?;
    let longest = |messages: &[Message]| messages.iter().map(|message| message.length).max();
    let longest = longest(&program.sends).max(longest(&program.receives));
    match longest.unwrap_or(0) / width {
        values if values > VALUES_TO_WARN_OF => {
            writeln!(
                f,
                "warning: a message carries {values} values; aligned boundaries need fewer"
            )
        }
        _ => Ok(()),
    }
}

fn write_combines(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    match count {
        0 => Ok(()),
        1 => writeln!(f, "combine once"),
        _ => writeln!(f, "combine {count} times"),
    }
}
