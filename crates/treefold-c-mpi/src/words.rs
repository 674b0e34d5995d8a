//! What errors of crate `treefold` say, in the words of C, C++ and Fortran, whose settings and arrays have other names than Rust's.

use std::any::type_name;

use treefold::transport::Error as TransportError;
use treefold::{BuildError, DistributionError, RunError};
use treefold_c::by_type;
use treefold_c::element::ElementType;

/// The text of an error of a transport.
pub(crate) fn of_transport(error: &TransportError) -> String {
    match error {
        TransportError::Panicked { rank, message } => format!("rank {rank} failed: {message}"),
        other => other.to_string(),
    }
}

/// The text of an error of building a plan.
pub(crate) fn of_build(error: &BuildError) -> String {
    match error {
        BuildError::Transport(error) => of_transport(error),
        BuildError::Ownership(error) => of_distribution(error),
        BuildError::Disagreement {
            subject,
            first,
            second,
        } => {
            let value = |text: &str| match *subject {
                "element type" => element_type(text),
                _ => text.to_owned(),
            };
            let (first, second) = ((first.0, value(&first.1)), (second.0, value(&second.1)));
            format!(
                "ranks disagree on the {}: rank {} has {}; rank {} has {}",
                of_subject(subject),
                first.0,
                first.1,
                second.0,
                second.1
            )
        }
        BuildError::NoShare { rank } => {
            format!("rank {rank}: none of local_items, extents, even and block_cyclic was given")
        }
        BuildError::OtherSize {
            rank,
            planned,
            size,
        } => format!("rank {rank}: its items are for {planned} ranks, the communicator has {size}"),
        BuildError::NotARule => {
            "agreed needs items that follow a rule: even or block_cyclic".to_owned()
        }
        BuildError::Root { root, size } => {
            format!("root {root} does not exist, the communicator has {size} ranks")
        }
        BuildError::NoNativeReductions => {
            "algorithm `mpi-native` needs the reductions of an MPI library".to_owned()
        }
        BuildError::ZeroSized { .. } => {
            "an element takes no memory, so there is nothing to reduce".to_owned()
        }
        BuildError::Nested { rank } => {
            format!("rank {rank}: an operator cannot build a plan on the communicator that runs it")
        }
        other => other.to_string(),
    }
}

/// The text of an error of a run.
pub(crate) fn of_run(error: &RunError) -> String {
    match error {
        RunError::Transport(error) => of_transport(error),
        RunError::Lengths {
            rank,
            first,
            second,
        } => format!("rank {rank}: `x` has {first} elements, but `y` has {second}"),
        RunError::Torn { rank } => {
            format!("rank {rank}: MPI has combined values that are not neighbours")
        }
        RunError::Nested { rank } => {
            format!("rank {rank}: an operator cannot communicate on the communicator that runs it")
        }
        other => other.to_string(),
    }
}

/// The text of what is wrong with the items of ranks.
pub(crate) fn of_distribution(error: &DistributionError) -> String {
    match error {
        DistributionError::NoRanks => "there are no ranks".to_owned(),
        DistributionError::EmptyBlocks => "a block has at least one item".to_owned(),
        DistributionError::Reversed { rank, range } => format!(
            "rank {rank}: the range from {} to {} ends before it begins",
            range.start, range.end
        ),
        other => other.to_string(),
    }
}

/// What ranks disagree on.
fn of_subject(subject: &str) -> &str {
    match subject {
        "kind of ownership" => "way to say which items a rank has",
        "ownership" => "rule that says which items a rank has",
        other => other,
    }
}

/// A type of `treefold.h` by Rust's name for it, or else what the item of a caller's operator is.
fn element_type(rust: &str) -> String {
    const NAMES: [&str; ElementType::ALL.len()] = [
        "F32", "F64", "C32", "C64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64",
    ];
    let mut types = ElementType::ALL.iter().zip(NAMES);
    let known = types.find(|(element, _)| by_type!(**element, T => type_name::<T>()) == rust);
    known.map_or_else(
        || "items of an operator of the program's, or exact sums".to_owned(),
        |(_, name)| format!("TREEFOLD_{name}"),
    )
}
