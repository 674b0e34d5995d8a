//! Adds calls to this process's numbers.

use std::time::Instant;

use comm::text::counted;
use treefold::mpi::mpi_library;

use super::arguments::{ANOTHER_DATATYPE, Count, Reason};
use super::library::Mpi;
use crate::statistics::{self, Counts, Kind, size_class};
use crate::task::{Op, Task};

/// Counts a call that treefold took over.
pub(super) fn count_taken(task: &Task, counts: Counts) {
    let bytes = task.width_bytes() as u64;
    let kind = Kind {
        passed: String::new(),
        call: task.call.name().to_owned(),
        element: task.element.name().to_owned(),
        op: task.op.name().to_owned(),
        size_class: size_class(bytes),
    };
    let counts = Counts {
        calls: 1,
        bytes,
        ..counts
    };
    statistics::own().count(kind, counts);
}

/// Counts a call that was passed on, which began then.
pub(super) fn count_passed(
    name: &str,
    reason: Reason,
    count: Count,
    datatype: mpi_library::Datatype,
    op: mpi_library::Op,
    begin: Instant,
) {
    let mpi = Mpi::get();
    let element = mpi.element(datatype);
    let count = match count {
        Count::Of(count) => u64::try_from(count).unwrap_or(0),
        // Their sum is not looked at.
        _ => 0,
    };
    let (element, element_bytes) = match element {
        Some(element) => (element.name().to_owned(), element.bytes() as u64),
        None => mpi.describe_type(datatype),
    };
    let bytes = count.saturating_mul(element_bytes);
    let passed = match reason {
        ANOTHER_DATATYPE => format!("{reason}, of {}", counted(element_bytes, "byte")),
        _ => reason.to_owned(),
    };
    let kind = Kind {
        passed,
        call: name.to_owned(),
        element,
        op: mpi.op(op).map_or("", Op::name).to_owned(),
        size_class: size_class(bytes),
    };
    let counts = Counts {
        calls: 1,
        bytes,
        library_ns: elapsed_ns(begin),
        ..Counts::default()
    };
    statistics::own().count(kind, counts);
}

/// Since then.
pub(super) fn elapsed_ns(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
